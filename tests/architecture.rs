//! The borders of `ARCHITECTURE.md`, read off the source: who imports whom, and how long files may be.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each folder or file under `src/`, with what of ours it may import. `command` alone sees everything.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stats", &[]),
    ("files", &[]),
    ("exit", &["model"]),
    ("config", &["model"]),
    ("source", &["model", "stats"]),
    ("server", &["model", "source"]),
    ("baseline", &["model", "files"]),
    ("gate", &["model", "stats", "exit"]),
    ("self_test", &["model", "stats", "gate", "exit"]),
    ("emit", &["model"]),
    ("explain", &["model", "stats"]),
    ("history", &["model", "stats"]),
    ("cli", &["model", "source", "emit", "server"]),
];

const MOST_LINES: usize = 400;

fn sources() -> Vec<PathBuf> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, into),
                false => into.push(path),
            }
        }
    }
    let mut files = Vec::new();
    walk(&root(), &mut files);
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The first part of a file's path below `src/`: its module.
fn module(file: &Path) -> String {
    let below = file.strip_prefix(root()).unwrap();
    below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// Modules of ours that a file names, tests left out.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let code =
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let name =
        |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        match part.strip_prefix('{') {
            Some(list) => {
                let inside = list.split('}').next().unwrap();
                found.extend(inside.split(',').map(|item| name(item.trim())));
            }
            None => {
                found.insert(name(part));
            }
        }
    }
    found
}

#[test]
fn data_goes_one_way() {
    let modules: BTreeSet<String> = sources().iter().map(|file| module(file)).collect();
    let mut wrong = Vec::new();
    for file in sources() {
        let own = module(&file);
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == own) else { continue };
        for import in imports(&fs::read_to_string(&file).unwrap()) {
            let ours = modules.contains(&import) && import != own;
            if ours && !allowed.contains(&import.as_str()) {
                wrong.push(format!(
                    "{} may not import {import}",
                    file.strip_prefix(root()).unwrap().display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_has_a_border() {
    let known: BTreeSet<&str> =
        MAY_IMPORT.iter().map(|(name, _)| *name).chain(["command", "lib", "main"]).collect();
    let unknown: Vec<String> =
        sources().iter().map(|file| module(file)).filter(|name| !known.contains(name.as_str())).collect();
    assert!(unknown.is_empty(), "no border for {unknown:?}: add it here and to ARCHITECTURE.md");
}

#[test]
fn files_stay_short_enough_to_read() {
    let long: Vec<String> = sources()
        .iter()
        .map(|file| (file, fs::read_to_string(file).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(file, lines)| format!("{}: {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "over {MOST_LINES} lines:\n{}", long.join("\n"));
}

#[test]
fn the_reader_of_imports_sees_lists_and_paths() {
    let seen = imports(
        "use crate::model::Unit;\nuse crate::{gate, emit::text};\n// crate::files\nlet x = crate::exit::Exit;",
    );
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["emit", "exit", "gate", "model"]);
}

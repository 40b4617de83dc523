//! Every folder under `tests/cases/` is a case that needs no Rust: what was blessed, what is judged, what must come out.
//!
//! ```text
//! README.md              one line: why this case exists
//! baseline.json          a baseline, or blessed*.json: reports that are blessed together first
//! report*.json           what is judged; `arguments` may name the files in its own way
//! pacegate.toml          optional: the rules
//! arguments              optional: more arguments, one a line
//! expected.exit          the exit code
//! expected.verdict.json  what the verdict must hold: objects by key, each element of a list somewhere in the list
//! expected.text          optional: lines that standard output must hold
//! ```

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

fn pacegate(folder: &Path, arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pacegate"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CI")
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// The files of a case whose names begin so, in order.
fn files(folder: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    names
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Copies a case to a place of its own, so that nothing is written into the repository.
fn laid_out(case: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(case).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let blessed = files(folder.path(), "blessed");
    if !blessed.is_empty() {
        let mut arguments =
            words(&["check", "--baseline", "baseline.json", "--bless", "--reason", "the case"]);
        arguments.extend(blessed);
        let done = pacegate(folder.path(), &arguments);
        assert!(done.status.success(), "{}: {}", case.display(), String::from_utf8_lossy(&done.stderr));
    }
    folder
}

fn judged(folder: &Path) -> Output {
    let mut arguments = words(&["check", "--baseline", "baseline.json", "--json", "verdict.json"]);
    let more = fs::read_to_string(folder.join("arguments")).unwrap_or_default();
    arguments.extend(more.lines().map(str::to_owned));
    let names_files = more.contains(".json");
    if !names_files {
        arguments.extend(files(folder, "report"));
    }
    pacegate(folder, &arguments)
}

/// Where `wanted` is not held by `found`: the path and both sides.
fn difference(path: &str, wanted: &Value, found: &Value) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match found.get(key) {
                Some(found) => difference(&path, value, found),
                None => Some(format!("{path} is not there")),
            }
        }),
        (Value::Array(wanted), Value::Array(found)) => wanted.iter().enumerate().find_map(|(at, value)| {
            let held = found.iter().any(|found| difference("", value, found).is_none());
            (!held).then(|| format!("{path}[{at}]: nothing in the list holds {value}"))
        }),
        (Value::String(wanted), Value::String(found)) if wanted.starts_with('~') => {
            let part = &wanted[1..];
            (!found.contains(part)).then(|| format!("{path}: {found:?} does not contain {part:?}"))
        }
        _ => (wanted != found).then(|| format!("{path}: {found}, expected {wanted}")),
    }
}

fn check(case: &Path) -> Result<(), String> {
    let folder = laid_out(case);
    let output = judged(folder.path());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let said = || format!("{out}{err}");
    let wanted: i32 = fs::read_to_string(case.join("expected.exit")).unwrap().trim().parse().unwrap();
    if output.status.code() != Some(wanted) {
        return Err(format!("exit {:?}, expected {wanted}\n{}", output.status.code(), said()));
    }
    if let Ok(text) = fs::read_to_string(case.join("expected.verdict.json")) {
        let found =
            fs::read_to_string(folder.path().join("verdict.json")).map_err(|e| format!("{e}\n{}", said()))?;
        let (wanted, found): (Value, Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_str(&found).unwrap());
        if let Some(difference) = difference("verdict", &wanted, &found) {
            return Err(difference);
        }
    }
    let lines = fs::read_to_string(case.join("expected.text")).unwrap_or_default();
    match lines.lines().find(|line| !out.contains(line) && !err.contains(line)) {
        Some(line) => Err(format!("the output does not hold {line:?}\n{}", said())),
        None => Ok(()),
    }
}

#[test]
fn every_case_ends_as_its_folder_says() {
    let cases = cases();
    assert!(cases.len() >= 20, "only {} cases were found", cases.len());
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            assert!(case.join("README.md").is_file(), "{} does not say why", case.display());
            let expects =
                case.join("expected.verdict.json").is_file() || case.join("expected.text").is_file();
            assert!(expects, "{} expects nothing but an exit code", case.display());
            check(case).err().map(|error| format!("{}: {error}", case.file_name().unwrap().display()))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), cases.len(), failed.join("\n\n"));
}

#[test]
fn the_comparison_of_verdicts_can_fail() {
    let found = serde_json::json!({"a": [{"b": 1}, {"b": 2, "c": "a sentence"}]});
    let holds = |wanted: Value| difference("", &wanted, &found).is_none();
    assert!(holds(serde_json::json!({"a": [{"b": 2}]})));
    assert!(holds(serde_json::json!({"a": [{"c": "~sent"}]})));
    assert!(!holds(serde_json::json!({"a": [{"b": 3}]})));
    assert!(!holds(serde_json::json!({"z": 1})));
    assert!(!holds(serde_json::json!({"a": [{"c": "~other"}]})));
}

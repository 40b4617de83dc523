//! One fact, one place: pins, versions, the repository's name, inputs and outputs agree wherever they stand.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::world::{read, root};

fn files() -> Vec<(String, String)> {
    let mut names = vec!["action.yml".to_owned(), ".pre-commit-hooks.yaml".to_owned()];
    for folder in [".github/workflows", "docs/ci", "src/command/init", "scripts/action"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            names.push(format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    names.extend(root().join("README.md").exists().then(|| "README.md".to_owned()));
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

fn all<'a>(text: &'a str, pattern: &str) -> Vec<&'a str> {
    let regex = Regex::new(pattern).unwrap();
    regex.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect()
}

#[test]
fn every_action_of_others_is_pinned_to_one_commit_with_its_version_behind() {
    let regex = Regex::new(r"uses: ([^@\s]+)@(\S+)( # v\d+\.\d+\.\d+)?").unwrap();
    let mut pins: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in files() {
        for found in regex.captures_iter(&text).filter(|found| &found[1] != "pacegate/pacegate") {
            assert!(found[2].len() == 40 && found.get(3).is_some(), "{name}: {}", &found[0]);
            pins.entry(found[1].to_owned()).or_default().insert(format!("{}{}", &found[2], &found[3]));
        }
    }
    assert!(pins.len() >= 4, "{pins:?}");
    for (action, commits) in pins {
        assert_eq!(commits.len(), 1, "{action}: {commits:?}");
    }
}

#[test]
fn the_repository_is_called_as_in_cargo_toml_everywhere() {
    let home = env!("CARGO_PKG_REPOSITORY").strip_prefix("https://github.com/").expect("on GitHub");
    for (name, text) in files() {
        for found in all(&text, r"github\.com/([\w.-]+/[\w.-]+)") {
            assert_eq!(found.trim_end_matches('.'), home, "{name}");
        }
        for found in all(&text, r"uses: (\S*pacegate)@") {
            assert_eq!(found, home, "{name}");
        }
    }
}

#[test]
fn the_version_is_that_of_cargo_toml_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let mut seen = 0;
    for (name, text) in files() {
        let patterns = [
            r"pacegate/pacegate@v(\d[\w.]*)",
            r"pacegate@(\d[\d.]*)",
            r"releases/download/v(\d[\d.]*)/",
            r"pacegate-(\d+\.\d+\.\d+)-",
            r#"PACEGATE_VERSION: "(\d[\d.]*)""#,
            r"rev: v(\d[\d.]*)",
        ];
        for found in patterns.iter().flat_map(|pattern| all(&text, pattern)) {
            assert_eq!(found, version, "{name}");
            seen += 1;
        }
    }
    assert!(seen > 5);
}

#[test]
fn every_input_reaches_a_script_by_the_environment_and_none_stands_in_a_command() {
    let action = read("action.yml");
    let inputs = action.split("\noutputs:").next().unwrap();
    let inputs: BTreeSet<_> = all(inputs, r"(?m)^  ([a-z-]+):$").into_iter().collect();
    let scripts = read("scripts/action/get") + &read("scripts/action/gate");
    let handed: BTreeSet<_> =
        all(&action, r"PACEGATE_ACTION_[A-Z_]+: \$\{\{ inputs\.([a-z-]+) \}\}").into_iter().collect();
    assert_eq!(handed, inputs);
    for name in all(&action, r"(PACEGATE_ACTION_[A-Z_]+):") {
        assert!(scripts.contains(&format!("{name}:-")), "{name} is read by no script");
    }
    for line in action.lines().filter(|line| line.trim_start().starts_with("run:")) {
        assert!(!line.contains("${{"), "{line}");
    }
    for output in all(&action, r"steps\.gate\.outputs\.([a-z-]+)") {
        assert!(
            scripts.contains(&format!("output {output} ")) || scripts.contains(&format!("{output}:")),
            "{output}"
        );
    }
}

#[test]
fn pages_and_templates_use_only_inputs_and_outputs_that_the_action_has() {
    let action = read("action.yml");
    let facts = action.split("\nruns:").next().unwrap();
    let known: BTreeSet<_> = all(facts, r"(?m)^  ([a-z-]+):$").into_iter().collect();
    let block =
        Regex::new(r"uses: (?:pacegate/pacegate@\S+|@USES@)[^\n]*\n((?:        +\S[^\n]*\n)+)").unwrap();
    let mut seen = 0;
    for (name, text) in files() {
        for found in block.captures_iter(&text) {
            let with = found[1].split("with:\n").nth(1).unwrap_or_default().to_owned();
            for input in all(&with, r"(?m)^          ([a-z-]+):") {
                assert!(known.contains(input), "{name}: {input}");
                seen += 1;
            }
        }
        for output in
            all(&text, r"steps\.gate\.outputs\.([a-z-]+)").into_iter().filter(|_| name != "action.yml")
        {
            assert!(known.contains(output), "{name}: {output}");
        }
    }
    assert!(seen >= 5, "{seen}");
    let table = read("docs/ci/github.md");
    for name in known {
        assert!(table.contains(&format!("`{name}`")), "docs/ci/github.md does not mention {name}");
    }
}

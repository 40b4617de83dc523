//! What pacegate is built from, held against `deny.toml` without a network: licences, banned crates, one registry.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

fn rules() -> toml::Table {
    include_str!("../deny.toml").parse().unwrap()
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--all-features"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn strings(value: &toml::Value, key: &str) -> BTreeSet<String> {
    let items = value.get(key).unwrap().as_array().unwrap();
    items
        .iter()
        .map(|item| item.as_str().or_else(|| item.get("crate")?.as_str()).unwrap().to_owned())
        .collect()
}

/// `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0`, and the old `MIT/Apache-2.0`: one choice of every part.
fn allowed(expression: &str, licences: &BTreeSet<String>) -> bool {
    let parts = expression.split(" AND ");
    parts.into_iter().all(|part| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')').replace('/', " OR ");
        part.split(" OR ").any(|choice| licences.contains(choice.trim()))
    })
}

#[test]
fn every_crate_has_an_allowed_licence() {
    let licences = strings(&rules()["licenses"], "allow");
    let wrong: Vec<String> = packages()
        .iter()
        .map(|package| (package["name"].as_str().unwrap(), package["license"].as_str().unwrap_or("none")))
        .filter(|(_, licence)| !allowed(licence, &licences))
        .map(|(name, licence)| format!("{name}: {licence}"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn no_banned_crate_is_in_the_lock_file_and_all_come_from_the_registry() {
    let banned = strings(&rules()["bans"], "deny");
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert!(!banned.contains(name), "{name} is banned by deny.toml");
        let source = package["source"].as_str();
        assert!(source.is_none_or(|source| source.starts_with("registry+")), "{name} comes from {source:?}");
    }
}

#[test]
fn a_licence_that_is_not_listed_is_refused() {
    let licences = BTreeSet::from(["MIT".to_owned(), "Unicode-3.0".to_owned()]);
    assert!(allowed("MIT OR GPL-3.0", &licences));
    assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0", &licences));
    assert!(!allowed("GPL-3.0", &licences));
    assert!(!allowed("MIT AND GPL-3.0", &licences));
}

//! Which file and which profile is meant.

use std::fs;

use pacegate::config::{self, SelectError, find, select};
use pacegate::model::policy::Origin;

use crate::load;

#[test]
fn the_file_is_found_upwards_to_the_root_of_the_repository_and_no_further() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("repo");
    let deep = root.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::write(outer.path().join("pacegate.toml"), "").unwrap();
    assert_eq!(find(&deep), None);
    // In a worktree `.git` is a file.
    fs::write(root.join(".git"), "gitdir: elsewhere").unwrap();
    assert_eq!(find(&deep), None);
    fs::write(root.join("pacegate.toml"), "").unwrap();
    assert_eq!(find(&deep), Some(root.join("pacegate.toml")));
    fs::write(root.join("a/pacegate.toml"), "").unwrap();
    assert_eq!(find(&deep), Some(root.join("a/pacegate.toml")));
    assert_eq!(find(outer.path()), Some(outer.path().join("pacegate.toml")));
}

#[test]
fn a_file_that_is_no_text_or_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pacegate.toml");
    let absent = config::read(&path).unwrap_err().to_string();
    assert!(absent.starts_with(&format!("{}:1:1: the file can't be read: ", path.display())), "{absent}");
    fs::write(&path, b"x = \"\xff\"").unwrap();
    let latin = config::read(&path).unwrap_err().to_string();
    assert_eq!(latin, format!("{}:1:1: the file is not UTF-8; save it as UTF-8 text", path.display()));
}

fn chosen(text: Option<&str>, name: Option<&str>) -> (String, bool) {
    let config = text.map(load);
    let choice = select(config.as_ref(), name).unwrap_or_else(|error| panic!("{error}"));
    (choice.profile.name, choice.embedded_named)
}

#[test]
fn the_named_profile_else_the_default_else_the_only_one_else_smoke() {
    let two = "default = \"b\"\n[profile.a]\n[profile.b]\nembedded = true\n";
    assert_eq!(chosen(Some(two), Some("a")), ("a".to_owned(), false));
    assert_eq!(chosen(Some(two), None), ("b".to_owned(), true));
    assert_eq!(chosen(Some("[profile.a]\n"), None), ("a".to_owned(), false));
    assert_eq!(chosen(Some("[gate]\n"), None), ("smoke".to_owned(), false));
    assert_eq!(chosen(None, None), ("smoke".to_owned(), false));
    assert_eq!(chosen(None, Some("full")), ("full".to_owned(), true));
    assert_eq!(chosen(Some("default = \"smoke\"\n[profile.a]\n"), None), ("smoke".to_owned(), true));
    let own = load("[profile.smoke]\nrounds = 1\n");
    let choice = select(Some(&own), Some("smoke")).unwrap();
    assert_eq!(choice.profile.rounds, 1);
    assert_ne!(choice.origin, Origin::Default);
}

#[test]
fn an_unknown_profile_is_refused_with_the_nearest_and_all() {
    let config = load("[profile.chat]\n[profile.nightly]\n");
    assert_eq!(
        select(Some(&config), Some("nigthly")).unwrap_err().to_string(),
        "unknown profile \"nigthly\"; did you mean \"nightly\"? There is chat, nightly, smoke, full"
    );
    assert_eq!(
        select(None, Some("prod")).unwrap_err().to_string(),
        "unknown profile \"prod\"; there is smoke, full"
    );
    let several = select(Some(&config), None).unwrap_err();
    assert_eq!(several, SelectError::Several { known: vec!["chat".to_owned(), "nightly".to_owned()] });
    assert_eq!(
        several.to_string(),
        "the file has chat, nightly and names no default; say --profile NAME, or write default = \"chat\" on its first line"
    );
}

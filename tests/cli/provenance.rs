//! Which code a report says it measured: that of its own run, never that of whoever judges or blesses it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::before::short;
use crate::{run, said};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let who = ["-c", "user.name=someone", "-c", "user.email=someone@example.test"];
    let output = Command::new("git").args(who).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes the folder a repository with one commit, whose name it returns.
fn commit(folder: &Path) -> String {
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "all"]);
    git(folder, &["rev-parse", "HEAD"])
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_run_says_which_commit_it_measured_and_the_same_commit_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    let head = commit(folder.path());
    let blessed = run(folder.path(), &["run", "--baseline", "base.json", "--bless"]);
    assert!(blessed.status.success(), "{}", said(&blessed));
    let output = run(folder.path(), &["run", "--baseline", "base.json", "--report", "now.json", "-v"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("commit changed"), "{}", said(&output));
    assert_eq!(json(&folder.path().join("base.json"))["reports"][0]["code"]["commit"], head);
    assert_eq!(json(&folder.path().join("now.json"))["code"]["commit"], head);
}

#[test]
fn a_bless_invents_no_commit_and_no_machine_for_what_was_measured_elsewhere() {
    let (elsewhere, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    short(elsewhere.path());
    let measured = run(elsewhere.path(), &["run", "--report", "r.json"]);
    assert_eq!(measured.status.code(), Some(3), "{}", said(&measured));
    let mut report = json(&elsewhere.path().join("r.json"));
    report.as_object_mut().unwrap().remove("client");
    fs::write(here.path().join("r.json"), report.to_string()).unwrap();
    let head = commit(here.path());
    let blessed = run(here.path(), &["check", "r.json", "--baseline", "base.json", "--bless"]);
    assert!(blessed.status.success(), "{}", said(&blessed));
    let baseline = json(&here.path().join("base.json"));
    let kept = &baseline["reports"][0];
    assert!(kept["client"].get("cores").is_none_or(Value::is_null), "{}", kept["client"]);
    assert!(kept["code"].get("commit").is_none_or(Value::is_null), "{}", kept["code"]);
    // Who blessed, and in which checkout, is the ledger's.
    assert_eq!(baseline["ledger"]["entries"][0]["code"]["commit"], head);
}

#[test]
fn a_commit_that_only_one_side_knows_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    let blessed = run(folder.path(), &["run", "--baseline", "base.json", "--bless"]);
    assert!(blessed.status.success(), "{}", said(&blessed));
    commit(folder.path());
    let output = run(folder.path(), &["run", "--baseline", "base.json", "-v"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("commit changed"), "{}", said(&output));
}

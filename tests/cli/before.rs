//! What `run` finds out before it measures: measuring takes hours, and a slip must cost a second.

use std::fs;
use std::path::Path;

use crate::{run, said};

/// A run over in a moment, whose measuring is announced like any other's.
pub fn short(folder: &Path) {
    let toml = "[profile.short]\nembedded = true\nrequests = 20\nrounds = 1\nconcurrency = [2]\n";
    fs::write(folder.join("pacegate.toml"), toml).unwrap();
}

#[test]
fn what_a_run_is_held_against_is_read_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    fs::write(folder.path().join("bad.json"), "{}").unwrap();
    for (flag, value, code) in [("--base-ref", "nope", 3), ("--baseline", "bad.json", 2)] {
        let output = run(folder.path(), &["run", "--report", "lost.json", flag, value]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(!said(&output).contains("measuring"), "{}", said(&output));
    }
}

#[test]
fn a_duet_has_no_history() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    let output = run(folder.path(), &["run", "--against", "http://127.0.0.1:9", "--history", "h.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("take one of them out"), "{}", said(&output));
    assert!(!folder.path().join("h.jsonl").exists());
}

#[test]
fn a_quiet_bless_says_what_it_did_without_the_table() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    let output = run(folder.path(), &["run", "--bless", "-q"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.contains("BLESSED baselines/short.json: the first baseline"), "{text}");
    assert!(text.lines().count() == 4 && !text.contains("which is"), "{text}");
}

#[test]
fn no_output_stands_in_the_baselines_place_while_a_run_can_still_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    let baseline = folder.path().join("base.json");
    let blessed = run(folder.path(), &["run", "--baseline", "base.json", "--bless"]);
    assert!(blessed.status.success(), "{}", said(&blessed));
    let before = fs::read(&baseline).unwrap();
    let output = run(folder.path(), &["run", "--baseline", "base.json", "--report", "base.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(!said(&output).contains("measuring"), "{}", said(&output));
    assert_eq!(fs::read(&baseline).unwrap(), before);
}

#[test]
fn what_is_announced_is_what_is_measured_and_shows_no_control_character() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[profile.chat]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"m\\u001b[31m\"\nrequests = 2\nrounds = 1\nconcurrency = [1]\n[profile.chat.strategies.baseline]\n";
    fs::write(folder.path().join("pacegate.toml"), toml).unwrap();
    let announced = |more: &[&str]| {
        let output = run(folder.path(), &[&["run"], more].concat());
        assert_eq!(output.status.code(), Some(5), "{}", said(&output));
        let text = said(&output);
        assert!(!text.contains('\u{1b}'), "{text:?}");
        text.lines().find(|line| line.contains("measuring")).unwrap().to_owned()
    };
    let line = announced(&["--base-url", "http://127.0.0.1:11/api?key=SECRET"]);
    let expected =
        "pacegate: measuring m\\u{1b}[31m at http://127.0.0.1:11/api/chat/completions: profile chat, ";
    assert!(line.starts_with(expected), "{line}");
    assert!(!line.contains("SECRET"), "{line}");
    let line = announced(&["--against", "http://127.0.0.1:13"]);
    let both = "at http://127.0.0.1:9/v1/chat/completions and http://127.0.0.1:13/v1/chat/completions: ";
    assert!(line.contains(both), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_bless_that_cannot_be_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    short(folder.path());
    let in_ci = ["run", "--profile", "short", "--bless"];
    let output = crate::pacegate(folder.path(), &in_ci).env("CI", "true").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("--allow-ci") && !said(&output).contains("measuring"),
        "{}",
        said(&output)
    );
    let output = run(folder.path(), &["run", "--bless", "--baseline", "/proc/none/base.json"]);
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    assert!(!said(&output).contains("measuring"), "{}", said(&output));
}

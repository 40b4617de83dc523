//! The commands that a verdict prints: to see it again, and to bless what it saw. Each is tried as printed.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{blessed, pacegate, profile, run, said};

/// What follows `start` in the line of the output that has it.
fn after<'a>(text: &'a str, start: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.split_once(start));
    assert!(found.is_some(), "no {start:?} in {text}");
    found.unwrap().1
}

/// Runs a printed command as a shell would.
fn shell(folder: &Path, command: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_pacegate")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env_remove("CI")
        .env("PATH", path)
        .output()
        .unwrap()
}

/// The report's summary, ten times slower.
fn slower(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("run.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    for (key, value) in report.as_object_mut().unwrap() {
        if let (true, Some(ms)) = (key.ends_with("_ms"), value.as_f64()) {
            *value = (ms * 10.0).into();
        }
    }
    report.as_object_mut().unwrap().retain(|_, value| !value.is_array());
    std::fs::write(folder.join("slow.json"), report.to_string()).unwrap();
}

#[test]
fn the_bless_command_works_where_the_command_line_ends_in_reports() {
    let (folder, _) = blessed();
    slower(folder.path());
    let output =
        run(folder.path(), &["check", "--baseline=base.json", "--json", "v.json", "--", "slow.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = said(&output);
    let command = after(&text, "or, if it is meant, bless it: ");
    assert_eq!(command, "pacegate check --bless --reason \"why\" --baseline=base.json -- slow.json");
    let done = shell(folder.path(), command);
    assert!(done.status.success(), "{}", said(&done));
}

#[test]
fn the_first_bless_is_shown_with_its_reason_and_works_too() {
    let (folder, _) = blessed();
    let output = run(folder.path(), &["check", "--", "run.json"]);
    let text = said(&output);
    let command = after(&text, "When these numbers are good, bless them: ");
    assert_eq!(command, "pacegate check --bless --reason \"why\" -- run.json");
    let done = shell(folder.path(), command);
    assert!(done.status.success(), "{}", said(&done));
}

#[test]
fn the_command_that_gives_the_verdict_again_leaves_out_where_the_outputs_went() {
    let (folder, _) = blessed();
    let output = run(
        folder.path(),
        &[
            "check",
            "run.json",
            "--report",
            "r",
            "--json=j",
            "--markdown",
            "m",
            "--junit=u",
            "--metrics",
            "p",
            "--log=l",
            "--baseline",
            "base.json",
        ],
    );
    let text = said(&output);
    assert_eq!(after(&text, "the same verdict again: "), "pacegate check run.json --baseline base.json");
    // After `--` a word is a report, whatever it looks like.
    let odd = run(folder.path(), &["check", "--json", "j", "--", "--json", "run.json"]);
    assert_eq!(odd.status.code(), Some(2), "{}", said(&odd));
}

#[test]
fn what_the_environment_says_stands_in_the_command_and_the_key_never() {
    let (folder, _) = blessed();
    let output = pacegate(folder.path(), &["check", "run.json"])
        .env("PACEGATE_BASELINE", "base.json")
        .env("PACEGATE_PROFILE", "my chat")
        .env("PACEGATE_JSON", "v.json")
        .env("PACEGATE_API_KEY_ENV", "sk-mistaken-for-the-name")
        .env("OPENAI_API_KEY", "sk-very-secret")
        .output()
        .unwrap();
    let text = said(&output);
    let command = after(&text, "the same verdict again: ");
    assert_eq!(command, "pacegate check '--profile=my chat' --baseline=base.json run.json");
    assert_eq!(shell(folder.path(), command).status.code(), output.status.code());
    assert!(!text.contains("sk-"), "{text}");
}

#[test]
fn a_key_typed_in_the_place_of_its_name_is_not_published() {
    let folder = tempfile::tempdir().unwrap();
    for key in [vec!["--api-key-env", "sk-very-secret"], vec!["--api-key-env=sk-very-secret"]] {
        let all = [vec!["run", "--profile", "smoke", "--json", "v.json"], key].concat();
        let output = run(folder.path(), &all);
        assert!(
            after(&said(&output), "the same verdict again: ").starts_with("pacegate run --profile smoke")
        );
        assert!(!said(&output).contains("sk-very"), "{}", said(&output));
        assert!(!std::fs::read_to_string(folder.path().join("v.json")).unwrap().contains("sk-very"));
    }
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_utf8_is_no_panic() {
    use std::os::unix::ffi::OsStrExt;
    let (folder, _) = blessed();
    let name = std::ffi::OsStr::from_bytes(b"b\xffd.json");
    let output = pacegate(folder.path(), &["check", "run.json", "--baseline"]).arg(name).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
}

#[test]
fn the_query_of_a_url_is_not_published() {
    let folder = tempfile::tempdir().unwrap();
    profile(folder.path(), "http://127.0.0.1:9");
    let url = "http://127.0.0.1:9/v1?key=SECRET";
    for arguments in [vec!["--base-url", url], vec!["--base-url=http://127.0.0.1:9/v1?key=SECRET"]] {
        let mut all = vec!["run", "--markdown=m.md", "--junit=j.xml", "--json=v.json", "--report=r.json"];
        all.extend(arguments);
        let output = run(folder.path(), &all);
        assert_eq!(output.status.code(), Some(5), "{}", said(&output));
        assert!(!said(&output).contains("SECRET"), "{}", said(&output));
        for file in ["m.md", "j.xml", "v.json", "r.json"] {
            let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
            assert!(!text.contains("SECRET"), "{file}: {text}");
        }
    }
    let output = pacegate(folder.path(), &["run"]).env("PACEGATE_BASE_URL", url).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(said(&output).contains("--base-url=http://127.0.0.1:9/v1"), "{}", said(&output));
    assert!(!said(&output).contains("SECRET"), "{}", said(&output));
}

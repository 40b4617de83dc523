//! The files that a command writes: they tell the exit that comes, and none takes another one's place.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{blessed, pacegate, run, said};

const ALL: [(&str, &str); 5] = [
    ("--log", "log.txt"),
    ("--json", "verdict.json"),
    ("--markdown", "verdict.md"),
    ("--junit", "junit.xml"),
    ("--metrics", "metrics.txt"),
];

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// That every file but one, and the step's summary, tell exit 6. Takes them away.
#[cfg(target_os = "linux")]
fn all_tell_exit_6(folder: &Path, output: &Output, but: &str) {
    assert_eq!(output.status.code(), Some(6), "{}", said(output));
    for (file, words) in [
        ("log.txt", "exit 6: an output could not be written"),
        ("verdict.md", "exit 6: an output could not be written"),
        ("summary.md", "exit 6: an output could not be written"),
        ("verdict.json", "\"exit_code\": 6"),
        ("junit.xml", "name=\"exit_code\" value=\"6\""),
        ("metrics.txt", "pacegate_exit_code{profile=\"vllm-bench-serve\"} 6"),
    ] {
        if file != but {
            let text = text(folder, file);
            assert!(text.contains(words) && !text.contains("exit 0"), "{file}: {text}");
            fs::remove_file(folder.join(file)).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_output_tells_the_exit_that_comes() {
    let (folder, _) = blessed();
    let folder = folder.path();
    let check = |more: &[&str]| {
        let mut arguments = vec!["check", "run.json", "--baseline", "base.json"];
        arguments.extend(ALL.iter().flat_map(|(flag, file)| [*flag, *file]));
        arguments.extend(more);
        let mut command = pacegate(folder, &arguments);
        command.env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
        command
    };
    all_tell_exit_6(folder, &check(&["--report", "/dev/full"]).output().unwrap(), "");
    for (flag, file) in ALL {
        let others = check(&[]);
        let arguments = others.get_args().map(|word| if word == file { "/dev/full".as_ref() } else { word });
        let mut command = pacegate(folder, &[]);
        command.args(arguments).env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
        let output = command.output().unwrap();
        assert!(said(&output).contains("exit 6"), "{flag}: {}", said(&output));
        all_tell_exit_6(folder, &output, file);
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    all_tell_exit_6(folder, &check(&[]).stdout(full).output().unwrap(), "");
}

#[cfg(target_os = "linux")]
#[test]
fn report_only_stays_green_where_an_output_fails() {
    let (folder, _) = blessed();
    let output = run(
        folder.path(),
        &["check", "run.json", "--baseline=none.json", "--report-only", "--junit=u.xml", "--json=/dev/full"],
    );
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    let junit = text(folder.path(), "u.xml");
    assert!(junit.contains("failures=\"0\"") && junit.contains("errors=\"0\""), "{junit}");
}

#[test]
fn an_output_on_standard_output_stands_there_alone() {
    let (folder, _) = blessed();
    let output = run(folder.path(), &["check", "run.json", "--baseline", "base.json", "--json", "-"]);
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["outcome"], "pass");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("PASS"), "{}", said(&output));
    let two = run(folder.path(), &["check", "run.json", "--json", "-", "--junit", "/dev/stdout"]);
    assert_eq!(two.status.code(), Some(2), "{}", said(&two));
    assert!(said(&two).contains("--json and --junit would both be written to"), "{}", said(&two));
}

#[test]
fn a_summary_that_is_written_as_a_file_is_not_written_twice() {
    let (folder, _) = blessed();
    let summary = folder.path().join("summary.md");
    let mut command = pacegate(folder.path(), &["check", "run.json", "--baseline", "base.json"]);
    command.env("GITHUB_STEP_SUMMARY", &summary).arg("--markdown").arg(&summary);
    assert!(command.output().unwrap().status.success());
    assert_eq!(text(folder.path(), "summary.md").matches("### ").count(), 1);
}

/// Every file of the folder, with its content.
fn all(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file());
    let mut all: Vec<_> = entries.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect();
    all.sort();
    all
}

#[test]
fn what_would_be_overwritten_is_refused_before_any_work() {
    let (folder, _) = blessed();
    let folder = folder.path();
    fs::write(folder.join("pacegate.toml"), "[gate]\n").unwrap();
    fs::create_dir(folder.join("deeper")).unwrap();
    let before = all(folder);
    for (arguments, words) in [
        ("check run.json --json out --junit ./out", "--json and --junit would both be written to ./out"),
        ("check run.json --log deeper/../out --report out", "--report and --log would both be written to"),
        ("check run.json --markdown pacegate.toml", "--markdown would overwrite pacegate.toml"),
        ("check a=run.json --metrics run.json", "--metrics would overwrite the report run.json"),
        (
            "check run.json --baseline base.json --report base.json",
            "--report would overwrite the baseline base.json",
        ),
        (
            "check run.json --baseline new.json --json new.json --bless",
            "--json would overwrite the baseline new.json",
        ),
        (
            "run --profile smoke --baseline new.json --report new.json",
            "--report would overwrite the baseline new.json",
        ),
        ("run --profile smoke --log ./pacegate.toml", "--log would overwrite pacegate.toml"),
        ("convert run.json -o run.json", "--output would overwrite the report run.json"),
        ("convert x=run.json -o deeper/../run.json", "--output would overwrite the report run.json"),
    ] {
        let output = run(folder, &arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", said(&output));
        assert!(said(&output).contains(words), "{arguments}: {}", said(&output));
        assert!(!said(&output).contains("measuring"), "{arguments}: {}", said(&output));
        assert_eq!(all(folder), before, "{arguments}");
    }
    let both =
        run(folder, &["check", "run.json", "--baseline=base.json", "--json=/dev/null", "--log=/dev/null"]);
    assert_eq!(both.status.code(), Some(0), "{}", said(&both));
}

#[test]
fn what_a_run_reads_beside_its_profile_is_not_overwritten_either() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[profile.chat]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"m\"\nprompts = \"p.jsonl\"\n[profile.chat.strategies.baseline]\n";
    fs::write(folder.path().join("pacegate.toml"), toml).unwrap();
    for (flag, file, words) in [
        ("--report", "p.jsonl", "--report would overwrite the prompts p.jsonl"),
        ("--json", "ca.pem", "--json would overwrite the certificates ca.pem"),
    ] {
        fs::write(folder.path().join(file), "kept").unwrap();
        let output = run(folder.path(), &["run", flag, file, "--ca-file", "ca.pem"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(words), "{}", said(&output));
        assert_eq!(text(folder.path(), file), "kept");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_goes_down_a_pipe_knows_of_what_failed() {
    let (folder, _) = blessed();
    for (on_stdout, words) in
        [("--log", "exit 6: an output could not be written"), ("--json", "\"exit_code\": 6")]
    {
        let full = if on_stdout == "--log" { "--json" } else { "--log" };
        let arguments = ["check", "run.json", "--baseline", "base.json", full, "/dev/full", on_stdout, "-"];
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(6));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(words) && !text.contains("exit 0"), "{on_stdout}: {text}");
    }
}

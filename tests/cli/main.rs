//! The program as a user meets it: processes, files, signals, exit codes.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

mod before;
mod commands;
mod outputs;
mod pages;
mod plan;
mod provenance;
mod self_test;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn pacegate(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacegate"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("CI")
        .env_remove("OPENAI_API_KEY")
        .env("NO_COLOR", "1");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    pacegate(folder, arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A folder with a real vLLM report and its baseline.
fn blessed() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("run.json");
    let real = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/reports/vllm/0.33.0/clean-chat-c8-detailed.json");
    fs::copy(real, &report).unwrap();
    let output = run(folder.path(), &["check", "run.json", "--baseline", "base.json", "--bless"]);
    assert!(output.status.success(), "{}", said(&output));
    let baseline = folder.path().join("base.json");
    (folder, baseline)
}

#[test]
fn the_log_holds_what_was_printed_so_that_no_pipe_hides_the_exit_code() {
    let (folder, _) = blessed();
    let output = run(folder.path(), &["check", "run.json", "--baseline", "none.json", "--log", "log.txt"]);
    assert_eq!(output.status.code(), Some(3));
    let log = fs::read_to_string(folder.path().join("log.txt")).unwrap();
    assert_eq!(log, String::from_utf8_lossy(&output.stdout));
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let (folder, baseline) = blessed();
    let before = fs::read(&baseline).unwrap();
    for flags in [["--json", "base.json"], ["--report", "run.json"], ["--junit", "./base.json"]] {
        let mut arguments = vec!["check", "run.json", "--baseline", "base.json"];
        arguments.extend(flags);
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("would overwrite the "), "{}", said(&output));
    }
    assert_eq!(fs::read(&baseline).unwrap(), before);
}

#[test]
fn an_output_that_cannot_be_written_replaces_only_a_pass() {
    let (folder, _) = blessed();
    let check = |more: &[&str]| {
        let mut arguments = vec!["check", "run.json", "--json", "/dev/full"];
        arguments.extend(more);
        run(folder.path(), &arguments)
    };
    let passed = check(&["--baseline", "base.json"]);
    assert_eq!(passed.status.code(), Some(6), "{}", said(&passed));
    assert!(said(&passed).contains("exit 6"), "{}", said(&passed));
    assert_eq!(check(&["--baseline", "none.json"]).status.code(), Some(3));
}

#[test]
fn a_device_is_no_baseline_to_read_and_never_hangs() {
    let (folder, _) = blessed();
    let output = run(folder.path(), &["check", "run.json", "--baseline", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let output = run(folder.path(), &["check", "run.json", "--baseline", "/dev/stdout", "--bless"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("\"schema\": \"pacegate.baseline/1\""), "{}", said(&output));
}

#[test]
fn an_error_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["check", "none.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said(&output).matches("No such file").count(), 1, "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_a_marked_report_and_says_where() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let toml = "[profile.long]\nembedded = true\nrequests = 4000000\n";
        fs::write(folder.path().join("pacegate.toml"), toml).unwrap();
        let mut child =
            pacegate(folder.path(), &["run"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Once the first round is announced, requests are on their way.
        assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("round 1 of")));
        let id = child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{rest:?}");
        let report = fs::read_to_string(folder.path().join("pacegate-partial.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["jobs"][0]["complete"], false);
        let judged = run(folder.path(), &["check", "pacegate-partial.json"]);
        assert_eq!(judged.status.code(), Some(3), "{}", said(&judged));
    }
}

/// `pacegate mock` on a free port; ended with the test.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start(arguments: &[&str]) -> Mock {
        let mut all = vec!["mock", "--listen", "127.0.0.1:0"];
        all.extend(arguments);
        let mut child = pacegate(Path::new("."), &all).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split("http://").nth(1).and_then(|rest| rest.split("/v1").next()).unwrap();
        Mock { url: format!("http://{url}"), child }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn profile(folder: &Path, url: &str) {
    let toml = format!(
        "[profile.chat]\nbase_url = \"{url}\"\nmodel = \"model-a\"\nconcurrency = [2]\nrequests = 20\nrounds = 1\nmax_tokens = 8\n[profile.chat.strategies.baseline]\n"
    );
    fs::write(folder.join("pacegate.toml"), toml).unwrap();
}

#[test]
fn an_endpoint_is_measured_and_its_report_says_what_answered() {
    let mock = Mock::start(&["--model", "model-a", "--latency", "10ms/1ms"]);
    let folder = tempfile::tempdir().unwrap();
    profile(folder.path(), &mock.url);
    let doctor = run(folder.path(), &["doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{}", said(&doctor));
    assert!(said(&doctor).contains("model-a"), "{}", said(&doctor));
    // Without a baseline there is no verdict; on a machine this busy the client may also be the bottleneck.
    let output = run(folder.path(), &["run", "--report", "report.json"]);
    assert!([Some(3), Some(5)].contains(&output.status.code()), "{}", said(&output));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("report.json")).unwrap()).unwrap();
    let group = &report["jobs"][0]["rounds"][0]["groups"][0];
    assert_eq!(report["source"]["kind"], "load");
    assert_eq!(report["subject"]["model"], "model-a");
    assert_eq!(
        (&group["requests"]["sent"], &group["requests"]["succeeded"]),
        (&Value::from(20), &Value::from(20))
    );
    assert_eq!(group["tokens"]["from"], "usage");
}

#[test]
fn a_key_does_not_go_to_a_host_that_only_a_file_names() {
    let mock = Mock::start(&["--model", "model-a", "--latency", "none"]);
    let folder = tempfile::tempdir().unwrap();
    profile(folder.path(), &mock.url);
    let key = "sk-very-secret-0123456789";
    let with_key =
        |arguments: &[&str]| pacegate(folder.path(), arguments).env("OPENAI_API_KEY", key).output().unwrap();
    let refused = with_key(&["run"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("named only by a file in the checkout"), "{}", said(&refused));
    assert!(!said(&refused).contains(key));
    let allowed = with_key(&["doctor", "--base-url", &mock.url]);
    assert_eq!(allowed.status.code(), Some(0), "{}", said(&allowed));
    assert!(!said(&allowed).contains(key));
}

#[test]
fn a_wrong_path_is_named_with_its_remedy() {
    let mock = Mock::start(&["--model", "model-a", "--latency", "none"]);
    let folder = tempfile::tempdir().unwrap();
    profile(folder.path(), &format!("{}/wrong", mock.url));
    let output = run(folder.path(), &["doctor"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(said(&output).contains("does not exist (404)"), "{}", said(&output));
}

/// Killed at any moment, `--bless` leaves the old file or the new one.
#[cfg(unix)]
#[test]
fn a_bless_that_is_killed_leaves_the_old_baseline_or_the_new_one() {
    let (folder, baseline) = blessed();
    let text = fs::read_to_string(folder.path().join("run.json")).unwrap();
    let old = fs::read(&baseline).unwrap();
    let mut next: Value = serde_json::from_str(&text).unwrap();
    next["output_throughput"] = (next["output_throughput"].as_f64().unwrap() * 1.01).into();
    fs::write(folder.path().join("next.json"), next.to_string()).unwrap();
    let arguments = ["check", "next.json", "--baseline", "base.json", "--bless", "--reason", "killed"];
    let start = Instant::now();
    assert!(run(folder.path(), &arguments).status.success());
    let whole = start.elapsed().max(Duration::from_millis(5));
    let times = 200u32;
    let mut renewed = 0;
    for at in 0..times {
        fs::write(&baseline, &old).unwrap();
        let mut child =
            pacegate(folder.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Moments spread over the whole command, and a little beyond its end.
        let moment = whole * at / times * 3 / 2;
        let start = Instant::now();
        while start.elapsed() < moment && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let now = fs::read(&baseline).unwrap();
        if now != old {
            renewed += 1;
            let whole: Value = serde_json::from_slice(&now).unwrap();
            assert_eq!(whole["ledger"]["entries"][1]["reason"], "killed");
            assert!(pacegate::baseline::parse("base.json", &now).is_ok());
        }
    }
    assert!((1..times).contains(&renewed), "{renewed} of {times} were renewed: the moments miss the write");
}

#[test]
fn the_help_names_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--help"]);
    for command in
        ["run", "check", "explain", "convert", "doctor", "mock", "formats", "schema", "init", "trend"]
    {
        assert!(said(&output).contains(command), "{command}");
    }
    assert_eq!(run(folder.path(), &["chekc"]).status.code(), Some(2));
}

//! `--history FILE`: three jobs in a row with a channel over its limits fail, naming the first of the three commits.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::made::{Made, command, commit_of, folder, job, pacegate, said};

/// Everything 14 % slower: over the limit of 10 %, and by far not certain while jobs may differ by 5 %.
fn slow(day: u32) -> Made {
    Made { ttft: 1.14, tpot: 1.14, noise: 0.005, ..job(day) }
}

fn quiet(day: u32) -> Made {
    Made { noise: 0.005, ..job(day) }
}

/// A folder with jobs and a baseline of the days 0, 1 and 2.
fn blessed(jobs: impl IntoIterator<Item = Made>) -> tempfile::TempDir {
    let folder = folder((0..3).map(quiet).chain(jobs));
    for day in 0..3 {
        let report = format!("job-{day:03}.json");
        let output = pacegate(folder.path(), &["check", &report, "--bless", "--add", "--reason", "the test"]);
        assert!(output.status.success(), "{}", said(&output));
    }
    folder
}

fn check(folder: &Path, day: u32, more: &[&str]) -> Output {
    let report = format!("job-{day:03}.json");
    let mut arguments = vec!["check", report.as_str(), "--history", "h.jsonl", "--json", "verdict.txt"];
    arguments.extend(more);
    pacegate(folder, &arguments)
}

fn exit(folder: &Path, day: u32) -> Option<i32> {
    check(folder, day, &[]).status.code()
}

fn verdict(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("verdict.txt")).unwrap()).unwrap()
}

fn lines(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("h.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_third_job_in_a_row_fails_and_every_output_names_the_first_commit() {
    let folder = blessed((3..8).map(|day| if day < 5 { quiet(day) } else { slow(day) }));
    let path = folder.path();
    let exits: Vec<Option<i32>> = (3..7).map(|day| exit(path, day)).collect();
    assert_eq!(exits, [Some(0); 4], "{}", said(&check(path, 6, &[])));
    let second = verdict(path);
    assert!(
        second["notes"].as_array().unwrap().iter().any(|note| note["code"] == "next_in_a_row_fails"),
        "{second:#}"
    );
    let outputs = ["--markdown", "v.md", "--junit", "v.xml", "--metrics", "v.om"];
    let failed = check(path, 7, &outputs);
    let text = said(&failed);
    assert_eq!(failed.status.code(), Some(1), "{text}");
    let sentence = |quote: &str| {
        format!(
            "everything is over the limits in 3 jobs of the main branch in a row, since commit {quote}abc0005{quote} (6 Oct 2026)"
        )
    };
    assert!(text.lines().next().unwrap().starts_with("REGRESSION: "), "{text}");
    assert!(text.lines().next().unwrap().contains(&sentence("")), "{text}");
    assert!(text.contains("exit 1"), "{text}");
    assert!(text.contains("history       h.jsonl: 4 jobs of the main branch before this one against this baseline; over the limits: everything (3 jobs in a row)"), "{text}");
    let verdict = verdict(path);
    assert_eq!((verdict["outcome"].as_str(), verdict["exit_code"].as_u64()), (Some("regression"), Some(1)));
    let row = &verdict["history"]["rows"][0];
    assert_eq!(
        (row["channel"].as_str(), row["jobs"].as_u64(), row["fails"].as_bool()),
        (Some("run_wide"), Some(3), Some(true))
    );
    assert_eq!(row["since"]["commit"], commit_of(5));
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
    assert!(
        read("v.md").contains(
            "everything is over the limits in 3 jobs of the main branch in a row, since commit `abc0005`"
        ),
        "{}",
        read("v.md")
    );
    assert!(
        read("v.xml").contains("3 jobs of the main branch in a row, since commit &quot;abc0005&quot;"),
        "{}",
        read("v.xml")
    );
    assert!(read("v.xml").contains("name=\"history\""), "{}", read("v.xml"));
    assert_eq!(lines(path).len(), 5);
}

#[test]
fn a_quiet_job_between_starts_anew() {
    let folder = blessed([slow(3), slow(4), quiet(5), slow(6), slow(7), slow(8)]);
    let exits: Vec<Option<i32>> = (3..9).map(|day| exit(folder.path(), day)).collect();
    assert_eq!(exits, [Some(0), Some(0), Some(0), Some(0), Some(0), Some(1)]);
    assert_eq!(verdict(folder.path())["history"]["rows"][0]["since"]["commit"], commit_of(6));
}

#[test]
fn the_command_for_the_same_verdict_again_adds_no_job() {
    let folder = blessed([quiet(3)]);
    let text = said(&check(folder.path(), 3, &[]));
    let again = text.lines().find_map(|line| line.trim().strip_prefix("- the same verdict again: ")).unwrap();
    assert_eq!(again, "pacegate check --history-only-read job-003.json --history h.jsonl");
    let arguments: Vec<&str> = again.split(' ').skip(1).collect();
    assert!(pacegate(folder.path(), &arguments).status.success());
    assert_eq!(lines(folder.path()).len(), 1);
}

#[test]
fn another_baseline_starts_anew() {
    let folder = blessed((3..9).map(slow));
    let path = folder.path();
    assert_eq!([exit(path, 3), exit(path, 4)], [Some(0), Some(0)]);
    // The same jobs with another bless entry are another file, and another baseline.
    let output = pacegate(path, &["check", "job-008.json", "--bless", "--add", "--reason", "one more"]);
    assert!(output.status.success(), "{}", said(&output));
    let output = check(path, 5, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(verdict(path)["history"]["jobs"], 0);
}

#[test]
fn fewer_than_three_blessed_jobs_fail_nothing_and_say_what_is_missing() {
    let folder = folder((0..6).map(|day| if day < 1 { quiet(day) } else { slow(day) }));
    let path = folder.path();
    fs::write(path.join("pacegate.toml"), "[gate]\ndecide = \"evidence\"\nblind_above = \"1000%\"\n")
        .unwrap();
    let output = pacegate(path, &["check", "job-000.json", "--bless", "--reason", "the test"]);
    assert!(output.status.success(), "{}", said(&output));
    for day in 1..5 {
        let output = check(path, day, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    assert_eq!(verdict(path)["history"]["needs_blessed"], 2);
    assert!(
        said(&check(path, 5, &[])).contains(
            "once 2 blessed jobs more are there, what is over its limits three jobs in a row fails"
        )
    );
}

#[test]
fn a_second_run_of_one_commit_or_of_one_ci_run_is_no_second_job() {
    let folder = blessed((3..9).map(slow));
    let path = folder.path();
    assert_eq!([exit(path, 3), exit(path, 4)], [Some(0), Some(0)]);
    // The same report, then a new measurement of the same commit in another run.
    let again = check(path, 4, &[]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    assert!(said(&again).contains("this commit was judged before, so it counts once"), "{}", said(&again));
    let same_commit = Made { commit: Some(commit_of(4)), ..slow(5) };
    same_commit.write(path);
    let again = check(path, 5, &[]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    assert_eq!(lines(path).len(), 4, "each run is kept");
    assert_eq!(exit(path, 6), Some(1));
    let row = &verdict(path)["history"]["rows"][0];
    assert_eq!(
        (row["jobs"].as_u64(), row["since"]["commit"].as_str()),
        (Some(3), Some(commit_of(3).as_str()))
    );
}

#[test]
fn an_old_commit_that_is_run_again_after_later_ones_is_no_further_job() {
    let folder = blessed((3..7).map(slow));
    let path = folder.path();
    assert_eq!([exit(path, 3), exit(path, 4)], [Some(0), Some(0)]);
    Made { commit: Some(commit_of(3)), ..slow(5) }.write(path);
    assert_eq!(exit(path, 5), Some(0));
    assert_eq!(exit(path, 6), Some(1), "the third commit");
}

#[test]
fn a_quiet_second_run_of_a_commit_clears_it() {
    let folder = blessed([slow(3), slow(4), slow(6)]);
    let path = folder.path();
    assert_eq!([exit(path, 3), exit(path, 4)], [Some(0), Some(0)]);
    Made { commit: Some(commit_of(4)), ..quiet(5) }.write(path);
    assert_eq!(exit(path, 5), Some(0));
    assert_eq!(exit(path, 6), Some(0));
}

#[test]
fn attempts_of_one_github_run_are_one_job() {
    let folder = blessed((3..7).map(|day| Made { commit: None, ..slow(day) }));
    let path = folder.path();
    let run = |day: u32, run: &str, attempt: &str| {
        let report = format!("job-{day:03}.json");
        let mut command = command(path, &["check", &report, "--history", "h.jsonl"]);
        let sha = format!("{run:0>40}");
        command.env("CI", "true").env("GITHUB_EVENT_NAME", "push").env("GITHUB_SHA", sha);
        command.env("GITHUB_RUN_ID", run).env("GITHUB_RUN_ATTEMPT", attempt).env("GITHUB_JOB", "gate");
        command.output().unwrap().status.code()
    };
    assert_eq!([run(3, "11", "1"), run(4, "12", "1"), run(5, "12", "2")], [Some(0); 3]);
    assert_eq!(lines(path)[1]["job"], "github-12-gate");
    assert_eq!(lines(path)[1]["job"], lines(path)[2]["job"]);
    assert_eq!(run(6, "13", "1"), Some(1));
}

#[test]
fn a_pull_request_reads_and_neither_fails_by_it_nor_adds_to_it() {
    let folder = blessed((3..9).map(slow));
    let path = folder.path();
    assert_eq!([exit(path, 3), exit(path, 4)], [Some(0), Some(0)]);
    let before = fs::read(path.join("h.jsonl")).unwrap();
    let pull_request = [
        vec![("GITHUB_EVENT_NAME", "pull_request")],
        vec![("GITHUB_EVENT_NAME", "merge_group")],
        vec![("CI_MERGE_REQUEST_IID", "7")],
        vec![("BUILDKITE_PULL_REQUEST", "7")],
        vec![("CHANGE_ID", "7")],
        vec![("SYSTEM_PULLREQUEST_PULLREQUESTID", "7")],
    ];
    for variables in pull_request {
        let output = command(path, &["check", "job-005.json", "--history", "h.jsonl"])
            .envs(variables)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let text = said(&output);
        assert!(text.contains("everything is over the limits here, and was in the last 2 jobs of the main branch, since commit abc0003"), "{text}");
        assert!(text.contains("it does not count and is not added"), "{text}");
    }
    let output = check(path, 5, &["--history-only-read"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(fs::read(path.join("h.jsonl")).unwrap(), before);
    let buildkite = command(path, &["check", "job-005.json", "--history", "h.jsonl"])
        .env("BUILDKITE_PULL_REQUEST", "false")
        .output()
        .unwrap();
    assert_eq!(buildkite.status.code(), Some(1), "no pull request: {}", said(&buildkite));
}

#[test]
fn report_only_says_it_and_exits_0() {
    let folder = blessed((3..6).map(slow));
    let path = folder.path();
    assert_eq!([exit(path, 3), exit(path, 4)], [Some(0), Some(0)]);
    let output = check(path, 5, &["--report-only"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(verdict(path)["outcome"], "regression");
    assert!(said(&output).contains("3 jobs of the main branch in a row"));
}

#[test]
fn what_is_waived_is_not_over_its_limits() {
    let folder = blessed((3..7).map(|day| Made { tpot: 1.0, ..slow(day) }));
    let path = folder.path();
    let waiver = |field: &str| {
        format!(
            "[[waiver]]\nfield = \"{field}\"\nlimit = \"+30%\"\nreason = \"TEAM-1\"\nuntil = 2999-01-01\n"
        )
    };
    let rows = |day| {
        check(path, day, &[]);
        verdict(path)["over_limits"].as_array().unwrap().len()
    };
    assert_eq!(rows(3), 1);
    fs::write(path.join("pacegate.toml"), waiver("ttft.p50") + &waiver("ttft.p95")).unwrap();
    assert_eq!(rows(4), 0, "{:#}", verdict(path));
}

#[test]
fn a_damaged_line_is_exit_2_with_its_number_and_nothing_is_added() {
    let folder = blessed([slow(3), slow(4)]);
    let path = folder.path();
    assert_eq!(exit(path, 3), Some(0));
    let whole = fs::read_to_string(path.join("h.jsonl")).unwrap();
    for (damage, words) in [
        (format!("{whole}\n{}", &whole[..60]), "h.jsonl:3: the line ends in the middle"),
        (format!("{whole}<<<<<<< HEAD\n{whole}"), "h.jsonl:2: expected value"),
        (whole.replace("history/1", "history/2"), "h.jsonl:1: its schema is"),
    ] {
        fs::write(path.join("h.jsonl"), &damage).unwrap();
        let output = check(path, 4, &[]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(words), "{}", said(&output));
        assert_eq!(fs::read_to_string(path.join("h.jsonl")).unwrap(), damage);
    }
    fs::write(path.join("h.jsonl"), [0xff, 0xfe]).unwrap();
    assert_eq!(exit(path, 4), Some(2));
}

#[test]
fn a_last_line_without_an_end_stays_one_line() {
    let folder = blessed([slow(3), slow(4)]);
    let path = folder.path();
    assert_eq!(exit(path, 3), Some(0));
    let whole = fs::read_to_string(path.join("h.jsonl")).unwrap();
    fs::write(path.join("h.jsonl"), whole.trim_end()).unwrap();
    assert_eq!(exit(path, 4), Some(0));
    assert_eq!(lines(path).len(), 2);
}

#[test]
fn many_writers_at_once_leave_whole_lines() {
    let folder = blessed((3..15).map(quiet));
    let path = folder.path();
    let children: Vec<_> = (3..15)
        .map(|day| {
            let report = format!("job-{day:03}.json");
            command(path, &["check", &report, "--history", "deep/h.jsonl", "--quiet"]).spawn().unwrap()
        })
        .collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let text = fs::read_to_string(path.join("deep/h.jsonl")).unwrap();
    let mut jobs: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["job"].as_str().unwrap().to_owned())
        .collect();
    jobs.sort();
    jobs.dedup();
    assert_eq!(jobs.len(), 12);
}

#[test]
fn a_file_that_cannot_be_added_to_is_exit_6_and_the_text_says_so() {
    let folder = blessed([quiet(3)]);
    let path = folder.path();
    let output = pacegate(path, &["check", "job-003.json", "--history", "job-000.json/h.jsonl"]);
    assert_ne!(output.status.code(), Some(0), "{}", said(&output));
    let output = pacegate(path, &["check", "job-003.json", "--history", "/dev/full"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("is no file"), "{}", said(&output));
    let output = pacegate(path, &["check", "job-003.json", "--history", "-"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let output = pacegate(path, &["check", "job-003.json", "--history", "baselines/chat.json"]);
    assert_eq!(output.status.code(), Some(2), "a baseline is no history: {}", said(&output));
}

#[test]
fn nothing_is_written_over_the_history() {
    let folder = blessed([quiet(3), quiet(4)]);
    let path = folder.path();
    assert_eq!(exit(path, 3), Some(0));
    let output = pacegate(path, &["check", "job-004.json", "--history", "h.jsonl", "--json", "h.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(lines(path).len(), 1);
}

#[test]
fn a_failed_run_is_noted_and_breaks_the_row() {
    let failed = Made { failed: vec![("http_429", crate::made::SENT)], ..slow(5) };
    let folder = blessed([slow(3), slow(4), failed, slow(6)]);
    let path = folder.path();
    assert_eq!(
        [exit(path, 3), exit(path, 4), exit(path, 5), exit(path, 6)],
        [Some(0), Some(0), Some(5), Some(0)]
    );
    assert_eq!(lines(path)[2]["outcome"], "run_failed");
    assert_eq!(lines(path)[2]["requests"]["failed"]["http_429"], 600);
}

#[test]
fn lines_are_valid_by_the_committed_schema() {
    let folder = blessed([slow(3)]);
    assert_eq!(exit(folder.path(), 3), Some(0));
    let schema = pacegate(folder.path(), &["schema", "history"]);
    let validator = jsonschema::draft202012::new(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    let line = &lines(folder.path())[0];
    let errors: Vec<String> = validator.iter_errors(line).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn a_measured_run_takes_part_and_a_damaged_history_stops_it_before_it_measures() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "--profile", "smoke"];
        arguments.extend(more);
        pacegate(folder.path(), &arguments)
    };
    assert!(run(&["--bless", "--reason", "the test"]).status.success());
    let output = run(&["--history", "h.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(lines(folder.path())[0]["profile"], "smoke");
    fs::write(folder.path().join("h.jsonl"), "no line\n").unwrap();
    let output = run(&["--history", "h.jsonl", "--report", "r.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(!folder.path().join("r.json").exists());
}

//! The worked example of `docs/statistics.md` is run, and every number that the page takes from it is looked up.

use std::path::Path;
use std::process::Command;

use pacegate::stats::tail::Tail;
use serde_json::Value;

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/statistics.md")).unwrap()
}

/// Exit code, what was printed, and the verdict.
fn example() -> (Option<i32>, String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let verdict = folder.path().join("verdict.json");
    let page = page();
    let command = page.lines().find_map(|line| line.strip_prefix("$ pacegate ")).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_pacegate"))
        .args(command.split(' '))
        .arg("--json")
        .arg(&verdict)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("CI")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let verdict = serde_json::from_slice(&std::fs::read(verdict).unwrap()).unwrap();
    (done.status.code(), String::from_utf8(done.stdout).unwrap(), verdict)
}

#[test]
fn the_example_prints_what_the_page_quotes() {
    let (exit, printed, _) = example();
    assert_eq!(exit, Some(1));
    let page = page();
    let quoted = page.split("```text\nREGRESSION").nth(1).unwrap().split("```").next().unwrap();
    let mut rest = printed.as_str();
    let quoted = format!("REGRESSION{quoted}");
    for line in quoted.lines().filter(|line| !line.is_empty() && *line != "…") {
        let (_, after) = rest
            .split_once(&format!("{line}\n"))
            .unwrap_or_else(|| panic!("not printed, or not in this order: {line}\n\n{printed}"));
        rest = after;
    }
}

fn number(cause: &Value, key: &str) -> f64 {
    cause[key].as_f64().unwrap()
}

/// Three blessed jobs and one candidate add 2 degrees of freedom to the ten of the assumption.
const TAIL: Tail = Tail::Student(12.0);

/// Standard error of a cause's logarithm, read off its 95 % interval.
fn standard_error(cause: &Value) -> f64 {
    let ends = cause["interval"].as_array().unwrap();
    let reach = TAIL.exceeded_with(0.025).unwrap();
    (ends[1].as_f64().unwrap().ln() - ends[0].as_f64().unwrap().ln()) / 2.0 / reach
}

#[test]
fn the_interval_of_a_channel_and_its_p_come_from_the_same_distribution() {
    let (_, _, verdict) = example();
    let everything = &verdict["causes"][0];
    let p = TAIL.upper(number(everything, "ratio").ln() / standard_error(everything)).unwrap();
    assert!((p / number(everything, "p") - 1.0).abs() < 1e-6, "{p} and {}", number(everything, "p"));
}

#[test]
fn the_table_of_channels_holds_the_numbers_of_the_verdict() {
    let (_, _, verdict) = example();
    let page = page();
    let rows = [
        ("everything", "+11.7 %"),
        ("tpot against ttft", "+21.0 %"),
        ("e2e against ttft", "+12.8 %"),
        ("throughput against ttft", "+13.0 % more time"),
    ];
    let causes = verdict["causes"].as_array().unwrap();
    assert_eq!(causes.len(), rows.len());
    for (cause, (name, estimate)) in causes.iter().zip(rows) {
        let line = page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let said: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(said[1], estimate);
        assert!(estimate.starts_with(&format!("+{:.1} %", 100.0 * (number(cause, "ratio") - 1.0))), "{line}");
        assert_eq!(said[2], format!("{:.1} %", 100.0 * standard_error(cause)), "{line}");
        let p: f64 = said[3].parse().unwrap();
        assert!((p / number(cause, "p") - 1.0).abs() < 0.05, "{line}: {}", number(cause, "p"));
        assert_eq!(said[5].contains("**regressed**"), cause["regressed"] == true, "{line}");
    }
}

#[test]
fn the_promise_is_quoted_word_for_word() {
    let (_, _, verdict) = example();
    let promise = verdict["promise"].as_str().unwrap();
    assert!(page().to_lowercase().contains(&promise.to_lowercase()), "{promise}");
}

#[test]
fn the_assumed_noise_in_the_drawing_is_that_of_the_rule() {
    let rule = pacegate::stats::constants::Rule::STANDARD;
    let percent = |share: f64| format!("{} %", (share * 1000.0).round() / 10.0);
    let page = page();
    let channels = [
        ("run-wide", rule.jobs.run, rule.alpha_run),
        ("metric", rule.jobs.class, rule.alpha_class),
        ("field", rule.jobs.field, rule.alpha_field),
    ];
    for (name, noise, alpha) in channels {
        let start = format!("── {name} ");
        let line = page.lines().find(|line| line.contains(&start)).unwrap();
        assert!(line.contains(&format!("  {} ", percent(noise))), "{line}");
        assert!(line.contains(&format!("α = {}", percent(alpha))), "{line}");
    }
}

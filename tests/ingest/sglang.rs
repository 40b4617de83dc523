//! The traps of SGLang's `bench_serving`.

use pacegate::model::report::FailureKind;
use pacegate::model::{Fact, Metric};
use serde_json::json;

use super::{data, groups, read_text, report};

const PYTHON: &str = "sglang/0.5.23/clean-chat-c8-details.jsonl";
const RUST: &str = "sglang/0.5.23/rust-clean-chat-c8-details.jsonl";
const FAULTS: &str = "sglang/0.5.23/faults-chat-c8-details.jsonl";

fn text(file: &str) -> String {
    std::fs::read_to_string(data(file)).unwrap()
}

#[test]
fn bare_infinity_is_no_limit_and_so_is_the_text_inf() {
    for file in [PYTHON, RUST] {
        let report = report(file);
        let group = groups(&report)[0];
        assert_eq!(group.id.as_str(), "c8");
        assert_eq!(report.profile.workloads[&group.id][&Fact::Rate], "no limit");
    }
}

#[test]
fn the_two_clients_measure_differently_and_their_reports_say_so() {
    let definition = |file: &str| {
        let report = report(file);
        let group = groups(&report)[0];
        let facts = report.profile.workloads[&group.id].clone();
        (group.metrics[&Metric::TTFT].definition.clone().unwrap(), facts[&Fact::Tool].clone())
    };
    assert_eq!(
        definition(PYTHON),
        ("first-content-chunk".into(), "sglang-bench-serving, Python client, backend vllm-chat".into())
    );
    assert_eq!(
        definition(RUST),
        (
            "first-content-chunk-of-the-rust-client".into(),
            "sglang-bench-serving, Rust client, backend vllm-chat".into()
        )
    );
}

#[test]
fn failed_entries_are_dropped_by_their_error_and_not_by_zero() {
    let report = report(FAULTS);
    let group = groups(&report)[0];
    assert_eq!(group.metrics[&Metric::TTFT].samples.as_ref().unwrap().len(), 65);
    let failed = &group.requests.failed;
    assert_eq!(
        (failed[&FailureKind::Http429], failed[&FailureKind::Http5xx], failed[&FailureKind::Cut]),
        (8, 2, 5)
    );
}

#[test]
fn appended_runs_of_one_group_are_rounds_and_that_is_said() {
    let both = format!("{}{}", text(PYTHON), text(FAULTS).replace("sglang-oai-chat", "vllm-chat"));
    let report = read_text("two.jsonl", both).unwrap();
    assert_eq!(report.jobs[0].rounds.len(), 2);
    assert!(
        report.source.warnings.iter().any(|w| w.contains("holds 2 runs")),
        "{:?}",
        report.source.warnings
    );
}

#[test]
fn a_file_without_details_has_no_success_rate_and_names_the_flag() {
    let report = report("sglang/0.5.23/clean-completions-c32.jsonl");
    assert_eq!(groups(&report)[0].requests.counts(), None);
    assert_eq!(report.subject.parameters["tag"], "tag-a");
    assert!(report.source.warnings.iter().any(|w| w.contains("--output-details")));
}

#[test]
fn a_success_without_a_token_is_said_and_its_zero_is_no_sample() {
    let mut run: serde_json::Value = serde_json::from_str(&text(RUST)).unwrap();
    run["ttfts"][3] = json!(0.0);
    let report = read_text("zero.jsonl", run.to_string()).unwrap();
    assert!(groups(&report)[0].metrics[&Metric::TTFT].samples.is_none());
    assert!(
        report
            .source
            .warnings
            .iter()
            .any(|w| w.contains("1 requests count as successes though no token came"))
    );
}

#[test]
fn tokens_that_were_only_asked_for_are_suspected() {
    let mut run: serde_json::Value = serde_json::from_str(&text(RUST)).unwrap();
    run["total_output_tokens_retokenized"] = json!(700);
    run["server_info"] = json!({"version": "0.5.23", "model_path": "m/x", "internal_states": [{}]});
    let report = read_text("few.jsonl", run.to_string()).unwrap();
    assert!(report.source.warnings.iter().any(|w| w.contains("1920 output tokens and 700 in the text")));
    assert_eq!(report.subject.engine_version.as_deref(), Some("0.5.23"));
    assert_eq!(report.subject.model.as_deref(), Some("m/x"));
}

//! The traps of `vllm bench serve`.

use pacegate::model::report::FailureKind;
use pacegate::model::{Fact, Metric, PercentileDefinition, Statistic};
use serde_json::{Value, json};

use super::{data, groups, read_text, report, stat, value};

fn run(file: &str) -> Value {
    let text = std::fs::read_to_string(data(&format!("vllm/0.33.0/{file}.json"))).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

fn without(mut run: Value, keys: &[&str]) -> Value {
    for key in keys {
        run.as_object_mut().unwrap().remove(*key).unwrap_or_else(|| panic!("no {key}"));
    }
    run
}

#[test]
fn runs_appended_to_one_json_file_are_rounds_of_one_job() {
    let report = report("vllm/0.33.0/clean-chat-c8-append.json");
    assert_eq!(report.jobs.len(), 1);
    assert_eq!(report.jobs[0].rounds.len(), 2);
    assert_eq!(groups(&report)[0].id.as_str(), "c8");
    assert_eq!(report.jobs[0].started.unwrap().to_string(), "2026-11-30T10:02:17Z");
}

#[test]
fn requests_in_flight_that_are_no_number_are_a_flaw_and_no_other_group() {
    for level in [json!(8.5), json!("8 users"), json!(-1)] {
        let mut run = run("clean-chat-c8-detailed");
        run["max_concurrency"] = level.clone();
        let told = read_text("run.json", run.to_string());
        let text = match told {
            Ok(report) => format!("{:?}", groups(&report)[0].self_check),
            Err(error) => error,
        };
        assert!(text.contains("max_concurrency is no number of requests"), "{level}: {text}");
    }
    let mut run = run("clean-chat-c8-detailed");
    run["max_concurrency"] = Value::Null;
    assert_eq!(groups(&read_text("run.json", run.to_string()).unwrap())[0].id.as_str(), "all");
}

#[test]
fn a_line_that_is_no_run_is_not_passed_over() {
    let whole = std::fs::read_to_string(data("vllm/0.33.0/clean-chat-c8-detailed.json")).unwrap();
    let error = read_text("runs.json", format!("{whole}\n{{\"x\": 1}}\n")).unwrap_err();
    assert!(error.contains("which is no run of this tool: it has no \"completed\""), "{error}");
}

#[test]
fn definitions_identity_and_workload_are_told() {
    let report = report("vllm/0.33.0/clean-chat-c8-detailed.json");
    assert_eq!(report.source.format.as_deref(), Some("vllm-bench-serve"));
    assert_eq!(report.subject.model.as_deref(), Some("mock-model"));
    let group = groups(&report)[0];
    assert_eq!(group.wall_ms.unwrap().get(), 3_055.326_199_999_854);
    assert_eq!((group.tokens.input, group.tokens.output), (Some(930), Some(1920)));
    assert_eq!(stat(group, &Metric::OUTPUT_TOKENS, Statistic::Mean), Some(32.0));
    let ttft = &group.metrics[&Metric::TTFT];
    assert_eq!(ttft.definition.as_deref(), Some("first-token"));
    assert_eq!(ttft.percentile_definition, Some(PercentileDefinition::Linear));
    let facts = &report.profile.workloads[&group.id];
    assert_eq!(facts[&Fact::Concurrency], "8");
    assert_eq!(facts[&Fact::Rate], "no limit");
    assert_eq!(facts[&Fact::Requests], "60");
    assert_eq!(facts[&Fact::Tool], "vllm-bench-serve, backend openai-chat");
    assert!(report.profile.fingerprints.contains_key(&group.id));
}

#[test]
fn failed_entries_are_masked_from_the_raw_lists_though_a_cut_stream_keeps_its_ttft() {
    let report = report("vllm/0.33.0/faults-chat-c8-detailed.json");
    let group = groups(&report)[0];
    for metric in [Metric::TTFT, Metric::TPOT, Metric::E2E] {
        let measurement = &group.metrics[&metric];
        assert_eq!(measurement.samples.as_ref().unwrap().len(), 62, "{metric}");
        assert!(measurement.samples.as_ref().unwrap().micros()[0] > 0, "{metric}");
    }
    let failed = &group.requests.failed;
    assert_eq!(failed[&FailureKind::Http429], 6);
    assert_eq!(failed[&FailureKind::Http5xx], 8);
    assert_eq!(failed[&FailureKind::Cut], 4);
    assert_eq!(failed.len(), 3);
    assert_eq!(group.requests.error_samples[&FailureKind::Http429], "Too Many Requests");
}

#[test]
fn e2e_is_rebuilt_from_the_latencies_that_stay_in_a_summary_file() {
    let report = report("vllm/0.33.0/clean-completions-c32-defaults.json");
    let e2e = &groups(&report)[0].metrics[&Metric::E2E];
    assert_eq!(e2e.samples.as_ref().unwrap().len(), 120);
    assert_eq!(e2e.n, Some(120));
    assert!(groups(&report)[0].metrics[&Metric::TTFT].samples.is_none());
}

#[test]
fn an_all_failed_run_has_no_latency_and_no_throughput_though_the_file_says_zero() {
    let report = report("vllm/0.33.0/allfail-500-c8.json");
    let group = groups(&report)[0];
    assert_eq!(group.metrics.len(), 0);
    assert_eq!(group.requests.counts(), Some((0, 40)));
}

#[test]
fn the_pytorch_file_beside_the_report_is_named_with_the_one_to_give() {
    let text = r#"[{"benchmark": {"name": "vLLM benchmark", "extra_info": {"args": {}}}, "model": {"name": "m"}, "metric": {"name": "mean_ttft_ms", "benchmark_values": [1.0]}}]"#;
    let error = read_text("run.pytorch.json", text).unwrap_err();
    assert!(error.starts_with("run.pytorch.json: is the file for the PyTorch benchmark database"), "{error}");
    assert!(error.ends_with("give run.json"), "{error}");
}

#[test]
fn a_version_without_a_failed_key_tells_failures_only_where_they_are_certain() {
    let summary = without(run("clean-chat-c8-append"), &["failed", "latencies", "queue_times"]);
    // Every prompt completed: nothing can have failed.
    let report = read_text("old.json", summary.to_string()).unwrap();
    assert_eq!(groups(&report)[0].requests.counts(), Some((40, 40)));
    // 38 of 40: the data set may have been shorter.
    let mut fewer = summary;
    fewer["completed"] = json!(38);
    let report = read_text("old.json", fewer.to_string()).unwrap();
    assert_eq!(groups(&report)[0].requests.sent, None);
    assert_eq!(groups(&report)[0].requests.succeeded, Some(38));
    assert!(
        report.source.warnings.iter().any(|w| w.contains("success rate is unknown")),
        "{:?}",
        report.source.warnings
    );
    // With the raw lists every request is seen.
    let report =
        read_text("old.json", without(run("faults-chat-c8-detailed"), &["failed"]).to_string()).unwrap();
    assert_eq!(groups(&report)[0].requests.counts(), Some((62, 80)));
}

#[test]
fn an_older_client_measures_another_ttft_and_so_has_another_definition() {
    let old = without(run("clean-chat-c8-append"), &["failed", "latencies", "queue_times", "endpoint_type"]);
    let report = read_text("old.json", old.to_string()).unwrap();
    let ttft = &groups(&report)[0].metrics[&Metric::TTFT];
    assert_eq!(ttft.definition.as_deref(), Some("first-token-of-a-client-before-august-2026"));
}

#[test]
fn old_spellings_and_odd_values_are_read() {
    let mut old = without(run("clean-chat-c8-append"), &["backend", "request_goodput"]);
    old["request_goodput:"] = json!(null);
    old["p99.9_ttft_ms"] = json!(300.5);
    old["request_rate"] = json!(4.0);
    old["max_concurrency"] = json!(null);
    old["completed"] = json!("40");
    old["gpu"] = json!("H100");
    old["probe_median_e2el_ms"] = json!(1.0);
    let report = read_text("old.json", old.to_string()).unwrap();
    let group = groups(&report)[0];
    assert_eq!(group.id.as_str(), "r4");
    assert_eq!(stat(group, &Metric::TTFT, Statistic::Percentile(99_900)), Some(300.5));
    assert_eq!(group.requests.succeeded, Some(40));
    assert_eq!(report.subject.parameters["gpu"], "H100");
    assert_eq!(report.profile.workloads[&group.id][&Fact::Rate], "4 req/s, burstiness 1");
}

#[test]
fn counts_that_do_not_add_up_stay_as_they_are_and_are_said() {
    let mut odd = run("faults-chat-c8-detailed");
    odd["num_prompts"] = json!(100);
    let report = read_text("odd.json", odd.to_string()).unwrap();
    let group = groups(&report)[0];
    assert_eq!((group.requests.counts(), group.requests.failures()), (Some((62, 100)), 18));
    assert!(report.source.warnings[0].contains("num_prompts is 100, and 62 completed + 18 failed are 80"));
}

#[test]
fn raw_lists_that_contradict_the_summary_are_not_used() {
    let mut odd = run("clean-chat-c8-detailed");
    odd["ttfts"].as_array_mut().unwrap().iter_mut().for_each(|v| *v = json!(v.as_f64().unwrap() * 2.0));
    let report = read_text("odd.json", odd.to_string()).unwrap();
    let ttft = &groups(&report)[0].metrics[&Metric::TTFT];
    assert!(ttft.samples.is_none());
    assert!((ttft.stats[&Statistic::P50].get() - 119.366).abs() < 0.001);
    assert!(report.source.warnings.iter().any(|w| w.contains("the samples are not used")));
}

#[test]
fn nan_where_vllm_writes_none_is_refused_with_its_place() {
    let text = run("clean-chat-c8-append").to_string().replace("\"rtfx\":0.0", "\"rtfx\":\n NaN");
    let error = read_text("nan.json", text).unwrap_err();
    assert!(error.starts_with("nan.json:2:2 (rtfx): NaN is not a number"), "{error}");
}

#[test]
fn a_negative_latency_is_refused() {
    let mut odd = run("clean-chat-c8-append");
    odd["p99_ttft_ms"] = json!(-3.0);
    let error = read_text("odd.json", odd.to_string()).unwrap_err();
    assert_eq!(
        error,
        "odd.json: ttft.p99 is -3; expected a finite number from 0; this is not what vllm-bench-serve writes there"
    );
}

#[test]
fn throughput_is_the_files_own() {
    let report = report("vllm/0.33.0/faults-chat-c8-detailed.json");
    let group = groups(&report)[0];
    assert_eq!(value(group, &Metric::OUTPUT_THROUGHPUT), Some(606.031_431_541_610_9));
    assert_eq!(value(group, &Metric::REQUEST_THROUGHPUT), Some(18.938_482_235_675_34));
}

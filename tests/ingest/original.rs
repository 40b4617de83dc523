//! Reports in the shape of the two original scripts.

use pacegate::model::report::FailureKind;
use pacegate::model::{Fact, Metric, PercentileDefinition, Statistic};
use serde_json::{Value, json};

use super::{data, groups, read_text, report, stat, value};

const A: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];

/// Every number of a script A file, by its documented keys.
fn is_script_a(file: &str, prefix: &str) {
    let text = std::fs::read_to_string(data(file)).unwrap();
    let tree: Value = serde_json::from_str(&text).unwrap();
    let inner = tree.get("results").unwrap_or(&tree);
    let summaries: Vec<Value> = match inner {
        Value::Array(list) => list.clone(),
        Value::Object(map) => map.values().cloned().collect(),
        _ => panic!("no container"),
    };
    let report = report(file);
    assert_eq!(report.profile.reference.as_deref(), Some("baseline"));
    let found = groups(&report);
    assert_eq!(found.len(), summaries.len());
    for summary in summaries {
        let strategy = summary["strategy"].as_str().unwrap().to_lowercase();
        let group = found.iter().find(|g| g.dimensions.strategy.as_deref() == Some(&strategy)).unwrap();
        assert_eq!(group.id.as_str(), format!("{strategy}{prefix}"));
        for (metric, key) in [(Metric::E2E, "total_latency"), (Metric::TTFT, "ttft"), (Metric::TPOT, "tpot")]
        {
            for (statistic, name) in A.into_iter().zip(["P50", "P95", "P99"]) {
                assert_eq!(
                    stat(group, &metric, statistic),
                    summary[key][name].as_f64(),
                    "{strategy} {metric} {name}"
                );
            }
            let measurement = &group.metrics[&metric];
            assert_eq!(measurement.percentile_definition, Some(PercentileDefinition::FloorRank));
            assert_eq!(measurement.n, Some(300));
        }
        assert_eq!(stat(group, &Metric::TPOT, Statistic::P99), None, "tpot has no p99");
        let memory = &summary["gpu_memory"];
        assert_eq!(
            stat(group, &Metric::GPU_MEMORY, Statistic::Mean),
            memory["avg_gb"].as_f64().map(|gb| gb * 1000.0)
        );
        assert_eq!(
            stat(group, &Metric::GPU_MEMORY, Statistic::Max),
            memory["peak_gb"].as_f64().map(|gb| gb * 1000.0)
        );
        let speedup = group.speedup_reported.as_ref().unwrap();
        assert_eq!(Some(speedup.value.get()), summary["speedup_vs_baseline"].as_f64());
        assert_eq!((speedup.statistic, speedup.decimals), (Statistic::P99, 2));
        assert_eq!((group.requests.sent, group.requests.succeeded), (Some(300), None));
        assert_eq!(group.requests.counts(), None, "no count of failures, no success rate");
    }
}

#[test]
fn script_a_with_results() {
    is_script_a("original/benchmark-chat-c8.json", "/chat/c8");
}

#[test]
fn script_a_with_the_speedup_upside_down_keeps_what_the_file_claims() {
    is_script_a("original/benchmark-chat-c8-inverted.json", "/chat/c8");
}

#[test]
fn script_a_with_a_slower_strategy() {
    is_script_a("original/benchmark-chat-c8-int8-slower.json", "/chat/c8");
}

#[test]
fn script_a_as_a_list() {
    is_script_a("original/benchmark-code-c32-list.json", "");
}

#[test]
fn script_a_bare() {
    is_script_a("original/benchmark-rag-c8-bare.json", "");
}

#[test]
fn script_a_in_other_spellings_has_the_same_values() {
    let text = json!({"trafficModel": "rag", "maxConcurrency": "8", "results": [
        {"name": "BASELINE", "numRequests": 300, "totalLatency": {"p50": "7145.96", "p95_ms": 13230, "P99": 14209.01},
         "ttftMs": {"p50": 63.33}, "tpot": {"median": 28.46}, "gpu_memory_gb": 28.5, "speedup": 1},
        {"name": "int8 quant", "numRequests": 300, "e2e_p50_ms": 4769.15, "p95_latency_s": 8.82596, "latency": {"p99": 9477.29},
         "ttft": {"p50_ms": 46.61}, "tpot": {"avg": 18.98}, "gpu_memory": 15.5}]});
    let report = read_text("other.json", text.to_string()).unwrap();
    let found = groups(&report);
    assert_eq!(found[0].id.as_str(), "baseline/rag/c8");
    assert_eq!(stat(found[0], &Metric::E2E, Statistic::P50), Some(7145.96));
    assert_eq!(stat(found[0], &Metric::E2E, Statistic::P95), Some(13230.0));
    assert_eq!(stat(found[0], &Metric::TTFT, Statistic::P50), Some(63.33));
    assert_eq!(stat(found[0], &Metric::TPOT, Statistic::P50), Some(28.46));
    assert_eq!(value(found[0], &Metric::GPU_MEMORY), Some(28500.0));
    assert_eq!(found[1].id.as_str(), "int8_quant/rag/c8");
    assert_eq!(stat(found[1], &Metric::E2E, Statistic::P50), Some(4769.15));
    assert!((stat(found[1], &Metric::E2E, Statistic::P95).unwrap() - 8825.96).abs() < 1e-9);
    assert_eq!(stat(found[1], &Metric::TPOT, Statistic::Mean), Some(18.98));
    assert_eq!(value(found[1], &Metric::GPU_MEMORY), Some(15500.0));
}

#[test]
fn a_summary_without_the_documented_keys_is_refused_with_what_was_looked_for() {
    let text = r#"{"results": {"BASELINE": {"wall": {"P50": 1}, "ttft": {"P50": 1}, "tpot": {"P50": 1}}}}"#;
    let error = read_text("a.json", text).unwrap_err();
    assert!(
        error.contains("benchmark-py: no summary with total latency; looked for totallatency, latency, e2e"),
        "{error}"
    );
    assert!(error.contains("vllm-bench-serve: no key \"completed\""), "{error}");
    assert!(error.contains("benchmark-runner-py: no key \"latency\""), "{error}");
    assert!(error.contains("Its first keys are results"), "{error}");
    let text = r#"{"A": {"latency": {"P50": 1}, "tpot": {"P50": 1}}}"#;
    let error = read_text("a.json", text).unwrap_err();
    assert!(
        error.contains(
            "benchmark-py: no ttft beside the total latency of A; looked for ttft, timetofirsttoken"
        ),
        "{error}"
    );
}

#[test]
fn a_percentile_that_is_no_number_is_refused_with_line_column_and_keys() {
    let text = "{\"results\": {\"BASELINE\": {\n  \"total_latency\": {\"P50\": \"fast\"}, \"ttft\": {}, \"tpot\": {}}}}";
    let error = read_text("a.json", text).unwrap_err();
    assert_eq!(
        error,
        "a.json:2:28 (results.BASELINE.total_latency.P50): found the text \"fast\", expected a number of milliseconds; this is not what benchmark-py writes there"
    );
}

/// Every number of a script B level, by its documented keys.
fn is_script_b(group: &pacegate::model::Group, level: &Value) {
    let number = |a: &str, b: &str| level[a][b].as_f64();
    assert_eq!(group.id.as_str(), format!("c{}", level["concurrency"]));
    assert_eq!(stat(group, &Metric::TTFT, Statistic::P50), number("latency", "p50_ttft_ms"));
    assert_eq!(stat(group, &Metric::TTFT, Statistic::P95), number("latency", "p95_ttft_ms"));
    assert_eq!(stat(group, &Metric::ITL, Statistic::Mean), number("latency", "avg_tpot_ms"));
    assert_eq!(stat(group, &Metric::E2E, Statistic::P95), number("latency", "p95_e2e_ms"));
    assert_eq!(value(group, &Metric::TOKENS_PER_SECOND), number("throughput", "avg_tokens_per_second"));
    assert!(!group.metrics.contains_key(&Metric::TPOT), "what it calls tpot is the gap between chunks");
    assert!(!group.metrics.contains_key(&Metric::OUTPUT_THROUGHPUT));
    let total = level["reliability"]["total_requests"].as_u64().unwrap();
    let failed = level["reliability"]["failed_requests"].as_u64().unwrap();
    assert_eq!(group.requests.counts(), Some((total - failed, total)));
    assert_eq!(group.requests.failures(), failed);
    assert_eq!(group.tokens.output, level["throughput"]["total_tokens"].as_u64());
    assert_eq!(group.metrics[&Metric::TTFT].definition.as_deref(), Some("first-chunk"));
    assert_eq!(
        group.metrics[&Metric::TTFT].percentile_definition,
        Some(PercentileDefinition::MedianAndFloorRank)
    );
}

fn script_b(file: &str) {
    let text = std::fs::read_to_string(data(file)).unwrap();
    let tree: Value = serde_json::from_str(&text).unwrap();
    let levels = tree.as_array().cloned().unwrap_or_else(|| vec![tree]);
    let report = report(file);
    assert_eq!(report.subject.model.as_deref(), Some("model-a"));
    assert_eq!(report.subject.parameters["network"], "taotoken");
    assert_eq!(report.jobs[0].started.unwrap().to_string(), "2026-05-04T09:30:00Z");
    assert_eq!(report.jobs[0].warmup.as_ref().unwrap().sent, 2 * levels.len() as u64);
    assert_eq!(report.jobs[0].rounds.len(), 1, "levels are groups of one round");
    let found = groups(&report);
    assert_eq!(found.len(), levels.len());
    for (group, level) in found.into_iter().zip(&levels) {
        is_script_b(group, level);
        assert_eq!(report.profile.workloads[&group.id][&Fact::Model], "model-a");
    }
}

#[test]
fn script_b_at_one() {
    script_b("original/benchmark_runner-c1.json");
}

#[test]
fn script_b_at_eight() {
    script_b("original/benchmark_runner-c8.json");
}

#[test]
fn script_b_with_429s() {
    script_b("original/benchmark_runner-c32.json");
    let report = report("original/benchmark_runner-c32.json");
    assert_eq!(groups(&report)[0].requests.failed[&FailureKind::Http429], 7);
}

#[test]
fn script_b_as_a_list_of_levels() {
    script_b("original/benchmark_runner-levels.json");
}

#[test]
fn script_b_in_other_spellings_has_the_same_facts() {
    let documented = std::fs::read_to_string(data("original/benchmark_runner-c8.json")).unwrap();
    let mut text = documented.clone();
    for (key, other) in [
        ("\"model\"", "\"modEl\""),
        ("\"network\"", "\"Network\""),
        ("\"timestamp\"", "\"time-stamp\""),
        ("\"warmup_rounds\"", "\"warmupRounds\""),
        ("\"concurrency\"", "\"maxConcurrency\""),
        ("\"success_rate\"", "\"success-rate\""),
        ("\"p95_ttft_ms\"", "\"p95TtftMs\""),
    ] {
        assert!(text.contains(key), "{key}");
        text = text.replace(key, other);
    }
    let (same, other) = (read_text("same.json", documented).unwrap(), read_text("other.json", text).unwrap());
    assert_eq!(other.subject, same.subject);
    assert_eq!(other.profile, same.profile);
    assert_eq!(other.jobs[0].started, same.jobs[0].started);
    assert_eq!(other.jobs[0].warmup, same.jobs[0].warmup);
    assert_eq!(other.jobs[0].rounds, same.jobs[0].rounds);
}

#[test]
fn the_zeros_of_a_script_b_run_without_success_are_no_latencies() {
    let report = report("original/benchmark_runner-all-failed-c32.json");
    let group = groups(&report)[0];
    assert!(group.metrics.is_empty(), "{:?}", group.metrics);
    assert_eq!(group.requests.counts(), Some((0, 60)));
    assert_eq!(group.requests.failed[&FailureKind::Http429], 60);
}

#[test]
fn a_success_rate_that_contradicts_its_counts_is_refused() {
    let text = std::fs::read_to_string(data("original/benchmark_runner-c32.json")).unwrap();
    let error = read_text("b.json", text.replace("0.8833", "1.0")).unwrap_err().to_string();
    assert!(error.contains("success_rate is 1, and the counts say 53 of 60"), "{error}");
}

#[test]
fn the_same_level_twice_in_one_file_is_two_rounds() {
    let level = std::fs::read_to_string(data("original/benchmark_runner-c8.json")).unwrap();
    let report = read_text("twice.json", format!("[{level},{level}]")).unwrap();
    let rounds = &report.jobs[0].rounds;
    assert_eq!((rounds.len(), rounds[0].groups.len(), rounds[1].groups.len()), (2, 1, 1));
}

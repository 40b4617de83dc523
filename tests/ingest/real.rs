//! Every real run: the values of `expected.json` to the digits given, counts, failures and absences.

use pacegate::model::report::Group;
use pacegate::model::{Finite, Metric, Statistic};
use serde_json::Value;

use super::{data, groups, report, value};

/// Expected values have three decimals, throughput two.
const HALF_DIGIT: f64 = 0.000_51;
const HALF_CENT: f64 = 0.005_1;

pub fn expected(case: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(data("expected.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all[case]["values"].as_array().unwrap_or_else(|| panic!("no case {case}")).clone()
}

/// What a file of a case is allowed to lack.
#[derive(Clone, Copy, Default)]
pub struct Lacks {
    /// The file has no count of failures.
    pub failures: bool,
}

/// A file without a count of failures.
pub const NO_FAILURES: Lacks = Lacks { failures: true };

pub fn check(file: &str, case: &str, lacks: Lacks) {
    let report = report(file);
    let found = groups(&report);
    let expected = expected(case);
    assert_eq!(found.len(), expected.len(), "groups of {file}");
    for (group, expected) in found.into_iter().zip(&expected) {
        compare(group, expected, lacks, &format!("{file} {}", group.id));
    }
}

pub fn compare(group: &Group, expected: &Value, lacks: Lacks, which: &str) {
    for (key, metric) in [
        ("ttft_ms", Metric::TTFT),
        ("tpot_ms", Metric::TPOT),
        ("e2e_ms", Metric::E2E),
        ("itl_ms", Metric::ITL),
    ] {
        let Some(expected) = expected.get(key) else { continue };
        for (name, statistic) in [("p50", Statistic::P50), ("p95", Statistic::P95), ("p99", Statistic::P99)] {
            let found = super::stat(group, &metric, statistic);
            same(found, expected[name].as_f64(), HALF_DIGIT, &format!("{which} {metric}.{name}"));
        }
    }
    // No token in no time is no throughput: absent, never 0.
    let tokens = expected["output_tok_s"].as_f64().filter(|rate| *rate > 0.0);
    same(value(group, &Metric::OUTPUT_THROUGHPUT), tokens, HALF_CENT, &format!("{which} output_throughput"));
    let ok = expected["ok"].as_u64();
    assert_eq!(group.requests.succeeded, ok, "{which} succeeded");
    let failed = expected["failed"].as_u64();
    if lacks.failures {
        assert_eq!(group.requests.counts(), None, "{which}: a success rate from a file without failures");
    } else {
        assert_eq!(Some(group.requests.failures()), failed, "{which} failed");
        assert_eq!(
            group.requests.counts(),
            ok.zip(ok.zip(failed).map(|(ok, failed)| ok + failed)),
            "{which} counts"
        );
    }
    for (metric, measurement) in &group.metrics {
        let zero = |(statistic, value): (&Statistic, &Finite)| {
            value.get() <= 0.0
                && *metric != Metric::ITL
                && !matches!(statistic, Statistic::Min | Statistic::Std)
        };
        assert!(!measurement.stats.iter().any(zero), "{which} {metric} has a zero");
        if let Some(samples) = &measurement.samples {
            assert_eq!(measurement.n, Some(samples.len() as u64), "{which} {metric} n");
            assert!(!measurement.vif.is_empty(), "{which} {metric} vif");
        }
    }
}

fn same(found: Option<f64>, expected: Option<f64>, tolerance: f64, which: &str) {
    match (found, expected) {
        (None, None) => {}
        (Some(found), Some(expected)) => {
            assert!((found - expected).abs() <= tolerance, "{which}: {found} is not {expected}")
        }
        (found, expected) => panic!("{which}: found {found:?}, expected {expected:?}"),
    }
}

/// One group of a file whose case has several files.
fn check_part(file: &str, case: &str, part: usize) {
    let report = report(file);
    let found = groups(&report);
    assert_eq!(found.len(), 1, "{file}");
    compare(found[0], &expected(case)[part], Lacks::default(), file);
}

const INFERENCE_PERF: [&str; 4] = [
    "inference-perf/0.7.0/allfail-500-conc8",
    "inference-perf/0.7.0/clean-conc8",
    "inference-perf/0.7.0/faults-conc8-perrequest",
    "inference-perf/0.7.0/faults-conc8",
];

#[test]
fn inference_perf_summaries_and_stages() {
    for case in INFERENCE_PERF {
        check_part(&format!("{case}.summary.json"), case, 0);
        check_part(&format!("{case}.stage_0_lifecycle_metrics.json"), case, 1);
    }
}

/// Runs after which the tool had written no report.
const NO_REPORT: [&str; 5] = [
    "bench-my-llm/0.5.0/allfail-500",
    "bench-my-llm/0.5.0/faults",
    "genai-perf/0.0.16/allfail-500-c8",
    "genai-perf/0.0.16/faults-c8",
    "sglang/0.5.23/allfail-500-c8",
];

#[test]
fn every_run_with_a_report_is_read_by_a_test_here() {
    let text = std::fs::read_to_string(data("expected.json")).unwrap();
    let all: std::collections::BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let known = |case: &&String| READ.iter().chain(&INFERENCE_PERF).chain(&NO_REPORT).any(|k| k == *case);
    let without: Vec<_> = all.keys().filter(|case| !known(case)).collect();
    assert!(without.is_empty(), "add a line to real! for each of these: {without:?}");
    for case in NO_REPORT {
        let (folder, name) = case.rsplit_once('/').unwrap();
        let files = std::fs::read_dir(data(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let of_it = |file: &std::ffi::OsString| file.to_str().unwrap().starts_with(&format!("{name}."));
        assert_eq!(files.filter(of_it).count(), 0, "{case} has a report now");
    }
}

macro_rules! real {
    ($($name:ident: $file:literal, $case:literal $(, $lacks:expr)?;)*) => {$(
        #[test]
        fn $name() {
            let lacks = [$($lacks,)? Lacks::default()][0];
            check($file, $case, lacks);
        }
    )*
    /// The runs that the tests here read.
    const READ: &[&str] = &[$($case),*];
    };
}

real! {
    vllm_all_failed: "vllm/0.33.0/allfail-500-c8.json", "vllm/0.33.0/allfail-500-c8";
    vllm_append: "vllm/0.33.0/clean-chat-c8-append.json", "vllm/0.33.0/clean-chat-c8-append";
    vllm_detailed: "vllm/0.33.0/clean-chat-c8-detailed.json", "vllm/0.33.0/clean-chat-c8-detailed";
    vllm_defaults: "vllm/0.33.0/clean-completions-c32-defaults.json", "vllm/0.33.0/clean-completions-c32-defaults";
    vllm_faults: "vllm/0.33.0/faults-chat-c8-detailed.json", "vllm/0.33.0/faults-chat-c8-detailed";
    sglang_python: "sglang/0.5.23/clean-chat-c8-details.jsonl", "sglang/0.5.23/clean-chat-c8-details";
    sglang_defaults: "sglang/0.5.23/clean-completions-c32.jsonl", "sglang/0.5.23/clean-completions-c32", NO_FAILURES;
    sglang_faults: "sglang/0.5.23/faults-chat-c8-details.jsonl", "sglang/0.5.23/faults-chat-c8-details";
    sglang_rust_all_failed: "sglang/0.5.23/rust-allfail-500-c8.jsonl", "sglang/0.5.23/rust-allfail-500-c8", NO_FAILURES;
    sglang_rust: "sglang/0.5.23/rust-clean-chat-c8-details.jsonl", "sglang/0.5.23/rust-clean-chat-c8-details";
    guidellm_old_all_failed: "guidellm/0.3.1/allfail-500-c8.json", "guidellm/0.3.1/allfail-500-c8";
    guidellm_old: "guidellm/0.3.1/clean-c8.json", "guidellm/0.3.1/clean-c8";
    guidellm_old_csv: "guidellm/0.3.1/clean-sync-csv.csv", "guidellm/0.3.1/clean-sync-csv";
    guidellm_old_faults: "guidellm/0.3.1/faults-c8.json", "guidellm/0.3.1/faults-c8";
    guidellm_all_failed: "guidellm/0.8.1/allfail-500.json", "guidellm/0.8.1/allfail-500";
    guidellm_all_failed_csv: "guidellm/0.8.1/allfail-500.csv", "guidellm/0.8.1/allfail-500";
    guidellm: "guidellm/0.8.1/clean-c8.json", "guidellm/0.8.1/clean-c8";
    guidellm_csv: "guidellm/0.8.1/clean-c8.csv", "guidellm/0.8.1/clean-c8";
    guidellm_yaml: "guidellm/0.8.1/clean-c8.yaml", "guidellm/0.8.1/clean-c8";
    guidellm_poisson_sampled: "guidellm/0.8.1/clean-poisson-r12-6s-sampled.json", "guidellm/0.8.1/clean-poisson-r12-6s-sampled";
    guidellm_faults: "guidellm/0.8.1/faults-c8.json", "guidellm/0.8.1/faults-c8";
    guidellm_faults_csv: "guidellm/0.8.1/faults-c8.csv", "guidellm/0.8.1/faults-c8";
    aiperf_records_all_failed: "aiperf/0.13.0/allfail-500-c8.records.jsonl", "aiperf/0.13.0/allfail-500-c8";
    aiperf: "aiperf/0.13.0/clean-c8-records.json", "aiperf/0.13.0/clean-c8-records";
    aiperf_faults: "aiperf/0.13.0/faults-c8-records.json", "aiperf/0.13.0/faults-c8-records";
    aiperf_one: "aiperf/0.13.0/raw-c1.json", "aiperf/0.13.0/raw-c1";
    aiperf_old: "aiperf/0.4.0/clean-c8-records.json", "aiperf/0.4.0/clean-c8-records";
    aiperf_old_faults: "aiperf/0.4.0/faults-c8-records.json", "aiperf/0.4.0/faults-c8-records";
    genai_perf: "genai-perf/0.0.16/clean-c8.json", "genai-perf/0.0.16/clean-c8", NO_FAILURES;
    llmeter_all_failed: "llmeter/0.2.0/allfail-500-c8.responses.jsonl", "llmeter/0.2.0/allfail-500-c8";
    llmeter: "llmeter/0.2.0/clean-c8.responses.jsonl", "llmeter/0.2.0/clean-c8";
    llmeter_faults_c4: "llmeter/0.2.0/faults-c4.responses.jsonl", "llmeter/0.2.0/faults-c4";
    llmeter_faults: "llmeter/0.2.0/faults-c8.responses.jsonl", "llmeter/0.2.0/faults-c8";
    evalscope_all_failed: "evalscope/1.14.1/allfail-500-c8.parallel_8_number_40.benchmark_summary.json", "evalscope/1.14.1/allfail-500-c8";
    evalscope: "evalscope/1.14.1/clean-c8.parallel_8_number_48.benchmark_summary.json", "evalscope/1.14.1/clean-c8";
    evalscope_faults: "evalscope/1.14.1/faults-c8.parallel_8_number_60.benchmark_summary.json", "evalscope/1.14.1/faults-c8";
    servebench_all_failed: "servebench/1.1.3/allfail-500-c8.json", "servebench/1.1.3/allfail-500-c8";
    servebench_all_failed_cold: "servebench/1.1.3/allfail-500-nowarmup.json", "servebench/1.1.3/allfail-500-nowarmup";
    servebench_levels: "servebench/1.1.3/clean-c1-8-32.json", "servebench/1.1.3/clean-c1-8-32";
    servebench_faults: "servebench/1.1.3/faults-c8.json", "servebench/1.1.3/faults-c8";
    infermark_all_failed: "infermark/0.3.0/allfail-500-c8.json", "infermark/0.3.0/allfail-500-c8";
    infermark_levels: "infermark/0.3.0/clean-c1-8-32.json", "infermark/0.3.0/clean-c1-8-32";
    infermark_faults: "infermark/0.3.0/faults-c8.json", "infermark/0.3.0/faults-c8";
    llm_latency_bench_all_failed: "llm-latency-bench/0.3.0/allfail-500-c8.json", "llm-latency-bench/0.3.0/allfail-500-c8";
    llm_latency_bench: "llm-latency-bench/0.3.0/clean-c8.json", "llm-latency-bench/0.3.0/clean-c8";
    llm_latency_bench_faults: "llm-latency-bench/0.3.0/faults-c8.json", "llm-latency-bench/0.3.0/faults-c8";
    bench_my_llm: "bench-my-llm/0.5.0/clean-default.json", "bench-my-llm/0.5.0/clean-default";
    oha_all_failed: "oha/1.16.0/allfail-500-c8.json", "oha/1.16.0/allfail-500-c8";
    oha: "oha/1.16.0/clean-c8.json", "oha/1.16.0/clean-c8";
    oha_faults: "oha/1.16.0/faults-c8.json", "oha/1.16.0/faults-c8";
    k6_all_failed: "k6/1.1.0/allfail-500-c8.summary-export.json", "k6/1.1.0/allfail-500-c8";
    k6: "k6/1.1.0/clean-c8.summary-export.json", "k6/1.1.0/clean-c8";
    k6_faults: "k6/1.1.0/faults-c8.summary-export.json", "k6/1.1.0/faults-c8";
    locust: "locust/2.47.0/clean-c8.json", "locust/2.47.0/clean-c8";
    locust_faults: "locust/2.47.0/faults-c8.json", "locust/2.47.0/faults-c8";
    hey_all_failed: "hey/0.1.4/allfail-500-c8.txt", "hey/0.1.4/allfail-500-c8";
    hey: "hey/0.1.4/clean-c8.txt", "hey/0.1.4/clean-c8";
    hey_faults: "hey/0.1.4/faults-c8.txt", "hey/0.1.4/faults-c8";
    wrk: "wrk/4.1.0/clean-c8.txt", "wrk/4.1.0/clean-c8";
}

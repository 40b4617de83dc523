//! Each tool's clean report blessed and its faulty sibling checked, by the binary: what a person would say, in words that
//! name the fault.

use std::process::{Command, Output};

use super::data;

const EVALSCOPE: &str = "evalscope/1.14.1/";

fn pacegate(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacegate"));
    command.args(arguments).current_dir(folder).env_remove("CI").env("NO_COLOR", "1").output().unwrap()
}

/// Exit code and text of `sibling`, checked against `clean`.
fn checked(clean: &str, sibling: &str, more: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |file: &str| data(file).display().to_string();
    let at = ["--baseline", "blessed.json"];
    let bless = ["check", &path(clean), "--bless", "--reason", "this run was in order"];
    let blessed = pacegate(folder.path(), &[&bless[..], &at].concat());
    assert!(blessed.status.success(), "{clean}: {}", String::from_utf8_lossy(&blessed.stderr));
    let sibling = path(sibling);
    let output = pacegate(folder.path(), &[&["check", sibling.as_str()], &at[..], more].concat());
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn says(clean: &str, sibling: &str, exit: i32, words: &[&str]) {
    let (code, text) = checked(clean, sibling, &[]);
    assert_eq!(code, exit, "{clean} and {sibling}\n{text}");
    for words in words {
        assert!(text.contains(words), "{clean} and {sibling}: {words}\n{text}");
    }
}

/// Fewer requests succeeded: the first line says how many, and why where the file tells.
macro_rules! less_reliable {
    ($($name:ident: $clean:expr, $sibling:expr, $rates:literal, $failures:literal;)*) => {$(
        #[test]
        fn $name() {
            let (code, text) = checked($clean, $sibling, &[]);
            let first = text.lines().next().unwrap();
            assert_eq!(code, 1, "{text}");
            assert!(first.starts_with("REGRESSION: "), "{first}");
            assert!(first.contains(concat!("fell ", $rates, " (")), "{first}");
            assert!(first.ends_with(concat!("less reliable; failures: ", $failures)), "{first}");
            assert!(!text.contains("improved"), "failing fast is not fast\n{text}");
        }
    )*};
}

less_reliable! {
    guidellm_old: "guidellm/0.3.1/clean-c8.json", "guidellm/0.3.1/faults-c8.json",
        "40 of 40 → 45 of 60", "5 × 429 (too many requests), 6 × 5xx (server error), 4 × stream cut";
    guidellm: "guidellm/0.8.1/clean-c8.json", "guidellm/0.8.1/faults-c8.json",
        "40 of 40 → 49 of 60", "5 × 429 (too many requests), 1 × 5xx (server error), 5 × stream cut";
    guidellm_csv: "guidellm/0.8.1/clean-c8.csv", "guidellm/0.8.1/faults-c8.csv",
        "40 of 40 → 49 of 60", "11 × failed, reason not recorded";
    guidellm_yaml_then_json: "guidellm/0.8.1/clean-c8.yaml", "guidellm/0.8.1/faults-c8.json",
        "40 of 40 → 49 of 60", "5 × 429 (too many requests), 1 × 5xx (server error), 5 × stream cut";
    aiperf: "aiperf/0.13.0/clean-c8-records.json", "aiperf/0.13.0/faults-c8-records.json",
        "48 of 48 → 46 of 60", "4 × 429 (too many requests), 3 × 5xx (server error), 7 × stream cut";
    aiperf_by_its_records: "aiperf/0.13.0/clean-c8-records.records.jsonl", "aiperf/0.13.0/faults-c8-records.records.jsonl",
        "48 of 48 → 46 of 60", "4 × 429 (too many requests), 3 × 5xx (server error), 7 × stream cut";
    aiperf_old: "aiperf/0.4.0/clean-c8-records.json", "aiperf/0.4.0/faults-c8-records.json",
        "48 of 48 → 46 of 60", "2 × 429 (too many requests), 5 × 5xx (server error), 7 × stream cut";
    vllm: "vllm/0.33.0/clean-chat-c8-detailed.json", "vllm/0.33.0/faults-chat-c8-detailed.json",
        "60 of 60 → 62 of 80", "6 × 429 (too many requests), 8 × 5xx (server error), 4 × stream cut";
    vllm_two_rounds_appended: "vllm/0.33.0/clean-chat-c8-append.json", "vllm/0.33.0/faults-chat-c8-detailed.json",
        "80 of 80 → 62 of 80", "6 × 429 (too many requests), 8 × 5xx (server error), 4 × stream cut";
    inference_perf_stage: "inference-perf/0.7.0/clean-conc8.stage_0_lifecycle_metrics.json", "inference-perf/0.7.0/faults-conc8.stage_0_lifecycle_metrics.json",
        "60 of 60 → 48 of 60", "2 × 429 (too many requests), 7 × 5xx (server error), 3 × stream cut";
    inference_perf_summary: "inference-perf/0.7.0/clean-conc8.summary.json", "inference-perf/0.7.0/faults-conc8.summary.json",
        "60 of 60 → 48 of 60", "2 × 429 (too many requests), 7 × 5xx (server error), 3 × stream cut";
    llmeter: "llmeter/0.2.0/clean-c8.responses.jsonl", "llmeter/0.2.0/faults-c8.responses.jsonl",
        "64 of 64 → 52 of 64", "4 × 429 (too many requests), 4 × 5xx (server error), 4 × failed, reason not recorded";
    evalscope: &format!("{EVALSCOPE}clean-c8.parallel_8_number_48.benchmark_summary.json"), &format!("{EVALSCOPE}faults-c8.parallel_8_number_60.benchmark_summary.json"),
        "48 of 48 → 50 of 60", "10 × failed, reason not recorded";
    servebench: "servebench/1.1.3/clean-c1-8-32.json", "servebench/1.1.3/faults-c8.json",
        "40 of 40 → 45 of 60", "7 × 429 (too many requests), 3 × 5xx (server error), 5 × stream cut";
    infermark: "infermark/0.3.0/clean-c1-8-32.json", "infermark/0.3.0/faults-c8.json",
        "40 of 40 → 49 of 60", "2 × 429 (too many requests), 5 × 5xx (server error), 4 × failed, reason not recorded";
    llm_latency_bench: "llm-latency-bench/0.3.0/clean-c8.json", "llm-latency-bench/0.3.0/faults-c8.json",
        "60 of 60 → 54 of 60", "6 × failed, reason not recorded";
    k6: "k6/1.1.0/clean-c8.summary-export.json", "k6/1.1.0/faults-c8.summary-export.json",
        "60 of 60 → 53 of 60", "7 × failed, reason not recorded";
    locust: "locust/2.47.0/clean-c8.json", "locust/2.47.0/faults-c8.json",
        "80 of 80 → 88 of 106", "18 × failed, reason not recorded";
    locust_csv: "locust/2.47.0/clean-c8.stats.csv", "locust/2.47.0/faults-c8.stats.csv",
        "72 of 72 → 72 of 90", "18 × failed, reason not recorded";
    hey: "hey/0.1.4/clean-c8.txt", "hey/0.1.4/faults-c8.txt",
        "64 of 64 → 58 of 64", "5 × 429 (too many requests), 1 × 5xx (server error)";
    oha: "oha/1.16.0/clean-c8.json", "oha/1.16.0/faults-c8.json",
        "64 of 64 → 50 of 64", "5 × 429 (too many requests), 1 × 5xx (server error), 8 × stream cut";
}

/// Nothing succeeded: whatever zeros the tool wrote, that run failed, and says so first.
macro_rules! all_failed {
    ($($name:ident: $clean:expr, $sibling:expr, $sent:literal;)*) => {$(
        #[test]
        fn $name() {
            let (code, text) = checked($clean, $sibling, &[]);
            let first = text.lines().next().unwrap();
            assert_eq!(code, 5, "{text}");
            let words = concat!("RUN FAILED: every request failed: ", $sent, ". There is nothing to judge");
            assert!(first.starts_with(words), "{first}");
            assert!(!text.contains(" ttft.p"), "a time to a first token that never came\n{text}");
        }
    )*};
}

all_failed! {
    guidellm_old_all_failed: "guidellm/0.3.1/clean-c8.json", "guidellm/0.3.1/allfail-500-c8.json", "40 sent, 40 × 5xx (server error)";
    guidellm_all_failed: "guidellm/0.8.1/clean-c8.json", "guidellm/0.8.1/allfail-500.json", "40 sent, 40 × 5xx (server error)";
    guidellm_csv_all_failed: "guidellm/0.8.1/clean-c8.csv", "guidellm/0.8.1/allfail-500.csv", "40 sent, 40 × failed, reason not recorded";
    aiperf_all_failed: "aiperf/0.13.0/clean-c8-records.json", "aiperf/0.13.0/allfail-500-c8.records.jsonl", "40 sent, 40 × 5xx (server error)";
    vllm_all_failed: "vllm/0.33.0/clean-chat-c8-detailed.json", "vllm/0.33.0/allfail-500-c8.json", "40 sent, 40 × failed, reason not recorded";
    sglang_all_failed: "sglang/0.5.23/rust-clean-chat-c8-details.jsonl", "sglang/0.5.23/rust-allfail-500-c8.jsonl", "how many were sent is not recorded";
    inference_perf_all_failed: "inference-perf/0.7.0/clean-conc8.stage_0_lifecycle_metrics.json", "inference-perf/0.7.0/allfail-500-conc8.stage_0_lifecycle_metrics.json", "60 sent, 60 × 5xx (server error)";
    inference_perf_summary_all_failed: "inference-perf/0.7.0/clean-conc8.summary.json", "inference-perf/0.7.0/allfail-500-conc8.summary.json", "60 sent, 60 × 5xx (server error)";
    inference_perf_requests_all_failed: "inference-perf/0.7.0/clean-conc8.summary.json", "inference-perf/0.7.0/allfail-500-conc8.per_request.json", "60 sent, 60 × 5xx (server error)";
    llmeter_all_failed: "llmeter/0.2.0/clean-c8.responses.jsonl", "llmeter/0.2.0/allfail-500-c8.responses.jsonl", "40 sent, 40 × 5xx (server error)";
    evalscope_all_failed: &format!("{EVALSCOPE}clean-c8.parallel_8_number_48.benchmark_summary.json"), &format!("{EVALSCOPE}allfail-500-c8.parallel_8_number_40.benchmark_summary.json"), "40 sent, 40 × failed, reason not recorded";
    servebench_all_failed: "servebench/1.1.3/clean-c1-8-32.json", "servebench/1.1.3/allfail-500-c8.json", "40 sent, 40 × 5xx (server error)";
    servebench_cold_all_failed: "servebench/1.1.3/clean-c1-8-32.json", "servebench/1.1.3/allfail-500-nowarmup.json", "40 sent, 40 × 5xx (server error)";
    infermark_all_failed: "infermark/0.3.0/clean-c1-8-32.json", "infermark/0.3.0/allfail-500-c8.json", "40 sent, 40 × 5xx (server error)";
    llm_latency_bench_all_failed: "llm-latency-bench/0.3.0/clean-c8.json", "llm-latency-bench/0.3.0/allfail-500-c8.json", "40 sent, 40 × 5xx (server error)";
    k6_all_failed: "k6/1.1.0/clean-c8.summary-export.json", "k6/1.1.0/allfail-500-c8.summary-export.json", "40 sent, 40 × failed, reason not recorded";
    hey_all_failed: "hey/0.1.4/clean-c8.txt", "hey/0.1.4/allfail-500-c8.txt", "40 sent, 40 × 5xx (server error)";
    oha_all_failed: "oha/1.16.0/clean-c8.json", "oha/1.16.0/allfail-500-c8.json", "40 sent, 40 × 5xx (server error)";
}

#[test]
fn sglang_clients_and_backends_that_measure_differently_are_not_compared_unless_one_says_so() {
    let clean = "sglang/0.5.23/clean-chat-c8-details.jsonl";
    let faults = "sglang/0.5.23/faults-chat-c8-details.jsonl";
    says(
        clean,
        faults,
        3,
        &[
            "blessed sglang-bench-serving, Python client, backend vllm-chat, now sglang-bench-serving, Python client, backend sglang-oai-chat",
        ],
    );
    says(clean, "sglang/0.5.23/rust-clean-chat-c8-details.jsonl", 3, &["Rust client, backend vllm-chat"]);
    let (code, text) = checked(clean, faults, &["--allow-different", "tool"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("success_rate of c8 fell 60 of 60 → 65 of 80"), "{text}");
}

#[test]
fn two_tools_are_not_compared_and_both_are_named() {
    says(
        "vllm/0.33.0/clean-chat-c8-detailed.json",
        "guidellm/0.8.1/clean-c8.json",
        3,
        &["the measuring tool differs: blessed vllm-bench-serve, now guidellm"],
    );
}

#[test]
fn guidellm_generations_measure_differently_and_are_not_compared() {
    says(
        "guidellm/0.8.1/clean-c8.json",
        "guidellm/0.3.1/clean-c8.json",
        3,
        &["NO VERDICT: 7 of 7 required fields are not comparable"],
    );
}

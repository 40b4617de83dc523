//! Traps of the other tools, each on a real report.

use pacegate::model::report::FailureKind;
use pacegate::model::{Fact, Metric, PercentileDefinition, Statistic};
use serde_json::{Value, json};

use super::{data, groups, read_text, report, stat, value};

fn text(file: &str) -> String {
    std::fs::read_to_string(data(file)).unwrap()
}

fn json_of(file: &str) -> Value {
    serde_json::from_str(&text(file)).unwrap()
}

fn warned(report: &pacegate::model::Report, words: &str) {
    assert!(report.source.warnings.iter().any(|w| w.contains(words)), "{:?}", report.source.warnings);
}

#[test]
fn guidellm_tpot_is_what_it_calls_inter_token_latency() {
    let file = "guidellm/0.8.1/clean-c8.json";
    let report = report(file);
    let group = groups(&report)[0];
    let metrics = &json_of(file)["benchmarks"][0]["metrics"];
    let own = |name: &str| metrics[name]["successful"]["percentiles"]["p50"].as_f64();
    assert_eq!(stat(group, &Metric::TPOT, Statistic::P50), own("inter_token_latency_ms"));
    assert_ne!(stat(group, &Metric::TPOT, Statistic::P50), own("time_per_output_token_ms"));
    assert_eq!(group.metrics[&Metric::TPOT].percentile_definition, Some(PercentileDefinition::InvertedCdf));
    assert_eq!(report.source.format_version.as_deref(), Some("0.8.1"));
    assert_eq!(report.profile.workloads[&group.id][&Fact::PromptTokens], "64");
    assert_eq!(stat(group, &Metric::TTFT, Statistic::Percentile(99_900)), Some(225.702_285_766_601_56));
    assert_eq!(stat(group, &Metric::TTFT, Statistic::Percentile(100)), Some(75.181_961_059_570_31));
}

#[test]
fn guidellm_errored_requests_keep_a_ttft_and_are_not_among_the_samples() {
    let report = report("guidellm/0.8.1/faults-c8.json");
    let group = groups(&report)[0];
    assert_eq!(group.metrics[&Metric::TTFT].samples.as_ref().unwrap().len(), 49);
    let failed = &group.requests.failed;
    assert_eq!(
        (failed[&FailureKind::Http429], failed[&FailureKind::Http5xx], failed[&FailureKind::Cut]),
        (5, 1, 5)
    );
}

#[test]
fn guidellm_sampled_lists_are_no_samples_and_running_requests_are_no_failures() {
    let report = report("guidellm/0.8.1/clean-poisson-r12-6s-sampled.json");
    let group = groups(&report)[0];
    assert_eq!(group.id.as_str(), "r12");
    assert!(group.metrics.values().all(|measurement| measurement.samples.is_none()));
    assert_eq!(group.metrics[&Metric::TTFT].n, Some(75));
    warned(&report, "the file keeps 10 of 75 requests");
    warned(&report, "3 requests were still running");
}

#[test]
fn guidellm_json_yaml_and_csv_of_one_run_agree() {
    let json = report("guidellm/0.8.1/clean-c8.json");
    let yaml = report("guidellm/0.8.1/clean-c8.yaml");
    assert_eq!(groups(&json), groups(&yaml));
    assert_eq!(json.profile.fingerprints, yaml.profile.fingerprints);
    let csv = report("guidellm/0.8.1/clean-c8.csv");
    for metric in [Metric::TTFT, Metric::TPOT, Metric::E2E] {
        for statistic in [Statistic::Mean, Statistic::P50, Statistic::P95, Statistic::P99, Statistic::Max] {
            assert_eq!(stat(groups(&csv)[0], &metric, statistic), stat(groups(&json)[0], &metric, statistic));
        }
    }
}

#[test]
fn guidellm_0_2_has_no_p50_and_its_median_is_read() {
    let mut old = json_of("guidellm/0.3.1/clean-c8.json");
    for name in ["time_to_first_token_ms", "inter_token_latency_ms", "request_latency"] {
        let p50 = old["benchmarks"][0]["metrics"][name]["successful"]["percentiles"]
            .as_object_mut()
            .unwrap()
            .remove("p50");
        assert!(p50.is_some());
    }
    let report = read_text("old.json", old.to_string()).unwrap();
    assert!((stat(groups(&report)[0], &Metric::TTFT, Statistic::P50).unwrap() - 224.503).abs() < 0.001);
}

#[test]
fn guidellm_generations_mean_different_first_tokens() {
    let word = |file: &str| groups(&report(file))[0].metrics[&Metric::TTFT].definition.clone().unwrap();
    assert_eq!(word("guidellm/0.3.1/clean-c8.json"), "first-content-token");
    assert_eq!(word("guidellm/0.8.1/clean-c8.json"), "first-token");
}

#[test]
fn aiperf_reads_the_unit_that_the_file_says() {
    let mut run = json_of("aiperf/0.13.0/clean-c8-records.json");
    run["time_to_first_token"]["unit"] = json!("sec");
    run["request_latency"]["unit"] = json!("fortnights");
    let report = read_text("a.json", run.to_string()).unwrap();
    let group = groups(&report)[0];
    assert!((stat(group, &Metric::TTFT, Statistic::P50).unwrap() - 158_845.0).abs() < 1.0);
    assert!(!group.metrics.contains_key(&Metric::E2E));
    warned(&report, "request_latency has the unit \"fortnights\"");
}

#[test]
fn aiperf_without_errors_leaves_their_count_away_and_one_that_was_broken_off_says_so() {
    let mut run = json_of("aiperf/0.13.0/clean-c8-records.json");
    assert!(run.get("error_request_count").is_none());
    assert_eq!(groups(&report("aiperf/0.13.0/clean-c8-records.json"))[0].requests.counts(), Some((48, 48)));
    run["is_complete"] = json!(false);
    assert!(!read_text("a.json", run.to_string()).unwrap().jobs[0].complete);
}

#[test]
fn aiperf_summary_of_an_all_failed_run_has_no_latency() {
    let mut run = json_of("aiperf/0.4.0/faults-c8-records.json");
    let object = run.as_object_mut().unwrap();
    let gone = [
        "time_to_first_token",
        "request_latency",
        "inter_token_latency",
        "inter_chunk_latency",
        "request_count",
        "time_to_first_output_token",
        "output_token_throughput",
        "request_throughput",
        "output_sequence_length",
        "total_output_tokens",
    ];
    for key in gone {
        object.remove(key).unwrap_or_else(|| panic!("{key}"));
    }
    let report = read_text("a.json", run.to_string()).unwrap();
    let group = groups(&report)[0];
    assert_eq!(group.requests.counts(), Some((0, 14)));
    assert!(group.metrics.is_empty());
}

#[test]
fn aiperf_errors_are_told_by_kind() {
    let report = report("aiperf/0.13.0/faults-c8-records.json");
    let failed = &groups(&report)[0].requests.failed;
    assert_eq!(
        (failed[&FailureKind::Http429], failed[&FailureKind::Http5xx], failed[&FailureKind::Cut]),
        (4, 3, 7)
    );
}

#[test]
fn aiperf_percentiles_that_count_failures_as_endless_are_not_those_of_the_successes() {
    let file = "aiperf/0.13.0/faults-c8-records.json";
    let run = json_of(file);
    let report = report(file);
    let p50 = |key: &str| run[key]["p50"].as_f64();
    assert_eq!(stat(groups(&report)[0], &Metric::E2E, Statistic::P50), p50("request_latency"));
    assert_ne!(p50("request_latency"), p50("adj_request_latency"));
    assert!(run["adj_request_latency"].get("p95").is_none(), "it falls among the failures");
    assert!(stat(groups(&report)[0], &Metric::E2E, Statistic::P95).is_some());
}

#[test]
fn gaps_between_chunks_that_arrive_together_are_not_the_time_per_token() {
    for file in ["vllm/0.33.0/clean-chat-c8-detailed.json", "sglang/0.5.23/clean-chat-c8-details.jsonl"] {
        let report = report(file);
        let p50 = |metric| stat(groups(&report)[0], metric, Statistic::P50).unwrap();
        assert!(p50(&Metric::ITL) < 0.1 && p50(&Metric::TPOT) > 8.0, "{file}");
    }
}

#[test]
fn which_of_a_tools_files_it_is_does_not_hang_on_how_far_into_it_the_telling_key_stands() {
    let late = |file: &str| text(file).replacen('{', &format!("{{\"note\": {:?}, ", "x".repeat(9000)), 1);
    for file in [
        "llmeter/0.2.0/clean-c8.stats.json",
        "llmeter/0.2.0/clean-c8.responses.jsonl",
        "aiperf/0.13.0/clean-c8-records.json",
        "aiperf/0.13.0/clean-c8-records.records.jsonl",
        "guidellm/0.8.1/clean-c8.json",
        "inference-perf/0.7.0/faults-conc8-perrequest.per_request.json",
        "locust/2.47.0/clean-c8.json",
    ] {
        let name = file.rsplit('/').next().unwrap();
        let (there, moved) = (read_text(name, text(file)).unwrap(), read_text(name, late(file)).unwrap());
        assert_eq!(groups(&there), groups(&moved), "{file}");
    }
    let csv = text("guidellm/0.3.1/clean-sync-csv.csv").replacen("\n", "\n\"\nbenchmarks:\n\"", 1);
    let id = |text: String| groups(&read_text("b.csv", text).unwrap())[0].id.clone();
    assert_eq!(id(csv), id(text("guidellm/0.3.1/clean-sync-csv.csv")), "a cell that looks like YAML");
}

#[test]
fn genai_perf_drops_failures_in_silence_so_its_success_rate_is_unknown() {
    let report = report("genai-perf/0.0.16/clean-c8.json");
    let group = groups(&report)[0];
    assert_eq!((group.id.as_str(), group.requests.sent, group.requests.succeeded), ("c8", None, Some(48)));
}

#[test]
fn inference_perf_has_two_tpots_and_the_one_without_the_first_token_is_read() {
    let file = "inference-perf/0.7.0/clean-conc8.stage_0_lifecycle_metrics.json";
    let latency = &json_of(file)["successes"]["latency"];
    let report = report(file);
    let tpot = stat(groups(&report)[0], &Metric::TPOT, Statistic::P50).unwrap();
    assert_eq!(tpot, latency["time_per_output_token"]["median"].as_f64().unwrap() * 1000.0);
    assert!(stat(groups(&report)[0], &Metric::E2E, Statistic::Percentile(99_900)).is_some());
}

#[test]
fn requests_in_flight_are_a_number_or_an_open_loop_and_nothing_else() {
    let stage = json_of("inference-perf/0.7.0/clean-conc8.stage_0_lifecycle_metrics.json");
    let summary = json_of("evalscope/1.14.1/clean-c8.parallel_8_number_48.benchmark_summary.json");
    let inference_perf = |level: Value| {
        let mut file = stage.clone();
        file["load_summary"]["concurrency"] = level;
        ("stage_0_lifecycle_metrics.json", file.to_string())
    };
    let evalscope = |level: Value| {
        let mut file = summary.clone();
        let key = file.as_object().unwrap().keys().find(|key| key.contains("oncurrency")).unwrap().clone();
        file[key] = level;
        ("benchmark_summary.json", file.to_string())
    };
    let tools: [&dyn Fn(Value) -> (&'static str, String); 2] = [&inference_perf, &evalscope];
    for tool in tools {
        for open in [json!(0), json!(-1)] {
            let (name, text) = tool(open);
            assert_eq!(groups(&read_text(name, text).unwrap())[0].dimensions.concurrency, None);
        }
        for level in [json!(8.5), json!("8 users"), json!(1e12)] {
            let (name, text) = tool(level.clone());
            let told = read_text(name, text);
            let told =
                told.map_or_else(|error| error, |report| format!("{:?}", groups(&report)[0].self_check));
            assert!(told.contains("oncurrency is "), "{name} {level}: {told}");
        }
    }
}

#[test]
fn evalscope_seconds_of_the_old_generation_are_seconds() {
    let old = json!({"Time taken for tests (s)": 2.5, "Number of concurrency": 8, "Total requests": 10, "Succeed requests": 9,
        "Failed requests": 1, "Output token throughput (tok/s)": 100.5, "Request throughput (req/s)": 3.6,
        "Average latency (s)": 0.5, "Average time to first token (s)": 0.125, "Average time per output token (s)": 0.008,
        "Average output tokens per request": 32.0});
    let report = read_text("benchmark_summary.json", old.to_string()).unwrap();
    let group = groups(&report)[0];
    assert_eq!(group.id.as_str(), "c8");
    assert_eq!(stat(group, &Metric::TTFT, Statistic::Mean), Some(125.0));
    assert_eq!(stat(group, &Metric::TPOT, Statistic::Mean), Some(8.0));
    assert_eq!(stat(group, &Metric::E2E, Statistic::Mean), Some(500.0));
    assert_eq!(value(group, &Metric::OUTPUT_THROUGHPUT), Some(100.5));
    assert_eq!(group.requests.counts(), Some((9, 10)));
    warned(&report, "benchmark_percentile.json does not lie beside");
    let table = r#"[{"Percentiles": "50%", "TTFT (s)": 0.25, "Latency (s)": NaN}, {"Percentiles": "99%", "TTFT (s)": 0.5, "Latency (s)": 1.5}]"#;
    let report = read_text("benchmark_percentile.json", table).unwrap();
    let group = groups(&report)[0];
    assert_eq!(stat(group, &Metric::TTFT, Statistic::P50), Some(250.0));
    assert_eq!(stat(group, &Metric::E2E, Statistic::P50), None);
    assert_eq!(stat(group, &Metric::E2E, Statistic::P99), Some(1500.0));
}

#[test]
fn servebench_has_no_p95_and_it_is_taken_from_the_requests() {
    let report = report("servebench/1.1.3/faults-c8.json");
    let group = groups(&report)[0];
    assert_eq!(group.metrics[&Metric::TTFT].samples.as_ref().unwrap().len(), 45);
    let failed = &group.requests.failed;
    assert_eq!(
        (failed[&FailureKind::Http429], failed[&FailureKind::Http5xx], failed[&FailureKind::Cut]),
        (7, 3, 5)
    );
    assert_eq!(group.self_check.as_ref().unwrap().wakeup_lag_p99_ms.unwrap().get(), 0.132_842_660_309_506_9);
    assert_eq!(report.source.format_version.as_deref(), Some("1.1.3"));
    assert_eq!(report.jobs[0].warmup.as_ref().unwrap().sent, 2);
}

#[test]
fn llm_latency_bench_says_that_retries_hide_failures_and_its_ready_made_p99_is_not_read() {
    let report = report("llm-latency-bench/0.3.0/faults-c8.json");
    let p99 = stat(groups(&report)[0], &Metric::TTFT, Statistic::P99).unwrap();
    assert!((p99 - 991.448).abs() < 0.001, "1290.256559 in its file is the maximum");
    warned(&report, "tries a failed request again without a word");
}

#[test]
fn bench_my_llm_says_that_it_counts_tokens_itself() {
    warned(&report("bench-my-llm/0.5.0/clean-default.json"), "counts output tokens itself");
}

#[test]
fn oha_successes_are_counted_by_status_and_not_by_its_success_rate() {
    let report = report("oha/1.16.0/allfail-500-c8.json");
    let group = groups(&report)[0];
    assert_eq!(json_of("oha/1.16.0/allfail-500-c8.json")["summary"]["successRate"], 1.0);
    assert_eq!(group.requests.counts(), Some((0, 40)));
    assert!(!group.metrics.contains_key(&Metric::TTFT), "the first byte is no token");
}

#[test]
fn k6_passes_of_http_req_failed_are_failures() {
    let report = report("k6/1.1.0/faults-c8.summary-export.json");
    let group = groups(&report)[0];
    assert_eq!((group.requests.counts(), group.id.as_str()), (Some((53, 60)), "c8"));
    assert!(!group.metrics.contains_key(&Metric::TTFT), "http_req_waiting is no token");
}

#[test]
fn k6_data_of_handle_summary_is_read_too() {
    let mut run = json_of("k6/1.1.0/faults-c8.summary-export.json");
    for (_, metric) in run["metrics"].as_object_mut().unwrap() {
        *metric = json!({"type": "trend", "values": metric.clone()});
    }
    let report = read_text("k.json", run.to_string()).unwrap();
    assert!((stat(groups(&report)[0], &Metric::E2E, Statistic::P95).unwrap() - 451.048).abs() < 0.001);
}

#[test]
fn locust_csv_has_its_own_counts_and_percentiles() {
    let report = report("locust/2.47.0/faults-c8.stats.csv");
    let group = groups(&report)[0];
    assert_eq!(group.requests.counts(), Some((72, 90)));
    assert_eq!(stat(group, &Metric::E2E, Statistic::P95), Some(420.0));
    warned(&report, "writes the CSV earlier");
    warned(&report, "failed requests are among its latencies");
}

#[test]
fn hey_prints_a_zeroth_percentile_that_is_none() {
    let report = report("hey/0.1.4/clean-c8.txt");
    assert_eq!(stat(groups(&report)[0], &Metric::E2E, Statistic::P99), None);
    warned(&report, "a stream that is cut midway counts as a good answer");
}

#[test]
fn wrk_failures_are_taken_from_its_text() {
    let text = text("wrk/4.1.0/clean-c8.txt").replace(
        "Requests/sec",
        "  Non-2xx or 3xx responses: 20\n  Socket errors: connect 0, read 3, write 0, timeout 1\nRequests/sec",
    );
    let report = read_text("wrk.txt", text).unwrap();
    let group = groups(&report)[0];
    assert_eq!((group.requests.counts(), group.id.as_str()), (Some((102, 126)), "c8"));
    assert_eq!(group.requests.failed[&FailureKind::TimeoutTotal], 1);
}

#[test]
fn each_real_report_is_of_exactly_one_format() {
    // `read` refuses a file that could be two; here every capture is read and names its tool.
    for (file, format) in [
        ("aiperf/0.4.0/clean-c8-records.json", "aiperf"),
        ("bench-my-llm/0.5.0/clean-default.json", "bench-my-llm"),
        ("evalscope/1.14.1/clean-c8.parallel_8_number_48.benchmark_summary.json", "evalscope-perf"),
        ("genai-perf/0.0.16/clean-c8.json", "genai-perf"),
        ("guidellm/0.3.1/clean-c8.json", "guidellm"),
        ("hey/0.1.4/clean-c8.txt", "hey"),
        ("inference-perf/0.7.0/clean-conc8.summary.json", "inference-perf"),
        ("infermark/0.3.0/clean-c1-8-32.json", "infermark"),
        ("k6/1.1.0/clean-c8.summary-export.json", "k6"),
        ("llm-latency-bench/0.3.0/clean-c8.json", "llm-latency-bench"),
        ("llmeter/0.2.0/clean-c8.responses.jsonl", "llmeter"),
        ("locust/2.47.0/clean-c8.json", "locust"),
        ("oha/1.16.0/clean-c8.json", "oha"),
        ("original/benchmark-rag-c8-bare.json", "benchmark-py"),
        ("original/benchmark_runner-levels.json", "benchmark-runner-py"),
        ("servebench/1.1.3/clean-c1-8-32.json", "servebench"),
        ("sglang/0.5.23/clean-completions-c32.jsonl", "sglang-bench-serving"),
        ("vllm/0.33.0/clean-chat-c8-append.json", "vllm-bench-serve"),
        ("wrk/4.1.0/clean-c8.txt", "wrk"),
    ] {
        assert_eq!(report(file).source.format.as_deref(), Some(format), "{file}");
    }
}

#[test]
fn a_count_that_is_none_is_a_fault_of_the_file_and_never_hides_failures() {
    let spoil = |file: &str, pointer: &str, bad: Value| {
        let mut run = json_of(file);
        *run.pointer_mut(pointer).unwrap_or_else(|| panic!("{file} {pointer}")) = bad;
        read_text("bad.json", run.to_string()).unwrap_err()
    };
    for (file, pointer) in [
        ("aiperf/0.13.0/faults-c8-records.json", "/error_request_count/avg"),
        ("evalscope/1.14.1/faults-c8.parallel_8_number_60.benchmark_summary.json", "/Failed Requests"),
        ("genai-perf/0.0.16/clean-c8.json", "/request_count/avg"),
        ("guidellm/0.8.1/faults-c8.json", "/benchmarks/0/metrics/request_totals/errored"),
        ("inference-perf/0.7.0/faults-conc8.summary.json", "/failures/count"),
        ("infermark/0.3.0/faults-c8.json", "/results/0/n_success"),
        ("k6/1.1.0/faults-c8.summary-export.json", "/metrics/http_req_failed/passes"),
        ("llmeter/0.2.0/faults-c8.stats.json", "/failed_requests"),
        ("oha/1.16.0/faults-c8.json", "/statusCodeDistribution/429"),
        ("servebench/1.1.3/faults-c8.json", "/levels/0/summary/failed"),
        ("sglang/0.5.23/rust-clean-chat-c8-details.jsonl", "/completed"),
        ("vllm/0.33.0/clean-chat-c8-detailed.json", "/failed"),
    ] {
        for bad in [json!(-3), json!(0.5)] {
            let error = spoil(file, pointer, bad);
            assert!(error.contains("expected a whole number from 0"), "{file}: {error}");
        }
    }
}

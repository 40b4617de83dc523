//! Versions of known tools that nobody has seen: read where the keys mean the same, said, and a changed unit is caught.

use pacegate::model::{Metric, Report, Statistic};

use super::{data, groups, read_text, report, stat, value};

const EVALSCOPE: &str = "evalscope/1.14.1/clean-c8.parallel_8_number_48.benchmark_summary.json";
const PERCENTILES: &str = "evalscope/1.14.1/clean-c8.parallel_8_number_48.benchmark_percentile.json";

fn text(file: &str) -> String {
    std::fs::read_to_string(data(file)).unwrap()
}

/// The file with something in it changed, which must be there.
fn changed(file: &str, from: &str, to: &str) -> String {
    let text = text(file);
    assert!(text.contains(from), "{file} has no {from}");
    text.replace(from, to)
}

fn warnings(report: &Report) -> String {
    report.source.warnings.join("\n")
}

#[test]
fn an_unseen_version_with_the_same_keys_is_read_and_said() {
    for (file, seen, unseen, proven) in [
        ("guidellm/0.8.1/clean-c8.json", "0.8.1", "0.9.0", "proven on 0.3.1 and 0.8.1"),
        ("guidellm/0.8.1/clean-c8.yaml", "0.8.1", "1.0.0rc1", "proven on 0.3.1 and 0.8.1"),
        ("aiperf/0.13.0/clean-c8-records.json", "0.13.0", "0.14.0", "proven on 0.4.0 and 0.13.0"),
        ("servebench/1.1.3/clean-c1-8-32.json", "1.1.3", "2.0.0", "proven on 1.1.3"),
        ("bench-my-llm/0.5.0/clean-default.json", "0.5.0", "0.6.0", "proven on 0.5.0"),
    ] {
        let name = file.rsplit('/').next().unwrap();
        let known = read_text(name, text(file)).unwrap();
        let new = read_text(name, changed(file, seen, unseen)).unwrap();
        assert_eq!(groups(&new), groups(&known), "{file}");
        let words = format!("it is of version {unseen}, and the reader is {proven}");
        assert!(warnings(&new).contains(&words), "{file}: {}", warnings(&new));
        assert!(!warnings(&known).contains("it is of version"), "{file}: {}", warnings(&known));
    }
}

#[test]
fn a_later_patch_of_a_proven_version_is_no_news() {
    let new = read_text("g.json", changed("guidellm/0.8.1/clean-c8.json", "0.8.1", "0.8.4")).unwrap();
    assert!(!warnings(&new).contains("it is of version"), "{}", warnings(&new));
}

#[test]
fn keys_that_nobody_knows_and_values_that_are_null_change_nothing() {
    for file in [
        "guidellm/0.8.1/clean-c8.json",
        "aiperf/0.13.0/clean-c8-records.json",
        "vllm/0.33.0/clean-chat-c8-detailed.json",
        "sglang/0.5.23/clean-chat-c8-details.jsonl",
        "inference-perf/0.7.0/clean-conc8.stage_0_lifecycle_metrics.json",
        "llmeter/0.2.0/clean-c8.stats.json",
        EVALSCOPE,
        "oha/1.16.0/clean-c8.json",
    ] {
        let more = text(file).replacen(
            '{',
            "{\"a_new_thing\": {\"deep\": [1, {\"x\": null}]}, \"another\": null, ",
            1,
        );
        let name = file.rsplit('/').next().unwrap();
        let (new, old) = (read_text(name, more).unwrap(), read_text(name, text(file)).unwrap());
        assert_eq!(groups(&new), groups(&old), "{file}");
    }
}

#[test]
fn a_required_key_that_was_renamed_is_no_guess() {
    for (file, key, format) in [
        (
            "vllm/0.33.0/clean-chat-c8-detailed.json",
            "\"completed\"",
            "vllm-bench-serve: no key \"completed\"",
        ),
        ("guidellm/0.8.1/clean-c8.json", "\"metrics\"", "guidellm: no key \"benchmarks[].metrics\""),
        ("oha/1.16.0/clean-c8.json", "\"successRate\"", "oha: no key \"summary.successRate\""),
        (EVALSCOPE, "\"Avg Latency (s)\"", "evalscope-perf: no key \"Avg Latency (s)\""),
    ] {
        let error = read_text("r.json", changed(file, key, "\"renamed\"")).unwrap_err();
        assert!(error.contains("no known report format") && error.contains(format), "{file}: {error}");
    }
}

#[test]
fn evalscope_units_are_those_of_its_keys_whichever_way_they_change() {
    let old = report(EVALSCOPE);
    let swapped = changed(EVALSCOPE, "\"Avg TTFT (ms)\"", "\"Avg TTFT (s)\"")
        .replace("\"Avg Latency (s)\"", "\"Avg Latency (ms)\"")
        .replace("\"Output Throughput (tok/s)\"", "\"Output Throughput (tokens/sec)\"")
        .replace("\"Test Duration (s)\"", "\"Test Duration (ms)\"");
    let new = read_text("benchmark_summary.json", swapped).unwrap();
    let of = |report: &Report, metric| stat(groups(report)[0], metric, Statistic::Mean).unwrap();
    assert!((of(&new, &Metric::TTFT) / of(&old, &Metric::TTFT) - 1000.0).abs() < 1e-9);
    assert!((of(&new, &Metric::E2E) / of(&old, &Metric::E2E) - 0.001).abs() < 1e-12);
    assert_eq!(of(&new, &Metric::TPOT), of(&old, &Metric::TPOT));
    let rate = |report| value(groups(report)[0], &Metric::OUTPUT_THROUGHPUT);
    assert_eq!(rate(&new), rate(&old));
    let wall = |report| groups(report)[0].wall_ms.unwrap().get();
    assert!((wall(&new) / wall(&old) - 0.001).abs() < 1e-12);
}

#[test]
fn evalscope_percentiles_go_by_the_unit_of_their_column() {
    let of = |text: String| {
        let report = read_text("benchmark_percentile.json", text).unwrap();
        let of = |metric| stat(groups(&report)[0], metric, Statistic::P99).unwrap();
        (of(&Metric::TTFT), of(&Metric::E2E))
    };
    let (ttft, e2e) = of(text(PERCENTILES));
    let swapped =
        changed(PERCENTILES, "\"TTFT (ms)\"", "\"TTFT (s)\"").replace("\"Latency (s)\"", "\"Latency (ms)\"");
    let (new_ttft, new_e2e) = of(swapped);
    assert!((new_ttft / ttft - 1000.0).abs() < 1e-9 && (new_e2e / e2e - 0.001).abs() < 1e-12);
}

#[test]
fn a_unit_that_nobody_knows_is_said_and_its_number_not_read() {
    let text = changed(EVALSCOPE, "\"Avg TTFT (ms)\"", "\"Avg TTFT (jiffies)\"")
        .replace("\"Output Throughput (tok/s)\"", "\"Output Throughput (tok/min)\"");
    let new = read_text("benchmark_summary.json", text).unwrap();
    let metrics = &groups(&new)[0].metrics;
    assert!(!metrics.contains_key(&Metric::TTFT) && !metrics.contains_key(&Metric::OUTPUT_THROUGHPUT));
    assert!(metrics.contains_key(&Metric::E2E));
    for words in [
        "Avg TTFT has the unit \"jiffies\", which is not known; not read",
        "Output Throughput has the unit \"tok/min\", which is not known; not read",
    ] {
        assert!(warnings(&new).contains(words), "{}", warnings(&new));
    }
}

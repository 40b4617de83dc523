//! Real reports, damaged: never a panic, and what is read of them still holds.
//!
//! `PACEGATE_MUTATIONS=1000000 cargo test --release --test ingest mutations` damages each reader's reports a million times.

use std::path::Path;

use pacegate::config;
use pacegate::model::{Metric, Report, Statistic};
use pacegate::source::ingest::{Format, Options, read_bytes};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::data;

/// One kind of damage; places are shares of the file's length.
#[derive(Clone, Debug)]
enum Damage {
    Flip(f64, u8),
    Cut(f64),
    Drop(f64, usize),
    Repeat(f64, usize),
    /// Puts another token in place of the value behind the next colon or comma.
    Value(f64, &'static str),
}

const TOKENS: &[&str] = &[
    "null",
    "-1",
    "0",
    "1e400",
    "-0.0",
    "NaN",
    "Infinity",
    "-Infinity",
    "\"inf\"",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "true",
    "18446744073709551616",
    "1.5",
    "[[[[[[]]]]]]",
    "\"\u{1b}[2J\"",
    "9007199254740993",
    "1e-320",
];

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0.0..1.0f64;
    prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        place.clone().prop_map(Damage::Cut),
        (place.clone(), 1..200usize).prop_map(|(at, length)| Damage::Drop(at, length)),
        (place.clone(), 1..200usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (place, proptest::sample::select(TOKENS)).prop_map(|(at, token)| Damage::Value(at, token)),
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a length"
)]
fn place(at: f64, length: usize) -> usize {
    (at * length as f64) as usize
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    match damage {
        Damage::Flip(at, byte) => {
            let at = place(*at, bytes.len());
            bytes[at] = *byte;
        }
        Damage::Cut(at) => bytes.truncate(place(*at, bytes.len())),
        Damage::Drop(at, length) => {
            let from = place(*at, bytes.len());
            let to = (from + length).min(bytes.len());
            bytes.drain(from..to);
        }
        Damage::Repeat(at, length) => {
            let from = place(*at, bytes.len());
            let part = bytes[from..(from + length).min(bytes.len())].to_vec();
            bytes.splice(from..from, part);
        }
        Damage::Value(at, token) => {
            let from = place(*at, bytes.len());
            let Some(start) = bytes[from..].iter().position(|b| matches!(b, b':' | b',')) else { return };
            let start = from + start + 1;
            let end = bytes[start..].iter().position(|b| matches!(b, b',' | b'}' | b']' | b'\n'));
            let end = end.map_or(bytes.len(), |end| start + end);
            bytes.splice(start..end, token.bytes());
        }
    }
}

/// What a time of 0 in a file becomes.
#[derive(Clone, Copy, PartialEq)]
enum Zeros {
    /// Another tool's 0 is a time that it did not measure.
    Absent,
    /// A file of ours is taken as it stands; the judge refuses the 0.
    Kept,
}

/// What holds of every report, however damaged its file was.
fn holds(report: &Report, zeros: Zeros) {
    assert!(report.jobs.iter().any(|job| job.rounds.iter().any(|round| !round.groups.is_empty())));
    for group in super::groups(report) {
        assert_eq!(group.id, group.dimensions.id());
        for (metric, measurement) in &group.metrics {
            for (statistic, value) in &measurement.stats {
                let may_be_zero =
                    matches!(statistic, Statistic::Min | Statistic::Std) || *metric == Metric::ITL;
                let time = metric.unit() == pacegate::model::Unit::Millisecond;
                assert!(
                    zeros == Zeros::Kept || value.get() > 0.0 || may_be_zero || (!time && value.get() >= 0.0),
                    "{metric}.{statistic} {value}"
                );
            }
            if let Some(samples) = &measurement.samples {
                assert_eq!(measurement.n, Some(samples.len() as u64), "{metric}");
            }
        }
        if group.requests.succeeded == Some(0) {
            assert!(!group.metrics.contains_key(&Metric::TTFT) && !group.metrics.contains_key(&Metric::TPOT));
        }
    }
    // What was read is a report that can be written and read again.
    let text = serde_json::to_string(report).unwrap();
    let again = read_bytes("again.json", text.into_bytes(), &Options::default()).unwrap();
    assert!(again == *report, "it does not read back as what was written");
    for round in report.jobs.iter().flat_map(|job| &job.rounds) {
        let mut ids: Vec<_> = round.groups.iter().map(|group| &group.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), round.groups.len(), "a group twice in one round");
    }
}

fn survives(files: &[&str]) {
    let files: Vec<(String, Vec<u8>)> =
        files.iter().map(|file| ((*file).to_owned(), std::fs::read(data(file)).unwrap())).collect();
    let found = Options::default();
    let report = read_bytes(&files[0].0, files[0].1.clone(), &found).unwrap();
    let format = report.source.format.and_then(|name| name.parse::<Format>().ok());
    let forced = Options { format: Some(format.unwrap_or(Format::Pacegate)), ..Options::default() };
    damaged(files, &[found, forced], Zeros::Absent);
}

/// Damages files and reads them, each time in one of several ways.
fn damaged(files: Vec<(String, Vec<u8>)>, ways: &[Options], zeros: Zeros) {
    let cases = std::env::var("PACEGATE_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(96);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let ways = proptest::sample::select(ways.to_vec());
    let strategy = (proptest::sample::select(files), proptest::collection::vec(damage(), 1..4), ways);
    let result = runner.run(&strategy, |((name, mut bytes), damages, options)| {
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        match read_bytes(&name, bytes, &options) {
            Ok(report) => holds(&report, zeros),
            Err(error) => assert!(error.to_string().len() > 20),
        }
        Ok(())
    });
    // The damaged bytes are not shown: there are too many of them.
    if let Err(proptest::test_runner::TestError::Fail(reason, ((name, _), damages, options))) = result {
        panic!("{name} as {:?} with {damages:?}: {reason}", options.format);
    }
}

#[test]
fn pacegate_itself() {
    let own = |file: &str| {
        let report = super::report(file);
        (format!("{file} converted"), serde_json::to_vec_pretty(&report).unwrap())
    };
    let files = vec![own("vllm/0.33.0/faults-chat-c8-detailed.json"), own("original/benchmark-chat-c8.json")];
    let forced = Options { format: Some(Format::Pacegate), ..Options::default() };
    damaged(files, &[Options::default(), forced], Zeros::Kept);
}

#[test]
fn generic() {
    let text = r#"
        [generic.json]
        each = "/results"
        concurrency = "/concurrency"
        sent = "/n_requests"
        failed = "/n_error"
        [generic.json.fields]
        "ttft.p95" = { at = "/ttft/p95", unit = "s" }
        "output_throughput" = { at = "/tokens_per_second", unit = "tok/s" }
        [generic.csv]
        traffic = "Name"
        sent = "Request Count"
        failed = "Failure Count"
        [generic.csv.fields]
        "e2e.p95" = { at = "95%", unit = "ms" }
    "#;
    let config = config::load(Path::new("pacegate.toml"), text).unwrap();
    for (name, file) in
        [("json", "infermark/0.3.0/clean-c1-8-32.json"), ("csv", "locust/2.47.0/faults-c8.stats.csv")]
    {
        let mapping = config.mapping(Some(name), "pacegate.toml").unwrap().clone();
        let options = Options { mapping: Some(mapping), ..Options::default() };
        damaged(vec![(file.to_owned(), std::fs::read(data(file)).unwrap())], &[options], Zeros::Absent);
    }
}

macro_rules! mutations {
    ($($name:ident: $($file:literal),+;)*) => {$(
        #[test]
        fn $name() {
            survives(&[$($file),+]);
        }
    )*};
}

mutations! {
    aiperf: "aiperf/0.13.0/raw-c1.json", "aiperf/0.13.0/raw-c1.records.jsonl", "aiperf/0.4.0/faults-c8-records.json";
    bench_my_llm: "bench-my-llm/0.5.0/clean-default.json";
    benchmark_py: "original/benchmark-chat-c8.json", "original/benchmark-code-c32-list.json", "original/benchmark-rag-c8-bare.json";
    benchmark_runner_py: "original/benchmark_runner-c32.json", "original/benchmark_runner-levels.json";
    evalscope: "evalscope/1.14.1/faults-c8.parallel_8_number_60.benchmark_summary.json", "evalscope/1.14.1/faults-c8.parallel_8_number_60.benchmark_percentile.json";
    genai_perf: "genai-perf/0.0.16/clean-c8.json";
    guidellm: "guidellm/0.3.1/clean-sync-csv.csv", "guidellm/0.8.1/faults-c8.csv", "guidellm/0.3.1/clean-c8.json";
    guidellm_yaml: "guidellm/0.8.1/clean-c8.yaml";
    hey: "hey/0.1.4/faults-c8.txt";
    inference_perf: "inference-perf/0.7.0/faults-conc8.stage_0_lifecycle_metrics.json", "inference-perf/0.7.0/faults-conc8-perrequest.per_request.json";
    infermark: "infermark/0.3.0/clean-c1-8-32.json", "infermark/0.3.0/allfail-500-c8.json";
    k6: "k6/1.1.0/faults-c8.summary-export.json";
    llm_latency_bench: "llm-latency-bench/0.3.0/faults-c8.json";
    llmeter: "llmeter/0.2.0/faults-c8.stats.json", "llmeter/0.2.0/faults-c4.responses.jsonl";
    locust: "locust/2.47.0/faults-c8.json", "locust/2.47.0/faults-c8.stats.csv";
    oha: "oha/1.16.0/faults-c8.json";
    servebench: "servebench/1.1.3/faults-c8.json";
    sglang: "sglang/0.5.23/clean-completions-c32.jsonl", "sglang/0.5.23/rust-clean-chat-c8-details.jsonl";
    vllm: "vllm/0.33.0/clean-chat-c8-append.json", "vllm/0.33.0/allfail-500-c8.json", "vllm/0.33.0/faults-chat-c8-detailed.json";
    wrk: "wrk/4.1.0/clean-c8.txt";
}

//! AIPerf: the summary, the records of single requests, or both.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::report::TokenSource;
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Unit};

use super::content::Content;
use super::detect::{Miss, Sniff, lacks, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::{Number, Text};
use super::outline::Outline;
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, failure, parse, rows, stamp};

/// The summary's name ends in one of these, the records' name in the other.
const RECORDS_BESIDE: &[(&str, &str)] =
    &[("_aiperf.json", ".jsonl"), (".json", ".records.jsonl"), (".json", ".jsonl")];
const NS_PER_MS: f64 = 1e6;

/// Whether it is AIPerf's summary or its records.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    lacks(sniff, "metrics_phase", "the file of AIPerf's server metrics")?;
    if is_records(sniff.outline) {
        return need(sniff, &["metrics"]);
    }
    need(sniff, &["aiperf_version", "schema_version", "input_config.loadgen", "metadata.request_start_ns"])?;
    need(sniff, &["request_latency.unit", "request_count.unit", "error_request_count.unit"])
}

fn is_records(outline: &Outline) -> bool {
    outline.has("metadata.request_start_ns")
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content, outline: &Outline) -> Result<Reading, IngestError> {
    if is_records(outline) { from_records(content) } else { from_summary(content) }
}

fn from_summary(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::Aiperf)?;
    let mut reading = Reading::new(Format::Aiperf);
    reading.version = tree.text(&["aiperf_version"]);
    let mut draft = Draft::default();
    workload(&mut reading, &mut draft, &tree);
    outcomes(&mut draft, &tree);
    draft.wall_ms = tree.get("benchmark_duration").and_then(|object| {
        let factor = rows::factor(&object.text(&["unit"])?, Unit::Millisecond)?;
        Some(object.finite(&["avg"])? * factor)
    });
    let total = |key: &str| rows::count(&tree, key);
    draft.tokens(total("total_isl"), total("total_output_tokens"), TokenSource::Client);
    define(&mut draft);
    for (key, metric) in DISTRIBUTIONS {
        rows::distribution(&mut draft, &tree, key, metric);
    }
    rows::distribution(&mut draft, &tree, "output_sequence_length", &Metric::OUTPUT_TOKENS);
    rows::value(&mut draft, &tree, "output_token_throughput", &Metric::OUTPUT_THROUGHPUT);
    rows::value(&mut draft, &tree, "request_throughput", &Metric::REQUEST_THROUGHPUT);
    if let Some(beside) = content.beside(RECORDS_BESIDE)? {
        let records = records(&beside)?;
        if Some(records.succeeded) == draft.requests.succeeded {
            records.into_samples(&mut draft);
        }
    }
    let flag = |key: &str| tree.text(&[key]);
    let run = Run {
        started: tree.text(&["start_time"]).as_deref().and_then(stamp::parse),
        broken_off: flag("was_cancelled").as_deref() == Some("true")
            || flag("is_complete").as_deref() == Some("false"),
        ..Run::default()
    };
    reading.run(content, run, [(String::new(), draft)])?;
    Ok(reading)
}

const DISTRIBUTIONS: &[(&str, Metric)] = &[
    ("time_to_first_token", Metric::TTFT),
    ("time_to_first_output_token", Metric::TTFO),
    // One value a request with the first token excluded: what the others call TPOT.
    ("inter_token_latency", Metric::TPOT),
    ("inter_chunk_latency", Metric::ITL),
    ("request_latency", Metric::E2E),
];

fn define(draft: &mut Draft) {
    let linear = PercentileDefinition::Linear;
    draft.define(&Metric::TTFT, "first-token", linear);
    draft.define(&Metric::TTFO, "first-output-token", linear);
    draft.define(&Metric::TPOT, "excludes-first-token", linear);
    draft.define(&Metric::ITL, "gap-between-chunks", linear);
    draft.define(&Metric::E2E, "whole-request", linear);
}

/// 0.13 keeps phases and data sets, the versions before it `loadgen` and `input`.
fn workload(reading: &mut Reading, draft: &mut Draft, tree: &Tree) {
    let Some(config) = tree.get("input_config") else { return };
    let phases = config.get("phases").map_or(&[][..], Tree::elements);
    let phase = phases.iter().find(|phase| phase.text(&["kind"]).as_deref() == Some("profiling"));
    let load = phase.or_else(|| config.get("loadgen"));
    let rate = load.and_then(|load| load.finite(&["request_rate"]).or_else(|| load.finite(&["rate"])));
    if let Some(load) = load {
        draft.concurrency_at(load, &["concurrency"]);
    }
    draft.dimensions.rate = rate.and_then(|rate| Finite::new(rate).ok());
    draft.fact(Fact::Rate, rate.map(|rate| format!("{rate} req/s")));
    let data = config.get("datasets").and_then(|list| list.elements().first());
    let prompts = data.and_then(|data| data.get("prompts"));
    let input = config.at(&["input", "prompt"]);
    let mean = |new: &str, old: &str| {
        let new = prompts.and_then(|prompts| prompts.text(&[new, "mean"]));
        new.or_else(|| input.and_then(|input| input.text(&[old, "mean"])))
    };
    draft.fact(Fact::PromptTokens, mean("isl", "input_tokens"));
    draft.fact(Fact::OutputLimit, mean("osl", "output_tokens"));
    draft.fact(Fact::Traffic, data.and_then(|data| data.text(&["type"])));
    let items = config.at(&["models", "items"]).and_then(|list| list.elements().first());
    let names = config.at(&["endpoint", "model_names"]).and_then(|list| list.elements().first());
    let model = items.and_then(|item| item.text(&["name"])).or_else(|| names.and_then(|name| name.text(&[])));
    draft.fact(Fact::Model, model.as_ref());
    reading.subject.model = model;
    let endpoint = config.text(&["endpoint", "type"]);
    draft.fact(Fact::Tool, endpoint.map(|endpoint| format!("aiperf, endpoint {endpoint}")));
}

/// `error_request_count` is left away where there was no error; then `error_summary` is empty.
fn outcomes(draft: &mut Draft, tree: &Tree) {
    let summary = tree.get("error_summary").map(Tree::elements);
    let mut told = 0;
    for error in summary.unwrap_or_default() {
        let times = draft.times("error_summary.count", error.at(&["count"]).and_then(Tree::number));
        let details = error.get("error_details");
        let text = |key: &str| details.and_then(|details| details.text(&[key])).unwrap_or_default();
        let code = details.and_then(|details| details.count(&["code"]));
        let kind = code
            .map_or_else(|| failure::kind(&format!("{} {}", text("type"), text("message"))), failure::status);
        draft.failed(kind, times, &text("type"));
        told = draft.sum(told, times);
    }
    let failed = draft.counted_at(tree, &["error_request_count", "avg"]).or(summary.map(|_| told));
    let succeeded =
        draft.counted_at(tree, &["request_count", "avg"]).or_else(|| failed.filter(|n| *n > 0).map(|_| 0));
    let sent = succeeded.zip(failed).map(|(ok, failed)| ok + failed);
    draft.fact(Fact::Requests, sent);
    draft.outcomes(sent, succeeded);
}

#[derive(Deserialize)]
struct Record {
    metadata: Metadata,
    #[serde(default)]
    metrics: BTreeMap<String, Value>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    request_start_ns: Option<u64>,
    #[serde(default)]
    request_end_ns: Option<u64>,
    #[serde(default)]
    benchmark_phase: Text,
    #[serde(default)]
    was_cancelled: bool,
}

#[derive(Deserialize)]
struct Value {
    #[serde(default)]
    value: One,
    #[serde(default)]
    unit: Text,
}

/// A number, or a list of them that is not kept.
#[derive(Clone, Copy, Default)]
struct One(Number);

impl<'de> Deserialize<'de> for One {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<One, D::Error> {
        let scalar = super::number::Scalar::deserialize(deserializer)?;
        Ok(One(scalar.number().unwrap_or_default()))
    }
}

#[derive(Deserialize)]
struct Failure {
    code: Option<u64>,
    #[serde(default, rename = "type")]
    kind: Text,
    #[serde(default)]
    message: Text,
}

/// What the records say.
#[derive(Default)]
struct Records {
    /// Start in ns, then ttft, tpot, e2e in ms, output tokens.
    rows: Vec<(u64, [Option<f64>; 4])>,
    succeeded: u64,
    failed: Vec<Failure>,
    cancelled: u64,
    first_start: Option<u64>,
    last_end: Option<u64>,
}

fn records(content: &Content) -> Result<Records, IngestError> {
    let mut all = Records::default();
    parse::json_lines(content, Format::Aiperf, |record: Record, _| {
        if record.metadata.benchmark_phase.0.as_deref().is_some_and(|phase| phase != "profiling") {
            return Ok(());
        }
        if record.metadata.was_cancelled {
            all.cancelled += 1;
            return Ok(());
        }
        let start = record.metadata.request_start_ns;
        all.first_start = all.first_start.into_iter().chain(start).min();
        // The summary's duration ends with the last response, not with the end of its connection.
        let latency = record.metrics.get("request_latency").and_then(|value| value.value.0.finite());
        let end = start
            .zip(latency)
            .map(|(start, ms)| start.saturating_add(nanos(ms)))
            .or(record.metadata.request_end_ns);
        all.last_end = all.last_end.into_iter().chain(end).max();
        if let Some(failure) = record.error {
            all.failed.push(failure);
            return Ok(());
        }
        all.succeeded += 1;
        let time = |key: &str| {
            let value = record.metrics.get(key)?;
            Some(value.value.0.finite()? * rows::factor(value.unit.0.as_deref()?, Unit::Millisecond)?)
        };
        let tokens = record.metrics.get("output_sequence_length").and_then(|value| value.value.0.finite());
        let row = [time("time_to_first_token"), time("inter_token_latency"), time("request_latency"), tokens];
        all.rows.push((start.unwrap_or(u64::MAX), row));
        Ok(())
    })?;
    all.rows.sort_by_key(|(start, _)| *start);
    Ok(all)
}

impl Records {
    fn column(&self, index: usize) -> Vec<f64> {
        self.rows.iter().filter_map(|(_, row)| row[index]).collect()
    }

    fn into_samples(self, draft: &mut Draft) {
        draft.samples(&Metric::TTFT, &self.column(0));
        draft.samples(&Metric::TPOT, &self.column(1));
        draft.samples(&Metric::E2E, &self.column(2));
    }
}

/// The records alone: what the summary would say is taken from them.
fn from_records(content: &Content) -> Result<Reading, IngestError> {
    let records = records(content)?;
    let mut reading = Reading::new(Format::Aiperf);
    let mut draft = Draft::default();
    for failure in &records.failed {
        let words = format!(
            "{} {}",
            failure.kind.0.as_deref().unwrap_or(""),
            failure.message.0.as_deref().unwrap_or("")
        );
        let kind = failure.code.map_or_else(|| failure::kind(&words), failure::status);
        draft.failed(kind, 1, failure.kind.0.as_deref().unwrap_or_default());
    }
    let sent = records.succeeded + records.failed.len() as u64;
    draft.outcomes(Some(sent), Some(records.succeeded));
    draft.fact(Fact::Requests, Some(sent));
    if records.cancelled > 0 {
        draft.notes.push(format!(
            "{} requests were cancelled; they count neither as successes nor as failures",
            records.cancelled
        ));
    }
    define(&mut draft);
    let tokens: f64 = records.column(3).iter().sum();
    draft.tokens(None, Number::of(tokens).count(), TokenSource::Client);
    if let (Some(start), Some(end)) = (records.first_start, records.last_end) {
        let wall_ms = Some(span_ms(start, end));
        draft.wall_ms = wall_ms;
        if let Some(seconds) = wall_ms.map(|ms| ms / 1000.0).filter(|seconds| *seconds > 0.0) {
            draft.value(&Metric::OUTPUT_THROUGHPUT, Number::of(tokens / seconds));
            draft.value(&Metric::REQUEST_THROUGHPUT, Number::of(records.rows.len() as f64 / seconds));
        }
    }
    draft.notes.push(
        "the summary (profile_export_aiperf.json) does not lie beside the records, so the load is not known; throughput is over the time from the first start to the last response"
            .to_owned(),
    );
    let started = records.first_start.and_then(|ns| stamp::epoch_seconds(span_ms(0, ns) / 1000.0));
    records.into_samples(&mut draft);
    reading.run(content, Run { started, ..Run::default() }, [(String::new(), draft)])?;
    Ok(reading)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a run of 2^53 ns is 104 days, and a start is only shown to the second"
)]
fn span_ms(start: u64, end: u64) -> f64 {
    end.saturating_sub(start) as f64 / NS_PER_MS
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float to an integer saturates, and is not negative"
)]
fn nanos(ms: f64) -> u64 {
    (ms.max(0.0) * NS_PER_MS) as u64
}

//! LLMeter: `responses.jsonl` with every request, or `stats.json` with what the tool made of them. All of it in seconds.

use serde::Deserialize;

use crate::model::report::TokenSource;
use crate::model::{Fact, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::flat::Flat;
use super::number::{Number, Text};
use super::outline::Outline;
use super::reading::{Reading, Run};
use super::{Format, failure, parse, stamp};

const MS_PER_SECOND: f64 = 1000.0;
const STATS_BESIDE: &[(&str, &str)] =
    &[("responses.jsonl", "stats.json"), ("responses.jsonl", "summary.json")];
const NAMES: &[(&str, Metric)] = &[
    ("time_to_first_token", Metric::TTFT),
    ("time_per_output_token", Metric::TPOT),
    ("time_to_last_token", Metric::E2E),
];

/// Whether it is LLMeter's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    if is_responses(sniff.outline) {
        return need(sniff, &["error"]);
    }
    need(sniff, &["total_requests"])?;
    need(sniff, &["failed_requests", "failed_requests_rate"])?;
    need(sniff, &["clients"])?;
    need(sniff, &["requests_per_minute", "time_to_last_token-p50", "total_test_time"])
}

fn is_responses(outline: &Outline) -> bool {
    outline.has("time_to_last_token") && outline.has("input_payload")
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content, outline: &Outline) -> Result<Reading, IngestError> {
    if is_responses(outline) { from_responses(content) } else { from_stats(content) }
}

fn from_stats(content: &Content) -> Result<Reading, IngestError> {
    let flat: Flat = parse::json(content, Format::Llmeter)?;
    let mut reading = Reading::new(Format::Llmeter);
    let mut draft = Draft::default();
    let started = run_facts(&mut reading, &mut draft, &flat);
    let sent = draft.counted("total_requests", flat.number("total_requests"));
    let failed = draft.counted("failed_requests", flat.number("failed_requests").or(Some(Number::Absent)));
    draft.outcomes_less(sent, failed);
    let [input, output] = ["total_input_tokens", "total_output_tokens"]
        .map(|key| flat.scalars.get(key).and_then(|scalar| draft.counted(key, scalar.number())));
    draft.tokens(input, output, TokenSource::Unknown);
    define(&mut draft, PercentileDefinition::Exclusive);
    for (key, scalar) in &flat.scalars {
        let Some((name, word)) = key.rsplit_once('-') else { continue };
        let Some((_, metric)) = NAMES.iter().find(|(known, _)| *known == name) else { continue };
        let statistic = if word == "average" { Some(Statistic::Mean) } else { word.parse().ok() };
        if let (Some(statistic), Some(number)) = (statistic, scalar.number()) {
            draft.scaled(metric, statistic, number, MS_PER_SECOND);
        }
    }
    if failed.is_some_and(|failed| failed > 0) {
        draft.notes.push(
            "the tool's own percentiles take in streams that were cut midway; give responses.jsonl to have successes only".to_owned(),
        );
    }
    draft.notes.push("its percentiles lie at (n + 1) p, so p99 can be above the largest sample".to_owned());
    throughput(&mut draft, &flat);
    reading.run(content, Run { started, ..Run::default() }, [(String::new(), draft)])?;
    Ok(reading)
}

fn run_facts(reading: &mut Reading, draft: &mut Draft, flat: &Flat) -> Option<crate::model::Timestamp> {
    if let Some(clients) = flat.scalars.get("clients") {
        draft.concurrency("clients", clients.number());
    }
    draft.fact(Fact::Requests, flat.count("total_requests"));
    draft.fact(Fact::Model, flat.text("model_id"));
    reading.subject.model = flat.text("model_id");
    let endpoint = flat.text("endpoint_name");
    draft.fact(Fact::Tool, endpoint.map(|endpoint| format!("llmeter, endpoint {endpoint}")));
    draft.wall_ms = flat.finite("total_test_time").map(|seconds| seconds * MS_PER_SECOND);
    flat.text("start_time").as_deref().and_then(stamp::parse)
}

fn define(draft: &mut Draft, percentiles: PercentileDefinition) {
    draft.define(&Metric::TTFT, "first-content-chunk", percentiles);
    draft.define(&Metric::TPOT, "excludes-first-token", percentiles);
    draft.define(&Metric::E2E, "to-last-token", percentiles);
}

/// Tokens per second over the whole test; the file's request rates are per minute and take failures in.
fn throughput(draft: &mut Draft, flat: &Flat) {
    draft.value(&Metric::OUTPUT_THROUGHPUT, flat.number("output_tps").unwrap_or_default());
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    time_to_first_token: Number,
    #[serde(default)]
    time_to_last_token: Number,
    #[serde(default)]
    time_per_output_token: Number,
    #[serde(default)]
    num_tokens_output: Number,
    #[serde(default)]
    num_tokens_input: Number,
    #[serde(default)]
    error: Text,
}

/// Successes only, with linear percentiles: the tool's own take cut streams in.
fn from_responses(content: &Content) -> Result<Reading, IngestError> {
    let mut reading = Reading::new(Format::Llmeter);
    let mut draft = Draft::default();
    let (mut sent, mut succeeded) = (0, 0);
    let (mut input, mut output) = (0, 0);
    let mut times: [Vec<f64>; 3] = Default::default();
    parse::json_lines(content, Format::Llmeter, |response: Response, _| {
        sent += 1;
        if let Some(words) = &response.error.0 {
            draft.failed(failure::kind(words), 1, words);
            return Ok(());
        }
        succeeded += 1;
        input += response.num_tokens_input.count().unwrap_or_default();
        output += response.num_tokens_output.count().unwrap_or_default();
        let row = [response.time_to_first_token, response.time_per_output_token, response.time_to_last_token];
        for (list, number) in times.iter_mut().zip(row) {
            list.extend(number.finite().map(|seconds| seconds * MS_PER_SECOND));
        }
        Ok(())
    })?;
    let beside = content.beside(STATS_BESIDE)?;
    let mut started = None;
    if let Some(beside) = &beside {
        let flat: Flat = parse::json(beside, Format::Llmeter)?;
        started = run_facts(&mut reading, &mut draft, &flat);
        throughput(&mut draft, &flat);
    } else {
        draft.notes.push(
            "stats.json does not lie beside the responses, so clients and throughput are not known"
                .to_owned(),
        );
    }
    draft.outcomes(Some(sent), Some(succeeded));
    draft.fact(Fact::Requests, Some(sent));
    draft.tokens(Some(input), Some(output), TokenSource::Unknown);
    define(&mut draft, PercentileDefinition::Linear);
    for ((_, metric), list) in NAMES.iter().zip(&times) {
        draft.samples(metric, list);
    }
    reading.run(content, Run { started, ..Run::default() }, [(String::new(), draft)])?;
    Ok(reading)
}

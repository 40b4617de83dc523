//! llm-latency-bench and bench-my-llm: small tools that write every request and little else.

use serde::Deserialize;

use crate::model::report::{TokenSource, Warmup};
use crate::model::{Fact, Metric, PercentileDefinition};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::{Number, Text};
use super::reading::{Reading, Run};
use super::{Format, failure, parse, stamp};

const NS_PER_MS: f64 = 1e6;

/// Whether it is llm-latency-bench's.
pub fn detect_latency_bench(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["results[].ttft_ns"])?;
    need(sniff, &["results[].total_ns"])?;
    need(sniff, &["meta.n", "meta.concurrency"])
}

/// Whether it is bench-my-llm's.
pub fn detect_my_llm(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["suite"])?;
    need(sniff, &["results[].ttft_ms"])?;
    need(sniff, &["results[].total_latency_ms"])
}

#[derive(Deserialize)]
struct LatencyBench {
    meta: Meta,
    results: Vec<Nanos>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default)]
    provider: Text,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    task: Text,
    #[serde(default)]
    concurrency: Number,
    #[serde(default)]
    max_tokens: Text,
    #[serde(default)]
    warmup: Number,
    #[serde(default)]
    timestamp: Text,
}

#[derive(Deserialize)]
struct Nanos {
    #[serde(default)]
    ttft_ns: Number,
    #[serde(default)]
    total_ns: Number,
    #[serde(default)]
    completion_tokens: Number,
    #[serde(default)]
    prompt_tokens: Number,
    #[serde(default)]
    error: Text,
}

/// What both tools come down to: one row a success.
#[derive(Default)]
struct Rows {
    ttft: Vec<f64>,
    tpot: Vec<f64>,
    e2e: Vec<f64>,
    input: u64,
    output: u64,
}

impl Rows {
    fn push(&mut self, ttft: Number, e2e: Number, tokens: Number, prompt: Number, per_ms: f64) {
        let ms = |number: Number| number.finite().map(|value| value / per_ms);
        let (ttft, e2e) = (ms(ttft), ms(e2e));
        self.ttft.extend(ttft);
        self.e2e.extend(e2e);
        self.input += prompt.count().unwrap_or_default();
        self.output += tokens.count().unwrap_or_default();
        if let (Some(ttft), Some(e2e), Some(tokens)) = (ttft, e2e, tokens.finite())
            && tokens > 1.0
        {
            self.tpot.push((e2e - ttft) / (tokens - 1.0));
        }
    }

    fn fill(&self, draft: &mut Draft) {
        let linear = PercentileDefinition::Linear;
        draft.define(&Metric::TTFT, "first-content-chunk", linear);
        draft.define(&Metric::TPOT, "excludes-first-token", linear);
        draft.define(&Metric::E2E, "whole-request", linear);
        draft.samples(&Metric::TTFT, &self.ttft);
        draft.samples(&Metric::TPOT, &self.tpot);
        draft.samples(&Metric::E2E, &self.e2e);
    }
}

/// Reads llm-latency-bench's file. What it has ready-made (`cold_ttft_p99`, a maximum) is not read.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read_latency_bench(content: &Content) -> Result<Reading, IngestError> {
    let file: LatencyBench = parse::json(content, Format::LlmLatencyBench)?;
    let mut reading = Reading::new(Format::LlmLatencyBench);
    let mut draft = Draft::default();
    let meta = file.meta;
    draft.concurrency("concurrency", Some(meta.concurrency));
    draft.fact(Fact::Model, meta.model.0.as_ref());
    draft.fact(Fact::Traffic, meta.task.0);
    draft.fact(Fact::OutputLimit, meta.max_tokens.0);
    draft.fact(Fact::Tool, meta.provider.0.map(|provider| format!("llm-latency-bench, provider {provider}")));
    draft.fact(Fact::Requests, Some(file.results.len()));
    reading.subject.model = meta.model.0;
    let mut rows = Rows::default();
    let mut succeeded = 0;
    for result in &file.results {
        if let Some(words) = &result.error.0 {
            draft.failed(failure::kind(words), 1, words);
            continue;
        }
        succeeded += 1;
        rows.push(result.ttft_ns, result.total_ns, result.completion_tokens, result.prompt_tokens, NS_PER_MS);
    }
    draft.outcomes(Some(file.results.len() as u64), Some(succeeded));
    draft.tokens(Some(rows.input), Some(rows.output), TokenSource::Usage);
    rows.fill(&mut draft);
    let warmup = meta.warmup.count().filter(|n| *n > 0);
    let run = Run {
        started: meta.timestamp.0.as_deref().and_then(stamp::parse),
        warmup: warmup.map(|sent| Warmup { sent, ..Warmup::default() }),
        ..Run::default()
    };
    reading.run(content, run, [(String::new(), draft)])?;
    Ok(reading)
}

#[derive(Deserialize)]
struct MyLlm {
    #[serde(default)]
    model: Text,
    #[serde(default)]
    suite: Text,
    #[serde(default)]
    timestamp: Text,
    metadata: Option<Metadata>,
    results: Vec<Millis>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    tool_version: Text,
    #[serde(default)]
    temperature: Text,
}

#[derive(Deserialize)]
struct Millis {
    #[serde(default)]
    ttft_ms: Number,
    #[serde(default)]
    total_latency_ms: Number,
    #[serde(default)]
    tokens_per_second: Number,
    #[serde(default)]
    completion_tokens: Number,
    #[serde(default)]
    prompt_tokens: Number,
}

/// Reads bench-my-llm's file. The tool ends at the first failure without a report, so a report has none.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read_my_llm(content: &Content) -> Result<Reading, IngestError> {
    let file: MyLlm = parse::json(content, Format::BenchMyLlm)?;
    let mut reading = Reading::new(Format::BenchMyLlm);
    let mut draft = Draft::default();
    draft.fact(Fact::Model, file.model.0.as_ref());
    draft.fact(Fact::Traffic, file.suite.0);
    draft.fact(Fact::Requests, Some(file.results.len()));
    reading.subject.model = file.model.0;
    if let Some(metadata) = file.metadata {
        reading.version = metadata.tool_version.0;
        draft.fact(Fact::Sampling, metadata.temperature.0.map(|t| format!("temperature {t}")));
    }
    let mut rows = Rows::default();
    let mut rates = Vec::new();
    for result in &file.results {
        rows.push(
            result.ttft_ms,
            result.total_latency_ms,
            result.completion_tokens,
            result.prompt_tokens,
            1.0,
        );
        rates.extend(result.tokens_per_second.finite());
    }
    let all = file.results.len() as u64;
    draft.outcomes(Some(all), Some(all));
    draft.tokens(Some(rows.input), Some(rows.output), TokenSource::Client);
    rows.fill(&mut draft);
    if !rates.is_empty() {
        draft.define(&Metric::TOKENS_PER_SECOND, "mean-of-requests", PercentileDefinition::Linear);
        draft.value(&Metric::TOKENS_PER_SECOND, Number::of(mean(&rates)));
    }
    let started = file.timestamp.0.as_deref().and_then(stamp::parse);
    reading.run(content, Run { started, ..Run::default() }, [(String::new(), draft)])?;
    Ok(reading)
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

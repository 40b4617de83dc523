//! servebench: one group a level, with every request. Seconds throughout.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::report::{TokenSource, Warmup};
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::{Number, Text};
use super::reading::{Reading, Run};
use super::{Format, failure, parse, stamp};

const MS_PER_SECOND: f64 = 1000.0;

/// Whether it is servebench's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["levels"])?;
    need(sniff, &["levels[].summary"])?;
    need(sniff, &["levels[].mode"])
}

#[derive(Deserialize)]
struct File {
    config: Option<Config>,
    environment: Option<Environment>,
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    model: Text,
    #[serde(default)]
    prompts: Text,
    #[serde(default)]
    input_len: Text,
    #[serde(default)]
    output_len: Text,
    #[serde(default)]
    endpoint: Text,
    #[serde(default)]
    arrival_dist: Text,
    #[serde(default)]
    temperature: Text,
    #[serde(default)]
    warmup: Number,
    #[serde(default)]
    seed: Number,
}

#[derive(Deserialize)]
struct Environment {
    #[serde(default)]
    servebench_version: Text,
    #[serde(default)]
    timestamp: Text,
    #[serde(default)]
    engine: Text,
    #[serde(default)]
    engine_version: Text,
    #[serde(default)]
    cpu: Text,
    #[serde(default)]
    platform: Text,
}

#[derive(Deserialize)]
struct Level {
    #[serde(default)]
    mode: Text,
    #[serde(default)]
    value: Number,
    #[serde(default)]
    duration: Number,
    #[serde(default)]
    client_lag_p99_ms: Number,
    summary: Summary,
    requests: Option<Vec<Request>>,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    completed: Number,
    #[serde(default)]
    failed: Number,
    errors: Option<BTreeMap<String, Number>>,
    #[serde(default)]
    request_throughput: Number,
    #[serde(default)]
    output_throughput: Number,
    #[serde(default)]
    output_tokens_mean: Number,
    ttft: Option<BTreeMap<String, Number>>,
    tpot: Option<BTreeMap<String, Number>>,
    itl: Option<BTreeMap<String, Number>>,
    e2e: Option<BTreeMap<String, Number>>,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    start: Number,
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    ttft: Number,
    #[serde(default)]
    e2e: Number,
    #[serde(default)]
    output_tokens: Number,
    #[serde(default)]
    prompt_tokens: Number,
    #[serde(default)]
    token_source: Text,
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let file: File = parse::json(content, Format::Servebench)?;
    let mut reading = Reading::new(Format::Servebench);
    let mut run = Run::default();
    if let Some(environment) = file.environment {
        reading.version = environment.servebench_version.0;
        reading.subject.engine = environment.engine.0;
        reading.subject.engine_version = environment.engine_version.0;
        reading.client.cpu = environment.cpu.0;
        reading.client.os = environment.platform.0;
        run.started = environment.timestamp.0.as_deref().and_then(stamp::parse);
    }
    if let Some(config) = &file.config {
        reading.subject.model.clone_from(&config.model.0);
        run.seed = config.seed.count();
        let sent = config.warmup.count().filter(|n| *n > 0);
        // It warms up once a level.
        run.warmup = sent.map(|sent| Warmup { sent: sent * file.levels.len() as u64, ..Warmup::default() });
    }
    let levels = file.levels.into_iter().enumerate();
    let drafts =
        levels.map(|(index, level)| (format!("levels[{index}]"), group(level, file.config.as_ref())));
    reading.run(content, run, drafts.collect::<Vec<_>>())?;
    Ok(reading)
}

fn group(level: Level, config: Option<&Config>) -> Draft {
    let mut draft = Draft::default();
    load(&mut draft, &level, config);
    let summary = level.summary;
    for (words, times) in summary.errors.iter().flatten() {
        let times = draft.times(words, Some(*times));
        draft.failed(failure::kind(words), times, words);
    }
    let completed = draft.counted("summary.completed", Some(summary.completed));
    let failed = draft.counted("summary.failed", Some(summary.failed));
    let sent = completed.zip(failed).map(|(ok, failed)| ok + failed);
    draft.outcomes(sent, completed);
    draft.fact(Fact::Requests, sent);
    draft.wall_ms = level.duration.finite().map(|seconds| seconds * MS_PER_SECOND);
    draft.lag_ms = level.client_lag_p99_ms.finite();
    let linear = PercentileDefinition::Linear;
    draft.define(&Metric::TTFT, "first-token", linear);
    draft.define(&Metric::TPOT, "excludes-first-token", linear);
    draft.define(&Metric::ITL, "gap-between-chunks", linear);
    draft.define(&Metric::E2E, "whole-request", linear);
    for (metric, object) in [
        (Metric::TTFT, &summary.ttft),
        (Metric::TPOT, &summary.tpot),
        (Metric::ITL, &summary.itl),
        (Metric::E2E, &summary.e2e),
    ] {
        for (name, number) in object.iter().flatten() {
            if let Ok(statistic) = name.parse::<Statistic>() {
                draft.scaled(&metric, statistic, *number, MS_PER_SECOND);
            }
        }
        draft.count(&metric, object.as_ref().and_then(|object| object.get("count")?.count()));
    }
    draft.stat(&Metric::OUTPUT_TOKENS, Statistic::Mean, summary.output_tokens_mean);
    draft.value(&Metric::OUTPUT_THROUGHPUT, summary.output_throughput);
    draft.value(&Metric::REQUEST_THROUGHPUT, summary.request_throughput);
    samples(&mut draft, level.requests.unwrap_or_default());
    draft
}

fn load(draft: &mut Draft, level: &Level, config: Option<&Config>) {
    let value = level.value;
    let mode = level.mode.0.as_deref().unwrap_or_default();
    if mode == "concurrency" {
        draft.concurrency("the level's value", Some(value));
    } else if let Some(rate) = value.finite() {
        draft.dimensions.rate = Finite::new(rate).ok();
        let arrivals =
            config.and_then(|config| config.arrival_dist.0.as_deref()).unwrap_or("arrivals not told");
        draft.fact(Fact::Rate, Some(format!("{rate} req/s, {arrivals}")));
    }
    let Some(config) = config else { return };
    draft.fact(Fact::Model, config.model.0.as_ref());
    draft.fact(Fact::Traffic, config.prompts.0.as_ref());
    draft.fact(Fact::PromptTokens, config.input_len.0.as_ref());
    draft.fact(Fact::OutputLimit, config.output_len.0.as_ref());
    draft.fact(Fact::Sampling, config.temperature.0.as_ref().map(|t| format!("temperature {t}")));
    let endpoint = config.endpoint.0.as_ref();
    draft.fact(Fact::Tool, endpoint.map(|endpoint| format!("servebench, endpoint {endpoint}")));
}

/// Failed requests are in the list with `ok: false`.
fn samples(draft: &mut Draft, mut requests: Vec<Request>) {
    requests.retain(|request| request.ok);
    if draft.requests.succeeded != Some(requests.len() as u64) {
        return;
    }
    let start = |request: &Request| request.start.finite().unwrap_or(f64::INFINITY);
    requests.sort_by(|a, b| start(a).total_cmp(&start(b)));
    let total =
        |number: fn(&Request) -> Number| requests.iter().map(|r| number(r).count()).sum::<Option<u64>>();
    let usage = requests.iter().all(|request| request.token_source.0.as_deref() == Some("usage"));
    let from = if usage { TokenSource::Usage } else { TokenSource::Unknown };
    draft.tokens(total(|r| r.prompt_tokens), total(|r| r.output_tokens), from);
    let ms = |number: fn(&Request) -> Number| -> Vec<f64> {
        requests.iter().filter_map(|request| Some(number(request).finite()? * MS_PER_SECOND)).collect()
    };
    let tpot = requests.iter().filter_map(|request| {
        let tokens = request.output_tokens.finite().filter(|tokens| *tokens > 1.0)?;
        Some((request.e2e.finite()? - request.ttft.finite()?) * MS_PER_SECOND / (tokens - 1.0))
    });
    draft.samples(&Metric::TTFT, &ms(|r| r.ttft));
    draft.samples(&Metric::TPOT, &tpot.collect::<Vec<_>>());
    draft.samples(&Metric::E2E, &ms(|r| r.e2e));
}

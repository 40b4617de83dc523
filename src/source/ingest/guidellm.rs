//! guidellm 0.2 to 0.8: JSON and YAML. Read typed and without the texts, for its reports are the largest.

use crate::model::report::TokenSource;
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::{IngestError, Place};
use super::guidellm_file::{Benchmark, Distribution, File, Loader, Metrics, Spec, Status, Success};
use super::number::Number;
use super::outline::{Outline, Shape};
use super::reading::{Reading, Run};
use super::{Format, failure, guidellm_csv, parse, stamp};

const MS_PER_SECOND: f64 = 1000.0;

/// Whether it is guidellm's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.shape == Shape::Text {
        let yaml = sniff.head.lines().any(|line| line.trim_end() == "benchmarks:");
        return if yaml { Ok(()) } else { guidellm_csv::detect(sniff) };
    }
    sniff.object()?;
    need(sniff, &["benchmarks"])?;
    need(sniff, &["benchmarks[].metrics"])?;
    need(
        sniff,
        &[
            "benchmarks[].metrics.time_to_first_token_ms",
            "benchmarks[].metrics.request_totals",
            "benchmarks[].request_totals",
        ],
    )
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content, outline: &Outline) -> Result<Reading, IngestError> {
    let file: File = match outline.shape {
        Shape::Text if guidellm_csv::is_heading(content.text()?) => {
            return guidellm_csv::read(content);
        }
        Shape::Text => yaml(content)?,
        Shape::Object | Shape::Array => parse::json(content, Format::Guidellm)?,
    };
    let mut reading = Reading::new(Format::Guidellm);
    reading.version = file.metadata.as_ref().and_then(|metadata| metadata.guidellm_version.0.clone());
    let new = file.metadata.is_some();
    let spec = file.config.and_then(|config| config.spec);
    let model = file.args.and_then(|args| args.model.0);
    for (index, benchmark) in file.benchmarks.into_iter().enumerate() {
        let told = benchmark.config.as_ref().and_then(|config| config.backend.as_ref()?.model.0.clone());
        let told =
            told.or_else(|| benchmark.worker.as_ref()?.backend_model.0.clone()).or_else(|| model.clone());
        if let Some(model) = &told {
            reading.subject.model.get_or_insert_with(|| model.clone());
        }
        let started = benchmark.run_stats.as_ref().map_or(benchmark.start_time, |stats| stats.start_time);
        let run = Run { started: started.finite().and_then(stamp::epoch_seconds), ..Run::default() };
        let mut draft = group(benchmark, new, spec.as_ref());
        draft.fact(Fact::Model, told);
        reading.run(content, run, [(format!("benchmarks[{index}]"), draft)])?;
    }
    Ok(reading)
}

fn yaml(content: &Content) -> Result<File, IngestError> {
    serde_saphyr::from_str(content.text()?).map_err(|error| {
        let mut place = Place::file(&content.name);
        if let Some(at) = error.location() {
            place.at = Some((at.line() as usize, at.column() as usize));
        }
        let text = error.to_string();
        let what = text.lines().next().unwrap_or_default().to_owned();
        IngestError::Syntax { place, syntax: "YAML of guidellm", what }
    })
}

fn group(benchmark: Benchmark, new: bool, spec: Option<&Spec>) -> Draft {
    let mut draft = Draft::default();
    let strategy = benchmark
        .config
        .and_then(|config| config.strategy)
        .or_else(|| benchmark.args.and_then(|args| args.strategy));
    if let Some(strategy) = strategy {
        load(&mut draft, &strategy.kind.0.unwrap_or_default(), strategy.streams, strategy.rate);
    }
    workload(&mut draft, spec, benchmark.request_loader);
    let totals = benchmark.request_totals.or(benchmark.metrics.request_totals).unwrap_or_default();
    let mut requests = benchmark.requests;
    for failure in requests.as_mut().and_then(|lists| lists.errored.take()).unwrap_or_default() {
        let words = failure.info.and_then(|info| info.error.0).or(failure.error.0).unwrap_or_default();
        draft.failed(failure::kind(&words), 1, &words);
    }
    outcomes(&mut draft, totals.successful, totals.errored, totals.incomplete);
    let spans =
        benchmark.run_stats.and_then(|stats| Some(stats.end_time.finite()? - stats.start_time.finite()?));
    draft.wall_ms = benchmark.duration.finite().or(spans).map(|seconds| seconds * MS_PER_SECOND);
    define(&mut draft, new);
    let usage = spec.and_then(|spec| spec.metrics.as_ref()?.prefer_response_metrics) == Some(true);
    metrics(&mut draft, benchmark.metrics, usage);
    samples(&mut draft, requests.and_then(|lists| lists.successful).unwrap_or_default());
    draft
}

/// The strategy as dimensions: `concurrent` and `synchronous` have requests in flight, the others a rate.
pub fn load(draft: &mut Draft, kind: &str, streams: Number, rate: Number) {
    let streams = if kind == "synchronous" { Number::Finite(1.0) } else { streams };
    draft.concurrency("streams", Some(streams));
    if let (Some(rate), Number::Absent) = (rate.finite(), streams) {
        draft.dimensions.rate = Finite::new(rate).ok();
        draft.fact(Fact::Rate, Some(format!("{rate} req/s, {kind}")));
    } else {
        draft.fact(Fact::Rate, Some(kind));
    }
}

fn workload(draft: &mut Draft, spec: Option<&Spec>, loader: Option<Loader>) {
    if let Some(data) = spec.and_then(|spec| spec.data.as_ref()?.first()) {
        draft.fact(Fact::Traffic, data.kind.0.as_ref());
        draft.fact(Fact::PromptTokens, data.prompt_tokens.0.as_ref());
        draft.fact(Fact::OutputLimit, data.output_tokens.0.as_ref());
    }
    draft.fact(Fact::Traffic, loader.and_then(|loader| loader.data.0));
}

/// Requests that were still running when the time was up are neither successes nor failures.
pub fn outcomes(draft: &mut Draft, successful: Number, errored: Number, incomplete: Number) {
    let successful = draft.counted("successful requests", Some(successful));
    let errored = draft.counted("errored requests", Some(errored));
    let incomplete = draft.counted("incomplete requests", Some(incomplete));
    let sent = successful.zip(errored).map(|(successful, errored)| successful + errored);
    draft.outcomes(sent, successful);
    draft.fact(Fact::Requests, sent);
    if let Some(running) = incomplete.filter(|n| *n > 0) {
        draft.notes.push(format!(
            "{running} requests were still running when the time was up; they count neither as successes nor as failures"
        ));
    }
}

/// What guidellm means by each metric; before 0.5 only content made a first token.
pub fn define(draft: &mut Draft, new: bool) {
    let picked = PercentileDefinition::InvertedCdf;
    draft.define(&Metric::TTFT, if new { "first-token" } else { "first-content-token" }, picked);
    draft.define(&Metric::TTFO, "first-output-token", picked);
    draft.define(&Metric::TPOT, "excludes-first-token-weighted-by-tokens", picked);
    draft.define(&Metric::E2E, "whole-request", picked);
}

fn metrics(draft: &mut Draft, metrics: Metrics, usage: bool) {
    let ok = |status: Option<Status>| status.and_then(|status| status.successful);
    let total = |distribution: Option<Distribution>| distribution.and_then(|d| d.total_sum.finite());
    let (output, input) = (total(ok(metrics.output_token_count)), total(ok(metrics.prompt_token_count)));
    let whole = |sum: Option<f64>| sum.and_then(|sum| Number::of(sum.round()).count());
    let from = if usage { TokenSource::Usage } else { TokenSource::Unknown };
    draft.tokens(whole(input), whole(output), from);
    for (metric, status, factor) in [
        (Metric::TTFT, metrics.time_to_first_token_ms, 1.0),
        (Metric::TTFO, metrics.time_to_first_output_token_ms, 1.0),
        // Its time_per_output_token takes the first token in; what the others call TPOT is its inter-token latency.
        (Metric::TPOT, metrics.inter_token_latency_ms, 1.0),
        (Metric::E2E, metrics.request_latency, MS_PER_SECOND),
    ] {
        if let Some(distribution) = ok(status) {
            statistics(draft, &metric, &distribution, factor);
        }
    }
    for (metric, status) in [
        (Metric::OUTPUT_THROUGHPUT, metrics.output_tokens_per_second),
        (Metric::REQUEST_THROUGHPUT, metrics.requests_per_second),
    ] {
        draft.value(&metric, ok(status).map(|distribution| distribution.mean).unwrap_or_default());
    }
}

/// An empty distribution is written as zeros.
fn statistics(draft: &mut Draft, metric: &Metric, distribution: &Distribution, factor: f64) {
    if distribution.count == Number::Finite(0.0) {
        return;
    }
    let all = [
        (Statistic::Mean, distribution.mean),
        (Statistic::P50, distribution.median),
        (Statistic::Std, distribution.std_dev),
        (Statistic::Min, distribution.min),
        (Statistic::Max, distribution.max),
    ];
    for (statistic, number) in all {
        draft.scaled(metric, statistic, number, factor);
    }
    for (name, number) in distribution.percentiles.iter().flatten() {
        if let Some(statistic) = percentile(name) {
            draft.scaled(metric, statistic, *number, factor);
        }
    }
}

/// `p001` is the 0.1th, `p01` the 1st, `p999` the 99.9th.
fn percentile(name: &str) -> Option<Statistic> {
    Some(Statistic::Percentile(match name {
        "p001" => 100,
        "p01" => 1_000,
        "p05" => 5_000,
        "p10" => 10_000,
        "p25" => 25_000,
        "p50" => 50_000,
        "p75" => 75_000,
        "p90" => 90_000,
        "p95" => 95_000,
        "p99" => 99_000,
        "p999" => 99_900,
        _ => return None,
    }))
}

/// The lists can be sampled down; then they are not all requests, and are not used.
fn samples(draft: &mut Draft, mut successes: Vec<Success>) {
    let complete = draft.requests.succeeded == Some(successes.len() as u64);
    if !complete {
        if !successes.is_empty() {
            draft.notes.push(format!(
                "the file keeps {} of {} requests (sample_size), so it has no samples to recompute percentiles from",
                successes.len(),
                draft.requests.succeeded.unwrap_or_default()
            ));
        }
        return;
    }
    let time = |success: &Success| success.request_start_time.finite().unwrap_or(f64::INFINITY);
    successes.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let list = |number: fn(&Success) -> Number, factor: f64| -> Vec<f64> {
        successes.iter().filter_map(|success| number(success).finite().map(|value| value * factor)).collect()
    };
    draft.samples(&Metric::TTFT, &list(|s| s.time_to_first_token_ms, 1.0));
    draft.samples(&Metric::TPOT, &list(|s| s.inter_token_latency_ms, 1.0));
    draft.samples(&Metric::E2E, &list(|s| s.request_latency, MS_PER_SECOND));
}

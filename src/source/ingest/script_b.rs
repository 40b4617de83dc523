//! `benchmark_runner.py` (script B): a load test at several concurrency levels.

use crate::model::report::{TokenSource, Warmup};
use crate::model::{Fact, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::draft::Draft;
use super::error::IngestError;
use super::locate::{self, Step};
use super::number::Number;
use super::outline::Shape;
use super::reading::{Reading, Run};
use super::spelling;
use super::tree::Tree;
use super::{Format, failure, parse, stamp};

/// Largest difference between the written success rate (four decimals) and that of the counts.
const RATE_ROUNDING: f64 = 0.000_06;

/// Whether it is script B's: `latency`, `throughput` and `reliability` side by side, in one object or a list of them.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.shape == Shape::Text {
        return Err("is no JSON".to_owned());
    }
    let above = if sniff.outline.shape == Shape::Array { "[]." } else { "" };
    for key in ["latency", "throughput", "reliability"] {
        if !sniff.outline.has(&format!("{above}{key}")) {
            return Err(format!("no key \"{above}{key}\""));
        }
    }
    let counts = ["success_rate", "total_requests", "successRate", "totalRequests"];
    if counts.iter().any(|key| sniff.outline.has(&format!("{above}reliability.{key}"))) {
        return Ok(());
    }
    Err(format!("no key \"{above}reliability.success_rate\" or \"{above}reliability.total_requests\""))
}

/// Reads it.
///
/// # Errors
/// A number that is none.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::BenchmarkRunnerPy)?;
    let mut reading = Reading::new(Format::BenchmarkRunnerPy);
    let listed = matches!(tree, Tree::List(_));
    let levels: Vec<&Tree> = if listed { tree.elements().iter().collect() } else { vec![&tree] };
    let mut run = Run::default();
    let mut drafts = Vec::new();
    for (index, level) in levels.into_iter().enumerate() {
        let steps: Vec<Step<'_>> = if listed { vec![Step::Index(index)] } else { Vec::new() };
        if let Some(model) = spelling::text(level, &["model"]) {
            reading.subject.model.get_or_insert(model);
        }
        if let Some(network) = spelling::text(level, &["network"]) {
            reading.subject.parameters.entry("network".to_owned()).or_insert(network);
        }
        run.started =
            run.started.or_else(|| spelling::text(level, &["timestamp"]).as_deref().and_then(stamp::parse));
        if let Some(sent) = spelling::count(level, &["warmuprounds"]) {
            run.warmup.get_or_insert_default().sent += sent;
        }
        drafts.push((
            if listed { format!("[{index}]") } else { String::new() },
            read_level(content, level, &steps)?,
        ));
    }
    run.warmup = run.warmup.filter(|Warmup { sent, .. }| *sent > 0);
    reading.run(content, run, drafts)?;
    Ok(reading)
}

fn read_level(content: &Content, level: &Tree, steps: &[Step<'_>]) -> Result<Draft, IngestError> {
    let mut draft = Draft::default();
    let concurrency = spelling::count(level, &["concurrency", "maxconcurrency"]);
    draft.dimensions.concurrency = concurrency.and_then(|c| u32::try_from(c).ok());
    draft.fact(Fact::Concurrency, concurrency);
    draft.fact(Fact::Model, spelling::text(level, &["model"]));
    outcomes(&mut draft, level);
    draft.fact(Fact::Requests, draft.requests.sent);
    let percentiles = PercentileDefinition::MedianAndFloorRank;
    draft.define(&Metric::TTFT, "first-chunk", percentiles);
    draft.define(&Metric::ITL, "gap-between-content-deltas", percentiles);
    draft.define(&Metric::E2E, "whole-request", percentiles);
    let numeric = |group: &str, key: &str, value: &Tree| {
        let steps: Vec<Step<'_>> = steps.iter().copied().chain([Step::Key(group), Step::Key(key)]).collect();
        value.number().ok_or_else(|| IngestError::WrongValue {
            place: locate::place(content, 0, &steps),
            what: format!("found {}, expected a number", value.kind()),
            format: Format::BenchmarkRunnerPy,
        })
    };
    for (key, value) in level.get("latency").map_or(&[][..], Tree::entries) {
        let Some((metric, statistic, factor)) = spelling::latency_statistic(key) else { continue };
        // What this script calls tpot is the gap between chunks.
        let metric = if metric == Metric::TPOT { Metric::ITL } else { metric };
        draft.scaled(&metric, statistic, numeric("latency", key, value)?, factor);
    }
    if let Some(throughput) = level.get("throughput") {
        let rate = ["avgtokenspersecond", "meantokenspersecond", "tokenspersecond", "avgthroughput"];
        if let Some((key, value)) = spelling::find(throughput, &rate) {
            draft.define(&Metric::TOKENS_PER_SECOND, "mean-of-requests", percentiles);
            draft.stat(&Metric::TOKENS_PER_SECOND, Statistic::Value, numeric("throughput", key, value)?);
        }
        let tokens = spelling::find(throughput, &["totaltokens", "totaloutputtokens"]);
        let tokens = tokens.and_then(|(key, value)| draft.counted(key, value.number()));
        draft.tokens(None, tokens, TokenSource::Unknown);
    }
    Ok(draft)
}

fn outcomes(draft: &mut Draft, level: &Tree) {
    let Some(reliability) = level.get("reliability") else { return };
    let mut count = |of: &Tree, names: &[&str]| {
        spelling::find(of, names).and_then(|(key, value)| draft.counted(key, value.number()))
    };
    let sent = count(reliability, &["totalrequests", "total"]);
    let sent = sent.or_else(|| count(level, &["numrequests", "totalrequests"]));
    let failed = count(reliability, &["failedrequests", "failed", "failures"]);
    let succeeded = count(reliability, &["successfulrequests", "succeeded", "successes"]);
    let succeeded = succeeded.or_else(|| sent?.checked_sub(failed?));
    if failed.zip(sent).is_some_and(|(failed, sent)| failed > sent) {
        draft.contradicts("more requests failed than were sent");
    }
    let rate = spelling::find(reliability, &["successrate"]).and_then(|(_, value)| value.number());
    let rate = rate.and_then(Number::finite);
    let succeeded = succeeded.or_else(|| of_rate(rate?, sent?));
    for (status, times) in reliability.get("errors").map_or(&[][..], Tree::entries) {
        let kind = status.trim().parse().map_or_else(|_| failure::kind(status), failure::status);
        draft.failed(kind, times.count(&[]).unwrap_or_default(), status);
    }
    draft.outcomes(sent, succeeded);
    if let (Some(rate), Some(sent), Some(succeeded)) = (rate, sent.filter(|n| *n > 0), succeeded) {
        let counted = share(succeeded, sent);
        if (rate - counted).abs() > RATE_ROUNDING {
            draft.contradicts(&format!("success_rate is {rate}, and the counts say {succeeded} of {sent}"));
        }
    }
}

/// The whole number of successes that a rate of four decimals tells; `None` where the rate is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the rate is a share, checked first"
)]
fn of_rate(rate: f64, sent: u64) -> Option<u64> {
    (0.0..=1.0).contains(&rate).then(|| (rate * sent as f64).round() as u64)
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn share(part: u64, all: u64) -> f64 {
    part as f64 / all as f64
}

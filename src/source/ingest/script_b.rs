//! `benchmark_runner.py` (script B): a load test at several concurrency levels.

use crate::model::report::{TokenSource, Warmup};
use crate::model::{Fact, Metric, PercentileDefinition};

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::draft::Draft;
use super::error::IngestError;
use super::locate::Step;
use super::number::Scalar;
use super::outline::Shape;
use super::reading::{Reading, Run};
use super::scripts::{self, Spot};
use super::spelling;
use super::tree::Tree;
use super::{Format, failure, stamp};

/// Largest difference between the written success rate (four decimals) and that of the counts.
const RATE_ROUNDING: f64 = 0.000_06;

/// Spellings of the counts, normalised.
const SENT: &[&str] = &["totalrequests", "total"];
const FAILED: &[&str] = &["failedrequests", "failed", "failures"];
const SUCCEEDED: &[&str] = &["successfulrequests", "succeeded", "successes"];
const RATE: &[&str] = &["successrate"];

/// Whether it is script B's: `latency`, `throughput` and `reliability` side by side, in one object or a list of them.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.shape == Shape::Text {
        return Err("is no JSON".to_owned());
    }
    let above = if sniff.outline.shape == Shape::Array { "[]." } else { "" };
    let keys = || sniff.outline.keys.iter().filter_map(|key| key.strip_prefix(above));
    for wanted in ["latency", "throughput", "reliability"] {
        if !keys().any(|key| !key.contains('.') && spelling::normal(key) == wanted) {
            return Err(format!("no key \"{above}{wanted}\""));
        }
    }
    let counts = |key: &str| {
        let Some((group, key)) = key.split_once('.') else { return false };
        let key = spelling::normal(key);
        spelling::normal(group) == "reliability" && [RATE, SENT].concat().contains(&key.as_str())
    };
    if keys().any(counts) {
        return Ok(());
    }
    Err(format!("no key \"{above}reliability.success_rate\" or \"{above}reliability.total_requests\""))
}

/// Reads it.
///
/// # Errors
/// A number that is none, a latency that is not known, a key twice.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree = scripts::parse(content, Format::BenchmarkRunnerPy)?;
    let whole = Spot::whole(content, Format::BenchmarkRunnerPy);
    let mut reading = Reading::new(Format::BenchmarkRunnerPy);
    let levels: Vec<(Spot<'_>, &Tree)> = match &tree {
        Tree::List(levels) => {
            levels.iter().enumerate().map(|(index, level)| (whole.to(Step::Index(index)), level)).collect()
        }
        Tree::Map(_) | Tree::Leaf(_) => vec![(whole, &tree)],
    };
    let mut run = Run::default();
    let mut drafts = Vec::new();
    for (spot, level) in levels {
        if !matches!(level, Tree::Map(_)) {
            let what =
                format!("found {}, expected an object with latency, throughput, reliability", level.kind());
            return Err(spot.wrong(what));
        }
        let mut draft = Draft::default();
        if let Some(model) = scripts::model(&mut draft, &[(&spot, level)])? {
            reading.subject.model.get_or_insert(model);
        }
        if let Some(network) = spelling::text(level, &["network"]) {
            reading.subject.parameters.entry("network".to_owned()).or_insert(network);
        }
        run.started =
            run.started.or_else(|| spelling::text(level, &["timestamp"]).as_deref().and_then(stamp::parse));
        if let Some(sent) = spelling::count(level, &["warmuprounds"]) {
            let warmup = run.warmup.get_or_insert_default();
            warmup.sent = warmup.sent.saturating_add(sent);
        }
        read_level(&mut draft, level, &spot)?;
        drafts.push((spot.place().key, draft));
    }
    run.warmup = run.warmup.filter(|Warmup { sent, .. }| *sent > 0);
    reading.run(content, run, drafts)?;
    Ok(reading)
}

fn read_level(draft: &mut Draft, level: &Tree, spot: &Spot<'_>) -> Result<(), IngestError> {
    if let Some((key, value)) = spelling::find(level, &["concurrency", "maxconcurrency"]) {
        draft.concurrency(key, value.number());
    }
    outcomes(draft, level, spot)?;
    draft.fact(Fact::Requests, draft.requests.sent);
    let percentiles = PercentileDefinition::MedianAndFloorRank;
    draft.define(&Metric::TTFT, "first-chunk", percentiles);
    draft.define(&Metric::ITL, "gap-between-content-deltas", percentiles);
    draft.define(&Metric::E2E, "whole-request", percentiles);
    if let Some((spot, latencies)) = scripts::object(level, "latency", spot)? {
        latency(draft, latencies, &spot)?;
    }
    if let Some((spot, throughput)) = scripts::object(level, "throughput", spot)? {
        let rate = ["avgtokenspersecond", "meantokenspersecond", "tokenspersecond", "avgthroughput"];
        if let Some((key, value)) = spelling::find(throughput, &rate) {
            draft.define(&Metric::TOKENS_PER_SECOND, "mean-of-requests", percentiles);
            let rate = spot.to(Step::Key(key)).number(value, "a number of tokens per second")?;
            draft.value(&Metric::TOKENS_PER_SECOND, rate);
        }
        let tokens = spelling::find(throughput, &["totaltokens", "totaloutputtokens"]);
        let tokens = tokens.and_then(|(key, value)| draft.counted(key, value.number()));
        draft.tokens(None, tokens, TokenSource::Unknown);
    }
    Ok(())
}

fn latency(draft: &mut Draft, latencies: &Tree, spot: &Spot<'_>) -> Result<(), IngestError> {
    // What this script calls tpot is the gap between chunks.
    let as_ours = |metric| if metric == Metric::TPOT { Metric::ITL } else { metric };
    let mut unread = Vec::new();
    for (key, value) in latencies.entries() {
        if !scripts::latency(draft, &spot.to(Step::Key(key)), (key, value), as_ours)? {
            unread.push(key.as_str());
        }
    }
    if !unread.is_empty() && unread.len() == latencies.entries().len() {
        let what = "expected such as p95_ttft_ms, or ttft_ms with a p95 in it";
        return Err(spot.wrong(format!("no latency that is known among {}; {what}", unread.join(", "))));
    }
    for key in unread {
        draft.notes.push(format!("latency has \"{key}\", which is no latency that is read; left out"));
    }
    Ok(())
}

fn outcomes(draft: &mut Draft, level: &Tree, spot: &Spot<'_>) -> Result<(), IngestError> {
    let Some((spot, reliability)) = scripts::object(level, "reliability", spot)? else { return Ok(()) };
    let sent = count(draft, reliability, SENT);
    let sent = sent.or_else(|| count(draft, level, &["numrequests", "totalrequests"]));
    let failed = count(draft, reliability, FAILED);
    let succeeded = count(draft, reliability, SUCCEEDED);
    let rate = rate(draft, reliability);
    let counted = draft.agreed(sent, succeeded, failed);
    let succeeded = counted.or_else(|| Some(of_rate(rate?, sent?)));
    if let Some((key, errors)) = spelling::find(reliability, &["errors"]) {
        if !matches!(errors, Tree::Map(_) | Tree::Leaf(Scalar::Null)) && *errors != Tree::List(Vec::new()) {
            let what = format!("found {}, expected an object of counts by status", errors.kind());
            return Err(spot.to(Step::Key(key)).wrong(what));
        }
        for (status, times) in errors.entries() {
            let kind = status.trim().parse().map_or_else(|_| failure::kind(status), failure::status);
            let times = draft.times(status, times.number());
            draft.failed(kind, times, status);
        }
    }
    draft.outcomes(sent, succeeded);
    match (rate, sent.filter(|n| *n > 0), succeeded) {
        (Some(rate), Some(sent), Some(succeeded)) if (rate - share(succeeded, sent)).abs() > RATE_ROUNDING => {
            draft.contradicts(&format!("success_rate is {rate}, and the counts say {succeeded} of {sent}"));
        }
        (Some(rate), None, _) => draft.notes.push(format!(
            "success_rate is {rate} of a number of requests that is not in the file (total_requests), so it is not judged"
        )),
        _ => {}
    }
    Ok(())
}

/// A count under one of these names. Two of them that differ contradict each other.
fn count(draft: &mut Draft, tree: &Tree, names: &[&str]) -> Option<u64> {
    let mut found = None;
    for (key, value) in names.iter().filter_map(|name| spelling::find(tree, &[name])) {
        let Some(count) = draft.counted(key, value.number()) else { continue };
        match found {
            None => found = Some((key, count)),
            Some((first, known)) if known != count => {
                draft.contradicts(&format!("{first} is {known}, and {key} is {count}"));
            }
            Some(_) => {}
        }
    }
    found.map(|(_, count)| count)
}

/// `success_rate`, a share.
fn rate(draft: &mut Draft, reliability: &Tree) -> Option<f64> {
    let (key, value) = spelling::find(reliability, RATE)?;
    if matches!(value, Tree::Leaf(Scalar::Null)) {
        return None;
    }
    let rate = value.finite(&[]).filter(|rate| (0.0..=1.0).contains(rate));
    if rate.is_none() {
        let what = format!("{key} is {}; expected a share from 0 to 1, such as 0.98 for 98 %", value.kind());
        draft.contradicts(&what);
    }
    rate
}

/// The whole number of successes that a rate of four decimals tells.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the rate is a share, checked first"
)]
fn of_rate(rate: f64, sent: u64) -> u64 {
    (rate * sent as f64).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn share(part: u64, all: u64) -> f64 {
    part as f64 / all as f64
}

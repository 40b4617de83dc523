//! oha and k6: HTTP load tools that know nothing of tokens, in JSON.

use crate::model::{Fact, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::Number;
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, failure, parse};

const MS_PER_SECOND: f64 = 1000.0;
/// k6's sub-metric of answers with a good status.
const EXPECTED: &str = "http_req_duration{expected_response:true}";

/// Whether it is oha's.
pub fn detect_oha(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["summary.successRate"])?;
    need(sniff, &["latencyPercentiles"])?;
    need(sniff, &["statusCodeDistribution"])
}

/// Reads oha's file. Its `successRate` counts every answer, a 500 too; successes are counted by status here.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read_oha(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::Oha)?;
    let mut draft = Draft::pooled();
    let mut succeeded = 0;
    for (status, times) in tree.get("statusCodeDistribution").map_or(&[][..], Tree::entries) {
        let times = draft.times(&format!("statusCodeDistribution.{status}"), times.number());
        let good = draft.answered(status, times);
        succeeded = draft.sum(succeeded, good);
    }
    for (words, times) in tree.get("errorDistribution").map_or(&[][..], Tree::entries) {
        let times = draft.times(&format!("errorDistribution.{words}"), times.number());
        draft.failed(failure::kind(words), times, words);
    }
    draft.outcomes_of(succeeded);
    draft.fact(Fact::Requests, draft.requests.sent);
    draft.define(&Metric::E2E, "whole-body-of-any-status", PercentileDefinition::FloorRank);
    for (name, leaf) in tree.get("latencyPercentiles").map_or(&[][..], Tree::entries) {
        if let Ok(statistic) = name.parse::<Statistic>() {
            draft.leaf(&Metric::E2E, statistic, Some(leaf), MS_PER_SECOND);
        }
    }
    for (key, statistic) in
        [("average", Statistic::Mean), ("fastest", Statistic::Min), ("slowest", Statistic::Max)]
    {
        draft.leaf(&Metric::E2E, statistic, tree.at(&["summary", key]), MS_PER_SECOND);
    }
    let wall = tree.finite(&["summary", "total"]);
    throughput(&mut draft, succeeded, wall);
    finish(content, Format::Oha, draft)
}

/// Successful requests / wall time: the tools' own rates take failures in.
fn throughput(draft: &mut Draft, succeeded: u64, seconds: Option<f64>) {
    draft.wall_ms = seconds.map(|seconds| seconds * MS_PER_SECOND);
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) {
        draft.value(&Metric::REQUEST_THROUGHPUT, Number::of(real(succeeded) / seconds));
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn real(count: u64) -> f64 {
    count as f64
}

fn finish(content: &Content, format: Format, draft: Draft) -> Result<Reading, IngestError> {
    let mut reading = Reading::new(format);
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

/// Whether it is k6's `--summary-export`, or its `handleSummary` data.
pub fn detect_k6(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["metrics"])?;
    need(sniff, &["metrics.http_reqs"])?;
    need(sniff, &["metrics.http_req_duration"])
}

/// Reads k6's file. In `http_req_failed`, `passes` counts the failed requests.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read_k6(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::K6)?;
    let metric = |name: &str| {
        let object = tree.at(&["metrics", name])?;
        // handleSummary keeps the numbers one level down.
        Some(object.get("values").unwrap_or(object))
    };
    let mut draft = Draft::default();
    let sent = metric("http_reqs").and_then(|object| draft.counted_at(object, &["count"]));
    let failed = metric("http_req_failed").and_then(|object| draft.counted_at(object, &["passes"]));
    draft.outcomes_less(sent, failed);
    let succeeded = draft.requests.succeeded;
    let vus = metric("vus_max").and_then(|object| object.get("value").or_else(|| object.get("max")));
    if let Some(vus) = vus {
        draft.concurrency("vus_max", vus.number());
    }
    draft.fact(Fact::Requests, sent);
    let (times, definition) = match metric(EXPECTED) {
        Some(times) => (Some(times), "whole-body-of-good-status"),
        // Without one good answer there is no such sub-metric, and failures have no latency to speak of.
        None if succeeded == Some(0) => (None, "whole-body-of-good-status"),
        None => {
            draft.pooled = failed != Some(0);
            let pooled = if draft.pooled { "whole-body-of-any-status" } else { "whole-body-of-good-status" };
            (metric("http_req_duration"), pooled)
        }
    };
    draft.define(&Metric::E2E, definition, PercentileDefinition::Linear);
    for (name, leaf) in times.map_or(&[][..], Tree::entries) {
        if let Some(statistic) = k6_statistic(name) {
            draft.leaf(&Metric::E2E, statistic, Some(leaf), 1.0);
        }
    }
    let rate = metric("http_reqs").and_then(|object| object.finite(&["rate"])).filter(|rate| *rate > 0.0);
    let seconds = sent.zip(rate).map(|(sent, rate)| real(sent) / rate);
    if let Some(succeeded) = succeeded {
        throughput(&mut draft, succeeded, seconds);
    }
    finish(content, Format::K6, draft)
}

/// `avg`, `med`, `p(95)`.
fn k6_statistic(name: &str) -> Option<Statistic> {
    match name {
        "avg" => Some(Statistic::Mean),
        "med" => Some(Statistic::P50),
        "min" => Some(Statistic::Min),
        "max" => Some(Statistic::Max),
        percentile => format!("p{}", percentile.strip_prefix("p(")?.strip_suffix(')')?).parse().ok(),
    }
}

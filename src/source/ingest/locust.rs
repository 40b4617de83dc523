//! locust: `--json` (a histogram of rounded times) and `--csv` (percentiles). Failed requests are in both.

use serde::Deserialize;

use crate::model::group::name_part;
use crate::model::report::FailureKind;
use crate::model::{Fact, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::{Number, Text};
use super::outline::{Outline, Shape};
use super::reading::{Reading, Run};
use super::{Format, csv, parse, stamp};

const DEFINITION: &str = "whole-body-of-any-outcome";

/// Whether it is locust's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.shape == Shape::Text {
        return sniff.words("Type,Name,Request Count,Failure Count,Median Response Time");
    }
    need(sniff, &["[].response_times"])?;
    need(sniff, &["[].num_requests"])?;
    need(sniff, &["[].num_failures"])
}

#[derive(Deserialize)]
struct Endpoint {
    #[serde(default)]
    name: Text,
    #[serde(default)]
    method: Text,
    #[serde(default)]
    start_time: Number,
    #[serde(default)]
    last_request_timestamp: Number,
    num_requests: Number,
    num_failures: Number,
    #[serde(default)]
    min_response_time: Number,
    #[serde(default)]
    max_response_time: Number,
    #[serde(default)]
    total_response_time: Number,
    response_times: std::collections::BTreeMap<String, Number>,
}

/// Reads it: one group an endpoint where there are several.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content, outline: &Outline) -> Result<Reading, IngestError> {
    if outline.shape == Shape::Text {
        return read_csv(content);
    }
    let endpoints: Vec<Endpoint> = parse::json(content, Format::Locust)?;
    let mut reading = Reading::new(Format::Locust);
    let several = endpoints.len() > 1;
    let started = endpoints.iter().filter_map(|e| e.start_time.finite()).reduce(f64::min);
    let mut drafts = Vec::new();
    for (index, endpoint) in endpoints.iter().enumerate() {
        let mut draft = Draft::default();
        let name = endpoint.name.0.clone().unwrap_or_default();
        names(&mut draft, endpoint.method.0.as_deref().unwrap_or_default(), &name, several);
        counts(&mut draft, Some(endpoint.num_requests), Some(endpoint.num_failures));
        draft.define(&Metric::E2E, DEFINITION, PercentileDefinition::Linear);
        draft.count(&Metric::E2E, draft.requests.sent);
        histogram(&mut draft, endpoint);
        let span = endpoint.start_time.finite().zip(endpoint.last_request_timestamp.finite());
        if let Some(seconds) = span.map(|(start, end)| end - start).filter(|seconds| *seconds > 0.0) {
            draft.wall_ms = Some(seconds * 1000.0);
            if let Some(good) = draft.requests.succeeded {
                draft.value(&Metric::REQUEST_THROUGHPUT, Number::of(real(good) / seconds));
            }
        }
        drafts.push((format!("[{index}]"), draft));
    }
    let started = started.and_then(stamp::epoch_seconds);
    reading.run(content, Run { started, ..Run::default() }, drafts)?;
    Ok(reading)
}

fn names(draft: &mut Draft, method: &str, name: &str, several: bool) {
    if several {
        draft.dimensions.traffic = name_part(name);
    }
    draft.fact(Fact::Traffic, Some(format!("{method} {name}")));
}

fn counts(draft: &mut Draft, sent: Option<Number>, failed: Option<Number>) {
    let (sent, failed) = (draft.counted("requests", sent), draft.counted("failures", failed));
    draft.pooled = failed.is_some_and(|failed| failed > 0);
    draft.failed(FailureKind::Unknown, failed.unwrap_or_default(), "");
    draft.outcomes_less(sent, failed);
    draft.fact(Fact::Requests, sent);
    if draft.pooled {
        draft
            .notes
            .push("the times of failed requests are among its latencies and can't be told apart".to_owned());
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn real(count: u64) -> f64 {
    count as f64
}

/// Times are rounded: to whole ms below 100, to two digits above.
fn histogram(draft: &mut Draft, endpoint: &Endpoint) {
    let mut times = Vec::new();
    let mut total = 0;
    for (time, count) in &endpoint.response_times {
        let count = draft.times(&format!("response_times.{time}"), Some(*count));
        total = draft.sum(total, count);
        match Number::parse(time).and_then(Number::finite) {
            Some(time) => times.push((time, count)),
            None => draft.contradicts(&format!("response_times.{time} is no time; expected milliseconds")),
        }
    }
    times.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    for statistic in [Statistic::P50, Statistic::P90, Statistic::P95, Statistic::P99] {
        let value = statistic.percent().and_then(|percent| percentile(&times, total, percent));
        draft.stat(&Metric::E2E, statistic, value.map(Number::of).unwrap_or_default());
    }
    draft.stat(&Metric::E2E, Statistic::Min, endpoint.min_response_time);
    draft.stat(&Metric::E2E, Statistic::Max, endpoint.max_response_time);
    let sent = draft.requests.sent.filter(|sent| *sent > 0);
    if let Some((sum, sent)) = endpoint.total_response_time.finite().zip(sent) {
        draft.stat(&Metric::E2E, Statistic::Mean, Number::of(sum / real(sent)));
    }
}

/// A percentile by linear interpolation, read off the counts: a small file can count more requests than memory has room for.
fn percentile(times: &[(f64, u64)], total: u64, percent: f64) -> Option<f64> {
    let offset = real(total.checked_sub(1)?) * (percent / 100.0);
    let at = |rank: f64| {
        let mut below = 0.0;
        let found = times.iter().find(|(_, count)| {
            below += real(*count);
            below > rank
        });
        found.map(|(time, _)| *time)
    };
    let (lower, upper) = (at(offset.floor())?, at(offset.ceil())?);
    Some(lower + (upper - lower) * offset.fract())
}

/// `NAME_stats.csv`; its row `Aggregated` is the sum of the others.
fn read_csv(content: &Content) -> Result<Reading, IngestError> {
    let rows = csv::rows(content)?;
    let mut reading = Reading::new(Format::Locust);
    let Some((heading, rows)) = rows.split_first() else { return Ok(reading) };
    let rows: Vec<&Vec<String>> =
        rows.iter().filter(|row| row.get(1).is_some_and(|name| name != "Aggregated")).collect();
    let mut drafts = Vec::new();
    for row in &rows {
        let cell = |name: &str| {
            let column = heading.iter().position(|cell| cell == name)?;
            row.get(column).map(String::as_str)
        };
        let mut draft = Draft::default();
        names(&mut draft, cell("Type").unwrap_or_default(), cell("Name").unwrap_or_default(), rows.len() > 1);
        let number = |name: &str| cell(name).and_then(Number::parse);
        counts(&mut draft, number("Request Count"), number("Failure Count"));
        draft.define(&Metric::E2E, DEFINITION, PercentileDefinition::NearestRank);
        for (name, statistic) in [
            ("50%", Statistic::P50),
            ("90%", Statistic::P90),
            ("95%", Statistic::P95),
            ("99%", Statistic::P99),
            ("Average Response Time", Statistic::Mean),
            ("Min Response Time", Statistic::Min),
            ("Max Response Time", Statistic::Max),
        ] {
            // Too few requests for a percentile are N/A.
            let text = cell(name).filter(|text| *text != "N/A").unwrap_or_default();
            draft.worded(&Metric::E2E, statistic, text, 1.0);
        }
        drafts.push((String::new(), draft));
    }
    reading.warn("locust writes the CSV earlier than the JSON, so its counts can be lower; give the JSON if there is one");
    reading.run(content, Run::default(), drafts)?;
    Ok(reading)
}

//! hey and wrk: HTTP load tools that print text.

use crate::model::report::FailureKind;
use crate::model::{Fact, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::draft::Draft;
use super::error::IngestError;
use super::number::Number;
use super::reading::{Reading, Run};
use super::{Format, failure};

const MS_PER_SECOND: f64 = 1000.0;
const STATUSES: &str = "Status code distribution:";
const ERRORS: &str = "Error distribution:";

/// Whether it is hey's printed text.
pub fn detect_hey(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.no_json()?;
    sniff.words("Summary:")?;
    sniff.words("Latency distribution:")?;
    sniff.words(STATUSES)
}

/// Reads hey's text. Answers of every status are pooled in its latencies.
///
/// # Errors
/// No UTF-8, and values that can't be.
pub fn read_hey(content: &Content) -> Result<Reading, IngestError> {
    let text = content.text()?;
    let mut draft = Draft::pooled();
    draft.define(&Metric::E2E, "whole-body-of-any-status", PercentileDefinition::FloorRank);
    let mut succeeded = 0;
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if line.ends_with(':') && !line.starts_with('[') {
            section = line;
            continue;
        }
        match section {
            "Summary:" => hey_summary(&mut draft, line),
            "Latency distribution:" => hey_percentile(&mut draft, line),
            STATUSES | ERRORS if !line.is_empty() => {
                let Some((status, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
                else {
                    draft.contradicts(&format!(
                        "\"{line}\" stands under {section}; expected [STATUS] N responses, or [N] ERROR"
                    ));
                    continue;
                };
                if section == ERRORS {
                    let times = draft.times(line, Number::parse(status));
                    draft.failed(failure::kind(rest), times, rest.trim());
                } else {
                    let times =
                        draft.times(line, rest.trim().strip_suffix("responses").and_then(Number::parse));
                    let good = draft.answered(status, times);
                    succeeded = draft.sum(succeeded, good);
                }
            }
            _ => {}
        }
    }
    draft.outcomes_of(succeeded);
    draft.fact(Fact::Requests, draft.requests.sent);
    let seconds = draft.wall_ms.map(|ms| ms / MS_PER_SECOND).filter(|seconds| *seconds > 0.0);
    if let Some(seconds) = seconds {
        draft.value(&Metric::REQUEST_THROUGHPUT, Number::of(real(succeeded) / seconds));
    }
    let mut reading = Reading::new(Format::Hey);
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

/// `Slowest: 0.4493 secs`
fn hey_summary(draft: &mut Draft, line: &str) {
    let Some((name, rest)) = line.split_once(':') else { return };
    let seconds = rest.trim().trim_end_matches("secs");
    let statistic = match name {
        "Slowest" => Statistic::Max,
        "Fastest" => Statistic::Min,
        "Average" => Statistic::Mean,
        "Total" => {
            match Number::parse(seconds) {
                Some(seconds) => draft.wall_ms = seconds.finite().map(|seconds| seconds * MS_PER_SECOND),
                None => draft.contradicts(&format!("\"{line}\" has no number of seconds")),
            }
            return;
        }
        _ => return,
    };
    draft.worded(&Metric::E2E, statistic, seconds, MS_PER_SECOND);
}

/// `95% in 0.4459 secs`; `0% in 0.0000 secs` stands where there were too few samples.
fn hey_percentile(draft: &mut Draft, line: &str) {
    let Some((percent, rest)) = line.split_once("% in ") else { return };
    if percent == "0" {
        return;
    }
    match format!("p{percent}").parse::<Statistic>() {
        Ok(statistic) => draft.worded(&Metric::E2E, statistic, rest.trim_end_matches("secs"), MS_PER_SECOND),
        Err(_) => {
            draft.contradicts(&format!("\"{line}\" has no percentile; expected such as 95% in 0.1 secs"))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn real(count: u64) -> f64 {
    count as f64
}

/// Whether it is wrk's printed text.
pub fn detect_wrk(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.no_json()?;
    sniff.words("threads and")?;
    sniff.words("Thread Stats")?;
    sniff.words("requests in")
}

/// Reads wrk's text.
///
/// # Errors
/// No UTF-8, and values that can't be.
pub fn read_wrk(content: &Content) -> Result<Reading, IngestError> {
    let mut draft = Draft::pooled();
    draft.define(&Metric::E2E, "whole-body-of-any-status", PercentileDefinition::NearestRank);
    let (mut answered, mut bad) = (None, 0);
    for line in content.text()?.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, "threads", "and", connections, "connections"] => {
                draft.concurrency("connections", Number::parse(connections));
            }
            ["Latency", mean, std, max, ..] if !line.contains("Distribution") => {
                for (statistic, text) in
                    [(Statistic::Mean, mean), (Statistic::Std, std), (Statistic::Max, max)]
                {
                    wrk_latency(&mut draft, statistic, text);
                }
            }
            [percent, time] if percent.ends_with('%') => {
                if let Ok(statistic) = format!("p{}", percent.trim_end_matches('%')).parse::<Statistic>() {
                    wrk_latency(&mut draft, statistic, time);
                }
            }
            [count, "requests", "in", time, ..] => {
                answered = draft.counted("requests", Number::parse(count));
                draft.wall_ms = wrk_time(time.trim_end_matches(',')).and_then(Number::finite);
            }
            ["Non-2xx", "or", "3xx", "responses:", rest @ ..] => {
                bad = draft.times(line, Number::parse(&rest.join(" ")));
                draft.failed(FailureKind::Unknown, bad, "Non-2xx or 3xx response");
            }
            ["Socket", "errors:", rest @ ..] => socket_errors(&mut draft, rest),
            _ => {}
        }
    }
    match draft.rest(answered, Some(bad)) {
        Some(succeeded) => draft.outcomes_of(succeeded),
        None => draft.outcomes(None, None),
    }
    draft.fact(Fact::Requests, answered);
    let mut reading = Reading::new(Format::Wrk);
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

/// `connect 0, read 3, write 0, timeout 1`
fn socket_errors(draft: &mut Draft, words: &[&str]) {
    for pair in words.chunks(2) {
        let (name, count) = (pair.first().copied().unwrap_or_default(), pair.get(1).copied());
        let kind = match name {
            "connect" => FailureKind::Connect,
            "timeout" => FailureKind::TimeoutTotal,
            _ => FailureKind::Cut,
        };
        let name = format!("socket error: {name}");
        let times = count.and_then(|count| Number::parse(count.trim_end_matches(',')));
        let times = draft.times(&name, times);
        draft.failed(kind, times, &name);
    }
}

fn wrk_latency(draft: &mut Draft, statistic: Statistic, text: &str) {
    match wrk_time(text) {
        Some(number) => draft.stat(&Metric::E2E, statistic, number),
        None => draft.worded(&Metric::E2E, statistic, text, 1.0),
    }
}

/// `376.49ms`, `1.02s`, `87.00us`, `2.00m`; `None` for what has no unit.
fn wrk_time(text: &str) -> Option<Number> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];
    units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
        Some(Number::of(number * factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_wrk_are_read_in_every_unit() {
        for (text, ms) in [("376.49ms", 376.49), ("1.02s", 1020.0), ("250.00us", 0.25), ("2.00m", 120_000.0)]
        {
            assert_eq!(wrk_time(text), Some(Number::Finite(ms)), "{text}");
        }
        assert_eq!(wrk_time("68.85%"), None);
    }
}

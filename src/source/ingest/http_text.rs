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

/// Whether it is hey's printed text.
pub fn detect_hey(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.no_json()?;
    sniff.words("Summary:")?;
    sniff.words("Latency distribution:")?;
    sniff.words("Status code distribution:")
}

/// Reads hey's text. Answers of every status are pooled in its latencies.
///
/// # Errors
/// No UTF-8, and values that can't be.
pub fn read_hey(content: &Content) -> Result<Reading, IngestError> {
    let text = content.text()?;
    let mut draft = Draft::pooled();
    draft.define(&Metric::E2E, "whole-body-of-any-status", PercentileDefinition::FloorRank);
    let (mut sent, mut succeeded) = (0, 0);
    let mut section = "";
    for line in text.lines() {
        let line = line.trim();
        if line.ends_with(':') {
            section = line;
            continue;
        }
        match section {
            "Summary:" => hey_summary(&mut draft, line),
            "Latency distribution:" => hey_percentile(&mut draft, line),
            "Status code distribution:" => {
                let Some((status, times)) = hey_count(line, "responses") else { continue };
                sent += times;
                match status.parse::<u64>() {
                    Ok(200..300) => succeeded += times,
                    Ok(code) => draft.failed(failure::status(code), times, &format!("HTTP {status}")),
                    Err(_) => {}
                }
            }
            "Error distribution:" => {
                let Some((times, words)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
                else {
                    continue;
                };
                let times = times.parse().unwrap_or_default();
                sent += times;
                draft.failed(failure::kind(words), times, words.trim());
            }
            _ => {}
        }
    }
    draft.outcomes(Some(sent), Some(succeeded));
    draft.fact(Fact::Requests, Some(sent));
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
    let Some(seconds) = rest.trim().strip_suffix(" secs").and_then(Number::parse) else { return };
    let statistic = match name {
        "Slowest" => Statistic::Max,
        "Fastest" => Statistic::Min,
        "Average" => Statistic::Mean,
        "Total" => {
            draft.wall_ms = seconds.finite().map(|seconds| seconds * MS_PER_SECOND);
            return;
        }
        _ => return,
    };
    draft.scaled(&Metric::E2E, statistic, seconds, MS_PER_SECOND);
}

/// `95% in 0.4459 secs`; `0% in 0.0000 secs` stands where there were too few samples.
fn hey_percentile(draft: &mut Draft, line: &str) {
    let Some((percent, rest)) = line.split_once("% in ") else { return };
    let (Ok(statistic), Some(seconds)) =
        (format!("p{percent}").parse::<Statistic>(), rest.strip_suffix(" secs").and_then(Number::parse))
    else {
        return;
    };
    draft.scaled(&Metric::E2E, statistic, seconds, MS_PER_SECOND);
}

/// `[429] 5 responses`
fn hey_count<'a>(line: &'a str, what: &str) -> Option<(&'a str, u64)> {
    let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((name, rest.trim().strip_suffix(what)?.trim().parse().ok()?))
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
    for line in content.text()?.lines() {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, "threads", "and", connections, "connections"] => {
                let connections = connections.parse::<u32>().ok();
                draft.dimensions.concurrency = connections;
                draft.fact(Fact::Concurrency, connections);
            }
            ["Latency", mean, std, max, ..] if !line.contains("Distribution") => {
                for (statistic, text) in
                    [(Statistic::Mean, mean), (Statistic::Std, std), (Statistic::Max, max)]
                {
                    draft.stat(&Metric::E2E, statistic, wrk_time(text));
                }
            }
            [percent, time] if percent.ends_with('%') => {
                if let Ok(statistic) = format!("p{}", percent.trim_end_matches('%')).parse::<Statistic>() {
                    draft.stat(&Metric::E2E, statistic, wrk_time(time));
                }
            }
            [count, "requests", "in", time, ..] => {
                answered = count.parse::<u64>().ok();
                draft.wall_ms = wrk_time(time.trim_end_matches(',')).finite();
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                bad = count.parse().unwrap_or_default();
                draft.failed(FailureKind::Unknown, bad, "Non-2xx or 3xx response");
            }
            ["Socket", "errors:", rest @ ..] => socket_errors(&mut draft, rest),
            _ => {}
        }
    }
    let succeeded = answered.map(|answered| answered.saturating_sub(bad));
    let failures: u64 = draft.requests.failed.values().sum();
    draft.outcomes(succeeded.map(|succeeded| succeeded + failures), succeeded);
    draft.fact(Fact::Requests, answered);
    let mut reading = Reading::new(Format::Wrk);
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

/// `connect 0, read 3, write 0, timeout 1`
fn socket_errors(draft: &mut Draft, words: &[&str]) {
    for pair in words.chunks(2) {
        let [name, count] = pair else { continue };
        let kind = match *name {
            "connect" => FailureKind::Connect,
            "timeout" => FailureKind::TimeoutTotal,
            _ => FailureKind::Cut,
        };
        draft.failed(
            kind,
            count.trim_end_matches(',').parse().unwrap_or_default(),
            &format!("socket error: {name}"),
        );
    }
}

/// `376.49ms`, `1.02s`, `87.00us`, `2.00m`.
fn wrk_time(text: &str) -> Number {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];
    let found = units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
        Some(number * factor)
    });
    found.map(Number::of).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_wrk_are_read_in_every_unit() {
        for (text, ms) in [("376.49ms", 376.49), ("1.02s", 1020.0), ("250.00us", 0.25), ("2.00m", 120_000.0)]
        {
            assert_eq!(wrk_time(text), Number::Finite(ms), "{text}");
        }
        assert_eq!(wrk_time("68.85%"), Number::Absent);
    }
}

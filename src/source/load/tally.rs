//! From the requests of one group to its measurements.

use std::collections::BTreeMap;

use crate::model::report::{Arrivals, FailureKind, Requests, SelfCheck, TokenSource, Tokens};
use crate::model::{Finite, Group, Measurement, Metric, PercentileDefinition, Samples, Statistic, Unit};
use crate::stats::percentile::{Definition, Sorted};
use crate::stats::sampling::{percentile_inflation, throughput_inflation};

use super::block::Ran;
use super::measure::LoadError;
use super::plan::Planned;
use super::schedule::most_in_flight;
use super::timeline::Timeline;
use super::transcript::{Nanos, Transcript};

const PERCENTILES: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];

/// An arrival that the client took up this much after its moment was late.
const LATE: Nanos = 10_000_000;

/// One request: its times on the run's clock and what became of it.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub intended: Nanos,
    pub begun: Nanos,
    pub sent: Option<Nanos>,
    pub ended: Nanos,
    pub connect: Option<Nanos>,
    pub tls: Option<Nanos>,
    pub timeline: Timeline,
    /// Output tokens by `usage`, else as the server's tokenizer counted afterwards.
    pub tokens: Option<u64>,
}

impl Sample {
    pub fn of(transcript: &Transcript) -> Sample {
        let timeline = Timeline::read(transcript);
        Sample {
            intended: transcript.intended,
            begun: transcript.begun,
            sent: transcript.sent,
            ended: transcript.ended,
            connect: transcript.opened.map(|opened| opened.tcp),
            tls: transcript.opened.and_then(|opened| opened.tls),
            tokens: timeline.output_tokens(),
            timeline,
        }
    }
}

/// What was measured of a group, before it is a report's group.
pub(super) struct Tally<'a> {
    pub samples: Vec<Sample>,
    pub ran: Ran,
    pub from: TokenSource,
    /// CPU time of this process while the group ran, in ms, where the system tells.
    pub cpu_ms: Option<u64>,
    pub cores: u32,
    pub clean: &'a dyn Fn(&str) -> String,
}

impl Tally<'_> {
    /// The group as a report has it.
    pub fn group(mut self, planned: &Planned) -> Result<Group, LoadError> {
        // The codec and the dependence between neighbours want the order of sending.
        self.samples.sort_by_key(|sample| sample.sent.unwrap_or(sample.begun));
        let wall = self.ran.ended.saturating_sub(self.ran.began);
        let good: Vec<&Sample> = self.samples.iter().filter(|s| s.timeline.failure.is_none()).collect();
        let arrivals = planned.dimensions.rate.map(|_| self.arrivals());
        Ok(Group {
            requests: self.requests(good.len()),
            wall_ms: Some(finite(wall as f64 / 1e6)?),
            tokens: tokens(&good, self.from),
            metrics: metrics(&good, wall, arrivals.is_some())?,
            self_check: Some(self.self_check(wall)?),
            arrivals,
            ..Group::new(planned.dimensions.clone())
        })
    }

    fn requests(&self, succeeded: usize) -> Requests {
        let mut requests = Requests {
            sent: Some(self.samples.len() as u64),
            succeeded: Some(succeeded as u64),
            ..Requests::default()
        };
        for failure in self.samples.iter().filter_map(|sample| sample.timeline.failure.as_ref()) {
            *requests.failed.entry(failure.kind).or_default() += 1;
            requests.error_samples.entry(failure.kind).or_insert_with(|| {
                let wait =
                    failure.retry_after.as_ref().map_or_else(String::new, |s| format!(" (Retry-After: {s})"));
                (self.clean)(&format!("{}{wait}", failure.text))
            });
        }
        requests
    }

    fn arrivals(&self) -> Arrivals {
        let late = self.samples.iter().filter(|sample| sample.begun.saturating_sub(sample.intended) > LATE);
        Arrivals { late: late.count() as u64, dropped: self.ran.dropped }
    }

    fn self_check(&self, wall: Nanos) -> Result<SelfCheck, LoadError> {
        let reads: usize = self.samples.iter().map(|sample| sample.timeline.token_reads).sum();
        let shared: usize = self.samples.iter().map(|sample| sample.timeline.shared_reads).sum();
        let spans: Vec<(Nanos, Nanos)> =
            self.samples.iter().filter_map(|sample| Some((sample.sent?, sample.ended))).collect();
        let lags: Vec<f64> = self.ran.lags.iter().map(|lag| *lag as f64 / 1e6).collect();
        let lag = if lags.is_empty() {
            None
        } else {
            Some(finite(Sorted::new(lags)?.percentile(99.0, Definition::FloorRank)?)?)
        };
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| finite(part / whole)).transpose();
        let wall_ms = wall as f64 / 1e6 * f64::from(self.cores);
        Ok(SelfCheck {
            wakeup_lag_p99_ms: lag,
            coalesced_reads: share(shared as f64, reads as f64)?,
            in_flight_reached: Some(most_in_flight(&spans)),
            cpu_share: self.cpu_ms.map(|cpu| share(cpu as f64, wall_ms)).transpose()?.flatten(),
            problems: Vec::new(),
        })
    }
}

fn tokens(good: &[&Sample], from: TokenSource) -> Tokens {
    let usage = |pick: fn(&super::openai::Usage) -> Option<u64>| {
        good.iter().map(|sample| sample.timeline.usage.as_ref().and_then(pick)).sum::<Option<u64>>()
    };
    let output = good.iter().map(|sample| sample.tokens).sum::<Option<u64>>();
    if good.is_empty() {
        return Tokens { input: Some(0), output: Some(0), cached: None, from };
    }
    // Servers without a prefix cache leave `cached` out; one that says it sometimes means 0 otherwise.
    let cached = good.iter().filter_map(|sample| sample.timeline.usage?.cached).reduce(|a, b| a + b);
    Tokens {
        input: usage(|usage| usage.prompt),
        output,
        cached,
        from: if output.is_some() { from } else { TokenSource::Unknown },
    }
}

fn metrics(
    good: &[&Sample],
    wall: Nanos,
    open_loop: bool,
) -> Result<BTreeMap<Metric, Measurement>, LoadError> {
    let mut metrics = BTreeMap::new();
    let collect = |pick: &dyn Fn(&Sample) -> Option<Nanos>| -> Vec<u64> {
        good.iter().filter_map(|sample| pick(sample)).map(micros).collect()
    };
    let mut put = |metric: Metric, measured: Option<Measurement>| {
        if let Some(measured) = measured {
            metrics.insert(metric, measured);
        }
    };
    let e2e = collect(&|sample| sample.timeline.last_token);
    put(Metric::TTFT, latency("first-token", collect(&|s| s.timeline.first_token))?);
    // Where nothing was reasoning, both are the same number.
    put(Metric::TTFO, latency("first-output-token", collect(&|s| s.timeline.first_output))?);
    put(Metric::E2E, latency("to-last-token", e2e.clone())?);
    let per_token = |sample: &Sample| sample.timeline.time_per_token(sample.tokens?);
    let tpot = good.iter().filter_map(|sample| per_token(sample)).map(|ns| (ns / 1e3).round() as u64);
    put(Metric::TPOT, latency("excludes-first-token", tpot.collect())?);
    put(Metric::ITL, summary("chunk-gaps", gaps(good))?);
    put(Metric::named("connect"), summary("tcp", collect(&|s| s.connect))?);
    put(Metric::named("tls_handshake"), summary("tls", collect(&|s| s.tls))?);
    if open_loop {
        let since =
            |sample: &Sample, at: Option<Nanos>| Some(sample.sent? + at? - sample.intended.min(sample.sent?));
        let first = collect(&|s| since(s, s.timeline.first_token));
        put(Metric::named("ttft_from_schedule"), summary("first-token-from-intended-send", first)?);
        let last = collect(&|s| since(s, s.timeline.last_token));
        put(Metric::named("e2e_from_schedule"), summary("to-last-token-from-intended-send", last)?);
    }
    if !e2e.is_empty() && wall > 0 {
        rates(&mut metrics, good, wall, &e2e)?;
    }
    Ok(metrics)
}

fn rates(
    metrics: &mut BTreeMap<Metric, Measurement>,
    good: &[&Sample],
    wall: Nanos,
    e2e: &[u64],
) -> Result<(), LoadError> {
    let seconds = wall as f64 / 1e9;
    let inflation = finite(throughput_inflation(&millis(e2e))?)?;
    let mut put = |metric: Metric, unit, value: f64| -> Result<(), LoadError> {
        let mut rate = Measurement::single(unit, finite(value)?);
        rate.vif.insert(Statistic::Value, inflation);
        metrics.insert(metric, rate);
        Ok(())
    };
    put(Metric::REQUEST_THROUGHPUT, Unit::RequestsPerSecond, good.len() as f64 / seconds)?;
    let tokens: Option<Vec<u64>> = good.iter().map(|sample| sample.tokens).collect();
    let Some(tokens) = tokens else { return Ok(()) };
    let all = tokens.iter().sum::<u64>() as f64;
    put(Metric::OUTPUT_THROUGHPUT, Unit::TokensPerSecond, all / seconds)?;
    let own = good.iter().zip(&tokens).filter_map(|(sample, tokens)| {
        let time = sample.timeline.last_token.filter(|time| *time > 0)?;
        Some(*tokens as f64 / (time as f64 / 1e9))
    });
    let own: Vec<f64> = own.collect();
    if !own.is_empty() {
        put(Metric::TOKENS_PER_SECOND, Unit::TokensPerSecond, own.iter().sum::<f64>() / own.len() as f64)?;
    }
    metrics.insert(Metric::OUTPUT_TOKENS, lengths(&tokens)?);
    Ok(())
}

/// Gaps between events with tokens, of all requests, in microseconds.
fn gaps(good: &[&Sample]) -> Vec<u64> {
    let events = good.iter().map(|sample| sample.timeline.events.as_slice());
    events.flat_map(|events| events.windows(2).map(|pair| micros(pair[1] - pair[0]))).collect()
}

fn latency(definition: &str, micros: Vec<u64>) -> Result<Option<Measurement>, LoadError> {
    let Some(mut measured) = summary(definition, micros.clone())? else { return Ok(None) };
    let in_order = millis(&micros);
    for statistic in PERCENTILES {
        if let Some(percent) = statistic.percent() {
            measured.vif.insert(statistic, finite(percentile_inflation(&in_order, percent)?)?);
        }
    }
    measured.samples = Some(Samples::from_micros(micros));
    Ok(Some(measured))
}

/// The statistics alone, for what is shown and not judged or has far more samples than requests.
fn summary(definition: &str, micros: Vec<u64>) -> Result<Option<Measurement>, LoadError> {
    if micros.is_empty() {
        return Ok(None);
    }
    let values = millis(&micros);
    let mut stats = BTreeMap::from([(Statistic::Mean, mean(&values)?)]);
    let sorted = Sorted::new(values)?;
    for statistic in PERCENTILES {
        if let Some(percent) = statistic.percent() {
            stats.insert(statistic, finite(sorted.percentile(percent, Definition::FloorRank)?)?);
        }
    }
    Ok(Some(Measurement {
        unit: Unit::Millisecond,
        definition: Some(definition.to_owned()),
        n: Some(micros.len() as u64),
        percentile_definition: Some(PercentileDefinition::FloorRank),
        stats,
        samples: None,
        vif: BTreeMap::new(),
    }))
}

fn lengths(tokens: &[u64]) -> Result<Measurement, LoadError> {
    let values: Vec<f64> = tokens.iter().map(|tokens| *tokens as f64).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(most, f64::min);
    let stats = [
        (Statistic::Mean, mean(&values)?),
        (Statistic::Min, finite(least)?),
        (Statistic::Max, finite(most)?),
    ];
    Ok(Measurement {
        definition: None,
        n: Some(tokens.len() as u64),
        percentile_definition: None,
        stats: stats.into(),
        ..Measurement::single(Unit::Token, Finite::ZERO)
    })
}

/// Failures by kind, for warm-up and progress.
pub(super) fn failed(samples: &[Sample]) -> BTreeMap<FailureKind, u64> {
    let mut failed = BTreeMap::new();
    for failure in samples.iter().filter_map(|sample| sample.timeline.failure.as_ref()) {
        *failed.entry(failure.kind).or_default() += 1;
    }
    failed
}

fn micros(ns: Nanos) -> u64 {
    (ns + 500) / 1000
}

fn millis(us: &[u64]) -> Vec<f64> {
    us.iter().map(|us| *us as f64 / 1000.0).collect()
}

fn mean(values: &[f64]) -> Result<Finite, LoadError> {
    finite(values.iter().sum::<f64>() / values.len() as f64)
}

fn finite(value: f64) -> Result<Finite, LoadError> {
    Ok(Finite::new(value)?)
}

#[cfg(test)]
mod tests;

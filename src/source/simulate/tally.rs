//! From the records of one group to its measurements.

use std::collections::BTreeMap;

use crate::model::engine::StrategySpeeds;
use crate::model::report::{Arrivals, FailureKind, Requests, SelfCheck, TokenSource, Tokens};
use crate::model::{Finite, Group, Measurement, Metric, PercentileDefinition, Samples, Statistic, Unit};
use crate::stats::percentile::{Definition, Sorted};
use crate::stats::sampling::{percentile_inflation, throughput_inflation};

use super::SimulateError;
use super::events::{Outcome, Record};
use super::plan::Planned;

/// The percentiles that a report states.
const PERCENTILES: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];

/// What the records of one group add up to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    sent: u64,
    failed: BTreeMap<FailureKind, u64>,
    /// Latencies of the answered requests in microseconds, in the order of sending.
    ttft: Vec<u64>,
    tpot: Vec<u64>,
    e2e: Vec<u64>,
    output_tokens: Vec<u32>,
    input_tokens: u64,
    cached_tokens: u64,
    last_end_us: u64,
    most_in_flight: u32,
    time: TimeSpent,
}

/// Where the time of the answered requests went, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct TimeSpent {
    preprocess: u64,
    prompt_encode: u64,
    congestion: f64,
    spared_by_early_stop: u64,
}

impl Tally {
    /// Counts one request in.
    pub fn add(&mut self, record: &Record) {
        self.sent += 1;
        self.last_end_us = self.last_end_us.max(record.finished_us);
        self.most_in_flight = self.most_in_flight.max(record.in_flight);
        match record.outcome {
            Outcome::Failed(kind) => *self.failed.entry(kind).or_default() += 1,
            Outcome::Answered { first_token_us, last_token_us } => {
                self.add_answer(record, first_token_us, last_token_us);
            }
        }
    }

    fn add_answer(&mut self, record: &Record, first_token_us: u64, last_token_us: u64) {
        let (request, stages) = (&record.request, &record.stages);
        let e2e = last_token_us - record.sent_us;
        self.ttft.push(first_token_us - record.sent_us);
        if let Some(gaps) = u64::from(request.output_tokens).checked_sub(1).filter(|gaps| *gaps > 0) {
            self.tpot.push((last_token_us - first_token_us + gaps / 2) / gaps);
        }
        self.e2e.push(e2e);
        self.output_tokens.push(request.output_tokens);
        self.input_tokens += u64::from(request.prompt_tokens);
        self.cached_tokens += u64::from(record.cached_tokens);
        self.time.preprocess += stages.preprocess_us;
        self.time.prompt_encode += stages.encode_us;
        self.time.congestion += e2e as f64 * (1.0 - 1.0 / stages.penalty);
        self.time.spared_by_early_stop += stages.decode_us(request.output_limit - request.output_tokens);
    }

    /// The group as a report has it.
    ///
    /// # Errors
    /// None that the engine's own numbers could cause; the statistics refuse what is not finite.
    pub fn group(self, planned: &Planned) -> Result<Group, SimulateError> {
        let succeeded = self.e2e.len() as u64;
        let output_tokens = self.output_tokens.iter().copied().map(u64::from).sum();
        let open_loop = planned.dimensions.rate.is_some();
        let shares = self.shares()?;
        let mut metrics = BTreeMap::new();
        if succeeded > 0 {
            let seconds = self.last_end_us as f64 / 1e6;
            let inflation = finite(throughput_inflation(&millis(&self.e2e))?)?;
            let rate = |unit, count: u64| -> Result<Measurement, SimulateError> {
                let mut rate = Measurement::single(unit, finite(count as f64 / seconds)?);
                rate.vif.insert(Statistic::Value, inflation);
                Ok(rate)
            };
            metrics.insert(Metric::OUTPUT_THROUGHPUT, rate(Unit::TokensPerSecond, output_tokens)?);
            metrics.insert(Metric::REQUEST_THROUGHPUT, rate(Unit::RequestsPerSecond, succeeded)?);
            metrics.insert(Metric::OUTPUT_TOKENS, lengths(&self.output_tokens)?);
            metrics.insert(Metric::TTFT, latency("first-token", self.ttft)?);
            metrics.insert(Metric::E2E, latency("to-last-token", self.e2e)?);
        }
        if !self.tpot.is_empty() {
            metrics.insert(Metric::TPOT, latency("excludes-first-token", self.tpot)?);
        }
        metrics.insert(Metric::GPU_MEMORY, memory(&planned.strategy));
        Ok(Group {
            requests: Requests {
                sent: Some(self.sent),
                succeeded: Some(succeeded),
                failed: self.failed,
                error_samples: BTreeMap::new(),
            },
            wall_ms: Some(finite(self.last_end_us as f64 / 1000.0)?),
            tokens: Tokens {
                input: Some(self.input_tokens),
                output: Some(output_tokens),
                cached: Some(self.cached_tokens),
                from: TokenSource::Engine,
            },
            metrics,
            self_check: Some(SelfCheck {
                in_flight_reached: Some(self.most_in_flight),
                ..SelfCheck::default()
            }),
            arrivals: open_loop.then(Arrivals::default),
            shares,
            ..Group::new(planned.dimensions.clone())
        })
    }

    /// As [`Group::shares`] says. Without early stops a share s would be `s / (1 + spared_by_early_stop)`.
    fn shares(&self) -> Result<BTreeMap<String, Finite>, SimulateError> {
        let all: u64 = self.e2e.iter().sum();
        if all == 0 {
            return Ok(BTreeMap::new());
        }
        let TimeSpent { preprocess, prompt_encode, congestion, spared_by_early_stop } = self.time;
        let decode = all - preprocess - prompt_encode;
        let parts = [
            ("preprocess", preprocess as f64),
            ("prompt_encode", prompt_encode as f64),
            ("decode", decode as f64),
            ("congestion", congestion),
            ("spared_by_early_stop", spared_by_early_stop as f64),
        ];
        parts.into_iter().map(|(name, part)| Ok((name.to_owned(), finite(part / all as f64)?))).collect()
    }
}

fn latency(definition: &str, arrivals_us: Vec<u64>) -> Result<Measurement, SimulateError> {
    let arrivals = millis(&arrivals_us);
    let mut stats = BTreeMap::from([(Statistic::Mean, mean(&arrivals)?)]);
    let mut vif = BTreeMap::new();
    for statistic in PERCENTILES {
        if let Some(percent) = statistic.percent() {
            vif.insert(statistic, finite(percentile_inflation(&arrivals, percent)?)?);
        }
    }
    let sorted = Sorted::new(arrivals)?;
    for statistic in PERCENTILES {
        if let Some(percent) = statistic.percent() {
            stats.insert(statistic, finite(sorted.percentile(percent, Definition::FloorRank)?)?);
        }
    }
    Ok(Measurement {
        unit: Unit::Millisecond,
        definition: Some(definition.to_owned()),
        n: Some(arrivals_us.len() as u64),
        percentile_definition: Some(PercentileDefinition::FloorRank),
        stats,
        samples: Some(Samples::from_micros(arrivals_us)),
        vif,
    })
}

fn lengths(tokens: &[u32]) -> Result<Measurement, SimulateError> {
    let values: Vec<f64> = tokens.iter().copied().map(f64::from).collect();
    let mut stats = BTreeMap::from([(Statistic::Mean, mean(&values)?)]);
    if let (Some(least), Some(most)) = (tokens.iter().min(), tokens.iter().max()) {
        stats.insert(Statistic::Min, Finite::from(*least));
        stats.insert(Statistic::Max, Finite::from(*most));
    }
    Ok(Measurement { n: Some(tokens.len() as u64), ..summary(Unit::Token, stats) })
}

fn memory(strategy: &StrategySpeeds) -> Measurement {
    let stats = [(Statistic::Mean, strategy.gpu_memory_mb), (Statistic::Max, strategy.gpu_memory_peak_mb)];
    summary(Unit::Megabyte, stats.into())
}

/// Numbers of a metric whose distribution is not kept.
fn summary(unit: Unit, stats: BTreeMap<Statistic, Finite>) -> Measurement {
    Measurement {
        unit,
        definition: None,
        n: None,
        percentile_definition: None,
        stats,
        samples: None,
        vif: BTreeMap::new(),
    }
}

fn millis(us: &[u64]) -> Vec<f64> {
    us.iter().map(|us| *us as f64 / 1000.0).collect()
}

fn mean(values: &[f64]) -> Result<Finite, SimulateError> {
    finite(values.iter().sum::<f64>() / values.len() as f64)
}

fn finite(value: f64) -> Result<Finite, SimulateError> {
    Ok(Finite::new(value)?)
}

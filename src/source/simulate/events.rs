//! The event loop: requests leave, the engine answers, in virtual time on whole microseconds.
//!
//! What a request costs is settled when it is sent, from the requests then in flight. In closed loop a finished
//! request is replaced at that very moment, so request `i` always meets `min(i + 1, level)` in flight: a slower decode
//! lengthens answers and moves no time to first token. In open loop arrivals do not wait, so slower answers pile up
//! and everything slows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use crate::model::report::FailureKind;

use super::engine::{PrefixCache, Speeds, Stages, whole_us};
use super::failure::{Failures, reaches_the_engine};
use super::random::{Purpose, Substream};
use super::traffic::{Request, Workload};

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// So many requests in flight all the time; each that ends is replaced at once.
    Closed {
        /// Requests in flight, at least one.
        concurrency: u32,
    },
    /// Arrivals that do not wait for answers, at exponential gaps.
    Poisson {
        /// Mean gap between arrivals, in microseconds.
        gap_us: f64,
    },
    /// Arrivals that do not wait for answers, at equal gaps.
    Constant {
        /// Gap between arrivals, in microseconds.
        gap_us: f64,
    },
}

/// One strategy under one workload.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// What is asked.
    pub workload: &'a Workload,
    /// When it is asked.
    pub arrivals: Arrivals,
    /// How many requests are sent.
    pub requests: u64,
    /// How fast it is answered.
    pub speeds: Speeds,
    /// Whether prompts skip prefixes that were encoded before.
    pub prefix_cache: bool,
    /// How often requests fail, and the time limits.
    pub failures: &'a Failures,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered in full.
    Answered {
        /// When the first token came, in microseconds of virtual time.
        first_token_us: u64,
        /// When the last token came.
        last_token_us: u64,
    },
    /// Not answered, or not in full.
    Failed(FailureKind),
}

/// What happened to one request. Times are microseconds since the group began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Position in the order of sending, from 0.
    pub index: u64,
    /// What was asked.
    pub request: Request,
    /// When it was sent. A virtual client is never late, so this is the intended time too.
    pub sent_us: u64,
    /// When it stopped being in flight.
    pub finished_us: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Requests in flight when it was sent, itself included.
    pub in_flight: u32,
    /// Prompt tokens that the prefix cache saved.
    pub cached_tokens: u32,
    /// What each stage takes, or would have taken.
    pub stages: Stages,
}

/// Sends every request of the run and hands each record over in the order of sending, until told to stop.
///
/// Memory is bounded by the requests in flight, not by the requests sent.
pub fn run(run: &Run<'_>, mut each: impl FnMut(&Record) -> ControlFlow<()>) {
    let mut in_flight = BinaryHeap::new();
    let mut cache = run.prefix_cache.then(PrefixCache::default);
    let mut arrived_us = 0;
    for index in 0..run.requests {
        let sent_us = match run.arrivals {
            Arrivals::Closed { concurrency } => refilled(&mut in_flight, concurrency),
            Arrivals::Poisson { gap_us } => {
                let mut draw = run.workload.key.substream(index, Purpose::Arrival);
                arrived_us += whole_us(draw.exponential() * gap_us);
                arrived(&mut in_flight, arrived_us)
            }
            Arrivals::Constant { gap_us } => arrived(&mut in_flight, whole_us(index as f64 * gap_us)),
        };
        let others = u32::try_from(in_flight.len()).unwrap_or(u32::MAX - 1);
        let record = answer(run, index, sent_us, others + 1, cache.as_mut());
        in_flight.push(Reverse(record.finished_us));
        if each(&record).is_break() {
            return;
        }
    }
}

/// When a slot is free: at once while there are fewer in flight than the level, else when the next request ends.
fn refilled(in_flight: &mut BinaryHeap<Reverse<u64>>, concurrency: u32) -> u64 {
    if in_flight.len() < concurrency.max(1) as usize {
        return 0;
    }
    in_flight.pop().map_or(0, |Reverse(end)| end)
}

/// Clears out what has ended by the time of an arrival.
fn arrived(in_flight: &mut BinaryHeap<Reverse<u64>>, at_us: u64) -> u64 {
    while in_flight.peek().is_some_and(|Reverse(end)| *end <= at_us) {
        in_flight.pop();
    }
    at_us
}

fn answer(
    run: &Run<'_>,
    index: u64,
    sent_us: u64,
    in_flight: u32,
    cache: Option<&mut PrefixCache>,
) -> Record {
    let draw = |purpose| -> Substream { run.workload.key.substream(index, purpose) };
    let request = run.workload.request(index);
    let fate = run.failures.fate(&mut draw(Purpose::Failure));
    let cached_tokens = match (cache, request.prefix) {
        (Some(cache), Some(prefix)) if fate.kind.is_none_or(reaches_the_engine) => cache.hit(prefix),
        _ => 0,
    };
    let deviation = run.speeds.deviation(&mut draw(Purpose::Speed));
    let stages = run.speeds.stages(deviation, request.prompt_tokens - cached_tokens, in_flight);
    let (taken_us, failed) = run.failures.ending(fate, &stages, request.output_tokens);
    let outcome = match failed {
        Some(kind) => Outcome::Failed(kind),
        None => {
            let first_token_us = sent_us + stages.first_token_us();
            let last_token_us = first_token_us + stages.decode_us(request.output_tokens - 1);
            Outcome::Answered { first_token_us, last_token_us }
        }
    };
    let finished_us = sent_us + taken_us;
    Record { index, request, sent_us, finished_us, outcome, in_flight, cached_tokens, stages }
}

#[cfg(test)]
mod tests;

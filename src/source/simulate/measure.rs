//! From a profile to a report.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::engine::Engine;
use crate::model::profile::Profile;
use crate::model::report::{
    self, Client, Code, FailureKind, ProfileRef, Source, SourceKind, Subject, Tool, Warmup,
};
use crate::model::{Finite, GroupId, Job, NotFinite, Report, Round};
use crate::source::workload::{fingerprint, round_seed};
use crate::stats::StatsError;

use super::engine::Speeds;
use super::events::{self, Outcome, Run};
use super::failure::Failures;
use super::plan::{self, Planned};
use super::settings;
use super::tally::Tally;
use super::traffic::UnknownTraffic;

/// Why a profile can't be run on the embedded engine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulateError {
    /// A traffic model that does not exist.
    #[error(transparent)]
    Traffic(#[from] UnknownTraffic),
    /// Prompts from a file.
    #[error(
        "the embedded engine reads no prompts, so \"{0}\" can't be used; name traffic = [\"chat\"] in its place"
    )]
    PromptFile(String),
    /// A level of zero.
    #[error("concurrency 0 sends no request; expected 1 or more")]
    NoConcurrency,
    /// A rate that is not usable.
    #[error("rate {0} requests per second; expected 0.001 to 1e6")]
    Rate(Finite),
    /// No group, no request or no round.
    #[error(
        "nothing to measure; expected at least one traffic, one concurrency or rate, one request and one round"
    )]
    NothingToMeasure,
    /// A speed or share that makes no sense.
    #[error("engine.{name} is {value}; expected {expected}")]
    Setting {
        /// Its name in `[profile.NAME.engine]`.
        name: String,
        /// What it is.
        value: Finite,
        /// What it may be.
        expected: &'static str,
    },
    /// More failures than requests.
    #[error("engine.failures add up to more than 1; they are shares of all requests")]
    FailureSum,
    /// A statistic of the measured numbers could not be computed.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// A measured number was not finite.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
}

/// What happens while measuring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress<'a> {
    /// A group begins.
    Group {
        /// The round, from 1.
        round: u32,
        /// The group.
        id: &'a GroupId,
        /// How many requests it sends.
        requests: u32,
    },
    /// A request ended, well or not.
    Request {
        /// How it failed, if it did.
        failed: Option<FailureKind>,
        /// Its time to first token in microseconds, if it was answered.
        ttft_us: Option<u64>,
    },
}

/// Runs the profile on the engine: every round passes over all groups in the same order, with a seed of its own.
///
/// The report is complete but for what this side of the program can't know: the job's id (here only the seed) and
/// start, the client and the code. When `cancel` turns true, what was measured so far comes back as an incomplete job.
///
/// # Errors
/// What the profile or the engine's settings ask for and the embedded engine can't do. Nothing is measured then.
pub fn measure(
    profile: &Profile,
    engine: &Engine,
    progress: &mut dyn FnMut(Progress<'_>),
    cancel: &AtomicBool,
) -> Result<Report, SimulateError> {
    settings::check(engine)?;
    let planned = plan::groups(profile, engine)?;
    let failures = Failures { rates: engine.failures.clone(), timeouts: profile.timeouts };
    let mut job = Job {
        id: format!("seed-{}", profile.seed),
        started: None,
        complete: true,
        warmup: Some(Warmup::default()),
        rounds: Vec::new(),
    };
    for number in 1..=profile.rounds {
        let seed = round_seed(profile.seed, number);
        let mut round = Round { seed: Some(seed), ..Round::default() };
        for group in planned.iter().take_while(|_| !cancel.load(Ordering::Relaxed)) {
            progress(Progress::Group { round: number, id: &group.id, requests: profile.requests });
            let workload = group.workload(profile, engine, seed);
            let run = Run {
                workload: &workload,
                arrivals: group.arrivals,
                requests: profile.requests.into(),
                speeds: Speeds::new(engine, &group.strategy),
                prefix_cache: group.strategy.prefix_cache,
                failures: &failures,
            };
            round.groups.push(tally(&run, progress, cancel).group(group)?);
        }
        if !round.groups.is_empty() {
            job.rounds.push(round);
        }
    }
    job.complete = is_complete(profile, &planned, &job.rounds);
    Ok(assemble(profile, engine, &planned, job))
}

fn tally(run: &Run<'_>, progress: &mut dyn FnMut(Progress<'_>), cancel: &AtomicBool) -> Tally {
    let mut tally = Tally::default();
    events::run(run, |record| {
        tally.add(record);
        let (failed, ttft_us) = match record.outcome {
            Outcome::Failed(kind) => (Some(kind), None),
            Outcome::Answered { first_token_us, .. } => (None, Some(first_token_us - record.sent_us)),
        };
        progress(Progress::Request { failed, ttft_us });
        if cancel.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    tally
}

/// Whether every request of every group of every round was sent.
fn is_complete(profile: &Profile, planned: &[Planned], rounds: &[Round]) -> bool {
    let groups = rounds.iter().flat_map(|round| &round.groups);
    let whole = groups.filter(|group| group.requests.sent == Some(profile.requests.into())).count();
    whole == planned.len() * profile.rounds as usize
}

fn assemble(profile: &Profile, engine: &Engine, planned: &[Planned], job: Job) -> Report {
    let workloads: BTreeMap<_, _> =
        planned.iter().map(|group| (group.id.clone(), group.facts(profile))).collect();
    let fingerprints = workloads.iter().map(|(id, facts)| (id.clone(), fingerprint(facts))).collect();
    let names = profile.strategies.iter().map(|strategy| strategy.name.as_str());
    Report {
        schema: report::SCHEMA.to_owned(),
        tool: Tool::pacegate(),
        source: Source::of(SourceKind::Simulate),
        subject: Subject {
            model: Some("embedded".to_owned()),
            engine: Some("pacegate embedded engine".to_owned()),
            engine_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            server_hardware: profile.server.clone(),
            parameters: settings::recorded(engine, names),
        },
        client: Client::default(),
        code: Code::default(),
        profile: ProfileRef {
            name: profile.name.clone(),
            reference: profile.reference.clone(),
            workloads,
            fingerprints,
        },
        jobs: vec![job],
    }
}

#[cfg(test)]
mod tests;

//! Trying a gate out on its own baseline: does it fail when it has to, and pass when nothing changed?
//!
//! A run like the last blessed one is the candidate. Faults are planted into it and judged by the user's own rules
//! (`trials`); unchanged runs are made of the blessed samples (`replay`).

mod bench;
mod plant;
mod replay;
mod slower;
mod speedups;
mod trials;

use time::Date;

use crate::exit::Exit;
use crate::gate::{self, Input};
use crate::model::policy::Policy;
use crate::model::report::Tool;
use crate::model::self_test::{SCHEMA, SelfTest};
use crate::model::verdict::BaselineRef;
use crate::model::{Baseline, Report, Verdict};

use bench::Bench;
pub use replay::Replay;

/// The gate that is tried.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// What is blessed.
    pub baseline: &'a Baseline,
    /// What outputs call it.
    pub reference: &'a BaselineRef,
    /// The user's rules.
    pub policy: &'a Policy,
    /// The day on which waivers are looked at.
    pub today: Date,
}

/// How a check of a report file with this text would end.
pub type CheckText<'a> = &'a dyn Fn(&str) -> Exit;

/// Why a gate can't be tried.
#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    /// Nothing is blessed.
    #[error("{0} holds no blessed job, so there is no gate to try out; bless one first")]
    NothingBlessed(String),
    /// Two rules contradict each other.
    #[error(transparent)]
    Rules(#[from] Box<crate::model::policy::RuleTie>),
}

/// Plants every fault, and replays unchanged runs.
///
/// # Errors
/// Nothing is blessed, or two gate rules contradict each other.
pub fn run(subject: &Subject, check: CheckText, replays: Replay) -> Result<SelfTest, SelfTestError> {
    let nothing = || SelfTestError::NothingBlessed(subject.reference.path.clone());
    let last = subject.baseline.reports.last().ok_or_else(nothing)?;
    let bench = Bench::new(subject, last)?;
    let mut trials = trials::broken(&bench, check)?;
    trials.extend(slower::trials(&bench)?);
    trials.extend(speedups::trials(&bench)?);
    Ok(SelfTest {
        schema: SCHEMA,
        tool: Tool::pacegate(),
        profile: subject.baseline.profile.clone(),
        baseline: subject.reference.path.clone(),
        jobs: subject.baseline.jobs().count(),
        tier: bench.clean.tier,
        decided_by: bench.clean.decided_by,
        trials,
        replays: replay::replays(subject, &bench, replays)?,
    })
}

impl Subject<'_> {
    /// The verdict of a candidate against a baseline under the user's rules.
    fn judge(&self, candidate: &Report, baseline: &Baseline) -> Result<Verdict, SelfTestError> {
        let reference = self.reference.clone();
        Ok(gate::judge(Input::new(candidate, Some((baseline, reference)), self.policy, self.today))?)
    }
}

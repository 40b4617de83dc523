//! The judge: a report against a blessed baseline under a policy. The only part with an opinion.
//!
//! `valid? -> comparable? -> aligned -> judged -> joined`, each a file of its own.

mod absolute;
mod ahead;
mod align;
mod case;
mod cause;
mod channels;
mod comparable;
mod family;
mod join;
mod reading;
mod reported_speedup;
mod resolution;
mod row;
mod rules;
mod sides;
mod speedup;
mod success_rate;
mod suspicion;
mod tiers;
mod validity;
mod waivers;

use time::Date;

use crate::model::policy::{Policy, RuleTie};
use crate::model::verdict::BaselineRef;
use crate::model::{Baseline, Fact, Finding, Outcome, Reason, Report, Verdict};

pub use ahead::{PlanError, PlanFor, plan};
use sides::Sides;

pub use row::with_history;

/// All that a judgement depends on.
pub struct Input<'a> {
    /// What is judged.
    pub candidate: &'a Report,
    /// What it is held against, and where that came from.
    pub baseline: Option<(&'a Baseline, BaselineRef)>,
    /// The rules.
    pub policy: &'a Policy,
    /// Differences that the command line allows.
    pub allowed: &'a [Fact],
    /// What this change alters in its own baseline or limits.
    pub alterations: Vec<Reason>,
    /// Where the baseline was looked for, and the command that blesses: said where there is none.
    pub missing_baseline: (String, String),
    /// Exit 0 in place of 1, 3 and 4.
    pub report_only: bool,
    /// The day on which waivers are looked at.
    pub today: Date,
    /// The command line that gives this verdict again.
    pub reproduce: Option<String>,
}

impl<'a> Input<'a> {
    /// A report, a baseline and the rules, with nothing allowed and nothing altered.
    #[must_use]
    pub fn new(
        candidate: &'a Report,
        baseline: Option<(&'a Baseline, BaselineRef)>,
        policy: &'a Policy,
        today: Date,
    ) -> Self {
        Self {
            candidate,
            baseline,
            policy,
            allowed: &[],
            alterations: Vec::new(),
            missing_baseline: (String::new(), String::new()),
            report_only: false,
            today,
            reproduce: None,
        }
    }
}

/// Judges a report.
///
/// # Errors
/// Two gate rules of equal rank that disagree about a field.
pub fn judge(mut input: Input) -> Result<Verdict, Box<RuleTie>> {
    if is_duet(input.candidate) {
        input.baseline = None;
    }
    let nothing = Baseline::nothing();
    let baseline = input.baseline.as_ref().map_or(&nothing, |(baseline, _)| *baseline);
    let sides = match is_duet(input.candidate) {
        true => Sides::alternated(input.candidate),
        false => Sides::new(baseline, input.candidate),
    };
    let setting = tiers::setting(&sides, input.policy);
    let validity = validity::check(input.candidate, &sides.candidate, rules::smallest_relative(input.policy));
    let comparability = comparable::compare(baseline, input.candidate, input.allowed);
    let blessed_problems = validity::check_blessed(baseline, &sides.blessed);

    let mut cases = align::cases(&sides, input.policy, &comparability, &validity, input.allowed)?;
    if setting.tier != crate::model::Tier::Exact {
        family::settle(&mut cases, &setting);
    }
    let channels = channels::judge(&mut cases, &sides, &setting, input.policy);
    let success = success_rate::judge(&sides, input.policy, &setting, &comparability, &validity)?;
    let reference = speedup::reference(baseline, input.candidate);
    let speedups = speedup::judge(&sides, input.policy, &setting, &comparability, &validity, reference)?;

    let mut joined = join::Joined::new(validity, comparability, channels, setting);
    joined.problems.extend(blessed_problems);
    joined.look_at(&sides, &cases, &input);
    let all = success.into_iter().chain(speedups).chain(cases);
    let (counts, mut findings) = join::findings(all);
    join::withdraw_fast_failures(&mut findings);
    joined.notes.extend(waivers::apply(&mut findings, &input.policy.waivers, input.today));
    joined.add_shifts(cause::shifts(&findings));
    Ok(joined.verdict(input, counts, findings))
}

fn is_duet(report: &Report) -> bool {
    report.jobs.iter().flat_map(|job| &job.rounds).any(|round| !round.against.is_empty())
}

/// The join of findings and problems: the worst wins. Documented precedence: run failed, regression, no verdict,
/// inconclusive, pass.
#[must_use]
pub fn outcome<'a>(findings: impl Iterator<Item = &'a Finding>, problems: &[(Outcome, Reason)]) -> Outcome {
    let of_findings = findings.map(join::of_finding).fold(Outcome::Pass, Outcome::join);
    problems.iter().map(|(outcome, _)| *outcome).fold(of_findings, Outcome::join)
}

/// All requests of a report; a number that any group does not tell is unknown.
#[must_use]
pub fn requests(report: &Report) -> crate::model::report::Requests {
    validity::total(report)
}

/// The fields that the rules ask for and that no group of the report has: a gate against it would not watch them.
#[must_use]
pub fn unwatched(policy: &Policy, report: &Report) -> Vec<String> {
    rules::unwatched(policy, report)
}

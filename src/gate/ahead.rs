//! Before a candidate is measured: what one more run like the blessed ones would show, and how much more measuring shows
//! what it would not.

use crate::model::finding::DecidedBy;
use crate::model::plan::{Measured, Plan, PlanRow, PlanTarget, SCHEMA};
use crate::model::policy::{Policy, RuleTie};
use crate::model::report::Tool;
use crate::model::verdict::BaselineRef;
use crate::model::{Baseline, Direction, Finite, Report, Tier};
use crate::stats::StatsError;
use crate::stats::constants::Rule;
use crate::stats::evidence::{
    Class, Field, JobRow, Target, Workload, needed, pairs_needed, resolution_ahead, visible_ahead,
};

use super::case::Case;
use super::channels::{self, Family};
use super::sides::Sides;
use super::{align, comparable, family, tiers, validity};

/// A change this many times the limit is what a gate is expected to see, unless another is asked for.
const BEYOND: f64 = 1.5;

/// What is planned for.
#[derive(Clone, Copy)]
pub struct PlanFor<'a> {
    /// What is blessed.
    pub baseline: &'a Baseline,
    /// What outputs call it.
    pub reference: &'a BaselineRef,
    /// The rules.
    pub policy: &'a Policy,
    /// The worsening that is to be seen; else one and a half times each limit.
    pub see: Option<Finite>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Nothing is blessed.
    #[error("{0} holds no blessed job, so there is no spread to plan with; bless one first")]
    NothingBlessed(String),
    /// The embedded engine has no noise.
    #[error(
        "{0} holds runs of the embedded engine, which repeats its numbers exactly: every change beyond its limit is seen, so there is nothing to plan"
    )]
    Exact(String),
    /// No field with a limit on its change.
    #[error("{0} has no field that a rule on times or rates gates; there is nothing to plan")]
    NothingGated(String),
    /// Two rules contradict each other.
    #[error(transparent)]
    Rules(#[from] Box<RuleTie>),
    /// Nothing falls by all of itself.
    #[error("a rate can't fall by {}, so there is nothing to plan; ask for less than 100%", crate::model::wording::share(*.0))]
    All(Finite),
    /// The numbers can't be planned with.
    #[error("the blessed numbers can't be planned with: {0}")]
    Numbers(#[from] StatsError),
}

/// Plans from the spread of what is blessed.
///
/// # Errors
/// See [`PlanError`].
pub fn plan(ask: &PlanFor) -> Result<Plan, PlanError> {
    let name = || ask.reference.path.clone();
    if let Some(see) = ask.see.filter(|see| *see >= Finite::whole(1)) {
        return Err(PlanError::All(see));
    }
    let last = ask.baseline.reports.last().ok_or_else(|| PlanError::NothingBlessed(name()))?;
    let candidate = like(last);
    let sides = Sides::new(ask.baseline, &candidate);
    let setting = tiers::setting(&sides, ask.policy);
    if setting.tier == Tier::Exact {
        return Err(PlanError::Exact(name()));
    }
    let cases = open_cases(ask, &candidate, &sides)?;
    let family = channels::family(&cases);
    let ground = Ground::new(ask, &cases, &family, &sides).ok_or_else(|| PlanError::NothingGated(name()))?;
    Ok(Plan {
        schema: SCHEMA,
        tool: Tool::pacegate(),
        profile: ask.baseline.profile.clone(),
        baseline: name(),
        tier: setting.tier,
        limits_decide: setting.decides == DecidedBy::Limits || setting.decides_summaries == DecidedBy::Limits,
        measured: measured(&sides),
        run_noise: ask.policy.run_noise,
        rows: ground.rows()?,
    })
}

/// One more job like the last.
fn like(last: &Report) -> Report {
    let mut report = last.clone();
    report.jobs.truncate(1);
    report.jobs.iter_mut().flat_map(|job| &mut job.rounds).for_each(|round| round.against.clear());
    report
}

fn open_cases(ask: &PlanFor, candidate: &Report, sides: &Sides) -> Result<Vec<Case>, PlanError> {
    let smallest = super::rules::smallest_relative(ask.policy);
    let validity = validity::check(candidate, &sides.candidate, smallest);
    let comparability = comparable::compare(ask.baseline, candidate, &[]);
    let mut cases = align::cases(sides, ask.policy, &comparability, &validity, &[])?;
    family::settle(&mut cases, &tiers::setting(sides, ask.policy));
    Ok(cases)
}

fn measured(sides: &Sides) -> Measured {
    let side = &sides.blessed;
    let rounds = || side.jobs.iter().flat_map(|job| &job.rounds);
    let groups = || rounds().flat_map(|round| round.values());
    let requests = groups().filter_map(|measured| measured.group.requests.sent).min();
    let walls: Option<Vec<f64>> = groups().map(|measured| measured.group.wall_ms.map(Finite::get)).collect();
    let round_ms = walls.map(|walls| walls.iter().sum::<f64>() / rounds().count().max(1) as f64);
    Measured {
        jobs: side.jobs.len(),
        rounds: side.fewest_rounds(),
        groups: side.groups().len(),
        requests,
        round_ms: round_ms.and_then(|ms| Finite::new(ms).ok()),
    }
}

/// What the formulas of the statistics are asked with.
struct Ground<'a> {
    rule: Rule,
    see: Option<Finite>,
    cases: &'a [Case],
    family: &'a Family,
    jobs: Vec<JobRow>,
    /// Sampling variance of one round, per field.
    round: Vec<f64>,
    workload: Workload,
}

impl<'a> Ground<'a> {
    /// `None` where nothing is gated.
    fn new(ask: &PlanFor, cases: &'a [Case], family: &'a Family, sides: &Sides) -> Option<Ground<'a>> {
        if !family.fields.iter().any(|field| field.gated) {
            return None;
        }
        let (jobs, _) = channels::rows(cases, family)?;
        let mean_round = |&place: &usize| {
            let variances: Vec<f64> = cases[place].blessed.readings().map(|r| r.variance).collect();
            variances.iter().sum::<f64>() / variances.len().max(1) as f64
        };
        let fewest = family.places.iter().filter_map(|&place| cases[place].blessed.fewest()).min();
        let requests = fewest.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
        let requests = requests.unwrap_or(crate::stats::constants::SUMMARY_REQUESTS);
        Some(Ground {
            rule: tiers::rule(ask.policy),
            see: ask.see,
            cases,
            family,
            jobs,
            round: family.places.iter().map(mean_round).collect(),
            workload: Workload { requests, rounds: sides.blessed.fewest_rounds() },
        })
    }

    fn rows(&self) -> Result<Vec<PlanRow>, StatsError> {
        let all: Vec<usize> =
            (0..self.family.fields.len()).filter(|&f| self.family.fields[f].gated).collect();
        let mut rows = vec![self.row(PlanTarget::Everything, Target::Run, &all)?];
        let mut classes: Vec<Class> = all.iter().map(|&f| self.family.fields[f].class).collect();
        classes.sort();
        classes.dedup();
        for class in classes {
            let members: Vec<usize> =
                all.iter().copied().filter(|&f| self.family.fields[f].class == class).collect();
            rows.push(self.row(self.metric_of(&members), Target::Class(class), &members)?);
        }
        let mut names: Vec<String> = all.iter().map(|&f| self.id(f).local()).collect();
        names.sort_by_key(|name| all.iter().position(|&f| self.id(f).local() == *name));
        names.dedup();
        let now = resolution_ahead(&self.rule, &self.family.fields, &self.jobs, self.workload.rounds)?;
        for name in names {
            let own = all.iter().copied().filter(|&f| self.id(f).local() == name);
            let noisiest = own.max_by(|&a, &b| {
                let found = |f: usize| now.fields[f].unwrap_or(f64::INFINITY);
                found(a).total_cmp(&found(b))
            });
            if let Some(f) = noisiest {
                let target = PlanTarget::Field { name: self.id(f).to_string(), rate: self.rate(f) };
                rows.push(self.row(target, Target::Field(f), &[f])?);
            }
        }
        Ok(rows)
    }

    fn id(&self, f: usize) -> &crate::model::FieldId {
        &self.cases[self.family.places[f]].id
    }

    fn rate(&self, f: usize) -> bool {
        self.id(f).metric.direction() == Direction::HigherIsBetter
    }

    /// The metric's name, or its class's where several metrics share one.
    fn metric_of(&self, members: &[usize]) -> PlanTarget {
        let first = members.first().map(|&f| &self.id(f).metric);
        let same = members.iter().all(|&f| Some(&self.id(f).metric) == first);
        let class = first.and_then(|metric| metric.class()).map_or("", |class| class.name());
        let name = first.filter(|_| same).map_or(class, |metric| metric.id()).to_owned();
        PlanTarget::Metric { name, rate: members.first().is_some_and(|&f| self.rate(f)) }
    }

    fn row(&self, target: PlanTarget, of: Target, members: &[usize]) -> Result<PlanRow, StatsError> {
        let rate =
            matches!(target, PlanTarget::Metric { rate: true, .. } | PlanTarget::Field { rate: true, .. });
        // A rate that falls by d is worse by the ratio 1 / (1 - d).
        let as_shown = |share: f64| if rate { share / (1.0 + share) } else { share };
        let wanted = self.see.map_or_else(|| BEYOND * as_shown(self.middle_limit(members)), Finite::get);
        let share = if rate { wanted / (1.0 - wanted) } else { wanted };
        // With 90 % power nothing at its own limit can be seen: half of the time it measures below it.
        let below = (share / 2.0).ln_1p();
        let lowered = |field: &Field| Field { log_limit: field.log_limit.min(below), ..*field };
        let lower = self.see.is_some();
        let fields: Vec<Field> = match lower {
            true => self.family.fields.iter().map(lowered).collect(),
            false => self.family.fields.clone(),
        };
        let needed = needed(&self.rule, &fields, &self.jobs, self.workload, of, share)?;
        let pairs = pairs_needed(&self.rule, &fields, &self.round, of, share)?;
        let visible = visible_ahead(&self.rule, &self.family.fields, &self.jobs, self.workload.rounds, of)?;
        let number = |n: Option<usize>| n.and_then(|n| u64::try_from(n).ok());
        Ok(PlanRow {
            target,
            wanted: Finite::new(wanted).unwrap_or(Finite::ZERO),
            visible: visible.and_then(|share| Finite::new(as_shown(share)).ok()),
            requests: number(needed.requests),
            rounds: number(needed.rounds),
            jobs: number(needed.jobs),
            pairs: number(pairs),
            allowed: lower && members.iter().any(|&f| self.family.fields[f].log_limit > share.ln_1p()),
        })
    }

    /// The median limit of some fields as a share towards worse, floors looked at.
    fn middle_limit(&self, members: &[usize]) -> f64 {
        let mut limits: Vec<f64> = members.iter().map(|&f| self.limit(f)).collect();
        limits.sort_by(f64::total_cmp);
        limits.get(limits.len() / 2).copied().unwrap_or(0.1)
    }

    fn limit(&self, f: usize) -> f64 {
        let case = &self.cases[self.family.places[f]];
        let floor = case.tolerance.as_ref().and_then(|tolerance| tolerance.min_change);
        let floor = floor.zip(case.old).map_or(0.0, |(floor, old)| floor.get() / old.get());
        self.family.fields[f].log_limit.exp_m1().max(floor)
    }
}

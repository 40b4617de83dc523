//! Times longer and rates lower: what one and a half times the limit does, and how much it takes where that is noise.

use crate::exit::Exit;
use crate::model::self_test::{Found, Planted, Trial};
use crate::model::{Direction, Finding, Finite, GroupId, Metric, Outcome, Report, Verdict};

use super::bench::{Bench, Ended, trial};
use super::{SelfTestError, plant};

/// What is planted against a limit of 1.
const OVER: f64 = 1.5;
/// A limit beyond this is none: everybody would have noticed before the gate does.
const MOST: f64 = 64.0;
/// How exactly the smallest caught change is looked for.
const STEPS: u32 = 12;

/// Everything, every metric everywhere, and every metric in one group alone; then each metric at the size that the gate
/// says it can see, and the same towards better.
pub(super) fn trials(bench: &Bench) -> Result<Vec<Trial>, SelfTestError> {
    let metrics = bench.metrics();
    let mut trials = Vec::new();
    if metrics.len() > 1 {
        trials.push(everything(bench, &metrics)?);
    }
    for metric in &metrics {
        let groups = bench.groups(metric);
        let wide = Fault { metric, group: None };
        let in_all = sized(bench, &wide)?;
        let alone = match (groups.len() > 1).then(|| sharpest(bench, metric, &groups)).flatten() {
            Some(group) => Some(sized(bench, &Fault { metric, group: Some(group) })?),
            None => None,
        };
        let claim = claimed(bench, metric, &in_all, alone.as_ref());
        trials.push(in_all);
        trials.extend(alone);
        trials.extend(claim);
        trials.push(better(bench, &wide)?);
    }
    trials.extend(out_of_reach(bench));
    Ok(trials)
}

/// Fields with a limit that nothing crosses, though another field of their metric may be caught.
fn out_of_reach(bench: &Bench) -> Vec<Trial> {
    let wide = bench.gated().filter(|finding| limit(finding).is_some_and(|limit| limit >= MOST));
    let trial = |finding: &Finding| Trial {
        fault: format!("{} alone, up to its limit", finding.field),
        expected: Exit::Regression.code(),
        found: Found::Missed { exit: Exit::Pass.code(), planted: Finite::new(MOST).ok(), why: None },
    };
    wide.map(trial).collect()
}

struct Fault<'a> {
    metric: &'a Metric,
    /// One group alone; `None`: everywhere.
    group: Option<&'a GroupId>,
}

impl Fault<'_> {
    fn hits(&self, group: &GroupId, metric: &Metric) -> bool {
        metric == self.metric && self.group.is_none_or(|own| own == group)
    }

    fn words(&self, share: f64) -> String {
        let place = self.group.map_or_else(|| "everywhere".to_owned(), |group| format!("in {group} alone"));
        format!("{} {} {place}", self.metric, signed(self.metric, share))
    }
}

/// `+15 %` of a time, `−13 %` of a rate, for a share towards worse on the ratio scale.
fn signed(metric: &Metric, worse: f64) -> String {
    let sign = if metric.direction() == Direction::HigherIsBetter { "\u{2212}" } else { "+" };
    format!("{sign}{}", percent(shown(metric, worse)))
}

/// A worsening as the user sees it: half the throughput is 50 % less.
fn shown(metric: &Metric, worse: f64) -> f64 {
    metric.direction().as_change(finite(worse)).get()
}

fn finite(share: f64) -> Finite {
    Finite::new(share).unwrap_or(Finite::ZERO)
}

fn everything(bench: &Bench, metrics: &[Metric]) -> Result<Trial, SelfTestError> {
    let limits: Vec<f64> = metrics.iter().filter_map(|metric| over_limit(bench, metric, None)).collect();
    let start = limits.iter().copied().fold(OVER * 0.1, f64::max);
    let plant =
        |share: f64| plant::worse(&bench.candidate, |_, metric| ratio(metric.class().is_some(), share));
    let fault = format!("everything {} slower", percent(start));
    search(bench, fault, start, |share| share, &plant)
}

fn percent(share: f64) -> String {
    crate::model::wording::share(finite(share))
}

fn ratio(hit: bool, share: f64) -> f64 {
    if hit { 1.0 + share } else { 1.0 }
}

fn sized(bench: &Bench, fault: &Fault) -> Result<Trial, SelfTestError> {
    let start = over_limit(bench, fault.metric, fault.group).unwrap_or(OVER * 0.1);
    let plant = |share: f64| planted(bench, fault, share);
    search(bench, fault.words(start), start, |share| shown(fault.metric, share), &plant)
}

fn planted(bench: &Bench, fault: &Fault, share: f64) -> Report {
    plant::worse(&bench.candidate, |group, metric| ratio(fault.hits(group, metric), share))
}

/// Plants the start; where that is not caught, looks for the smallest change that is.
fn search(
    bench: &Bench,
    fault: String,
    start: f64,
    shown: impl Fn(f64) -> f64,
    plant: &dyn Fn(f64) -> Report,
) -> Result<Trial, SelfTestError> {
    let size = |share: f64| finite(shown(share));
    let first = bench.judge(&plant(start))?;
    if caught(&first) {
        return Ok(trial(fault, Exit::Regression, Exit::Regression.into()));
    }
    let (mut low, mut high) = (start, start);
    while high < MOST && !caught(&bench.judge(&plant(high))?) {
        (low, high) = (high, high * 2.0);
    }
    if high >= MOST {
        let Ended { exit, why } = Ended::from(&first);
        let found = Found::Missed { exit: exit.code(), planted: Some(size(high)), why };
        return Ok(Trial { fault, expected: Exit::Regression.code(), found });
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if caught(&bench.judge(&plant(middle))?) { high = middle } else { low = middle }
    }
    let found = Found::CaughtFrom(Planted { missed: size(start), caught: size(high) });
    Ok(Trial { fault, expected: Exit::Regression.code(), found })
}

fn caught(verdict: &Verdict) -> bool {
    verdict.outcome == Outcome::Regression
}

/// The group in which the gate says it can see the smallest change of a metric.
fn sharpest<'a>(bench: &Bench, metric: &Metric, groups: &'a [GroupId]) -> Option<&'a GroupId> {
    let sights = bench.clean.resolution.metrics.get(metric);
    groups.iter().min_by_key(|group| {
        let sight = sights.and_then(|sights| sights.get(*group).copied().flatten());
        (sight.is_none(), sight)
    })
}

/// Does the gate see what it says that it sees? It names the sharpest of a metric's channel and its single fields.
fn claimed(bench: &Bench, metric: &Metric, in_all: &Trial, alone: Option<&Trial>) -> Option<Trial> {
    let claim = bench.clean.resolution.metrics.get(metric)?.values().flatten().min()?;
    let from = [Some(in_all), alone].into_iter().flatten().filter_map(|trial| match trial.found {
        Found::Caught => Some(Finite::ZERO),
        Found::CaughtFrom(planted) => Some(planted.caught),
        Found::Missed { .. } => None,
    });
    let smallest = from.min()?;
    // The bisection stops this close above the smallest.
    let slack = 1.0 + 1e-3;
    let found = match smallest.get() <= claim.get() * slack {
        true => Found::Caught,
        false => Found::Missed { exit: Exit::Pass.code(), planted: Some(*claim), why: None },
    };
    let share = percent(claim.get());
    let fault = format!("{metric} worse by the {share} that the gate says it can see");
    Some(Trial { fault, expected: Exit::Regression.code(), found })
}

/// The same size towards better must pass: a gate that has the direction the wrong way round fails here.
fn better(bench: &Bench, fault: &Fault) -> Result<Trial, SelfTestError> {
    let share = over_limit(bench, fault.metric, None).unwrap_or(OVER * 0.1);
    let better =
        plant::worse(&bench.candidate, |group, metric| 1.0 / ratio(fault.hits(group, metric), share));
    let word = fault.metric.def().map_or("better", |def| def.better);
    bench.trial(format!("{} as much {word} everywhere", fault.metric), Exit::Pass, &better)
}

/// One and a half times the limit of a metric as a share towards worse on the ratio scale, where a limit on its change
/// gates it: the tightest of its fields, floors looked at.
fn over_limit(bench: &Bench, metric: &Metric, group: Option<&GroupId>) -> Option<f64> {
    let fields = bench.gated().filter(|finding| finding.field.metric == *metric);
    let own = fields.filter(|finding| group.is_none_or(|group| finding.field.group == *group));
    let over = (own.filter_map(limit).min_by(f64::total_cmp)? * OVER).min(MOST);
    Some(if metric.direction() == Direction::HigherIsBetter { over / (1.0 - over.min(0.9)) } else { over })
}

/// As a share of the blessed value.
fn limit(finding: &Finding) -> Option<f64> {
    let (tolerance, old) = (finding.tolerance.as_ref()?, finding.old?);
    let floor = tolerance.min_change.map_or(0.0, |floor| floor.get() / old.get());
    let limit = tolerance.share_of(old)?.get().max(floor);
    (old > Finite::ZERO && limit.is_finite() && limit > 0.0).then_some(limit)
}

//! speedup_vs_baseline: recomputed from both legs, never trusted from a file.

use crate::model::finding::DecidedBy;
use crate::model::policy::{Policy, RuleTie, Tolerance};
use crate::model::verdict::Tier;
use crate::model::{
    Change, Dimensions, FieldId, Finite, GroupId, Judgement, Metric, Quantity, Reason, Report, Statistic,
    Unit,
};
use crate::stats::constants::SpeedupRule;
use crate::stats::sampling::{JobValue, round_inflation};
use crate::stats::speedup::{
    Legs, SpeedupOutcome, SpeedupPair, SpeedupWord, judge_exact_speedup, judge_speedup_by_limit,
    judge_speedups,
};

use super::case::{Case, log_limit};
use super::comparable::Comparability;
use super::reading::{self, Gap, How, Series};
use super::sides::{SideView, Sides};
use super::tiers::Setting;
use super::validity::Validity;

/// Percentiles of e2e that are divided.
const STATISTICS: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];
/// A limit that no change reaches.
const NO_LIMIT: f64 = 50.0;

/// The legs of one side: the reference strategy and this one.
struct Pair {
    reference: Series,
    own: Series,
}

/// One speed-up still to be judged.
struct Open {
    at: usize,
    logs: [Vec<f64>; 2],
    variances: [Vec<f64>; 2],
    /// `None`: no loss can reach one, so the direction alone is judged.
    limit: Option<f64>,
    summary: bool,
}

impl Open {
    fn log_limit(&self) -> f64 {
        self.limit.unwrap_or(NO_LIMIT)
    }
}

/// One case a strategy, group and percentile.
pub(super) fn judge(
    sides: &Sides,
    policy: &Policy,
    setting: &Setting,
    comparability: &Comparability,
    validity: &Validity,
    reference: Option<&str>,
) -> Result<Vec<Case>, Box<RuleTie>> {
    let (mut cases, mut open) = (Vec::new(), Vec::new());
    let Some(reference) = reference else { return Ok(cases) };
    for dims in strategies(sides, reference) {
        for statistic in STATISTICS {
            let Some(mut case) = case(sides, policy, setting, &dims, reference, statistic)? else { continue };
            let (id, leg) = (dims.id(), dims.with_strategy(reference).id());
            let bad = [&id, &leg].into_iter().find_map(|group| validity.invalid.get(group));
            let refused = comparability.run.first().or_else(|| {
                [&id, &leg]
                    .into_iter()
                    .find_map(|group| comparability.groups.get(group).and_then(|r| r.first()))
            });
            if let Some(reason) = bad {
                case.settle(Judgement::Invalid, reason.clone());
            } else if case.judgement.is_none()
                && let Some(reason) = refused
            {
                case.settle(Judgement::NotComparable, reason.clone());
            }
            if case.judgement.is_none() {
                match opened(sides, setting, &case, cases.len(), &dims, reference) {
                    Some(item) => open.push(item),
                    None => case.settle(Judgement::Invalid, not_computable(&case.id)),
                }
            }
            cases.push(case);
        }
    }
    decide(&mut cases, &open, setting, reference, sides);
    for case in &mut cases {
        if let Some(tolerance) = case.tolerance.clone() {
            super::absolute::check(case, &tolerance);
        }
    }
    Ok(cases)
}

/// The strategy that speed-ups divide by, as either side names it.
pub(super) fn reference<'a>(baseline: &'a crate::model::Baseline, candidate: &'a Report) -> Option<&'a str> {
    let of_blessed = baseline.reports.iter().rev().find_map(|report| report.profile.reference.as_deref());
    of_blessed.or(candidate.profile.reference.as_deref())
}

/// Every group that is not the reference strategy's.
fn strategies(sides: &Sides, reference: &str) -> Vec<Dimensions> {
    let all = [&sides.blessed, &sides.candidate];
    let mut dims: Vec<Dimensions> = all
        .iter()
        .flat_map(|side| side.groups().into_iter().filter_map(|id| side.of_group(id).next()))
        .map(|measured| measured.group.dimensions.clone())
        .filter(|dims| dims.strategy.as_deref().is_some_and(|strategy| strategy != reference))
        .collect();
    dims.sort();
    dims.dedup();
    dims
}

fn case(
    sides: &Sides,
    policy: &Policy,
    setting: &Setting,
    dims: &Dimensions,
    reference: &str,
    statistic: Statistic,
) -> Result<Option<Case>, Box<RuleTie>> {
    let id = FieldId::new(dims.id(), Metric::SPEEDUP, statistic);
    let tolerance = tolerance(policy, setting, sides, &id)?;
    let pairs = [&sides.blessed, &sides.candidate].map(|side| legs(sides, side, dims, reference, statistic));
    let [old, new] = pairs.each_ref().map(|pair| pair.as_ref().and_then(ratio));
    let broken = pairs.iter().flatten().any(|pair| ratio(pair).is_none());
    if old.is_none() && new.is_none() && !(broken && tolerance.is_some()) {
        return Ok(None);
    }
    let mut case = Case::computed(id.clone(), tolerance, old, new);
    let judged = [pairs[1].as_ref(), pairs[0].as_ref().filter(|_| sides.duet)];
    let lost = judged.into_iter().flatten().find_map(|pair| lost(pair, dims, reference, statistic));
    [case.blessed, case.candidate] = pairs.map(|pair| pair.map(|pair| pair.own).unwrap_or_default());
    match (old, new) {
        _ if case.tolerance.is_none() => case.judgement = Some(Judgement::NotGated),
        _ if let Some(reason) = lost => case.settle(Judgement::Invalid, reason),
        _ if broken => case.settle(Judgement::Invalid, not_computable(&id)),
        (None, _) => case.settle(Judgement::New, Reason::New { field: id }),
        (Some(value), None) => {
            let old = Quantity { value, unit: Unit::Ratio };
            let hint = Some(missing_leg(sides, dims, reference));
            case.settle(Judgement::Missing, Reason::Missing { field: id, old, hint });
        }
        (Some(_), Some(_)) => {}
    }
    Ok(Some(case))
}

/// P99 is judged by its own rule where samples allow, and under limits also where the report itself divides it.
fn tolerance(
    policy: &Policy,
    setting: &Setting,
    sides: &Sides,
    id: &FieldId,
) -> Result<Option<Tolerance>, Box<RuleTie>> {
    let own = policy.tolerance(id)?;
    if id.statistic != Statistic::P99 || own.is_some() || setting.decides_summaries != DecidedBy::Limits {
        return Ok(own);
    }
    let divides = |m: &super::sides::Measured| m.group.speedup_reported.as_ref().map(|r| r.statistic);
    let all = || sides.blessed.of_group(&id.group).chain(sides.candidate.of_group(&id.group));
    let by_report = all().any(|m| divides(m) == Some(Statistic::P99));
    if !by_report {
        return Ok(None);
    }
    policy.tolerance(&FieldId::new(id.group.clone(), Metric::SPEEDUP, Statistic::P95))
}

fn missing_leg(sides: &Sides, dims: &Dimensions, reference: &str) -> String {
    let own = sides.candidate.groups().contains(&dims.id());
    match own {
        true => format!(
            "the reference strategy {reference} was not measured here, so there is nothing to divide by"
        ),
        false => "this strategy was not measured here".to_owned(),
    }
}

fn e2e(group: GroupId, statistic: Statistic) -> FieldId {
    FieldId::new(group, Metric::E2E, statistic)
}

fn legs(
    sides: &Sides,
    side: &SideView,
    dims: &Dimensions,
    reference: &str,
    statistic: Statistic,
) -> Option<Pair> {
    let leg = |group: GroupId| -> Option<Series> {
        let field = e2e(group, statistic);
        let how = reading::how(sides, &field).unwrap_or_else(|mixed| How::By(mixed.candidate));
        Some(reading::series(side, &field, how)).filter(|series| !series.jobs.is_empty())
    };
    let (reference, own) = leg(dims.with_strategy(reference).id())?.shared(leg(dims.id())?);
    (!own.jobs.is_empty()).then_some(Pair { reference, own })
}

/// Reference strategy ÷ this strategy; nothing where a leg is 0 in any round.
fn ratio(pair: &Pair) -> Option<Finite> {
    let usable = [&pair.reference, &pair.own].iter().all(|leg| leg.smallest() > Some(Finite::ZERO));
    let (reference, own) = (pair.reference.point()?, pair.own.point()?);
    usable.then(|| Finite::new(reference.get() / own.get()).ok()).flatten()
}

/// A round without one of the legs.
fn lost(pair: &Pair, dims: &Dimensions, reference: &str, statistic: Statistic) -> Option<Reason> {
    let legs = [(&pair.reference, dims.with_strategy(reference)), (&pair.own, dims.clone())];
    legs.into_iter().find_map(|(series, dims)| {
        let Gap { job, round } = series.gap?;
        Some(Reason::FieldLostInRound { field: e2e(dims.id(), statistic), job, round })
    })
}

fn not_computable(id: &FieldId) -> Reason {
    let why = format!(
        "a time that is not above 0 stands in a round of {} of e2e, and nothing takes no time",
        id.statistic
    );
    Reason::SpeedupNotRecomputable { group: id.group.clone(), reported: None, why }
}

fn opened(
    sides: &Sides,
    setting: &Setting,
    case: &Case,
    at: usize,
    dims: &Dimensions,
    reference: &str,
) -> Option<Open> {
    let statistic = case.id.statistic;
    let tolerance = case.tolerance.as_ref()?;
    let direction = case.id.metric.direction();
    let old = case.old?;
    let limit = tolerance.allowance.and_then(|allowance| log_limit(allowance, old, direction));
    let mut open =
        Open { at, logs: Default::default(), variances: Default::default(), limit, summary: false };
    for (which, side) in [&sides.blessed, &sides.candidate].into_iter().enumerate() {
        let pair = legs(sides, side, dims, reference, statistic)?;
        let (reference, own) = (pair.reference.job_values(1.0)?, pair.own.job_values(1.0)?);
        let inflation = round_inflation(reference.iter().chain(&own));
        for (a, b) in reference.iter().zip(&own) {
            open.logs[which].push(a.x - b.x);
            open.variances[which].push(variance(a, inflation) + variance(b, inflation));
        }
        open.summary |= pair.reference.summary() || pair.own.summary();
    }
    open.summary &= setting.tier == Tier::Single;
    Some(open)
}

fn variance(value: &JobValue, inflation: f64) -> f64 {
    value.variance(inflation)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Judges each speed-up, and the mirrored one for what got better.
fn decide(cases: &mut [Case], open: &[Open], setting: &Setting, reference: &str, sides: &Sides) {
    let by_evidence = |item: &&Open| setting.decides(item.summary) == DecidedBy::Evidence;
    let evidence: Vec<&Open> = open.iter().filter(by_evidence).collect();
    // Numbers that no evidence can be computed of leave the limit, never a pass.
    let judged = judged(&evidence, false).zip(judged(&evidence, true));
    let by_limit = |item: &&Open| !by_evidence(item) || judged.is_none();
    for item in open.iter().filter(by_limit) {
        let exact = setting.decides(item.summary) == DecidedBy::Exact;
        let by = if exact { DecidedBy::Exact } else { DecidedBy::Limits };
        let (old, new) = (mean(&item.logs[0]), mean(&item.logs[1]));
        // Without a limit there is nothing that could be exceeded beside the direction.
        let by_direction = exact || item.limit.is_none();
        let judge = if by_direction { judge_exact_speedup } else { judge_speedup_by_limit };
        let limit = item.log_limit();
        let improved = judge(new, old, limit).is_ok_and(|m| m.over_limit);
        // What can't be computed at all stays open, which is never a pass.
        if let Ok(outcome) = judge(old, new, limit) {
            apply(&mut cases[item.at], outcome, improved, by, reference, sides);
        }
    }
    for (item, (outcome, mirror)) in
        evidence.iter().zip(judged.into_iter().flat_map(|(a, b)| a.into_iter().zip(b)))
    {
        let improved = mirror.word == SpeedupWord::Regressed;
        apply(&mut cases[item.at], outcome, improved, DecidedBy::Evidence, reference, sides);
    }
}

/// All speed-ups by evidence, or with both sides exchanged.
fn judged(evidence: &[&Open], swap: bool) -> Option<Vec<SpeedupOutcome>> {
    let (first, second) = if swap { (1, 0) } else { (0, 1) };
    let pairs: Vec<SpeedupPair> = evidence
        .iter()
        .map(|item| SpeedupPair {
            baseline: Legs { logs: &item.logs[first], variances: &item.variances[first] },
            candidate: Legs { logs: &item.logs[second], variances: &item.variances[second] },
            log_limit: item.log_limit(),
            summary_of_one_job: item.summary,
        })
        .collect();
    judge_speedups(&SpeedupRule::STANDARD, &pairs).ok()
}

fn apply(
    case: &mut Case,
    outcome: SpeedupOutcome,
    improved: bool,
    by: DecidedBy,
    reference: &str,
    sides: &Sides,
) {
    case.decided_by = Some(by);
    let (Some(old), Some(new), Some(tolerance)) = (case.old, case.new, case.tolerance.clone()) else {
        return;
    };
    let group = case.id.group.clone();
    let (statistic, reference) = (case.id.statistic, reference.to_owned());
    let change = Change { old, new, unit: Unit::Ratio, direction: case.id.metric.direction() };
    let word = match (outcome.word, outcome.over_limit) {
        (SpeedupWord::Reversed, true) if !tolerance.fail_if_reversed => SpeedupWord::Regressed,
        (SpeedupWord::Reversed, false) if !tolerance.fail_if_reversed => SpeedupWord::Unchanged,
        (word, _) => word,
    };
    match word {
        SpeedupWord::Reversed => {
            let legs = points(sides, &case.id, &reference).unwrap_or((Finite::ZERO, Finite::ZERO));
            case.settle(
                Judgement::Regressed,
                Reason::SpeedupReversed { group, reference, statistic, old, new, legs },
            );
        }
        SpeedupWord::Regressed => {
            case.settle(
                Judgement::Regressed,
                Reason::SpeedupFell { group, reference, statistic, change, tolerance },
            );
        }
        SpeedupWord::Unresolved => {
            let finite = |v: f64| Finite::new(v).ok();
            let (low, high) = outcome.candidate.interval;
            let interval = finite(low).zip(finite(high));
            case.settle(
                Judgement::Unresolved,
                Reason::SpeedupUnclear { group, reference, statistic, old, new, interval },
            );
        }
        SpeedupWord::Unchanged if improved => {
            case.settle(Judgement::Improved, Reason::Better { field: case.id.clone(), change });
        }
        SpeedupWord::Unchanged => case.judgement = Some(Judgement::Unchanged),
    }
}

/// What both legs take on the candidate's side: the reference strategy and this one.
fn points(sides: &Sides, id: &FieldId, reference: &str) -> Option<(Finite, Finite)> {
    let dims = sides.candidate.of_group(&id.group).next()?.group.dimensions.clone();
    let pair = legs(sides, &sides.candidate, &dims, reference, id.statistic)?;
    Some((pair.reference.point()?, pair.own.point()?))
}

//! Did fewer requests succeed? Counts over jobs, per group and, where evidence decides, all groups together.

use std::collections::BTreeSet;

use crate::model::finding::DecidedBy;
use crate::model::policy::{Allowance, Policy, RuleTie, Tolerance};
use crate::model::reason::Side;
use crate::model::{Change, FieldId, Finite, GroupId, Judgement, Metric, Quantity, Reason, Statistic, Unit};
use crate::stats::constants::{SUCCESS_MARGIN, SuccessRule};
use crate::stats::proportion::Counts;
use crate::stats::success::{
    RateCause, RateGroup, RateLimit, RateTest, RateVerdict, judge_success, rate_over_limit,
};

use super::case::Case;
use super::comparable::Comparability;
use super::sides::{SideView, Sides};
use super::tiers::Setting;
use super::validity::{Validity, group_total};

/// The name under which all groups together are judged.
const TOGETHER: &str = "all groups";

/// Counts per job on both sides, where both are known.
struct Counted {
    at: usize,
    blessed: Vec<Counts>,
    candidate: Vec<Counts>,
}

/// One case a group that has a success rate on some side.
pub(super) fn judge(
    sides: &Sides,
    policy: &Policy,
    setting: &Setting,
    comparability: &Comparability,
    validity: &Validity,
) -> Result<Vec<Case>, Box<RuleTie>> {
    let groups: BTreeSet<&GroupId> =
        sides.blessed.groups().into_iter().chain(sides.candidate.groups()).collect();
    let (mut cases, mut counted) = (Vec::new(), Vec::new());
    for group in groups {
        let Some(mut case) = open(sides, policy, group)? else { continue };
        let refused = comparability.run.first().or(comparability.groups.get(group).and_then(|r| r.first()));
        settle(&mut case, refused, validity);
        if case.judgement.is_none() {
            match (counts(&sides.blessed, group), counts(&sides.candidate, group)) {
                (Some(blessed), Some(candidate)) => {
                    counted.push(Counted { at: cases.len(), blessed, candidate });
                }
                _ => by_rate(&mut case),
            }
        }
        cases.push(case);
    }
    let together = match setting.decides {
        DecidedBy::Evidence => by_evidence(&mut cases, &counted, sides, policy)?,
        DecidedBy::Limits | DecidedBy::Exact => {
            by_limits(&mut cases, &counted, sides, setting);
            None
        }
    };
    for case in &mut cases {
        if let Some(tolerance) = case.tolerance.clone() {
            super::absolute::check(case, &tolerance);
        }
    }
    cases.extend(together);
    Ok(cases)
}

/// A group's success rate on both sides; `None` where neither side tells.
fn open(sides: &Sides, policy: &Policy, group: &GroupId) -> Result<Option<Case>, Box<RuleTie>> {
    let id = FieldId::new(group.clone(), Metric::SUCCESS_RATE, Statistic::Value);
    let (old, new) = (rate(&sides.blessed, group), rate(&sides.candidate, group));
    if old.is_none() && new.is_none() {
        return Ok(None);
    }
    let tolerance = policy.tolerance(&id)?;
    let mut case = Case::computed(id, tolerance, old, new);
    if case.tolerance.is_none() {
        case.judgement = Some(Judgement::NotGated);
    }
    Ok(Some(case))
}

fn settle(case: &mut Case, refused: Option<&Reason>, validity: &Validity) {
    let field = case.id.clone();
    match (case.old, case.new) {
        _ if case.judgement.is_some() => {}
        _ if let Some(reason) = no_rate(case) => case.settle(Judgement::Invalid, reason),
        (_, Some(new)) if new == Finite::ZERO => {
            let reason = validity.invalid.get(&field.group).cloned();
            let none = Reason::NoSuccess { group: field.group, requests: Default::default() };
            case.settle(Judgement::Regressed, reason.unwrap_or(none));
        }
        (None, _) => case.settle(Judgement::New, Reason::New { field }),
        (Some(value), None) => {
            let old = Quantity { value, unit: Unit::Fraction };
            case.settle(Judgement::Missing, Reason::Missing { field, old, hint: None });
        }
        (Some(_), Some(_)) => {
            if let Some(reason) = refused {
                case.settle(Judgement::NotComparable, reason.clone());
            }
        }
    }
}

/// A stated rate that is none.
fn no_rate(case: &Case) -> Option<Reason> {
    let both = [(case.new, Side::Candidate), (case.old, Side::Blessed)];
    both.into_iter().find_map(|(value, side)| {
        let value = value.filter(|value| *value < Finite::ZERO || *value > Finite::whole(1))?;
        let value = Quantity { value, unit: Unit::Fraction };
        Some(Reason::BadLatency { field: case.id.clone(), value, side, in_a_round: false })
    })
}

/// Successes / requests; where a report has no counts, the rate that it states.
fn rate(side: &SideView, group: &GroupId) -> Option<Finite> {
    let counted = group_total(side, group).counts().filter(|(_, sent)| *sent > 0);
    if let Some((succeeded, sent)) = counted {
        return Finite::new(succeeded as f64 / sent as f64).ok();
    }
    let stated = |m: &super::sides::Measured| {
        m.group.metrics.get(&Metric::SUCCESS_RATE)?.stats.get(&Statistic::Value).copied()
    };
    let rates: Option<Vec<Finite>> = side.of_group(group).map(stated).collect();
    let rates = rates.filter(|rates| !rates.is_empty())?;
    Finite::new(rates.iter().map(|r| r.get()).sum::<f64>() / rates.len() as f64).ok()
}

fn counts(side: &SideView, group: &GroupId) -> Option<Vec<Counts>> {
    let mut jobs = Vec::new();
    for job in &side.jobs {
        let (mut succeeded, mut sent) = (0, 0);
        for measured in job.rounds.iter().filter_map(|round| round.get(group)) {
            let (k, n) = measured.group.requests.counts()?;
            succeeded += usize::try_from(k).ok()?;
            sent += usize::try_from(n).ok()?;
        }
        if sent > 0 {
            jobs.push(Counts::new(succeeded, sent).ok()?);
        }
    }
    (!jobs.is_empty()).then_some(jobs)
}

fn pooled(jobs: &[Counts]) -> (u64, u64) {
    let sum = |of: fn(Counts) -> usize| jobs.iter().map(|job| of(*job) as u64).sum();
    (sum(Counts::succeeded), sum(Counts::sent))
}

fn max_decrease(tolerance: Option<&Tolerance>) -> Option<f64> {
    match tolerance?.allowance? {
        Allowance::Points(share) | Allowance::Absolute(share) | Allowance::Relative(share) => {
            Some(share.get())
        }
    }
}

fn limit_words(case: &Case) -> String {
    let words = case.tolerance.as_ref().map(|t| t.words(case.id.metric.direction(), Unit::Fraction));
    words.unwrap_or_default()
}

/// A stated rate without counts: the plain limit.
fn by_rate(case: &mut Case) {
    let (Some(old), Some(new), Some(tolerance)) = (case.old, case.new, case.tolerance.clone()) else {
        return;
    };
    case.decided_by = Some(DecidedBy::Limits);
    let over = max_decrease(Some(&tolerance)).is_some_and(|most| old.get() - new.get() > most + 1e-9);
    let change = Change { old, new, unit: Unit::Fraction, direction: case.id.metric.direction() };
    match over {
        true => {
            case.settle(Judgement::Regressed, Reason::OverLimit { field: case.id.clone(), change, tolerance })
        }
        false => case.judgement = Some(Judgement::Unchanged),
    }
}

fn by_limits(cases: &mut [Case], counted: &[Counted], sides: &Sides, setting: &Setting) {
    for item in counted {
        let case = &mut cases[item.at];
        case.decided_by = Some(setting.decides);
        let (old, new) = (Counts::pooled(&item.blessed), Counts::pooled(&item.candidate));
        let most = max_decrease(case.tolerance.as_ref());
        let over = match (old, new, most) {
            (Ok(old), Ok(new), Some(most)) => {
                rate_over_limit(&SuccessRule::STANDARD, old, new, most).unwrap_or(true)
            }
            _ => false,
        };
        if over {
            regress(case, item, sides);
        } else {
            case.judgement = Some(within(case, most));
        }
    }
}

fn within(case: &Case, most: Option<f64>) -> Judgement {
    match (case.old, case.new, most) {
        (Some(old), Some(new), Some(most)) if new.get() - old.get() > most => Judgement::Improved,
        _ => Judgement::Unchanged,
    }
}

fn regress(case: &mut Case, item: &Counted, sides: &Sides) {
    let failed = group_total(&sides.candidate, &case.id.group);
    let reason = Reason::SuccessDropped {
        group: case.id.group.clone(),
        old: pooled(&item.blessed),
        new: pooled(&item.candidate),
        limit: limit_words(case),
        failed,
    };
    case.settle(Judgement::Regressed, reason);
}

fn by_evidence(
    cases: &mut [Case],
    counted: &[Counted],
    sides: &Sides,
    policy: &Policy,
) -> Result<Option<Case>, Box<RuleTie>> {
    if counted.is_empty() {
        return Ok(None);
    }
    let rate_limit = |tolerance: Option<&Tolerance>| RateLimit {
        max_decrease: max_decrease(tolerance).unwrap_or(SUCCESS_MARGIN).min(1.0),
        min: tolerance.and_then(|t| t.min).map(Finite::get),
    };
    let groups: Vec<RateGroup> = counted
        .iter()
        .map(|item| RateGroup {
            baseline: &item.blessed,
            candidate: &item.candidate,
            limit: rate_limit(cases[item.at].tolerance.as_ref()),
        })
        .collect();
    let id = FieldId::new(GroupId(TOGETHER.to_owned()), Metric::SUCCESS_RATE, Statistic::Value);
    let tolerance = policy.tolerance(&id)?;
    let Ok(outcome) = judge_success(&SuccessRule::STANDARD, &groups, rate_limit(tolerance.as_ref())) else {
        by_plain_limits(cases, counted, sides);
        return Ok(None);
    };
    for (item, test) in counted.iter().zip(&outcome.groups) {
        apply(&mut cases[item.at], test, item, sides);
    }
    let Some(test) = outcome.together.filter(|test| test.verdict != RateVerdict::Unchanged) else {
        return Ok(None);
    };
    let sum = |of: fn(&Counted) -> &Vec<Counts>| counted.iter().flat_map(|item| of(item).clone()).collect();
    let item = Counted { at: 0, blessed: sum(|item| &item.blessed), candidate: sum(|item| &item.candidate) };
    let (old, new) = (Finite::new(test.baseline).ok(), Finite::new(test.candidate).ok());
    let mut case = Case::computed(id, tolerance, old, new);
    apply(&mut case, &test, &item, sides);
    Ok(Some(case))
}

/// A statistic that can't be computed leaves the limit, never a pass.
fn by_plain_limits(cases: &mut [Case], counted: &[Counted], sides: &Sides) {
    for item in counted {
        let case = &mut cases[item.at];
        case.decided_by = Some(DecidedBy::Limits);
        let over = case.old.zip(case.new).is_some_and(|(old, new)| {
            old.get() - new.get() > max_decrease(case.tolerance.as_ref()).unwrap_or(SUCCESS_MARGIN)
        });
        if over { regress(case, item, sides) } else { case.judgement = Some(Judgement::Unchanged) }
    }
}

fn apply(case: &mut Case, test: &RateTest, item: &Counted, sides: &Sides) {
    case.decided_by = Some(DecidedBy::Evidence);
    match test.verdict {
        // Below the minimum has a sentence of its own, from the absolute limits.
        RateVerdict::Regressed(RateCause::BelowMinimum) => case.judgement = Some(Judgement::Unchanged),
        RateVerdict::Regressed(_) => regress(case, item, sides),
        RateVerdict::Unresolved => {
            let reason = Reason::SuccessCouldBeNoise {
                group: case.id.group.clone(),
                old: pooled(&item.blessed),
                new: pooled(&item.candidate),
                limit: limit_words(case),
            };
            case.settle(Judgement::Unresolved, reason);
        }
        RateVerdict::Unchanged => case.judgement = Some(within(case, max_decrease(case.tolerance.as_ref()))),
    }
}

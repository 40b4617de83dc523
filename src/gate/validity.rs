//! Is the candidate's report one that may be judged at all? An invalid run has no latency to speak of.

use std::collections::BTreeMap;

use crate::model::reason::Side;
use crate::model::report::{FailureKind, Requests};
use crate::model::requests as counts;
use crate::model::{
    Baseline, Direction, FieldId, Finite, Group, GroupId, Metric, Outcome, Quantity, Reason, Report,
    Statistic, Unit,
};

use super::sides::SideView;

/// What is wrong with the candidate, and how much that weighs.
#[derive(Debug, Default)]
pub(super) struct Validity {
    pub problems: Vec<(Outcome, Reason)>,
    /// Groups whose numbers mean nothing, with the reason.
    pub invalid: BTreeMap<GroupId, Reason>,
}

/// What rounding in a file may put out of order.
const ROUNDING: f64 = 1e-6;

/// Client lag that may always be: below it nobody's time is distorted visibly.
const LAG_ALLOWED_MS: f64 = 5.0;

pub(super) fn check(report: &Report, side: &SideView, smallest_limit: f64) -> Validity {
    let mut validity = Validity::default();
    for job in report.jobs.iter().filter(|job| !job.complete) {
        validity.problems.push((Outcome::NoVerdict, Reason::Incomplete { job: job.id.clone() }));
    }
    let total = total(report);
    if side.groups().is_empty() || total.sent == Some(0) {
        validity.problems.push((Outcome::RunFailed, Reason::NothingSent));
        return validity;
    }
    if total.succeeded == Some(0) {
        let failed: Vec<(FailureKind, u64)> = total.failed.iter().map(|(kind, n)| (*kind, *n)).collect();
        let sent = total.sent.or_else(|| Some(total.failures()).filter(|n| *n > 0));
        validity.problems.push((Outcome::RunFailed, Reason::AllFailed { sent, failed }));
        for id in side.groups() {
            validity.invalid.insert(id.clone(), no_success(side, id));
        }
        return validity;
    }
    for id in side.groups() {
        check_group(side, id, smallest_limit, &mut validity);
        validity.problems.extend(lost(side, id).into_iter().map(|reason| (Outcome::NoVerdict, reason)));
    }
    validity
}

/// A baseline that was edited by hand: bless refuses such runs.
pub(super) fn check_blessed(baseline: &Baseline, side: &SideView) -> Vec<(Outcome, Reason)> {
    let incomplete = baseline.jobs().filter(|(_, job)| !job.complete);
    let incomplete = incomplete.map(|(_, job)| format!("its job {} was interrupted", job.id));
    let dead = side.groups().into_iter().filter(|id| group_total(side, id).succeeded == Some(0));
    let dead = dead.map(|id| format!("no request of its group {id} succeeded"));
    incomplete.chain(dead).map(|why| (Outcome::NoVerdict, Reason::BlessedInvalid { why })).collect()
}

/// A group that some rounds of a job have and others don't.
fn lost(side: &SideView, id: &GroupId) -> Option<Reason> {
    side.jobs.iter().find_map(|job| {
        let any = job.rounds.iter().any(|round| round.contains_key(id));
        let round = job.rounds.iter().position(|round| !round.contains_key(id)).filter(|_| any)?;
        Some(Reason::LostInRound { group: id.clone(), round: round + 1 })
    })
}

fn check_group(side: &SideView, id: &GroupId, smallest_limit: f64, validity: &mut Validity) {
    let requests = group_total(side, id);
    if requests.succeeded == Some(0) {
        let reason = no_success(side, id);
        validity.problems.push((Outcome::Regression, reason.clone()));
        validity.invalid.insert(id.clone(), reason);
        return;
    }
    let mut late = Vec::new();
    for measured in side.of_group(id) {
        for reason in odd_counts(measured.group).into_iter().chain(out_of_order(measured.group)) {
            validity.problems.push((Outcome::NoVerdict, reason.clone()));
            validity.invalid.insert(id.clone(), reason);
        }
        late.extend(bottleneck(measured.group, smallest_limit));
        let said = measured.group.self_check.iter().flat_map(|check| &check.problems);
        let said = said.map(|text| Reason::SourceSays { text: text.clone() });
        for reason in said {
            validity.problems.push((Outcome::RunFailed, reason.clone()));
            validity.invalid.insert(id.clone(), reason);
        }
    }
    // Its rounds would say the same again with other numbers.
    if let Some((_, reason)) = late.into_iter().max_by_key(|(lag, _)| *lag) {
        validity.problems.push((Outcome::RunFailed, reason.clone()));
        validity.invalid.insert(id.clone(), reason);
    }
    let tokens = counts::total(side.of_group(id).map(|m| m.group.tokens.output));
    if tokens == Some(0) && requests.succeeded.is_some_and(|n| n > 0) {
        let reason = Reason::NoTokens { group: id.clone() };
        validity.problems.push((Outcome::RunFailed, reason.clone()));
        validity.invalid.insert(id.clone(), reason);
    }
}

fn no_success(side: &SideView, id: &GroupId) -> Reason {
    Reason::NoSuccess { group: id.clone(), requests: group_total(side, id) }
}

fn odd_counts(group: &Group) -> Option<Reason> {
    let (succeeded, sent) = group.requests.counts()?;
    let failed = group.requests.failures();
    let odd = succeeded > sent || (failed > 0 && succeeded.saturating_add(failed) != sent);
    odd.then(|| Reason::CountsDontAddUp { group: group.id.clone(), sent, succeeded, failed })
}

/// A lower percentile above a higher one: no set of requests can do that.
fn out_of_order(group: &Group) -> Option<Reason> {
    for (metric, measurement) in &group.metrics {
        let percentiles = measurement.stats.iter().filter(|(statistic, _)| statistic.percent().is_some());
        let mut last: Option<(Statistic, Finite)> = None;
        for (statistic, value) in percentiles {
            if let Some((below, high)) = last
                && high.get() > value.get() * (1.0 + ROUNDING) + ROUNDING
            {
                let field = |statistic| FieldId::new(group.id.clone(), metric.clone(), statistic);
                let quantity = |value| Quantity { value, unit: metric.unit() };
                return Some(Reason::OutOfOrder {
                    field: field(below),
                    value: quantity(high),
                    above: field(*statistic),
                    above_value: quantity(*value),
                });
            }
            last = Some((*statistic, *value));
        }
    }
    None
}

/// The client must wake up within max(5 ms, a quarter of the smallest limit at the median TTFT).
fn bottleneck(group: &Group, smallest_limit: f64) -> Option<(Finite, Reason)> {
    let lag = group.self_check.as_ref()?.wakeup_lag_p99_ms?;
    let median =
        group.metrics.get(&Metric::TTFT).and_then(|m| m.stats.get(&Statistic::P50)).map_or(0.0, |v| v.get());
    let limit = Finite::new(LAG_ALLOWED_MS.max(0.25 * smallest_limit * median)).ok()?;
    let ms = |value| Quantity { value, unit: Unit::Millisecond };
    let reason = || Reason::ClientBottleneck {
        group: group.id.clone(),
        lag: ms(lag),
        limit: ms(limit),
        cpu_share: group.self_check.as_ref().and_then(|check| check.cpu_share),
    };
    (lag > limit).then(|| (lag, reason()))
}

/// A value that nothing measured can have: negative, or 0 where a request must take some time.
pub(super) fn bad_value(field: &FieldId, value: Finite, side: Side, in_a_round: bool) -> Option<Reason> {
    let (unit, direction) = (field.metric.unit(), field.metric.direction());
    let field = field.clone();
    if value < Finite::ZERO && direction != Direction::Unknown {
        let value = Quantity { value, unit };
        return Some(Reason::BadLatency { field, value, side, in_a_round });
    }
    let takes_some = field.metric.class().is_some() && field.metric != Metric::ITL;
    let takes_some = takes_some || (unit == Unit::Millisecond && field.metric != Metric::ITL);
    (takes_some && value == Finite::ZERO).then_some(Reason::ZeroValue { field, side, in_a_round })
}

/// All requests of a report; a count that any group lacks is unknown.
pub(super) fn total(report: &Report) -> Requests {
    sum(report
        .jobs
        .iter()
        .flat_map(|job| &job.rounds)
        .flat_map(|round| &round.groups)
        .map(|group| &group.requests))
}

/// All requests of a group on one side.
pub(super) fn group_total(side: &SideView, id: &GroupId) -> Requests {
    sum(side.of_group(id).map(|measured| &measured.group.requests))
}

fn sum<'a>(all: impl Iterator<Item = &'a Requests>) -> Requests {
    let mut total = Requests { sent: Some(0), succeeded: Some(0), ..Requests::default() };
    let mut any = false;
    for requests in all {
        any = true;
        total.sent = counts::total([total.sent, requests.sent]);
        total.succeeded = counts::total([total.succeeded, requests.succeeded]);
        for (kind, n) in &requests.failed {
            let all = total.failed.entry(*kind).or_default();
            *all = all.saturating_add(*n);
        }
        for (kind, text) in &requests.error_samples {
            total.error_samples.entry(*kind).or_insert_with(|| text.clone());
        }
    }
    if any { total } else { Requests::default() }
}

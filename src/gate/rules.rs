//! The gate rules against the fields that are there.

use std::collections::BTreeSet;

use crate::model::field::local;
use crate::model::policy::{Allowance, FieldPattern, Origin, Policy};
use crate::model::{Baseline, Direction, FieldId, Metric, Reason, Report, Statistic};

use super::sides::Sides;

/// The smallest relative limit of any latency: what the client's own lag is held against.
pub(super) fn smallest_relative(policy: &Policy) -> f64 {
    let latency =
        policy.rules.iter().filter(|rule| rule.pattern.metric.direction() == Direction::LowerIsBetter);
    let shares = latency.filter_map(|rule| match rule.allowance {
        Some(Allowance::Relative(share)) => Some(share.get()),
        Some(Allowance::Points(_) | Allowance::Absolute(_)) | None => None,
    });
    shares.fold(0.1, f64::min)
}

/// A rule that someone wrote and that matches no field can never fail.
pub(super) fn unmatched<'a>(
    policy: &Policy,
    fields: impl Iterator<Item = &'a FieldId> + Clone,
) -> Vec<Reason> {
    let written =
        policy.rules.iter().filter(|rule| rule.origin != Origin::Default && rule.gate != Some(false));
    written
        .filter(|rule| !fields.clone().any(|field| rule.pattern.matches(field)))
        .map(|rule| Reason::RuleMatchesNothing {
            pattern: rule.pattern.to_string(),
            origin: rule.origin.clone(),
            nearest: nearest(&rule.pattern, fields.clone()),
        })
        .collect()
}

/// What was meant most likely: the same statistic of another group, else another one of the same metric.
pub(super) fn nearest<'a>(
    pattern: &FieldPattern,
    fields: impl Iterator<Item = &'a FieldId>,
) -> Option<String> {
    let of_metric = fields.filter(|field| field.metric == pattern.metric);
    let group_matches =
        |field: &FieldId| pattern.matches(&FieldId { statistic: pattern.statistic, ..field.clone() });
    let rank = |field: &&FieldId| {
        let same = field.statistic == pattern.statistic;
        (!same, !group_matches(field), slips(pattern.statistic, field.statistic), field.to_string())
    };
    let name = |field: &FieldId| if pattern.group.is_some() { field.to_string() } else { field.local() };
    of_metric.min_by_key(rank).map(name)
}

/// How unlikely it is that one statistic was written for the other: digits in another order, then how far apart.
fn slips(written: Statistic, there: Statistic) -> (bool, u64) {
    let digits = |statistic: Statistic| {
        let mut digits: Vec<char> = statistic.to_string().chars().collect();
        digits.sort_unstable();
        digits
    };
    let apart = match (written.percent(), there.percent()) {
        (Some(written), Some(there)) => ((written - there).abs() * 1000.0) as u64,
        _ => u64::MAX,
    };
    (digits(written) != digits(there), apart)
}

/// The fields that rules ask for and that no group of the report has: `ttft.p95`.
pub(super) fn unwatched(policy: &Policy, report: &Report) -> Vec<String> {
    let nothing = Baseline::nothing();
    let sides = Sides::new(&nothing, report);
    let mut there: BTreeSet<(Metric, Statistic)> = BTreeSet::new();
    for group in sides.candidate.groups() {
        there.extend(sides.candidate.fields(group));
        if super::validity::group_total(&sides.candidate, group).counts().is_some() {
            there.insert((Metric::SUCCESS_RATE, Statistic::Value));
        }
    }
    let asked = policy.rules.iter().filter(|rule| rule.gate != Some(false));
    let absent = asked.filter(|rule| rule.pattern.metric != Metric::SPEEDUP).map(|rule| &rule.pattern);
    let absent = absent.filter(|pattern| !there.contains(&(pattern.metric.clone(), pattern.statistic)));
    let names: BTreeSet<(Metric, Statistic)> =
        absent.map(|pattern| (pattern.metric.clone(), pattern.statistic)).collect();
    names.iter().map(|(metric, statistic)| local(metric, *statistic)).collect()
}

//! The gate rules against the fields that are there.

use std::collections::BTreeSet;

use crate::model::field::local;
use crate::model::policy::{Allowance, Origin, Policy};
use crate::model::{Baseline, Direction, Metric, Reason, Report, Statistic};

use super::case::Case;
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
pub(super) fn unmatched<'a>(policy: &Policy, cases: impl Iterator<Item = &'a Case> + Clone) -> Vec<Reason> {
    let written =
        policy.rules.iter().filter(|rule| rule.origin != Origin::Default && rule.gate != Some(false));
    written
        .filter(|rule| !cases.clone().any(|case| rule.pattern.matches(&case.id)))
        .map(|rule| Reason::RuleMatchesNothing {
            pattern: rule.pattern.to_string(),
            origin: rule.origin.clone(),
            nearest: nearest(&rule.pattern.to_string(), cases.clone()),
        })
        .collect()
}

/// The field whose name shares most with the pattern.
fn nearest<'a>(pattern: &str, cases: impl Iterator<Item = &'a Case>) -> Option<String> {
    let local = pattern.rsplit(':').next().unwrap_or(pattern);
    let metric = local.split('.').next().unwrap_or(local);
    let score = |case: &Case| {
        let same_metric = case.id.metric.id() == metric;
        let same_field = case.id.local() == local;
        usize::from(same_metric) + 2 * usize::from(same_field)
    };
    let best =
        cases.map(|case| (score(case), case.id.to_string())).max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    best.filter(|(score, _)| *score > 0).map(|(_, name)| name)
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

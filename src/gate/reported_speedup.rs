//! The speed-up that a file claims, held against the one that its own numbers give.

use crate::model::report::ReportedSpeedup;
use crate::model::{Finite, Group, Metric, Outcome, Reason, Report, Statistic};

/// What is wrong with the claims of a report. An upside-down one makes the report invalid: people will misread it.
pub(super) fn check(report: &Report) -> Vec<(Option<Outcome>, Reason)> {
    let mut found = Vec::new();
    let strategies: Vec<String> = {
        let all = report.jobs.iter().flat_map(|job| &job.rounds).flat_map(|round| &round.groups);
        let mut names: Vec<String> = all.filter_map(|group| group.dimensions.strategy.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    let Some(reference) = report.profile.reference.as_deref() else {
        if strategies.len() > 1 {
            found.push((None, Reason::NoReference { wanted: None, strategies }));
        }
        return found;
    };
    if !strategies.is_empty() && !strategies.iter().any(|name| name == reference) {
        found.push((None, Reason::NoReference { wanted: Some(reference.to_owned()), strategies }));
        return found;
    }
    for round in report.jobs.iter().flat_map(|job| &job.rounds) {
        for group in &round.groups {
            let Some(claim) = &group.speedup_reported else { continue };
            if group.dimensions.strategy.as_deref() == Some(reference) {
                continue;
            }
            let leg = group.dimensions.with_strategy(reference).id();
            let leg = round.groups.iter().find(|other| other.id == leg);
            found.extend(claim_of(group, leg, claim, reference));
        }
    }
    found
}

fn claim_of(
    group: &Group,
    leg: Option<&Group>,
    claim: &ReportedSpeedup,
    reference: &str,
) -> Option<(Option<Outcome>, Reason)> {
    let id = group.id.clone();
    let reported = claim.value;
    let not_recomputable = |why: String| {
        Some((None, Reason::SpeedupNotRecomputable { group: id.clone(), reported: Some(reported), why }))
    };
    let Some(leg) = leg else {
        return not_recomputable(format!("the reference strategy {reference} has no such group"));
    };
    let Some((top, bottom)) = written(leg, claim.statistic).zip(written(group, claim.statistic)) else {
        return not_recomputable(format!("{} of e2e is not there on both sides", claim.statistic));
    };
    if top <= Finite::ZERO || bottom <= Finite::ZERO {
        return not_recomputable("one of the two times is 0".to_owned());
    }
    let recomputed = Finite::new(top.get() / bottom.get()).ok()?;
    if agrees(reported, recomputed.get(), claim.decimals) {
        return None;
    }
    let (group, reference, statistic) = (id, reference.to_owned(), claim.statistic);
    if agrees(reported, 1.0 / recomputed.get(), claim.decimals) {
        let legs = (top, bottom);
        let swapped = Reason::SpeedupSwapped { group, reference, reported, recomputed, statistic, legs };
        return Some((Some(Outcome::NoVerdict), swapped));
    }
    if reported == Finite::ZERO || reported == Finite::whole(1) {
        let default = Reason::SpeedupDefault { group, reference, reported, recomputed, statistic };
        return Some((Some(Outcome::NoVerdict), default));
    }
    Some((None, Reason::SpeedupContradicted { group, reference, reported, recomputed, statistic }))
}

fn written(group: &Group, statistic: Statistic) -> Option<Finite> {
    group.metrics.get(&Metric::E2E)?.stats.get(&statistic).copied()
}

/// Equal once rounded as the tool rounds; half a digit of slack for the rounding of the times themselves.
fn agrees(reported: Finite, computed: f64, decimals: u32) -> bool {
    let step = 10f64.powi(-i32::try_from(decimals).unwrap_or(2));
    (reported.get() - computed).abs() <= 0.51 * step + 1e-9
}

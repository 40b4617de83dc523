//! Faults planted into a report. Each function gives a changed copy; what it does not name stays as it was measured.

use std::collections::BTreeMap;

use crate::model::report::{FailureKind, ReportedSpeedup};
use crate::model::{Dimensions, Direction, Finite, Group, GroupId, Measurement, Metric, Report, Samples};

/// Every group of every round, changed.
pub(super) fn each_group(report: &Report, mut change: impl FnMut(&mut Group)) -> Report {
    let mut changed = report.clone();
    for round in changed.jobs.iter_mut().flat_map(|job| &mut job.rounds) {
        round.groups.iter_mut().for_each(&mut change);
    }
    changed
}

/// Metrics worse by a ratio: 1.2 makes times 20 % longer and divides rates by 1.2.
pub(super) fn worse(report: &Report, ratio: impl Fn(&GroupId, &Metric) -> f64) -> Report {
    each_group(report, |group| {
        for (metric, measurement) in &mut group.metrics {
            let ratio = ratio(&group.id, metric);
            let factor = if metric.direction() == Direction::HigherIsBetter { 1.0 / ratio } else { ratio };
            scale(measurement, factor);
        }
    })
}

/// Every number of a metric times a factor.
pub(super) fn scale(measurement: &mut Measurement, factor: f64) {
    for value in measurement.stats.values_mut() {
        *value = times(*value, factor);
    }
    if let Some(samples) = &measurement.samples {
        measurement.samples = Some(scaled(samples, factor));
    }
}

fn scaled(samples: &Samples, factor: f64) -> Samples {
    let most = (1u64 << 53) - 1;
    Samples::from_micros(samples.micros().iter().map(|&us| rounded(us as f64 * factor).min(most)).collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
pub(super) fn rounded(micros: f64) -> u64 {
    micros.round().max(0.0) as u64
}

fn times(value: Finite, factor: f64) -> Finite {
    Finite::new(value.get() * factor).unwrap_or(value)
}

/// A metric that is no longer there.
pub(super) fn without(report: &Report, metric: &Metric) -> Report {
    each_group(report, |group| {
        group.metrics.remove(metric);
    })
}

/// A metric of which every number is 0.
pub(super) fn zeroed(report: &Report, metric: &Metric) -> Report {
    each_group(report, |group| {
        if let Some(measurement) = group.metrics.get_mut(metric) {
            scale(measurement, 0.0);
        }
    })
}

/// One group under another name, as after a renamed traffic or strategy.
pub(super) fn renamed(report: &Report, old: &GroupId) -> Report {
    let mut changed = report.clone();
    let mut new = None;
    for group in changed.jobs.iter_mut().flat_map(|job| &mut job.rounds).flat_map(|round| &mut round.groups) {
        if group.id == *old {
            let traffic = group.dimensions.traffic.as_deref().unwrap_or("all");
            let dimensions =
                Dimensions { traffic: Some(format!("{traffic}-renamed")), ..group.dimensions.clone() };
            (group.id, group.dimensions) = (dimensions.id(), dimensions);
            new = Some(group.id.clone());
        }
    }
    if let Some(new) = new {
        let profile = &mut changed.profile;
        rename(&mut profile.workloads, old, &new);
        rename(&mut profile.fingerprints, old, &new);
    }
    changed
}

fn rename<T>(map: &mut BTreeMap<GroupId, T>, old: &GroupId, new: &GroupId) {
    if let Some(value) = map.remove(old) {
        map.insert(new.clone(), value);
    }
}

/// Of every group this share of the requests (in hundredths) failed as server errors; what is measured is of the rest.
pub(super) fn failing(report: &Report, percent: u64) -> Report {
    each_group(report, |group| {
        let Some((succeeded, sent)) = group.requests.counts() else { return };
        let lost = (succeeded * percent).div_ceil(100).min(succeeded);
        let unexplained = sent.saturating_sub(succeeded + group.requests.failures());
        let kept = succeeded - lost;
        group.requests.succeeded = Some(kept);
        for (kind, n) in [(FailureKind::Http5xx, lost), (FailureKind::Unknown, unexplained)] {
            if n > 0 {
                *group.requests.failed.entry(kind).or_default() += n;
            }
        }
        group.metrics.retain(|_, _| kept > 0);
        group.metrics.values_mut().for_each(|measurement| thin(measurement, kept, succeeded));
        if kept == 0 {
            group.tokens.output = group.tokens.output.map(|_| 0);
        }
    })
}

/// Keeps `kept` of `of` samples, evenly over the whole range, so that the percentiles stay about where they were.
fn thin(measurement: &mut Measurement, kept: u64, of: u64) {
    measurement.n = measurement.n.map(|n| n * kept / of.max(1));
    if let Some(samples) = &measurement.samples {
        let stays = |at: u64| (at + 1) * kept / of.max(1) > at * kept / of.max(1);
        let left = (0u64..).zip(samples.micros()).filter(|(at, _)| stays(*at)).map(|(_, us)| *us);
        measurement.samples = Some(Samples::from_micros(left.collect()));
    }
}

/// Another model answered.
pub(super) fn other_model(report: &Report) -> Option<Report> {
    let model = report.subject.model.as_ref()?;
    let mut changed = report.clone();
    changed.subject.model = Some(format!("{model}-other"));
    Some(changed)
}

/// The file claims the inverse of a speed-up.
pub(super) fn claiming(report: &Report, claim: &BTreeMap<GroupId, ReportedSpeedup>) -> Report {
    each_group(report, |group| {
        if let Some(claim) = claim.get(&group.id) {
            group.speedup_reported = Some(claim.clone());
        }
    })
}

/// Rounds without any group: a harness that started and measured nothing.
pub(super) fn empty(report: &Report) -> Report {
    let mut changed = report.clone();
    for round in changed.jobs.iter_mut().flat_map(|job| &mut job.rounds) {
        round.groups.clear();
    }
    changed
}

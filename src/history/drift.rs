//! The newest level against the pinned first bless: many small steps add up.

use std::collections::BTreeMap;

use crate::model::history::Moment;
use crate::model::metric::ChannelClass;
use crate::model::trend::{FieldChange, PinnedDrift};
use crate::model::{Baseline, Change, Direction, FieldId, Finite};
use crate::stats::series::middle;

use super::latency::Latency;
use super::point::Point;

/// A baseline, and the file that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct Pinned<'a> {
    /// The file as given.
    pub file: &'a str,
    /// Its content.
    pub baseline: &'a Baseline,
}

/// `None` where the baseline is of another profile or workload, or has none of the fields.
pub(super) fn drift(latency: &Latency, newest: &Point, pinned: &Pinned) -> Option<PinnedDrift> {
    let (baseline, ledger) = (pinned.baseline, &pinned.baseline.ledger);
    let other_workload = |field: &FieldId| {
        let own = newest.workloads.get(&field.group);
        let blessed =
            baseline.reports.last().and_then(|report| report.profile.fingerprints.get(&field.group));
        own.zip(blessed).is_some_and(|(own, blessed)| own != blessed)
    };
    let other_model = {
        let blessed = baseline.reports.last().and_then(|report| report.subject.model.as_ref());
        newest.model.as_ref().zip(blessed).is_some_and(|(own, blessed)| own != blessed)
    };
    if baseline.profile != newest.profile || other_model {
        return None;
    }
    let mut moved: BTreeMap<ChannelClass, Vec<f64>> = BTreeMap::new();
    let mut most: Option<(f64, FieldChange)> = None;
    for (field, now) in latency.newest_level() {
        let (Some(class), Some(old)) = (field.metric.class(), ledger.pinned.get(&field.to_string())) else {
            continue;
        };
        if old.get() <= 0.0 || other_workload(&field) {
            continue;
        }
        let direction = field.metric.direction();
        let sign = if direction == Direction::HigherIsBetter { -1.0 } else { 1.0 };
        let by = sign * (now.get() / old.get()).ln();
        moved.entry(class).or_default().push(by);
        if most.as_ref().is_none_or(|(worst, _)| by > *worst) {
            let change = Change { old: *old, new: now, unit: field.metric.unit(), direction };
            most = Some((by, FieldChange { field, change }));
        }
    }
    let ratio = |by: Vec<f64>| Finite::new(middle(&by)?.exp()).ok();
    let first = ledger.entries.first();
    (!moved.is_empty()).then(|| PinnedDrift {
        file: pinned.file.to_owned(),
        first: first.map(|entry| Moment { commit: entry.code.commit.clone(), at: entry.at }),
        blesses: ledger.entries.len().saturating_sub(1),
        classes: moved.into_iter().filter_map(|(class, by)| Some((class, ratio(by)?))).collect(),
        most: most.map(|(_, change)| change),
    })
}

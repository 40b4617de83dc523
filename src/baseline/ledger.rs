//! Every bless is kept, so that many small worsenings can't hide a large one.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::baseline::{Baseline, Drift, Ledger};
use crate::model::{Change, Direction, FieldId, Finite, GroupId, Metric, Quantity, Reason};

use super::values::{is_shown, values};

/// Per metric, the median relative change of its shown fields.
pub(super) fn changes(
    old: &BTreeMap<FieldId, Quantity>,
    new: &BTreeMap<FieldId, Quantity>,
    not_comparable: &BTreeSet<GroupId>,
) -> BTreeMap<Metric, Finite> {
    let mut shares: BTreeMap<Metric, Vec<Finite>> = BTreeMap::new();
    for (field, now) in new {
        if !is_shown(field, new) || not_comparable.contains(&field.group) {
            continue;
        }
        let share = old.get(field).and_then(|before| change(field, before.value, now).relative());
        if let Some(share) = share {
            shares.entry(field.metric.clone()).or_default().push(share);
        }
    }
    shares.into_iter().filter_map(|(metric, shares)| Some((metric, median(shares)?))).collect()
}

fn median(mut values: Vec<Finite>) -> Option<Finite> {
    values.sort();
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    let lower = if values.len().is_multiple_of(2) { *values.get(middle.checked_sub(1)?)? } else { upper };
    // Nine decimals are more than anything measured has, and 4 % stays 0.04.
    Finite::new(((lower.get() + upper.get()) / 2.0 * 1e9).round() / 1e9).ok()
}

/// The pinned first values, with those of new fields added.
///
/// A group whose workload changed begins anew: its pinned values were of something else.
pub(super) fn pin(
    old: &BTreeMap<String, Finite>,
    new: &BTreeMap<FieldId, Quantity>,
    restarted: &BTreeSet<GroupId>,
) -> BTreeMap<String, Finite> {
    let mut pinned = old.clone();
    for (field, now) in new {
        if field.metric.direction() == Direction::Unknown {
            continue;
        }
        let key = field.to_string();
        if restarted.contains(&field.group) || !pinned.contains_key(&key) {
            pinned.insert(key, now.value);
        }
    }
    pinned
}

fn change(field: &FieldId, old: Finite, now: &Quantity) -> Change {
    Change { old, new: now.value, unit: now.unit, direction: field.metric.direction() }
}

/// How far every field of a baseline is from its pinned first value, the worst first.
#[must_use]
pub fn drift(baseline: &Baseline) -> Vec<Drift> {
    drift_of(&baseline.ledger, &values(&baseline.reports))
}

/// How far some values are from the pinned first ones, the worst first.
#[must_use]
pub fn drift_of(ledger: &Ledger, now: &BTreeMap<FieldId, Quantity>) -> Vec<Drift> {
    let pinned = |(field, now): (&FieldId, &Quantity)| {
        let old = *ledger.pinned.get(&field.to_string())?;
        let blesses = ledger.entries.len().saturating_sub(1);
        Some(Drift { field: field.clone(), change: change(field, old, now), blesses })
    };
    let mut drifts: Vec<Drift> = now.iter().filter(|(f, _)| is_shown(f, now)).filter_map(pinned).collect();
    drifts.sort_by(|a, b| b.worsening().cmp(&a.worsening()).then_with(|| a.field.cmp(&b.field)));
    drifts
}

/// The drifts towards worse that are beyond `max_drift`.
#[must_use]
pub fn beyond(drifts: &[Drift], max: Finite) -> Vec<Reason> {
    // A limit reached exactly passes, as everywhere.
    let over = drifts.iter().filter(|drift| drift.worsening().get() > max.get() + 1e-9);
    over.map(|drift| Reason::Drift {
        field: drift.field.clone(),
        change: drift.change,
        max,
        blesses: drift.blesses,
    })
    .collect()
}

/// What the ledger of this checkout has over the ledger of the ref that it is merged into.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerStep {
    /// No new entry.
    Same,
    /// New entries; the last reason given in them, if any.
    Blessed(Option<String>),
    /// Entries or pinned values of the ref are missing or altered: not what a bless does.
    Rewritten,
}

/// Compares two ledgers.
#[must_use]
pub fn step(base: &Ledger, own: &Ledger) -> LedgerStep {
    let Some(new) = own.entries.strip_prefix(base.entries.as_slice()) else { return LedgerStep::Rewritten };
    let restarted = |field: &str| {
        let group = field.split(':').next().unwrap_or_default();
        new.iter().flat_map(|entry| &entry.restarted).any(|anew| anew.as_str() == group)
    };
    let kept = |(field, value): (&String, &Finite)| own.pinned.get(field) == Some(value) || restarted(field);
    match new {
        _ if !base.pinned.iter().all(kept) => LedgerStep::Rewritten,
        [] => LedgerStep::Same,
        new => LedgerStep::Blessed(new.iter().rev().find_map(|entry| entry.reason.clone())),
    }
}

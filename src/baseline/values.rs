//! One value a field, as the table of a bless and the ledger show it.

use std::collections::BTreeMap;

use crate::model::point::point;
use crate::model::quantity::Unit;
use crate::model::{
    Dimensions, Direction, FieldId, Finite, Group, GroupId, Metric, Quantity, Report, Samples, Statistic,
};

/// The percentiles that are shown.
const SHOWN: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];

/// The values of one field: per job, per round.
type Series = Vec<Vec<Finite>>;

/// Every field of the jobs of some reports.
///
/// The value is the only one there is, else the geometric mean of jobs of rounds, as the judge takes it. Success rates
/// are pooled counts; speed-ups are recomputed from both strategies.
#[must_use]
pub fn values(reports: &[Report]) -> BTreeMap<FieldId, Quantity> {
    let mut series: BTreeMap<FieldId, (Unit, Series)> = BTreeMap::new();
    let mut counts: BTreeMap<GroupId, (u64, u64)> = BTreeMap::new();
    let mut dimensions: BTreeMap<GroupId, &Dimensions> = BTreeMap::new();
    for job in reports.iter().flat_map(|report| &report.jobs) {
        let mut of_job: BTreeMap<FieldId, (Unit, Vec<Finite>)> = BTreeMap::new();
        for group in job.rounds.iter().flat_map(|round| &round.groups) {
            dimensions.insert(group.id.clone(), &group.dimensions);
            if let Some((succeeded, sent)) = group.requests.counts() {
                let (k, n) = counts.entry(group.id.clone()).or_default();
                (*k, *n) = (k.saturating_add(succeeded), n.saturating_add(sent));
            }
            read(group, &mut of_job);
        }
        for (field, (unit, rounds)) in of_job {
            series.entry(field).or_insert_with(|| (unit, Vec::new())).1.push(rounds);
        }
    }
    let mut values: BTreeMap<FieldId, Quantity> = series
        .into_iter()
        .filter_map(|(field, (unit, series))| Some((field, Quantity { value: point(&series)?, unit })))
        .collect();
    for (group, (succeeded, sent)) in counts {
        if let Ok(value) = Finite::new(succeeded as f64 / sent as f64) {
            let field = FieldId::new(group, Metric::SUCCESS_RATE, Statistic::Value);
            values.insert(field, Quantity { value, unit: Unit::Fraction });
        }
    }
    let reference = reports.iter().rev().find_map(|report| report.profile.reference.clone());
    values.extend(speedups(&values, &dimensions, reference.as_deref()));
    values
}

fn read(group: &Group, into: &mut BTreeMap<FieldId, (Unit, Vec<Finite>)>) {
    for (metric, measurement) in &group.metrics {
        // A claimed speed-up or success rate is never taken over: both are recomputed.
        if *metric == Metric::SPEEDUP || *metric == Metric::SUCCESS_RATE && group.requests.counts().is_some()
        {
            continue;
        }
        let mut add = |statistic: Statistic, value: Finite| {
            let field = FieldId::new(group.id.clone(), metric.clone(), statistic);
            into.entry(field).or_insert_with(|| (measurement.unit, Vec::new())).1.push(value);
        };
        for (statistic, value) in &measurement.stats {
            add(*statistic, *value);
        }
        let samples = measurement.samples.as_ref().map(Samples::sorted_millis).unwrap_or_default();
        for statistic in SHOWN.into_iter().filter(|statistic| !measurement.stats.contains_key(statistic)) {
            if let Some(value) = floor_rank(&samples, statistic) {
                add(statistic, value);
            }
        }
    }
}

/// The percentile of sorted samples, where a source has samples and does not state it.
fn floor_rank(sorted: &[f64], statistic: Statistic) -> Option<Finite> {
    let rank = (sorted.len() as f64 * statistic.percent()? / 100.0).floor() as usize;
    sorted.get(rank.min(sorted.len().checked_sub(1)?)).and_then(|value| Finite::new(*value).ok())
}

fn speedups(
    values: &BTreeMap<FieldId, Quantity>,
    dimensions: &BTreeMap<GroupId, &Dimensions>,
    reference: Option<&str>,
) -> BTreeMap<FieldId, Quantity> {
    let mut found = BTreeMap::new();
    let Some(reference) = reference else { return found };
    for (group, dimensions) in dimensions {
        if dimensions.strategy.as_deref().is_none_or(|own| own == reference) {
            continue;
        }
        let other = dimensions.with_strategy(reference).id();
        for statistic in SHOWN {
            let leg = |group: &GroupId| values.get(&FieldId::new(group.clone(), Metric::E2E, statistic));
            let (Some(theirs), Some(own)) = (leg(&other), leg(group)) else { continue };
            if let Ok(value) = Finite::new(theirs.value.get() / own.value.get()) {
                let field = FieldId::new(group.clone(), Metric::SPEEDUP, statistic);
                found.insert(field, Quantity { value, unit: Unit::Ratio });
            }
        }
    }
    found
}

/// Whether a field belongs into the summary and the ledger's changes: the percentiles, the only value of a metric, and
/// the mean where a metric has nothing else. Metrics without a better side and spreads are left out.
#[must_use]
pub(super) fn is_shown(field: &FieldId, values: &BTreeMap<FieldId, Quantity>) -> bool {
    if field.metric.direction() == Direction::Unknown {
        return false;
    }
    let has = |statistic| values.contains_key(&FieldId { statistic, ..field.clone() });
    match field.statistic {
        Statistic::Value | Statistic::P50 | Statistic::P95 | Statistic::P99 => true,
        Statistic::Mean => !has(Statistic::P50) && !has(Statistic::P95) && !has(Statistic::P99),
        Statistic::Max => field.metric == Metric::GPU_MEMORY,
        Statistic::Percentile(_) | Statistic::Min | Statistic::Std => false,
    }
}

//! Metrics as AIPerf and genai-perf write them: one object each with its `unit`, `avg`, percentiles.

use crate::model::{Metric, Statistic, Unit};

use super::draft::Draft;
use super::tree::Tree;

const STATISTICS: &[(&str, Statistic)] = &[
    ("avg", Statistic::Mean),
    ("min", Statistic::Min),
    ("max", Statistic::Max),
    ("std", Statistic::Std),
    ("p1", Statistic::Percentile(1_000)),
    ("p5", Statistic::Percentile(5_000)),
    ("p10", Statistic::Percentile(10_000)),
    ("p25", Statistic::Percentile(25_000)),
    ("p50", Statistic::P50),
    ("p75", Statistic::Percentile(75_000)),
    ("p90", Statistic::P90),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
];

/// A distribution, in whatever unit the object says.
pub fn distribution(draft: &mut Draft, tree: &Tree, key: &str, metric: &Metric) {
    let Some(object) = tree.get(key) else { return };
    let Some(factor) = unit_factor(draft, object, key, metric) else { return };
    for (name, statistic) in STATISTICS {
        draft.leaf(metric, *statistic, object.get(name), factor);
    }
    draft.count(metric, object.count(&["count"]));
}

/// The only value of a metric: its `avg`.
pub fn value(draft: &mut Draft, tree: &Tree, key: &str, metric: &Metric) {
    let Some(object) = tree.get(key) else { return };
    let Some(factor) = unit_factor(draft, object, key, metric) else { return };
    draft.leaf(metric, Statistic::Value, object.get("avg"), factor);
}

/// A count: its `avg`.
#[must_use]
pub fn count(tree: &Tree, key: &str) -> Option<u64> {
    tree.count(&[key, "avg"])
}

/// From the object's unit to the metric's; a unit that is not known is said, and its numbers are not read.
fn unit_factor(draft: &mut Draft, object: &Tree, key: &str, metric: &Metric) -> Option<f64> {
    let unit = object.text(&["unit"]).unwrap_or_default();
    let factor = factor(&unit, metric.unit());
    if factor.is_none() {
        draft.notes.push(format!("{key} has the unit \"{unit}\", which is not known for {metric}; not read"));
    }
    factor
}

/// The factor from a unit's name to ours.
#[must_use]
pub fn factor(unit: &str, ours: Unit) -> Option<f64> {
    match (ours, unit.to_ascii_lowercase().as_str()) {
        (Unit::Millisecond, "ms" | "milliseconds") => Some(1.0),
        (Unit::Millisecond, "s" | "sec" | "seconds") => Some(1e3),
        (Unit::Millisecond, "us" | "microseconds") => Some(1e-3),
        (Unit::Millisecond, "ns" | "nanoseconds") => Some(1e-6),
        (Unit::TokensPerSecond, "tokens/sec" | "tokens/s" | "tok/s") => Some(1.0),
        (Unit::RequestsPerSecond, "requests/sec" | "requests/s" | "req/s") => Some(1.0),
        (Unit::Token, "tokens" | "token") => Some(1.0),
        _ => None,
    }
}

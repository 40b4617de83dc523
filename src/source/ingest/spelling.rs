//! The spellings of keys in reports of hand-written scripts: one explicit table, nothing guessed.

use crate::model::{Metric, Statistic};

use super::tree::Tree;

/// The latencies of the scripts.
pub const LATENCIES: &[Metric] = &[Metric::TTFT, Metric::TPOT, Metric::E2E];

/// Normalised names of each latency, without their unit.
const NAMES: &[(Metric, &[&str])] = &[
    (Metric::TTFT, &["ttft", "timetofirsttoken", "firsttokenlatency", "firsttoken"]),
    (Metric::TPOT, &["tpot", "timeperoutputtoken", "timepertoken", "pertokenlatency"]),
    (
        Metric::E2E,
        &[
            "totallatency",
            "latency",
            "e2e",
            "e2elatency",
            "endtoend",
            "endtoendlatency",
            "totaltime",
            "requestlatency",
        ],
    ),
];

/// Normalised names of each statistic, without their unit.
const STATISTICS: &[(Statistic, &[&str])] = &[
    (Statistic::P50, &["p50", "median", "50", "50th", "percentile50"]),
    (Statistic::P90, &["p90", "90", "90th", "percentile90"]),
    (Statistic::P95, &["p95", "95", "95th", "percentile95"]),
    (Statistic::P99, &["p99", "99", "99th", "percentile99"]),
    (Statistic::Mean, &["avg", "mean", "average"]),
    (Statistic::Min, &["min", "minimum"]),
    (Statistic::Max, &["max", "maximum"]),
    (Statistic::Std, &["std", "stddev", "stdev"]),
];

/// Units at the end of a key, with the factor to ms.
const UNITS: &[(&str, f64)] = &[
    ("milliseconds", 1.0),
    ("seconds", 1000.0),
    ("millis", 1.0),
    ("secs", 1000.0),
    ("sec", 1000.0),
    ("ms", 1.0),
];

/// A key without case, spaces, hyphens, underscores, dots and percent signs. What parts two digits stays, as a dot: 9.5 is not 95.
#[must_use]
pub fn normal(key: &str) -> String {
    let mut name = String::new();
    let mut parted = false;
    for c in key.chars() {
        if !c.is_alphanumeric() {
            parted = true;
            continue;
        }
        if parted && c.is_ascii_digit() && name.ends_with(|last: char| last.is_ascii_digit()) {
            name.push('.');
        }
        parted = false;
        name.extend(c.to_lowercase());
    }
    name
}

/// A key without its unit, and the unit's factor to ms.
fn without_unit(key: &str) -> (String, Option<f64>) {
    let name = normal(key);
    for (unit, factor) in UNITS {
        if let Some(rest) = name.strip_suffix(unit).filter(|rest| !rest.is_empty()) {
            return (rest.to_owned(), Some(*factor));
        }
    }
    // A lone s is a unit only where the key sets it apart: ttft_s, not e2eLatencies.
    if let Some(rest) = key.strip_suffix("_s") {
        return (normal(rest), Some(1000.0));
    }
    (name, None)
}

/// The metric of a key such as `total_latency_ms`, with the factor to ms (1 where it tells no unit).
#[must_use]
pub fn latency(key: &str) -> Option<(Metric, f64)> {
    let (name, factor) = without_unit(key);
    let (metric, _) = NAMES.iter().find(|(_, names)| names.contains(&name.as_str()))?;
    Some((metric.clone(), factor.unwrap_or(1.0)))
}

/// The statistic of a key such as `P50`, `p50_ms`, `median`, with the factor to ms where it tells a unit.
#[must_use]
pub fn statistic(key: &str) -> Option<(Statistic, Option<f64>)> {
    let (name, factor) = without_unit(key);
    let (statistic, _) = STATISTICS.iter().find(|(_, names)| names.contains(&name.as_str()))?;
    Some((*statistic, factor))
}

/// Both in one key: `ttft_p50`, `p95_ttft_ms`, `avgTpotMs`.
#[must_use]
pub fn latency_statistic(key: &str) -> Option<(Metric, Statistic, f64)> {
    let (name, factor) = without_unit(key);
    for (statistic, spellings) in STATISTICS {
        for spelling in *spellings {
            let rest = name.strip_prefix(spelling).or_else(|| name.strip_suffix(spelling));
            let found = rest.and_then(|rest| NAMES.iter().find(|(_, names)| names.contains(&rest)));
            if let Some((metric, _)) = found {
                return Some((metric.clone(), *statistic, factor.unwrap_or(1.0)));
            }
        }
    }
    None
}

/// The first entry whose normalised key is one of these names, in their order.
#[must_use]
pub fn find<'a>(tree: &'a Tree, names: &[&str]) -> Option<(&'a str, &'a Tree)> {
    let found = |name: &&str| tree.entries().iter().find(|(key, _)| normal(key) == **name);
    names.iter().find_map(found).map(|(key, value)| (key.as_str(), value))
}

/// The text of the entry that [`find`] gives.
#[must_use]
pub fn text(tree: &Tree, names: &[&str]) -> Option<String> {
    find(tree, names)?.1.text(&[])
}

/// The whole number of the entry that [`find`] gives.
#[must_use]
pub fn count(tree: &Tree, names: &[&str]) -> Option<u64> {
    find(tree, names)?.1.count(&[])
}

/// The spellings of a metric, for a refusal.
#[must_use]
pub fn spelled(metric: &Metric) -> String {
    let names = NAMES.iter().find(|(known, _)| known == metric).map_or(&[][..], |(_, names)| names);
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasonable_spellings_are_read_and_others_are_not() {
        for key in ["total_latency", "totalLatency", "latency_ms", "E2E", "total_latency_ms", "end-to-end"] {
            assert_eq!(latency(key), Some((Metric::E2E, 1.0)), "{key}");
        }
        assert_eq!(latency("e2e_s"), Some((Metric::E2E, 1000.0)));
        assert_eq!(latency("ttft_seconds"), Some((Metric::TTFT, 1000.0)));
        assert_eq!(latency("latencies"), None);
        assert_eq!(statistic("P50"), Some((Statistic::P50, None)));
        assert_eq!(statistic("p99_ms"), Some((Statistic::P99, Some(1.0))));
        assert_eq!(statistic("P75"), None);
        for key in ["p95_ttft_ms", "ttft_p95", "ttftP95", "p95Ttft"] {
            assert_eq!(latency_statistic(key), Some((Metric::TTFT, Statistic::P95, 1.0)), "{key}");
        }
        assert_eq!(latency_statistic("p95_e2e_latency_ms"), Some((Metric::E2E, Statistic::P95, 1.0)));
    }
}

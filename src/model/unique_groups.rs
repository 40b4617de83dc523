//! Reading the groups of a round without losing one, and each metric in its own unit and with all of its samples.
//!
//! Groups are found by their names: a second one of the same name, or a name that its dimensions don't make, would be
//! judged in the place of another.

use std::collections::BTreeSet;

use serde::de::{Deserialize, Deserializer, Error};

use super::group::GroupId;
use super::metric::Metric;
use super::quantity::Unit;
use super::report::{Group, Measurement};

/// For `#[serde(deserialize_with = "unique_groups::deserialize")]` on the groups of a round.
///
/// # Errors
/// A group that stands twice, or whose name is not that of its dimensions; a metric in another unit than it is kept in, or
/// with another number of samples than it says.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Group>, D::Error> {
    let groups = Vec::<Group>::deserialize(deserializer)?;
    let mut seen: BTreeSet<&GroupId> = BTreeSet::new();
    for group in &groups {
        let name = group.dimensions.id();
        if group.id != name {
            return Err(D::Error::custom(format!(
                "the group \"{}\" has dimensions that make the name \"{name}\"; they must agree",
                group.id
            )));
        }
        let other =
            group.metrics.iter().find(|(metric, m)| metric.def().is_some_and(|def| def.unit != m.unit));
        if let Some((metric, measurement)) = other {
            return Err(D::Error::custom(format!(
                "{metric} of the group \"{name}\" is in {}; pacegate keeps it in {}",
                named(measurement.unit),
                named(metric.unit())
            )));
        }
        if let Some((metric, n, found)) = group.metrics.iter().find_map(miscounted) {
            return Err(D::Error::custom(format!(
                "{metric} of the group \"{name}\" says n = {n} and holds {found} samples; the sample code is damaged"
            )));
        }
        if !seen.insert(&group.id) {
            return Err(D::Error::custom(format!("the group \"{}\" stands twice in one round", group.id)));
        }
    }
    Ok(groups)
}

/// A damaged sample code can still be one, of fewer samples.
fn miscounted<'a>((metric, measurement): (&'a Metric, &Measurement)) -> Option<(&'a Metric, u64, usize)> {
    let (n, found) = (measurement.n?, measurement.samples.as_ref()?.len());
    (n != found as u64).then_some((metric, n, found))
}

fn named(unit: Unit) -> String {
    serde_json::to_string(&unit).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::model::report::Round;

    fn read(key: &str, groups: &str) -> Result<Round, String> {
        let against = if key == "groups" { String::new() } else { "\"groups\": [], ".to_owned() };
        serde_json::from_str(&format!("{{{against}\"{key}\": [{groups}]}}")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_round_has_each_group_once_and_by_its_own_name() {
        let c8 = r#"{"id": "c8", "dimensions": {"concurrency": 8}, "metrics": {}}"#;
        let c1 = r#"{"id": "c1", "dimensions": {"concurrency": 1}, "metrics": {}}"#;
        let renamed = r#"{"id": "c32", "dimensions": {"concurrency": 8}, "metrics": {}}"#;
        for key in ["groups", "against"] {
            assert!(read(key, &format!("{c8}, {c1}")).is_ok());
            let twice = read(key, &format!("{c8}, {c1}, {c8}")).unwrap_err();
            assert!(twice.contains("the group \"c8\" stands twice in one round"), "{twice}");
            let other = read(key, renamed).unwrap_err();
            assert!(other.contains("\"c32\" has dimensions that make the name \"c8\""), "{other}");
        }
    }

    #[test]
    fn a_metric_is_read_in_its_own_unit_alone() {
        let group = |metric: &str, unit: &str| {
            let metrics = format!(r#"{{"{metric}": {{"unit": "{unit}", "stats": {{"p95": 400}}}}}}"#);
            read("groups", &format!(r#"{{"id": "all", "dimensions": {{}}, "metrics": {metrics}}}"#))
        };
        assert!(group("ttft", "ms").is_ok());
        assert!(group("something_else", "tok/s").is_ok());
        let other = group("ttft", "tok/s").unwrap_err();
        assert!(
            other.contains(r#"ttft of the group "all" is in "tok/s"; pacegate keeps it in "ms""#),
            "{other}"
        );
    }

    #[test]
    fn samples_that_are_fewer_than_their_number_are_damaged() {
        let code = String::from(crate::model::Samples::from_micros(vec![1000, 2000, 3000]));
        let group = |n: u64| {
            let ttft = format!(r#"{{"unit": "ms", "n": {n}, "stats": {{"p50": 2}}, "samples": "{code}"}}"#);
            read("groups", &format!(r#"{{"id": "all", "dimensions": {{}}, "metrics": {{"ttft": {ttft}}}}}"#))
        };
        assert!(group(3).is_ok());
        let fewer = group(4).unwrap_err();
        assert!(fewer.contains(r#"ttft of the group "all" says n = 4 and holds 3 samples"#), "{fewer}");
    }
}

//! Reading the groups of a round without losing one.
//!
//! Groups are found by their names: a second one of the same name, or a name that its dimensions don't make, would be
//! judged in the place of another.

use std::collections::BTreeSet;

use serde::de::{Deserialize, Deserializer, Error};

use super::group::GroupId;
use super::report::Group;

/// For `#[serde(deserialize_with = "unique_groups::deserialize")]` on the groups of a round.
///
/// # Errors
/// A group that stands twice, or whose name is not that of its dimensions.
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
        if !seen.insert(&group.id) {
            return Err(D::Error::custom(format!("the group \"{}\" stands twice in one round", group.id)));
        }
    }
    Ok(groups)
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
}

//! At which concurrency a server began to refuse requests as too many.

use std::collections::BTreeMap;

use crate::model::report::FailureKind;
use crate::model::{Dimensions, Group, GroupId};

/// One sentence for every workload that was refused with 429, with the level at which it began.
pub(super) fn began<'a>(groups: impl Iterator<Item = &'a Group>) -> Vec<String> {
    let mut workloads: BTreeMap<GroupId, BTreeMap<u32, (u64, u64)>> = BTreeMap::new();
    for group in groups {
        let Some(concurrency) = group.dimensions.concurrency else { continue };
        let workload = Dimensions { concurrency: None, ..group.dimensions.clone() }.id();
        let level = workloads.entry(workload).or_default().entry(concurrency).or_default();
        level.0 += group.requests.failed.get(&FailureKind::Http429).copied().unwrap_or_default();
        level.1 += group.requests.sent.unwrap_or_default();
    }
    let sentence = |(workload, levels): (GroupId, BTreeMap<u32, (u64, u64)>)| {
        let (level, (refused, sent)) = levels.iter().find(|(_, (refused, _))| *refused > 0)?;
        let below = levels.range(..level).next_back();
        let advice = match below {
            Some((below, _)) => {
                format!("none at {below} in flight: step down to {below}, or raise the server's limit")
            }
            None => "the lowest level measured: the quota is spent, or others use the server too".to_owned(),
        };
        Some(format!(
            "{workload}: 429 (too many requests) began at {level} in flight, {refused} of {sent} requests; {advice}"
        ))
    };
    workloads.into_iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(concurrency: u32, refused: u64) -> Group {
        let traffic = Some("chat".to_owned());
        let mut group =
            Group::new(Dimensions { traffic, concurrency: Some(concurrency), ..Dimensions::default() });
        group.requests.sent = Some(50);
        group.requests.failed = BTreeMap::from([(FailureKind::Http429, refused), (FailureKind::Cut, 1)]);
        group
    }

    #[test]
    fn the_level_at_which_refusals_began_is_named_with_the_one_to_step_down_to() {
        // Two rounds; the order of the levels does not matter.
        let groups = [group(32, 5), group(1, 0), group(8, 0), group(8, 0), group(32, 7)];
        assert_eq!(
            began(groups.iter()),
            [
                "chat: 429 (too many requests) began at 32 in flight, 12 of 100 requests; none at 8 in flight: step down to \
              8, or raise the server's limit"
            ]
        );
        let spent = [group(1, 50), group(8, 50)];
        assert!(began(spent.iter())[0].contains("began at 1 in flight, 50 of 50 requests; the lowest level"));
        assert_eq!(began([group(1, 0), group(8, 0)].iter()), Vec::<String>::new());
    }
}

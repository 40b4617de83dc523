//! What this evidence could have shown, and the rules that ask for less.

use std::collections::BTreeMap;

use crate::model::verdict::Resolution;
use crate::model::wording::share;
use crate::model::{Finite, GroupId, Metric};
use crate::stats::evidence::Outcome;

use super::case::Case;
use super::channels::Family;

/// The smallest change that each metric could have shown in each group, and the rules that ask for less.
pub(super) fn resolution(cases: &[Case], family: &Family, outcome: &Outcome) -> Resolution {
    let finite = |value: Option<f64>| value.and_then(|v| Finite::new(v).ok());
    let mut resolution = Resolution { run_wide: finite(outcome.run.smallest_found), ..Resolution::default() };
    let mut members: BTreeMap<(&Metric, &GroupId), Vec<usize>> = BTreeMap::new();
    for (at, &place) in family.places.iter().enumerate().filter(|(at, _)| family.fields[*at].gated) {
        members.entry((&cases[place].id.metric, &family.groups[at])).or_default().push(at);
    }
    for ((metric, group), own) in members {
        let Some(class) = own.first().map(|&at| family.fields[at].class) else { continue };
        let smallest =
            finite(outcome.smallest_found(class, &own)).map(|worse| metric.direction().as_change(worse));
        resolution.metrics.entry(metric.clone()).or_default().insert(group.clone(), smallest);
    }
    for (metric, groups) in &resolution.metrics {
        let best = groups.values().flatten().min().copied();
        let rules =
            family.places.iter().filter(|&&place| cases[place].id.metric == *metric && cases[place].gated());
        let tightest =
            rules.filter_map(|&place| Some((cases[place].id.local(), relative_limit(&cases[place])?)));
        let Some((name, limit)) = tightest.min_by_key(|(_, limit)| *limit) else { continue };
        if best.is_none_or(|best| best > limit) {
            resolution.tighter_rules.push(tighter(&name, limit, best));
        }
    }
    resolution
}

fn relative_limit(case: &Case) -> Option<Finite> {
    case.tolerance.as_ref()?.share_of(case.old?)
}

fn tighter(name: &str, limit: Finite, best: Option<Finite>) -> String {
    match best {
        Some(best) => format!("{name} (limit {}, noise {})", share(limit), share(best)),
        None => format!("{name} (limit {}, noise beyond any change of it alone)", share(limit)),
    }
}

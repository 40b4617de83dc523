//! What this evidence could have shown, and the rules that ask for less.

use std::collections::BTreeMap;

use crate::model::verdict::Resolution;
use crate::model::{Finite, GroupId, Metric};
use crate::stats::evidence::Outcome;

use super::case::Case;
use super::channels::{Family, as_change};

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
        let smallest = outcome.smallest_found(class, &own).map(|share| as_change(metric, share));
        let smallest = finite(smallest);
        resolution.metrics.entry(metric.clone()).or_default().insert(group.clone(), smallest);
    }
    for (metric, groups) in &resolution.metrics {
        let best = groups.values().flatten().min().copied();
        let rules =
            family.places.iter().filter(|&&place| cases[place].id.metric == *metric && cases[place].gated());
        let tightest =
            rules.filter_map(|&place| Some((cases[place].id.local(), relative_limit(&cases[place])?)));
        let Some((name, limit)) = tightest.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        if best.is_none_or(|best| best.get() > limit) {
            resolution.tighter_rules.push(tighter(&name, limit, best));
        }
    }
    resolution
}

fn relative_limit(case: &Case) -> Option<f64> {
    match case.tolerance.as_ref()?.allowance? {
        crate::model::policy::Allowance::Relative(share) => Some(share.get()),
        crate::model::policy::Allowance::Absolute(value) => Some(value.get() / case.old?.get()),
        crate::model::policy::Allowance::Points(_) => None,
    }
}

fn tighter(name: &str, limit: f64, best: Option<Finite>) -> String {
    let shown = |share: f64| crate::model::policy::trimmed((share * 1000.0).round() / 10.0);
    match best {
        Some(best) => format!("{name} (limit {} %, noise {} %)", shown(limit), shown(best.get())),
        None => format!("{name} (limit {} %, noise beyond any change of it alone)", shown(limit)),
    }
}

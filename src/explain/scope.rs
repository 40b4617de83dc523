//! What is to be explained.

use std::collections::BTreeSet;

use crate::model::field::local;
use crate::model::metric::METRICS;
use crate::model::{Dimensions, GroupId, Metric, Statistic};

use super::meaning::is_time;
use super::view::{Seen, Tool, View};

/// How many near names an unknown one is answered with.
const MOST_NEAREST: usize = 3;

/// A part of the report; all of it where everything is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    group: Option<GroupId>,
    metric: Option<Metric>,
    statistic: Option<Statistic>,
}

impl Scope {
    /// `[GROUP:]METRIC[.STATISTIC]` or a group.
    ///
    /// # Errors
    /// The names that look most like an unknown one.
    pub fn parse(field: &str, view: &View<'_>) -> Result<Scope, Vec<String>> {
        let group_named = |name: &str| view.groups.iter().find(|seen| seen.id.as_str() == name);
        if let Some(seen) = group_named(field) {
            return Ok(Scope { group: Some(seen.id.clone()), ..Scope::default() });
        }
        let (group, rest) = match field.rsplit_once(':') {
            None => (None, field),
            Some((name, rest)) => match group_named(name) {
                Some(seen) => (Some(seen.id.clone()), rest),
                None => return Err(nearest(name, view.groups.iter().map(|seen| seen.id.to_string()))),
            },
        };
        let lowered = rest.to_lowercase();
        let (name, statistic) = match lowered.split_once('.') {
            Some((name, statistic)) => (name, Some(statistic)),
            None => (lowered.as_str(), None),
        };
        let unknown = || nearest(&lowered, known_fields(view));
        let metric = alias(name, view.tool);
        let known = metric.def().is_some() || view.metrics().contains(&metric);
        let statistic = match statistic {
            None => None,
            Some("median") => Some(Statistic::P50),
            Some(text) => Some(text.parse().map_err(|_| unknown())?),
        };
        if known { Ok(Scope { group, metric: Some(metric), statistic }) } else { Err(unknown()) }
    }

    /// Whether everything is asked for.
    pub fn is_all(&self) -> bool {
        self.group.is_none() && self.metric.is_none()
    }

    /// Whether the report's groups are all asked for.
    pub fn has_all_groups(&self) -> bool {
        self.group.is_none()
    }

    /// Whether this metric is asked for.
    pub fn has_metric(&self, metric: &Metric) -> bool {
        self.metric.as_ref().is_none_or(|wanted| wanted == metric)
    }

    /// Whether this metric is asked for by name.
    pub fn names(&self, metric: &Metric) -> bool {
        self.metric.as_ref() == Some(metric)
    }

    /// Whether this statistic is asked for.
    pub fn has_statistic(&self, statistic: Statistic) -> bool {
        self.statistic.is_none_or(|wanted| wanted == statistic)
    }

    /// The one field that is asked for, where it is one.
    pub fn field(&self) -> Option<(&Metric, Option<Statistic>)> {
        self.metric.as_ref().map(|metric| (metric, self.statistic))
    }

    /// Whether everything, a group or a time is asked for.
    pub fn metric_is_latency_or_all(&self) -> bool {
        self.metric.as_ref().is_none_or(is_time)
    }

    /// The groups asked for.
    pub fn groups<'v, 'a>(&self, view: &'v View<'a>) -> impl Iterator<Item = &'v Seen<'a>> {
        let group = self.group.clone();
        view.groups.iter().filter(move |seen| group.as_ref().is_none_or(|wanted| wanted == seen.id))
    }

    /// What the groups asked for are made of, one dimension over all of them.
    pub fn dimension<T: Ord>(&self, view: &View<'_>, read: impl Fn(&Dimensions) -> Option<T>) -> BTreeSet<T> {
        self.groups(view).filter_map(|seen| read(seen.dimensions)).collect()
    }
}

/// The measuring tool's own names.
fn alias(name: &str, tool: Tool) -> Metric {
    match (name, tool) {
        ("total_latency" | "latency" | "e2e_latency" | "e2el", _) => Metric::E2E,
        ("tpot", Tool::ScriptB) => Metric::ITL,
        ("speedup", _) => Metric::SPEEDUP,
        _ => METRICS
            .iter()
            .find(|def| def.id == name)
            .map_or_else(|| Metric::named(name), |def| Metric::named(def.id)),
    }
}

fn known_fields(view: &View<'_>) -> impl Iterator<Item = String> {
    let mut names = vec![Metric::SUCCESS_RATE.to_string(), Metric::SPEEDUP.to_string()];
    for metric in view.metrics() {
        names.push(metric.to_string());
        names.extend(view.statistics(&metric).into_iter().map(|statistic| local(&metric, statistic)));
    }
    names.extend(view.groups.iter().map(|seen| seen.id.to_string()));
    names.into_iter()
}

fn nearest(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let likeness = |name: &str| similar::TextDiff::from_chars(wanted, name).ratio();
    let mut ranked: Vec<(f32, String)> = names.map(|name| (likeness(&name), name)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked.dedup_by(|a, b| a.1 == b.1);
    ranked.into_iter().take(MOST_NEAREST).map(|(_, name)| name).collect()
}

//! Two-sided suspicion: what is too good is looked at as hard as what is bad. Not in the exact tier.

use crate::model::finding::Toward;
use crate::model::reason::Suspicion;
use crate::model::{Change, ChannelClass, Judgement, Metric, Reason, Statistic};

use super::case::Case;
use super::sides::Sides;

/// A TTFT that fell by this share is suspicious.
const TTFT_FALL: f64 = 0.6;
/// Throughput that rose to this many times is suspicious.
const RATE_RISE: f64 = 2.0;
/// So many samples can't all be equal.
const SAMPLES_THAT_VARY: usize = 10;

pub(super) fn look(cases: &[Case], sides: &Sides) -> Vec<Reason> {
    let good: Vec<Reason> = cases.iter().filter_map(too_good).collect();
    let groups = sides.candidate.groups().into_iter();
    let odd: Vec<Reason> = groups
        .flat_map(|id| [Metric::TTFT, Metric::E2E].map(|metric| samples(sides, id, metric)))
        .flatten()
        .collect();
    [Suspicion::TooGood, Suspicion::NoVariance, Suspicion::SameSamples]
        .into_iter()
        .filter_map(|kind| first_of(good.iter().chain(&odd), kind))
        .collect()
}

/// The first of a kind, with how many more there are: one cause, one sentence.
fn first_of<'a>(all: impl Iterator<Item = &'a Reason>, kind: Suspicion) -> Option<Reason> {
    let mut of_kind = all.filter(|reason| matches!(reason, Reason::Suspicious { what, .. } if *what == kind));
    let mut first = of_kind.next()?.clone();
    if let Reason::Suspicious { more, .. } = &mut first {
        *more = of_kind.count();
    }
    Some(first)
}

fn too_good(case: &Case) -> Option<Reason> {
    let (old, new) = (case.old?, case.new?);
    let change = Change { old, new, unit: case.id.metric.unit(), direction: case.id.metric.direction() };
    use Judgement::{Invalid, NotComparable};
    let judged = !matches!(case.judgement, Some(Invalid | NotComparable));
    if change.toward() != Toward::Better || !case.gated() || !judged {
        return None;
    }
    let far = match case.id.metric.class()? {
        ChannelClass::Ttft => new.get() <= old.get() * (1.0 - TTFT_FALL),
        ChannelClass::Throughput => new.get() >= old.get() * RATE_RISE,
        ChannelClass::Tpot | ChannelClass::Itl | ChannelClass::E2e => new.get() <= old.get() / RATE_RISE,
    };
    far.then(|| Reason::Suspicious {
        field: case.id.clone(),
        change: Some(change),
        what: Suspicion::TooGood,
        more: 0,
    })
}

fn samples(sides: &Sides, id: &crate::model::GroupId, metric: Metric) -> Option<Reason> {
    let codes = |side: &super::sides::SideView| -> Vec<Vec<u64>> {
        let all = side.of_group(id).filter_map(|m| m.group.metrics.get(&metric)?.samples.as_ref());
        all.map(|samples| samples.micros().to_vec()).collect()
    };
    let candidate = codes(&sides.candidate);
    let field = crate::model::FieldId::new(id.clone(), metric.clone(), Statistic::P50);
    let flat = |s: &Vec<u64>| s.len() >= SAMPLES_THAT_VARY && s.first() == s.last();
    if candidate.iter().any(flat) {
        return Some(Reason::Suspicious { field, change: None, what: Suspicion::NoVariance, more: 0 });
    }
    let blessed = codes(&sides.blessed);
    let same = candidate.iter().any(|s| s.len() >= SAMPLES_THAT_VARY && blessed.contains(s));
    same.then_some(Reason::Suspicious { field, change: None, what: Suspicion::SameSamples, more: 0 })
}

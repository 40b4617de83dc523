//! Which fields carry the statistics: too few samples, stand-ins, companions (statistics.md §1.2).

use crate::model::finding::DecidedBy;
use crate::model::policy::Origin;
use crate::model::reason::Instead;
use crate::model::{FieldId, Judgement, Reason, Statistic};
use crate::stats::constants::Rule;
use crate::stats::percentile::{TooFew, too_few};

use super::case::Case;
use super::tiers::Setting;

/// Takes out what has too few samples, lets P50 stand in, and adds the P50 companions. Not for the exact tier.
///
/// Where the limit decides, a limit that somebody wrote means what it says whatever the number of samples; a built-in one
/// still fails what is so far over it that few samples can't be the reason.
pub(super) fn settle(cases: &mut [Case], setting: &Setting) {
    for at in 0..cases.len() {
        let Some(why) = shortage(&cases[at]) else { continue };
        if setting.decides(cases[at].summary()) == DecidedBy::Limits && stands_by_its_limit(&cases[at]) {
            let field = cases[at].id.clone();
            cases[at].reasons.push(reason(field, why, Instead::OwnLimit));
            continue;
        }
        let stand_in = partner(cases, at);
        let (field, gated) = (cases[at].id.clone(), cases[at].gated());
        if !gated {
            continue;
        }
        let shown = stand_in.map_or(Instead::Nothing, |_| Instead::Percentile(Statistic::P50));
        cases[at].settle(Judgement::TooFew, reason(field, why, shown));
        if let Some(p50) = stand_in
            && !cases[p50].gated()
        {
            cases[p50].tolerance = cases[at].tolerance.clone();
            cases[p50].stand_in = true;
            cases[p50].judgement = None;
        }
    }
    for at in 0..cases.len() {
        let tail = [Statistic::P90, Statistic::P95, Statistic::P99].contains(&cases[at].id.statistic);
        if !(tail && cases[at].gated() && cases[at].judgement.is_none()) {
            continue;
        }
        if let Some(p50) = partner(cases, at)
            && !cases[p50].gated()
        {
            cases[p50].companion = true;
        }
    }
}

/// Written by somebody, or over the limit by more than few samples explain.
fn stands_by_its_limit(case: &Case) -> bool {
    let written = case.tolerance.as_ref().is_some_and(|tolerance| tolerance.origin != Origin::Default);
    let far = || {
        let field = case.statistical(0)?;
        let change = field.class.sign() * (case.new?.get().ln() - case.old?.get().ln());
        Some(change > (Rule::STANDARD.far * field.log_limit.exp_m1()).ln_1p())
    };
    case.gated() && (written || far().unwrap_or(false))
}

/// The P50 of the same metric and group, if both sides have it and it has samples enough.
fn partner(cases: &[Case], at: usize) -> Option<usize> {
    let field = &cases[at].id;
    if field.statistic == Statistic::P50 {
        return None;
    }
    let wanted = FieldId::new(field.group.clone(), field.metric.clone(), Statistic::P50);
    let found = cases.iter().position(|case| case.id == wanted)?;
    let case = &cases[found];
    let open = case.judgement.is_none() || case.judgement == Some(Judgement::NotGated);
    (open && case.old.is_some() && case.new.is_some() && shortage(case).is_none()).then_some(found)
}

/// Too few samples for this percentile; nothing where the number is not known.
fn shortage(case: &Case) -> Option<TooFew> {
    let open = case.judgement.is_none() || case.judgement == Some(Judgement::NotGated);
    let percent = case.id.statistic.percent()?;
    let latency = case.id.metric.class().is_some();
    if !open || !latency {
        return None;
    }
    let n = |series: &super::reading::Series| usize::try_from(series.fewest()?).ok();
    too_few(percent, n(&case.blessed)?, n(&case.candidate)?).ok().flatten()
}

fn reason(field: FieldId, why: TooFew, instead: Instead) -> Reason {
    match why {
        TooFew::Below { found, needed } => {
            Reason::TooFewSamples { field, n: found as u64, needed: needed as u64, instead }
        }
        TooFew::Unequal { smaller, larger } => {
            Reason::UnequalSamples { field, smaller: smaller as u64, larger: larger as u64, instead }
        }
    }
}

/// Groups in which no gated latency field is left to judge, though there were some.
pub(super) fn groups_without_latency(cases: &[Case]) -> Vec<crate::model::GroupId> {
    let latency = |case: &&Case| case.gated() && case.id.metric.unit() == crate::model::Unit::Millisecond;
    let mut groups: Vec<_> = cases.iter().filter(latency).map(|case| case.id.group.clone()).collect();
    groups.dedup();
    groups.retain(|group| {
        let own: Vec<&Case> = cases.iter().filter(latency).filter(|case| case.id.group == *group).collect();
        own.iter().all(|case| case.judgement == Some(Judgement::TooFew))
    });
    groups
}

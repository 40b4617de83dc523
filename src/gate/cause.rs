//! One cause, one sentence, where limits or the exact tier decide: fields of one metric that moved together are one shift.

use std::collections::BTreeSet;

use crate::model::finding::DecidedBy;
use crate::model::metric::ChannelClass;
use crate::model::verdict::{Cause, Channel};
use crate::model::{Finding, Finite, GroupId, Judgement, Metric, Reason};

/// The shifts among regressed fields that evidence did not decide, decode and its followers as one.
pub(super) fn shifts(findings: &[Finding]) -> Vec<Cause> {
    let by_limit = |f: &&Finding| {
        f.judgement == Judgement::Regressed
            && f.decided_by.is_some_and(|by| by != DecidedBy::Evidence)
            && (f.field.metric.class().is_some() || f.field.metric == Metric::SPEEDUP)
            && f.change().is_some()
    };
    let regressed: Vec<&Finding> = findings.iter().filter(by_limit).collect();
    let mut metrics: Vec<&Metric> =
        regressed.iter().map(|f| &f.field.metric).collect::<BTreeSet<_>>().into_iter().collect();
    let mut causes = Vec::new();
    // What follows from a slower stage is not a cause of its own.
    let stages: Vec<&Metric> = metrics.iter().copied().filter(|m| is_stage(m)).collect();
    let followers: Vec<Metric> = match stages.as_slice() {
        [] => Vec::new(),
        _ => metrics.iter().filter(|m| !is_stage(m)).map(|m| (*m).clone()).collect(),
    };
    if !stages.is_empty() {
        metrics = stages;
    }
    let mut with = follow_groups(&regressed, &metrics, followers);
    for metric in metrics {
        if let Some(cause) = shift(findings, &regressed, metric, with.clone()) {
            causes.push(cause);
            with.clear();
        }
    }
    causes
}

fn is_stage(metric: &Metric) -> bool {
    matches!(metric.class(), Some(ChannelClass::Ttft | ChannelClass::Tpot | ChannelClass::Itl))
}

/// Followers count as moved along only where they did so in the groups of a slower stage.
fn follow_groups(regressed: &[&Finding], stages: &[&Metric], followers: Vec<Metric>) -> Vec<Metric> {
    let of = |wanted: &dyn Fn(&Metric) -> bool| -> BTreeSet<&GroupId> {
        regressed.iter().filter(|f| wanted(&f.field.metric)).map(|f| &f.field.group).collect()
    };
    let stage_groups = of(&|metric| stages.contains(&metric));
    followers
        .into_iter()
        .filter(|follower| of(&|metric| metric == follower).is_subset(&stage_groups))
        .collect()
}

fn shift(findings: &[Finding], regressed: &[&Finding], metric: &Metric, with: Vec<Metric>) -> Option<Cause> {
    let own: Vec<&&Finding> = regressed.iter().filter(|f| f.field.metric == *metric).collect();
    let gated = findings.iter().filter(|f| f.field.metric == *metric && f.gated && f.change().is_some());
    let groups: BTreeSet<&GroupId> = own.iter().map(|f| &f.field.group).collect();
    let all: BTreeSet<&GroupId> = gated.map(|f| &f.field.group).collect();
    if own.len() < 2 {
        return None;
    }
    let sizes: Vec<Finite> = own.iter().map(|f| f.badness()).collect();
    let (smallest, largest) = (*sizes.iter().min()?, *sizes.iter().max()?);
    let strategies = strategies(&groups, &all);
    let (groups, of) = (groups.len(), all.len());
    let sentence =
        Reason::MetricShift { metric: metric.clone(), groups, of, strategies, smallest, largest, with };
    let ratio = Finite::new(1.0 + largest.get()).ok()?;
    let class = metric.class()?;
    Some(Cause { channel: Channel::Class(class), regressed: true, ratio, interval: None, p: None, sentence })
}

/// The strategies concerned, where not all are.
fn strategies(groups: &BTreeSet<&GroupId>, all: &BTreeSet<&GroupId>) -> Vec<String> {
    let first = |ids: &BTreeSet<&GroupId>| -> BTreeSet<String> {
        ids.iter().filter_map(|id| id.as_str().split('/').next()).map(str::to_owned).collect()
    };
    let (own, every) = (first(groups), first(all));
    if own == every { Vec::new() } else { own.into_iter().collect() }
}

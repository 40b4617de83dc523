//! The candidate into which faults are planted: a run like the last blessed one that measured the blessed values.

use std::collections::BTreeMap;

use crate::exit::Exit;
use crate::model::self_test::{Found, Trial};
use crate::model::{Finding, GroupId, Judgement, Metric, Reason, Report, Verdict};

use super::{SelfTestError, Subject, plant};

/// A candidate that differs from the baseline in nothing, and what the gate says of it.
pub(super) struct Bench<'a> {
    subject: &'a Subject<'a>,
    pub candidate: Report,
    pub clean: Verdict,
}

impl<'a> Bench<'a> {
    pub fn new(subject: &'a Subject<'a>, last: &Report) -> Result<Bench<'a>, SelfTestError> {
        let mut candidate = last.clone();
        candidate.source.digests.clear();
        candidate.jobs.truncate(1);
        for job in &mut candidate.jobs {
            job.id.push_str("-self-test");
            // Both sides of a duet would be held against each other, not against what is blessed.
            job.rounds.iter_mut().for_each(|round| round.against.clear());
        }
        let as_measured = subject.judge(&candidate, subject.baseline)?;
        // One of several jobs is not their mean: a lucky one would hide what is planted into it.
        let away = distances(&as_measured);
        let candidate = plant::worse(&candidate, |group, metric| {
            away.get(&(group.clone(), metric.clone())).copied().unwrap_or(1.0)
        });
        let clean = subject.judge(&candidate, subject.baseline)?;
        Ok(Bench { subject, candidate, clean })
    }

    /// What the gate says of a candidate.
    pub fn judge(&self, candidate: &Report) -> Result<Verdict, SelfTestError> {
        self.subject.judge(candidate, self.subject.baseline)
    }

    /// What the gate says of the clean candidate against another baseline.
    pub fn judge_against(&self, baseline: &crate::model::Baseline) -> Result<Verdict, SelfTestError> {
        self.subject.judge(&self.candidate, baseline)
    }

    pub fn baseline(&self) -> &crate::model::Baseline {
        self.subject.baseline
    }

    /// A fault without a size.
    pub fn trial(
        &self,
        fault: impl Into<String>,
        expected: Exit,
        planted: &Report,
    ) -> Result<Trial, SelfTestError> {
        Ok(trial(fault, expected, Ended::from(&self.judge(planted)?)))
    }

    /// The gated fields of the clean verdict.
    pub fn gated(&self) -> impl Iterator<Item = &Finding> {
        self.clean.findings.iter().filter(|finding| finding.gated)
    }

    /// Gated metrics that are times or rates, in the order of the table.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = self.gated().map(|finding| finding.field.metric.clone()).collect();
        metrics.sort();
        metrics.dedup();
        metrics.retain(|metric| metric.class().is_some());
        metrics
    }

    /// The groups in which a metric is gated.
    pub fn groups(&self, metric: &Metric) -> Vec<GroupId> {
        let of = self.gated().filter(|finding| finding.field.metric == *metric);
        let mut groups: Vec<GroupId> = of.map(|finding| finding.field.group.clone()).collect();
        groups.sort();
        groups.dedup();
        groups
    }
}

/// Per group and metric, how far the candidate is from the blessed value at its lowest gated statistic: blessed to
/// candidate as a ratio towards worse.
fn distances(verdict: &Verdict) -> BTreeMap<(GroupId, Metric), f64> {
    let mut away = BTreeMap::new();
    let mut findings: Vec<&Finding> = verdict.findings.iter().filter(|finding| finding.gated).collect();
    findings.sort_by_key(|finding| finding.field.statistic);
    for finding in findings.into_iter().filter(|finding| finding.field.metric.class().is_some()) {
        let Some(change) = finding.change().filter(|c| c.old.get() > 0.0 && c.new.get() > 0.0) else {
            continue;
        };
        let ratio = change.old.get() / change.new.get();
        let worse = match change.direction {
            crate::model::Direction::HigherIsBetter => 1.0 / ratio,
            _ => ratio,
        };
        away.entry((finding.field.group.clone(), finding.field.metric.clone())).or_insert(worse);
    }
    away
}

/// A fault without a size and what it ended with.
pub(super) fn trial(fault: impl Into<String>, expected: Exit, got: Ended) -> Trial {
    let found = match got.exit == expected {
        true => Found::Caught,
        false => Found::Missed { exit: got.exit.code(), planted: None, why: got.why },
    };
    Trial { fault: fault.into(), expected: expected.code(), found }
}

/// What a field that stops no verdict is.
const PASSING: [Judgement; 4] =
    [Judgement::Unchanged, Judgement::NotGated, Judgement::Improved, Judgement::New];

/// How a candidate ended, and the first thing that the gate says of it.
pub(super) struct Ended {
    pub exit: Exit,
    pub why: Option<Box<Reason>>,
}

impl From<Exit> for Ended {
    fn from(exit: Exit) -> Ended {
        Ended { exit, why: None }
    }
}

impl From<&Verdict> for Ended {
    fn from(verdict: &Verdict) -> Ended {
        let of_findings = || {
            let stops = |finding: &&Finding| !PASSING.contains(&finding.judgement);
            verdict.findings.iter().filter(stops).flat_map(|finding| &finding.reasons).next()
        };
        let why = verdict.problems.first().or_else(of_findings).cloned().map(Box::new);
        Ended { exit: Exit::of(verdict.outcome, false), why }
    }
}

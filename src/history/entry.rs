//! What a verdict leaves in the history.

use crate::model::history::{HistoryBaseline, HistoryEntry, Moment, SCHEMA};
use crate::model::{Tier, Verdict};

/// A job as the history names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The CI run and leg, without its attempt; else the job of the report.
    pub name: String,
    /// Which commit, and when.
    pub moment: Moment,
}

/// The line for a verdict; none where it was held against no blessed baseline.
#[must_use]
pub fn entry(verdict: &Verdict, job: &Job) -> Option<HistoryEntry> {
    let baseline = verdict.baseline.as_ref().filter(|_| verdict.tier != Some(Tier::Duet))?;
    let measured = verdict.findings.iter().filter(|finding| finding.gated);
    Some(HistoryEntry {
        schema: SCHEMA.to_owned(),
        at: job.moment.at,
        commit: job.moment.commit.clone(),
        job: job.name.clone(),
        profile: verdict.profile.clone(),
        model: verdict.candidate.model.clone(),
        baseline: HistoryBaseline { digest: baseline.digest.clone(), jobs: baseline.jobs },
        allowed: verdict.allowed.clone(),
        outcome: verdict.outcome,
        over: verdict.over_limits.clone(),
        requests: verdict.candidate.requests.clone(),
        fields: measured.filter_map(|finding| Some((finding.field.to_string(), finding.new?))).collect(),
    })
}

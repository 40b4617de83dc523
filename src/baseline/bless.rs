//! From a measured report to the baseline that it becomes, or to the reason why it does not.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::baseline::{
    self, Baseline, BlessAction, Blessed, Drift, FieldRow, Ledger, LedgerEntry, MOST_JOBS,
};
use crate::model::report::{Code, SourceKind, Tool};
use crate::model::requests::total;
use crate::model::{FieldId, Finite, GroupId, Job, Metric, Quantity, Reason, Report, Timestamp, Verdict};

use super::job_identity::{measured_twice, same_job, shared_job};
use super::ledger::{self, beyond, drift_of};
use super::objections::{Objections, once};
use super::values::{is_shown, values};

/// All that a bless depends on beside the report and the baseline until now.
#[derive(Clone, Debug)]
pub struct BlessRequest<'a> {
    /// Add the jobs to those that are there, in place of replacing them.
    pub add: bool,
    /// Why, in the words of who blesses.
    pub reason: Option<String>,
    /// Bless in CI all the same.
    pub allow_ci: bool,
    /// Whether this is CI.
    pub in_ci: bool,
    /// The time of the bless.
    pub now: Timestamp,
    /// The commit, and which files differ from it, the baseline itself apart.
    pub code: Code,
    /// The report judged against the baseline until now, or without one.
    pub verdict: &'a Verdict,
    /// The report judged against itself blessed ([`fresh`]): what a gate could see that holds others against it.
    pub sight: Option<&'a Verdict>,
    /// The most that all blesses together may have worsened a field.
    pub max_drift: Option<Finite>,
}

/// Why a report is not blessed. Nothing was written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BlessRefused {
    /// In CI.
    #[error(
        "a CI job does not bless: it would agree with itself. Keep its report (--report FILE, uploaded as an artifact), then a person runs pacegate check FILE --bless --reason TEXT and commits the baseline; --allow-ci says otherwise"
    )]
    InCi,
    /// Numbers that can't be right.
    #[error("an invalid run is not blessed: {}", sentences(.0))]
    Invalid(Vec<Reason>),
    /// A gate that could never fail.
    #[error("blessed, this report would make a gate that can't fail: {}", sentences(.0))]
    Blind(Vec<Reason>),
    /// Nothing that a rule gates.
    #[error(
        "no rule gates anything that this report has, so every check against it would end without a verdict. Add the percentiles that the rules name (pacegate explain REPORT says what is in it), or rules for what it has under [gate]"
    )]
    NothingGated,
    /// Something got worse or too good, and nobody says why.
    #[error("say why with --reason TEXT, which the ledger keeps: {}", sentences(.0))]
    NeedsReason(Vec<Reason>),
    /// Added jobs must mean the same as the first.
    #[error("this job can't be added to the blessed ones: {}", sentences(.0))]
    NotComparable(Vec<Reason>),
    /// The same measurement again is no second job.
    #[error(
        "job {0} is there already: the same content twice would count one measurement as two. Measure again, in another job"
    )]
    SameContent(String),
    /// What one machine measures within an hour, or one CI job, has the same noise.
    #[error(
        "job {new} and the blessed job {old} are one job: {why}, so they share its noise and show nothing of how much jobs differ. Add a run of another day or machine, or give reports of one job in one command, as rounds"
    )]
    OneJob {
        /// The job that was to be added.
        new: String,
        /// The one that is blessed.
        old: String,
        /// `the same machine within an hour`.
        why: &'static str,
    },
    /// The baseline is of another profile.
    #[error(
        "the baseline is for profile {blessed}, the report is of profile {report}; name another file with --baseline, or bless under --profile {blessed}"
    )]
    OtherProfile {
        /// The baseline's.
        blessed: String,
        /// The report's.
        report: String,
    },
    /// All blesses together went too far.
    #[error("max_drift: {}. Mend it, or raise max_drift in pacegate.toml where reviewers see it", sentences(.0))]
    Drift(Vec<Reason>),
}

/// The first few sentences, and how many more there are.
fn sentences(reasons: &[Reason]) -> String {
    const MOST: usize = 5;
    let mut shown: Vec<String> = reasons.iter().take(MOST).map(Reason::to_string).collect();
    if reasons.len() > MOST {
        shown.push(format!("and {} more", reasons.len() - MOST));
    }
    shown.join("; ")
}

/// The baseline that a report would make by itself, without a history.
#[must_use]
pub fn fresh(report: &Report) -> Baseline {
    let reports = vec![kept(report)];
    Baseline {
        schema: baseline::SCHEMA.to_owned(),
        tool: Tool::pacegate(),
        profile: report.profile.name.clone(),
        summary: summary(&reports, &values(&reports)),
        ledger: Ledger::default(),
        reports,
    }
}

/// Makes the new baseline.
///
/// # Errors
/// What stands against it. Nothing is changed then.
pub fn bless(
    existing: Option<&Baseline>,
    candidate: &Report,
    request: &BlessRequest<'_>,
) -> Result<Blessed, BlessRefused> {
    let reason = request.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let objections = Objections::of(request.verdict);
    refuse(existing, candidate, request, &objections, reason)?;
    let report = kept(candidate);
    let old = existing.map(|existing| values(&existing.reports)).unwrap_or_default();
    if let Some(existing) = existing.filter(|existing| !request.add && has_all_jobs(existing, &report)) {
        return Ok(blessed(existing.clone(), BlessAction::Replace, true, 0, (&old, &old)));
    }
    let (action, mut reports) = match existing {
        None => (BlessAction::First, vec![report]),
        Some(_) if !request.add => (BlessAction::Replace, vec![report]),
        Some(existing) => (BlessAction::Add, existing.reports.iter().cloned().chain([report]).collect()),
    };
    let dropped = keep_last(&mut reports);
    let new = values(&reports);
    let restarted = restarted(&objections, &old, &new);
    let ledger = existing.map(|existing| existing.ledger.clone()).unwrap_or_default();
    let entry = LedgerEntry {
        at: request.now,
        code: request.code.clone(),
        action,
        reason: reason.map(str::to_owned),
        restarted: restarted.iter().cloned().collect(),
        changes: ledger::changes(&old, &new, &restarted),
    };
    let baseline = Baseline {
        schema: baseline::SCHEMA.to_owned(),
        tool: Tool::pacegate(),
        profile: candidate.profile.name.clone(),
        summary: summary(&reports, &new),
        ledger: Ledger {
            pinned: ledger::pin(&ledger.pinned, &new, &restarted),
            entries: ledger.entries.into_iter().chain([entry]).collect(),
        },
        reports,
    };
    let blessed = blessed(baseline, action, false, dropped, (&old, &new));
    match request.max_drift.map(|max| beyond(&blessed.drift, max)).filter(|over| !over.is_empty()) {
        Some(over) => Err(BlessRefused::Drift(over)),
        None => Ok(blessed),
    }
}

fn refuse(
    existing: Option<&Baseline>,
    candidate: &Report,
    request: &BlessRequest<'_>,
    objections: &Objections,
    reason: Option<&str>,
) -> Result<(), BlessRefused> {
    if request.in_ci && !request.allow_ci {
        return Err(BlessRefused::InCi);
    }
    let impossible = Objections::impossible(request.sight.unwrap_or(request.verdict));
    let invalid: Vec<Reason> = once(objections.invalid.iter().cloned().chain(impossible));
    if !invalid.is_empty() {
        return Err(BlessRefused::Invalid(invalid));
    }
    let sight = request.sight.into_iter();
    let said = sight.flat_map(|s| s.problems.iter().chain(s.findings.iter().flat_map(|f| &f.reasons)));
    let blind = said.filter(|r| matches!(r, Reason::Blind { .. } | Reason::LimitOutOfReach { .. }));
    let blind: Vec<Reason> = blind.cloned().collect();
    if !blind.is_empty() {
        return Err(BlessRefused::Blind(blind));
    }
    if request.sight.is_some_and(|sight| sight.counts.required == 0) {
        return Err(BlessRefused::NothingGated);
    }
    if let Some(job) = measured_twice(candidate) {
        return Err(BlessRefused::SameContent(job.id.clone()));
    }
    if let Some(existing) = existing {
        if existing.profile != candidate.profile.name {
            let (blessed, report) = (existing.profile.clone(), candidate.profile.name.clone());
            return Err(BlessRefused::OtherProfile { blessed, report });
        }
        if request.add {
            if !objections.incomparable.is_empty() {
                return Err(BlessRefused::NotComparable(objections.incomparable.clone()));
            }
            let report = kept(candidate);
            let twice = report.jobs.iter().find(|job| existing.jobs().any(|(_, old)| same_job(old, job)));
            if let Some(job) = twice {
                return Err(BlessRefused::SameContent(job.id.clone()));
            }
            if let Some((old, new, why)) = shared_job(existing, &report) {
                return Err(BlessRefused::OneJob { new: new.id.clone(), old: old.id.clone(), why });
            }
        }
    }
    let Objections { worse, suspicious, incomparable, .. } = objections;
    let why: Vec<Reason> = worse.iter().chain(suspicious).chain(incomparable).cloned().collect();
    if reason.is_none() && !why.is_empty() {
        return Err(BlessRefused::NeedsReason(why));
    }
    Ok(())
}

fn blessed(
    baseline: Baseline,
    action: BlessAction,
    unchanged: bool,
    dropped: usize,
    (old, new): (&BTreeMap<FieldId, Quantity>, &BTreeMap<FieldId, Quantity>),
) -> Blessed {
    let drift: Vec<Drift> = drift_of(&baseline.ledger, new);
    Blessed { rows: rows(old, new), drift, baseline, action, unchanged, dropped }
}

fn rows(old: &BTreeMap<FieldId, Quantity>, new: &BTreeMap<FieldId, Quantity>) -> Vec<FieldRow> {
    let shown = |values: &BTreeMap<FieldId, Quantity>| -> Vec<FieldId> {
        values.keys().filter(|field| is_shown(field, values)).cloned().collect()
    };
    let fields: BTreeSet<FieldId> = shown(old).into_iter().chain(shown(new)).collect();
    let value = |values: &BTreeMap<FieldId, Quantity>, field: &FieldId| values.get(field).map(|q| q.value);
    fields
        .into_iter()
        .map(|field| FieldRow {
            unit: new.get(&field).or(old.get(&field)).map_or(field.metric.unit(), |q| q.unit),
            direction: field.metric.direction(),
            old: value(old, &field),
            new: value(new, &field),
            field,
        })
        .collect()
}

/// What of a report is kept: no inter-token samples (the quantiles stay), no text of servers, no folders of machines.
fn kept(report: &Report) -> Report {
    let mut report = report.clone();
    for file in &mut report.source.files {
        let name = std::path::Path::new(file.as_str()).file_name().and_then(|name| name.to_str());
        *file = name.unwrap_or_default().to_owned();
    }
    for round in report.jobs.iter_mut().flat_map(|job| &mut job.rounds) {
        // The other side of a duet was the old code: it is not what gets blessed.
        round.against.clear();
        for group in &mut round.groups {
            group.requests.error_samples.clear();
            if let Some(itl) = group.metrics.get_mut(&Metric::ITL) {
                itl.samples = None;
            }
        }
    }
    report
}

fn has_all_jobs(existing: &Baseline, report: &Report) -> bool {
    let old: Vec<&Job> = existing.jobs().map(|(_, job)| job).collect();
    old.len() == report.jobs.len()
        && old.iter().zip(&report.jobs).all(|(old, new)| same_job(old, new))
        && existing.reports.iter().all(|old| old.subject == report.subject && old.profile == report.profile)
}

/// Drops the oldest jobs until the last [`MOST_JOBS`] are left, and says how many went.
fn keep_last(reports: &mut Vec<Report>) -> usize {
    let all: usize = reports.iter().map(|report| report.jobs.len()).sum();
    let surplus = all.saturating_sub(MOST_JOBS);
    let mut left = surplus;
    for report in reports.iter_mut() {
        let drop = left.min(report.jobs.len());
        report.jobs.drain(..drop);
        left -= drop;
    }
    reports.retain(|report| !report.jobs.is_empty());
    surplus
}

/// The groups whose workload is another one than before.
fn restarted(
    objections: &Objections,
    old: &BTreeMap<FieldId, Quantity>,
    new: &BTreeMap<FieldId, Quantity>,
) -> BTreeSet<GroupId> {
    let groups = |values: &BTreeMap<FieldId, Quantity>| -> BTreeSet<GroupId> {
        values.keys().map(|field| field.group.clone()).collect()
    };
    let both: BTreeSet<GroupId> = groups(old).intersection(&groups(new)).cloned().collect();
    if objections.all_incomparable {
        return both;
    }
    both.intersection(&objections.incomparable_groups).cloned().collect()
}

/// What a reviewer reads first in the diff. Capitals sort before the names of groups.
fn summary(reports: &[Report], all: &BTreeMap<FieldId, Quantity>) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    let mut say = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.insert(key.to_owned(), value);
        }
    };
    let groups = || {
        let jobs = reports.iter().flat_map(|report| &report.jobs);
        jobs.flat_map(|job| &job.rounds).flat_map(|round| &round.groups)
    };
    let sum =
        |of: &dyn Fn(&crate::model::Group) -> Option<u64>| total(groups().map(of)).map(|n| n.to_string());
    let last = reports.last();
    let subject = |of: fn(&crate::model::report::Subject) -> &Option<String>| {
        last.and_then(|report| of(&report.subject).clone())
    };
    say("Jobs", Some(reports.iter().map(|report| report.jobs.len()).sum::<usize>().to_string()));
    say("Model that answered", subject(|subject| &subject.model));
    say("Engine", subject(|subject| &subject.engine));
    say("Engine version", subject(|subject| &subject.engine_version));
    say("Server", subject(|subject| &subject.server_hardware));
    say("Requests sent", sum(&|group| group.requests.sent));
    say("Requests succeeded", sum(&|group| group.requests.succeeded));
    say("Tokens in", sum(&|group| group.tokens.input));
    say("Tokens out", sum(&|group| group.tokens.output));
    if last.is_some_and(|report| report.source.kind == SourceKind::Simulate) {
        say("SIMULATED", Some("no endpoint was measured".to_owned()));
    } else if last.is_some_and(Report::is_simulated) {
        say("SIMULATED", Some("no model was measured".to_owned()));
    }
    for (field, value) in all.iter().filter(|(field, _)| is_shown(field, all)) {
        say(&field.to_string(), Some(value.to_string()));
    }
    lines
}

//! Three in a row: a channel over its limits in this job and in the two before it fails, though each job alone could be
//! noise (statistics.md §1.7).

use std::collections::BTreeSet;

use crate::exit::Exit;
use crate::model::history::{Before, HistoryNote, HistoryRow, Moment, PastJob};
use crate::model::verdict::Channel;
use crate::model::{Finding, Judgement, Outcome, Reason, Verdict};
use crate::stats::constants::{IN_A_ROW, Rule};
use crate::stats::evidence::{self, Class};
use crate::stats::trend::in_a_row;

use super::case::Case;
use super::channels::{Family, channel_class, moved};

/// The channels over their limits, the reference class too.
pub(super) fn over_limits(outcome: &evidence::Outcome) -> Vec<Channel> {
    let classes = outcome.classes.iter().filter(|class| class.over_limits).map(|class| class.class);
    named(outcome.run_over_limits, classes)
}

/// Those of them that are not significant.
pub(super) fn warned(outcome: &evidence::Outcome) -> Vec<Channel> {
    let (everything, classes) = outcome.warned_channels();
    named(everything, classes.into_iter())
}

/// The same where nothing is noise.
pub(super) fn exactly_over(cases: &[Case], family: &Family) -> Vec<Channel> {
    let both = family.places.iter().zip(&family.fields);
    let moved: Option<Vec<(f64, f64)>> = both.map(|(&place, field)| moved(&cases[place], field)).collect();
    let moved = moved.unwrap_or_default();
    let (levels, changes): (Vec<f64>, Vec<f64>) = moved.into_iter().unzip();
    match evidence::over_their_limits(&family.fields, &levels, &changes) {
        Ok((everything, classes)) => named(everything, classes.into_iter()),
        // No gated field, or a value without a logarithm: no channel either.
        Err(_) => Vec::new(),
    }
}

fn named(everything: bool, classes: impl Iterator<Item = Class>) -> Vec<Channel> {
    let run = everything.then_some(Channel::RunWide);
    run.into_iter().chain(classes.map(|class| Channel::Class(channel_class(class)))).collect()
}

/// Without the channels of which every field over its limit is waived.
pub(super) fn still_over(channels: Vec<Channel>, findings: &[Finding]) -> Vec<Channel> {
    let over = |f: &&Finding| f.gated && matches!(f.judgement, Judgement::Regressed | Judgement::Unresolved);
    let still = |channel: &Channel| findings.iter().filter(over).any(|f| channel.holds(&f.field.metric));
    channels.into_iter().filter(still).collect()
}

/// The verdict with what the jobs before say of its channels.
///
/// A channel that is over its limits in this job and in the two before it fails the job where the job is one of the
/// main branch and its baseline has three jobs; for all others it is a note.
#[must_use]
pub fn with_history(mut verdict: Verdict, before: &Before) -> Verdict {
    let own: BTreeSet<Channel> = verdict.over_limits.iter().copied().collect();
    // A re-run can clear a channel, and never makes one job two.
    let over = before.again.as_ref().map_or_else(|| own.clone(), |again| &again.over & &own);
    let first = before.again.as_ref().map_or(&before.this, |again| &again.first);
    let needs_blessed = needs_blessed(&verdict);
    let fails = failing(before, &over);
    let rows: Vec<HistoryRow> = over
        .iter()
        .map(|channel| {
            let (jobs, since) = row(&before.jobs, *channel, first);
            let fails = before.counts && needs_blessed == 0 && fails.contains(channel);
            HistoryRow { channel: *channel, jobs, since, fails }
        })
        .collect();
    let everything = rows.iter().find(|row| row.channel == Channel::RunWide).cloned();
    // One cause, one sentence: what everything did, each metric did too.
    let said = |row: &&HistoryRow| {
        let by = everything.as_ref().filter(|all| *all != *row);
        by.is_none_or(|all| all.jobs < row.jobs)
    };
    for row in rows.iter().rev().filter(said) {
        tell(&mut verdict, row, before.counts, needs_blessed);
    }
    verdict.exit_code = Exit::of(verdict.outcome, verdict.report_only).code();
    verdict.history = Some(HistoryNote {
        file: before.file.clone(),
        jobs: before.jobs.len(),
        again: before.again.is_some(),
        counts: before.counts,
        needs_blessed,
        rows,
    });
    verdict
}

/// The rule was validated where three blessed jobs tell how much jobs differ; a duet has no blessed jobs at all.
fn needs_blessed(verdict: &Verdict) -> usize {
    let blessed = verdict.baseline.as_ref().map_or(0, |baseline| baseline.jobs);
    Rule::STANDARD.replicated_jobs.saturating_sub(blessed)
}

fn failing(before: &Before, over: &BTreeSet<Channel>) -> BTreeSet<Channel> {
    let past = before.jobs.iter().map(|job| job.over.clone());
    in_a_row(&past.chain([over.clone()]).collect::<Vec<_>>())
}

/// How many jobs in a row, and the first of them.
fn row(past: &[PastJob], channel: Channel, this: &Moment) -> (usize, Moment) {
    let held: Vec<&PastJob> = past.iter().rev().take_while(|job| job.over.contains(&channel)).collect();
    (held.len() + 1, held.last().map_or(this, |job| &job.first).clone())
}

fn tell(verdict: &mut Verdict, row: &HistoryRow, counts: bool, needs_blessed: usize) {
    if row.fails {
        verdict.problems.insert(0, Reason::InARow(row.clone()));
        verdict.outcome = verdict.outcome.join(Outcome::Regression);
    } else if !counts && row.jobs >= IN_A_ROW {
        verdict.notes.push(Reason::OverBeforeThisChange(row.clone()));
    } else if counts && needs_blessed == 0 && row.jobs + 1 == IN_A_ROW {
        verdict.notes.push(Reason::NextInARowFails(row.clone()));
    }
}

//! The jobs before one, against the same baseline.

use std::collections::BTreeSet;

use crate::model::Timestamp;
use crate::model::history::{Before, HistoryEntry, Moment, PastJob};

/// What the history says of the jobs before `this`: those of its profile against its baseline, by their time.
///
/// Runs of one commit or of one CI run are one job, in which a channel is over its limits only if it was so in each run.
#[must_use]
pub fn before(file: &str, entries: &[HistoryEntry], this: &HistoryEntry, counts: bool) -> Before {
    let of_this = |other: &&HistoryEntry| {
        other.profile == this.profile && other.baseline == this.baseline && other.at <= this.at
    };
    let mut past: Vec<&HistoryEntry> = entries.iter().filter(of_this).collect();
    past.sort_by_key(|entry| entry.at);
    let mut jobs: Vec<Vec<&HistoryEntry>> = Vec::new();
    for entry in past {
        match place(&jobs, entry) {
            Some(at) => jobs[at].push(entry),
            None => jobs.push(vec![entry]),
        }
    }
    let own = place(&jobs, this);
    let again = own.and_then(|at| past_job(&jobs[at]));
    // What is run again after later jobs still stands where it stood.
    jobs.truncate(own.unwrap_or(jobs.len()));
    Before {
        file: file.to_owned(),
        jobs: jobs.iter().filter_map(|runs| past_job(runs)).collect(),
        again,
        this: moment(this),
        counts,
    }
}

/// The job that an entry is a further run of, wherever it stands: the same CI run, or the same commit.
fn place(jobs: &[Vec<&HistoryEntry>], entry: &HistoryEntry) -> Option<usize> {
    let same =
        |run: &&HistoryEntry| run.job == entry.job || run.commit.is_some() && run.commit == entry.commit;
    jobs.iter().position(|runs| runs.iter().any(same))
}

fn past_job(runs: &[&HistoryEntry]) -> Option<PastJob> {
    let (first, others) = runs.split_first()?;
    let over =
        first.over.iter().copied().filter(|channel| others.iter().all(|run| run.over.contains(channel)));
    Some(PastJob { first: moment(first), over: over.collect::<BTreeSet<_>>() })
}

fn moment(entry: &HistoryEntry) -> Moment {
    let at: Timestamp = entry.at;
    Moment { commit: entry.commit.clone(), at }
}

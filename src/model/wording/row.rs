//! Job after job on the main branch.

use crate::model::history::{HistoryRow, Moment};
use crate::model::sentence::Sentence;
use crate::model::timestamp::Timestamp;

/// A commit id, as short as git shows it.
const SHORT_COMMIT: usize = 7;

/// A commit id, short.
#[must_use]
pub fn short_commit(commit: &str) -> String {
    commit.chars().take(SHORT_COMMIT).collect()
}

/// `11 Nov 2026`.
#[must_use]
pub fn day(at: Timestamp) -> String {
    let utc = at.get();
    let month = utc.month().to_string();
    format!("{} {} {}", utc.day(), month.get(..3).unwrap_or(&month), utc.year())
}

/// `commit 3f2a9c1 (11 Nov 2026)`, or the time where no commit is known.
#[must_use]
pub fn moment(moment: &Moment) -> Sentence {
    match &moment.commit {
        Some(commit) => {
            let short = short_commit(commit);
            Sentence::default().own("commit ").foreign(short).own(format!(" ({})", day(moment.at)))
        }
        None => Sentence::default().own(format!("the job of {} (its commit is not recorded)", moment.at)),
    }
}

pub fn in_a_row(row: &HistoryRow) -> Sentence {
    Sentence::default()
        .own(format!(
            "{} is over the limits in {} jobs of the main branch in a row, since ",
            row.channel.words(),
            row.jobs
        ))
        .then(moment(&row.since))
        .own(": one such job could be noise, three in a row are not. Look at what came in with that commit")
}

pub fn next_fails(row: &HistoryRow) -> Sentence {
    Sentence::default()
        .own(format!("{} is over the limits for the second job in a row, since ", row.channel.words()))
        .then(moment(&row.since))
        .own(": noise does that, but a third job in a row fails")
}

pub fn before_this_change(row: &HistoryRow) -> Sentence {
    Sentence::default()
        .own(format!(
            "{} is over the limits here, and was in the last {} jobs of the main branch, since ",
            row.channel.words(),
            row.jobs.saturating_sub(1)
        ))
        .then(moment(&row.since))
        .own(": it is probably not this change")
}

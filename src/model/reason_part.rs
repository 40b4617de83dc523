//! Words that some reasons choose between.

use super::statistic::Statistic;

/// How far a shift of the middle of all gated fields reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every gated field moved.
    Everything,
    /// Decode moved, and the time to the first token did not.
    Decode,
    /// Some fields did not move.
    NotAll,
}

/// What judges in place of a percentile that has too few samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// Nothing.
    Nothing,
    /// Another percentile of the same metric and group.
    Percentile(Statistic),
    /// Its limit all the same: somebody wrote it, or few samples can't explain so much.
    OwnLimit,
}

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The blessed baseline.
    Blessed,
    /// What is judged.
    Candidate,
}

/// What became of a baseline that a change alters, and so which copy judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnBaseline {
    /// Blessed by this change with this reason: it judges.
    Followed(String),
    /// Blessed by this change without a reason.
    NoReason,
    /// Other bytes without a bless.
    Edited,
    /// Entries or pinned values of the ledger are gone or altered.
    Rewritten,
    /// The ref has no such file, and the ledger is that of another baseline.
    Copied,
    /// The ref has it, this checkout does not.
    Removed,
    /// The ref has no such file, and nothing says why it is there now.
    NotAtRef,
}

/// What makes an improvement hard to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// Far better than before.
    TooGood,
    /// All samples equal.
    NoVariance,
    /// The very samples of the baseline.
    SameSamples,
}

//! Words that some reasons choose between.

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

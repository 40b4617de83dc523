//! Words that some reasons choose between.

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The blessed baseline.
    Blessed,
    /// What is judged.
    Candidate,
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

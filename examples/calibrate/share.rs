//! A share of gates with its Monte-Carlo standard error.

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Gates that failed.
    pub failed: usize,
    /// Gates in all.
    pub runs: usize,
}

impl Share {
    /// The share.
    pub fn value(self) -> f64 {
        self.failed as f64 / self.runs as f64
    }

    /// Its standard error; where none or all failed, as if one more had not.
    pub fn error(self) -> f64 {
        let p = (self.failed as f64 + 1.0) / (self.runs as f64 + 2.0);
        (p * (1.0 - p) / self.runs as f64).sqrt()
    }

    /// In percent with its standard error, to so many decimals.
    pub fn text(self, decimals: usize) -> String {
        format!("{:.decimals$} ± {:.decimals$}", 100.0 * self.value(), 100.0 * self.error())
    }
}

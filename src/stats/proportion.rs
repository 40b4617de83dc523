//! Proportions of successful requests: intervals for display, the score statistic for the verdict.
use super::check::{StatsError, open_share, real};
use super::tail::Tail;

/// Successful requests out of those sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    succeeded: usize,
    sent: usize,
}

impl Counts {
    /// # Errors
    /// When nothing was sent, or more succeeded than were sent.
    pub fn new(succeeded: usize, sent: usize) -> Result<Self, StatsError> {
        if sent == 0 {
            return Err(StatsError::Empty("requests"));
        }
        if succeeded > sent {
            return Err(StatsError::OutOfRange {
                what: "number of successful requests",
                value: real(succeeded),
                expected: "at most the number sent",
            });
        }
        Ok(Self { succeeded, sent })
    }

    /// Successful requests.
    pub fn succeeded(self) -> usize {
        self.succeeded
    }

    /// Requests sent, at least 1.
    pub fn sent(self) -> usize {
        self.sent
    }

    /// Requests that failed.
    pub fn failed(self) -> usize {
        self.sent - self.succeeded
    }

    /// Share of successes, 0 to 1.
    pub fn share(self) -> f64 {
        real(self.succeeded) / real(self.sent)
    }

    /// All jobs of a side together.
    ///
    /// # Errors
    /// When there are no jobs.
    pub fn pooled(jobs: &[Counts]) -> Result<Self, StatsError> {
        Self::new(jobs.iter().map(|job| job.succeeded).sum(), jobs.iter().map(|job| job.sent).sum())
    }
}

/// Wilson's score interval of a share.
///
/// # Errors
/// When `confidence` is not strictly between 0 and 1.
pub fn wilson(counts: Counts, confidence: f64) -> Result<(f64, f64), StatsError> {
    open_share("confidence", confidence)?;
    let z = Tail::Normal.exceeded_with((1.0 - confidence) / 2.0)?;
    let (n, share) = (real(counts.sent), counts.share());
    let shrink = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / shrink;
    let reach = z / shrink * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    Ok(((centre - reach).max(0.0), (centre + reach).min(1.0)))
}

/// Newcombe's interval (1998, method 10) of `candidate` − `baseline` as shares.
///
/// # Errors
/// When `confidence` is not strictly between 0 and 1.
pub fn newcombe(candidate: Counts, baseline: Counts, confidence: f64) -> Result<(f64, f64), StatsError> {
    let (c_low, c_high) = wilson(candidate, confidence)?;
    let (b_low, b_high) = wilson(baseline, confidence)?;
    let (c, b) = (candidate.share(), baseline.share());
    Ok(((c - b) - (c - c_low).hypot(b_high - b), (c - b) + (c_high - c).hypot(b - b_low)))
}

/// Score statistic of equal shares (Miettinen and Nurminen 1985 at margin 0): negative when the candidate succeeds
/// less often; 0 when all or none succeeded on both sides.
pub fn equal_shares_z(candidate: Counts, baseline: Counts) -> f64 {
    let (nc, nb) = (real(candidate.sent), real(baseline.sent));
    let total = nc + nb;
    let pooled = real(candidate.succeeded + baseline.succeeded) / total;
    let variance = pooled * (1.0 - pooled) * (1.0 / nc + 1.0 / nb) * total / (total - 1.0);
    if variance > 0.0 { (candidate.share() - baseline.share()) / variance.sqrt() } else { 0.0 }
}

/// How much more failures scatter between jobs of a side than independent requests would: Pearson's χ² over its
/// degrees of freedom, pooled over groups and sides; never below 1. A side where all or none failed says nothing.
///
/// # Errors
/// When a side has no jobs.
pub fn overdispersion(sides: &[&[Counts]]) -> Result<f64, StatsError> {
    let (mut chi_squared, mut freedom) = (0.0, 0.0);
    for jobs in sides {
        let all = Counts::pooled(jobs)?;
        let rate = real(all.failed()) / real(all.sent);
        if rate > 0.0 && rate < 1.0 {
            for job in *jobs {
                let n = real(job.sent);
                chi_squared += (real(job.failed()) - n * rate).powi(2) / (n * rate * (1.0 - rate));
            }
            freedom += real(jobs.len() - 1);
        }
    }
    Ok(if freedom > 0.0 { f64::max(1.0, chi_squared / freedom) } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_counts_are_refused() {
        assert_eq!(Counts::new(0, 0), Err(StatsError::Empty("requests")));
        assert!(Counts::new(3, 2).is_err());
        assert!(Counts::pooled(&[]).is_err());
        assert!(overdispersion(&[&[]]).is_err());
        assert!(wilson(Counts::new(1, 2).unwrap(), 1.0).is_err());
    }
}

//! Within-round intervals, for display only: they don't know the noise between jobs, so no verdict rests on them.
use super::check::{StatsError, open_share, real};
use super::percentile::{Definition, Sorted};
use super::sampling::log_spread;
use super::tail::Tail;
use statrs::function::beta;

/// 1-based ranks of the distribution-free interval of a percentile; `None` where the rank lies outside of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// Largest rank that is below the percentile with the wanted confidence.
    pub lower: Option<usize>,
    /// Smallest rank that is above it.
    pub upper: Option<usize>,
}

/// Ranks between which percentile `p` of the population lies with two-sided `confidence`, from the binomial
/// distribution of the number of samples below it.
///
/// # Errors
/// When `n` is 0, `p` is not strictly between 0 and 100, or `confidence` not strictly between 0 and 1.
pub fn order_ranks(n: usize, p: f64, confidence: f64) -> Result<Ranks, StatsError> {
    if n == 0 {
        return Err(StatsError::Empty("samples"));
    }
    let q = p / 100.0;
    open_share("percentile as a share", q)?;
    open_share("confidence", confidence)?;
    let outside = (1.0 - confidence) / 2.0;
    let below = first(n, |k| at_most(k, n, q) > outside);
    let above = first(n, |k| 1.0 - at_most(k, n, q) <= outside + 1e-15) + 1;
    Ok(Ranks { lower: (below >= 1).then_some(below), upper: (above <= n).then_some(above) })
}

/// Smallest k of 0 to n for which a monotone condition holds; n when it holds nowhere.
fn first(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// P(Binomial(n, q) ≤ k).
fn at_most(k: usize, n: usize, q: f64) -> f64 {
    if k >= n { 1.0 } else { beta::beta_reg(real(n - k), real(k + 1), 1.0 - q) }
}

/// A ratio with the ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioInterval {
    /// Candidate ÷ baseline.
    pub ratio: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Standard error of the logarithm of the ratio.
    pub log_se: f64,
}

/// Ratio of the floor-rank percentiles of one round each, with an interval for independent requests.
///
/// # Errors
/// When `p` is not strictly between 0 and 100, `confidence` not strictly between 0 and 1, or a sample near the
/// percentile is zero.
pub fn ratio_interval(
    baseline: &Sorted,
    candidate: &Sorted,
    p: f64,
    confidence: f64,
) -> Result<RatioInterval, StatsError> {
    open_share("confidence", confidence)?;
    let log_se = log_spread(baseline, p, 1.0, 1.0)?.hypot(log_spread(candidate, p, 1.0, 1.0)?);
    let value = |side: &Sorted| match side.percentile(p, Definition::FloorRank)? {
        0.0 => Err(StatsError::Zero("samples")),
        value => Ok(value),
    };
    let ratio = value(candidate)? / value(baseline)?;
    let reach = (Tail::Normal.exceeded_with((1.0 - confidence) / 2.0)? * log_se).exp();
    Ok(RatioInterval { ratio, lower: ratio / reach, upper: ratio * reach, log_se })
}

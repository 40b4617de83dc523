//! Sampling variance `w` of the logarithm of a percentile or a throughput: how much it would change if the same
//! server answered another set of requests. Within one round it is estimated from the samples; over the rounds of a
//! job the larger of estimate and observed scatter counts.
use super::check::{StatsError, mean, not_negative, open_share, real, same_length, squares, whole, within};
use super::constants::{NORMAL_PERCENTILE_SPREAD, SUMMARY_REQUESTS, SUMMARY_SPREAD, SUMMARY_SPREAD_TTFT};
use super::percentile::{Definition, Sorted};

/// Factor by which dependence between neighbouring requests inflates the variance of percentile `p` (Heidelberger and
/// Lewis 1984): 1 + twice the sum of the autocorrelations of "slower than the percentile", up to the first below
/// 2/√n. Samples in arrival order; between 1 and max(1, n/10).
///
/// # Errors
/// When there are no samples, one is NaN, infinite or negative, or `p` is not within 0 to 100.
pub fn percentile_inflation(arrivals: &[f64], p: f64) -> Result<f64, StatsError> {
    not_negative("samples", arrivals)?;
    let mut values = arrivals.to_vec();
    let threshold = match Definition::FloorRank.rank_picked(values.len(), p)? {
        Some(rank) => *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1,
        None => return Err(StatsError::Empty("samples")),
    };
    Ok(exceedance_inflation(arrivals, threshold))
}

/// The same for a throughput: autocorrelations of "slower than the median" of the E2E samples in arrival order.
///
/// # Errors
/// When there are no samples, or one is NaN, infinite or negative.
pub fn throughput_inflation(arrivals: &[f64]) -> Result<f64, StatsError> {
    let threshold = Sorted::new(arrivals.to_vec())?.percentile(50.0, Definition::Median)?;
    Ok(exceedance_inflation(arrivals, threshold))
}

fn exceedance_inflation(arrivals: &[f64], threshold: f64) -> f64 {
    let n = arrivals.len();
    let slower: Vec<f64> = arrivals.iter().map(|x| if *x > threshold { 1.0 } else { 0.0 }).collect();
    let share = mean(&slower);
    let deviation: Vec<f64> = slower.iter().map(|x| x - share).collect();
    let variance = deviation.iter().map(|d| d * d).sum::<f64>() / real(n);
    if n < 20 || variance <= 0.0 {
        return 1.0;
    }
    let mut sum = 0.0;
    for lag in 1..=(n / 4).min(200) {
        let products = deviation.iter().zip(&deviation[lag..]).map(|(a, b)| a * b).sum::<f64>();
        let correlation = products / real(n) / variance;
        if correlation < 2.0 / real(n).sqrt() {
            break;
        }
        sum += correlation;
    }
    (1.0 + 2.0 * sum).max(1.0).min((real(n) / 10.0).max(1.0))
}

/// Standard deviation of the logarithm of percentile `p` within one round, read off the order statistics `reach`
/// standard deviations either side of it.
///
/// # Errors
/// When `p` is not strictly between 0 and 100, `inflation` or `reach` is below 1, or a sample that is needed is zero.
pub fn log_spread(samples: &Sorted, p: f64, inflation: f64, reach: f64) -> Result<f64, StatsError> {
    let q = p / 100.0;
    open_share("percentile as a share", q)?;
    within("variance inflation", inflation, 1.0..=f64::MAX, "1 or more")?;
    within("reach", reach, 1.0..=100.0, "1 or more")?;
    let n = real(samples.len());
    let step = (n * q * (1.0 - q) * inflation).sqrt();
    let centre = n * q + 0.5;
    let (low, high) = ((centre - reach * step).max(1.0), (centre + reach * step).min(n));
    if high <= low {
        return Ok(0.0);
    }
    let distance = log_at(samples, high)? - log_at(samples, low)?;
    Ok(distance / ((high - low) / step))
}

/// Logarithm at a fractional 1-based rank within the sample, linear between the logarithms of the neighbours.
fn log_at(samples: &Sorted, rank: f64) -> Result<f64, StatsError> {
    let values = samples.as_slice();
    let lower = whole(rank, values.len());
    let fraction = rank - real(lower);
    let log = |i: usize| if values[i] > 0.0 { Ok(values[i].ln()) } else { Err(StatsError::Zero("samples")) };
    let low = log(lower - 1)?;
    if fraction == 0.0 { Ok(low) } else { Ok(low + fraction * (log(lower)? - low)) }
}

/// `w` of percentile `p` of one round. The reading three standard deviations wide sees a boundary between two modes
/// that the narrow one misses, so the larger counts. `inflation` is [`percentile_inflation`] of the same round.
///
/// # Errors
/// As [`log_spread`].
pub fn percentile_variance(samples: &Sorted, p: f64, inflation: f64) -> Result<f64, StatsError> {
    let near = log_spread(samples, p, inflation, 1.0)?;
    let wide = log_spread(samples, p, inflation, 3.0)?;
    Ok(near.max(wide).powi(2))
}

/// `w` of the throughput of one round from its E2E samples in any order: CV²/n, times [`throughput_inflation`].
///
/// # Errors
/// When `inflation` is below 1, or all samples are zero.
pub fn throughput_variance(e2e: &Sorted, inflation: f64) -> Result<f64, StatsError> {
    within("variance inflation", inflation, 1.0..=f64::MAX, "1 or more")?;
    let n = real(e2e.len());
    let centre = mean(e2e.as_slice());
    if centre <= 0.0 {
        return Err(StatsError::Zero("samples"));
    }
    Ok(squares(e2e.as_slice()) / n / n / centre.powi(2) * inflation)
}

/// What a number that comes without samples is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Summary {
    /// A percentile of TTFT, which spreads wider than the others.
    TtftPercentile(f64),
    /// A percentile of any other latency.
    Percentile(f64),
    /// A throughput.
    Throughput,
}

/// `w` of a number that comes without samples, from the spread that is usual for its metric; `requests` unknown
/// counts as 100.
///
/// # Errors
/// When `requests` is 0, or the percentile is none of 50, 90, 95 and 99.
pub fn summary_variance(summary: Summary, requests: Option<usize>) -> Result<f64, StatsError> {
    let n = requests.unwrap_or(SUMMARY_REQUESTS);
    if n == 0 {
        return Err(StatsError::Empty("requests behind a summary"));
    }
    let (spread, factor) = match summary {
        Summary::TtftPercentile(p) => (SUMMARY_SPREAD_TTFT, percentile_spread(p)?),
        Summary::Percentile(p) => (SUMMARY_SPREAD, percentile_spread(p)?),
        Summary::Throughput => (SUMMARY_SPREAD, 1.0),
    };
    Ok((spread * factor).powi(2) / real(n))
}

fn percentile_spread(p: f64) -> Result<f64, StatsError> {
    NORMAL_PERCENTILE_SPREAD.iter().find(|(known, _)| *known == p).map(|(_, spread)| *spread).ok_or(
        StatsError::OutOfRange { what: "percentile of a summary", value: p, expected: "50, 90, 95 or 99" },
    )
}

/// One field in one job: its value and what the job's rounds say about its sampling variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobValue {
    /// Mean over the rounds of the sign-aligned logarithm (+ = worse).
    pub x: f64,
    /// What the rounds' own `w` give for that mean.
    pub estimated: f64,
    /// What the scatter between the rounds gives for it; `None` with one round.
    pub observed: Option<f64>,
}

impl JobValue {
    /// From the rounds' sign-aligned logarithms and their `w`.
    ///
    /// # Errors
    /// When there is no round, lengths differ, a number is NaN or infinite, or a variance negative.
    pub fn of_rounds(logs: &[f64], variances: &[f64]) -> Result<Self, StatsError> {
        super::check::finite("round values", logs)?;
        not_negative("round variances", variances)?;
        same_length("round variances", logs.len(), variances.len())?;
        let m = real(logs.len());
        let observed = (logs.len() > 1).then(|| squares(logs) / (m * (m - 1.0)));
        Ok(Self { x: mean(logs), estimated: mean(variances) / m, observed })
    }

    /// The variance `w` of `x` once the pooled inflation of [`round_inflation`] is known.
    pub fn variance(&self, inflation: f64) -> f64 {
        let estimated = inflation * self.estimated;
        self.observed.map_or(estimated, |observed| estimated.max(observed))
    }
}

/// Factor by which rounds of the same job scatter more than their `w` says, pooled over every job of both sides that
/// has several rounds, and every field; never below 1.
pub fn round_inflation<'a>(values: impl IntoIterator<Item = &'a JobValue>) -> f64 {
    let (mut observed, mut estimated) = (0.0, 0.0);
    for value in values {
        if let Some(scatter) = value.observed {
            observed += scatter;
            estimated += value.estimated;
        }
    }
    if estimated > 0.0 { f64::max(1.0, observed / estimated) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_sample_near_the_percentile_is_refused() {
        let mut samples = vec![5.0; 40];
        samples.extend([0.0; 40]);
        let sorted = Sorted::new(samples).unwrap();
        assert_eq!(log_spread(&sorted, 50.0, 1.0, 1.0), Err(StatsError::Zero("samples")));
        assert!(log_spread(&sorted, 95.0, 1.0, 1.0).is_ok());
        assert_eq!(
            throughput_variance(&Sorted::new(vec![0.0; 3]).unwrap(), 1.0),
            Err(StatsError::Zero("samples"))
        );
    }

    #[test]
    fn one_sample_has_no_spread() {
        let sorted = Sorted::new(vec![7.0]).unwrap();
        assert_eq!(percentile_variance(&sorted, 50.0, 1.0), Ok(0.0));
        assert_eq!(percentile_inflation(&[7.0], 50.0), Ok(1.0));
    }

    #[test]
    fn rounds_that_all_claim_no_variance_still_count_their_scatter() {
        let value = JobValue::of_rounds(&[1.0, 1.2], &[0.0, 0.0]).unwrap();
        assert_eq!(round_inflation([&value]), 1.0);
        assert!((value.variance(1.0) - 0.01).abs() < 1e-15);
    }

    #[test]
    fn nan_rounds_and_unequal_lengths_are_refused() {
        assert!(JobValue::of_rounds(&[], &[]).is_err());
        assert!(JobValue::of_rounds(&[f64::NAN], &[0.1]).is_err());
        assert!(JobValue::of_rounds(&[1.0], &[f64::INFINITY]).is_err());
        assert!(JobValue::of_rounds(&[1.0], &[-0.1]).is_err());
        assert!(JobValue::of_rounds(&[1.0, 2.0], &[0.1]).is_err());
    }

    #[test]
    fn a_summary_without_its_number_of_requests_counts_as_100() {
        assert_eq!(
            summary_variance(Summary::Percentile(95.0), None),
            summary_variance(Summary::Percentile(95.0), Some(100))
        );
        assert!(summary_variance(Summary::Percentile(95.0), Some(0)).is_err());
        assert!(summary_variance(Summary::Percentile(75.0), Some(10)).is_err());
    }
}

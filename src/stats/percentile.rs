//! What the tools of this field mean by a percentile, and how many samples one needs.
use super::check::{StatsError, not_negative, real, whole, within};
use super::constants::PERCENTILE_CONFIDENCE;

/// How a percentile p is read off n sorted samples. Never mix two of them: at n = 300 they differ by 17 % at P99.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Definition {
    /// `s[min(floor(n·p/100), n−1)]`, 0-based. Our own; also oha's, trtllm-bench's and MLPerf LoadGen's.
    FloorRank,
    /// The middle sample, or the mean of the middle two (Python's `statistics.median`). Only P50.
    Median,
    /// Linear between `s[(n−1)·p/100]`'s neighbours (Hyndman-Fan 7, NumPy's and pandas' default).
    Linear,
    /// 1-based rank `ceil(n·p/100)`.
    NearestRank,
    /// The smallest sample with at least p % of the samples at or below it. Picks what [`Definition::NearestRank`]
    /// picks; tools that weight their samples use this name for it.
    InvertedCdf,
    /// 1-based position `(n+1)·p/100`, extended beyond the outermost samples (Python's `statistics.quantiles`,
    /// Hyndman-Fan 6 within the sample): at small n P99 can exceed the largest sample.
    Exclusive,
}

/// Where a definition looks in the sorted samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Position {
    /// At this sample, 1-based.
    Rank(usize),
    /// Between this sample (1-based) and the next, by this fraction of their distance. [`Definition::Exclusive`] may
    /// give a fraction below 0 or above 1.
    Between(usize, f64),
}

impl Definition {
    /// Where percentile `p` lies among `n` sorted samples.
    ///
    /// # Errors
    /// When `n` is 0, `p` is not within 0 to 100, or a median is asked for another percentile than 50.
    pub fn position(self, n: usize, p: f64) -> Result<Position, StatsError> {
        if n == 0 {
            return Err(StatsError::Empty("samples"));
        }
        within("percentile", p, 0.0..=100.0, "0 to 100")?;
        let below = real(n) * p / 100.0;
        Ok(match self {
            Definition::FloorRank => Position::Rank(whole(below, n - 1) + 1),
            Definition::NearestRank | Definition::InvertedCdf => {
                Position::Rank(whole(below.ceil(), n).max(1))
            }
            Definition::Median => {
                within("percentile read as a median", p, 50.0..=50.0, "50")?;
                if n % 2 == 1 { Position::Rank(n / 2 + 1) } else { Position::Between(n / 2, 0.5) }
            }
            Definition::Linear => {
                let offset = real(n - 1) * (p / 100.0);
                between(whole(offset, n - 1) + 1, offset - offset.floor())
            }
            Definition::Exclusive if n == 1 => Position::Rank(1),
            Definition::Exclusive => {
                let rank = real(n + 1) * p / 100.0;
                let lower = whole(rank, n - 1).max(1);
                between(lower, rank - real(lower))
            }
        })
    }

    /// The 1-based rank of the sample that this definition picks, or `None` where it lies between two samples.
    ///
    /// # Errors
    /// As [`Definition::position`].
    pub fn rank_picked(self, n: usize, p: f64) -> Result<Option<usize>, StatsError> {
        Ok(match self.position(n, p)? {
            Position::Rank(rank) => Some(rank),
            Position::Between(..) => None,
        })
    }
}

/// Normalises the ends so that an exact hit is a rank.
fn between(lower: usize, fraction: f64) -> Position {
    if fraction == 0.0 {
        Position::Rank(lower)
    } else if fraction == 1.0 {
        Position::Rank(lower + 1)
    } else {
        Position::Between(lower, fraction)
    }
}

/// Samples in ascending order, all finite, none negative, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the samples.
    ///
    /// # Errors
    /// When there are none, or one is NaN, infinite or negative.
    pub fn new(mut samples: Vec<f64>) -> Result<Self, StatsError> {
        not_negative("samples", &samples)?;
        samples.sort_unstable_by(f64::total_cmp);
        Ok(Self(samples))
    }

    /// Number of samples, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The samples, ascending.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// Percentile `p` by this definition, in the unit of the samples.
    ///
    /// # Errors
    /// When `p` is not within 0 to 100, or a median is asked for another percentile than 50.
    pub fn percentile(&self, p: f64, definition: Definition) -> Result<f64, StatsError> {
        Ok(match definition.position(self.len(), p)? {
            Position::Rank(rank) => self.0[rank - 1],
            Position::Between(lower, fraction) => interpolate(self.0[lower - 1], self.0[lower], fraction),
        })
    }
}

/// NumPy's form, which keeps the upper end exact; the same bits as the report of a tool built on it.
fn interpolate(low: f64, high: f64, fraction: f64) -> f64 {
    let step = high - low;
    if fraction >= 0.5 { high - step * (1.0 - fraction) } else { low + step * fraction }
}

/// The smallest number of samples that can say anything about percentile `p`: below it no order-statistic interval
/// of 95 % (two-sided) has its outer end inside the sample. P50 6, P90 36, P95 72, P99 368, P99.9 3688.
///
/// # Errors
/// When `p` is not strictly between 0 and 100.
pub fn smallest_sample(p: f64) -> Result<usize, StatsError> {
    smallest_sample_at(p, PERCENTILE_CONFIDENCE)
}

/// [`smallest_sample`] for another confidence than 95 %.
///
/// # Errors
/// When `p` is not strictly between 0 and 100, or `confidence` not strictly between 0 and 1.
pub fn smallest_sample_at(p: f64, confidence: f64) -> Result<usize, StatsError> {
    super::check::open_share("percentile as a share", p / 100.0)?;
    super::check::open_share("confidence", confidence)?;
    let outer = p.max(100.0 - p) / 100.0;
    let n = (((1.0 - confidence) / 2.0).ln() / outer.ln()).ceil();
    Ok(whole(n, usize::MAX))
}

/// Why a percentile can't be judged from these numbers of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooFew {
    /// A round has fewer samples than the percentile needs.
    Below {
        /// Samples in the smallest round.
        found: usize,
        /// [`smallest_sample`].
        needed: usize,
    },
    /// The sides' sizes differ by more than a tenth and fewer than ten samples of the smaller lie beyond the
    /// percentile: its bias then depends on n (P99 at 100 against 1000 samples: +8 %).
    Unequal {
        /// Smaller side.
        smaller: usize,
        /// Larger side.
        larger: usize,
    },
}

/// Whether the smallest rounds of both sides can carry percentile `p`; `None` when they can.
///
/// # Errors
/// When `p` is not strictly between 0 and 100.
pub fn too_few(p: f64, baseline: usize, candidate: usize) -> Result<Option<TooFew>, StatsError> {
    let needed = smallest_sample(p)?;
    let (smaller, larger) = (baseline.min(candidate), baseline.max(candidate));
    if smaller < needed {
        return Ok(Some(TooFew::Below { found: smaller, needed }));
    }
    let beyond = real(smaller) * (1.0 - p / 100.0);
    let unequal = real(larger) > 1.1 * real(smaller) && beyond < 10.0;
    Ok(unequal.then_some(TooFew::Unequal { smaller, larger }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: u32) -> Sorted {
        Sorted::new((1..=n).rev().map(f64::from).collect()).unwrap()
    }

    #[test]
    fn exclusive_p99_can_exceed_the_largest_sample() {
        // Python 3: statistics.quantiles(range(1, 51), n=100)[98] == 50.49
        let p99 = ramp(50).percentile(99.0, Definition::Exclusive).unwrap();
        assert!((p99 - 50.49).abs() < 1e-12, "{p99}");
        // statistics.quantiles([1, 2, 3, 4], n=100)[0] == 0.05
        let p1 = ramp(4).percentile(1.0, Definition::Exclusive).unwrap();
        assert!((p1 - 0.05).abs() < 1e-12, "{p1}");
    }

    #[test]
    fn the_rank_picked_at_p99_of_100_depends_on_the_definition() {
        let rank = |d: Definition| d.rank_picked(100, 99.0).unwrap();
        assert_eq!(rank(Definition::FloorRank), Some(100));
        assert_eq!(rank(Definition::NearestRank), Some(99));
        assert_eq!(rank(Definition::InvertedCdf), Some(99));
        assert_eq!(rank(Definition::Linear), None);
        assert_eq!(rank(Definition::Exclusive), None);
        assert_eq!(Definition::Median.rank_picked(5, 50.0).unwrap(), Some(3));
        assert_eq!(Definition::Median.rank_picked(4, 50.0).unwrap(), None);
        assert_eq!(Definition::Linear.rank_picked(101, 99.0).unwrap(), Some(100));
    }

    #[test]
    fn a_median_is_only_p50() {
        assert!(ramp(9).percentile(95.0, Definition::Median).is_err());
        assert_eq!(ramp(9).percentile(50.0, Definition::Median), Ok(5.0));
    }

    #[test]
    fn percentiles_outside_0_to_100_are_refused() {
        for p in [-1.0, 100.5, f64::NAN] {
            assert!(ramp(9).percentile(p, Definition::FloorRank).is_err());
        }
        assert_eq!(ramp(9).percentile(100.0, Definition::FloorRank), Ok(9.0));
        assert_eq!(ramp(9).percentile(0.0, Definition::NearestRank), Ok(1.0));
    }

    #[test]
    fn p95_needs_72_samples_and_sides_of_like_size() {
        assert_eq!(too_few(95.0, 71, 300).unwrap(), Some(TooFew::Below { found: 71, needed: 72 }));
        assert_eq!(too_few(95.0, 72, 72).unwrap(), None);
        assert_eq!(too_few(95.0, 100, 111).unwrap(), Some(TooFew::Unequal { smaller: 100, larger: 111 }));
        assert_eq!(too_few(95.0, 100, 110).unwrap(), None);
        assert_eq!(too_few(95.0, 1000, 200).unwrap(), None);
        assert!(too_few(100.0, 10, 10).is_err());
    }
}

use thiserror::Error;

/// Why a calculation was refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// Nothing to compute from.
    #[error("no {0}")]
    Empty(&'static str),
    /// NaN or infinity.
    #[error("{0} contain a value that is not a finite number")]
    NotFinite(&'static str),
    /// Below zero where that has no meaning.
    #[error("{what} contain {value}, which is below zero")]
    Negative {
        /// Which numbers.
        what: &'static str,
        /// The offending value.
        value: f64,
    },
    /// Zero where a logarithm or a division is needed: a latency below the clock's resolution.
    #[error("{0} contain a zero, so no ratio can be formed")]
    Zero(&'static str),
    /// Outside the interval in which the calculation means something.
    #[error("{what} is {value}, expected {expected}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// The offending value.
        value: f64,
        /// The permitted range in words.
        expected: &'static str,
    },
    /// Two inputs that must have the same number of entries have not.
    #[error("{what}: expected {expected} entries, found {found}")]
    Length {
        /// Which input.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries given.
        found: usize,
    },
}

/// `n` as a real number; exact below 2^53, far beyond any number of requests.
pub(super) fn real(n: usize) -> f64 {
    n as f64
}

/// The whole number below `x`, kept within `[0, highest]`; NaN gives 0.
pub(super) fn whole(x: f64, highest: usize) -> usize {
    (x.floor() as usize).min(highest)
}

/// Refuses an empty slice, NaN and infinity.
pub(super) fn finite(what: &'static str, values: &[f64]) -> Result<(), StatsError> {
    if values.is_empty() {
        return Err(StatsError::Empty(what));
    }
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(StatsError::NotFinite(what)) }
}

/// Refuses what [`finite`] refuses, and negative values.
pub(super) fn not_negative(what: &'static str, values: &[f64]) -> Result<(), StatsError> {
    finite(what, values)?;
    match values.iter().find(|v| **v < 0.0) {
        Some(value) => Err(StatsError::Negative { what, value: *value }),
        None => Ok(()),
    }
}

/// Refuses a second input that is not as long as the first.
pub(super) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), StatsError> {
    if expected == found { Ok(()) } else { Err(StatsError::Length { what, expected, found }) }
}

/// Refuses a value outside `range`; NaN is outside of every range.
pub(super) fn within(
    what: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), StatsError> {
    if range.contains(&value) { Ok(()) } else { Err(StatsError::OutOfRange { what, value, expected }) }
}

/// Refuses a share that is not strictly between 0 and 1.
pub(super) fn open_share(what: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(StatsError::OutOfRange { what, value, expected: "more than 0 and less than 1" })
    }
}

/// Mean of a slice that the caller knows to be non-empty.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len())
}

/// Sum of squares around the slice's own mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum()
}

/// Median of a non-empty slice of finite numbers, the mean of the middle two when their count is even. Reorders it.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_stay_in_range_at_the_edges() {
        assert_eq!(whole(2.999, 10), 2);
        assert_eq!(whole(-0.5, 10), 0);
        assert_eq!(whole(1e300, 10), 10);
        assert_eq!(whole(f64::NAN, 10), 0);
    }

    #[test]
    fn median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&mut [9.0, 1.0, 3.0]), 3.0);
    }

    #[test]
    fn nan_is_outside_of_every_range() {
        assert!(within("share", f64::NAN, 0.0..=1.0, "0 to 1").is_err());
        assert!(open_share("share", f64::NAN).is_err());
    }
}

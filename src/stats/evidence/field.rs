use super::super::check::{StatsError, within};
use super::super::constants::EPSILON;

/// The metrics whose fields are expected to move together. Their order breaks ties between references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Time to first token.
    Ttft,
    /// Time per output token.
    Tpot,
    /// Inter-token latency.
    Itl,
    /// End-to-end latency.
    E2e,
    /// All rates, for which more is better.
    Throughput,
}

impl Class {
    /// +1 where a larger value is worse, −1 for rates: `ln value = sign · x`.
    pub fn sign(self) -> f64 {
        match self {
            Class::Ttft | Class::Tpot | Class::Itl | Class::E2e => 1.0,
            Class::Throughput => -1.0,
        }
    }
}

/// One field of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Its channel class.
    pub class: Class,
    /// Number of its group; any numbering will do.
    pub group: usize,
    /// Relative limit on the logarithmic scale, from [`limit_of_increase`] or [`limit_of_decrease`].
    pub log_limit: f64,
    /// Smallest absolute change that counts, in the unit of the metric; 0 for none.
    pub floor: f64,
    /// Whether it is judged. A companion is not: it only steadies the median of its class.
    pub gated: bool,
    /// Whether some job has it only as a summary, without samples.
    pub summary: bool,
}

/// `ln(1 + share)`: the limit of a metric for which more is worse; 0.1 is +10 %.
///
/// # Errors
/// When `share` is negative, NaN or infinite.
pub fn limit_of_increase(share: f64) -> Result<f64, StatsError> {
    within("permitted increase", share, 0.0..=f64::MAX, "0 or more")?;
    Ok(share.ln_1p())
}

/// `−ln(1 − share)`: the limit of a metric for which less is worse; 0.1 is −10 %.
///
/// # Errors
/// When `share` is negative, NaN, or 1 and more.
pub fn limit_of_decrease(share: f64) -> Result<f64, StatsError> {
    within("permitted decrease", share, 0.0..=1.0 - EPSILON, "0 or more and below 1")?;
    Ok(-(-share).ln_1p())
}

/// Whether a change is over both the relative limit and the absolute floor of its field. A change exactly at either
/// passes. `baseline` is the sign-aligned logarithm of the baseline, `change` the one of the change (+ = worse).
pub fn over_limit(field: &Field, baseline: f64, change: f64) -> bool {
    let sign = field.class.sign();
    let absolute = ((sign * (baseline + change)).exp() - (sign * baseline).exp()).abs();
    change - field.log_limit > EPSILON && absolute > field.floor + EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_mean_nothing_are_refused() {
        for share in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(limit_of_increase(share).is_err());
            assert!(limit_of_decrease(share).is_err());
        }
        assert!(limit_of_decrease(1.0).is_err());
        assert_eq!(limit_of_increase(0.0), Ok(0.0));
    }
}

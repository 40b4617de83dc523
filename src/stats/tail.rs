//! Tail probabilities and quantiles of the normal and Student distributions.
use super::check::{StatsError, open_share, within};
use statrs::function::{beta, erf, gamma};
use std::f64::consts::{PI, SQRT_2};

/// Which distribution a standardised estimate is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tail {
    /// Standard normal.
    Normal,
    /// Student's t with this many degrees of freedom, which may be fractional and must be above 0.
    Student(f64),
}

impl Tail {
    /// P(T > x).
    ///
    /// # Errors
    /// When `x` is NaN, or the degrees of freedom are not positive and finite.
    pub fn upper(self, x: f64) -> Result<f64, StatsError> {
        if x.is_nan() {
            return Err(StatsError::NotFinite("test statistics"));
        }
        match self {
            Tail::Normal => Ok(0.5 * erf::erfc(x / SQRT_2)),
            Tail::Student(freedom) => {
                check_freedom(freedom)?;
                Ok(student_upper(x, freedom))
            }
        }
    }

    /// The x that is exceeded with probability `share`.
    ///
    /// # Errors
    /// When `share` is not strictly between 0 and 1, or the degrees of freedom are not positive and finite.
    pub fn exceeded_with(self, share: f64) -> Result<f64, StatsError> {
        open_share("tail probability", share)?;
        match self {
            Tail::Normal => Ok(SQRT_2 * erf::erfc_inv(2.0 * share)),
            Tail::Student(freedom) => {
                check_freedom(freedom)?;
                Ok(student_quantile(share, freedom))
            }
        }
    }
}

fn check_freedom(freedom: f64) -> Result<(), StatsError> {
    within("degrees of freedom", freedom, f64::MIN_POSITIVE..=1e9, "above 0 and finite")
}

/// The incomplete beta function is asked from the side on which its argument keeps its digits.
fn student_upper(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    let tail = if square < 1.0 {
        0.5 - 0.5 * beta::beta_reg(0.5, freedom / 2.0, square / (freedom + square))
    } else {
        0.5 * beta::beta_reg(freedom / 2.0, 0.5, freedom / (freedom + square))
    };
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// Newton's method on the logarithms of tail and t, where the curve is concave: after one step every further one
/// approaches from above.
fn student_quantile(share: f64, freedom: f64) -> f64 {
    if share > 0.5 {
        return -student_quantile(1.0 - share, freedom);
    }
    let log_scale =
        gamma::ln_gamma((freedom + 1.0) / 2.0) - gamma::ln_gamma(freedom / 2.0) - 0.5 * (freedom * PI).ln();
    let mut t = SQRT_2 * erf::erfc_inv(2.0 * share);
    if t < 1e-12 {
        return t.max(0.0);
    }
    for _ in 0..60 {
        let tail = student_upper(t, freedom);
        let density = (log_scale - (freedom + 1.0) / 2.0 * (t * t / freedom).ln_1p()).exp();
        let step = (tail / share).ln() * tail / (density * t);
        t *= step.exp();
        if step.abs() < 1e-14 {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_and_tail_are_inverse_over_the_range_the_rule_uses() {
        for freedom in [1.0, 4.37, 10.0, 11.0, 19.0, 40.0, 1000.0] {
            for share in [0.5, 0.49, 0.1, 0.025, 0.004, 0.004 / 500.0, 1e-9] {
                let tail = Tail::Student(freedom);
                let x = tail.exceeded_with(share).unwrap();
                let back = tail.upper(x).unwrap();
                assert!((back / share - 1.0).abs() < 1e-11, "freedom {freedom} share {share}: {back}");
                let mirrored = tail.exceeded_with(1.0 - share).unwrap();
                assert!((mirrored + x).abs() <= 1e-6 * x.abs().max(1.0), "freedom {freedom} share {share}");
            }
        }
    }

    #[test]
    fn normal_quantile_matches_tables() {
        assert!((Tail::Normal.exceeded_with(0.1).unwrap() - 1.281_551_565_544_600_4).abs() < 1e-14);
        assert!((Tail::Normal.exceeded_with(0.025).unwrap() - 1.959_963_984_540_054).abs() < 1e-14);
        let back = Tail::Normal.upper(1.959_963_984_540_054).unwrap();
        assert!((back / 0.025 - 1.0).abs() < 1e-10, "{back}");
    }

    #[test]
    fn nan_and_impossible_shares_are_refused() {
        assert!(Tail::Normal.upper(f64::NAN).is_err());
        assert!(Tail::Student(f64::NAN).upper(1.0).is_err());
        assert!(Tail::Student(0.0).upper(1.0).is_err());
        assert!(Tail::Normal.exceeded_with(0.0).is_err());
        assert!(Tail::Student(3.0).exceeded_with(1.0).is_err());
    }
}

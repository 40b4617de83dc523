//! Adjustment of p-values for having looked at many fields.
use super::check::{StatsError, real, within};

/// Holm 1979: adjusted p-values in input order; the chance of one false alarm among all stays below the level.
///
/// # Errors
/// When a p-value is not between 0 and 1. No p-values give no adjusted ones.
pub fn holm(p: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut highest: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        highest = highest.max((real(p.len() - rank) * p[i]).min(1.0));
        adjusted[i] = highest;
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg 1995: adjusted p-values in input order; bounds the expected share of false alarms.
///
/// # Errors
/// When a p-value is not between 0 and 1. No p-values give no adjusted ones.
pub fn benjamini_hochberg(p: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut lowest: f64 = 1.0;
    for (rank, &i) in order.iter().enumerate().rev() {
        lowest = lowest.min(p[i] * real(p.len()) / real(rank + 1));
        adjusted[i] = lowest;
    }
    Ok(adjusted)
}

fn ascending(p: &[f64]) -> Result<Vec<usize>, StatsError> {
    for value in p {
        within("p-value", *value, 0.0..=1.0, "0 to 1")?;
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_and_impossible_p_values_are_refused() {
        assert!(holm(&[0.1, f64::NAN]).is_err());
        assert!(benjamini_hochberg(&[1.5]).is_err());
        assert_eq!(holm(&[]), Ok(vec![]));
    }
}

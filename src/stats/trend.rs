//! Series of jobs: channels over their limits three times in a row, and change points of nightly values.
use super::check::{StatsError, finite, mean, real, squares, within};
use super::constants::{IN_A_ROW, TrendRule};
use super::tail::Tail;
use std::collections::BTreeSet;

/// Channels that are over their limits in the last job and in the two before it. `jobs` holds per job of the main
/// branch, oldest first and against one baseline, the channels over their limits, whatever their p.
pub fn in_a_row<T: Ord + Clone>(jobs: &[BTreeSet<T>]) -> BTreeSet<T> {
    let Some(recent) = jobs.len().checked_sub(IN_A_ROW).map(|start| &jobs[start..]) else {
        return BTreeSet::new();
    };
    let (first, others) = (&recent[0], &recent[1..]);
    first.iter().filter(|channel| others.iter().all(|job| job.contains(channel))).cloned().collect()
}

/// A night from which the series has another level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// 0-based index of the first value of the new level.
    pub index: usize,
    /// Two-sided p of the t-test between the levels.
    pub p: f64,
    /// New level minus old one.
    pub change: f64,
}

/// Where a series falls apart best, by the energy statistic of Matteson and James.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// 0-based index of the first value of the right part.
    pub index: usize,
    /// The energy statistic.
    pub energy: f64,
}

/// Change points of a series of logarithms, by binary segmentation: split where the energy statistic is largest, keep
/// the split if the t-test and the size of the change agree, go on in both parts.
///
/// # Errors
/// When the series is empty, holds NaN or infinity, or the rule's segment is shorter than 2.
pub fn change_points(rule: &TrendRule, series: &[f64]) -> Result<Vec<ChangePoint>, StatsError> {
    finite("nights", series)?;
    within("shortest segment", real(rule.segment), 2.0..=1e6, "2 or more")?;
    let mut found = Vec::new();
    segment(rule, series, 0, &mut found)?;
    Ok(found)
}

fn segment(
    rule: &TrendRule,
    series: &[f64],
    offset: usize,
    found: &mut Vec<ChangePoint>,
) -> Result<(), StatsError> {
    let Some(split) = best_split(series, rule.segment) else {
        return Ok(());
    };
    let (before, after) = series.split_at(split.index);
    let change = mean(after) - mean(before);
    let p = pooled_t_test(before, after)?;
    if p <= rule.p_max && change.abs() >= rule.change {
        segment(rule, before, offset, found)?;
        found.push(ChangePoint { index: offset + split.index, p, change });
        segment(rule, after, offset + split.index, found)?;
    }
    Ok(())
}

/// The split with the largest energy statistic among those that leave `shortest` values on both sides; `None` when the
/// series is too short or falls apart nowhere.
pub fn best_split(series: &[f64], shortest: usize) -> Option<Split> {
    let last = series.len().checked_sub(shortest)?;
    let mut best: Option<Split> = None;
    for index in shortest.max(1)..=last.min(series.len().saturating_sub(1)) {
        let energy = energy(&series[..index], &series[index..]);
        if energy > best.map_or(0.0, |best| best.energy) {
            best = Some(Split { index, energy });
        }
    }
    best
}

fn energy(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (real(a.len()), real(b.len()));
    let across = distances(a, b) / (n * m);
    let within = |part: &[f64], n: f64| if n > 1.0 { distances(part, part) / (n * (n - 1.0)) } else { 0.0 };
    n * m / (n + m) * (2.0 * across - within(a, n) - within(b, m))
}

fn distances(a: &[f64], b: &[f64]) -> f64 {
    a.iter().map(|x| b.iter().map(|y| (x - y).abs()).sum::<f64>()).sum()
}

/// Two-sided p of Student's t-test with pooled variance; both parts have two values or more.
fn pooled_t_test(a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
    let freedom = real(a.len() + b.len() - 2);
    let pooled = (squares(a) + squares(b)) / freedom;
    let se = (pooled * (1.0 / real(a.len()) + 1.0 / real(b.len()))).sqrt();
    let difference = (mean(b) - mean(a)).abs();
    if difference == 0.0 {
        return Ok(1.0);
    }
    Ok(2.0 * Tail::Student(freedom).upper(difference / se)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_step_between_constant_levels_is_found_with_p_zero() {
        let mut series = vec![0.0; 10];
        series.extend([0.5; 10]);
        let found = change_points(&TrendRule::STANDARD, &series).unwrap();
        assert_eq!(found, [ChangePoint { index: 10, p: 0.0, change: 0.5 }]);
    }

    fn two_steps(first: f64, second: f64, noise: f64) -> Vec<usize> {
        let level = |i: usize| if i < 12 { 0.0 } else { first } + if i < 24 { 0.0 } else { second };
        let series: Vec<f64> =
            (0..36).map(|i| level(i) + if i.is_multiple_of(2) { noise } else { -noise }).collect();
        change_points(&TrendRule::STANDARD, &series).unwrap().iter().map(|change| change.index).collect()
    }

    #[test]
    fn two_steps_are_both_found_in_order() {
        assert_eq!(two_steps(0.3, 0.3, 0.002), [12, 24]);
        assert_eq!(two_steps(0.1, 0.8, 0.002), [12, 24]);
        assert_eq!(two_steps(0.8, 0.1, 0.002), [12, 24]);
    }

    #[test]
    fn a_step_within_the_scatter_is_no_change() {
        assert!(two_steps(0.0, 0.1, 0.3).is_empty());
    }

    #[test]
    fn a_change_below_two_percent_is_none() {
        let mut series = vec![0.0; 10];
        series.extend([0.019; 10]);
        assert_eq!(change_points(&TrendRule::STANDARD, &series), Ok(vec![]));
    }

    #[test]
    fn nan_and_an_empty_series_are_refused() {
        assert!(change_points(&TrendRule::STANDARD, &[]).is_err());
        assert!(change_points(&TrendRule::STANDARD, &[0.1, f64::NAN]).is_err());
    }
}

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

/// A level between two equal ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// 0-based index of its first value.
    pub from: usize,
    /// Index of the first value after it.
    pub to: usize,
    /// Two-sided p of the t-test between it and the rest.
    pub p: f64,
}

/// The level that stands out most from what is before and after it, if the t-test and the size of the change agree.
/// Splitting in two overlooks such a level: it lies in neither half by itself.
///
/// # Errors
/// As [`change_points`].
pub fn plateau(rule: &TrendRule, series: &[f64]) -> Result<Option<Plateau>, StatsError> {
    finite("nights", series)?;
    within("shortest segment", real(rule.segment), 2.0..=1e6, "2 or more")?;
    let (n, shortest) = (series.len(), rule.segment);
    let mut best: Option<(f64, Plateau)> = None;
    for from in shortest..n {
        for to in from + shortest..=n.saturating_sub(shortest) {
            let outside: Vec<f64> = series[..from].iter().chain(&series[to..]).copied().collect();
            let apart = standardised(&outside, &series[from..to]);
            if best.is_none_or(|(most, _)| apart > most) {
                best = Some((apart, Plateau { from, to, p: 1.0 }));
            }
        }
    }
    let Some((_, Plateau { from, to, .. })) = best else { return Ok(None) };
    let outside: Vec<f64> = series[..from].iter().chain(&series[to..]).copied().collect();
    let (change, p) = level_change(&outside, &series[from..to])?;
    Ok((p <= rule.p_max && change.abs() >= rule.change).then_some(Plateau { from, to, p }))
}

/// Mean of `after` minus mean of `before`, and the two-sided p of the t-test between them.
///
/// # Errors
/// When a part has fewer than two values, or one of them is NaN or infinite.
pub fn level_change(before: &[f64], after: &[f64]) -> Result<(f64, f64), StatsError> {
    for part in [before, after] {
        finite("jobs", part)?;
        within("number of jobs on a side", real(part.len()), 2.0..=1e9, "2 or more")?;
    }
    Ok((mean(after) - mean(before), pooled_t_test(before, after)?))
}

/// The smallest lasting change that the fourth job (the rule's shortest segment) after it shows with 90 % power, on the
/// scale of the series: its scatter around its levels is all that is known of the noise.
///
/// # Errors
/// As [`level_change`].
pub fn smallest_step(rule: &TrendRule, series: &[f64], starts: &[usize]) -> Result<f64, StatsError> {
    finite("jobs", series)?;
    let levels = levels(series, starts);
    let freedom = real(series.len() - levels.len().min(series.len() - 1));
    let sd = (levels.iter().map(|level| squares(level)).sum::<f64>() / freedom).sqrt();
    let before = real(levels.last().map_or(series.len(), |level| level.len()).max(rule.segment));
    let se = sd * (1.0 / before + 1.0 / real(rule.segment)).sqrt();
    let needed = Tail::Student(before + real(rule.segment) - 2.0).exceeded_with(rule.p_max / 2.0)?;
    let power = Tail::Normal.exceeded_with(0.1)?;
    Ok(f64::max((needed + power) * se, rule.change))
}

/// The parts of a series between the given first indices of new levels.
pub fn levels<'a>(series: &'a [f64], starts: &[usize]) -> Vec<&'a [f64]> {
    let ends = starts.iter().copied().chain([series.len()]);
    let mut parts = Vec::with_capacity(starts.len() + 1);
    let mut from = 0;
    for end in ends {
        parts.push(&series[from..end]);
        from = end;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Two-sided p of Student's t-test with pooled variance; both parts have two values or more.
fn pooled_t_test(a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
    let freedom = real(a.len() + b.len() - 2);
    match standardised(a, b) {
        0.0 => Ok(1.0),
        apart => Ok(2.0 * Tail::Student(freedom).upper(apart)?),
    }
}

/// The distance of the means in standard errors; 0 where there is none, infinite where nothing scatters.
fn standardised(a: &[f64], b: &[f64]) -> f64 {
    let pooled = (squares(a) + squares(b)) / real(a.len() + b.len() - 2);
    let se = (pooled * (1.0 / real(a.len()) + 1.0 / real(b.len()))).sqrt();
    let difference = (mean(b) - mean(a)).abs();
    if difference == 0.0 { 0.0 } else { difference / se }
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
    fn a_level_that_came_and_went_is_found_though_no_split_in_two_is() {
        let noise = [0.004, -0.006, 0.001, -0.002, 0.005];
        let series: Vec<f64> =
            (0..30).map(|i| if (10..20).contains(&i) { 0.25 } else { 0.0 } + noise[i % 5]).collect();
        assert_eq!(change_points(&TrendRule::STANDARD, &series), Ok(vec![]));
        let rule = TrendRule::STANDARD.came_and_went();
        let found = plateau(&rule, &series).unwrap().unwrap();
        assert_eq!((found.from, found.to), (10, 20));
        let quiet: Vec<f64> = (0..30).map(|i| noise[i % 5]).collect();
        assert_eq!(plateau(&rule, &quiet), Ok(None));
        assert_eq!(plateau(&rule, &series[..11]), Ok(None), "too short for three levels");
        let mut blip = quiet;
        blip[15] = 0.5;
        assert_eq!(plateau(&rule, &blip), Ok(None));
        assert!(plateau(&rule, &[f64::NAN]).is_err());
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

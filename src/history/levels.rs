//! From change points to the first jobs of levels that a person would see in the numbers.

use crate::stats::StatsError;
use crate::stats::constants::TrendRule;
use crate::stats::trend::{change_points, plateau};

use super::since::{levels as spans, mean};

/// The first job of a new level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    pub index: usize,
    /// Two-sided p of the t-test across it.
    pub p: f64,
}

/// The change points of a series, and the two ends of a level that came and went; each at the job that is the first at
/// its level.
pub(super) fn starts(rule: &TrendRule, series: &[f64]) -> Result<Vec<Start>, StatsError> {
    let split = change_points(rule, series)?;
    let mut found: Vec<Start> =
        split.iter().map(|change| Start { index: change.index, p: change.p }).collect();
    let indices: Vec<usize> = found.iter().map(|start| start.index).collect();
    for level in spans(&indices, series.len()) {
        if let Some(plateau) = plateau(&rule.came_and_went(), &series[level.from..level.to])? {
            let ends = [plateau.from, plateau.to];
            found.extend(ends.map(|end| Start { index: level.from + end, p: plateau.p }));
        }
    }
    found.sort_by_key(|start| start.index);
    let indices: Vec<usize> = found.iter().map(|start| start.index).collect();
    let placed = at_their_jobs(series, &indices);
    Ok(placed.into_iter().map(|(known, index)| Start { index, p: found[known].p }).collect())
}

/// A split leaves four jobs on each side, so it may lie beside the change. A level that fewer than three jobs are at is
/// none yet; of the others the first job is the first that is nearer to it than to the level before. Gives the place of
/// each in the list that came in, and its first job.
pub(super) fn at_their_jobs(series: &[f64], found: &[usize]) -> Vec<(usize, usize)> {
    let fewest = TrendRule::STANDARD.segment - 1;
    let mut kept: Vec<(usize, usize)> = found.iter().copied().enumerate().collect();
    let mut at = 0;
    while at < kept.len() {
        let starts: Vec<usize> = kept.iter().map(|(_, index)| *index).collect();
        let spans = spans(&starts, series.len());
        let (before, after) = (spans[at], spans[at + 1]);
        let (old, new) = (mean(&series[before.from..before.to]), mean(&series[after.from..after.to]));
        let nearer = |job: usize| (series[job] - new).abs() < (series[job] - old).abs();
        if (after.from..after.to).filter(|job| nearer(*job)).count() < fewest {
            kept.remove(at);
            continue;
        }
        let mut first = after.from;
        while first > before.from + 2 && nearer(first - 1) {
            first -= 1;
        }
        while first + fewest < after.to && !nearer(first) {
            first += 1;
        }
        kept[at].1 = first;
        at += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(level: impl Fn(usize) -> f64, jobs: usize) -> Vec<f64> {
        (0..jobs).map(|job| level(job) + [0.004, -0.006, 0.001, -0.002, 0.005][job % 5]).collect()
    }

    fn indices(series: &[f64]) -> Vec<usize> {
        starts(&TrendRule::STANDARD, series).unwrap().iter().map(|start| start.index).collect()
    }

    #[test]
    fn a_level_that_came_and_went_has_two_ends() {
        assert_eq!(indices(&noisy(|job| if (10..20).contains(&job) { 0.25 } else { 0.0 }, 30)), [10, 20]);
        assert_eq!(indices(&noisy(|job| if (12..16).contains(&job) { -0.3 } else { 0.0 }, 28)), [12, 16]);
    }

    #[test]
    fn the_first_job_at_the_level_is_named_not_the_split_that_four_jobs_allow() {
        let last = |jobs: usize| noisy(|job| if job >= 20 - jobs { 0.4 } else { 0.0 }, 20);
        assert!(indices(&last(1)).is_empty());
        assert!(indices(&last(2)).is_empty());
        assert_eq!(indices(&last(3)), [17]);
        assert_eq!(indices(&last(4)), [16]);
        assert_eq!(indices(&noisy(|job| if job >= 3 { 0.4 } else { 0.0 }, 20)), [3]);
    }

    #[test]
    fn nothing_in_noise_and_one_job_apart_is_no_level() {
        assert!(indices(&noisy(|_| 0.0, 40)).is_empty());
        assert!(indices(&noisy(|job| if job == 20 { 0.5 } else { 0.0 }, 40)).is_empty());
    }
}

//! When a level begins, and which jobs stand apart from theirs: the same for success rates and for times.

use crate::model::history::Moment;
use crate::model::trend::{Apart, Since};
use crate::stats::constants::TrendRule;

use super::point::Point;

/// A level: its first job, and the job after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub from: usize,
    pub to: usize,
}

/// The levels between the first jobs of new levels.
pub(super) fn levels(starts: &[usize], jobs: usize) -> Vec<Level> {
    let from = std::iter::once(0).chain(starts.iter().copied());
    let to = starts.iter().copied().chain([jobs]);
    from.zip(to).map(|(from, to)| Level { from, to }).collect()
}

pub(super) fn moment(points: &[&Point], at: usize) -> Moment {
    points[at].moment.clone()
}

/// Since when, and how many jobs of the new level are nearer to it than to the old.
pub(super) fn since(points: &[&Point], before: Level, after: Level, values: &[f64]) -> Since {
    let (old, new) = (mean(&values[before.from..before.to]), mean(&values[after.from..after.to]));
    let nearer = |value: &&f64| (**value - new).abs() < (**value - old).abs();
    Since {
        first: moment(points, after.from),
        last_before: moment(points, after.from - 1),
        jobs: after.to - after.from,
        held: values[after.from..after.to].iter().filter(nearer).count(),
        lasts: after.to == values.len(),
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Jobs in a row that stand apart, as first and number.
pub(super) fn runs(apart: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in (0..apart.len()).filter(|at| apart[*at]) {
        match runs.last_mut().filter(|(first, count)| first + count == at) {
            Some((_, count)) => *count += 1,
            None => runs.push((at, 1)),
        }
    }
    runs
}

pub(super) fn apart(points: &[&Point], (first, jobs): (usize, usize)) -> Apart {
    let newest = first + jobs == points.len();
    let missing = TrendRule::STANDARD.segment.saturating_sub(jobs).max(1);
    Apart { first: moment(points, first), jobs, more_to_tell: if newest { missing } else { 0 } }
}

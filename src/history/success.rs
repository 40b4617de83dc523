//! The success rate of a series, read before any latency.

use std::collections::BTreeMap;

use crate::model::Finite;
use crate::model::report::FailureKind;
use crate::model::trend::{FailureChange, Meanwhile, SuccessOdd, SuccessShift, TrendFinding};
use crate::stats::StatsError;
use crate::stats::constants::{RATE_TREND, SuccessRule};
use crate::stats::proportion::Counts;
use crate::stats::series::middle;
use crate::stats::success::{RateGroup, RateLimit, RateTest, RateVerdict, judge_success};

use super::levels::starts;
use super::point::Point;
use super::since::{self, Level, apart, levels, mean, runs};

/// What the success rates of a series show.
#[derive(Debug, Default)]
pub(super) struct Success<'a> {
    /// The jobs that tell how many requests succeeded.
    pub points: Vec<&'a Point>,
    counts: Vec<Counts>,
    rates: Vec<f64>,
    starts: Vec<usize>,
    odd: Vec<bool>,
    pub findings: Vec<TrendFinding>,
}

pub(super) fn success<'a>(points: &[&'a Point]) -> Result<Success<'a>, StatsError> {
    let mut success = Success::default();
    for point in points {
        let Some((succeeded, sent)) = point.requests.counts() else { continue };
        let whole = |n: u64| usize::try_from(n).ok();
        let counts = whole(succeeded).zip(whole(sent)).and_then(|(k, n)| Counts::new(k, n).ok());
        let Some(counts) = counts else { continue };
        success.points.push(point);
        success.rates.push(counts.share());
        success.counts.push(counts);
    }
    if success.rates.is_empty() {
        return Ok(success);
    }
    let found = starts(&RATE_TREND, &success.rates)?;
    success.starts = found.iter().map(|start| start.index).collect();
    success.odd = success.odd(&success.starts)?;
    let shifts = success.shifts();
    let odd: Vec<TrendFinding> = runs(&success.odd)
        .into_iter()
        .map(|run| TrendFinding::SuccessOdd(success.stands_apart(run)))
        .collect();
    success.findings = shifts.into_iter().chain(odd.into_iter().rev()).collect();
    Ok(success)
}

impl Success<'_> {
    fn levels(&self) -> Vec<Level> {
        levels(&self.starts, self.rates.len())
    }

    /// The newest first.
    fn shifts(&self) -> Vec<TrendFinding> {
        let levels = self.levels();
        let pairs = levels.windows(2).rev();
        pairs.map(|pair| TrendFinding::SuccessShift(self.shift(pair[0], pair[1]))).collect()
    }

    fn shift(&self, before: Level, after: Level) -> SuccessShift {
        let share = |level: Level| finite(mean(&self.rates[level.from..level.to]));
        let (old, new) = (self.failures(before), self.failures(after));
        let kinds: BTreeMap<FailureKind, ()> = old.keys().chain(new.keys()).map(|kind| (*kind, ())).collect();
        let a_job = |all: &BTreeMap<FailureKind, u64>, kind: &FailureKind, level: Level| {
            finite(*all.get(kind).unwrap_or(&0) as f64 / (level.to - level.from) as f64)
        };
        let mut failures: Vec<FailureChange> = kinds
            .into_keys()
            .map(|failure| FailureChange {
                failure,
                old: a_job(&old, &failure, before),
                new: a_job(&new, &failure, after),
            })
            .collect();
        let grown = |change: &FailureChange| finite(change.old.get() - change.new.get());
        failures.sort_by_key(|change| (!is_refusal(change.failure), grown(change)));
        SuccessShift {
            since: since::since(&self.points, before, after, &self.rates),
            old: share(before),
            new: share(after),
            failures,
        }
    }

    fn failures(&self, level: Level) -> BTreeMap<FailureKind, u64> {
        let mut all: BTreeMap<FailureKind, u64> = BTreeMap::new();
        for point in &self.points[level.from..level.to] {
            for (kind, n) in &point.requests.failed {
                *all.entry(*kind).or_default() += n;
            }
        }
        all
    }

    /// Each job against the others of its level, as a gate would hold it against them.
    fn odd(&self, starts: &[usize]) -> Result<Vec<bool>, StatsError> {
        let rule = SuccessRule::STANDARD;
        let mut odd = vec![false; self.rates.len()];
        for level in levels(starts, self.rates.len()) {
            let usual = usual(&self.rates[level.from..level.to]);
            // What is far below its level anyway does not make the level any less sure.
            let steady = |at: &usize| usual - self.rates[*at] < rule.large_drop;
            let steady: Vec<usize> = (level.from..level.to).filter(steady).collect();
            for (at, odd) in odd.iter_mut().enumerate().take(level.to).skip(level.from) {
                let others = steady.iter().filter(|other| **other != at);
                let baseline: Vec<Counts> = others.map(|other| self.counts[*other]).collect();
                if baseline.len() < 2 {
                    continue;
                }
                let limit = RateLimit { max_decrease: RATE_TREND.change, min: None };
                let group = RateGroup { baseline: &baseline, candidate: &[self.counts[at]], limit };
                let judged = judge_success(&rule, &[group], limit)?;
                let fell =
                    |test: &RateTest| matches!(test.verdict, RateVerdict::Regressed(_)) && test.drop > 0.0;
                *odd = judged.groups.iter().any(fell);
            }
        }
        Ok(odd)
    }

    fn stands_apart(&self, run: (usize, usize)) -> SuccessOdd {
        let own = Level { from: run.0, to: run.0 + run.1 };
        let level =
            self.levels().into_iter().find(|level| (level.from..level.to).contains(&run.0)).unwrap_or(own);
        let mut failed: Vec<(FailureKind, u64)> = self.failures(own).into_iter().collect();
        failed.sort_by_key(|(kind, n)| (!is_refusal(*kind), std::cmp::Reverse(*n)));
        SuccessOdd {
            apart: apart(&self.points, run),
            usual: finite(usual(&self.rates[level.from..level.to])),
            seen: finite(mean(&self.rates[own.from..own.to])),
            failed,
        }
    }

    /// What the success rate did about the time when another level of latency began.
    pub fn meanwhile(&self, before: &[&Point], after: &[&Point]) -> Meanwhile {
        let rate = |jobs: &[&Point]| {
            let of = |at: &usize| jobs.iter().any(|job| std::ptr::eq(*job, self.points[*at]));
            let rates: Vec<f64> = (0..self.rates.len()).filter(of).map(|at| self.rates[at]).collect();
            (!rates.is_empty()).then(|| mean(&rates))
        };
        match rate(before).zip(rate(after)) {
            None => Meanwhile::Unknown,
            Some((old, new)) if old - new > RATE_TREND.change => Meanwhile::Fell,
            Some((old, new)) if new - old > RATE_TREND.change => Meanwhile::Rose,
            Some(_) => Meanwhile::Steady,
        }
    }

    /// Whether a job begins a level of success rates, or stands apart from one.
    pub fn mark(&self, job: &Point) -> (bool, bool) {
        let place = self.points.iter().position(|point| std::ptr::eq(*point, job));
        place.map_or((false, false), |at| (self.starts.contains(&at), self.odd[at]))
    }
}

/// The median: what odd jobs do not move.
fn usual(rates: &[f64]) -> f64 {
    middle(rates).unwrap_or_default()
}

/// What a full server or a spent quota does: to be looked at before anything else.
const fn is_refusal(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Http429
            | FailureKind::TimeoutConnect
            | FailureKind::TimeoutFirstToken
            | FailureKind::TimeoutGap
            | FailureKind::TimeoutTotal
    )
}

fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap_or(Finite::ZERO)
}

//! All series of some past jobs, judged.

use crate::model::report::Tool;
use crate::model::trend::{
    JobMark, LeftOut, SCHEMA, Told, Trend, TrendFinding, TrendJob, TrendSeries, TrendState,
};
use crate::model::wording;
use crate::stats::StatsError;
use crate::stats::constants::{NIGHTS, TrendRule};

use super::drift::{Pinned, drift};
use super::latency::{Latency, latency};
use super::point::Point;
use super::series::{self, Jobs};
use super::success::{Success, success};

/// Judges past jobs. `left_out` is what the reader could not take, `pinned` the baselines whose first bless is known.
///
/// # Errors
/// Numbers that no measurement gives.
pub fn trend(
    points: Vec<Point>,
    mut left_out: Vec<LeftOut>,
    pinned: &[Pinned<'_>],
) -> Result<Trend, StatsError> {
    let all = series::series(points, &mut left_out);
    let judged: Result<Vec<TrendSeries>, StatsError> = all
        .iter()
        .enumerate()
        .map(|(at, jobs)| judge(jobs, series::apart(jobs, &all), at, &all, pinned))
        .collect();
    Ok(Trend { schema: SCHEMA, tool: Tool::pacegate(), series: judged?, left_out })
}

fn judge(
    jobs: &Jobs,
    apart: Vec<&'static str>,
    at: usize,
    all: &[Jobs],
    pinned: &[Pinned<'_>],
) -> Result<TrendSeries, StatsError> {
    let older = jobs.points.len().saturating_sub(NIGHTS);
    let points: Vec<&Point> = jobs.points[older..].iter().collect();
    let success = success(&points)?;
    let latency = latency(&points, &success)?;
    let with_times = latency.as_ref().map_or(0, |latency| latency.points.len());
    let judged = if with_times > 0 { with_times } else { success.points.len() };
    let findings: Vec<TrendFinding> = success
        .findings
        .iter()
        .chain(latency.iter().flat_map(|latency| &latency.findings))
        .cloned()
        .collect();
    let newest = jobs.points.last();
    let profile = newest.map(|point| point.profile.clone()).unwrap_or_default();
    // Only the newest series of a profile is the one whose drift matters now.
    let is_newest = !all[..at].iter().any(|other| other.points.first().is_some_and(|p| p.profile == profile));
    let drift = latency
        .as_ref()
        .zip(newest)
        .filter(|_| is_newest)
        .and_then(|(latency, newest)| pinned.iter().find_map(|pinned| drift(latency, newest, pinned)));
    let jobs_missing = (2 * TrendRule::STANDARD.segment).saturating_sub(judged);
    Ok(TrendSeries {
        model: jobs.points.iter().rev().find_map(|point| point.model.clone()),
        baseline: newest.and_then(|point| point.baseline.clone()),
        apart,
        state: state(&findings, jobs_missing),
        findings: findings
            .into_iter()
            .map(|finding| Told { text: wording::trend_finding(&finding).to_string(), finding })
            .collect(),
        jobs_missing,
        smallest_step: latency.as_ref().and_then(|latency| latency.smallest_step),
        drift,
        jobs: points.iter().map(|point| job(point, &success, latency.as_ref())).collect(),
        older,
        notes: notes(latency.as_ref(), &points),
        profile,
    })
}

fn notes(latency: Option<&Latency>, points: &[&Point]) -> Vec<String> {
    let mut notes = latency.map(|latency| latency.notes.clone()).unwrap_or_default();
    if latency.is_none() {
        notes.push("no job has a gated time or rate: only the success rate is read".to_owned());
    }
    let unknown = points.iter().filter(|point| point.requests.counts().is_none()).count();
    if unknown > 0 {
        notes.push(format!("{unknown} of {} jobs do not tell how many requests succeeded", points.len()));
    }
    notes
}

fn job(point: &Point, success: &Success, latency: Option<&Latency>) -> TrendJob {
    let (success_level, success_apart) = success.mark(point);
    let place = latency.and_then(|l| l.points.iter().position(|other| std::ptr::eq(*other, point)));
    let level = place.is_some_and(|at| latency.is_some_and(|latency| latency.starts.contains(&at)));
    let apart = place.is_some_and(|at| latency.is_some_and(|latency| latency.apart[at]));
    let against = latency.and_then(|latency| latency.against_first(point));
    TrendJob {
        source: point.source.clone(),
        job: point.job.clone(),
        moment: point.moment.clone(),
        sent: point.requests.sent,
        succeeded: point.requests.succeeded,
        everything: against.as_ref().map(|(everything, _)| *everything),
        metrics: against.map(|(_, metrics)| metrics).unwrap_or_default(),
        mark: match (success_level || level, success_apart || apart) {
            (true, _) => JobMark::NewLevel,
            (false, true) => JobMark::Apart,
            (false, false) => JobMark::None,
        },
    }
}

/// The findings in a word.
fn state(findings: &[TrendFinding], jobs_missing: usize) -> TrendState {
    let of = |finding: &TrendFinding| match finding {
        TrendFinding::SuccessShift(shift) if shift.since.lasts && shift.new < shift.old => {
            Some(TrendState::Worse)
        }
        TrendFinding::SuccessShift(shift) if shift.since.lasts => Some(TrendState::Better),
        TrendFinding::Shift(shift) if shift.since.lasts && shift.ratio.get() > 1.0 => Some(TrendState::Worse),
        TrendFinding::Shift(shift) if shift.since.lasts => Some(TrendState::Better),
        TrendFinding::SuccessOdd(odd) if odd.apart.more_to_tell > 0 => Some(TrendState::TooEarly),
        TrendFinding::Odd(odd) if odd.apart.more_to_tell > 0 => Some(TrendState::TooEarly),
        TrendFinding::SuccessOdd(_) | TrendFinding::Odd(_) => Some(TrendState::Blip),
        TrendFinding::SuccessShift(_) | TrendFinding::Shift(_) => None,
    };
    let none = if jobs_missing > 0 { TrendState::TooFew } else { TrendState::Steady };
    findings.iter().filter_map(of).min().unwrap_or(none)
}

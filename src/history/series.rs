//! Which jobs can stand in one series, in which order, each once.

use std::collections::BTreeSet;

use crate::model::trend::LeftOut;

use super::point::Point;

/// Jobs that measured the same, oldest first.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub points: Vec<Point>,
}

/// Sorts by time, leaves out what was read twice, and puts together what can be compared. The series with the newest job
/// comes first.
pub(super) fn series(mut points: Vec<Point>, left_out: &mut Vec<LeftOut>) -> Vec<Jobs> {
    points.sort_by(|a, b| a.moment.at.cmp(&b.moment.at).then_with(|| a.source.cmp(&b.source)));
    let points = each_once(points, left_out);
    let mut all: Vec<Jobs> = Vec::new();
    for point in points {
        match all.iter_mut().find(|jobs| jobs.points.iter().all(|other| fits(other, &point))) {
            Some(jobs) => jobs.points.push(point),
            None => all.push(Jobs { points: vec![point] }),
        }
    }
    all.sort_by_key(|jobs| std::cmp::Reverse(jobs.points.last().map(|point| point.moment.at)));
    all
}

/// The last measurement of a job counts; a report counts before the verdict on it, since it is held against nothing.
fn each_once(points: Vec<Point>, left_out: &mut Vec<LeftOut>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        let Some(at) = kept.iter().position(|other| same_job(other, &point)) else {
            kept.push(point);
            continue;
        };
        let report_stays = kept[at].baseline.is_none() && point.baseline.is_some();
        let gone = match report_stays {
            true => point,
            false => {
                let gone = kept.remove(at);
                kept.push(point);
                gone
            }
        };
        left_out.push(LeftOut {
            source: gone.source,
            why: "another file or line is of the same job, which counts once (a re-run, one host within an hour, or a report and its verdict)".to_owned(),
        });
    }
    kept
}

fn same_job(one: &Point, other: &Point) -> bool {
    let same_numbers =
        || one.moment.at == other.moment.at && !one.fields.is_empty() && one.fields == other.fields;
    // The same job held against two baselines is a job of two series.
    let same_baseline = one.baseline.is_none() || other.baseline.is_none() || one.baseline == other.baseline;
    one.profile == other.profile && same_baseline && (one.job == other.job || same_numbers())
}

/// What may be unknown on one side is no contradiction.
fn agree<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    one.is_none() || other.is_none() || one == other
}

fn fits(one: &Point, other: &Point) -> bool {
    one.profile == other.profile
        && one.baseline == other.baseline
        && one.allowed == other.allowed
        && agree(&one.model, &other.model)
        && agree(&one.format, &other.format)
        && same_workload(one, other)
}

/// An added level is no other workload; the same group with other prompts is, and so are levels that share none.
fn same_workload(one: &Point, other: &Point) -> bool {
    let shared: Vec<bool> =
        one.workloads.iter().filter_map(|(group, hash)| Some(other.workloads.get(group)? == hash)).collect();
    let unknown = one.workloads.is_empty() || other.workloads.is_empty();
    unknown || !shared.is_empty() && shared.iter().all(|same| *same)
}

/// In what the jobs of some series of one profile differ, in words.
pub(super) fn apart(own: &Jobs, others: &[Jobs]) -> Vec<&'static str> {
    let Some(mine) = own.points.first() else { return Vec::new() };
    let mut words = BTreeSet::new();
    for theirs in others.iter().filter_map(|jobs| jobs.points.first()) {
        if theirs.profile != mine.profile || std::ptr::eq(theirs, mine) {
            continue;
        }
        let differences = [
            (theirs.baseline != mine.baseline, "the blessed baseline"),
            (!agree(&theirs.model, &mine.model), "the model"),
            (!agree(&theirs.format, &mine.format), "the measuring tool"),
            (!same_workload(theirs, mine), "the workload"),
            (theirs.allowed != mine.allowed, "what --allow-different let pass"),
        ];
        words.extend(differences.into_iter().filter_map(|(differs, word)| differs.then_some(word)));
    }
    words.into_iter().collect()
}

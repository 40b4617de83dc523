//! Which measurements are one job: the unit in which noise between runs is counted.

use time::Duration;

use crate::model::report::SourceKind;
use crate::model::{Baseline, Job, Report};

/// A job that stands twice in one report.
pub(super) fn measured_twice(report: &Report) -> Option<&Job> {
    let jobs = &report.jobs;
    let before = |at: usize, job: &Job| jobs.iter().take(at).any(|old| same_job(old, job));
    jobs.iter().enumerate().find(|(at, job)| before(*at, job)).map(|(_, job)| job)
}

/// The same numbers, whatever the job is called and whenever it ran.
pub(super) fn same_job(one: &Job, other: &Job) -> bool {
    one.rounds == other.rounds
}

/// A blessed job and one of the report that are one, and why. Only of endpoints that pacegate measured itself: the embedded
/// engine has no noise to share, and the jobs of another tool's files are told apart by their content.
pub(super) fn shared_job<'a>(
    blessed: &'a Baseline,
    report: &'a Report,
) -> Option<(&'a Job, &'a Job, &'static str)> {
    if report.source.kind != SourceKind::Load {
        return None;
    }
    let pairs = report.jobs.iter().flat_map(|new| blessed.jobs().map(move |(of, old)| (of, old, new)));
    pairs.into_iter().find_map(|(of, old, new)| {
        if of.source.kind != SourceKind::Load {
            return None;
        }
        if old.id == new.id {
            return Some((old, new, "the same CI job, or the same machine within an hour"));
        }
        within_an_hour((of, old), (report, new)).then_some((old, new, "the same machine within an hour"))
    })
}

/// Both on one machine outside CI, whose jobs are named after it.
fn within_an_hour((of, old): (&Report, &Job), (report, new): (&Report, &Job)) -> bool {
    let Some(host) = report.client.host.as_deref().filter(|host| of.client.host.as_deref() == Some(*host))
    else {
        return false;
    };
    let named = [old, new].iter().all(|job| job.id.starts_with(host));
    let apart = old.started.zip(new.started).map(|(old, new)| (new.get() - old.get()).abs());
    named && apart.is_some_and(|apart| apart < Duration::HOUR)
}

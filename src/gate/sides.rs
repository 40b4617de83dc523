//! Both sides of a comparison, laid out as jobs, rounds and groups.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Baseline, Group, GroupId, Metric, Report, Statistic};
use crate::stats::percentile::Sorted;

/// One group in one round, its samples ready to be read.
pub(super) struct Measured<'a> {
    pub group: &'a Group,
    pub sorted: BTreeMap<&'a Metric, Sorted>,
}

/// One job: its rounds, each a map of groups.
pub(super) struct JobView<'a> {
    pub report: &'a Report,
    pub rounds: Vec<BTreeMap<&'a GroupId, Measured<'a>>>,
    pub seeds: Vec<Option<u64>>,
}

/// All jobs of one side.
pub(super) struct SideView<'a> {
    pub jobs: Vec<JobView<'a>>,
}

/// Both sides.
pub(super) struct Sides<'a> {
    pub blessed: SideView<'a>,
    pub candidate: SideView<'a>,
    /// Both sides were alternated in one job.
    pub duet: bool,
}

impl<'a> Sides<'a> {
    pub fn new(baseline: &'a Baseline, candidate: &'a Report) -> Sides<'a> {
        let blessed =
            baseline.reports.iter().flat_map(|report| views(report, |round| &round.groups)).collect();
        let candidate = views(candidate, |round| &round.groups).collect();
        Sides { blessed: SideView { jobs: blessed }, candidate: SideView { jobs: candidate }, duet: false }
    }

    /// A duet: the blessed side is what the same job measured on the other endpoint.
    pub fn alternated(candidate: &'a Report) -> Sides<'a> {
        Sides {
            blessed: SideView { jobs: views(candidate, |round| &round.against).collect() },
            candidate: SideView { jobs: views(candidate, |round| &round.groups).collect() },
            duet: true,
        }
    }
}

fn views<'a>(
    report: &'a Report,
    groups: impl Fn(&'a crate::model::Round) -> &'a Vec<Group> + Copy,
) -> impl Iterator<Item = JobView<'a>> {
    report.jobs.iter().map(move |job| JobView {
        report,
        rounds: job
            .rounds
            .iter()
            .map(|round| groups(round).iter().map(|g| (&g.id, measured(g))).collect())
            .collect(),
        seeds: job.rounds.iter().map(|round| round.seed).collect(),
    })
}

fn measured(group: &Group) -> Measured<'_> {
    let sorted = group.metrics.iter().filter_map(|(metric, measurement)| {
        let samples = measurement.samples.as_ref().filter(|samples| !samples.is_empty())?;
        Some((metric, Sorted::new(samples.sorted_millis()).ok()?))
    });
    Measured { group, sorted: sorted.collect() }
}

impl<'a> Measured<'a> {
    /// The statistics that this group has of a metric; samples give P50, P95 and P99 beside what is written.
    pub fn statistics(&self, metric: &Metric) -> BTreeSet<Statistic> {
        let written =
            self.group.metrics.get(metric).map(|m| m.stats.keys().copied().collect::<BTreeSet<_>>());
        let mut statistics = written.unwrap_or_default();
        if self.sorted.contains_key(metric) {
            statistics.extend([Statistic::P50, Statistic::P95, Statistic::P99]);
        }
        statistics
    }
}

impl<'a> SideView<'a> {
    /// Every occurrence of a group.
    pub fn of_group(&self, id: &GroupId) -> impl Iterator<Item = &Measured<'a>> {
        self.jobs.iter().flat_map(|job| job.rounds.iter()).filter_map(move |round| round.get(id))
    }

    /// All groups.
    pub fn groups(&self) -> BTreeSet<&'a GroupId> {
        self.jobs.iter().flat_map(|job| job.rounds.iter().flat_map(|round| round.keys().copied())).collect()
    }

    /// The fewest rounds of any job.
    pub fn fewest_rounds(&self) -> usize {
        self.jobs.iter().map(|job| job.rounds.len()).min().unwrap_or(0)
    }

    /// All fields of a group, anywhere on this side.
    pub fn fields(&self, id: &GroupId) -> BTreeSet<(Metric, Statistic)> {
        let mut fields = BTreeSet::new();
        for measured in self.of_group(id) {
            for metric in measured.group.metrics.keys() {
                fields.extend(measured.statistics(metric).into_iter().map(|st| (metric.clone(), st)));
            }
        }
        fields
    }
}

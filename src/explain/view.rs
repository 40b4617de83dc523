//! A report seen group by group, and whose report it is.

use std::collections::BTreeSet;

use crate::model::report::SourceKind;
use crate::model::{Dimensions, Finite, Group, GroupId, Measurement, Metric, Report, Statistic};

/// Whose words the numbers are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `benchmark.py`: strategies on a mock engine.
    ScriptA,
    /// `benchmark_runner.py`: a load test at concurrency levels.
    ScriptB,
    /// `vllm bench serve`.
    Vllm,
    /// The embedded engine.
    Embedded,
    /// pacegate's own load generator.
    Load,
    /// Any other.
    Other,
}

impl Tool {
    fn of(report: &Report) -> Tool {
        match (report.source.kind, report.source.format.as_deref()) {
            (SourceKind::Simulate, _) => Tool::Embedded,
            (SourceKind::Load, _) => Tool::Load,
            (SourceKind::Ingest, Some("benchmark-py")) => Tool::ScriptA,
            (SourceKind::Ingest, Some("benchmark-runner-py")) => Tool::ScriptB,
            (SourceKind::Ingest, Some("vllm-bench-serve")) => Tool::Vllm,
            (SourceKind::Ingest, _) => Tool::Other,
        }
    }

    /// Whether a mock engine with known stages and a congestion penalty was measured.
    pub fn is_mock_engine(self) -> bool {
        matches!(self, Tool::ScriptA | Tool::Embedded)
    }
}

/// One group in all its rounds.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// Its name.
    pub id: &'a GroupId,
    /// What it is made of.
    pub dimensions: &'a Dimensions,
    /// Its rounds over all jobs, in order; at least one.
    pub rounds: Vec<&'a Group>,
}

impl<'a> Seen<'a> {
    /// A metric in each round that has it.
    pub fn measurements(&self, metric: &Metric) -> impl Iterator<Item = &'a Measurement> {
        self.rounds.iter().filter_map(|group| group.metrics.get(metric))
    }

    /// The values of a statistic, one a round.
    pub fn values(&self, metric: &Metric, statistic: Statistic) -> Vec<Finite> {
        self.measurements(metric).filter_map(|m| m.stats.get(&statistic).copied()).collect()
    }

    /// The samples that a metric's statistics are of, where it is known, smallest round first.
    pub fn sizes(&self, metric: &Metric) -> BTreeSet<u64> {
        let size = |group: &&Group| {
            let measured = group.metrics.get(metric)?;
            // Gaps are pooled over all requests; every other distribution has one value a request.
            let requests = group.requests.succeeded;
            if *metric == Metric::ITL {
                return measured.n.filter(|n| Some(*n) != requests);
            }
            measured.n.or(measured.samples.as_ref().map(|s| s.len() as u64)).or(requests)
        };
        self.rounds.iter().filter_map(size).filter(|n| *n > 0).collect()
    }

    /// A count over all rounds, if all tell it.
    pub fn total(&self, read: impl Fn(&Group) -> Option<u64>) -> Option<u64> {
        crate::model::requests::total(self.rounds.iter().map(|group| read(group)))
    }

    /// Successes and requests of all rounds, if all tell both.
    pub fn counts(&self) -> Option<(u64, u64)> {
        Some((self.total(|group| group.requests.succeeded)?, self.total(|group| group.requests.sent)?))
    }

    /// Whether it is known that nothing succeeded.
    pub fn all_failed(&self) -> bool {
        self.counts().is_some_and(|(good, all)| good == 0 && all > 0)
    }
}

/// The report.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// As it is.
    pub report: &'a Report,
    /// Whose it is.
    pub tool: Tool,
    /// In the order in which they ran.
    pub groups: Vec<Seen<'a>>,
}

impl<'a> View<'a> {
    /// Collects the rounds of each group.
    pub fn of(report: &'a Report) -> View<'a> {
        let mut groups: Vec<Seen<'a>> = Vec::new();
        for group in report.jobs.iter().flat_map(|job| &job.rounds).flat_map(|round| &round.groups) {
            match groups.iter_mut().find(|seen| *seen.id == group.id) {
                Some(seen) => seen.rounds.push(group),
                None => {
                    groups.push(Seen { id: &group.id, dimensions: &group.dimensions, rounds: vec![group] })
                }
            }
        }
        View { report, tool: Tool::of(report), groups }
    }

    /// Every metric of any group, in the order of the metric table.
    pub fn metrics(&self) -> BTreeSet<Metric> {
        let all = self.groups.iter().flat_map(|seen| &seen.rounds).flat_map(|group| group.metrics.keys());
        all.filter(|metric| **metric != Metric::SUCCESS_RATE && **metric != Metric::SPEEDUP)
            .cloned()
            .collect()
    }

    /// Every statistic that any group has of a metric.
    pub fn statistics(&self, metric: &Metric) -> BTreeSet<Statistic> {
        let measured = self.groups.iter().flat_map(|seen| seen.measurements(metric));
        measured.flat_map(|m| m.stats.keys().copied()).collect()
    }

    /// What a group is made of, one dimension over all groups.
    pub fn dimension<T: Ord + Clone>(&self, read: impl Fn(&Dimensions) -> Option<T>) -> BTreeSet<T> {
        self.groups.iter().filter_map(|seen| read(seen.dimensions)).collect()
    }
}

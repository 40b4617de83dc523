//! From jobs and rounds to the values of one field and how well each is known.

use crate::model::point::point;
use crate::model::report::{SourceKind, Tokens};
use crate::model::requests::total;
use crate::model::{
    ChannelClass, FieldId, Finite, GroupId, Measurement, Metric, PercentileDefinition, Statistic,
};
use crate::stats::percentile::Definition;
use crate::stats::sampling::{self, JobValue, Summary};

use super::sides::{Measured, SideView, Sides};

/// One field in one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// In the metric's unit.
    pub value: f64,
    /// Sampling variance of its logarithm.
    pub variance: f64,
    /// How many samples it is of.
    pub n: Option<u64>,
    /// Taken from a summary, without samples.
    pub summary: bool,
}

/// One field on one side: per job, per round. Jobs that don't have it are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    pub jobs: Vec<Vec<Reading>>,
    /// Which jobs of the side those are.
    at: Vec<usize>,
    /// Every job and round of the side has it.
    pub whole: bool,
    /// The first round without it in a job whose other rounds have it, or in a job that has the group.
    pub gap: Option<Gap>,
}

/// A round of a side, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// `None` where the side has only one job.
    pub job: Option<usize>,
    pub round: usize,
}

impl Series {
    /// The point value over all rounds and jobs.
    pub fn point(&self) -> Option<Finite> {
        let job = |rounds: &Vec<Reading>| -> Option<Vec<Finite>> {
            rounds.iter().map(|reading| Finite::new(reading.value).ok()).collect()
        };
        point(&self.jobs.iter().map(job).collect::<Option<Vec<_>>>()?)
    }

    /// Both with no more jobs than those that have both.
    pub fn shared(mut self, mut other: Series) -> (Series, Series) {
        let (mine, theirs) = (self.at.clone(), other.at.clone());
        self.keep(&theirs);
        other.keep(&mine);
        (self, other)
    }

    fn keep(&mut self, wanted: &[usize]) {
        let jobs = std::mem::take(&mut self.jobs).into_iter().zip(std::mem::take(&mut self.at));
        (self.jobs, self.at) = jobs.filter(|(_, at)| wanted.contains(at)).unzip();
    }

    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.jobs.iter().flatten()
    }

    /// Evidence can be computed of it: every round has it, as a number with a logarithm.
    pub fn evident(&self) -> bool {
        self.whole && self.readings().all(|reading| reading.value > 0.0)
    }

    /// The smallest value of any round: a mean hides what can't be.
    pub fn smallest(&self) -> Option<Finite> {
        self.readings().filter_map(|reading| Finite::new(reading.value).ok()).min()
    }

    /// The fewest samples of any round.
    pub fn fewest(&self) -> Option<u64> {
        self.readings().filter_map(|reading| reading.n).min()
    }

    pub fn summary(&self) -> bool {
        self.readings().any(|reading| reading.summary)
    }

    /// Sign-aligned job values, + = worse.
    pub fn job_values(&self, sign: f64) -> Option<Vec<JobValue>> {
        let job = |rounds: &Vec<Reading>| {
            let logs: Vec<f64> = rounds.iter().map(|r| sign * r.value.ln()).collect();
            let variances: Vec<f64> = rounds.iter().map(|r| r.variance).collect();
            JobValue::of_rounds(&logs, &variances).ok()
        };
        self.jobs.iter().map(job).collect()
    }
}

/// How a percentile is read on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// From samples by this definition; a summary of the same definition as it stands.
    By(PercentileDefinition),
    /// As written: no percentile.
    AsWritten,
}

/// The sides' percentile definitions can't be brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mixed {
    pub blessed: PercentileDefinition,
    pub candidate: PercentileDefinition,
}

/// Decides how one field is read, so that both sides mean the same.
pub(super) fn how(sides: &Sides, field: &FieldId) -> Result<How, Mixed> {
    if field.statistic.percent().is_none() {
        return Ok(How::AsWritten);
    }
    let summaries = |side: &SideView| -> Vec<PercentileDefinition> {
        side.of_group(&field.group)
            .filter(|m| !m.sorted.contains_key(&field.metric))
            .filter_map(|m| m.group.metrics.get(&field.metric))
            .map(|m| m.percentile_definition.unwrap_or(PercentileDefinition::Unknown))
            .collect()
    };
    let (blessed, candidate) = (summaries(&sides.blessed), summaries(&sides.candidate));
    let Some(&wanted) = blessed.iter().chain(&candidate).next() else {
        return Ok(How::By(shared_definition(sides, field)));
    };
    let other = |all: &[PercentileDefinition]| all.iter().copied().find(|d| *d != wanted).unwrap_or(wanted);
    let mixed = Mixed { blessed: other(&blessed), candidate: other(&candidate) };
    let equal = mixed.blessed == wanted && mixed.candidate == wanted;
    if equal && wanted != PercentileDefinition::Unknown { Ok(How::By(wanted)) } else { Err(mixed) }
}

/// With samples on both sides: the source tool's own definition where both share the tool, else floor rank.
fn shared_definition(sides: &Sides, field: &FieldId) -> PercentileDefinition {
    let reports = || sides.blessed.jobs.iter().chain(&sides.candidate.jobs).map(|job| job.report);
    let mut tools = reports().map(|report| (report.source.kind, report.source.format.as_deref()));
    let first = tools.next();
    if !first.is_some_and(|(kind, _)| kind == SourceKind::Ingest) || tools.any(|tool| Some(tool) != first) {
        return PercentileDefinition::FloorRank;
    }
    let all = || sides.blessed.of_group(&field.group).chain(sides.candidate.of_group(&field.group));
    let mut definitions = all().filter_map(|m| m.group.metrics.get(&field.metric)?.percentile_definition);
    let first = definitions.next().unwrap_or(PercentileDefinition::FloorRank);
    let known = first != PercentileDefinition::Unknown && definitions.all(|d| d == first);
    if known { first } else { PercentileDefinition::FloorRank }
}

/// The maths behind a file's definition, for one percentile.
pub(super) fn definition(of: PercentileDefinition, percent: f64) -> Definition {
    match of {
        PercentileDefinition::MedianAndFloorRank if percent == 50.0 => Definition::Median,
        PercentileDefinition::FloorRank
        | PercentileDefinition::MedianAndFloorRank
        | PercentileDefinition::OfTheTool
        | PercentileDefinition::Unknown => Definition::FloorRank,
        PercentileDefinition::Linear => Definition::Linear,
        PercentileDefinition::NearestRank => Definition::NearestRank,
        PercentileDefinition::InvertedCdf => Definition::InvertedCdf,
        PercentileDefinition::Exclusive => Definition::Exclusive,
    }
}

/// One field on one side.
pub(super) fn series(side: &SideView, field: &FieldId, how: How) -> Series {
    let mut series = Series { whole: !side.jobs.is_empty(), ..Series::default() };
    for (at, job) in side.jobs.iter().enumerate() {
        let of = |measured| reading(measured, &field.metric, field.statistic, how);
        let all: Vec<Option<Reading>> =
            job.rounds.iter().map(|round| round.get(&field.group).and_then(of)).collect();
        let has_group = job.rounds.iter().any(|round| round.contains_key(&field.group));
        if let Some(round) = all.iter().position(Option::is_none).filter(|_| has_group) {
            let job = (side.jobs.len() > 1).then_some(at + 1);
            series.gap.get_or_insert(Gap { job, round: round + 1 });
        }
        let rounds: Vec<Reading> = all.into_iter().flatten().collect();
        series.whole &= rounds.len() == job.rounds.len() && !rounds.is_empty();
        if !rounds.is_empty() {
            series.jobs.push(rounds);
            series.at.push(at);
        }
    }
    series
}

fn reading(measured: &Measured, metric: &Metric, statistic: Statistic, how: How) -> Option<Reading> {
    let measurement = measured.group.metrics.get(metric)?;
    if let (Some(percent), How::By(by), Some(sorted)) =
        (statistic.percent(), how, measured.sorted.get(metric))
    {
        let value = sorted.percentile(percent, definition(by, percent)).ok()?;
        let vif = inflation(measurement, statistic, sorted.len());
        let variance = sampling::percentile_variance(sorted, percent, vif).ok();
        let n = Some(sorted.len() as u64);
        return match variance {
            Some(variance) => Some(Reading { value, variance, n, summary: false }),
            None => Some(Reading { value, variance: assumed(metric, statistic, n), n, summary: true }),
        };
    }
    let value = measurement.stats.get(&statistic)?.get();
    if let Some(variance) = throughput_variance(measured, metric, statistic) {
        let n = measured.sorted.get(&Metric::E2E).map(|s| s.len() as u64);
        return Some(Reading { value, variance, n, summary: false });
    }
    let n = measurement.n.or(measured.group.requests.succeeded);
    Some(Reading { value, variance: assumed(metric, statistic, n), n, summary: true })
}

/// What a file says of dependent samples, within what so many samples can show: more would hide any change in noise.
fn inflation(measurement: &Measurement, statistic: Statistic, n: usize) -> f64 {
    let most = (n as f64 / 10.0).max(1.0);
    measurement.vif.get(&statistic).map_or(1.0, |vif| vif.get().clamp(1.0, most))
}

/// A rate's variance comes from the end-to-end samples of the same requests.
fn throughput_variance(measured: &Measured, metric: &Metric, statistic: Statistic) -> Option<f64> {
    if metric.class() != Some(ChannelClass::Throughput) || statistic != Statistic::Value {
        return None;
    }
    let e2e = measured.sorted.get(&Metric::E2E)?;
    let vif = inflation(measured.group.metrics.get(metric)?, Statistic::Value, e2e.len());
    sampling::throughput_variance(e2e, vif).ok()
}

/// The variance of a number that comes without samples.
fn assumed(metric: &Metric, statistic: Statistic, n: Option<u64>) -> f64 {
    let known = |p: f64| [50.0, 90.0, 95.0, 99.0].into_iter().find(|k| *k >= p).unwrap_or(99.0);
    let kind = match statistic.percent() {
        Some(p) if metric.class() == Some(ChannelClass::Ttft) => Summary::TtftPercentile(known(p)),
        Some(p) => Summary::Percentile(known(p)),
        None => Summary::Throughput,
    };
    let n = n.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    sampling::summary_variance(kind, n).unwrap_or(1.0)
}

/// Mean prompt or output tokens of a group's successful requests on one side, where recorded.
pub(super) fn mean_tokens(side: &SideView, group: &GroupId, of: fn(&Tokens) -> Option<u64>) -> Option<f64> {
    let tokens = total(side.of_group(group).map(|measured| of(&measured.group.tokens)))?;
    let requests = total(side.of_group(group).map(|measured| measured.group.requests.succeeded))?;
    (requests > 0).then(|| tokens as f64 / requests as f64)
}

//! Times and rates of a series: levels of everything and of each metric, and jobs that stand apart.

use std::collections::BTreeMap;

use crate::model::metric::ChannelClass;
use crate::model::trend::{FieldChange, Meanwhile, Odd, Shift, TrendFinding};
use crate::model::verdict::Channel;
use crate::model::{Change, Direction, FieldId, Finite};
use crate::stats::StatsError;
use crate::stats::constants::{OddRule, TrendRule};
use crate::stats::evidence::Class;
use crate::stats::series::{ClassSeries, RunSeries, middle, odd_jobs, run_series};
use crate::stats::trend::{level_change, smallest_step};

use super::levels::{Start, starts};
use super::point::Point;
use super::since::{self, Level, apart, levels, mean, runs};
use super::success::Success;

/// A field that fewer jobs have is left out of the series; a job that lacks another one is left out itself.
const MOST_JOBS_HAVE: f64 = 0.8;

/// A metric moved along where its own change is at least this share of the largest.
const SHARE_OF_LARGEST: f64 = 1.0 / 3.0;

/// And where chance alone makes it less often than this.
const MOVED_P: f64 = 0.05;

/// What the times of a series show.
#[derive(Debug)]
pub(super) struct Latency<'a> {
    pub points: Vec<&'a Point>,
    fields: Vec<FieldId>,
    /// Sign-aligned logarithms, a row a job.
    rows: Vec<Vec<f64>>,
    series: RunSeries,
    pub starts: Vec<usize>,
    pub apart: Vec<bool>,
    pub findings: Vec<TrendFinding>,
    pub smallest_step: Option<Finite>,
    pub notes: Vec<String>,
}

/// Judges the jobs that have times; `None` where none has.
pub(super) fn latency<'a>(
    points: &[&'a Point],
    success: &Success,
) -> Result<Option<Latency<'a>>, StatsError> {
    let (fields, points, notes) = table(points);
    if points.is_empty() || fields.is_empty() {
        return Ok(None);
    }
    let value = |point: &Point, field: &FieldId| -> f64 {
        point.fields.get(field).map_or(0.0, |value| sign(field) * value.get().ln())
    };
    let rows: Vec<Vec<f64>> =
        points.iter().map(|point| fields.iter().map(|field| value(point, field)).collect()).collect();
    let classes: Vec<Class> = fields.iter().filter_map(|f| f.metric.class()).map(class_of).collect();
    let series = run_series(&classes, &rows)?;
    let apart = vec![false; points.len()];
    let mut latency = Latency {
        points,
        fields,
        rows,
        series,
        starts: Vec::new(),
        apart,
        findings: Vec::new(),
        smallest_step: None,
        notes,
    };
    latency.judge(success)?;
    Ok(Some(latency))
}

/// The fields of the series, and the jobs that have all of them.
fn table<'a>(points: &[&'a Point]) -> (Vec<FieldId>, Vec<&'a Point>, Vec<String>) {
    let with_times: Vec<&Point> = points.iter().filter(|point| !point.fields.is_empty()).copied().collect();
    let mut counts: BTreeMap<&FieldId, usize> = BTreeMap::new();
    for point in &with_times {
        let usable =
            |(field, value): &(&FieldId, &Finite)| field.metric.class().is_some() && value.get() > 0.0;
        for (field, _) in point.fields.iter().filter(usable) {
            *counts.entry(field).or_default() += 1;
        }
    }
    let most = |n: usize| n as f64 >= MOST_JOBS_HAVE * with_times.len() as f64;
    let (kept, few): (Vec<_>, Vec<_>) = counts.into_iter().partition(|(_, n)| most(*n));
    let fields: Vec<FieldId> = kept.into_iter().map(|(field, _)| field.clone()).collect();
    let has = |point: &&Point| fields.iter().all(|f| point.fields.get(f).is_some_and(|v| v.get() > 0.0));
    let whole: Vec<&Point> = with_times.iter().copied().filter(has).collect();
    let mut notes = Vec::new();
    let s = |n: usize| if n == 1 { "" } else { "s" };
    if let Some((field, n)) = few.first() {
        let (all, jobs) = (few.len(), with_times.len());
        notes.push(format!(
            "{all} field{} left out that fewer than {:.0} % of the jobs have, such as {field} ({n} of {jobs})",
            s(all),
            MOST_JOBS_HAVE * 100.0
        ));
    }
    let without = points.len() - with_times.len();
    if without > 0 {
        notes.push(format!(
            "{without} job{} without any time: only the success rate is read there",
            s(without)
        ));
    }
    let partly = with_times.len() - whole.len();
    if partly > 0 {
        notes.push(format!("{partly} job{} without some of the fields: left out of the times", s(partly)));
    }
    (fields, whole, notes)
}

fn sign(field: &FieldId) -> f64 {
    if field.metric.direction() == Direction::HigherIsBetter { -1.0 } else { 1.0 }
}

const fn class_of(class: ChannelClass) -> Class {
    match class {
        ChannelClass::Ttft => Class::Ttft,
        ChannelClass::Tpot => Class::Tpot,
        ChannelClass::Itl => Class::Itl,
        ChannelClass::E2e => Class::E2e,
        ChannelClass::Throughput => Class::Throughput,
    }
}

const fn channel_class(class: Class) -> ChannelClass {
    match class {
        Class::Ttft => ChannelClass::Ttft,
        Class::Tpot => ChannelClass::Tpot,
        Class::Itl => ChannelClass::Itl,
        Class::E2e => ChannelClass::E2e,
        Class::Throughput => ChannelClass::Throughput,
    }
}

impl Latency<'_> {
    fn judge(&mut self, success: &Success) -> Result<(), StatsError> {
        let rule = TrendRule::STANDARD;
        let mut found = Vec::new();
        for series in self.tested() {
            found.extend(starts(&rule, series)?);
        }
        let changes = one_change(found, rule.segment);
        self.starts = changes.iter().map(|change| change.index).collect();
        let levels = self.levels();
        let mut shifts = Vec::new();
        for (pair, change) in levels.windows(2).zip(&changes) {
            shifts.push(TrendFinding::Shift(self.shift(pair[0], pair[1], change.p, success)?));
        }
        let odd = self.stand_apart(success)?;
        self.findings = shifts.into_iter().rev().chain(odd.into_iter().rev()).collect();
        if self.points.len() >= 2 * rule.segment {
            let step = smallest_step(&rule, &self.series.run, &self.starts)?;
            self.smallest_step = Finite::new(step.exp_m1()).ok();
        }
        Ok(())
    }

    /// The series of which change points are asked: everything, and each class against the steadiest one.
    fn tested(&self) -> Vec<&[f64]> {
        let against = self.series.classes.iter().filter_map(|class| class.against.as_deref());
        std::iter::once(self.series.run.as_slice()).chain(against).collect()
    }

    fn levels(&self) -> Vec<Level> {
        levels(&self.starts, self.points.len())
    }

    fn shift(&self, before: Level, after: Level, p: f64, success: &Success) -> Result<Shift, StatsError> {
        let change =
            |series: &[f64]| level_change(&series[before.from..before.to], &series[after.from..after.to]);
        let mut moved: Vec<(&ClassSeries, f64)> = Vec::new();
        let mut changes = Vec::new();
        for class in &self.series.classes {
            changes.push((class, change(&class.own)?));
        }
        let largest = changes.iter().map(|(_, (by, _))| *by).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let largest = largest.unwrap_or_default();
        let least = f64::max(TrendRule::STANDARD.change, largest.abs() * SHARE_OF_LARGEST);
        for (class, (by, p)) in &changes {
            if by.abs() >= least && by.signum() == largest.signum() && *p <= MOVED_P {
                moved.push((class, *by));
            }
        }
        let everything = moved.len() == self.series.classes.len() && moved.len() > 1;
        let (what, along) = names(&moved, everything);
        let lead = moved.iter().find(|(class, _)| what.contains(&Channel::Class(channel_class(class.class))));
        let values = match lead {
            Some((class, _)) if !everything => &class.own,
            _ => &self.series.run,
        };
        let (by, _) = change(values)?;
        let jobs = |level: Level| &self.points[level.from..level.to];
        Ok(Shift {
            most: self.most(
                &what,
                |f| {
                    let column = |level: Level| mean(&self.column(f)[level.from..level.to]);
                    (column(before), column(after))
                },
                by,
            ),
            what,
            along,
            since: since::since(&self.points, before, after, values),
            ratio: ratio(by),
            p: Finite::new(p).unwrap_or(Finite::ZERO),
            success: success.meanwhile(jobs(before), jobs(after)),
        })
    }

    fn column(&self, field: usize) -> Vec<f64> {
        self.rows.iter().map(|row| row[field]).collect()
    }

    /// The field of these channels that changed most in the direction of `by`.
    fn most(&self, what: &[Channel], values: impl Fn(usize) -> (f64, f64), by: f64) -> Option<FieldChange> {
        let of = |f: &usize| what.iter().any(|channel| channel.holds(&self.fields[*f].metric));
        let moved = |f: &usize| {
            let (old, new) = values(*f);
            (new - old) * by.signum()
        };
        let worst = (0..self.fields.len()).filter(of).max_by(|a, b| moved(a).total_cmp(&moved(b)))?;
        let (field, (old, new)) = (&self.fields[worst], values(worst));
        let plain = |x: f64| Finite::new((sign(field) * x).exp()).ok();
        let (unit, direction) = (field.metric.unit(), field.metric.direction());
        let change = Change { old: plain(old)?, new: plain(new)?, unit, direction };
        Some(FieldChange { field: field.clone(), change })
    }

    /// Jobs apart from their level in any series; needs enough jobs to know what is usual.
    fn stand_apart(&mut self, success: &Success) -> Result<Vec<TrendFinding>, StatsError> {
        if self.points.len() < 2 * TrendRule::STANDARD.segment {
            return Ok(Vec::new());
        }
        let mut apart = vec![false; self.points.len()];
        for series in self.tested() {
            let odd = apart_from(series, &self.starts)?;
            apart = apart.iter().zip(odd).map(|(known, odd)| *known || odd).collect();
        }
        self.apart = apart;
        let found = runs(&self.apart).into_iter();
        Ok(found.map(|run| TrendFinding::Odd(self.odd(run, success))).collect())
    }

    fn odd(&self, run: (usize, usize), success: &Success) -> Odd {
        let own = Level { from: run.0, to: run.0 + run.1 };
        let level =
            self.levels().into_iter().find(|level| (level.from..level.to).contains(&own.from)).unwrap_or(own);
        let usual = |values: &[f64]| median(&values[level.from..level.to]);
        let seen = |values: &[f64]| mean(&values[own.from..own.to]) - usual(values);
        let mut moved: Vec<(&ClassSeries, f64)> =
            self.series.classes.iter().map(|class| (class, seen(&class.own))).collect();
        let largest =
            moved.iter().map(|(_, by)| *by).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or_default();
        moved.retain(|(_, by)| {
            by.signum() == largest.signum() && by.abs() >= largest.abs() * SHARE_OF_LARGEST
        });
        let everything = moved.len() == self.series.classes.len() && moved.len() > 1;
        let (what, _) = names(&moved, everything);
        let by = if everything { seen(&self.series.run) } else { largest };
        let others: Vec<&Point> = (level.from..level.to)
            .filter(|at| !(own.from..own.to).contains(at))
            .map(|at| self.points[at])
            .collect();
        Odd {
            most: self.most(
                &what,
                |f| {
                    let column = self.column(f);
                    (usual(&column), mean(&column[own.from..own.to]))
                },
                by,
            ),
            what,
            apart: apart(&self.points, run),
            ratio: ratio(by),
            success: match others.is_empty() {
                true => Meanwhile::Unknown,
                false => success.meanwhile(&others, &self.points[own.from..own.to]),
            },
        }
    }

    /// A job against the oldest level: everything, and each metric; `None` where it is not among those with times.
    pub fn against_first(&self, job: &Point) -> Option<(Finite, BTreeMap<ChannelClass, Finite>)> {
        let at = self.points.iter().position(|point| std::ptr::eq(*point, job))?;
        let first = self.levels().first().copied()?;
        let against = |values: &[f64]| ratio(values[at] - median(&values[first.from..first.to]));
        let classes = self.series.classes.iter();
        let metrics = classes.map(|class| (channel_class(class.class), against(&class.own))).collect();
        Some((against(&self.series.run), metrics))
    }

    /// The geometric means of the newest level, without the jobs that stand apart.
    pub fn newest_level(&self) -> Vec<(FieldId, Finite)> {
        let from = self.starts.last().copied().unwrap_or_default();
        let usual: Vec<usize> = (from..self.points.len()).filter(|at| !self.apart[*at]).collect();
        let level = |f: usize| mean(&usual.iter().map(|at| self.rows[*at][f]).collect::<Vec<_>>());
        let value = |(f, field): (usize, &FieldId)| {
            Some((field.clone(), Finite::new((sign(field) * level(f)).exp()).ok()?))
        };
        if usual.is_empty() { Vec::new() } else { self.fields.iter().enumerate().filter_map(value).collect() }
    }
}

fn apart_from(series: &[f64], starts: &[usize]) -> Result<Vec<bool>, StatsError> {
    Ok(odd_jobs(&OddRule::STANDARD, series, starts)?.iter().map(Option::is_some).collect())
}

/// First jobs of new levels in several series that mean one change: the surest of each few jobs.
fn one_change(mut found: Vec<Start>, segment: usize) -> Vec<Start> {
    found.sort_by(|a, b| a.p.total_cmp(&b.p).then_with(|| a.index.cmp(&b.index)));
    let mut kept: Vec<Start> = Vec::new();
    for start in found {
        if kept.iter().all(|other| start.index.abs_diff(other.index) >= segment) {
            kept.push(start);
        }
    }
    kept.sort_by_key(|start| start.index);
    kept
}

/// What moved by itself, and what with it: times to the end and rates follow from the stages.
fn names(moved: &[(&ClassSeries, f64)], everything: bool) -> (Vec<Channel>, Vec<ChannelClass>) {
    if everything || moved.is_empty() {
        return (vec![Channel::RunWide], Vec::new());
    }
    let classes = || moved.iter().map(|(class, _)| channel_class(class.class));
    let follows = |class: &ChannelClass| matches!(class, ChannelClass::E2e | ChannelClass::Throughput);
    let (followers, stages): (Vec<ChannelClass>, Vec<ChannelClass>) = classes().partition(follows);
    match stages.is_empty() {
        true => (followers.into_iter().map(Channel::Class).collect(), Vec::new()),
        false => (stages.into_iter().map(Channel::Class).collect(), followers),
    }
}

fn ratio(by: f64) -> Finite {
    Finite::new(by.exp()).unwrap_or(Finite::ZERO)
}

fn median(values: &[f64]) -> f64 {
    middle(values).unwrap_or_default()
}

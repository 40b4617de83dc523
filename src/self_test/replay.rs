//! Unchanged runs, judged: how often would this gate have cried wolf?
//!
//! Both sides are drawn anew from what is blessed: each round's samples with replacement (bootstrap, Efron 1979), rates and
//! summaries by the sampling variance that the rule gives them, failures as a binomial draw. Requests of a round are drawn
//! apart per metric, since the stored samples are sorted and no longer say which belong together.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::model::self_test::{ReplayNoise, Replays};
use crate::model::{
    Baseline, ChannelClass, Direction, Finite, Group, Measurement, Metric, Outcome, Report, Samples,
    Statistic, Tier,
};
use crate::stats::percentile::{Definition, Sorted};
use crate::stats::proportion::{Counts, wilson};
use crate::stats::sampling::{self, Summary};
use crate::stats::tail::Tail;

use super::bench::Bench;
use super::plant::{rounded, scale};
use super::{SelfTestError, Subject};

/// How many unchanged runs are made, and from which seed.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// Runs of each kind.
    pub runs: u32,
    /// Where they are drawn from.
    pub seed: u64,
}

/// What single groups and fields differ by between jobs: the promise is given for up to 2 % (statistics.md, table A1).
const LOCAL_NOISE: f64 = 0.01;

pub(super) fn replays(
    subject: &Subject,
    bench: &Bench,
    replay: Replay,
) -> Result<Vec<Replays>, SelfTestError> {
    let mut all = Vec::new();
    // The embedded engine gives the same numbers again: there is nothing to draw.
    if bench.clean.tier != Some(Tier::Exact) && replay.runs > 0 {
        let run = subject.policy.run_noise;
        for noise in [ReplayNoise::Requests, ReplayNoise::Jobs { run }] {
            let mut draw = Draw::new(replay.seed, noise);
            let mut outcomes = Vec::new();
            for _ in 0..replay.runs {
                let baseline = draw.baseline(subject.baseline);
                outcomes.push(subject.judge(&draw.report(&bench.candidate), &baseline)?.outcome);
            }
            all.extend(counted(noise, &outcomes));
        }
    }
    all.extend(leave_one_out(subject)?);
    Ok(all)
}

/// Each blessed job against the others, as it was measured.
fn leave_one_out(subject: &Subject) -> Result<Option<Replays>, SelfTestError> {
    let reports = &subject.baseline.reports;
    if reports.len() < 3 {
        return Ok(None);
    }
    let mut outcomes = Vec::new();
    for left_out in 0..reports.len() {
        let mut others = subject.baseline.clone();
        let candidate = others.reports.remove(left_out);
        outcomes.push(subject.judge(&candidate, &others)?.outcome);
    }
    Ok(counted(ReplayNoise::LeaveOneOut, &outcomes))
}

fn counted(noise: ReplayNoise, outcomes: &[Outcome]) -> Option<Replays> {
    let of = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let failed = of(|outcome| *outcome == Outcome::Regression);
    let blocked = of(|outcome| !matches!(outcome, Outcome::Regression | Outcome::Pass));
    let counts = Counts::new(outcomes.len() - failed, outcomes.len()).ok()?;
    let at_most = Finite::new(1.0 - wilson(counts, 0.95).ok()?.0).ok()?;
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Replays {
        noise,
        runs: number(outcomes.len()),
        failed: number(failed),
        blocked: number(blocked),
        at_most,
    })
}

/// A source of unchanged runs.
struct Draw {
    random: ChaCha8Rng,
    /// Standard deviations of the logarithm between jobs: of everything, of one group or field.
    run: f64,
    local: f64,
}

impl Draw {
    fn new(seed: u64, noise: ReplayNoise) -> Draw {
        let (run, local) = match noise {
            ReplayNoise::Jobs { run } => (run.get(), LOCAL_NOISE),
            ReplayNoise::Requests | ReplayNoise::LeaveOneOut => (0.0, 0.0),
        };
        Draw { random: ChaCha8Rng::seed_from_u64(seed), run, local }
    }

    fn baseline(&mut self, baseline: &Baseline) -> Baseline {
        let mut drawn = baseline.clone();
        drawn.reports = baseline.reports.iter().map(|report| self.report(report)).collect();
        drawn
    }

    fn report(&mut self, report: &Report) -> Report {
        let mut drawn = report.clone();
        drawn.source.digests.clear();
        for job in &mut drawn.jobs {
            let local = Local::new(self, job.rounds.iter().flat_map(|round| &round.groups));
            for group in job.rounds.iter_mut().flat_map(|round| &mut round.groups) {
                self.group(group, &local);
            }
        }
        drawn
    }

    fn group(&mut self, group: &mut Group, local: &Local) {
        let share = self.requests(group);
        let e2e = group.metrics.get(&Metric::E2E).and_then(|m| m.samples.clone());
        for (metric, measurement) in &mut group.metrics {
            measurement.n = measurement.n.map(|n| rounded(n as f64 * share));
            let log = local.of(&group.id, metric) + self.sampling(metric, measurement, share, e2e.as_ref());
            scale(measurement, (sign(metric) * log).exp());
        }
    }

    /// Other requests fail: a binomial draw of those that succeed, as a share of those that did. 1 where counts are
    /// unknown or nothing failed.
    fn requests(&mut self, group: &mut Group) -> f64 {
        let Some((succeeded, sent)) = group.requests.counts() else { return 1.0 };
        let kind = group.requests.failed.iter().max_by_key(|(_, n)| **n).map(|(kind, _)| *kind);
        let (Some(kind), true) = (kind, (1..sent).contains(&succeeded)) else { return 1.0 };
        let share = succeeded as f64 / sent as f64;
        let drawn = ((0..sent).filter(|_| self.unit() < share).count() as u64).max(1);
        group.requests.succeeded = Some(drawn);
        group.requests.failed = [(kind, sent - drawn)].into_iter().filter(|(_, n)| *n > 0).collect();
        drawn as f64 / succeeded as f64
    }

    /// Draws the samples anew; what has none gets its sampling error as a logarithm towards worse.
    fn sampling(
        &mut self,
        metric: &Metric,
        measurement: &mut Measurement,
        share: f64,
        e2e: Option<&Samples>,
    ) -> f64 {
        match measurement.samples.as_ref().filter(|samples| !samples.is_empty()) {
            Some(samples) => {
                let drawn = self.with_replacement(samples, rounded(samples.len() as f64 * share));
                let more = dependence(samples, measurement);
                restate(measurement, &drawn);
                measurement.samples = Some(drawn);
                more.sqrt() * self.normal()
            }
            None => variance(metric, measurement, e2e).sqrt() * self.normal(),
        }
    }

    fn with_replacement(&mut self, samples: &Samples, n: u64) -> Samples {
        let all = samples.micros();
        let pick = |at: u64| all.get(usize::try_from(at).unwrap_or(0)).copied().unwrap_or(0);
        Samples::from_micros((0..n).map(|_| pick(self.below(all.len() as u64))).collect())
    }

    fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.random.next_u64()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Strictly between 0 and 1.
    fn unit(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let unit = self.unit();
        Tail::Normal.exceeded_with(unit).unwrap_or(0.0)
    }
}

/// What a job is off by: everything, each group, each field of a group.
struct Local {
    run: f64,
    groups: std::collections::BTreeMap<crate::model::GroupId, f64>,
    fields: std::collections::BTreeMap<(crate::model::GroupId, Metric), f64>,
}

impl Local {
    fn new<'a>(draw: &mut Draw, groups: impl Iterator<Item = &'a Group>) -> Local {
        let run = draw.run * draw.normal();
        let mut local = Local { run, groups: Default::default(), fields: Default::default() };
        for group in groups {
            local.groups.entry(group.id.clone()).or_insert_with(|| draw.local * draw.normal());
            for metric in group.metrics.keys() {
                let field = (group.id.clone(), metric.clone());
                local.fields.entry(field).or_insert_with(|| draw.local * draw.normal());
            }
        }
        local
    }

    /// As a logarithm towards worse; nothing for what is neither a time nor a rate.
    fn of(&self, group: &crate::model::GroupId, metric: &Metric) -> f64 {
        if metric.class().is_none() {
            return 0.0;
        }
        let of_group = self.groups.get(group).copied().unwrap_or(0.0);
        let of_field = self.fields.get(&(group.clone(), metric.clone())).copied().unwrap_or(0.0);
        self.run + of_group + of_field
    }
}

fn sign(metric: &Metric) -> f64 {
    if metric.direction() == Direction::HigherIsBetter { -1.0 } else { 1.0 }
}

/// What drawing requests one by one leaves out: the variance that dependence in time adds at the median.
fn dependence(samples: &Samples, measurement: &Measurement) -> f64 {
    let vif = measurement.vif.get(&Statistic::P50).map_or(1.0, |vif| vif.get().max(1.0));
    let of = |vif: f64| {
        let sorted = Sorted::new(samples.sorted_millis()).ok()?;
        sampling::percentile_variance(&sorted, 50.0, vif).ok()
    };
    if vif > 1.0 {
        of(vif).zip(of(1.0)).map_or(0.0, |(with, without)| (with - without).max(0.0))
    } else {
        0.0
    }
}

/// Sampling variance of a number without samples, as the rule takes it.
fn variance(metric: &Metric, measurement: &Measurement, e2e: Option<&Samples>) -> f64 {
    let Some(class) = metric.class() else { return 0.0 };
    let vif = measurement.vif.get(&Statistic::Value).map_or(1.0, |vif| vif.get().max(1.0));
    let from_samples = (class == ChannelClass::Throughput)
        .then(|| sampling::throughput_variance(&Sorted::new(e2e?.sorted_millis()).ok()?, vif).ok())
        .flatten();
    let kind = match class {
        ChannelClass::Ttft => Summary::TtftPercentile(50.0),
        ChannelClass::Throughput => Summary::Throughput,
        ChannelClass::Tpot | ChannelClass::Itl | ChannelClass::E2e => Summary::Percentile(50.0),
    };
    let n = measurement.n.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    from_samples.or_else(|| sampling::summary_variance(kind, n).ok()).unwrap_or(0.0)
}

/// The percentiles of the samples as drawn, by floor rank; other statistics stay.
fn restate(measurement: &mut Measurement, samples: &Samples) {
    let Ok(sorted) = Sorted::new(samples.sorted_millis()) else { return };
    for (statistic, value) in &mut measurement.stats {
        let drawn = statistic.percent().and_then(|p| sorted.percentile(p, Definition::FloorRank).ok());
        *value = drawn.and_then(|drawn| Finite::new(drawn).ok()).unwrap_or(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_run() {
        let samples = Samples::from_micros((1..=100).collect());
        let draw = || Draw::new(7, ReplayNoise::Requests).with_replacement(&samples, 100);
        assert_eq!(draw(), draw());
        assert!(draw().micros().iter().all(|us| (1..=100).contains(us)));
        assert_ne!(draw(), samples);
    }

    #[test]
    fn normal_draws_have_the_spread_they_should() {
        let mut draw = Draw::new(1, ReplayNoise::Requests);
        let draws: Vec<f64> = (0..20_000).map(|_| draw.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let sd = (draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!(mean.abs() < 0.03 && (sd - 1.0).abs() < 0.02, "{mean} {sd}");
    }
}

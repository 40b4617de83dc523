//! The figures of `docs/trend.md`: `cargo run --release --example trend_rates`.
//!
//! Three in a row: gates of 12 groups against three blessed jobs, everything slower by a step, the whole rule of the
//! judge. Trends: nights of one metric with normal noise, a look after each night.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program that prints a table")]

use std::collections::{BTreeMap, BTreeSet};

use pacegate::history::{Point, trend};
use pacegate::model::history::Moment;
use pacegate::model::report::Requests;
use pacegate::model::trend::{Shift, TrendFinding};
use pacegate::model::{FieldId, Finite, GroupId, Metric, Statistic, Timestamp};
use pacegate::stats::constants::Rule;
use pacegate::stats::evidence::{
    Class, Evidence, Field, JobRow, judge, limit_of_decrease, limit_of_increase,
};
use pacegate::stats::trend::in_a_row;

/// Nights before a change, and after it.
const BEFORE: usize = 30;
const AFTER: usize = 14;

fn main() {
    println!("run noise | step | run-wide fails within 1 / 5 / 10 jobs: alone -> with three in a row");
    for noise in [0.02, 0.05] {
        for step in [0.0, 0.12, 0.15, 0.2] {
            let mut random = Random(0x5eed);
            let text = in_a_row_rates(&mut random, noise, step);
            println!("{:.0} % | +{:.0} % | {text}", noise * 100.0, step * 100.0);
        }
    }
    println!();
    println!("noise | outliers | false alarms in 100 nights | +10 % by night 3 / 7 / 14, at its very job");
    for noise in [0.03, 0.05] {
        for outliers in [0.0, 0.03] {
            let mut random = Random(0x5eed);
            let alarms = false_alarms(&mut random, noise, outliers);
            let found = found(&mut random, noise, outliers);
            println!("{:.0} % | {:.0} % | {alarms:.2} | {found}", noise * 100.0, outliers * 100.0);
        }
    }
}

/// Shares of series in which the run-wide channel fails within so many jobs. One baseline a series.
fn in_a_row_rates(random: &mut Random, noise: f64, step: f64) -> String {
    let series = 400;
    let fields = fields();
    let (mut alone, mut with) = ([0; 3], [0; 3]);
    let mut failed_jobs = [0; 2];
    for _ in 0..series {
        let blessed: Vec<JobRow> = (0..3).map(|_| random.job(noise, 0.0, fields.len())).collect();
        let mut past: Vec<BTreeSet<&str>> = Vec::new();
        let mut first = [None; 2];
        for job in 1..=10 {
            let candidate = [random.job(noise, step.ln_1p(), fields.len())];
            let evidence = Evidence::Jobs { baseline: &blessed, candidate: &candidate, fewest_rounds: 3 };
            let outcome = judge(&Rule::STANDARD, &fields, &evidence, 1.0).unwrap();
            past.push(outcome.run_over_limits.then_some("run").into_iter().collect());
            let fails = [outcome.run.regressed, outcome.run.regressed || !in_a_row(&past).is_empty()];
            for (which, fails) in fails.into_iter().enumerate() {
                failed_jobs[which] += i32::from(fails);
                first[which] = first[which].or(fails.then_some(job));
            }
        }
        for (at, jobs) in [1, 5, 10].into_iter().enumerate() {
            alone[at] += i32::from(first[0].is_some_and(|first| first <= jobs));
            with[at] += i32::from(first[1].is_some_and(|first| first <= jobs));
        }
    }
    if step == 0.0 {
        let share = |n: i32| 100.0 * f64::from(n) / f64::from(10 * series);
        return format!(
            "false failures a job: {:.2} -> {:.2} %",
            share(failed_jobs[0]),
            share(failed_jobs[1])
        );
    }
    let shares = |by: [i32; 3]| by.map(|n| ((100 * n + series / 2) / series).to_string()).join(" / ");
    format!("{} -> {} %", shares(alone), shares(with))
}

/// The default limits in 12 groups.
fn fields() -> Vec<Field> {
    use Class::{E2e, Throughput, Tpot, Ttft};
    let of_group = |group: usize| {
        [Ttft, Ttft, Tpot, Tpot, E2e, Throughput].map(|class| {
            let limit = if class == Throughput { limit_of_decrease(0.1) } else { limit_of_increase(0.1) };
            Field { class, group, log_limit: limit.unwrap(), floor: 0.0, gated: true, summary: false }
        })
    };
    (0..12).flat_map(of_group).collect()
}

/// New commits blamed for a worsening in 100 nights in which nothing changed.
fn false_alarms(random: &mut Random, noise: f64, outliers: f64) -> f64 {
    let (series, nights) = (300, 70);
    let (mut alarms, mut looks) = (0, 0);
    for _ in 0..series {
        let values: Vec<f64> = (0..nights).map(|_| random.night(noise, outliers)).collect();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        for night in BEFORE + 1..=nights {
            looks += 1;
            for first in worse(&values[..night]) {
                if known.iter().all(|other| first.abs_diff(*other) > 3) {
                    alarms += 1;
                    known.insert(first);
                }
            }
        }
    }
    100.0 * f64::from(alarms) / f64::from(looks)
}

/// Shares of series in which a step of +10 % is found, near where it is, so many nights after it.
fn found(random: &mut Random, noise: f64, outliers: f64) -> String {
    let series = 200;
    let (mut by, mut exact) = ([0; 3], 0);
    for _ in 0..series {
        let step = |night: usize| if night < BEFORE { 0.0 } else { 1.1_f64.ln() };
        let values: Vec<f64> =
            (0..BEFORE + AFTER).map(|night| step(night) + random.night(noise, outliers)).collect();
        let near = |after: usize| {
            worse(&values[..BEFORE + after]).into_iter().find(|first| first.abs_diff(BEFORE) <= 4)
        };
        let first = (1..=AFTER).find(|after| near(*after).is_some());
        for (at, nights) in [3, 7, 14].into_iter().enumerate() {
            by[at] += i32::from(first.is_some_and(|first| first <= nights));
        }
        exact += i32::from(near(AFTER) == Some(BEFORE));
    }
    let share = |n: i32| (100 * n + series / 2) / series;
    format!("{} / {} / {} %, {} %", share(by[0]), share(by[1]), share(by[2]), share(exact))
}

/// First nights of worse levels.
fn worse(values: &[f64]) -> Vec<usize> {
    let points: Vec<Point> = values.iter().enumerate().map(|(night, value)| point(night, *value)).collect();
    let judged = trend(points, Vec::new(), &[]).unwrap();
    let night = |shift: &Shift| shift.since.first.commit.as_ref().unwrap().parse().unwrap();
    let shifts = judged.series[0].findings.iter().filter_map(|told| match &told.finding {
        TrendFinding::Shift(shift) if shift.ratio.get() > 1.0 => Some(night(shift)),
        _ => None,
    });
    shifts.collect()
}

fn point(night: usize, value: f64) -> Point {
    let at = time::OffsetDateTime::UNIX_EPOCH + time::Duration::days(i64::try_from(night).unwrap());
    let field = FieldId::new(GroupId("chat".to_owned()), Metric::TTFT, Statistic::P95);
    Point {
        source: String::new(),
        profile: "chat".to_owned(),
        model: None,
        format: None,
        baseline: None,
        allowed: Vec::new(),
        workloads: BTreeMap::new(),
        job: night.to_string(),
        moment: Moment { commit: Some(night.to_string()), at: Timestamp::new(at).unwrap() },
        requests: Requests::default(),
        fields: BTreeMap::from([(field, Finite::new(400.0 * value.exp()).unwrap())]),
    }
}

/// xorshift: the same table in every run.
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.share().max(f64::MIN_POSITIVE).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// A job: noise of everything, 2 % of each field beside it, and the sampling of 300 requests in 3 rounds.
    fn job(&mut self, noise: f64, step: f64, fields: usize) -> JobRow {
        let (all, sampling) = (step + self.normal() * noise, 0.04);
        let field_noise = f64::hypot(0.02, sampling);
        let x = (0..fields).map(|_| 5.0 + all + self.normal() * field_noise).collect();
        JobRow { x, w: vec![sampling * sampling; fields] }
    }

    fn night(&mut self, noise: f64, outliers: f64) -> f64 {
        self.normal() * noise + if self.share() < outliers { 1.2_f64.ln() } else { 0.0 }
    }
}

//! How long a verdict takes: `cargo bench --bench judge`.
//!
//! Medians of repeated runs, as a table for `docs/performance.md`. Nothing here asserts a time: machines differ.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints, and stops where it can't go on"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use pacegate::model::baseline::Baseline;
use pacegate::model::profile::{Load, Profile, Target};
use pacegate::model::report::{ProfileRef, Requests, Source, SourceKind, Subject, Tool};
use pacegate::model::verdict::BaselineRef;
use pacegate::model::{
    Dimensions, Finite, Group, Job, Measurement, Metric, Report, Round, Samples, Statistic,
};

/// A plain generator of repeatable numbers between 0 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Times around `centre`, with a tail.
    fn times(&mut self, centre: f64, n: usize) -> Vec<f64> {
        (0..n).map(|_| centre * (0.6 + self.next() + 2.0 * self.next().powi(8))).collect()
    }
}

fn sampled(numbers: &mut Numbers, metric: &Metric, centre: f64, n: usize) -> Measurement {
    let times = numbers.times(centre, n);
    let vif = [Statistic::P50, Statistic::P95, Statistic::P99].map(|p| (p, Finite::new(1.2).unwrap()));
    Measurement {
        n: Some(n as u64),
        samples: Some(Samples::from_millis(&times).unwrap()),
        stats: BTreeMap::new(),
        vif: BTreeMap::from(vif),
        ..Measurement::single(metric.unit(), Finite::ZERO)
    }
}

/// Six gated fields a group: TTFT and TPOT at P50 and P95, E2E at P95, throughput.
fn group(numbers: &mut Numbers, at: u32, n: usize) -> Group {
    let dimensions = Dimensions { concurrency: Some(at), ..Dimensions::default() };
    let mut metrics = BTreeMap::new();
    for (metric, centre) in [(Metric::TTFT, 200.0), (Metric::TPOT, 20.0), (Metric::E2E, 4000.0)] {
        let measurement = sampled(numbers, &metric, centre, n);
        metrics.insert(metric, measurement);
    }
    let rate = Measurement::single(Metric::OUTPUT_THROUGHPUT.unit(), Finite::new(500.0).unwrap());
    metrics.insert(Metric::OUTPUT_THROUGHPUT, rate);
    let requests = Requests { sent: Some(n as u64), succeeded: Some(n as u64), ..Requests::default() };
    Group { requests, metrics, ..Group::new(dimensions) }
}

fn report(seed: u64, groups: u32, jobs: usize, n: usize) -> Report {
    let mut numbers = Numbers(seed);
    let job = |at: usize| Job {
        id: format!("job-{seed}-{at}"),
        started: None,
        complete: true,
        warmup: None,
        rounds: vec![Round {
            seed: None,
            groups: (1..=groups).map(|g| group(&mut numbers, g, n)).collect(),
            against: Vec::new(),
        }],
    };
    Report {
        schema: pacegate::model::report::SCHEMA.into(),
        tool: Tool::pacegate(),
        source: Source::of(SourceKind::Load),
        subject: Subject::default(),
        client: Default::default(),
        code: Default::default(),
        profile: ProfileRef { name: "bench".into(), ..ProfileRef::default() },
        jobs: (0..jobs).map(job).collect(),
    }
}

fn median(repeats: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn row(what: &str, repeats: usize, time: Duration) {
    println!("| {what} | {repeats} | {:.1} ms |", time.as_secs_f64() * 1000.0);
}

fn judged(baseline: &Baseline, candidate: &Report) {
    let policy = pacegate::config::Config::default().policy(None);
    let reference = BaselineRef {
        path: String::new(),
        blessed: None,
        commit: None,
        jobs: baseline.jobs().count(),
        model: None,
        digest: String::new(),
    };
    let verdict = pacegate::gate::judge(pacegate::gate::Input::new(
        candidate,
        Some((baseline, reference)),
        &policy,
        time::macros::date!(2026 - 01 - 01),
    ));
    assert!(verdict.unwrap().counts.compared > 0);
}

fn large_gate() {
    let mut baseline = Baseline::nothing();
    baseline.reports = vec![report(1, 84, 10, 1000)];
    let candidate = report(2, 84, 1, 1000);
    row(
        "judge 504 fields x 10 blessed jobs x 1,000 samples",
        11,
        median(11, || judged(&baseline, &candidate)),
    );
    let text = serde_json::to_string(&baseline).unwrap();
    let read =
        || drop(std::hint::black_box(pacegate::baseline::parse("baseline.json", text.as_bytes()).unwrap()));
    println!("| (its baseline is {:.1} MB) | | |", text.len() as f64 / 1e6);
    row("read that baseline", 11, median(11, read));
}

/// A process from its start to its exit, with a baseline and a real report.
fn cold_check() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("tests/data/reports/vllm/0.33.0/clean-chat-c8-detailed.json");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pacegate"));
        command.args(arguments).current_dir(folder.path()).env_remove("CI");
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
    };
    let file = file.to_str().unwrap();
    assert!(run(&["check", file, "--bless", "--reason", "bench"]).success());
    row(
        "pacegate check of a vLLM report of 60 requests, whole process",
        31,
        median(31, || assert!(run(&["check", file]).success())),
    );
    row("pacegate --help, whole process", 31, median(31, || assert!(run(&["--help"]).success())));
}

fn profile(name: &str, change: impl FnOnce(&mut Profile)) -> Profile {
    let mut profile = pacegate::config::builtin(name).unwrap();
    change(&mut profile);
    profile
}

fn measured(profile: &Profile) {
    let Target::Embedded(engine) = &profile.target else { return };
    let report = pacegate::source::simulate::measure(profile, engine, &mut |_| {}, &AtomicBool::new(false));
    assert!(!report.unwrap().jobs.is_empty());
}

fn engine() {
    let full = profile("full", |_| {});
    row(
        "embedded engine, profile full (36 groups x 300 requests x 3 rounds)",
        11,
        median(11, || measured(&full)),
    );
    let million = profile("smoke", |profile| {
        profile.requests = 1_000_000;
        profile.rounds = 1;
        profile.strategies.truncate(1);
        profile.load = Load::Concurrency(vec![8]);
    });
    row("embedded engine, a million requests in one group", 3, median(3, || measured(&million)));
}

fn main() {
    println!("| what | runs | median |\n| --- | ---: | ---: |");
    large_gate();
    cold_check();
    engine();
}

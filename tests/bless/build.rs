//! Reports and requests with as little as a case needs.

use std::collections::BTreeMap;

use pacegate::baseline::{self, BlessRefused, BlessRequest};
use pacegate::config::Config;
use pacegate::gate;
use pacegate::model::baseline::Blessed;
use pacegate::model::report::{
    self, Client, Code, ProfileRef, Requests, Source, SourceKind, Subject, TokenSource, Tokens, Tool,
    Workload,
};
use pacegate::model::verdict::BaselineRef;
use pacegate::model::{
    Baseline, Dimensions, Fact, Finite, Group, Job, Measurement, Metric, PercentileDefinition, Report, Round,
    Samples, Statistic, Timestamp, Verdict,
};
use time::macros::datetime;

pub fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

/// Two hundred durations around a middle, in ms; `seed` shuffles nothing and shifts all of them a little.
fn durations(middle: f64, seed: u64) -> Vec<f64> {
    (0..200u32).map(|i| middle * (0.8 + f64::from(i) * 0.002) + seed as f64 * 0.001).collect()
}

pub fn latency(metric: &Metric, middle: f64, seed: u64) -> Measurement {
    let samples = durations(middle, seed);
    let at = |rank: usize| finite((samples[rank] * 1000.0).round() / 1000.0);
    Measurement {
        unit: metric.unit(),
        definition: Some("first-token".to_owned()),
        n: Some(200),
        percentile_definition: Some(PercentileDefinition::FloorRank),
        stats: BTreeMap::from([
            (Statistic::P50, at(100)),
            (Statistic::P95, at(190)),
            (Statistic::P99, at(198)),
        ]),
        samples: Some(Samples::from_millis(&samples).unwrap()),
        vif: BTreeMap::new(),
    }
}

/// A group of a strategy whose times are `scale` times the usual ones.
pub fn group(strategy: &str, scale: f64, seed: u64) -> Group {
    let dimensions = Dimensions {
        strategy: Some(strategy.to_owned()),
        traffic: Some("chat".to_owned()),
        concurrency: Some(8),
        ..Dimensions::default()
    };
    let metrics = BTreeMap::from([
        (Metric::TTFT, latency(&Metric::TTFT, 400.0 * scale, seed)),
        (Metric::E2E, latency(&Metric::E2E, 4000.0 * scale, seed)),
        (
            Metric::OUTPUT_THROUGHPUT,
            Measurement::single(Metric::OUTPUT_THROUGHPUT.unit(), finite(1000.0 / scale)),
        ),
    ]);
    Group {
        requests: Requests { sent: Some(200), succeeded: Some(200), ..Requests::default() },
        tokens: Tokens { input: Some(2000), output: Some(20_000), cached: None, from: TokenSource::Usage },
        metrics,
        ..Group::new(dimensions)
    }
}

/// A job of three rounds of these groups; every seed gives other numbers.
pub fn job(id: &str, seed: u64, groups: impl Fn(u64) -> Vec<Group>) -> Job {
    let round = |round: u64| Round { groups: groups(seed * 10 + round), ..Round::default() };
    Job {
        id: id.to_owned(),
        started: None,
        complete: true,
        warmup: None,
        rounds: (0..3).map(round).collect(),
    }
}

pub fn report_of(jobs: Vec<Job>) -> Report {
    let ids = jobs.iter().flat_map(|job| &job.rounds).flat_map(|round| &round.groups).map(|g| g.id.clone());
    let workload =
        || Workload::from([(Fact::Traffic, "chat".to_owned()), (Fact::Concurrency, "8".to_owned())]);
    let workloads = ids.map(|id| (id, workload())).collect();
    Report {
        schema: report::SCHEMA.to_owned(),
        tool: Tool::pacegate(),
        source: Source::of(SourceKind::Load),
        subject: Subject { model: Some("model-a".to_owned()), ..Subject::default() },
        client: Client::default(),
        code: Code::default(),
        profile: ProfileRef {
            name: "chat".to_owned(),
            reference: Some("baseline".to_owned()),
            workloads,
            fingerprints: BTreeMap::new(),
        },
        jobs,
    }
}

/// One job of the reference strategy, `scale` times as slow as usual.
pub fn report(id: &str, scale: f64, seed: u64) -> Report {
    report_of(vec![job(id, seed, |seed| vec![group("baseline", scale, seed)])])
}

pub fn judge(baseline: Option<&Baseline>, candidate: &Report) -> Verdict {
    let reference = || BaselineRef {
        path: "baselines/chat.json".to_owned(),
        blessed: None,
        commit: None,
        jobs: 1,
        model: None,
        digest: "0".repeat(12),
    };
    let policy = Config::default().policy(None);
    let input = gate::Input {
        missing_baseline: ("baselines/chat.json".to_owned(), "pacegate run --bless".to_owned()),
        ..gate::Input::new(
            candidate,
            baseline.map(|baseline| (baseline, reference())),
            &policy,
            time::macros::date!(2026 - 01 - 02),
        )
    };
    gate::judge(input).unwrap()
}

/// How a bless is asked for; everything else follows from the report.
#[derive(Clone, Default)]
pub struct Ask {
    pub add: bool,
    pub reason: Option<&'static str>,
    pub in_ci: bool,
    pub allow_ci: bool,
    pub max_drift: Option<Finite>,
}

pub const REASON: Ask =
    Ask { add: false, reason: Some("TEAM-1"), in_ci: false, allow_ci: false, max_drift: None };
pub const ADD: Ask = Ask { add: true, reason: None, in_ci: false, allow_ci: false, max_drift: None };

/// Judges and blesses as the commands do.
pub fn bless(existing: Option<&Baseline>, candidate: &Report, ask: &Ask) -> Result<Blessed, BlessRefused> {
    let verdict = judge(existing, candidate);
    let sight = judge(Some(&baseline::fresh(candidate)), candidate);
    let request = BlessRequest {
        add: ask.add,
        reason: ask.reason.map(str::to_owned),
        allow_ci: ask.allow_ci,
        in_ci: ask.in_ci,
        now: Timestamp::new(datetime!(2026-01-02 03:04:05 UTC)).unwrap(),
        code: Code { commit: Some("c0ffee".to_owned()), dirty: vec!["src/main.rs".to_owned()] },
        verdict: &verdict,
        sight: Some(&sight),
        max_drift: ask.max_drift,
    };
    baseline::bless(existing, candidate, &request)
}

/// A first baseline of one usual job.
pub fn first() -> Baseline {
    bless(None, &report("job-1", 1.0, 1), &Ask::default()).unwrap().baseline
}

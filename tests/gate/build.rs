//! Reports, baselines and policies for tests, with as little as a case needs.

use std::collections::BTreeMap;

use pacegate::model::baseline::{self, Baseline, Ledger};
use pacegate::model::policy::{
    Allowance, Decide, FieldPattern, OnUnresolved, Origin, Policy, Rule, SelfBless,
};
use pacegate::model::report::{
    self, Client, Code, ProfileRef, Requests, Source, SourceKind, Subject, TokenSource, Tokens, Tool,
};
use pacegate::model::verdict::BaselineRef;
use pacegate::model::{
    Dimensions, Fact, Finite, Group, Job, Measurement, Metric, PercentileDefinition, Report, Round, Samples,
    Statistic, Verdict,
};
use pacegate::stats::sampling::{percentile_inflation, throughput_inflation};

pub fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

/// A metric with samples in the order of arrival, in ms.
pub fn sampled(metric: &Metric, arrivals: &[f64]) -> Measurement {
    let vif = [50.0, 95.0, 99.0].map(|p| {
        let statistic = Statistic::Percentile((p * 1000.0) as u32);
        (statistic, finite(percentile_inflation(arrivals, p).unwrap()))
    });
    Measurement {
        unit: metric.unit(),
        definition: Some("first-token".into()),
        n: Some(arrivals.len() as u64),
        percentile_definition: Some(PercentileDefinition::FloorRank),
        stats: BTreeMap::new(),
        samples: Some(Samples::from_millis(arrivals).unwrap()),
        vif: BTreeMap::from(vif),
    }
}

/// A throughput whose noise is that of these end-to-end times.
pub fn throughput(value: f64, e2e: &[f64]) -> Measurement {
    let mut measurement = Measurement::single(Metric::OUTPUT_THROUGHPUT.unit(), finite(value));
    measurement.vif.insert(Statistic::Value, finite(throughput_inflation(e2e).unwrap()));
    measurement
}

/// A group in which every request succeeded.
pub fn group(dimensions: Dimensions, metrics: BTreeMap<Metric, Measurement>, requests: u64) -> Group {
    Group {
        requests: Requests { sent: Some(requests), succeeded: Some(requests), ..Requests::default() },
        tokens: Tokens { output: Some(requests * 100), from: TokenSource::Usage, ..Tokens::default() },
        metrics,
        ..Group::new(dimensions)
    }
}

pub fn report(jobs: Vec<Vec<Round>>) -> Report {
    let job = |(at, rounds): (usize, Vec<Round>)| Job {
        id: format!("job-{at}"),
        started: None,
        complete: true,
        warmup: None,
        rounds,
    };
    Report {
        schema: report::SCHEMA.into(),
        tool: Tool::pacegate(),
        source: Source::of(SourceKind::Load),
        subject: Subject { model: Some("model-a".into()), ..Subject::default() },
        client: Client::default(),
        code: Code::default(),
        profile: ProfileRef { name: "chat".into(), ..ProfileRef::default() },
        jobs: jobs.into_iter().enumerate().map(job).collect(),
    }
}

pub fn blessed(reports: Vec<Report>) -> Baseline {
    Baseline {
        schema: baseline::SCHEMA.into(),
        tool: Tool::pacegate(),
        profile: "chat".into(),
        summary: BTreeMap::new(),
        ledger: Ledger::default(),
        reports,
    }
}

pub fn rule(field: &str, allowance: Allowance) -> Rule {
    let (metric, statistic) = match field.split_once('.') {
        Some((metric, statistic)) => (metric, statistic.parse().unwrap()),
        None => (field, Statistic::Value),
    };
    let fail_if_reversed = (metric == Metric::SPEEDUP.id()).then_some(true);
    Rule {
        pattern: FieldPattern::everywhere(Metric::named(metric), statistic),
        gate: None,
        allowance: Some(allowance),
        min_change: None,
        max: None,
        min: None,
        fail_if_reversed,
        origin: Origin::Default,
    }
}

/// A policy of these fields at one relative limit.
pub fn policy(fields: &[&str], limit: f64, decide: Decide) -> Policy {
    Policy {
        rules: fields.iter().map(|field| rule(field, Allowance::Relative(finite(limit)))).collect(),
        run_noise: finite(0.05),
        decide,
        unresolved: OnUnresolved::Pass,
        blind_above: finite(1000.0),
        self_bless: SelfBless::Say,
        max_drift: None,
        waivers: Vec::new(),
    }
}

pub fn judge(baseline: &Baseline, candidate: &Report, policy: &Policy, allowed: &[Fact]) -> Verdict {
    let reference = BaselineRef {
        path: "baselines/chat.json".into(),
        blessed: None,
        commit: None,
        jobs: baseline.jobs().count(),
        model: None,
        digest: String::new(),
    };
    pacegate::gate::judge(pacegate::gate::Input {
        allowed,
        ..pacegate::gate::Input::new(
            candidate,
            Some((baseline, reference)),
            policy,
            time::Date::from_calendar_date(2026, time::Month::March, 1).unwrap(),
        )
    })
    .unwrap()
}

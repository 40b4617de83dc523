//! Verdicts as the gate makes them, one for each way in which a comparison ends.

mod endings;

use std::collections::BTreeMap;

use pacegate::model::finding::{DecidedBy, Evidence};
use pacegate::model::policy::{Allowance, Decide, Origin, Tolerance};
use pacegate::model::report::{Requests, Tool};
use pacegate::model::verdict::{BaselineRef, CandidateRef, Counts, Resolution, SCHEMA};
use pacegate::model::*;

pub use endings::*;

pub fn f(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

pub fn group(name: &str) -> GroupId {
    GroupId(name.to_owned())
}

pub fn field(name: &str) -> FieldId {
    let (of, local) = name.split_once(':').unwrap();
    let (metric, statistic) =
        local.split_once('.').map_or((local, Statistic::Value), |(m, s)| (m, s.parse().unwrap()));
    FieldId::new(group(of), Metric::named(metric), statistic)
}

/// The built-in limit of a metric.
fn tolerance(metric: &Metric) -> Tolerance {
    let (allowance, floor, min) = match metric.id() {
        "success_rate" => (Allowance::Points(f(0.01)), None, Some(f(0.95))),
        "ttft" => (Allowance::Relative(f(0.1)), Some(f(2.0)), None),
        "tpot" => (Allowance::Relative(f(0.1)), Some(f(0.2)), None),
        "e2e" => (Allowance::Relative(f(0.1)), Some(f(10.0)), None),
        _ => (Allowance::Relative(f(0.1)), None, None),
    };
    Tolerance {
        allowance: Some(allowance),
        min_change: floor,
        max: None,
        min,
        fail_if_reversed: *metric == Metric::SPEEDUP,
        origin: Origin::Default,
        bound_origin: Origin::Default,
    }
}

/// A gated finding with the reason that the gate gives first.
pub fn finding(name: &str, judgement: Judgement, old: Option<f64>, new: Option<f64>) -> Finding {
    let field = field(name);
    let metric = field.metric.clone();
    let mut finding = Finding {
        judgement,
        gated: true,
        old: old.map(f),
        new: new.map(f),
        unit: metric.unit(),
        direction: metric.direction(),
        tolerance: Some(tolerance(&metric)),
        evidence: None,
        decided_by: Some(DecidedBy::Limits),
        confirmed: None,
        summary: false,
        reasons: Vec::new(),
        field: field.clone(),
    };
    let tolerance = tolerance(&metric);
    finding.reasons = match (judgement, finding.change()) {
        (Judgement::Regressed, Some(change)) => vec![Reason::OverLimit { field, change, tolerance }],
        (Judgement::Improved, Some(change)) => vec![Reason::Better { field, change }],
        (Judgement::Unresolved, Some(change)) => {
            vec![Reason::CouldBeNoise { field, change, tolerance, p: Some(f(0.08)) }]
        }
        (Judgement::New, _) => vec![Reason::New { field }],
        (Judgement::Missing, _) => vec![Reason::Missing {
            field,
            old: Quantity { value: f(old.unwrap()), unit: metric.unit() },
            hint: Some("vllm bench serve writes it with --percentile-metrics ttft,tpot,itl,e2el".to_owned()),
        }],
        _ => Vec::new(),
    };
    finding
}

pub fn not_gated(name: &str, old: f64, new: f64) -> Finding {
    let finding = finding(name, Judgement::NotGated, Some(old), Some(new));
    Finding { gated: false, tolerance: None, decided_by: None, ..finding }
}

pub fn with_evidence(
    mut finding: Finding,
    interval: (f64, f64),
    p: f64,
    resolution: f64,
    confirmed: bool,
) -> Finding {
    finding.evidence = Some(Evidence {
        interval: Some((f(interval.0), f(interval.1))),
        p: f(p),
        p_holm: f((p * 12.0).min(1.0)),
        resolution: Some(f(resolution)),
    });
    finding.confirmed = Some(confirmed);
    finding
}

fn usual_fields(of: &str) -> Vec<Finding> {
    let unchanged =
        |name: &str, old, new| finding(&format!("{of}:{name}"), Judgement::Unchanged, Some(old), Some(new));
    vec![
        unchanged("success_rate", 1.0, 1.0),
        unchanged("ttft.p50", 201.4, 203.9),
        unchanged("ttft.p95", 412.0, 420.3),
        unchanged("tpot.p50", 8.31, 8.29),
        unchanged("tpot.p95", 10.02, 10.11),
        unchanged("e2e.p95", 2980.5, 3011.7),
        unchanged("output_throughput", 411.2, 409.8),
        not_gated(&format!("{of}:ttft.p99"), 590.2, 611.0),
        not_gated(&format!("{of}:output_tokens.mean"), 181.0, 181.4),
    ]
}

/// Replaces the finding of the same field, and puts what fails first, as the gate does.
pub fn put(verdict: &mut Verdict, finding: Finding) {
    verdict.findings.retain(|f| f.field != finding.field);
    verdict.findings.push(finding);
    verdict.findings.sort_by_key(|f| (!f.gated, f.judgement));
}

pub fn pass() -> Verdict {
    let mut findings = usual_fields("chat/c1");
    findings.extend(usual_fields("chat/c8"));
    findings.sort_by_key(|f| (!f.gated, f.judgement));
    let seen = |low: f64, high: f64| {
        BTreeMap::from([(group("chat/c1"), Some(f(low))), (group("chat/c8"), Some(f(high)))])
    };
    Verdict {
        schema: SCHEMA,
        tool: Tool { name: "pacegate".to_owned(), version: "0.1.0".to_owned() },
        profile: "chat".to_owned(),
        outcome: Outcome::Pass,
        exit_code: 0,
        report_only: false,
        simulated: false,
        duet: false,
        tier: Some(Tier::Replicated),
        decide: Decide::Auto,
        decided_by: Some(DecidedBy::Evidence),
        lifts: None,
        promise: Some(
            "at most about 1 in 100 unchanged gates fails if the noise between jobs is \u{2264} 5 % for everything and \u{2264} 2 % for single groups and fields"
                .to_owned(),
        ),
        allowed: Vec::new(),
        alterations: Vec::new(),
        baseline: Some(BaselineRef {
            path: "baselines/chat.json".to_owned(),
            blessed: Some("2026-05-04T09:30:00Z".to_owned().try_into().unwrap()),
            commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            jobs: 3,
            model: Some("my-model".to_owned()),
            digest: "a1b2c3d4e5f6".to_owned(),
        }),
        over_limits: Vec::new(),
        history: None,
        candidate: CandidateRef {
            started: None,
            commit: None,
            job_ids: Vec::new(),
            files: Vec::new(),
            format: None,
            model: Some("my-model".to_owned()),
            jobs: 1,
            rounds: 3,
            requests: Requests { sent: Some(1800), succeeded: Some(1800), ..Requests::default() },
            input_tokens: Some(460_800),
            output_tokens: Some(325_800),
        },
        counts: Counts { required: 14, compared: 14, over_limit: 0, over_expected: Some(f(0.4)) },
        problems: Vec::new(),
        causes: Vec::new(),
        findings,
        what_changed: vec![Reason::ParameterChanged {
            name: "engine version".to_owned(),
            old: Some("0.32.1".to_owned()),
            new: Some("0.33.0".to_owned()),
        }],
        notes: Vec::new(),
        resolution: Resolution {
            run_wide: Some(f(0.19)),
            metrics: BTreeMap::from([
                (Metric::TTFT, seen(0.31, 0.44)),
                (Metric::TPOT, seen(0.14, 0.21)),
                (Metric::E2E, seen(0.22, 0.22)),
                (Metric::OUTPUT_THROUGHPUT, seen(0.17, 0.25)),
            ]),
            tighter_rules: Vec::new(),
            blind: Vec::new(),
        },
        reproduce: Some("pacegate run --profile chat".to_owned()),
    }
}

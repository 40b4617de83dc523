//! Reports of summaries, as most tools write them.

use std::collections::BTreeMap;

use pacegate::model::policy::{Allowance, Decide, Policy};
use pacegate::model::{
    Dimensions, Finding, Group, Measurement, Metric, PercentileDefinition, Report, Round, Statistic, Verdict,
};

use crate::build::{self, finite};

const GATED: [&str; 5] = ["ttft.p95", "tpot.p50", "e2e.p95", "output_throughput", "success_rate"];

pub fn policy() -> Policy {
    let mut policy = build::policy(&GATED, 0.10, Decide::Auto);
    policy.rules.retain(|rule| rule.pattern.metric != Metric::SUCCESS_RATE);
    policy.rules.push(build::rule("success_rate", Allowance::Points(finite(0.01))));
    policy
}

pub fn summary(metric: &Metric, values: &[(Statistic, f64)]) -> Measurement {
    Measurement {
        n: Some(300),
        percentile_definition: Some(PercentileDefinition::Linear),
        stats: values.iter().map(|(statistic, value)| (*statistic, finite(*value))).collect(),
        ..Measurement::single(metric.unit(), finite(0.0))
    }
}

/// One group of summaries, as most tools write them.
pub fn group(strategy: Option<&str>, scale: f64) -> Group {
    let mut metrics = BTreeMap::new();
    let mut put = |metric: Metric, values: &[(Statistic, f64)]| {
        let values: Vec<_> = values.iter().map(|(s, v)| (*s, v * scale)).collect();
        metrics.insert(metric.clone(), summary(&metric, &values));
    };
    put(Metric::TTFT, &[(Statistic::P50, 200.0), (Statistic::P95, 400.0), (Statistic::P99, 500.0)]);
    put(Metric::TPOT, &[(Statistic::P50, 20.0), (Statistic::P95, 25.0)]);
    put(Metric::E2E, &[(Statistic::P50, 4000.0), (Statistic::P95, 6000.0), (Statistic::P99, 7000.0)]);
    let rate = Measurement::single(Metric::OUTPUT_THROUGHPUT.unit(), finite(500.0 / scale.max(0.01)));
    metrics.insert(Metric::OUTPUT_THROUGHPUT, rate);
    let strategy = strategy.map(str::to_owned);
    build::group(Dimensions { strategy, concurrency: Some(8), ..Dimensions::default() }, metrics, 300)
}

pub fn report(groups: Vec<Group>) -> Report {
    build::report(vec![vec![Round { seed: None, groups, against: Vec::new() }]])
}

pub fn judge(old: &Report, new: &Report) -> Verdict {
    build::judge(&build::blessed(vec![old.clone()]), new, &policy(), &[])
}

pub fn judged(old: Group, new: Group) -> Verdict {
    judge(&report(vec![old]), &report(vec![new]))
}

pub fn finding<'a>(verdict: &'a Verdict, field: &str) -> &'a Finding {
    verdict.findings.iter().find(|finding| finding.field.to_string() == field).unwrap()
}

pub fn problem(verdict: &Verdict, code: &str) -> bool {
    verdict.problems.iter().any(|reason| reason.code() == code)
}

//! What a mean over rounds and jobs would hide, and limits that nothing can reach.

use pacegate::model::finding::DecidedBy;
use pacegate::model::policy::{Allowance, Decide};
use pacegate::model::{
    Group, Judgement, Measurement, Metric, Outcome, Report, Round, Statistic, Tier, Verdict,
};

use crate::build::{self, finite};
use crate::summaries::{finding, group, policy, report, summary};

/// One job of these rounds, each of one group.
fn rounds(groups: Vec<Group>) -> Report {
    jobs(vec![groups])
}

fn jobs(jobs: Vec<Vec<Group>>) -> Report {
    let round = |group| Round { seed: None, groups: vec![group], against: Vec::new() };
    build::report(jobs.into_iter().map(|groups| groups.into_iter().map(round).collect()).collect())
}

fn without(metric: &Metric, statistic: Statistic) -> Group {
    let mut group = group(None, 1.0);
    group.metrics.get_mut(metric).unwrap().stats.remove(&statistic);
    group
}

fn with(metric: &Metric, statistic: Statistic, value: f64) -> Group {
    let mut group = group(None, 1.0);
    group.metrics.get_mut(metric).unwrap().stats.insert(statistic, finite(value));
    group
}

fn plain() -> Group {
    group(None, 1.0)
}

fn judge(old: Report, new: &Report) -> Verdict {
    build::judge(&build::blessed(vec![old]), new, &policy(), &[])
}

const P95: &str = "c8:ttft.p95";

#[test]
fn a_field_that_one_round_lacks_makes_the_report_no_whole_one() {
    let lost = without(&Metric::TTFT, Statistic::P95);
    let verdict = judge(report(vec![plain()]), &rounds(vec![plain(), lost, plain()]));
    let ttft = finding(&verdict, P95);
    assert_eq!((verdict.exit_code, ttft.judgement), (3, Judgement::Invalid));
    assert_eq!(
        ttft.reasons[0].to_string(),
        "round 2 of this report lacks ttft.p95 of c8, which other rounds have: the report is not whole"
    );
}

#[test]
fn a_field_that_one_job_lacks_is_named_with_its_job() {
    let lost = without(&Metric::TTFT, Statistic::P95);
    let new = jobs(vec![vec![plain(), plain()], vec![plain(), lost]]);
    let verdict = judge(report(vec![plain()]), &new);
    let ttft = finding(&verdict, P95);
    assert_eq!((verdict.exit_code, ttft.judgement), (3, Judgement::Invalid));
    assert!(ttft.reasons[0].to_string().starts_with("round 2 of job 2 of this report lacks ttft.p95 of c8"));
}

#[test]
fn a_round_of_nothing_does_not_hide_behind_the_mean() {
    for (value, words) in [
        (0.0, "tpot.p50 of c8 is 0 in a round in this report: below what the clock can tell"),
        (-20.0, "tpot.p50 of c8 is -20.00 ms in a round in this report: nothing measured is negative"),
    ] {
        let odd = with(&Metric::TPOT, Statistic::P50, value);
        let verdict = judge(report(vec![plain()]), &rounds(vec![plain(), odd, plain()]));
        let tpot = finding(&verdict, "c8:tpot.p50");
        assert_eq!((verdict.exit_code, tpot.judgement), (3, Judgement::Invalid));
        assert!(tpot.reasons[0].to_string().starts_with(words), "{}", tpot.reasons[0]);
    }
}

#[test]
fn gaps_of_zero_in_one_round_do_not_hide_a_slower_stream() {
    let itl = |value: f64| {
        let mut group = plain();
        group.metrics.insert(Metric::ITL, summary(&Metric::ITL, &[(Statistic::P95, value)]));
        group
    };
    let mut rules = policy();
    rules.rules.push(build::rule("itl.p95", Allowance::Relative(finite(0.10))));
    let blessed = build::blessed(vec![rounds(vec![itl(20.0), itl(20.0), itl(20.0)])]);
    let judged = |values: [f64; 3]| {
        let new = rounds(values.into_iter().map(itl).collect());
        build::judge(&blessed, &new, &rules, &[])
    };
    let verdict = judged([90.0, 0.0, 90.0]);
    let found = finding(&verdict, "c8:itl.p95");
    assert_eq!((verdict.exit_code, found.judgement), (1, Judgement::Regressed));
    assert_eq!((found.new, found.decided_by), (Some(finite(60.0)), Some(DecidedBy::Limits)));
    assert_eq!(judged([20.0, 0.0, 20.0]).exit_code, 0);
    assert_eq!(finding(&judged([0.0, 0.0, 0.0]), "c8:itl.p95").judgement, Judgement::Unresolved);
}

#[test]
fn a_negative_amount_of_memory_is_no_improvement() {
    let memory = |value: f64| {
        let mut group = plain();
        group
            .metrics
            .insert(Metric::GPU_MEMORY, Measurement::single(Metric::GPU_MEMORY.unit(), finite(value)));
        group
    };
    let mut rules = policy();
    rules.rules.push(build::rule("gpu_memory", Allowance::Relative(finite(0.10))));
    let blessed = build::blessed(vec![report(vec![memory(8000.0)])]);
    let verdict = build::judge(&blessed, &report(vec![memory(-8000.0)]), &rules, &[]);
    assert_eq!((verdict.exit_code, finding(&verdict, "c8:gpu_memory").judgement), (3, Judgement::Invalid));
}

#[test]
fn one_incomplete_blessed_field_leaves_the_evidence_to_the_others() {
    let e2e = |scale: f64| {
        let times: Vec<f64> = (0..400).map(|i| scale * (1000.0 + f64::from(i * 37 % 400))).collect();
        let mut group = plain();
        group.metrics.retain(|metric, _| *metric == Metric::TTFT);
        group.metrics.insert(Metric::E2E, build::sampled(&Metric::E2E, &times));
        group
    };
    let mut lost = e2e(1.01);
    lost.metrics.get_mut(&Metric::TTFT).unwrap().stats.remove(&Statistic::P95);
    let rules = build::policy(&["ttft.p95", "e2e.p95"], 0.10, Decide::Evidence);
    let blessed: Vec<Report> =
        [e2e(0.99), e2e(1.0), lost, e2e(1.005)].map(|group| rounds(vec![group])).to_vec();
    let verdict = build::judge(&build::blessed(blessed), &rounds(vec![e2e(1.0)]), &rules, &[]);
    assert_eq!((verdict.exit_code, verdict.tier), (0, Some(Tier::Replicated)));
    let (ttft, e2e) = (finding(&verdict, P95), finding(&verdict, "c8:e2e.p95"));
    assert_eq!((ttft.judgement, ttft.decided_by), (Judgement::Unchanged, Some(DecidedBy::Limits)));
    assert_eq!((e2e.judgement, e2e.decided_by), (Judgement::Unchanged, Some(DecidedBy::Evidence)));
    assert!(e2e.evidence.is_some() && ttft.evidence.is_none());
}

#[test]
fn nothing_is_promised_where_no_evidence_was_found() {
    let mut rules = policy();
    rules.rules.retain(|rule| rule.pattern.metric == Metric::TTFT);
    rules.decide = Decide::Evidence;
    let whole = report(vec![plain()]);
    let lost = report(vec![without(&Metric::TTFT, Statistic::P95)]);
    let blessed = build::blessed(vec![whole.clone(), lost, whole.clone(), whole.clone()]);
    let verdict = build::judge(&blessed, &whole, &rules, &[]);
    assert_eq!(finding(&verdict, P95).decided_by, Some(DecidedBy::Limits));
    assert_eq!((verdict.decided_by, verdict.promise), (Some(DecidedBy::Limits), None));
}

#[test]
fn a_limit_that_nothing_can_reach_is_no_pass() {
    let judged = |allowance: Allowance, min: Option<f64>| {
        let mut rules = policy();
        rules.rules.retain(|rule| rule.pattern.metric != Metric::OUTPUT_THROUGHPUT);
        let mut rule = build::rule("output_throughput", allowance);
        rule.min = min.map(finite);
        rules.rules.push(rule);
        let blessed = build::blessed(vec![report(vec![plain()])]);
        build::judge(&blessed, &report(vec![plain()]), &rules, &[])
    };
    let verdict = judged(Allowance::Absolute(finite(5000.0)), None);
    let rate = finding(&verdict, "c8:output_throughput");
    assert_eq!((verdict.outcome, rate.judgement), (Outcome::NoVerdict, Judgement::Invalid));
    assert_eq!(
        rate.reasons[0].to_string(),
        "output_throughput of c8 can't fail: its limit is \u{2212}5000 tok/s, and the blessed value is 500.0 tok/s, which can't fall by so \
         much. Write a smaller limit, or min"
    );
    assert_eq!(judged(Allowance::Absolute(finite(400.0)), None).exit_code, 0);
    assert_eq!(judged(Allowance::Absolute(finite(5000.0)), Some(100.0)).exit_code, 0);
}

#[test]
fn a_round_far_too_good_does_not_hide_the_slow_ones() {
    let times = |scales: [f64; 3]| rounds(scales.map(|scale| group(None, scale)).to_vec());
    let verdict = judge(times([1.0, 1.0, 1.0]), &times([3.0, 0.002, 3.0]));
    let ttft = finding(&verdict, P95);
    assert_eq!((verdict.exit_code, ttft.judgement), (3, Judgement::Invalid));
    let text = ttft.reasons[0].to_string();
    assert!(
        text.starts_with(
            "ttft.p95 of c8 is 0.8000 ms in a round of this report, and 1200.0 ms in the middle one"
        ),
        "{text}"
    );
    assert_eq!(finding(&verdict, "c8:output_throughput").judgement, Judgement::Invalid);
    // A cold first round is slower, not better: nothing hides behind it.
    assert_eq!(judge(times([1.0, 1.0, 1.0]), &times([40.0, 1.0, 1.0])).exit_code, 1);
}

#[test]
fn rounds_that_stalled_do_not_accuse_the_one_that_is_as_blessed() {
    let of = |scales: &[f64]| rounds(scales.iter().map(|scale| group(None, *scale)).collect());
    for stalled in [&[1.0, 25.0][..], &[25.0, 1.0, 25.0]] {
        let verdict = judge(of(&[1.0, 1.0]), &of(stalled));
        let ttft = finding(&verdict, P95);
        assert_eq!((verdict.exit_code, ttft.judgement), (1, Judgement::Regressed), "{stalled:?}");
    }
}

#[test]
fn a_stated_success_rate_is_no_more_than_all() {
    let stated = |rate: f64| {
        let mut group = plain();
        group.requests = Default::default();
        let metric = Metric::SUCCESS_RATE;
        group.metrics.insert(metric.clone(), Measurement::single(metric.unit(), finite(rate)));
        report(vec![group])
    };
    let judged = |rate: f64| judge(stated(0.99), &stated(rate));
    assert_eq!(judged(1.0).exit_code, 0);
    for (rate, words) in
        [(1.7, "is 170.00 % in this report: a rate is no more"), (-0.1, "is -10.00 % in this report")]
    {
        let verdict = judged(rate);
        let found = finding(&verdict, "c8:success_rate");
        assert_eq!((verdict.exit_code, found.judgement), (3, Judgement::Invalid));
        assert!(found.reasons[0].to_string().contains(words), "{}", found.reasons[0]);
    }
}

#[test]
fn a_file_cannot_claim_more_noise_than_its_samples_can_have() {
    let times = |scale: f64, claimed: Option<f64>| {
        let times: Vec<f64> = (0..400).map(|i| scale * (1000.0 + f64::from(i * 37 % 400))).collect();
        let mut group = plain();
        group.metrics.retain(|metric, _| *metric == Metric::OUTPUT_THROUGHPUT);
        let mut ttft = build::sampled(&Metric::TTFT, &times);
        ttft.vif.values_mut().for_each(|vif| *vif = claimed.map_or(*vif, finite));
        group.metrics.insert(Metric::TTFT, ttft);
        rounds(vec![group])
    };
    let rules = build::policy(&["ttft.p95"], 0.10, Decide::Evidence);
    let blessed = build::blessed([0.99, 1.0, 1.01].map(|scale| times(scale, None)).to_vec());
    for claimed in [None, Some(1e9)] {
        let verdict = build::judge(&blessed, &times(9.0, claimed), &rules, &[]);
        assert_eq!(finding(&verdict, P95).judgement, Judgement::Regressed, "{claimed:?}");
    }
}

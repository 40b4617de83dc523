//! Why people switched other gates off, one test each. The number of a public thread stands where there is one.

use std::collections::BTreeMap;

use pacegate::model::policy::Allowance;
use pacegate::model::report::{FailureKind, Requests, SelfCheck};
use pacegate::model::{Judgement, Measurement, Metric, Outcome, Reason, Statistic};

use crate::build::{self, finite};
use crate::summaries::{finding, group, judge, judged, policy, problem, report};

#[test]
fn the_same_numbers_pass_and_say_how_many_were_compared() {
    let verdict = judged(group(None, 1.0), group(None, 1.0));
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::Pass, 0));
    assert_eq!((verdict.counts.required, verdict.counts.compared), (5, 5));
}

#[test]
fn no_baseline_is_no_pass() {
    // horus #177: green on every pull request with "N/A (no baseline)".
    let candidate = report(vec![group(None, 1.0)]);
    let verdict = pacegate::gate::judge(pacegate::gate::Input {
        missing_baseline: ("baselines/chat.json".into(), "pacegate check run.json --bless".into()),
        ..pacegate::gate::Input::new(
            &candidate,
            None,
            &policy(),
            time::Date::from_calendar_date(2026, time::Month::March, 1).unwrap(),
        )
    })
    .unwrap();
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::NoVerdict, 3));
    let text = verdict.problems[0].to_string();
    assert!(text.contains("baselines/chat.json") && text.contains("--bless"), "{text}");
}

#[test]
fn names_that_no_longer_overlap_are_no_pass() {
    // moq.analyzers #1310: an empty intersection "always passes".
    let verdict = judged(group(Some("old-name"), 1.0), group(Some("new-name"), 1.0));
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::NoVerdict, 3));
    assert!(problem(&verdict, "nothing_in_common"));
    assert_eq!(finding(&verdict, "old-name/c8:ttft.p95").judgement, Judgement::Missing);
    assert_eq!(finding(&verdict, "new-name/c8:ttft.p95").judgement, Judgement::New);
}

#[test]
fn zero_comparisons_are_no_pass() {
    // aragora #7847: "PASSED: 0 benchmark(s)".
    let mut nothing = policy();
    nothing.rules.clear();
    let old = report(vec![group(None, 1.0)]);
    let verdict = build::judge(&build::blessed(vec![old.clone()]), &old, &nothing, &[]);
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::NoVerdict, 3));
    assert!(problem(&verdict, "nothing_compared"));
}

#[test]
fn a_metric_that_vanished_is_no_pass() {
    // remnic #584: a loop over the current metrics only.
    let mut new = group(None, 1.0);
    new.metrics.get_mut(&Metric::TTFT).unwrap().stats.remove(&Statistic::P95);
    let verdict = judged(group(None, 1.0), new);
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::NoVerdict, 3));
    assert_eq!(finding(&verdict, "c8:ttft.p95").judgement, Judgement::Missing);
}

#[test]
fn an_added_level_is_new_and_no_refusal() {
    let old = report(vec![group(None, 1.0)]);
    let mut more = group(None, 1.0);
    more.dimensions.concurrency = Some(32);
    more.id = more.dimensions.id();
    let verdict = judge(&old, &report(vec![group(None, 1.0), more]));
    assert_eq!(verdict.exit_code, 0);
    assert_eq!(finding(&verdict, "c32:ttft.p95").judgement, Judgement::New);
}

#[test]
fn a_run_in_which_everything_failed_is_never_a_pass() {
    // pytorch #172616: 200 of 200 failed, TTFT 0.00 ms, exit 0.
    let mut new = group(None, 1.0);
    new.requests = Requests {
        sent: Some(300),
        succeeded: Some(0),
        failed: BTreeMap::from([(FailureKind::Http5xx, 300)]),
        ..Requests::default()
    };
    new.metrics.clear();
    let verdict = judged(group(None, 1.0), new);
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::RunFailed, 5));
    assert!(verdict.problems[0].to_string().contains("300 sent"), "{}", verdict.problems[0]);
}

#[test]
fn a_group_without_success_fails_though_the_others_are_well() {
    // tt-metal #46359: failed only when all requests failed.
    let mut dead = group(Some("int8"), 1.0);
    dead.requests.succeeded = Some(0);
    dead.requests.failed.insert(FailureKind::Http429, 300);
    dead.metrics.clear();
    let old = report(vec![group(Some("baseline"), 1.0), group(Some("int8"), 1.0)]);
    let verdict = judge(&old, &report(vec![group(Some("baseline"), 1.0), dead]));
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::Regression, 1));
}

#[test]
fn requests_without_a_token_are_a_failed_run() {
    // tpu-inference #3447: a dead engine, 0 tokens, "PASSED" since May.
    let mut new = group(None, 0.1);
    new.tokens.output = Some(0);
    let verdict = judged(group(None, 1.0), new);
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::RunFailed, 5));
    assert!(problem(&verdict, "no_tokens"));
}

#[test]
fn a_zero_latency_is_invalid_and_no_improvement() {
    // vllm #6064: median TTFT 0.00 from empty first chunks.
    let mut new = group(None, 1.0);
    new.metrics.get_mut(&Metric::TTFT).unwrap().stats.insert(Statistic::P95, finite(0.0));
    let verdict = judged(group(None, 1.0), new);
    assert_eq!(verdict.exit_code, 3);
    assert_eq!(finding(&verdict, "c8:ttft.p95").judgement, Judgement::Invalid);
}

#[test]
fn a_zero_baseline_gives_no_infinite_change() {
    // github-action-benchmark #204: NaN ratio when the previous value is 0.
    let mut old = group(None, 1.0);
    old.metrics.get_mut(&Metric::TTFT).unwrap().stats.insert(Statistic::P95, finite(0.0));
    let verdict = judged(old, group(None, 1.0));
    assert_eq!(verdict.exit_code, 3);
    let text = finding(&verdict, "c8:ttft.p95").reasons[0].to_string();
    assert!(text.contains("0 in the blessed baseline") && !text.contains("inf"), "{text}");
}

#[test]
fn counts_that_do_not_add_up_are_no_pass() {
    let mut new = group(None, 1.0);
    new.requests.failed.insert(FailureKind::Cut, 5);
    let verdict = judged(group(None, 1.0), new);
    assert_eq!(verdict.exit_code, 3);
    assert!(problem(&verdict, "counts_dont_add_up"));
}

#[test]
fn more_throughput_is_better_and_less_is_worse() {
    // github-action-benchmark #365, groovy #2787: alerts on speed-ups, silent on slowdowns.
    let with_rate = |rate: f64| {
        let mut group = group(None, 1.0);
        let measurement = Measurement::single(Metric::OUTPUT_THROUGHPUT.unit(), finite(rate));
        group.metrics.insert(Metric::OUTPUT_THROUGHPUT, measurement);
        group
    };
    let slower = judged(with_rate(500.0), with_rate(400.0));
    assert_eq!(slower.exit_code, 1);
    let text = finding(&slower, "c8:output_throughput").reasons[0].to_string();
    assert!(text.contains("fell 500.0 \u{2192} 400.0 tok/s (\u{2212}20.0 %"), "{text}");
    assert!(text.ends_with("slower"), "{text}");
    let faster = judged(with_rate(500.0), with_rate(600.0));
    assert_eq!(faster.exit_code, 0);
    assert_eq!(finding(&faster, "c8:output_throughput").judgement, Judgement::Improved);
}

#[test]
fn a_limit_reached_exactly_passes_and_one_step_beyond_fails() {
    let with_p95 = |ms: f64| {
        let mut group = group(None, 1.0);
        group.metrics.get_mut(&Metric::TTFT).unwrap().stats.insert(Statistic::P95, finite(ms));
        group
    };
    assert_eq!(judged(with_p95(400.0), with_p95(440.0)).exit_code, 0);
    assert_eq!(judged(with_p95(400.0), with_p95(440.01)).exit_code, 1);
}

#[test]
fn a_change_below_the_floor_does_not_count_and_says_so() {
    // daintree #10097: "< 5 ms exempt" without a word.
    let mut rules = policy();
    for rule in &mut rules.rules {
        rule.min_change = (rule.pattern.metric == Metric::TPOT).then(|| finite(3.0));
    }
    let mut new = group(None, 1.0);
    new.metrics.get_mut(&Metric::TPOT).unwrap().stats.insert(Statistic::P50, finite(22.9));
    let verdict =
        build::judge(&build::blessed(vec![report(vec![group(None, 1.0)])]), &report(vec![new]), &rules, &[]);
    let finding = finding(&verdict, "c8:tpot.p50");
    assert_eq!((verdict.exit_code, finding.judgement), (0, Judgement::Unchanged));
    assert!(matches!(finding.reasons[0], Reason::UnderMinChange { .. }));
}

#[test]
fn far_too_good_is_suspicious_and_said() {
    // uni-db #230: counters 88 to 97 % below the baseline, "ok".
    let verdict = judged(group(None, 1.0), group(None, 0.1));
    assert_eq!(verdict.exit_code, 0);
    let text: String = verdict.notes.iter().map(|note| format!("{note}\n")).collect();
    assert!(
        text.contains("ttft.p95 of c8 fell 400.0 \u{2192} 40.0 ms (\u{2212}90.0 %), and 3 more fields like it: suspiciously good"),
        "{text}"
    );
}

#[test]
fn failing_fast_is_not_called_faster() {
    // guidellm #444: refused requests improve the latency of the rest.
    let mut new = group(None, 0.8);
    new.requests.succeeded = Some(240);
    new.requests.failed.insert(FailureKind::Http429, 60);
    let verdict = judged(group(None, 1.0), new);
    assert_eq!(verdict.exit_code, 1);
    let ttft = finding(&verdict, "c8:ttft.p95");
    assert_eq!(ttft.judgement, Judgement::Unchanged);
    assert!(matches!(ttft.reasons[0], Reason::Withdrawn { .. }));
    let text = finding(&verdict, "c8:success_rate").reasons[0].to_string();
    assert!(text.contains("300 of 300 \u{2192} 240 of 300") && text.contains("60 \u{d7} 429"), "{text}");
}

#[test]
fn one_failure_more_is_not_a_regression() {
    let mut new = group(None, 1.0);
    new.requests.sent = Some(50);
    new.requests.succeeded = Some(49);
    new.requests.failed.insert(FailureKind::Cut, 1);
    let verdict = judged(group(None, 1.0), new);
    assert_eq!(finding(&verdict, "c8:success_rate").judgement, Judgement::Unchanged);
}

#[test]
fn a_success_rate_that_is_not_recorded_is_never_taken_for_one() {
    let mut old = group(None, 1.0);
    old.requests = Requests::default();
    let verdict = judged(old.clone(), old);
    assert!(verdict.notes.iter().any(|note| note.code() == "success_unknown"));
    assert!(verdict.findings.iter().all(|finding| finding.field.metric != Metric::SUCCESS_RATE));
}

#[test]
fn a_rule_that_matches_nothing_is_no_pass() {
    // k6 #1526: a typo in a metric's name, the threshold was never evaluated.
    let mut rules = policy();
    let mut rule = build::rule("ttft.p90", Allowance::Relative(finite(0.1)));
    rule.origin = pacegate::model::policy::Origin::File { path: "pacegate.toml".into(), line: 7, column: 1 };
    rules.rules.push(rule);
    let old = report(vec![group(None, 1.0)]);
    let verdict = build::judge(&build::blessed(vec![old.clone()]), &old, &rules, &[]);
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::NoVerdict, 3));
    let text = verdict.problems[0].to_string();
    assert!(text.contains("pacegate.toml:7:1") && text.contains("did you mean ttft.p95?"), "{text}");
}

#[test]
fn an_interrupted_run_is_never_judged() {
    let mut new = report(vec![group(None, 1.0)]);
    new.jobs[0].complete = false;
    let verdict = judge(&report(vec![group(None, 1.0)]), &new);
    assert_eq!(verdict.exit_code, 3);
    assert!(problem(&verdict, "incomplete"));
}

#[test]
fn a_client_that_could_not_load_the_server_as_asked_measured_nothing() {
    let mut candidate = group(None, 2.0);
    let problems = vec!["c8: the rate of 4 requests a second was not kept".to_owned()];
    candidate.self_check = Some(SelfCheck { problems, ..SelfCheck::default() });
    let verdict = judged(group(None, 1.0), candidate);
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::RunFailed, 5));
    assert!(verdict.problems[0].to_string().contains("was not kept"), "{:?}", verdict.problems);
}

#[test]
fn a_late_client_is_one_problem_of_a_group_with_its_worst_round() {
    let late = |ms: f64| {
        let mut group = group(None, 1.0);
        group.self_check = Some(SelfCheck { wakeup_lag_p99_ms: Some(finite(ms)), ..SelfCheck::default() });
        group
    };
    let mut candidate = report(vec![late(300.0)]);
    let mut worse = candidate.jobs[0].rounds[0].clone();
    worse.groups = vec![late(400.0)];
    candidate.jobs[0].rounds.push(worse);
    let verdict = judge(&report(vec![group(None, 1.0)]), &candidate);
    let late = verdict.problems.iter().filter(|problem| matches!(problem, Reason::ClientBottleneck { .. }));
    let said: Vec<String> = late.map(ToString::to_string).collect();
    assert!(said.len() == 1 && said[0].contains("400.0 ms late"), "{said:?}");
}

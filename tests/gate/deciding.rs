//! Who decides: the limit as written, or the evidence; and what stands beside it.

use pacegate::model::finding::DecidedBy;
use pacegate::model::policy::Decide;
use pacegate::model::{Judgement, Metric, Outcome, Reason, Report, Round, Statistic, Tier, Verdict};

use crate::build::{self, finite};
use crate::summaries::{finding, group, policy, report};

fn with_ttft(scale: f64) -> Report {
    let mut group = group(None, 1.0);
    for value in group.metrics.get_mut(&Metric::TTFT).unwrap().stats.values_mut() {
        *value = finite(value.get() * scale);
    }
    report(vec![group])
}

fn one_against_one(scale: f64, decide: Decide) -> Verdict {
    let mut rules = policy();
    rules.decide = decide;
    rules.rules.push(build::rule("ttft.p50", pacegate::model::policy::Allowance::Relative(finite(0.1))));
    build::judge(&build::blessed(vec![with_ttft(1.0)]), &with_ttft(scale), &rules, &[])
}

#[test]
fn one_report_against_one_is_a_plain_threshold_labelled_unconfirmed() {
    let verdict = one_against_one(1.2, Decide::Auto);
    assert_eq!((verdict.outcome, verdict.tier), (Outcome::Regression, Some(Tier::Single)));
    let ttft = finding(&verdict, "c8:ttft.p95");
    assert_eq!((ttft.decided_by, ttft.confirmed), (Some(DecidedBy::Limits), Some(false)));
    let text = ttft.reasons[1].to_string();
    assert!(text.starts_with("unconfirmed"), "{text}");
    assert!(text.contains("identical code would put about") && text.contains("3 rounds a side"), "{text}");
}

#[test]
fn a_shift_that_the_evidence_would_convict_is_confirmed_by_its_class() {
    let verdict = one_against_one(2.2, Decide::Auto);
    let ttft = finding(&verdict, "c8:ttft.p95");
    assert_eq!((ttft.judgement, ttft.confirmed), (Judgement::Regressed, Some(true)));
    assert!(ttft.reasons[1].to_string().starts_with("confirmed by the shift of its whole metric"));
}

#[test]
fn evidence_leaves_what_noise_can_do_unresolved_and_passes() {
    let verdict = one_against_one(1.2, Decide::Evidence);
    assert_eq!(verdict.outcome, Outcome::Pass);
    assert_eq!(finding(&verdict, "c8:ttft.p95").judgement, Judgement::Unresolved);
}

#[test]
fn three_rounds_a_side_bring_evidence() {
    let rounds = |scales: [f64; 3]| {
        let round = |scale: f64| Round {
            seed: None,
            groups: with_ttft(scale).jobs[0].rounds[0].groups.clone(),
            against: Vec::new(),
        };
        build::report(vec![scales.map(round).to_vec()])
    };
    let mut rules = policy();
    rules.decide = Decide::Evidence;
    let blessed = build::blessed(vec![rounds([1.0, 1.01, 0.99])]);
    let calm = build::judge(&blessed, &rounds([1.0, 1.02, 0.98]), &rules, &[]);
    assert_eq!(calm.outcome, Outcome::Pass);
    let one_odd_round = build::judge(&blessed, &rounds([1.0, 1.2, 1.0]), &rules, &[]);
    assert_eq!(one_odd_round.outcome, Outcome::Pass);
}

#[test]
fn absolute_limits_need_no_statistics_and_no_change() {
    let mut rules = policy();
    for rule in &mut rules.rules {
        if rule.pattern.metric == Metric::TTFT && rule.pattern.statistic == Statistic::P95 {
            rule.max = Some(finite(350.0));
        }
    }
    let same = with_ttft(1.0);
    let verdict = build::judge(&build::blessed(vec![same.clone()]), &same, &rules, &[]);
    assert_eq!(verdict.exit_code, 1);
    let ttft = finding(&verdict, "c8:ttft.p95");
    assert!(matches!(ttft.reasons[0], Reason::OverMax { .. }));
    assert!(ttft.reasons[0].to_string().contains("is 400.0 ms, above the absolute limit of 350.0 ms"));
}

#[test]
fn report_only_turns_the_exit_code_and_not_the_verdict() {
    let candidate = with_ttft(2.0);
    let blessed = build::blessed(vec![with_ttft(1.0)]);
    let reference = build::judge(&blessed, &candidate, &policy(), &[]).baseline.unwrap();
    let verdict = pacegate::gate::judge(pacegate::gate::Input {
        report_only: true,
        ..pacegate::gate::Input::new(
            &candidate,
            Some((&blessed, reference)),
            &policy(),
            time::Date::from_calendar_date(2026, time::Month::March, 1).unwrap(),
        )
    })
    .unwrap();
    assert_eq!((verdict.outcome, verdict.exit_code, verdict.report_only), (Outcome::Regression, 0, true));
}

#[test]
fn two_equal_rules_that_disagree_are_an_error_naming_both() {
    let mut rules = policy();
    for (line, limit) in [(3, 0.1), (4, 0.2)] {
        let mut rule = build::rule("ttft.p95", pacegate::model::policy::Allowance::Relative(finite(limit)));
        rule.pattern.group = Some(vec!["**".into()]);
        rule.origin = pacegate::model::policy::Origin::File { path: "pacegate.toml".into(), line, column: 1 };
        rules.rules.push(rule);
    }
    let same = with_ttft(1.0);
    let blessed = build::blessed(vec![same.clone()]);
    let tie = pacegate::gate::judge(pacegate::gate::Input::new(
        &same,
        Some((&blessed, build::judge(&blessed, &same, &policy(), &[]).baseline.unwrap())),
        &rules,
        time::Date::from_calendar_date(2026, time::Month::March, 1).unwrap(),
    ))
    .unwrap_err()
    .to_string();
    assert!(tie.contains("pacegate.toml:3:1") && tie.contains("pacegate.toml:4:1"), "{tie}");
}

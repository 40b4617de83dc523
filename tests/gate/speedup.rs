//! The number that people read upside down.

use pacegate::model::policy::Allowance;
use pacegate::model::report::ReportedSpeedup;
use pacegate::model::{Group, Judgement, Metric, Outcome, Report, Statistic, Verdict};

use crate::build::{self, finite};
use crate::summaries::{finding, group, policy, problem, report};

fn with_speedups(reference: Option<&str>, groups: Vec<Group>) -> Report {
    let mut report = report(groups);
    report.profile.reference = reference.map(str::to_owned);
    report
}

/// A reference strategy at 7000 ms and another that takes `share` of it.
fn two(share: f64) -> Vec<Group> {
    vec![group(Some("baseline"), 1.0), group(Some("int8_quant"), share)]
}

fn judged(old: Vec<Group>, new: Vec<Group>) -> Verdict {
    judged_by(Some(Allowance::Relative(finite(0.10))), old, new)
}

/// Judged with this limit on both speed-ups, and never reversed.
fn judged_by(allowance: Option<Allowance>, old: Vec<Group>, new: Vec<Group>) -> Verdict {
    let mut rules = policy();
    rules.rules.retain(|rule| rule.pattern.metric == Metric::SUCCESS_RATE);
    for field in ["speedup_vs_baseline.p50", "speedup_vs_baseline.p95"] {
        let rule = build::rule(field, Allowance::Relative(finite(0.10)));
        rules.rules.push(pacegate::model::policy::Rule { allowance, ..rule });
    }
    let blessed = build::blessed(vec![with_speedups(Some("baseline"), old)]);
    build::judge(&blessed, &with_speedups(Some("baseline"), new), &rules, &[])
}

const P95: &str = "int8_quant/c8:speedup_vs_baseline.p95";

#[test]
fn it_is_the_reference_strategy_divided_by_the_other() {
    let verdict = judged(two(0.5), two(0.5));
    let speedup = finding(&verdict, P95);
    assert_eq!(speedup.new, Some(finite(2.0)));
    assert_eq!((verdict.exit_code, speedup.judgement), (0, Judgement::Unchanged));
}

#[test]
fn faster_that_became_slower_is_reversed_and_cannot_be_misread() {
    let verdict = judged(two(0.5), two(1.25));
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::Regression, 1));
    let text = finding(&verdict, P95).reasons[0].to_string();
    assert_eq!(
        text,
        "int8_quant/c8 was faster than the reference strategy baseline and is now SLOWER than it: at p95 of e2e it now \
         takes 7500.0 ms where the reference strategy takes 6000.0 ms (speedup_vs_baseline.p95 2.00x \u{2192} 0.80x; below 1 is slower)"
    );
    assert!(!text.contains("0.8 times faster"));
}

#[test]
fn less_speedup_than_the_limit_allows_is_a_regression_though_still_faster() {
    let verdict = judged(two(0.5), two(0.625));
    assert_eq!(verdict.exit_code, 1);
    let text = finding(&verdict, P95).reasons[0].to_string();
    assert!(text.contains("is still faster than the reference strategy baseline"), "{text}");
    assert!(
        text.contains("2.00x \u{2192} 1.60x (\u{2212}20.0 %, limit \u{2212}10 %, never reversed)"),
        "{text}"
    );
}

#[test]
fn crossing_one_within_the_limit_does_not_fail_where_the_limit_decides() {
    assert_eq!(judged(two(0.99), two(1.01)).exit_code, 0);
}

#[test]
fn a_rule_of_nothing_but_the_direction_fails_what_turned_slower() {
    let verdict = judged_by(None, two(0.5), two(2.0));
    assert_eq!((verdict.exit_code, finding(&verdict, P95).judgement), (1, Judgement::Regressed));
    assert_eq!(judged_by(None, two(0.5), two(0.99)).exit_code, 0);
}

#[test]
fn a_limit_that_no_loss_can_reach_leaves_the_direction_to_be_judged() {
    let wide = Some(Allowance::Absolute(finite(1.5)));
    let verdict = judged_by(wide, two(1.0 / 1.4), two(2.0));
    assert_eq!((verdict.exit_code, finding(&verdict, P95).judgement), (1, Judgement::Regressed));
    assert_eq!(judged_by(wide, two(1.0 / 1.4), two(0.9)).exit_code, 0);
}

/// Rounds of both strategies, with what int8_quant takes in each.
fn rounds(shares: [f64; 3]) -> Report {
    let mut report = with_speedups(Some("baseline"), Vec::new());
    report.jobs[0].rounds =
        shares.map(|share| with_speedups(None, two(share)).jobs[0].rounds[0].clone()).to_vec();
    report
}

#[test]
fn a_speedup_with_a_round_of_nothing_in_a_leg_is_invalid_on_either_side() {
    let rules = only_p95();
    let (whole, broken) = (rounds([0.5, 0.5, 0.5]), rounds([0.5, 0.0, 0.5]));
    for (old, new) in [(&whole, &broken), (&broken, &whole)] {
        let verdict = build::judge(&build::blessed(vec![old.clone()]), new, &rules, &[]);
        let speedup = finding(&verdict, P95);
        assert_eq!((verdict.exit_code, speedup.judgement), (3, Judgement::Invalid));
        let text = speedup.reasons[0].to_string();
        assert!(
            text.contains(
                "int8_quant/c8 can't be computed: a time that is not above 0 stands in a round of p95 of e2e"
            ),
            "{text}"
        );
    }
}

fn only_p95() -> pacegate::model::policy::Policy {
    let mut rules = policy();
    rules.rules.retain(|rule| rule.pattern.metric == Metric::SUCCESS_RATE);
    rules.rules.push(build::rule("speedup_vs_baseline.p95", Allowance::Relative(finite(0.10))));
    rules
}

#[test]
fn a_leg_that_one_round_lacks_makes_the_report_no_whole_one() {
    let (whole, mut lost) = (rounds([0.5, 0.5, 0.5]), rounds([0.5, 0.5, 0.5]));
    let leg = &mut lost.jobs[0].rounds[2].groups[0];
    leg.metrics.get_mut(&Metric::E2E).unwrap().stats.remove(&Statistic::P95);
    let verdict = build::judge(&build::blessed(vec![whole]), &lost, &only_p95(), &[]);
    let speedup = finding(&verdict, P95);
    assert_eq!((verdict.exit_code, speedup.judgement), (3, Judgement::Invalid));
    assert_eq!(
        speedup.reasons[0].to_string(),
        "round 3 of this report lacks e2e.p95 of baseline/c8, which other rounds have: the report is not whole"
    );
}

#[test]
fn a_job_with_one_leg_only_tells_no_speedup() {
    let slow = |share: f64| vec![group(Some("baseline"), 3.0), group(Some("int8_quant"), share)];
    let one_leg = with_speedups(Some("baseline"), vec![group(Some("int8_quant"), 8.0)]);
    let both = with_speedups(Some("baseline"), slow(1.5));
    let blessed = build::blessed(vec![one_leg, both]);
    let verdict = build::judge(&blessed, &with_speedups(Some("baseline"), slow(1.5)), &only_p95(), &[]);
    let speedup = finding(&verdict, P95);
    assert_eq!((speedup.old, speedup.judgement), (Some(finite(2.0)), Judgement::Unchanged));
}

#[test]
fn more_speedup_is_an_improvement() {
    let verdict = judged(two(0.8), two(0.5));
    assert_eq!((verdict.exit_code, finding(&verdict, P95).judgement), (0, Judgement::Improved));
}

#[test]
fn a_reference_strategy_that_was_not_measured_is_no_pass_and_no_default_of_one() {
    let verdict = judged(two(0.5), vec![group(Some("int8_quant"), 0.5)]);
    assert_eq!(verdict.exit_code, 3);
    let speedup = finding(&verdict, P95);
    assert_eq!((speedup.judgement, speedup.new), (Judgement::Missing, None));
    let text = speedup.reasons[0].to_string();
    assert!(text.contains("the reference strategy baseline was not measured here"), "{text}");
}

#[test]
fn a_leg_of_zero_gives_no_speedup() {
    let mut new = two(0.5);
    for statistic in [Statistic::P50, Statistic::P95, Statistic::P99] {
        new[1].metrics.get_mut(&Metric::E2E).unwrap().stats.insert(statistic, finite(0.0));
    }
    let verdict = judged(two(0.5), new);
    assert_eq!((verdict.exit_code, finding(&verdict, P95).new), (3, None));
}

fn claiming(mut groups: Vec<Group>, value: f64) -> Vec<Group> {
    groups[1].speedup_reported =
        Some(ReportedSpeedup { value: finite(value), statistic: Statistic::P99, decimals: 2 });
    groups
}

#[test]
fn a_claim_that_equals_the_inverse_is_called_upside_down() {
    let verdict = judged(claiming(two(0.625), 1.6), claiming(two(0.625), 0.63));
    assert_eq!((verdict.outcome, verdict.exit_code), (Outcome::NoVerdict, 3));
    let text = verdict.problems[0].to_string();
    assert_eq!(
        text,
        "the report has speedup_vs_baseline upside down for int8_quant/c8: it says 0.63, but at p99 of \
         e2e the reference strategy baseline takes 7000.0 ms and this strategy 4375.0 ms, and reference / this = 1.60, so \
         this strategy is FASTER than the reference strategy. Numerator and denominator are swapped"
    );
}

#[test]
fn a_claim_that_agrees_to_its_decimals_is_not_mentioned() {
    let verdict = judged(claiming(two(0.66), 1.52), claiming(two(0.66), 1.52));
    assert_eq!(verdict.exit_code, 0);
    assert!(!problem(&verdict, "speedup_swapped"));
    assert!(verdict.notes.iter().all(|note| note.code() != "speedup_contradicted"));
}

#[test]
fn a_claim_that_nothing_supports_is_named_and_the_recomputed_one_is_judged() {
    let verdict = judged(claiming(two(0.5), 2.0), claiming(two(0.5), 1.3));
    assert_eq!(verdict.exit_code, 0);
    assert_eq!(finding(&verdict, P95).new, Some(finite(2.0)));
    assert!(verdict.notes.iter().any(|note| note.code() == "speedup_contradicted"));
}

#[test]
fn a_claim_of_one_or_zero_that_is_no_measurement_is_refused() {
    for default in [1.0, 0.0] {
        let verdict = judged(claiming(two(0.5), 2.0), claiming(two(0.5), default));
        assert_eq!(verdict.exit_code, 3);
        assert!(verdict.problems[0].to_string().contains("looks like a default and no measurement"));
    }
}

#[test]
fn taking_the_claim_out_of_a_report_does_not_take_the_gate_away() {
    let mut new = two(0.5);
    let e2e = &mut new[1].metrics.get_mut(&Metric::E2E).unwrap().stats;
    e2e.insert(Statistic::P99, finite(8750.0));
    let verdict = judged(claiming(two(0.5), 2.0), new);
    assert_eq!(verdict.exit_code, 1);
    let p99 = finding(&verdict, "int8_quant/c8:speedup_vs_baseline.p99");
    assert_eq!((p99.gated, p99.judgement), (true, Judgement::Regressed));
}

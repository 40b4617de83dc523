//! What is said once is not said again, and what can't be judged is not offered for a bless.

use pacegate::emit::{Style, terminal};
use pacegate::model::finding::DecidedBy;
use pacegate::model::policy::{Allowance, Origin};
use pacegate::model::reason::Suspicion;
use pacegate::model::requests::Requests;
use pacegate::model::*;

use crate::samples::{self, f, field, finding, group, put};

fn page(verdict: &Verdict) -> String {
    terminal(verdict, Style::default())
}

fn next(verdict: &Verdict) -> String {
    page(verdict).split_once("\nNext\n").unwrap().1.to_owned()
}

#[test]
fn a_difference_of_the_whole_run_is_said_once() {
    let mut verdict = samples::not_comparable();
    let differs = |group| Reason::Differs {
        fact: Fact::Model,
        group,
        old: "my-model".to_owned(),
        new: "my-model-fp8".to_owned(),
        allowed: false,
    };
    verdict.problems = vec![differs(None), differs(Some(group("chat/c1"))), differs(Some(group("chat/c8")))];
    for finding in verdict.findings.iter_mut().filter(|finding| finding.gated) {
        finding.reasons = vec![differs(None)];
    }
    let page = page(&verdict);
    assert_eq!(page.matches("the model differs").count(), 1, "{page}");
    for heading in ["Problems", "Success rate", "Failing fields"] {
        assert!(!page.contains(heading), "{heading}\n{page}");
    }
}

#[test]
fn a_difference_of_some_groups_is_said_of_each() {
    let mut verdict = samples::not_comparable();
    verdict.problems = ["chat/c1", "chat/c8"].map(differs_of).into();
    let page = page(&verdict);
    assert_eq!(page.matches("the output limit differs for chat/c1").count(), 1, "{page}");
    assert_eq!(page.matches("the output limit differs for chat/c8").count(), 1, "{page}");
}

fn differs_of(of: &str) -> Reason {
    Reason::Differs {
        fact: Fact::OutputLimit,
        group: Some(group(of)),
        old: "256".to_owned(),
        new: "512".to_owned(),
        allowed: false,
    }
}

#[test]
fn a_failed_run_names_no_tier_and_no_field() {
    let mut verdict = samples::all_failed();
    (verdict.tier, verdict.decided_by) = (Some(Tier::Single), Some(DecidedBy::Limits));
    verdict.lifts = Some("3 rounds a side".to_owned());
    let requests = Requests { sent: Some(300), succeeded: Some(0), ..Requests::default() };
    for finding in &mut verdict.findings {
        finding.judgement = Judgement::Invalid;
        let reason = Reason::NoSuccess { group: finding.field.group.clone(), requests: requests.clone() };
        finding.reasons = vec![reason];
    }
    let page = page(&verdict);
    assert!(page.starts_with("RUN FAILED: every request failed: 1800 sent"), "{page}");
    for word in ["tier", "limits decided", "How sure", "Failing fields", "no request of", "--bless"] {
        assert!(!page.contains(word), "{word}\n{page}");
    }
}

#[test]
fn a_waived_field_is_listed_once() {
    let mut verdict = samples::pass();
    let mut waived = finding("chat/c8:ttft.p50", Judgement::Regressed, Some(119.4), Some(143.2));
    let change = waived.change().unwrap();
    waived.judgement = Judgement::Waived;
    let until = time::Date::from_calendar_date(2099, time::Month::January, 1).unwrap();
    let allowance = Allowance::Relative(f(0.25));
    let why = "TEAM-123".to_owned();
    waived.reasons.insert(0, Reason::Waived { field: waived.field.clone(), change, allowance, why, until });
    waived.reasons.push(Reason::Unconfirmed { p: Some(f(0.04)), expected: None, gated: 4, lift: None });
    put(&mut verdict, waived);
    let page = page(&verdict);
    let list = page.split_once("Worth a look\n").unwrap().1.split_once("\n\n").unwrap().0;
    assert_eq!(
        list,
        "  - ttft.p50 of chat/c8 rose 119.4 \u{2192} 143.2 ms (+19.9 %), waived up to +25 % until 2099-01-01: TEAM-123"
    );
}

#[test]
fn a_group_that_is_gone_is_one_sentence() {
    let mut verdict = samples::missing_field();
    for name in ["success_rate", "ttft.p50", "ttft.p95"] {
        put(&mut verdict, finding(&format!("chat/c8:{name}"), Judgement::Missing, Some(1.0), None));
    }
    let gone = |finding: &Finding| finding.field.group == group("chat/c8") && finding.new.is_some();
    verdict.findings.retain(|finding| !gone(finding));
    let page = page(&verdict);
    let sentence = "  - nothing of chat/c8 is in this report: its 4 required fields are missing (";
    assert_eq!(page.matches(sentence).count(), 1, "{page}");
    assert!(page.contains("  - e2e.p95 of chat/c1 is missing: the blessed baseline has 2980.5 ms"), "{page}");
    assert!(!page.contains("of chat/c8 is missing") && !page.contains("Success rate"), "{page}");
}

#[test]
fn two_sides_without_a_common_group_are_not_compared_field_by_field() {
    let mut verdict = samples::missing_field();
    verdict.problems = vec![Reason::NothingInCommon { old: vec![group("c8")], new: vec![group("c32")] }];
    let page = page(&verdict);
    assert!(!page.contains("Failing fields") && !page.contains("--percentile-metrics"), "{page}");
    assert!(next(&verdict).starts_with("  - compare a report of the same groups"), "{page}");
}

#[test]
fn the_one_dimension_that_differs_is_said_in_place_of_all_groups() {
    let mut verdict = samples::missing_field();
    let words = |text: &str| vec![text.to_owned()];
    verdict.problems = vec![
        Reason::NothingInCommon { old: vec![group("c8")], new: vec![group("c32")] },
        Reason::OneDimension { what: "the requests in flight", old: words("8"), new: words("32") },
    ];
    let page = page(&verdict);
    assert!(page.contains("they differ in the requests in flight: blessed 8, now 32"), "{page}");
    assert!(!page.contains("no group in common") && !page.contains("Problems"), "{page}");
}

#[test]
fn an_upside_down_speed_up_is_mended_where_it_was_written() {
    let mut verdict = samples::pass();
    (verdict.outcome, verdict.exit_code) = (Outcome::NoVerdict, 3);
    verdict.problems = vec![Reason::SpeedupSwapped {
        group: group("int8_quant/chat/c8"),
        reference: "baseline".to_owned(),
        reported: f(0.67),
        recomputed: f(1.5),
        statistic: Statistic::P99,
        legs: (f(14_209.01), f(9_477.29)),
    }];
    assert!(
        next(&verdict).starts_with("  - mend the division in the script that wrote the file"),
        "{}",
        next(&verdict)
    );
}

#[test]
fn an_interrupted_report_is_run_again_and_never_blessed() {
    let mut verdict = samples::no_baseline();
    verdict.problems.push(Reason::Incomplete { job: "host-1".to_owned() });
    let page = page(&verdict);
    assert!(page.starts_with("NO VERDICT: job host-1 was interrupted"), "{page}");
    assert!(next(&verdict).starts_with("  - run it again to the end"), "{page}");
    assert!(!page.contains("bless them") && !page.contains("--bless"), "{page}");
}

#[test]
fn an_improvement_is_offered_for_a_bless_and_a_suspicious_one_with_a_warning() {
    let mut verdict = samples::pass();
    put(&mut verdict, finding("chat/c8:ttft.p50", Judgement::Improved, Some(201.4), Some(150.0)));
    let command = "pacegate run --bless --reason \"why\" --profile chat";
    let offer = format!("  - bless what was gained, so that losing it again fails: {command}");
    assert!(next(&verdict).starts_with(&offer), "{}", next(&verdict));
    let field = field("chat/c8:ttft.p50");
    verdict.notes.push(Reason::Suspicious { field, change: None, what: Suspicion::TooGood, more: 0 });
    let steps = next(&verdict);
    assert!(steps.starts_with("  - find out why") && steps.contains(&offer), "{steps}");
}

#[test]
fn a_built_in_limit_is_called_so() {
    let value = Quantity { value: f(0.9), unit: Unit::Fraction };
    let field = field("c8:success_rate");
    let said = Reason::UnderMin { field, value, min: f(0.95), origin: Origin::Default }.to_string();
    assert_eq!(said, "success_rate of c8 is 90.00 %, below the absolute limit of 95.00 % (built-in limit)");
}

#[test]
fn an_absolute_limit_is_not_weighed_against_noise() {
    let mut verdict = samples::regression_unconfirmed();
    for finding in verdict.findings.iter_mut().filter(|finding| finding.judgement == Judgement::Regressed) {
        let value = Quantity { value: f(489.1), unit: finding.unit };
        let field = finding.field.clone();
        finding.reasons = vec![Reason::OverMax { field, value, max: f(450.0), origin: Origin::Default }];
    }
    let page = page(&verdict);
    assert!(page.contains("above the absolute limit of 450.0 ms (built-in limit)\n"), "{page}");
}

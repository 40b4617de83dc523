//! Exceptions have a limit and an end.

use pacegate::model::policy::{Allowance, Decide, FieldPattern, OnUnresolved, Origin, Policy, Waiver};
use pacegate::model::{Judgement, Metric, Outcome, Statistic, Verdict};
use time::{Date, Month};

use crate::build::{self, finite};
use crate::summaries::{finding, group, policy, report};

fn waived(limit: f64, until: Date) -> Policy {
    let mut rules = policy();
    rules.waivers.push(Waiver {
        pattern: FieldPattern::everywhere(Metric::TTFT, Statistic::P95),
        allowance: Allowance::Relative(finite(limit)),
        reason: "TEAM-123".into(),
        until,
        origin: Origin::File { path: "pacegate.toml".into(), line: 20, column: 1 },
    });
    rules
}

/// TTFT 20 % slower, judged on 1 March 2026.
fn judged(rules: &Policy) -> Verdict {
    let mut slow = group(None, 1.0);
    for value in slow.metrics.get_mut(&Metric::TTFT).unwrap().stats.values_mut() {
        *value = finite(value.get() * 1.2);
    }
    build::judge(&build::blessed(vec![report(vec![group(None, 1.0)])]), &report(vec![slow]), rules, &[])
}

fn day(month: Month, day: u8) -> Date {
    Date::from_calendar_date(2026, month, day).unwrap()
}

#[test]
fn a_waiver_covers_up_to_its_limit_and_gives_its_reason() {
    let verdict = judged(&waived(0.25, day(Month::June, 1)));
    let ttft = finding(&verdict, "c8:ttft.p95");
    assert_eq!((verdict.exit_code, ttft.judgement), (0, Judgement::Waived));
    assert!(ttft.reasons[0].to_string().contains("waived up to +25 % until 2026-06-01: \"TEAM-123\""));
}

#[test]
fn a_waiver_does_not_cover_what_is_worse_than_its_limit() {
    let verdict = judged(&waived(0.15, day(Month::June, 1)));
    assert_eq!(verdict.exit_code, 1);
    let text: String = verdict.notes.iter().map(ToString::to_string).collect();
    assert!(text.contains("allows +15 %, and it is +20.0 %: not covered"), "{text}");
}

#[test]
fn a_waiver_holds_through_its_last_day_and_is_warned_about_before() {
    let verdict = judged(&waived(0.25, day(Month::March, 1)));
    assert_eq!(verdict.exit_code, 0);
    assert!(verdict.notes.iter().any(|note| note.code() == "waiver_expires_soon"));
}

#[test]
fn an_ended_waiver_covers_nothing_and_says_so() {
    let verdict = judged(&waived(0.25, day(Month::February, 28)));
    assert_eq!(verdict.exit_code, 1);
    let text: String = verdict.notes.iter().map(ToString::to_string).collect();
    assert!(text.contains("ended on 2026-02-28") && text.contains("pacegate.toml:20:1"), "{text}");
}

#[test]
fn a_waiver_for_a_field_that_is_not_there_asks_which_one_was_meant() {
    let mut rules = waived(0.25, day(Month::June, 1));
    rules.waivers[0].pattern = FieldPattern::everywhere(Metric::TTFT, Statistic::P90);
    let verdict = judged(&rules);
    assert_eq!(verdict.exit_code, 1);
    let text: String = verdict.notes.iter().map(ToString::to_string).collect();
    assert!(
        text.contains("the waiver for ttft.p90 at \"pacegate.toml:20:1\" covers nothing in this run: it matches no field; did you mean ttft.p95?"),
        "{text}"
    );
}

#[test]
fn a_waiver_never_covers_a_field_that_is_missing() {
    let mut new = group(None, 1.0);
    new.metrics.remove(&Metric::TTFT);
    let blessed = build::blessed(vec![report(vec![group(None, 1.0)])]);
    let verdict = build::judge(&blessed, &report(vec![new]), &waived(0.25, day(Month::June, 1)), &[]);
    assert_eq!(verdict.exit_code, 3);
}

#[test]
fn what_blocks_as_unresolved_is_named_and_a_waiver_of_all_of_it_lets_it_through() {
    let mut rules = Policy {
        decide: Decide::Evidence,
        unresolved: OnUnresolved::Fail,
        run_noise: finite(0.5),
        ..policy()
    };
    let all = |scale| report(vec![group(None, scale)]);
    let judged = |rules: &Policy| build::judge(&build::blessed(vec![all(1.0)]), &all(1.15), rules, &[]);
    let verdict = judged(&rules);
    assert_eq!(verdict.exit_code, 4);
    assert!(!verdict.causes.is_empty(), "chance makes it likely, and it blocks all the same");
    for (metric, statistic) in [
        (Metric::TTFT, Statistic::P95),
        (Metric::TPOT, Statistic::P50),
        (Metric::E2E, Statistic::P95),
        (Metric::OUTPUT_THROUGHPUT, Statistic::Value),
    ] {
        rules.waivers.push(Waiver {
            pattern: FieldPattern::everywhere(metric, statistic),
            allowance: Allowance::Relative(finite(0.25)),
            reason: "TEAM-123".into(),
            until: day(Month::June, 1),
            origin: Origin::File { path: "pacegate.toml".into(), line: 20, column: 1 },
        });
    }
    let verdict = judged(&rules);
    assert_eq!((verdict.exit_code, verdict.outcome), (0, Outcome::Pass), "{:?}", verdict.causes);
}

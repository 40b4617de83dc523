//! The summary for step summaries and comments.

use pacegate::emit::{MARKDOWN_LIMIT, markdown};
use pacegate::model::*;

use crate::{golden, samples};

#[test]
fn every_ending_reads_as_its_snapshot() {
    for (name, verdict) in samples::all() {
        golden::assert_same(&format!("tests/snapshots/markdown/{name}.md"), &markdown(&verdict));
    }
}

fn first_line(verdict: &Verdict) -> String {
    markdown(verdict).lines().next().unwrap().to_owned()
}

#[test]
fn the_first_line_is_the_verdict_in_words() {
    assert_eq!(
        first_line(&samples::regression_with_a_cause()),
        "### \u{274c} REGRESSION: 4 of 14 required fields got worse; tier replicated, evidence decided, confirmed"
    );
    assert_eq!(
        first_line(&samples::pass()),
        "### \u{2705} PASS: 14 of 14 required fields compared, all within their limits; tier replicated, evidence decided"
    );
    for (name, verdict) in samples::all() {
        let page = markdown(&verdict);
        let heading = page.lines().find(|line| line.starts_with("### ")).unwrap();
        assert!(heading.contains(verdict.outcome.word()), "{name}: {heading}");
    }
}

#[test]
fn what_must_be_read_before_the_verdict_stands_before_it() {
    let altered = first_line(&samples::altered_baseline());
    assert!(altered.contains("THIS CHANGE ALTERS ITS OWN BASELINE"), "{altered}");
    let simulated = first_line(&samples::speedup_reversed());
    assert!(simulated.contains("SIMULATED: no model was measured"), "{simulated}");
    let soft = first_line(&samples::report_only());
    assert!(soft.contains("REPORT ONLY: "), "{soft}");
}

#[test]
fn a_failing_field_has_both_values_change_limit_direction_and_resolution_in_its_row() {
    let page = markdown(&samples::regression_unconfirmed());
    let row = "| `chat/c8:ttft.p95` | 412.0 ms | 489.1 ms | +18.7 % | +10 % and 2 ms | 62 % | \u{274c} REGRESSED, slower |";
    assert!(page.replace('\u{a0}', " ").contains(row), "{page}");
    assert!(page.contains("tier single, limits decided, unconfirmed"), "{page}");
}

#[test]
fn failed_requests_are_said_before_any_latency() {
    let page = markdown(&samples::success_dropped());
    let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is not in {page}"));
    let reliability =
        at("**Reliability:** 600 requests sent, 565 succeeded (94.17 %), 35 failed: 31 \u{d7} 429");
    assert!(reliability < at("`chat/c8:success_rate`"));
    let latency = page.find(":ttft.").unwrap();
    assert!(at("| `chat/c8:success_rate`") < latency, "{page}");
}

#[test]
fn one_cause_is_said_once() {
    let page = markdown(&samples::regression_with_a_cause());
    assert_eq!(page.matches("tpot got 22.6 % slower relative to the other metrics").count(), 1, "{page}");
}

#[test]
fn the_command_that_repeats_it_is_there_and_the_last_line_is_the_marker() {
    for (name, verdict) in samples::all() {
        let page = markdown(&verdict);
        let command = verdict.reproduce.as_ref().unwrap();
        assert!(page.contains(&format!("**Reproduce this locally:** `{command}`")), "{name}: {page}");
        assert_eq!(page.lines().last(), Some("<!-- pacegate:chat -->"), "{name}");
        assert!(page.len() <= MARKDOWN_LIMIT, "{name}");
    }
}

#[test]
fn a_profile_cannot_end_the_marker() {
    let mut verdict = samples::pass();
    verdict.profile = "Chat --><h1>APPROVED</h1>\n-----".to_owned();
    let page = markdown(&verdict);
    let marker = page.lines().last().unwrap();
    let inside = marker.strip_prefix("<!-- pacegate:").unwrap().strip_suffix(" -->").unwrap();
    assert!(
        inside.chars().all(|c| c.is_ascii_lowercase() || "-_.".contains(c) || c.is_ascii_digit()),
        "{marker}"
    );
    assert!(!inside.contains("--"), "{marker}");
}

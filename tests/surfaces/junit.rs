//! JUnit XML, read back by a strict reader.

use std::collections::BTreeMap;
use std::time::Duration;

use pacegate::emit::{Run, junit};
use pacegate::model::*;
use roxmltree::{Document, Node};

use crate::{golden, samples};

pub fn run() -> Run {
    let started = "2026-05-05T10:20:30.999999999Z".to_owned().try_into().unwrap();
    Run { started, took: Duration::from_micros(12_345_678) }
}

/// Name to kind of result (`passed` where there is none), message and text.
pub fn cases(xml: &str) -> BTreeMap<String, (String, String, String)> {
    let tree = Document::parse(xml).unwrap_or_else(|e| panic!("{e}: {xml}"));
    let case = |node: Node| {
        let result = node.children().find(Node::is_element);
        let kind = result.map_or("passed", |r| r.tag_name().name()).to_owned();
        let message = result.and_then(|r| r.attribute("message")).unwrap_or_default().to_owned();
        let text = result.and_then(|r| r.text()).unwrap_or_default().to_owned();
        (node.attribute("name").unwrap().to_owned(), (kind, message, text))
    };
    tree.descendants().filter(|n| n.has_tag_name("testcase")).map(case).collect()
}

fn kind(verdict: &Verdict, name: &str) -> String {
    cases(&junit(verdict, &run()))[name].0.clone()
}

#[test]
fn every_ending_reads_as_its_snapshot() {
    for (name, verdict) in samples::all() {
        golden::assert_same(&format!("tests/snapshots/junit/{name}.xml"), &junit(&verdict, &run()));
    }
    let hostile = junit(&crate::poisoned::hostile(), &run());
    golden::assert_same("tests/snapshots/junit/hostile.xml", &hostile);
}

#[test]
fn each_judgement_ends_its_case_as_ci_systems_understand_it() {
    let remarks = samples::pass_with_remarks();
    assert_eq!(kind(&remarks, "chat/c8:ttft.p95"), "skipped", "unresolved");
    assert_eq!(kind(&remarks, "pacegate.too_few_samples"), "skipped", "too few");
    assert_eq!(kind(&remarks, "chat/c1:e2e.p95"), "skipped", "waived");
    assert_eq!(kind(&remarks, "chat/c8:tpot.p50"), "passed", "improved");
    assert_eq!(kind(&remarks, "chat/c8:tpot.p95"), "passed", "unchanged");
    assert_eq!(kind(&remarks, "pacegate.run"), "passed");
    assert_eq!(kind(&samples::regression_unconfirmed(), "chat/c8:ttft.p95"), "failure");
    assert_eq!(kind(&samples::missing_field(), "chat/c8:e2e.p95"), "failure");
    assert_eq!(kind(&samples::not_comparable(), "chat/c8:e2e.p95"), "error");
    assert_eq!(kind(&samples::not_comparable(), "pacegate.run"), "error");
    assert_eq!(kind(&samples::blind(), "chat/c8:ttft.p95"), "error");
    assert_eq!(kind(&samples::blind(), "chat/c8:tpot.p95"), "passed");
    assert_eq!(kind(&samples::no_baseline(), "pacegate.run"), "error");
    assert_eq!(kind(&samples::all_failed(), "pacegate.run"), "error");
}

#[test]
fn what_no_one_can_mend_field_by_field_is_one_case() {
    let mut verdict = samples::pass();
    let names: Vec<String> = cases(&junit(&verdict, &run())).into_keys().collect();
    assert!(names.contains(&"chat/c8:ttft.p95".to_owned()), "{names:?}");
    assert!(!names.contains(&"chat/c8:ttft.p99".to_owned()), "not gated: {names:?}");
    for (judgement, case, words) in [
        (Judgement::TooFew, "pacegate.too_few_samples", "gated fields with too few samples"),
        (Judgement::New, "pacegate.new", "gated fields with no blessed value"),
    ] {
        let mut gated: Vec<_> = verdict.findings.iter_mut().filter(|finding| finding.gated).collect();
        let n = gated.len();
        gated.iter_mut().for_each(|finding| finding.judgement = judgement);
        let all = cases(&junit(&verdict, &run()));
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all["pacegate.run"].0, "passed");
        let (kind, message, text) = &all[case];
        assert_eq!(kind, "skipped");
        assert!(message.starts_with(&format!("{n} {words}")), "{message}");
        assert_eq!(text.lines().count(), n + 1, "{text}");
    }
}

#[test]
fn the_sentence_is_in_the_message_and_in_the_text() {
    let sentence = "ttft.p95 of chat/c8 rose 412.0 \u{2192} 489.1 ms (+18.7 %, limit +10 % and 2 ms): slower";
    let (_, message, text) = &cases(&junit(&samples::regression_unconfirmed(), &run()))["chat/c8:ttft.p95"];
    assert_eq!(message, sentence);
    assert_eq!(text.lines().next(), Some(sentence));
    assert!(text.contains("95 %: \u{2212}2 % to +44 %; chance without a change: 4 %"), "{text}");
    for (name, verdict) in samples::all() {
        for (case, (kind, message, text)) in cases(&junit(&verdict, &run())) {
            assert_eq!(kind == "passed", message.is_empty(), "{name} {case}");
            assert_eq!(text.lines().next().unwrap_or_default(), message, "{name} {case}");
        }
    }
}

#[test]
fn report_only_fails_nothing_and_still_says_what_would_have_failed() {
    let all = cases(&junit(&samples::report_only(), &run()));
    assert!(all.values().all(|(kind, _, _)| kind == "passed" || kind == "skipped"));
    let (kind, message, _) = &all["chat/c8:ttft.p95"];
    assert_eq!(kind, "skipped");
    assert!(message.starts_with("report only, would fail: ttft.p95 of chat/c8 rose"), "{message}");
    let mut failed = samples::all_failed();
    (failed.report_only, failed.exit_code) = (true, 5);
    assert_eq!(kind_of_run(&failed), "error", "a run that failed is not forgiven");
}

fn kind_of_run(verdict: &Verdict) -> String {
    kind(verdict, "pacegate.run")
}

#[test]
fn a_verdict_without_a_field_is_still_a_case() {
    let mut verdict = samples::no_baseline();
    verdict.findings.clear();
    let all = cases(&junit(&verdict, &run()));
    assert_eq!(all.keys().collect::<Vec<_>>(), ["pacegate.run"]);
    assert!(all["pacegate.run"].1.starts_with("there is no blessed baseline at \"baselines/chat.json\""));
}

#[test]
fn an_outcome_that_no_field_shows_is_an_error_of_the_run() {
    let mut verdict = samples::pass();
    (verdict.outcome, verdict.exit_code) = (Outcome::Inconclusive, 4);
    assert_eq!(kind_of_run(&verdict), "error");
}

#[test]
fn counts_times_and_stamp_are_what_both_schemas_ask_for() {
    for (name, verdict) in samples::all() {
        let xml = junit(&verdict, &run());
        let tree = Document::parse(&xml).unwrap();
        assert_eq!(tree.root_element().attributes().len(), 0, "{name}");
        let suite = tree.root_element().first_element_child().unwrap();
        let count = |kind: &str| tree.descendants().filter(|n| n.has_tag_name(kind)).count().to_string();
        for (attribute, of) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            assert_eq!(suite.attribute(attribute), Some(&*count(of)), "{name} {attribute}");
        }
        assert_eq!(suite.attribute("timestamp"), Some("2026-05-05T10:20:30"));
        assert_eq!(suite.attribute("time"), Some("12.345"));
        let order: Vec<&str> =
            suite.children().filter(Node::is_element).map(|n| n.tag_name().name()).collect();
        assert_eq!(
            (order[0], order[order.len() - 2], order[order.len() - 1]),
            ("properties", "system-out", "system-err")
        );
        for case in suite.children().filter(|n| n.has_tag_name("testcase")) {
            assert_eq!(case.attribute("classname"), Some("pacegate.chat"));
            let run = case.attribute("name") == Some("pacegate.run");
            assert_eq!(case.attribute("time"), Some(if run { "12.345" } else { "0" }));
        }
    }
}

#[test]
fn the_facts_of_the_verdict_are_properties() {
    let xml = junit(&samples::regression_with_a_cause(), &run());
    let tree = Document::parse(&xml).unwrap();
    let property = |name: &str| {
        let mut all = tree.descendants().filter(|n| n.has_tag_name("property"));
        all.find(|n| n.attribute("name") == Some(name))
            .and_then(|n| n.attribute("value"))
            .unwrap_or("absent")
            .to_owned()
    };
    assert_eq!(property("outcome"), "REGRESSION");
    assert_eq!(property("exit_code"), "1");
    assert_eq!(property("tier"), "replicated");
    assert_eq!(property("decided_by"), "evidence");
    assert_eq!(property("baseline"), "baselines/chat.json");
    assert_eq!(property("model"), "my-model");
    assert!(property("cause").starts_with("tpot got 22.6 % slower"));
}

#[test]
fn a_profile_with_dots_is_no_package_and_the_first_and_last_stamps_are_written() {
    let mut verdict = samples::pass();
    verdict.profile = "llama-3.1 8b".to_owned();
    for stamp in ["0001-01-01T00:00:00", "9999-12-31T23:59:59"] {
        let run = Run { started: format!("{stamp}Z").try_into().unwrap(), took: Duration::MAX };
        let xml = junit(&verdict, &run);
        assert!(xml.contains("classname=\"pacegate.llama-3_1_8b\""), "{xml}");
        let tree = Document::parse(&xml).unwrap();
        let suite = tree.root_element().first_element_child().unwrap();
        assert_eq!(suite.attribute("timestamp"), Some(stamp));
    }
}

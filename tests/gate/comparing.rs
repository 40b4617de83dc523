//! Two sides that do not mean the same are never compared in silence.

use pacegate::model::{Fact, Judgement, Metric, Outcome, PercentileDefinition, Report, Samples};

use crate::build::{self, finite};
use crate::summaries::{finding, group, policy, report};

fn with_model(model: &str) -> Report {
    let mut report = report(vec![group(None, 1.0)]);
    report.subject.model = Some(model.into());
    report
}

#[test]
fn another_model_is_refused_and_compared_only_when_allowed() {
    let blessed = build::blessed(vec![with_model("model-a")]);
    let refused = build::judge(&blessed, &with_model("model-b"), &policy(), &[]);
    assert_eq!((refused.outcome, refused.exit_code), (Outcome::NoVerdict, 3));
    let text = refused.problems[0].to_string();
    assert!(
        text.contains("\"model-a\"")
            && text.contains("\"model-b\"")
            && text.contains("--allow-different model")
    );
    let allowed = build::judge(&blessed, &with_model("model-b"), &policy(), &[Fact::Model]);
    assert_eq!((allowed.exit_code, allowed.allowed.as_slice()), (0, [Fact::Model].as_slice()));
}

#[test]
fn allowing_what_does_not_differ_is_not_said() {
    let blessed = build::blessed(vec![with_model("model-a")]);
    let verdict = build::judge(&blessed, &with_model("model-a"), &policy(), &[Fact::Model]);
    assert!(verdict.allowed.is_empty());
}

#[test]
fn a_workload_that_differs_refuses_its_group_only() {
    let two = || report(vec![group(Some("a"), 1.0), group(Some("b"), 1.0)]);
    let with_prompts = |hash: &str| {
        let mut report = two();
        for (id, hash) in [("a/c8", "one"), ("b/c8", hash)] {
            let id = pacegate::model::GroupId(id.into());
            report.profile.workloads.entry(id).or_default().insert(Fact::Prompts, hash.into());
        }
        report
    };
    let verdict =
        build::judge(&build::blessed(vec![with_prompts("two")]), &with_prompts("three"), &policy(), &[]);
    assert_eq!(verdict.exit_code, 3);
    assert_eq!(finding(&verdict, "a/c8:ttft.p95").judgement, Judgement::Unchanged);
    assert_eq!(finding(&verdict, "b/c8:ttft.p95").judgement, Judgement::NotComparable);
}

#[test]
fn summaries_of_two_percentile_definitions_are_not_compared() {
    let mut new = group(None, 1.0);
    new.metrics.get_mut(&Metric::TTFT).unwrap().percentile_definition = Some(PercentileDefinition::FloorRank);
    let blessed = build::blessed(vec![report(vec![group(None, 1.0)])]);
    let verdict = build::judge(&blessed, &report(vec![new.clone()]), &policy(), &[]);
    assert_eq!(verdict.exit_code, 3);
    let text = finding(&verdict, "c8:ttft.p95").reasons[0].to_string();
    assert!(text.contains("\"linear\"") && text.contains("\"floor-rank\""), "{text}");
    let allowed = build::judge(&blessed, &report(vec![new]), &policy(), &[Fact::PercentileDefinition]);
    assert_eq!(allowed.exit_code, 0);
}

#[test]
fn an_unknown_percentile_definition_is_not_compared_even_with_itself() {
    let mut odd = group(None, 1.0);
    odd.metrics.get_mut(&Metric::TTFT).unwrap().percentile_definition = Some(PercentileDefinition::Unknown);
    let odd = report(vec![odd]);
    let verdict = build::judge(&build::blessed(vec![odd.clone()]), &odd, &policy(), &[]);
    assert_eq!(verdict.exit_code, 3);
}

#[test]
fn samples_are_read_by_the_definition_of_the_summary_on_the_other_side() {
    // R-7 of 1..=100 at p95 is 95.05; floor rank would pick 96.
    let samples: Vec<f64> = (1..=100).map(f64::from).collect();
    let mut old = group(None, 1.0);
    old.metrics.get_mut(&Metric::TTFT).unwrap().samples = Some(Samples::from_millis(&samples).unwrap());
    let verdict = build::judge(
        &build::blessed(vec![report(vec![old])]),
        &report(vec![group(None, 1.0)]),
        &policy(),
        &[],
    );
    assert_eq!(finding(&verdict, "c8:ttft.p95").old, Some(finite(95.05)));
}

#[test]
fn two_meanings_of_a_metric_are_not_compared() {
    let meaning = |word: &str| {
        let mut group = group(None, 1.0);
        group.metrics.get_mut(&Metric::TTFT).unwrap().definition = Some(word.into());
        report(vec![group])
    };
    let blessed = build::blessed(vec![meaning("first-token")]);
    let verdict = build::judge(&blessed, &meaning("first-chunk"), &policy(), &[]);
    assert_eq!(verdict.exit_code, 3);
    assert_eq!(finding(&verdict, "c8:ttft.p95").judgement, Judgement::NotComparable);
    assert_eq!(finding(&verdict, "c8:tpot.p50").judgement, Judgement::Unchanged);
}

#[test]
fn answers_of_another_length_make_e2e_incomparable_and_nothing_else() {
    let mut new = group(None, 1.0);
    new.tokens.output = Some(300 * 90);
    let blessed = build::blessed(vec![report(vec![group(None, 1.0)])]);
    let verdict = build::judge(&blessed, &report(vec![new]), &policy(), &[]);
    assert_eq!(verdict.exit_code, 3);
    assert_eq!(finding(&verdict, "c8:e2e.p95").judgement, Judgement::NotComparable);
    assert_eq!(finding(&verdict, "c8:ttft.p95").judgement, Judgement::Unchanged);
    let text = finding(&verdict, "c8:e2e.p95").reasons[0].to_string();
    assert!(text.contains("100.0 tokens") && text.contains("90.0 tokens"), "{text}");
}

#[test]
fn what_the_gate_is_for_is_listed_and_judged() {
    let engine = |version: &str, decode: &str| {
        let mut report = report(vec![group(None, 1.0)]);
        report.subject.engine_version = Some(version.into());
        report.subject.parameters.insert("decode".into(), decode.into());
        report
    };
    let blessed = build::blessed(vec![engine("1.0", "14")]);
    let verdict = build::judge(&blessed, &engine("1.1", "16"), &policy(), &[]);
    assert_eq!(verdict.exit_code, 0);
    let changed: Vec<String> = verdict.what_changed.iter().map(ToString::to_string).collect();
    assert_eq!(
        changed,
        [
            "\"engine_version\" changed: \"1.0\" \u{2192} \"1.1\"",
            "\"decode\" changed: \"14\" \u{2192} \"16\""
        ]
    );
}

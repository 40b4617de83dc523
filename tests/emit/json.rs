//! The verdict for programs.

use pacegate::emit::json;
use serde_json::Value;

use crate::samples;

#[test]
fn the_document_carries_what_a_program_needs_to_decide() {
    let value: Value = serde_json::from_str(&json(&samples::regression_unconfirmed())).unwrap();
    assert_eq!(value["schema"], "pacegate.verdict/1");
    assert_eq!(value["outcome"], "regression");
    assert_eq!(value["exit_code"], 1);
    assert_eq!(value["tier"], "single");
    assert_eq!(value["decided_by"], "limits");
    assert_eq!(value["counts"]["required"], 14);
    assert_eq!(value["resolution"]["metrics"]["ttft"]["chat/c8"], 0.44);
    let finding = &value["findings"][0];
    assert_eq!(finding["field"]["group"], "chat/c8");
    assert_eq!(finding["field"]["metric"], "ttft");
    assert_eq!(finding["field"]["statistic"], "p95");
    assert_eq!(finding["judgement"], "regressed");
    assert_eq!(finding["unit"], "ms");
    assert_eq!(finding["direction"], "lower_is_better");
    assert_eq!(finding["old"], 412.0);
    assert_eq!(finding["new"], 489.06);
    assert_eq!(finding["confirmed"], false);
    assert_eq!(finding["reasons"][0]["code"], "over_limit");
    assert_eq!(
        finding["reasons"][0]["text"],
        "ttft.p95 of chat/c8 rose 412.0 \u{2192} 489.1 ms (+18.7 %, limit +10 % and 2 ms): slower"
    );
}

#[test]
fn what_was_not_measured_is_null_and_never_zero() {
    let value: Value = serde_json::from_str(&json(&samples::missing_field())).unwrap();
    assert_eq!(value["findings"][0]["new"], Value::Null);
    let value: Value = serde_json::from_str(&json(&samples::all_failed())).unwrap();
    assert_eq!(value["candidate"]["output_tokens"], Value::Null);
    assert_eq!(value["tier"], Value::Null);
}

#[test]
fn it_is_pretty_and_ends_with_a_line_break() {
    let text = json(&samples::pass());
    assert!(text.starts_with("{\n  \"schema\": \"pacegate.verdict/1\",\n"), "{text}");
    assert!(text.ends_with("\n}\n"));
}

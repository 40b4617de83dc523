//! One field of a report.

use pacegate::explain::ExplainError;

use pacegate::model::{Metric, Samples};

use crate::reports::{self, C32, CHAT, EMBEDDED, LEVELS, VLLM, explain};

fn lines(name: &str, field: &str) -> Vec<String> {
    explain(&reports::named(name), Some(field)).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn one_field_of_one_group_is_explained_alone() {
    assert_eq!(
        lines(CHAT, "int8_quant/chat/c8:ttft.p99"),
        [
            "benchmark-py report original/benchmark-chat-c8.json; 3 groups; the model is not recorded",
            "",
            "ttft (ms; lower is better)",
            "  (preprocess + prompt encode) \u{d7} the concurrency penalty: until the first token",
            "  int8_quant/chat/c8: p99 696.9 ms",
            "",
            "Which sample a percentile is",
            "  P99 of 300 is the 298th fastest; nothing is interpolated",
            "  NumPy, which interpolates, reads p99 5.8 % lower on average at n = 300: up to 40.42 ms of ttft here; 1 time in 20 the two are more than 17 % apart, with nothing changed",
            "  p99 needs 368 samples to be judged; 300 are too few",
            "",
            "What concurrency did",
            "  c8: every time is multiplied by 1 + (8 \u{2212} 1) \u{d7} 0.15 = 2.05 when 8 are in flight: congestion, not the strategy",
            "",
            "What to expect of the traffic",
            "  chat (prompts 70 % short, 20 % medium, 10 % long; 50 to 500 output tokens): low ttft, and a tail that the few long prompts make",
        ]
    );
}

#[test]
fn concurrency_and_traffic_are_those_of_the_group_asked_for() {
    let text = lines(EMBEDDED, "int8_quant/rag/c32:ttft.p95").join("\n");
    assert!(text.contains("c32: every time is multiplied by") && text.contains("rag (prompts"), "{text}");
    for other in ["c8", "c1", "chat (", "code (", "from c", "usually right"] {
        assert!(!text.contains(other), "{other}\n{text}");
    }
    let text = lines(LEVELS, "c1").join("\n");
    assert!(!text.contains("bounded on this side") && !text.contains("usage check"), "{text}");
    assert!(text.contains("c1: 60 of 60") && !text.contains("c8"), "{text}");
}

#[test]
fn one_request_at_a_time_has_no_congestion() {
    let mut report = reports::named(CHAT);
    for group in &mut report.jobs[0].rounds[0].groups {
        group.dimensions.concurrency = Some(1);
        group.id = group.dimensions.id();
    }
    let text = explain(&report, Some("ttft")).unwrap();
    assert!(text.contains("  c1: one request at a time, so no congestion\n"), "{text}");
    assert!(!text.contains("1.00"), "{text}");
}

#[test]
fn another_definition_that_shows_the_same_value_agrees() {
    let mut report = reports::named(EMBEDDED);
    let measured = report.jobs[0].rounds[0].groups[0].metrics.get_mut(&Metric::TTFT).unwrap();
    // 100.785 ms by floor rank and 100.784 ms by NumPy.
    let samples = (0..300).map(|at| 100_500 + at).collect();
    measured.samples = Some(Samples::from_micros(samples));
    let text = explain(&report, Some("baseline/chat/c8:ttft.p95")).unwrap();
    assert!(
        text.contains("  NumPy, which interpolates, would say the same at this n: 100.8 ms for ttft.p95 of baseline/chat/c8\n"),
        "{text}"
    );
    assert!(!text.contains("baseline/chat/c8, not "), "{text}");
}

#[test]
fn gaps_are_not_corrected_at_the_number_of_requests() {
    let text = lines(VLLM, "itl").join("\n");
    assert!(text.contains("c32: mean 8.07 ms, p50 0.0042 ms, p99 117.4 ms"), "{text}");
    assert!(!text.contains("of 120") && !text.contains("of itl here"), "{text}");
}

#[test]
fn only_the_percentile_asked_for_is_divided() {
    let text = lines(CHAT, "int8_quant/chat/c8:speedup_vs_baseline.p95").join("\n");
    assert!(text.contains("p95 13230.4 ms / 8826.0 ms = 1.50. int8_quant is faster"), "{text}");
    assert!(!text.contains("p99 14209.0") && !text.contains("  p50 7146.0"), "{text}");
}

#[test]
fn a_field_that_the_tool_never_computes_is_explained_and_no_error() {
    let text = lines(CHAT, "tpot.p99").join("\n");
    assert!(text.contains("tpot.p99: benchmark.py computes P50 and P95 of tpot only"), "{text}");
    assert!(!text.contains("ttft.p"), "{text}");
}

#[test]
fn a_field_that_this_report_lacks_is_answered_with_what_it_has() {
    let text = lines(LEVELS, "e2e.p50").join("\n");
    assert!(text.contains("e2e.p50 is not in this report; it has e2e.p95"), "{text}");
    let text = lines(CHAT, "ttfo").join("\n");
    assert!(text.contains("ttfo is not in this report; it has nothing of it"), "{text}");
}

#[test]
fn the_tools_own_names_are_understood() {
    assert_eq!(lines(CHAT, "total_latency.P99"), lines(CHAT, "e2e.p99"));
    assert_eq!(lines(LEVELS, "tpot"), lines(LEVELS, "itl"));
    assert_eq!(lines(CHAT, "ttft.median"), lines(CHAT, "ttft.p50"));
}

#[test]
fn a_group_alone_is_explained_with_all_its_metrics() {
    let text = lines(CHAT, "int8_quant/chat/c8").join("\n");
    assert!(
        text.contains("int8_quant/chat/c8: p50 46.61 ms") && text.contains("int8_quant is faster"),
        "{text}"
    );
    assert!(!text.contains("speculative_decode/chat/c8: "), "{text}");
}

#[test]
fn success_rate_alone_says_the_counts_and_the_causes() {
    let text = lines(C32, "success_rate").join("\n");
    assert!(text.contains("c32: 53 of 60 (88.33 %); 7 \u{d7} 429 (too many requests)"), "{text}");
    assert!(!text.contains("ttft (ms"), "{text}");
}

#[test]
fn an_unknown_field_is_answered_with_the_nearest() {
    let nearest = |field: &str| match explain(&reports::named(CHAT), Some(field)) {
        Err(ExplainError::UnknownField { nearest, .. }) => nearest,
        Ok(text) => panic!("{field} was explained: {text}"),
    };
    assert_eq!(nearest("ttff.p95")[0], "ttft.p95");
    assert_eq!(nearest("speedup_vs_basline")[0], "speedup_vs_baseline");
    assert_eq!(nearest("int8_quant/chat/c9:ttft")[0], "int8_quant/chat/c8");
    assert_eq!(nearest("ttft.p101")[0], "ttft.p50");
    let error = explain(&reports::named(CHAT), Some("ttff\u{1b}[2J")).unwrap_err().to_string();
    assert!(error.starts_with("no field \"ttff\\u{1b}[2J\" in this report; the nearest: ttft, "), "{error}");
}

#[test]
fn foreign_text_does_not_reach_the_terminal_as_it_is() {
    let mut report = reports::named(LEVELS);
    let attack = "x\u{1b}[2J\nPASS ##[error]";
    report.subject.model = Some(attack.to_owned());
    report.source.files = vec![attack.to_owned()];
    report.source.format = Some(attack.to_owned());
    report.source.warnings = vec![attack.to_owned()];
    for measured in report.jobs[0].rounds[0].groups[0].metrics.values_mut() {
        measured.definition = Some(attack.to_owned());
    }
    let text = explain(&report, None).unwrap();
    assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains("##["), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("PASS")), "{text}");
}

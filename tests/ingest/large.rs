//! Reports above a megabyte are known by their first part where that is enough; nothing else about them differs.

use serde_json::{Value, json};

use super::{data, groups, read_text};

/// guidellm's report with its requests repeated to two megabytes.
fn large() -> Value {
    let text = std::fs::read_to_string(data("guidellm/0.8.1/clean-c8.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    let benchmark = &mut report["benchmarks"][0];
    let requests = benchmark["requests"]["successful"].as_array_mut().unwrap();
    *requests = requests.iter().cycle().take(520).cloned().collect();
    benchmark["metrics"]["request_totals"] =
        json!({"successful": 520, "errored": 0, "incomplete": 0, "total": 520});
    report
}

fn written(report: &Value) -> String {
    let text = report.to_string();
    assert!(text.len() > 2_000_000, "{}", text.len());
    text
}

#[test]
fn a_large_report_is_read_wherever_its_marks_stand() {
    let report = large();
    // In a parsed value keys are sorted: "metrics" stands before "requests", and the benchmarks before all else.
    let first = read_text("large.json", written(&report)).unwrap();
    assert_eq!(groups(&first)[0].requests.counts(), Some((520, 520)));
    let padding = vec![json!({"time_to_first_token_ms": "not this one"}); 30_000];
    let mut late = json!({"aaa": padding});
    late.as_object_mut().unwrap().extend(report.as_object().unwrap().clone());
    let late = read_text("large.json", written(&late)).unwrap();
    assert_eq!(groups(&late), groups(&first));
}

#[test]
fn what_is_wrong_far_behind_the_first_part_is_told_as_in_a_small_file() {
    let text = written(&large());
    let end = text.rfind("\"inter_token_latency_ms\":").unwrap();
    let spoilt = |value: &str| format!("{}\"inter_token_latency_ms\":{value},{}", &text[..end], &text[end..]);
    for (text, words) in [
        (spoilt("NaN"), "NaN is not a number that can be judged, and guidellm does not write it"),
        (spoilt("1"), "the key \"inter_token_latency_ms\" stands twice in one object"),
        (spoilt(&format!("{}{}", "[".repeat(70), "]".repeat(70))), "nests deeper than 64 levels"),
        (text[..end].to_owned(), "the file breaks off here"),
        (format!("{text}}}"), "is not valid JSON"),
    ] {
        let error = read_text("large.json", text).unwrap_err();
        assert!(error.starts_with("large.json:1:") && error.contains(words), "{error}");
    }
}

#[test]
fn two_tools_marks_in_one_large_file_are_ambiguous_where_both_stand_in_the_first_part() {
    let oha = std::fs::read_to_string(data("oha/1.16.0/clean-c8.json")).unwrap();
    let both = format!("{},{}", &oha[..oha.rfind('}').unwrap()], &written(&large())[1..]);
    let error = read_text("large.json", both).unwrap_err();
    assert!(error.contains("could be guidellm or oha"), "{error}");
}

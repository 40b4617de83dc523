//! A count that is none, or that contradicts another, is a fault of the file: read as 0 it would hide failures.

use pacegate::model::report::FailureKind;
use pacegate::model::{Metric, Statistic};
use serde_json::{Value, json};

use super::{data, groups, read_text};

const HEY: &str = "hey/0.1.4/faults-c8.txt";
const WRK: &str = "wrk/4.1.0/clean-c8.txt";

/// A real report with one text in place of another.
fn edited(file: &str, old: &str, new: &str) -> String {
    let text = std::fs::read_to_string(data(file)).unwrap();
    assert!(text.contains(old), "{file} has no {old:?}");
    text.replace(old, new)
}

/// A real JSON report with another value at a pointer.
fn set(file: &str, pointer: &str, value: Value) -> String {
    let mut tree: Value = serde_json::from_str(&std::fs::read_to_string(data(file)).unwrap()).unwrap();
    let (above, key) = pointer.rsplit_once('/').unwrap();
    tree.pointer_mut(above).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value);
    tree.to_string()
}

fn refused(name: &str, text: &str, words: &str) {
    let error = read_text(name, text).unwrap_err();
    assert!(error.contains(words), "{error}");
}

#[test]
fn hey_lines_that_hold_no_count_are_refused() {
    let whole = "expected a whole number from 0";
    for count in ["99999999999999999999", "18446744073709551616", "-1", "2.5", "many", ""] {
        let text = edited(HEY, "[500]\t1 responses", &format!("[500]\t{count} responses"));
        refused("hey.txt", &text, whole);
    }
    for line in ["500]\t1 responses", "[500\t1 responses", "and then some"] {
        let text = edited(HEY, "[500]\t1 responses", line);
        refused("hey.txt", &text, "expected [STATUS] N responses, or [N] ERROR");
    }
    let text = edited(HEY, "[500]\t1 responses", "[500]\t1 respons");
    refused("hey.txt", &text, whole);
}

#[test]
fn hey_counts_that_no_run_has_do_not_wrap_around() {
    // Each is above what a count can be; two of them would be 0 in 64 bits.
    let twice = "[500]\t9223372036854775808 responses\n  [501]\t9223372036854775808 responses";
    refused("hey.txt", &edited(HEY, "[500]\t1 responses", twice), "expected a whole number from 0");
    // Each is a count; all of them together are none.
    let many = "[500]\t9000000000000000 responses\n  ".repeat(2_050);
    refused("hey.txt", &edited(HEY, "[500]\t1 responses", &many), "add up to more than any run has");
}

#[test]
fn hey_errors_that_end_in_a_colon_and_odd_statuses_are_failures() {
    let end = "[500]\t1 responses\n  [abc]\t3 responses\n\nError distribution:\n  [30]\tGet \"http://x\": dial tcp:\n";
    let report = read_text("hey.txt", edited(HEY, "[500]\t1 responses", end)).unwrap();
    let requests = &groups(&report)[0].requests;
    assert_eq!((requests.sent, requests.succeeded), (Some(97), Some(58)));
    assert_eq!(requests.failed[&FailureKind::Unknown], 33);
    refused(
        "hey.txt",
        &edited(HEY, "[500]\t1 responses", &end.replace("[30]", "[x]")),
        "expected a whole number",
    );
}

#[test]
fn hey_times_that_are_none_are_refused() {
    refused("hey.txt", &edited(HEY, "95% in 0.4459", "95% in fast"), "e2e.p95 is the text \"fast \"");
    refused("hey.txt", &edited(HEY, "95% in", "ninety% in"), "has no percentile");
    refused("hey.txt", &edited(HEY, "Slowest:\t0.4493", "Slowest:\t?"), "e2e.max is the text");
    refused("hey.txt", &edited(HEY, "Total:\t3.0759", "Total:\t?"), "has no number of seconds");
}

#[test]
fn wrk_counts_that_are_none_are_refused() {
    let bad = |line: &str| edited(WRK, "Requests/sec:", &format!("{line}\nRequests/sec:"));
    for count in ["18446744073709551616", "many", "", "-3"] {
        let words = "expected a whole number from 0";
        refused("wrk.txt", &bad(&format!("  Non-2xx or 3xx responses: {count}")), words);
        refused(
            "wrk.txt",
            &bad(&format!("  Socket errors: connect 0, read {count}, write 0, timeout 0")),
            words,
        );
    }
    refused("wrk.txt", &bad("  Socket errors: connect 0, read"), "expected a whole number from 0");
    let words = "more requests failed than were sent: 123 of 122";
    refused("wrk.txt", &bad("  Non-2xx or 3xx responses: 123"), words);
    refused("wrk.txt", &edited(WRK, "480.11ms", "slow"), "e2e.p99 is the text \"slow\"");

    let report = read_text("wrk.txt", bad("  Socket errors: connect 1, read 2, write 0, timeout 3")).unwrap();
    assert_eq!(groups(&report)[0].requests.counts(), Some((122, 128)));
}

#[test]
fn oha_outcomes_that_are_no_counts_are_named() {
    let file = "oha/1.16.0/faults-c8.json";
    for count in [json!("many"), json!(null), json!(-1), json!(1e300), json!([3])] {
        refused(
            "oha.json",
            &set(file, "/statusCodeDistribution/500", count.clone()),
            "statusCodeDistribution.500 is no number of requests or tokens: expected a whole number from 0",
        );
        let text = set(file, "/errorDistribution", json!({"connection refused": count}));
        refused("oha.json", &text, "errorDistribution.connection refused is no number");
    }
}

#[test]
fn more_failures_than_requests_contradict_in_every_tool() {
    let words = "more requests failed than were sent: 1000000 of";
    let k6 =
        set("k6/1.1.0/faults-c8.summary-export.json", "/metrics/http_req_failed/passes", json!(1_000_000));
    refused("k6.json", &k6, words);
    let stats = set("llmeter/0.2.0/faults-c8.stats.json", "/failed_requests", json!(1_000_000));
    refused("stats.json", &stats, words);
    refused("locust.json", &set("locust/2.47.0/faults-c8.json", "/0/num_failures", json!(1_000_000)), words);
    refused("locust.csv", &edited("locust/2.47.0/faults-c8.stats.csv", ",90,18,", ",90,1000000,"), words);
    let level = set("original/benchmark_runner-c8.json", "/reliability/failed_requests", json!(1_000_000));
    refused("b.json", &level, words);
}

#[test]
fn more_listed_failures_than_failed_and_times_below_0_are_refused() {
    let listed = set("infermark/0.3.0/faults-c8.json", "/results/0/errors", json!({"HTTP 429": 50}));
    refused("r.json", &listed, "it lists 50 failures, and sent less succeeded gives 11");
    let duration = set("vllm/0.33.0/clean-chat-c8-detailed.json", "/duration", json!(-5));
    refused("r.json", &duration, "the run took -5000 ms; expected a time from 0");
}

#[test]
fn locust_counts_and_times_that_are_none_are_refused() {
    let whole = "expected a whole number from 0";
    let file = "locust/2.47.0/faults-c8.json";
    for pointer in ["/0/num_failures", "/0/num_requests", "/0/response_times/330"] {
        refused("locust.json", &set(file, pointer, json!(2.5)), whole);
        refused("locust.json", &set(file, pointer, json!(1e19)), whole);
    }
    refused("locust.json", &set(file, "/0/response_times/slow", json!(3)), "response_times.slow is no time");
    let csv = "locust/2.47.0/faults-c8.stats.csv";
    refused("locust.csv", &edited(csv, ",90,18,", ",90,many,"), whole);
    refused("locust.csv", &edited(csv, ",420,430,470,", ",slow,430,470,"), "e2e.p95 is the text \"slow\"");
    read_text("locust.csv", edited(csv, ",420,430,470,", ",N/A,430,470,")).unwrap();
}

#[test]
fn a_histogram_of_more_requests_than_memory_has_room_for_is_read() {
    let endpoint = json!([{"name": "/", "method": "POST", "num_requests": 4_000_000_000_000_000_u64, "num_failures": 0,
        "response_times": {"100": 2_000_000_000_000_000_u64, "300": 2_000_000_000_000_000_u64, "4": 0}}]);
    let report = read_text("locust.json", endpoint.to_string()).unwrap();
    let group = groups(&report)[0];
    let at = |statistic| super::stat(group, &Metric::E2E, statistic);
    assert_eq!((at(Statistic::P50), at(Statistic::P95)), (Some(200.0), Some(300.0)));
}

#[test]
fn a_level_that_is_no_count_is_refused_and_not_left_out() {
    let whole = "expected a whole number from 0";
    refused("stats.json", &set("llmeter/0.2.0/faults-c8.stats.json", "/clients", json!("many")), whole);
    let k6 = set("k6/1.1.0/faults-c8.summary-export.json", "/metrics/vus_max/value", json!(0.5));
    refused("k6.json", &k6, whole);
    refused("wrk.txt", &edited(WRK, "8 connections", "eight connections"), whole);
    let text = edited(WRK, "8 connections", "5000000000 connections");
    refused("wrk.txt", &text, "connections is 5000000000, and so many requests are never in flight");
}

#[test]
fn our_own_report_holds_no_count_whose_sum_wraps_around() {
    let report = read_text("hey.txt", std::fs::read_to_string(data(HEY)).unwrap()).unwrap();
    let tree = serde_json::to_value(report).unwrap();
    for pointer in ["sent", "succeeded", "failed/http_429"] {
        let mut tree = tree.clone();
        *tree.pointer_mut(&format!("/jobs/0/rounds/0/groups/0/requests/{pointer}")).unwrap() =
            json!(u64::MAX);
        let words = "18446744073709551615 is no count of requests or tokens";
        refused("own.json", &tree.to_string(), words);
    }
    for warmup in [json!({"sent": u64::MAX}), json!({"sent": 1, "failed": {"http_429": u64::MAX}})] {
        let mut tree = tree.clone();
        tree["jobs"][0]["warmup"] = warmup;
        refused("own.json", &tree.to_string(), "is no count of requests or tokens");
    }
}

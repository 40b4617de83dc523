//! The scripts' keys in any spelling, and none of them twice.

use pacegate::model::{Fact, Metric, Statistic};
use serde_json::{Value, json};

use super::{data, groups, read_text, stat};

fn load_test() -> Value {
    serde_json::from_str(&std::fs::read_to_string(data("original/benchmark_runner-c32.json")).unwrap())
        .unwrap()
}

fn strategies() -> Value {
    serde_json::from_str(&std::fs::read_to_string(data("original/benchmark-chat-c8.json")).unwrap()).unwrap()
}

/// A report with a value at a pointer whose last part may be new.
fn with(mut tree: Value, pointer: &str, value: Value) -> String {
    let (above, key) = pointer.rsplit_once('/').unwrap();
    tree.pointer_mut(above).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value);
    tree.to_string()
}

fn without(mut tree: Value, pointers: &[&str]) -> Value {
    for pointer in pointers {
        let (above, key) = pointer.rsplit_once('/').unwrap();
        tree.pointer_mut(above).unwrap().as_object_mut().unwrap().remove(key).unwrap();
    }
    tree
}

fn refused(text: &str, words: &str) {
    let error = read_text("s.json", text).unwrap_err();
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_key_in_two_spellings_is_the_key_twice() {
    for (pointer, first, again) in [
        ("/reliability/Failed_Requests", "Failed_Requests", "failed_requests"),
        ("/Model", "Model", "model"),
        ("/Reliability", "Reliability", "reliability"),
        ("/latency/P95_TTFT_MS", "P95_TTFT_MS", "p95_ttft_ms"),
        ("/latency/p95-ttft-ms", "p95-ttft-ms", "p95_ttft_ms"),
    ] {
        let text = with(load_test(), pointer, json!(30));
        refused(
            &text,
            &format!("the key \"{first}\" stands twice in one object, the second time as \"{again}\""),
        );
    }
    let text = with(strategies(), "/results/INT8_QUANT/ttft/p99", json!(1.0));
    refused(&text, "(results.INT8_QUANT.ttft.p99): the key \"P99\" stands twice in one object");
    let place = "{\n \"latency\": {}, \"throughput\": {},\n \"reliability\": {\"failed_requests\": 0,\n  \"Failed_Requests\": 30, \"total_requests\": 30}}";
    refused(place, "s.json:4:22 (reliability.Failed_Requests): the key \"failed_requests\" stands twice");
}

#[test]
fn the_words_of_a_server_are_no_spellings_of_each_other() {
    let errors = json!({"Too many requests": 3, "too-many-requests": 4});
    let report = read_text("b.json", with(load_test(), "/reliability/errors", errors)).unwrap();
    assert_eq!(groups(&report)[0].requests.failures(), 7);
}

#[test]
fn a_percentile_between_two_is_neither() {
    let tree = without(strategies(), &["/results/INT8_QUANT/ttft/P95"]);
    let report = read_text("a.json", with(tree, "/results/INT8_QUANT/ttft/P9.5", json!(1.0))).unwrap();
    let group = groups(&report)[1];
    assert_eq!(stat(group, &Metric::TTFT, Statistic::P95), None);
    assert!(report.source.warnings.iter().any(|w| w.contains("ttft has \"P9.5\", which is no statistic")));
}

#[test]
fn one_statistic_under_two_names_must_be_one_value() {
    let twice = |value: Value| with(strategies(), "/results/INT8_QUANT/latency", json!({"P95": value}));
    refused(
        &twice(json!(8000.0)),
        "e2e.p95 stands twice, with 8000 and with 8825.96, so it is not known which value holds",
    );
    read_text("a.json", twice(json!(8825.96))).unwrap();
    let text = with(load_test(), "/latency/ttft_p95_s", json!(0.876));
    let report = read_text("b.json", text).unwrap();
    assert_eq!(stat(groups(&report)[0], &Metric::TTFT, Statistic::P95), Some(876.0));
    refused(
        &with(load_test(), "/latency/ttft_p95_s", json!(0.9)),
        "ttft.p95 stands twice, with 876 and with 900",
    );
    let text = with(load_test(), "/reliability/failures", json!(0));
    refused(&text, "failed_requests is 7, and failures is 0");
    let text = with(load_test(), "/reliability/successful_requests", json!(60));
    refused(&text, "60 requests succeeded, and sent less failed gives 53");
}

#[test]
fn nested_latencies_of_the_load_test_are_read() {
    let nested = json!({"ttft_ms": {"p50": 476.83, "p95": 876.0}, "tpot": {"avg_ms": 18.134}, "e2e": {"p95_s": 5.07324}});
    let report = read_text("b.json", with(load_test(), "/latency", nested)).unwrap();
    let flat = read_text("b.json", load_test().to_string()).unwrap();
    assert_eq!(groups(&report)[0].metrics, groups(&flat)[0].metrics);
}

#[test]
fn latencies_of_which_none_is_known_are_refused() {
    let text = with(load_test(), "/latency", json!({"p95": 3.0, "wall": {"p95": 1.0}}));
    refused(
        &text,
        "(latency): no latency that is known among p95, wall; expected such as p95_ttft_ms, or ttft_ms with a p95 in it",
    );
    let text = with(load_test(), "/latency", json!({"ttft_ms": {"slowest": 3.0}}));
    refused(&text, "(latency.ttft_ms): no statistic that is known in it; expected some of p50");
    let text = with(strategies(), "/results/INT8_QUANT/ttft", json!({"slowest": 3.0}));
    refused(&text, "(results.INT8_QUANT.ttft): no statistic that is known in it");
    refused(&with(load_test(), "/latency/p95_ttft_ms", json!("fast")), "expected a number of milliseconds");
    for value in [json!("fast"), json!([]), json!(5)] {
        for group in ["latency", "throughput", "reliability"] {
            let text = with(load_test(), &format!("/{group}"), value.clone());
            let error = read_text("b.json", text).unwrap_err();
            assert!(
                error.contains("expected an object") || error.contains("no known report format"),
                "{error}"
            );
        }
    }
    let report = read_text("b.json", with(load_test(), "/latency/p75_ttft_ms", json!(5))).unwrap();
    let left_out = "latency has \"p75_ttft_ms\", which is no latency that is read";
    assert!(report.source.warnings.iter().any(|w| w.contains(left_out)), "{:?}", report.source.warnings);
}

#[test]
fn the_groups_of_the_load_test_are_found_in_any_spelling() {
    let tree = load_test();
    let mut other = json!({"Latency": tree["latency"], "THROUGHPUT": tree["throughput"], "Reliability": tree["reliability"]});
    other["Reliability"]["Errors"] = other["Reliability"]["errors"].take();
    other["Reliability"].as_object_mut().unwrap().remove("errors");
    for (key, value) in
        [("modelId", "model"), ("maxConcurrency", "concurrency"), ("Num-Requests", "num_requests")]
    {
        other[key] = tree[value].clone();
    }
    let (report, same) = (
        read_text("o.json", format!("[{other}]")).unwrap(),
        read_text("s.json", format!("[{tree}]")).unwrap(),
    );
    assert_eq!(groups(&report), groups(&same));
    assert_eq!(report.profile.workloads, same.profile.workloads);
    assert_eq!(report.subject.model.as_deref(), Some("model-a"));
}

#[test]
fn the_model_of_a_strategy_comparison_is_read_wherever_it_stands() {
    for key in ["model", "modelId", "MODEL_NAME"] {
        let report = read_text("a.json", with(strategies(), &format!("/{key}"), json!("m-7b"))).unwrap();
        assert_eq!(report.subject.model.as_deref(), Some("m-7b"));
        assert!(report.profile.workloads.values().all(|facts| facts[&Fact::Model] == "m-7b"));
    }
    let text = with(strategies(), "/results/INT8_QUANT/model", json!("m-7b-int8"));
    let report = read_text("a.json", text).unwrap();
    assert_eq!(report.profile.workloads[&groups(&report)[1].id][&Fact::Model], "m-7b-int8");
    refused(&with(strategies(), "/model", json!(["m"])), "(model): found a list, expected a name");
}

#[test]
fn a_level_or_a_number_of_requests_that_is_none_is_refused() {
    let whole = "expected a whole number from 0";
    for value in [json!("eight"), json!(-8), json!(0.5), json!(true), json!({})] {
        refused(&with(load_test(), "/concurrency", value.clone()), whole);
        refused(&with(strategies(), "/max_concurrency", value.clone()), whole);
        refused(&with(strategies(), "/results/INT8_QUANT/num_requests", value.clone()), whole);
        let tree = without(load_test(), &["/reliability/total_requests"]);
        refused(&with(tree, "/num_requests", value.clone()), whole);
        refused(
            &with(load_test(), "/reliability/errors", json!({"500": value})),
            "500 is no number of requests",
        );
    }
    refused(
        &with(load_test(), "/reliability/errors", json!([429])),
        "expected an object of counts by status",
    );
    refused(
        &with(strategies(), "/results/INT8_QUANT/speedup_vs_baseline", json!("fast")),
        "expected a number",
    );
    refused(
        &with(strategies(), "/results/INT8_QUANT/gpu_memory/avg_gb", json!("28 GB")),
        "expected a number of GB",
    );
    refused(
        "[{\"latency\":{},\"throughput\":{},\"reliability\":{\"total_requests\":1}}, 5]",
        "[1]): found the number 5",
    );
}

#[test]
fn a_success_rate_is_a_share_or_said() {
    let bare = [
        "/reliability/total_requests",
        "/reliability/failed_requests",
        "/reliability/errors",
        "/num_requests",
    ];
    for rate in [json!(80.0), json!("80%"), json!(-0.1), json!(1.01), json!("high"), json!([])] {
        for tree in [load_test(), without(load_test(), &bare)] {
            let text = with(tree, "/reliability/success_rate", rate.clone());
            refused(&text, "expected a share from 0 to 1, such as 0.98 for 98 %");
        }
    }
    let report = read_text("b.json", without(load_test(), &bare).to_string()).unwrap();
    assert_eq!(groups(&report)[0].requests.counts(), None);
    let said = "success_rate is 0.8833 of a number of requests that is not in the file";
    assert!(report.source.warnings.iter().any(|w| w.contains(said)), "{:?}", report.source.warnings);
    let report = read_text("b.json", without(load_test(), &bare[1..3]).to_string()).unwrap();
    assert_eq!(groups(&report)[0].requests.counts(), Some((53, 60)));
}

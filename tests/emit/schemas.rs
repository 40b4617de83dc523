//! The committed JSON Schemas: fresh, true of what is written, and able to say no.

use pacegate::emit::{SchemaKind, json, schema};
use serde_json::{Value, json as value};

use crate::{golden, samples};

fn validator(kind: SchemaKind) -> jsonschema::Validator {
    jsonschema::draft202012::new(&serde_json::from_str(&schema(kind)).unwrap()).unwrap()
}

#[test]
fn committed_schemas_are_fresh() {
    for kind in SchemaKind::ALL {
        golden::assert_same(&format!("schemas/{}.schema.json", kind.name()), &schema(kind));
    }
}

#[test]
fn the_schemas_are_valid_by_their_own_draft() {
    for kind in SchemaKind::ALL {
        let schema: Value = serde_json::from_str(&schema(kind)).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
    }
}

#[test]
fn every_verdict_is_valid() {
    let validator = validator(SchemaKind::Verdict);
    for (name, verdict) in samples::all() {
        let document: Value = serde_json::from_str(&json(&verdict)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

fn report() -> Value {
    value!({
        "schema": "pacegate.report/1",
        "tool": { "name": "pacegate", "version": "0.1.0" },
        "source": { "kind": "ingest", "format": "vllm-bench-serve", "files": ["run.json"] },
        "profile": { "name": "chat", "workloads": { "chat/c8": { "concurrency": "8" } } },
        "jobs": [{
            "id": "1", "started": "2026-01-02T03:04:05Z",
            "rounds": [{ "groups": [{
                "id": "chat/c8",
                "dimensions": { "traffic": "chat", "concurrency": 8 },
                "requests": { "sent": 300, "succeeded": 298, "failed": { "http_429": 2 } },
                "wall_ms": 8123.4,
                "tokens": { "input": 1, "output": 2, "cached": null, "from": "usage" },
                "metrics": { "ttft": {
                    "unit": "ms", "definition": "first-token", "n": 298,
                    "percentile_definition": "floor-rank",
                    "stats": { "mean": 1.0, "p50": 1.0, "p99.9": 2.0 },
                    "vif": { "p95": 1.0 }
                } }
            }] }]
        }]
    })
}

fn baseline() -> Value {
    value!({
        "schema": "pacegate.baseline/1",
        "tool": { "name": "pacegate", "version": "0.1.0" },
        "profile": "chat",
        "summary": { "chat/c8:ttft.p95": "412.0 ms" },
        "ledger": { "pinned": { "chat/c8:ttft.p95": 412.0 }, "entries": [{
            "at": "2026-01-02T03:04:05Z", "code": { "commit": "abc", "dirty": [] },
            "action": "first", "changes": {}
        }] },
        "reports": [report()]
    })
}

/// What is read by serde, written again, and read by the schema.
fn rewritten<T: serde::de::DeserializeOwned + serde::Serialize>(document: &Value) -> Value {
    serde_json::to_value(serde_json::from_value::<T>(document.clone()).unwrap()).unwrap()
}

#[test]
fn what_we_write_is_valid() {
    let report_again = rewritten::<pacegate::model::Report>(&report());
    let baseline_again = rewritten::<pacegate::model::Baseline>(&baseline());
    for (kind, document) in [
        (SchemaKind::Report, report()),
        (SchemaKind::Report, report_again),
        (SchemaKind::Baseline, baseline()),
        (SchemaKind::Baseline, baseline_again),
    ] {
        let errors: Vec<String> = validator(kind).iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// Each breaks one thing; both readers must refuse each.
#[test]
fn what_is_wrong_is_refused_by_the_schema_and_by_the_reader() {
    let ttft = "/jobs/0/rounds/0/groups/0/metrics/ttft";
    let cases: [(&str, String, Value); 11] = [
        ("a wrong unit", format!("{ttft}/unit"), value!("seconds")),
        ("a value that is text", format!("{ttft}/stats/p50"), value!("412")),
        ("a null value", format!("{ttft}/stats/p50"), Value::Null),
        ("another percentile definition", format!("{ttft}/percentile_definition"), value!("numpy")),
        ("a negative count", "/jobs/0/rounds/0/groups/0/requests/sent".to_owned(), value!(-1)),
        ("an unknown source", "/source/kind".to_owned(), value!("guess")),
        ("an unknown failure", "/jobs/0/rounds/0/groups/0/requests/failed".to_owned(), value!({ "oops": 1 })),
        ("an unknown statistic", format!("{ttft}/stats"), value!({ "p100": 1.0 })),
        ("an inflation of no percentile", format!("{ttft}/vif"), value!({ "90th": 1.0 })),
        ("an unknown key", "/tool".to_owned(), value!({ "name": "a", "version": "1", "x": 1 })),
        (
            "a group name with a control character",
            "/jobs/0/rounds/0/groups/0/id".to_owned(),
            value!("a\u{1b}[2J"),
        ),
    ];
    let validator = validator(SchemaKind::Report);
    for (what, pointer, wrong) in cases {
        let mut document = report();
        *document.pointer_mut(&pointer).unwrap() = wrong;
        assert!(!validator.is_valid(&document), "the schema takes {what}");
        assert!(
            serde_json::from_value::<pacegate::model::Report>(document).is_err(),
            "the reader takes {what}"
        );
    }
}

#[test]
fn another_schema_name_is_refused() {
    for (kind, mut document) in [(SchemaKind::Report, report()), (SchemaKind::Baseline, baseline())] {
        document["schema"] = value!("pacegate.report/2");
        assert!(!validator(kind).is_valid(&document), "{}", kind.name());
    }
}

#[test]
fn a_verdict_with_an_unknown_outcome_is_refused() {
    let mut document: Value = serde_json::from_str(&json(&samples::pass())).unwrap();
    document["outcome"] = value!("fine");
    assert!(!validator(SchemaKind::Verdict).is_valid(&document));
}

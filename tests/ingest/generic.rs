//! A tool that is not known, read by a mapping.

use pacegate::model::{Metric, PercentileDefinition, Statistic};
use pacegate::source::ingest::{MappedValue, Mapping, Options, read_bytes};

use super::{groups, stat, value};

fn mapped(at: &str, metric: Metric, unit: &str, statistic: Statistic) -> MappedValue {
    MappedValue {
        at: at.to_owned(),
        metric,
        unit: unit.to_owned(),
        statistic,
        definition: "as-the-tool-has-it".to_owned(),
        percentiles: PercentileDefinition::Linear,
    }
}

fn options(values: Vec<MappedValue>, sent: &str, succeeded: &str) -> Options {
    let mapping = Mapping {
        tool: "own-bench".to_owned(),
        values,
        sent: Some(sent.to_owned()),
        succeeded: Some(succeeded.to_owned()),
        ..Mapping::default()
    };
    Options { mapping: Some(mapping), ..Options::default() }
}

#[test]
fn json_pointers_and_columns_are_read_in_their_units() {
    let values = vec![
        mapped("/runs/0/first~1token/p95", Metric::TTFT, "s", Statistic::P95),
        mapped("/runs/0/rate", Metric::OUTPUT_THROUGHPUT, "tok/s", Statistic::Value),
        mapped("/mem", Metric::GPU_MEMORY, "GB", Statistic::Max),
        mapped("/joules", Metric::named("energy"), "J", Statistic::Value),
    ];
    let text = r#"{"runs": [{"first/token": {"p95": "0.25"}, "rate": 100}], "mem": 16, "joules": 7, "n": 10, "ok": 9}"#;
    let report = read_bytes("own.json", text.into(), &options(values, "/n", "/ok")).unwrap();
    let group = groups(&report)[0];
    assert_eq!(stat(group, &Metric::TTFT, Statistic::P95), Some(250.0));
    assert_eq!(value(group, &Metric::OUTPUT_THROUGHPUT), Some(100.0));
    assert_eq!(stat(group, &Metric::GPU_MEMORY, Statistic::Max), Some(16_000.0));
    assert_eq!(value(group, &Metric::named("energy")), Some(7.0));
    assert_eq!(group.requests.counts(), Some((9, 10)));
    assert_eq!(report.source.format.as_deref(), Some("generic"));

    let values = vec![mapped("TTFT p50 (ms)", Metric::TTFT, "ms", Statistic::P50)];
    let text = "TTFT p50 (ms),sent,ok\r\n12.5,4,4\r\n";
    let report = read_bytes("own.csv", text.into(), &options(values, "sent", "ok")).unwrap();
    assert_eq!(stat(groups(&report)[0], &Metric::TTFT, Statistic::P50), Some(12.5));
}

#[test]
fn a_place_without_a_number_or_a_unit_of_another_kind_is_refused() {
    let read = |text: &str, unit: &str| {
        let values = vec![mapped("/p95", Metric::TTFT, unit, Statistic::P95)];
        read_bytes("own.json", text.into(), &options(values, "/n", "/ok")).unwrap_err().to_string()
    };
    let good = r#"{"p95": 1, "n": 2, "ok": 2}"#;
    assert!(
        read(r#"{"p95": null, "n": 2, "ok": 2}"#, "ms")
            .starts_with("own.json (/p95): the mapping looks for a value here")
    );
    assert!(read(r#"{"p95": "fast", "n": 2, "ok": 2}"#, "ms").contains("ttft.p95 is the text \"fast\""));
    assert!(read(r#"{"p95": 1, "n": 2.5, "ok": 2}"#, "ms").contains("/n is no number of requests"));
    assert!(read(good, "GB").contains("the mapping says the unit \"GB\", which is none of ttft"));
}

//! A tool that is not known, read by a mapping: never a value left out in silence, never a pass on nothing.

use std::path::Path;

use pacegate::config;
use pacegate::model::{Fact, Mapping, Metric, PercentileDefinition, Report, Statistic};
use pacegate::source::ingest::{Input, Options, read_bytes};

use super::{groups, stat, value};

fn mapping(text: &str) -> Mapping {
    let text = format!("[generic.own-bench]\n{text}");
    let config = config::load(Path::new("pacegate.toml"), &text).unwrap_or_else(|error| panic!("{error}"));
    config.mapping(None, "pacegate.toml").unwrap().clone()
}

fn read(name: &str, text: &str, map: &str) -> Result<Report, String> {
    let options = Options { mapping: Some(mapping(map)), ..Options::default() };
    read_bytes(name, text.into(), &options).map_err(|error| error.to_string())
}

fn refused(text: &str, map: &str, words: &str) {
    let error = read("own.json", text, map).unwrap_err();
    assert!(error.contains(words), "{error}");
}

const TTFT: &str =
    "sent = \"/n\"\nsucceeded = \"/ok\"\nfields.\"ttft.p95\" = { at = \"/p95\", unit = \"ms\" }\n";

#[test]
fn json_pointers_are_read_in_their_units() {
    let map = r#"
sent = "/n"
succeeded = "/ok"
input_tokens = "/in"
output_tokens = "/out"
model = "/model"
strategy = "/mode"
traffic = "/data set"
rate = "/qps"
prompt_tokens = "/isl"
tool_version = "/version"
percentiles = "nearest-rank"
[generic.own-bench.fields]
"ttft.p95" = { at = "/runs/0/first~1token/p95", unit = "s", definition = "first-byte" }
"output_throughput" = { at = "/runs/0/rate", unit = "tok/s" }
"gpu_memory.max" = { at = "/mem", unit = "GB" }
"request_throughput" = { at = "/per_minute", unit = "req/min" }
"energy" = { at = "/joules", unit = "J", shown = true }
"#;
    let text = r#"{"runs": [{"first/token": {"p95": "0.25"}, "rate": 100}], "mem": 16, "joules": 7, "n": 10, "ok": 9, "in": 640, "out": 320,
        "model": "m-7b", "mode": "INT8", "data set": "Share GPT", "qps": 2.5, "isl": 64, "version": 2.1, "per_minute": 90}"#;
    let report = read("own.json", text, map).unwrap();
    let group = groups(&report)[0];
    assert_eq!(group.id.as_str(), "int8/share_gpt/r2.5/p64");
    assert_eq!(stat(group, &Metric::TTFT, Statistic::P95), Some(250.0));
    assert_eq!(value(group, &Metric::OUTPUT_THROUGHPUT), Some(100.0));
    assert_eq!(stat(group, &Metric::GPU_MEMORY, Statistic::Max), Some(16_000.0));
    assert_eq!(value(group, &Metric::REQUEST_THROUGHPUT), Some(1.5));
    assert_eq!(value(group, &Metric::named("energy")), Some(7.0));
    assert_eq!(group.metrics[&Metric::named("energy")].definition.as_deref(), Some("own-bench, in J"));
    let ttft = &group.metrics[&Metric::TTFT];
    assert_eq!(ttft.definition.as_deref(), Some("first-byte"));
    assert_eq!(ttft.percentile_definition, Some(PercentileDefinition::NearestRank));
    assert_eq!(group.requests.counts(), Some((9, 10)));
    assert_eq!((group.tokens.input, group.tokens.output), (Some(640), Some(320)));
    assert_eq!(report.source.format.as_deref(), Some("generic"));
    assert_eq!(report.source.format_version.as_deref(), Some("2.1"));
    assert_eq!(report.subject.model.as_deref(), Some("m-7b"));
    let facts = &report.profile.workloads[&group.id];
    assert_eq!(facts[&Fact::Tool], "generic, own-bench");
    assert_eq!(facts[&Fact::Traffic], "Share GPT");
}

#[test]
fn every_row_of_a_csv_and_every_element_of_a_list_is_a_group() {
    let map = "concurrency = \"Users\"\nsucceeded = \"OK\"\nfailed = \"Bad\"\nfields.\"ttft.p50\" = { at = \"P50, ms\", unit = \"ms\" }\n";
    let text = "Users,OK,Bad,\"P50, ms\"\r\n1,4,0,12.5\r\n8,30,2,99\r\n8,32,0,98\r\n";
    let report = read("own.csv", text, map).unwrap();
    let rounds = &report.jobs[0].rounds;
    assert_eq!(
        rounds.iter().map(|round| round.groups.len()).collect::<Vec<_>>(),
        [2, 1],
        "c8 twice is two rounds"
    );
    assert_eq!(stat(&rounds[1].groups[0], &Metric::TTFT, Statistic::P50), Some(98.0));
    assert_eq!(rounds[0].groups[1].requests.counts(), Some((30, 32)));

    let json = r#"[{"Users": 1, "OK": 4, "Bad": 0, "P50, ms": 12.5}, {"Users": 8, "OK": 30, "Bad": 2, "P50, ms": 99}]"#;
    let one = read("own.json", json, &format!("each = \"/\"\n{map}")).unwrap();
    assert_eq!(one.jobs[0].rounds[0].groups, rounds[0].groups);
    let inner = format!("{{\"a\": {{\"levels\": {json}}}}}");
    let two = read("own.json", &inner, &format!("each = \"/a/levels\"\n{map}")).unwrap();
    assert_eq!(two.jobs[0].rounds[0].groups, rounds[0].groups);

    let nameless = &map["concurrency = \"Users\"\n".len()..];
    let error = read("own.csv", text, nameless).unwrap_err();
    assert!(
        error
            .contains("holds 3 groups, and nothing in [generic.own-bench] tells them apart; map concurrency"),
        "{error}"
    );
    for (text, words) in [
        ("Users,OK,Bad,\"P50, ms\", Users\n1,4,0,9,2\n", "the key \"Users\" stands twice"),
        ("Users,OK,Bad,\"P50, ms\"\n", "holds no run: expected a heading and at least one row"),
        ("Users,OK,Bad,\"P50, ms\"\n1,4,0\n", "own.csv (row 1): has 3 cells, and the heading 4"),
        ("Users,OK,OK,Bad,\"P50, ms\"\n1,4,5,0,3\n", "the key \"OK\" stands twice"),
        (
            "Users,OK,Bad,P50\n1,4,0,3\n",
            "the mapping looks for ttft.p50 at \"P50, ms\", and there is no \"P50, ms\" here: there is Users, OK, Bad, P50",
        ),
        (
            "Users,OK,Bad,\"P50, ms\"\n1,4,0,\"1.234,5\"\n",
            "own.csv (row 1, column P50, ms): found the text \"1.234,5\", expected a number",
        ),
        ("Users,OK,Bad,\"P50, ms\"\n1,4,0,\n", "expected a number"),
        ("Users,OK,Bad,\"P50, ms\"\nmany,4,0,3\n", "found the text \"many\", expected a number"),
    ] {
        let error = read("own.csv", text, map).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let each = format!("each = \"/levels\"\n{map}");
    refused(r#"{"levels": []}"#, &each, "holds no run: the list of groups is empty");
    refused(r#"{"levels": {}}"#, &each, "(levels): found an object, expected the list of groups");
    refused(
        r#"{"runs": []}"#,
        &each,
        "looks for the list of groups at \"/levels\", and there is no \"levels\" here: there is runs",
    );
}

#[test]
fn a_place_that_is_not_there_or_holds_no_number_is_refused_where_it_is() {
    let at = |text: &str, words: &str| refused(text, TTFT, words);
    at(
        "{\n \"n\": 2, \"ok\": 2,\n \"p95\": null}",
        "own.json:3:9 (p95): found null, expected a number; look at the report, and at its mapping in pacegate.toml",
    );
    at(
        "{\n \"n\": 2, \"ok\": 2,\n \"p95\": \"fast\"}",
        "own.json:3:9 (p95): found the text \"fast\", expected a number",
    );
    at(r#"{"n": 2, "ok": 2, "p95": ""}"#, "found the text \"\", expected a number");
    at(r#"{"n": 2, "ok": 2, "p95": [1]}"#, "found a list, expected a number");
    at(r#"{"n": 2, "ok": 2, "p95": true}"#, "found true, expected a number");
    at(
        r#"{"n": 2, "ok": 2, "P95": 1}"#,
        "looks for ttft.p95 at \"/p95\", and there is no \"p95\" here: there is n, ok, P95",
    );
    at(r#"{"n": 2, "ok": 2, "p95": "inf"}"#, "ttft.p95 is infinite; expected a finite number");
    at(r#"{"n": 2, "ok": 2, "p95": -1}"#, "ttft.p95 is -1; expected a finite number from 0");
    at("{\"n\": 2, \"ok\": 2,\n\"p95\": NaN}", "own.json:2:8 (p95): NaN is not a number that can be judged");
    at(r#"{"n": 2, "ok": 2, "p95": 1, "p95": 2}"#, "the key \"p95\" stands twice");
    at(r#"{"n": 2.5, "ok": 2, "p95": 1}"#, "/n is no number of requests or tokens: expected a whole number");
    at(r#"{"n": null, "ok": 2, "p95": 1}"#, "(n): found null, expected a number");
    at(r#"{"n": 2, "ok": 3, "p95": 1}"#, "more requests succeeded than were sent");
    at(r#"{"ok": 3, "p95": 1}"#, "looks for the requests sent at \"/n\"");
    at(r"[1]", "and there is no \"n\" here: it is a list with 1 elements, counted from 0");
    at(r"7", "expected a heading and at least one row");
    let deep = TTFT.replace("/p95", "/a/0/b");
    refused(r#"{"n": 2, "ok": 2, "a": 5}"#, &deep, "there is no \"0\" here: it is the number 5");
    refused(r#"{"n": 2, "ok": 2, "a": [{"b": "x"}]}"#, &deep, "(a[0].b): found the text \"x\"");
    let dotted = TTFT.replace("/p95", "ttft.p95");
    refused(r#"{"n": 2, "ok": 2, "ttft": {"p95": 1}}"#, &dotted, "a place in an object is written /ttft/p95");
}

#[test]
fn counts_and_rates_that_contradict_each_other_are_refused() {
    let all = format!("failed = \"/bad\"\n{TTFT}");
    refused(
        r#"{"n": 5, "ok": 5, "bad": 2, "p95": 1}"#,
        &all,
        "5 requests succeeded, and sent less failed gives 3",
    );
    refused(r#"{"n": 5, "ok": 5, "bad": 7, "p95": 1}"#, &all, "more requests failed than were sent: 7 of 5");
    let rate = |unit: &str| {
        format!(
            "fields.\"success_rate\" = {{ at = \"/rate\", unit = \"{unit}\" }}\nfields.\"ttft.p95\" = {{ at = \"/p95\", unit = \"ms\" }}\n"
        )
    };
    refused(
        r#"{"rate": 98, "p95": 1}"#,
        &rate("fraction"),
        "success_rate is 98; expected a share from 0 to 1",
    );
    let report = read("own.json", r#"{"rate": 98, "p95": 1}"#, &rate("%")).unwrap();
    let ttft = &groups(&report)[0].metrics[&Metric::TTFT];
    assert_eq!(ttft.percentile_definition, Some(PercentileDefinition::OfTheTool));
    assert_eq!(value(groups(&report)[0], &Metric::SUCCESS_RATE), Some(0.98));
    for bad in ["0", "-1", "\"fast\"", "null"] {
        let text = format!(r#"{{"n": 2, "ok": 2, "p95": 1, "qps": {bad}}}"#);
        refused(&text, &format!("rate = \"/qps\"\n{TTFT}"), "(qps): found ");
    }
    for bad in ["null", "\"\"", "[]", "\"--\""] {
        let text = format!(r#"{{"n": 2, "ok": 2, "p95": 1, "mode": {bad}}}"#);
        refused(&text, &format!("strategy = \"/mode\"\n{TTFT}"), "expected a name");
    }
    let text = r#"{"n": 2, "ok": 2, "p95": 1, "model": {}}"#;
    refused(text, &format!("model = \"/model\"\n{TTFT}"), "(model): found an object, expected a text");
}

#[test]
fn where_nothing_succeeded_there_is_no_latency_to_find() {
    for text in
        [r#"{"n": 5, "ok": 0, "p95": null}"#, r#"{"n": 5, "ok": 0}"#, r#"{"n": 5, "ok": 0, "p95": 0}"#]
    {
        let report = read("own.json", text, TTFT).unwrap();
        let group = groups(&report)[0];
        assert_eq!(group.requests.counts(), Some((0, 5)));
        assert!(group.metrics.is_empty(), "{:?}", group.metrics);
    }
    refused(r#"{"n": 5, "ok": 0, "p95": "fast"}"#, TTFT, "found the text \"fast\", expected a number");
}

#[test]
fn the_named_file_is_read_and_not_the_one_that_a_known_tool_would_have_written_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("benchmarks.csv"), "n,ok,p95\n4,4,12\n").unwrap();
    std::fs::write(file("benchmarks.json"), r#"{"n": 4, "ok": 4, "p95": 99}"#).unwrap();
    let map = TTFT.replace("\"/", "\"");
    let options = Options { mapping: Some(mapping(&map)), ..Options::default() };
    let read = |path| {
        let input = Input { strategy: None, path };
        pacegate::source::ingest::read(&[input], &options)
    };
    let report = read(file("benchmarks.csv")).unwrap();
    assert_eq!(stat(groups(&report)[0], &Metric::TTFT, Statistic::P95), Some(12.0));
    let error = read(folder.path().to_owned()).unwrap_err().to_string();
    assert!(error.contains("can't be read") || error.contains("is a folder"), "{error}");
}

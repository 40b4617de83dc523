//! What is no report: each fault has its own sentence, and none of them is a panic.

use std::io::Write;

use super::{data, groups, read_text, report, try_read, written};

const VLLM: &str = "vllm/0.33.0/clean-chat-c8-detailed.json";
const LOAD_TEST: &str = "original/benchmark_runner-c32.json";
/// When it began.
const STAMP: &str = "2026-05-04T09:30:00Z";

#[test]
fn an_empty_file_is_refused() {
    for text in ["", " \r\n\t\n", "\u{feff}"] {
        let error = read_text("e.json", text).unwrap_err();
        assert_eq!(error, "e.json: is empty; did the benchmark write its report before it ended?");
    }
}

#[test]
fn a_missing_file_is_refused_with_what_the_system_said() {
    let error = try_read(&[data("none.json")]).unwrap_err().to_string();
    assert!(error.contains("none.json: can't be read: No such file"), "{error}");
}

#[test]
fn a_folder_without_a_report_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = try_read(&[folder.path().to_owned()]).unwrap_err().to_string();
    assert!(error.contains("is a folder without a report"), "{error}");
}

#[test]
fn a_truncated_file_is_refused_at_its_end() {
    let text = std::fs::read_to_string(data(VLLM)).unwrap();
    let error = read_text("t.json", &text[..400]).unwrap_err();
    assert!(error.contains("no key before this place tells the format"), "{error}");
    let cut = text.find("\"p99_e2el_ms\"").unwrap() + 18;
    let error = read_text("t.json", &text[..cut]).unwrap_err();
    assert!(error.starts_with(&format!("t.json:1:{cut}")), "{error}");
    assert!(error.contains("the file breaks off here") && error.contains("cut short"), "{error}");
}

#[test]
fn broken_syntax_is_refused_with_line_and_column() {
    let text =
        std::fs::read_to_string(data(VLLM)).unwrap().replacen("\"completed\": 60", "\"completed\":\n 6o", 1);
    let error = read_text("s.json", text).unwrap_err();
    assert!(error.starts_with("s.json:2:3") && error.contains("is not valid JSON"), "{error}");
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let text = std::fs::read_to_string(data(VLLM)).unwrap().replacen(
        "\"completed\": 60",
        "\"completed\": 60, \"completed\": 6",
        1,
    );
    let error = read_text("d.json", text).unwrap_err();
    assert!(error.contains("the key \"completed\" stands twice in one object"), "{error}");
    let own = serde_json::to_string(&report(VLLM)).unwrap().replacen("\"p50\":", "\"p50\":1.0,\"p50\":", 1);
    let error = read_text("d.json", own).unwrap_err();
    assert!(error.contains("the key \"p50\" stands twice"), "{error}");
}

#[test]
fn nesting_beyond_sixty_four_is_refused() {
    let text = format!("{}{}", "{\"a\":".repeat(65), "}".repeat(65));
    let error = read_text("n.json", text).unwrap_err();
    assert_eq!(error, "n.json:1:321: nests deeper than 64 levels; no known report does");
}

#[test]
fn a_baseline_given_as_a_report_is_refused_with_the_flag_for_it() {
    let text = r#"{"schema": "pacegate.baseline/1", "tool": {"name": "pacegate", "version": "0.1.0"}, "profile": "p", "ledger": {"entries": []}, "reports": []}"#;
    let error = read_text("baselines.json", text).unwrap_err();
    assert!(error.contains("is a blessed baseline, not a report; give it with --baseline"), "{error}");
}

#[test]
fn a_report_of_another_schema_version_is_refused_with_both() {
    let own = serde_json::to_string(&report(VLLM)).unwrap().replace("pacegate.report/1", "pacegate.report/9");
    let error = read_text("o.json", own).unwrap_err();
    assert!(
        error.contains("its schema is \"pacegate.report/9\" and this version reads \"pacegate.report/1\""),
        "{error}"
    );
}

#[test]
fn a_wrong_value_in_a_report_of_our_own_is_named_by_its_keys() {
    let own = serde_json::to_string(&report(VLLM)).unwrap().replacen("\"unit\":\"ms\"", "\"unit\":\"s\"", 1);
    let error = read_text("o.json", own).unwrap_err();
    assert!(error.contains("(jobs[0].rounds[0].groups[0].metrics.ttft"), "{error}");
    assert!(error.contains("unknown variant `s`"), "{error}");
}

#[test]
fn a_time_that_no_file_of_ours_can_hold_is_absent_and_in_our_own_files_refused() {
    let text = std::fs::read_to_string(data(LOAD_TEST)).unwrap();
    let read = |stamp: &str| read_text("b.json", text.replace(STAMP, stamp)).unwrap().jobs[0].started;
    assert_eq!(read(STAMP).unwrap().to_string(), STAMP);
    for stamp in ["9999-12-31T23:59:59-23:00", "0000-01-01T00:00:00+23:00"] {
        assert_eq!(read(stamp), None);
        let own = serde_json::to_string(&report(LOAD_TEST)).unwrap().replace(STAMP, stamp);
        let error = read_text("o.json", own).unwrap_err();
        assert!(error.contains("(jobs[0].started): is not in the years 1 to 9999"), "{error}");
    }
}

#[test]
fn what_is_no_json_is_said_to_be_none() {
    let error = read_text("x.json", "<html>502 Bad Gateway</html>").unwrap_err();
    assert!(error.starts_with("x.json: no known report format. It is no JSON."), "{error}");
    let error = read_text("x.json", "{}").unwrap_err();
    assert!(error.contains("It has no keys."), "{error}");
}

#[test]
fn utf16_is_refused_with_its_usual_cause() {
    let text: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("{}".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let error = read_text("u.json", text).unwrap_err();
    assert!(error.contains("is not UTF-8 text") && error.contains("PowerShell"), "{error}");
}

#[test]
fn a_byte_order_mark_carriage_returns_and_gzip_change_nothing() {
    let text = std::fs::read_to_string(data(VLLM)).unwrap();
    let plain = report(VLLM);
    let marked = format!("\u{feff}{}", text.replace(", \"", ",\r\n \"").trim_end()) + "\r\n";
    let read = read_text("m.json", marked).unwrap();
    assert_eq!(groups(&read), groups(&plain));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let read = read_text("m.json.gz", &packed).unwrap();
    assert_eq!(groups(&read), groups(&plain));
    assert_eq!(read.source.digests, plain.source.digests, "the same content is the same content");
    let error = read_text("m.json.gz", &packed[..packed.len() / 2]).unwrap_err();
    assert!(error.contains("begins like gzip but does not unpack"), "{error}");
}

#[test]
fn a_forced_format_gives_its_full_reason() {
    use pacegate::source::ingest::{Format, Input, Options, read};
    let (_keep, path) = written("f.json", r#"{"completed": 1}"#);
    let options = Options { format: Some(Format::VllmBenchServe), ..Options::default() };
    let error = read(&[Input { strategy: None, path }], &options).unwrap_err().to_string();
    assert!(error.contains("is not vllm-bench-serve: no key \"total_token_throughput\""), "{error}");
}

#[test]
fn nothing_given_is_refused() {
    assert!(try_read(&[]).unwrap_err().to_string().contains("no report was given"));
}

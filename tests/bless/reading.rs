//! A damaged or foreign file is named as what it is, with its place.

use std::fs;
use std::path::Path;

use pacegate::baseline::{BaselineError, parse, read, render};

use crate::build::first;

fn error(text: &str) -> String {
    parse("b.json", text.as_bytes()).map_or_else(|error| error.to_string(), |_| "read".to_owned())
}

fn good() -> String {
    render(&first()).unwrap()
}

/// The good file with one line replaced; `LINE` in the expectation is that line's number.
fn with(old: &str, new: &str) -> (String, usize) {
    let text = good();
    let at = text.find(old).unwrap_or_else(|| panic!("no {old}"));
    let line = text[..at].matches('\n').count() + 1;
    (text.replacen(old, new, 1), line)
}

#[test]
fn a_key_that_stands_twice_is_refused_wherever_it_is() {
    let (text, line) =
        with("  \"profile\": \"chat\",\n", "  \"profile\": \"chat\",\n  \"profile\": \"chat\",\n");
    assert_eq!(error(&text), format!("b.json:{}:11: .: duplicate field `profile`", line + 1));
    let (text, line) = with("    \"Jobs\": \"1\",\n", "    \"Jobs\": \"1\",\n    \"Jobs\": \"2\",\n");
    assert_eq!(error(&text), format!("b.json:{}:10: summary: the key \"Jobs\" stands twice", line + 1));
    let twice = "\"traffic\": \"chat\",\n            \"traffic\": \"rag\",";
    let (text, _) = with("\"traffic\": \"chat\",", twice);
    let message = error(&text);
    assert!(message.ends_with(": the key \"traffic\" stands twice"), "{message}");
    assert!(message.contains("reports[0].profile.workloads.baseline/chat/c8"), "{message}");
}

#[test]
fn numbers_that_are_none_are_refused() {
    let metric = "reports[0].jobs[0].rounds[0].groups[0].metrics.ttft";
    for word in ["NaN", "Infinity"] {
        let (text, line) = with("\"n\": 200", &format!("\"n\": {word}"));
        let column = text.lines().nth(line - 1).unwrap().find(word).unwrap() + 1;
        let expected = format!("b.json:{line}:{column}: not JSON: {word} is no number (in {metric}.n)");
        assert_eq!(error(&text), expected);
    }
    let p95 = "\"p95\": 472.01";
    let (text, line) = with(p95, "\"p95\": 1e999");
    let message = error(&text);
    assert!(message.starts_with(&format!("b.json:{line}:")), "{message}");
    assert!(message.contains("number out of range"), "{message}");
    let (text, line) = with(p95, "\"p95\": null");
    let message = error(&text);
    assert!(message.starts_with(&format!("b.json:{line}:")), "{message}");
    assert!(
        message.contains("reports[0].jobs[0].rounds[0].groups[0].metrics.ttft.stats.p95: invalid type: null"),
        "{message}"
    );
}

#[test]
fn an_unknown_key_or_a_wrong_type_is_named_with_its_path() {
    let (text, line) = with("\"action\": \"first\"", "\"actoin\": \"first\"");
    let message = error(&text);
    assert!(message.starts_with(&format!("b.json:{line}:")), "{message}");
    assert!(message.contains(": ledger.entries[0].actoin: unknown field `actoin`"), "{message}");
    let (text, line) = with("\"complete\": true", "\"complete\": \"yes\"");
    let message = error(&text);
    assert!(message.starts_with(&format!("b.json:{line}:")), "{message}");
    assert!(message.contains(": reports[0].jobs[0].complete: invalid type: string \"yes\""), "{message}");
}

#[test]
fn columns_count_characters() {
    let message = error("{\n  \"schema\": \"pacegate.baseline/1\", \"\u{e4}\u{f6}\u{fc}\": 1\n}\n");
    // The closing quote is the 40th character and the 43rd byte.
    assert!(message.starts_with("b.json:2:40: \u{e4}\u{f6}\u{fc}: unknown field"), "{message}");
}

#[test]
fn another_version_says_who_wrote_it() {
    let newer = good().replacen("pacegate.baseline/1", "pacegate.baseline/2", 1);
    let newer = newer.replacen(
        &format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")),
        "\"version\": \"3.1.4\"",
        1,
    );
    assert_eq!(
        error(&newer),
        format!(
            "b.json:1:1: the baseline has schema \"pacegate.baseline/2\", written by pacegate 3.1.4; this is pacegate {}, which reads \"pacegate.baseline/1\". Use that version, or bless anew with this one",
            env!("CARGO_PKG_VERSION")
        )
    );
    // Even where nothing but the head is as we know it.
    assert!(
        error("{\"schema\": \"pacegate.baseline/9\", \"jobs\": 7}")
            .contains("written by pacegate of an unknown version")
    );
}

#[test]
fn other_documents_are_named_as_what_they_are() {
    let report = serde_json::to_string(&first().reports[0]).unwrap();
    assert_eq!(
        error(&report),
        "b.json:1:1: this is a report, not a baseline; bless it: pacegate check b.json --bless --reason TEXT"
    );
    assert_eq!(
        error("{\"schema\": \"pacegate.verdict/1\"}"),
        "b.json:1:1: this is a verdict (--json), not a baseline"
    );
    let expected = ", expected \"pacegate.baseline/1\"";
    let foreign =
        |found: &str| format!("b.json:1:1: this is no baseline of pacegate: \"schema\" is {found}{expected}");
    assert_eq!(error("{\"date\": 1}"), foreign("not there"));
    assert_eq!(error("{\"schema\": 3}"), foreign("3"));
    assert_eq!(error("{\"schema\": \"x/1\"}"), foreign("\"x/1\""));
}

#[test]
fn a_baseline_without_jobs_is_none() {
    let mut empty = first();
    empty.reports.clear();
    assert!(error(&render(&empty).unwrap()).ends_with(": reports: no job is in it; bless anew"));
    let mut many = first();
    many.reports = vec![many.reports[0].clone(); 11];
    assert!(error(&render(&many).unwrap()).ends_with(": reports: 11 jobs, and 10 is the most; bless anew"));
    let mut other = first();
    other.reports[0].schema = "pacegate.report/2".to_owned();
    let message = error(&render(&other).unwrap());
    assert!(
        message.ends_with(": reports[0].schema: \"pacegate.report/2\", expected \"pacegate.report/1\""),
        "{message}"
    );
}

#[test]
fn a_file_that_breaks_off_anywhere_is_refused() {
    let text = good();
    for end in (1..text.len() - 2).step_by(97) {
        let message = error(&text[..end]);
        let broken = message.ends_with(": the file breaks off here; take it from git again, or bless anew");
        assert!(broken, "at {end}: {message}");
    }
    let last = format!("b.json:{}:1: ", text.lines().count());
    assert!(error(&text[..text.len() - 2]).starts_with(&last), "{last}");
}

#[test]
fn a_changed_byte_never_panics() {
    let text = good();
    for at in (0..text.len()).step_by(53) {
        for byte in [0u8, b'"', b'}', b'9', 0xff] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            if let Err(error) = parse("b.json", &bytes) {
                assert!(error.to_string().starts_with("b.json:"), "{error}");
            }
        }
    }
}

#[test]
fn empty_files_pointers_merge_marks_and_bytes_are_told_apart() {
    assert!(matches!(parse("b", b""), Err(BaselineError::Empty(_))));
    assert!(matches!(parse("b", b" \n\n"), Err(BaselineError::Empty(_))));
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    assert!(error(pointer).contains("git lfs pull"));
    let (text, line) = with("  \"profile\": \"chat\",\n", "<<<<<<< HEAD\n  \"profile\": \"chat\",\n");
    assert!(
        error(&text).starts_with(&format!("b.json:{line}:1: marks of a merge conflict")),
        "{}",
        error(&text)
    );
    let utf16 = parse("b.json", b"\xff\xfe{\0").unwrap_err().to_string();
    assert!(utf16.starts_with("b.json:1:1: not UTF-8 text"), "{utf16}");
    let late = parse("b.json", b"{\n \"a\": \"\xe4\"}").unwrap_err().to_string();
    assert!(late.starts_with("b.json:2:8: not UTF-8 text"), "{late}");
    assert!(error("[1]").starts_with("b.json:1:"), "{}", error("[1]"));
    assert!(error(&format!("{}x", good())).contains(": not JSON: trailing characters"));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read() {
    let text = format!("\u{feff}{}", good().replace('\n', "\r\n"));
    assert_eq!(parse("b.json", text.as_bytes()).unwrap(), first());
}

#[test]
fn files_are_read_from_disk_and_absence_is_a_case_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.json");
    assert!(matches!(read(&path), Err(BaselineError::Absent(absent)) if absent == path));
    assert!(matches!(read(folder.path()), Err(BaselineError::Folder(_))));
    fs::write(&path, good()).unwrap();
    assert_eq!(read(&path).unwrap(), good().into_bytes());
    assert!(matches!(read(Path::new("/dev/null/b")), Err(BaselineError::Unreadable { .. })));
}

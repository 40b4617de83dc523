//! What can't be read, and nothing to read.

use std::fs;

use crate::made::{Made, folder, job, pacegate, said, trend};

#[test]
fn an_empty_folder_is_no_steady_series() {
    let empty = tempfile::tempdir().unwrap();
    for path in [".", "none.json"] {
        let output = pacegate(empty.path(), &["trend", path]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(output.stdout.is_empty());
    }
    assert!(said(&pacegate(empty.path(), &["trend", "."])).contains("no past job was found in ."));
    fs::write(empty.path().join("notes.json"), "{}").unwrap();
    let output = pacegate(empty.path(), &["trend", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("1 files were left out, ./notes.json: "), "{}", said(&output));
}

#[test]
fn what_is_no_report_in_a_folder_is_named_and_what_is_named_must_be_one() {
    let jobs = folder((0..9).map(job));
    fs::write(jobs.path().join("notes.txt"), "no report").unwrap();
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["left_out"].as_array().unwrap().len(), 1);
    assert!(text.contains("1 file or line left out\n  - ./notes.txt: "), "{text}");
    let output = pacegate(jobs.path(), &["trend", "job-001.json", "notes.txt"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_damaged_line_is_named_with_its_number_and_never_left_out() {
    let jobs = folder([]);
    let lines: Vec<String> = (0..9).map(|day| job(day).report().to_string()).collect();
    let write = |lines: &[String]| fs::write(jobs.path().join("all.jsonl"), lines.join("\n")).unwrap();
    write(&lines);
    let (_, json) = trend(jobs.path(), &["all.jsonl"]);
    assert_eq!(json["series"][0]["jobs"].as_array().unwrap().len(), 9);
    assert_eq!(json["series"][0]["jobs"][2]["source"], "all.jsonl:3");
    let cut = |at: usize| {
        let mut damaged = lines.clone();
        damaged[at].truncate(200);
        damaged
    };
    for at in [0, 4, 8] {
        write(&cut(at));
        for path in ["all.jsonl", "."] {
            let output = pacegate(jobs.path(), &["trend", path]);
            assert_eq!(output.status.code(), Some(2), "{}", said(&output));
            let named = format!("all.jsonl:{}: ", at + 1);
            assert!(said(&output).contains(&named), "{}", said(&output));
            assert!(said(&output).contains("Delete this line or mend it"), "{}", said(&output));
        }
    }
}

#[test]
fn jobs_that_tell_neither_times_nor_requests_are_no_steady_series() {
    let jobs = folder((0..10).map(job));
    for day in 0..10 {
        let path = jobs.path().join(format!("job-{day:03}.json"));
        let mut report: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for group in report["jobs"][0]["rounds"][0]["groups"].as_array_mut().unwrap() {
            group["metrics"] = serde_json::json!({});
            group["requests"] = serde_json::json!({});
        }
        fs::write(path, report.to_string()).unwrap();
    }
    let (text, _) = trend(jobs.path(), &["."]);
    assert!(!text.contains("STEADY"), "{text}");
    assert!(text.contains("no job tells its times or how many of its requests succeeded"), "{text}");
}

#[test]
fn a_history_that_a_merge_or_other_bytes_broke_is_never_left_out() {
    let jobs = folder((0..9).map(job));
    let line = r#"{"schema":"pacegate.history/1","at":"2026-10-01T00:00:00Z"}"#;
    for (name, bytes, at) in [
        ("history", format!("<<<<<<< HEAD\n{line}\n").into_bytes(), 1),
        ("h.jsonl", [line.as_bytes(), b"\n\xff\xfe\n"].concat(), 2),
    ] {
        let path = jobs.path().join(name);
        fs::write(&path, bytes).unwrap();
        let output = pacegate(jobs.path(), &["trend", "."]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(&format!("{name}:{at}: ")), "{}", said(&output));
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_job_without_a_time_and_an_interrupted_one_are_left_out_and_said() {
    let jobs = folder((0..9).map(job));
    let mut timeless = job(20).report();
    timeless["jobs"][0].as_object_mut().unwrap().remove("started");
    let mut partial = job(21).report();
    partial["jobs"][0]["complete"] = false.into();
    fs::write(jobs.path().join("timeless.json"), timeless.to_string()).unwrap();
    fs::write(jobs.path().join("partial.json"), partial.to_string()).unwrap();
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["series"][0]["jobs"].as_array().unwrap().len(), 9);
    assert!(text.contains("timeless.json: it does not say when it was measured"), "{text}");
    assert!(text.contains("partial.json: it was interrupted"), "{text}");
}

#[test]
fn names_from_a_report_cannot_reach_the_terminal_as_commands() {
    let jobs = folder((0..9).map(job));
    let mut hostile = job(9).report();
    hostile["code"]["commit"] = "\u{1b}[2J$(x".into();
    hostile["subject"]["model"] = "my-model\u{1b}[31m\n::error::".into();
    fs::write(jobs.path().join("hostile.json"), hostile.to_string()).unwrap();
    let (text, _) = trend(jobs.path(), &["."]);
    assert!(
        !text.contains('\u{1b}') && !text.lines().any(|line| line.trim_start().starts_with("::")),
        "{text}"
    );
}

#[test]
fn json_alone_can_be_printed_and_a_place_that_cannot_be_written_is_exit_6() {
    let change = |day: u32| match day {
        3 => Made { failed: vec![("http_429", 60)], ..job(day) },
        8.. => Made { ttft: 1.5, ..job(day) },
        _ => job(day),
    };
    let jobs = folder((0..14).map(change));
    let output = pacegate(jobs.path(), &["trend", ".", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), json["schema"].as_str()), (Some(0), Some("pacegate.trend/1")));
    let schema = pacegate(jobs.path(), &["schema", "trend"]);
    let validator = jsonschema::draft202012::new(&serde_json::from_slice(&schema.stdout).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let output = pacegate(jobs.path(), &["trend", ".", "--json", "job-001.json/none"]);
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
}

//! What belongs together: order, duplicates, other models, baselines and workloads, drift against the first bless.

use std::fs;

use crate::made::{Made, findings, folder, job, pacegate, said, trend};

#[test]
fn the_time_of_each_job_orders_them_whatever_their_names() {
    let jobs = tempfile::tempdir().unwrap();
    for day in 0..16 {
        let made = Made { ttft: if day < 8 { 1.0 } else { 1.3 }, ..job(day) };
        fs::write(jobs.path().join(format!("{}.json", (day * 5) % 16)), made.report().to_string()).unwrap();
    }
    let (text, json) = trend(jobs.path(), &["."]);
    let times: Vec<&str> =
        json["series"][0]["jobs"].as_array().unwrap().iter().map(|job| job["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(findings(&json)[0]["since"]["first"]["commit"], crate::made::commit_of(8), "{text}");
}

#[test]
fn another_model_is_another_series_and_that_is_said() {
    let model = |day: u32| if day < 10 { "my-model" } else { "other-model" };
    let slow = |day: u32| if day < 10 { 1.0 } else { 1.5 };
    let jobs = folder((0..20).map(|day| Made { model: model(day), ttft: slow(day), ..job(day) }));
    let (text, json) = trend(jobs.path(), &["."]);
    let series = json["series"].as_array().unwrap();
    assert_eq!(series.len(), 2, "{text}");
    assert_eq!(series[0]["model"], "other-model", "the series with the newest job comes first");
    assert!(series.iter().all(|series| series["findings"].as_array().unwrap().is_empty()), "{text}");
    assert!(
        text.contains("not one series with the other jobs of this profile: they differ in the model"),
        "{text}"
    );
}

#[test]
fn another_workload_of_a_group_is_another_series_and_an_added_group_is_not() {
    let jobs = tempfile::tempdir().unwrap();
    for day in 0..16_u32 {
        let mut report = Made { ttft: if day < 8 { 1.0 } else { 3.0 }, ..job(day) }.report();
        if day >= 8 {
            report["profile"]["fingerprints"]["chat/c8"] = "9999".into();
        }
        fs::write(jobs.path().join(format!("{day}.json")), report.to_string()).unwrap();
    }
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["series"].as_array().unwrap().len(), 2, "{text}");
    assert!(text.contains("they differ in the workload"), "{text}");

    let jobs = tempfile::tempdir().unwrap();
    for day in 0..20_u32 {
        let mut report = job(day).report();
        if day >= 17 {
            let mut group = report["jobs"][0]["rounds"][0]["groups"][0].clone();
            group["id"] = "chat/c32".into();
            group["dimensions"]["concurrency"] = 32.into();
            report["jobs"][0]["rounds"][0]["groups"].as_array_mut().unwrap().push(group);
            report["profile"]["fingerprints"]["chat/c32"] = "3232".into();
        }
        fs::write(jobs.path().join(format!("{day}.json")), report.to_string()).unwrap();
    }
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["series"].as_array().unwrap().len(), 1, "{text}");
    assert!(
        text.contains("fields left out that fewer than 80 % of the jobs have, such as chat/c32:"),
        "{text}"
    );
}

#[test]
fn levels_that_share_no_group_are_no_series() {
    let jobs = tempfile::tempdir().unwrap();
    for day in 0..10_u32 {
        let mut report = job(day).report();
        let keep = if day % 2 == 0 { "chat/c1" } else { "chat/c8" };
        let gone = if day % 2 == 0 { "chat/c8" } else { "chat/c1" };
        let groups = report["jobs"][0]["rounds"][0]["groups"].as_array_mut().unwrap();
        groups.retain(|group| group["id"] == keep);
        report["profile"]["fingerprints"].as_object_mut().unwrap().remove(gone);
        fs::write(jobs.path().join(format!("{day}.json")), report.to_string()).unwrap();
    }
    let (text, json) = trend(jobs.path(), &["."]);
    let lengths: Vec<usize> =
        json["series"].as_array().unwrap().iter().map(|s| s["jobs"].as_array().unwrap().len()).collect();
    assert_eq!(lengths, [5, 5], "{text}");
    assert!(text.contains("they differ in the workload"), "{text}");
}

#[test]
fn the_same_job_counts_once() {
    let jobs = folder((0..10).map(job));
    fs::copy(jobs.path().join("job-003.json"), jobs.path().join("copy.json")).unwrap();
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["series"][0]["jobs"].as_array().unwrap().len(), 10, "{text}");
    assert!(text.contains("another file or line is of the same job, which counts once"), "{text}");
}

/// Baselines of three jobs each, and verdicts of later jobs: the first ten against one, the others against the other.
fn two_baselines() -> tempfile::TempDir {
    let folder = folder((0..26).map(|day| Made { ttft: if day < 16 { 1.0 } else { 1.4 }, ..job(day) }));
    for (baseline, days) in [("first.json", [0, 1, 2]), ("second.json", [16, 17, 18])] {
        for day in days {
            let report = format!("job-{day:03}.json");
            let output = pacegate(
                folder.path(),
                &["check", &report, "--baseline", baseline, "--bless", "--add", "--reason", "the test"],
            );
            assert!(output.status.success(), "{}", said(&output));
        }
    }
    fs::create_dir(folder.path().join("verdicts")).unwrap();
    for day in (3..13).chain(19..26) {
        let baseline = if day < 13 { "first.json" } else { "second.json" };
        let (report, verdict) = (format!("job-{day:03}.json"), format!("verdicts/{day:03}.json"));
        let arguments =
            ["check", &report, "--baseline", baseline, "--json", &verdict, "--history", "history.jsonl"];
        pacegate(folder.path(), &arguments);
    }
    folder
}

#[test]
fn jobs_against_two_baselines_are_two_series_in_verdicts_and_in_the_history() {
    let folder = two_baselines();
    let (verdicts, of_verdicts) = trend(folder.path(), &["verdicts"]);
    let (history, of_history) = trend(folder.path(), &["history.jsonl"]);
    for (text, json) in [(&verdicts, &of_verdicts), (&history, &of_history)] {
        let series = json["series"].as_array().unwrap();
        assert_eq!(series.len(), 2, "{text}");
        assert_ne!(series[0]["baseline"], series[1]["baseline"]);
        assert!(text.contains("they differ in the blessed baseline"), "{text}");
        assert_eq!(
            series.iter().map(|s| s["jobs"].as_array().unwrap().len()).collect::<Vec<_>>(),
            [7, 10],
            "{text}"
        );
    }
    let levels = |json: &serde_json::Value| -> Vec<serde_json::Value> {
        json["series"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|s| s["jobs"].as_array().unwrap())
            .map(|job| job["everything"].clone())
            .collect()
    };
    assert_eq!(levels(&of_verdicts), levels(&of_history), "both hold the same numbers");
    let (text, json) = trend(folder.path(), &["verdicts", "history.jsonl"]);
    let counted: usize =
        json["series"].as_array().unwrap().iter().map(|s| s["jobs"].as_array().unwrap().len()).sum();
    assert_eq!(counted, 17, "a job in both counts once: {text}");
    // Reports are held against no baseline, so the change shows; their verdicts are not counted again.
    let (text, json) = trend(folder.path(), &["."]);
    assert_eq!(json["series"].as_array().unwrap().len(), 1, "{text}");
    assert_eq!(findings(&json)[0]["since"]["first"]["commit"], crate::made::commit_of(16), "{text}");
}

#[test]
fn the_drift_since_the_pinned_first_bless_is_said() {
    let folder = folder((0..20).map(|day| Made { tpot: if day < 10 { 1.0 } else { 1.2 }, ..job(day) }));
    for (day, mode) in [(0, "--bless"), (12, "--bless")] {
        let report = format!("job-{day:03}.json");
        let output = pacegate(folder.path(), &["check", &report, mode, "--reason", "the test"]);
        assert!(output.status.success(), "{}", said(&output));
    }
    let (text, json) = trend(folder.path(), &["."]);
    let drift = &json["series"][0]["drift"];
    assert_eq!(drift["blesses"], 1, "{text}");
    let tpot = drift["classes"]["tpot"].as_f64().unwrap();
    assert!((tpot - 1.2).abs() < 0.05, "{tpot}");
    assert!(
        text.contains("against the pinned first bless, ") && text.contains(", 1 bless since: ttft "),
        "{text}"
    );
    // The baseline itself lies in the folder, and is no job.
    assert!(text.contains("baselines/chat.json: "), "{text}");
}

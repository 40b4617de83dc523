//! One series: a change that lasts, a blip, too few jobs, and success before latency.

use proptest::prelude::*;

use crate::made::{Made, SENT, commit_of, findings, folder, job, trend};

fn slower(day: u32, ttft: f64, tpot: f64) -> Made {
    Made { ttft, tpot, ..job(day) }
}

fn texts(series: &serde_json::Value) -> Vec<String> {
    findings(series).iter().map(|told| told["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_planted_ten_percent_is_found_at_its_commit() {
    let jobs = folder((0..24).map(|day| slower(day, if day < 18 { 1.0 } else { 1.1 }, 1.0)));
    let (text, json) = trend(jobs.path(), &["."]);
    let series = &json["series"][0];
    assert_eq!(series["state"], "worse", "{text}");
    let found = findings(&json);
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0]["kind"], "shift");
    assert_eq!(found[0]["what"], serde_json::json!([{ "class": "ttft" }]));
    assert_eq!(found[0]["since"]["first"]["commit"], commit_of(18));
    assert_eq!(found[0]["since"]["last_before"]["commit"], commit_of(17));
    assert_eq!((found[0]["since"]["held"].as_u64(), found[0]["since"]["jobs"].as_u64()), (Some(6), Some(6)));
    let ratio = found[0]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.1).abs() < 0.02, "{ratio}");
    assert!(
        text.starts_with("TREND, WORSE: chat, my-model: 24 jobs from 1 Oct 2026 to 24 Oct 2026\n"),
        "{text}"
    );
    assert!(text.contains("slower since commit abc0012 (19 Oct 2026), 6 of 6 jobs since (ttft.p"), "{text}");
    assert!(text.contains("the success rate is unchanged, so look at queueing"), "{text}");
    assert!(text.contains("next: git log --oneline abc0011..abc0012\n"), "{text}");
}

#[test]
fn a_slower_decode_brings_its_followers_along_in_one_sentence() {
    let jobs = folder((0..20).map(|day| slower(day, 1.0, if day < 12 { 1.0 } else { 1.18 })));
    let (text, json) = trend(jobs.path(), &["."]);
    let found = findings(&json);
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0]["what"], serde_json::json!([{ "class": "tpot" }]), "{text}");
    assert_eq!(found[0]["along"], serde_json::json!(["e2e", "throughput"]), "{text}");
    assert!(text.contains("; e2e and throughput moved with it; look at decode"), "{text}");
}

#[test]
fn a_change_of_everything_is_one_sentence() {
    let jobs = folder(
        (0..20).map(|day| slower(day, if day < 12 { 1.0 } else { 1.2 }, if day < 12 { 1.0 } else { 1.2 })),
    );
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(findings(&json).len(), 1, "{text}");
    assert!(text.contains("everything is ") && text.contains(" slower since commit abc000c"), "{text}");
}

#[test]
fn the_same_commit_on_both_sides_is_not_blamed() {
    let one =
        |day: u32| Made { commit: Some(commit_of(1)), ..slower(day, if day < 8 { 1.0 } else { 1.3 }, 1.0) };
    let jobs = folder((0..16).map(one));
    let (text, _) = trend(jobs.path(), &["."]);
    assert!(
        text.contains("the commit did not change, so look at the machine, the endpoint and its load"),
        "{text}"
    );
    assert!(!text.contains("git log"), "{text}");
}

#[test]
fn one_job_is_a_blip() {
    let jobs = folder((0..20).map(|day| slower(day, if day == 11 { 1.6 } else { 1.0 }, 1.0)));
    let (text, json) = trend(jobs.path(), &["."]);
    let found = findings(&json);
    assert_eq!((found.len(), json["series"][0]["state"].as_str()), (1, Some("blip")), "{text}");
    assert_eq!(found[0]["apart"]["first"]["commit"], commit_of(11));
    assert!(
        text.contains("in one job, commit abc000b (12 Oct 2026) (blip): as usual again after it"),
        "{text}"
    );
}

#[test]
fn the_newest_jobs_are_not_called_either_and_how_many_more_would_tell_is_said() {
    let jobs = folder((0..20).map(|day| slower(day, if day >= 18 { 1.5 } else { 1.0 }, 1.0)));
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["series"][0]["state"], "too_early", "{text}");
    assert!(text.contains("in the newest 2 jobs, from commit abc0012 (19 Oct 2026): a blip or a trend, 2 more jobs of it would tell"), "{text}");
    let jobs = folder((0..22).map(|day| slower(day, if day >= 18 { 1.5 } else { 1.0 }, 1.0)));
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(json["series"][0]["state"], "worse", "two more did not tell: {text}");
}

#[test]
fn nothing_is_steady_and_says_what_it_could_have_seen() {
    let jobs = folder((0..30).map(job));
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!((findings(&json).len(), json["series"][0]["state"].as_str()), (0, Some("steady")), "{text}");
    assert!(text.contains("no change that lasts; a lasting change of everything by +"), "{text}");
}

#[test]
fn too_few_jobs_say_how_many_more() {
    let jobs = folder((0..5).map(|day| slower(day, if day == 4 { 2.0 } else { 1.0 }, 1.0)));
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(
        (json["series"][0]["state"].as_str(), json["series"][0]["jobs_missing"].as_u64()),
        (Some("too_few"), Some(3))
    );
    assert!(
        text.contains("3 more jobs are needed before a lasting change can be told from a blip"),
        "{text}"
    );
}

#[test]
fn a_mended_change_is_two_findings_the_newest_first() {
    let jobs = folder((0..30).map(|day| slower(day, if (10..20).contains(&day) { 1.3 } else { 1.0 }, 1.0)));
    let (text, json) = trend(jobs.path(), &["."]);
    let found = findings(&json);
    assert_eq!((found.len(), json["series"][0]["state"].as_str()), (2, Some("better")), "{text}");
    let commits: Vec<&str> =
        found.iter().map(|told| told["since"]["first"]["commit"].as_str().unwrap()).collect();
    assert_eq!(commits, [commit_of(20), commit_of(10)]);
    assert!(texts(&json)[1].contains("10 of 10 jobs until the next change"), "{text}");
}

#[test]
fn the_success_rate_is_read_before_any_time() {
    // Refused requests make the rest faster: that is no improvement.
    let failing = |day: u32| match day < 12 {
        true => job(day),
        false => Made { failed: vec![("cut", 2), ("http_429", 28)], ..slower(day, 0.7, 1.0) },
    };
    let jobs = folder((0..20).map(failing));
    let (text, json) = trend(jobs.path(), &["."]);
    let found = findings(&json);
    assert_eq!(json["series"][0]["state"], "worse", "{text}");
    assert_eq!(
        (found[0]["kind"].as_str(), found[1]["kind"].as_str()),
        (Some("success_shift"), Some("shift")),
        "{text}"
    );
    assert_eq!(found[0]["since"]["first"]["commit"], commit_of(12));
    assert!(text.contains("success rate fell 100.00 % \u{2192} 90.00 % since commit abc000c (13 Oct 2026), 8 of 8 jobs since: 429 (too many requests) 0 \u{2192} 56 a job"), "{text}");
    assert!(
        text.contains("ttft looks ")
            && text.contains("failing fast is not fast: read the success rate first"),
        "{text}"
    );
}

#[test]
fn refusals_that_came_and_went_are_a_level_with_two_ends() {
    let refused = |day: u32| match day {
        8..=15 => Made { failed: vec![("http_429", 9 + u64::from(day % 3))], ..job(day) },
        _ => job(day),
    };
    let (text, json) = trend(folder((0..24).map(refused)).path(), &["."]);
    let firsts: Vec<serde_json::Value> =
        findings(&json).iter().map(|told| told["since"]["first"]["commit"].clone()).collect();
    assert_eq!(firsts, [commit_of(16), commit_of(8)], "{text}");
    assert!(text.contains("success rate rose ") && text.contains("success rate fell "), "{text}");
}

#[test]
fn a_collapse_in_the_newest_job_is_seen_at_once() {
    let collapse = |day: u32| match day {
        19 => Made { failed: vec![("http_429", SENT)], ..job(day) },
        _ => job(day),
    };
    let (text, json) = trend(folder((0..20).map(collapse)).path(), &["."]);
    assert_eq!(json["series"][0]["state"], "too_early", "{text}");
    assert!(
        text.contains("success rate 0.00 % where 100.00 % is usual (600 \u{d7} 429 (too many requests)), in the newest job, commit abc0013 (20 Oct 2026): a blip or a trend, 3 more jobs of it would tell"),
        "{text}"
    );
    assert!(text.contains("1 job without any time: only the success rate is read there"), "{text}");
    assert!(text.contains("0/600"), "{text}");
}

#[test]
fn success_rates_alone_make_a_series() {
    let all_failed = |day: u32| Made { failed: vec![("http_5xx", SENT)], ..job(day) };
    let (text, json) = trend(folder((0..9).map(all_failed)).path(), &["."]);
    assert_eq!(json["series"][0]["jobs"].as_array().unwrap().len(), 9, "{text}");
    assert!(text.contains("no job has a gated time or rate: only the success rate is read"), "{text}");
}

#[test]
fn only_the_last_forty_jobs_are_looked_at_and_the_rest_is_said() {
    let jobs = folder((0..50).map(job));
    let (text, json) = trend(jobs.path(), &["."]);
    assert_eq!(
        (json["series"][0]["jobs"].as_array().unwrap().len(), json["series"][0]["older"].as_u64()),
        (40, Some(10))
    );
    assert!(text.contains("the last 40 of 50; 10 older ones are not looked at"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// A change of 15 % in quiet jobs is found within one job of where it was planted, wherever that is, in whatever order the files are named.
    #[test]
    fn a_large_change_is_found_wherever_it_is(at in 5_u32..20, factor in prop::sample::select(vec![1.15, 0.85, 1.4])) {
        let change = |day: u32| if day < at { 1.0 } else { factor };
        let made: Vec<Made> = (0..25).map(|day| Made { noise: 0.01, ..slower(day, change(day), change(day)) }).collect();
        let folder = folder(made);
        let mut names: Vec<String> = (0..25).map(|day| format!("job-{day:03}.json")).collect();
        let straight = trend(folder.path(), &names.iter().map(String::as_str).collect::<Vec<_>>());
        names.sort_by_key(|name| name.bytes().rev().map(u64::from).fold(7, |a, b| (a * 31 + b) % 1009));
        let shuffled = trend(folder.path(), &names.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(&straight.0, &shuffled.0);
        let found = findings(&straight.1);
        prop_assert_eq!(found.len(), 1, "{}", straight.0);
        let first = &found[0]["since"]["first"]["commit"];
        prop_assert_eq!(first, &commit_of(at), "{}", straight.0);
        let worse = found[0]["ratio"].as_f64().unwrap() > 1.0;
        prop_assert_eq!(worse, factor > 1.0);
    }
}

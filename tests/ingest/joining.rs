//! Several files in one command: rounds, groups, strategies, jobs.

use std::path::PathBuf;

use pacegate::model::Report;
use pacegate::source::ingest::{IngestError, Input, Options, read};

use super::{data, groups, report, try_read, written};

const ONE: &str = "vllm/0.33.0/clean-chat-c8-detailed.json";
const OTHER: &str = "vllm/0.33.0/faults-chat-c8-detailed.json";
const C32: &str = "vllm/0.33.0/clean-completions-c32-defaults.json";

fn named(inputs: &[(&str, PathBuf)], separate_jobs: bool) -> Result<Report, IngestError> {
    let inputs: Vec<Input> = inputs
        .iter()
        .map(|(name, path)| Input {
            strategy: (!name.is_empty()).then(|| (*name).to_owned()),
            path: path.clone(),
        })
        .collect();
    read(&inputs, &Options { separate_jobs, ..Options::default() })
}

fn shape(report: &Report) -> Vec<Vec<Vec<&str>>> {
    let rounds =
        |job: &'_ pacegate::model::Job| job.rounds.iter().map(|round| round.groups.len()).collect::<Vec<_>>();
    report
        .jobs
        .iter()
        .map(|job| {
            assert_eq!(rounds(job).len(), job.rounds.len());
            job.rounds.iter().map(|round| round.groups.iter().map(|g| g.id.as_str()).collect()).collect()
        })
        .collect()
}

#[test]
fn the_same_group_again_is_a_round_and_another_group_is_not() {
    let joined = try_read(&[data(ONE), data(C32), data(OTHER)]).unwrap();
    assert_eq!(shape(&joined), [[vec!["c8", "c32"], vec!["c8"]]]);
    assert_eq!(joined.source.files.len(), 3);
    assert_eq!(joined.source.digests.len(), 3);
}

#[test]
fn files_are_jobs_where_the_command_says_so() {
    let joined = named(&[("", data(ONE)), ("", data(OTHER))], true).unwrap();
    assert_eq!(shape(&joined), [[vec!["c8"]], [vec!["c8"]]]);
    assert_ne!(joined.jobs[0].id, joined.jobs[1].id);
}

#[test]
fn names_make_strategies_and_baseline_is_the_reference() {
    let joined = named(&[("int8", data(ONE)), ("baseline", data(OTHER))], false).unwrap();
    assert_eq!(shape(&joined), [[vec!["int8/c8", "baseline/c8"]]]);
    assert_eq!(joined.profile.reference.as_deref(), Some("baseline"));
    let joined = named(&[("int8", data(ONE)), ("fp8", data(OTHER))], false).unwrap();
    assert_eq!(joined.profile.reference, None);
}

#[test]
fn with_names_and_separate_jobs_both_legs_of_a_speedup_stay_in_one_job() {
    let (_keep, again) = written(
        "again.json",
        std::fs::read_to_string(data(ONE)).unwrap().replace("20261130-0957", "20261130-0958"),
    );
    let inputs = [("baseline", data(ONE)), ("int8", data(OTHER)), ("baseline", again)];
    let joined = named(&inputs, true).unwrap();
    assert_eq!(shape(&joined), [vec![vec!["baseline/c8", "int8/c8"]], vec![vec!["baseline/c8"]]]);
}

#[test]
fn the_same_content_twice_is_refused_with_both_paths() {
    let (_keep, copy) = written("copy.json", std::fs::read(data(ONE)).unwrap());
    let error = try_read(&[data(ONE), copy.clone()]).unwrap_err().to_string();
    assert!(
        error.starts_with(&data(ONE).display().to_string()) && error.contains(&copy.display().to_string()),
        "{error}"
    );
    assert!(error.contains("have the same content"), "{error}");
}

#[test]
fn two_tools_in_one_command_are_refused_by_name() {
    let error = try_read(&[data(ONE), data("original/benchmark-chat-c8.json")]).unwrap_err().to_string();
    assert!(error.contains("is vllm-bench-serve and ") && error.contains("is benchmark-py"), "{error}");
}

#[test]
fn a_name_for_a_file_that_names_its_strategies_is_refused() {
    let theirs = data("original/benchmark-chat-c8.json");
    let (_keep, ours) = written(
        "own.json",
        serde_json::to_string(&try_read(std::slice::from_ref(&theirs)).unwrap()).unwrap(),
    );
    for file in [theirs, ours] {
        let error = named(&[("int8", file.clone())], false).unwrap_err().to_string();
        assert!(error.contains("baseline, int8_quant, speculative_decode"), "{error}");
        assert!(error.ends_with("leave \"int8=\" away"), "{error}");
        let error = named(&[("///", file)], false).unwrap_err().to_string();
        assert!(error.starts_with("\"///\" can't name a strategy"), "{error}");
    }
}

#[test]
fn rounds_of_different_workloads_are_refused_with_both_values() {
    let text = std::fs::read_to_string(data(ONE)).unwrap().replace("mock-model", "other-model");
    let (_keep, other) = written("other.json", text);
    let error = try_read(&[data(ONE), other]).unwrap_err().to_string();
    assert!(
        error.contains("the model of group c8 is mock-model in one and other-model in the other"),
        "{error}"
    );
    assert!(error.contains("NAME=REPORT"), "{error}");
}

#[test]
fn a_report_of_our_own_passes_through_as_it_is() {
    let original = report(ONE);
    let (_keep, path) = written("own.json", serde_json::to_string_pretty(&original).unwrap());
    assert_eq!(try_read(&[path]).unwrap(), original);
}

#[test]
fn reports_of_our_own_are_joined_as_rounds_or_as_jobs() {
    let (_a, one) = written("one.json", serde_json::to_string(&report(ONE)).unwrap());
    let (_b, other) = written("other.json", serde_json::to_string(&report(OTHER)).unwrap());
    let rounds = try_read(&[one.clone(), other.clone()]).unwrap();
    assert_eq!(shape(&rounds), [[vec!["c8"], vec!["c8"]]]);
    let jobs = named(&[("", one.clone()), ("", other.clone())], true).unwrap();
    assert_eq!(shape(&jobs), [[vec!["c8"]], [vec!["c8"]]]);
    let strategies = named(&[("baseline", one), ("int8", other)], false).unwrap();
    assert_eq!(shape(&strategies), [[vec!["baseline/c8", "int8/c8"]]]);
    assert_eq!(
        strategies.profile.workloads.keys().map(|id| id.as_str()).collect::<Vec<_>>(),
        ["baseline/c8", "int8/c8"]
    );
}

#[test]
fn an_input_is_a_path_or_a_name_and_a_path() {
    let parse = |text: &str| {
        let input = Input::parse(text);
        (input.strategy.unwrap_or_default(), input.path.display().to_string())
    };
    assert_eq!(parse("run.json"), (String::new(), "run.json".to_owned()));
    assert_eq!(parse("int8=run.json"), ("int8".to_owned(), "run.json".to_owned()));
    assert_eq!(parse("./a=b.json"), (String::new(), "./a=b.json".to_owned()));
    assert_eq!(parse("int8=a=b.json"), ("int8".to_owned(), "a=b.json".to_owned()));
    assert_eq!(parse("-"), (String::new(), "-".to_owned()));
    let (_keep, odd) = written("x=y.json", "{}");
    assert_eq!(parse(&odd.display().to_string()), (String::new(), odd.display().to_string()));
}

#[test]
fn no_group_is_lost_or_doubled_by_joining() {
    let joined = try_read(&[data(ONE), data(OTHER), data(C32)]).unwrap();
    assert_eq!(groups(&joined).len(), 3);
}

#[test]
fn a_report_of_our_own_with_thousands_of_groups_is_read() {
    let mut report = report("vllm/0.33.0/clean-chat-c8-detailed.json");
    let group = report.jobs[0].rounds[0].groups.remove(0);
    let facts = report.profile.workloads.remove(&group.id).unwrap();
    for concurrency in 1..=2100 {
        let mut group = group.clone();
        group.dimensions.concurrency = Some(concurrency);
        group.id = group.dimensions.id();
        group.metrics.clear();
        report.profile.workloads.insert(group.id.clone(), facts.clone());
        report.profile.fingerprints.insert(group.id.clone(), "0".to_owned());
        report.jobs[0].rounds[0].groups.push(group);
    }
    let again = super::read_text("own.json", serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(groups(&again).len(), 2100);
}

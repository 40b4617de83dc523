//! Folders and side files: any of a run's files, or their folder, leads to the best one.

use std::fs;
use std::path::{Path, PathBuf};

use pacegate::model::{Metric, Report, Statistic};
use pacegate::source::ingest::{Format, IngestError, Input, Options};

use super::{data, groups, stat, try_read};

/// A folder with copies of test data under a tool's own names.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in files {
        let to = folder.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(data(from), to).unwrap();
    }
    folder
}

fn read(path: &Path) -> Report {
    try_read(&[path.to_owned()]).unwrap()
}

fn ids(report: &Report) -> Vec<&str> {
    groups(report).into_iter().map(|group| group.id.as_str()).collect()
}

fn samples(report: &Report, metric: &Metric) -> Option<usize> {
    groups(report)[0].metrics[metric].samples.as_ref().map(|samples| samples.len())
}

#[test]
fn aiperf_any_file_leads_to_the_summary_with_the_samples_of_the_records() {
    let folder = folder(&[
        ("aiperf/0.13.0/faults-c8-records.json", "profile_export_aiperf.json"),
        ("aiperf/0.13.0/faults-c8-records.records.jsonl", "profile_export.jsonl"),
        ("aiperf/0.13.0/faults-c8-records.csv", "profile_export_aiperf.csv"),
        ("aiperf/0.13.0/faults-c8-records.server_metrics.json", "server_metrics_export.json"),
    ]);
    let names = [
        "",
        "profile_export_aiperf.json",
        "profile_export.jsonl",
        "profile_export_aiperf.csv",
        "server_metrics_export.json",
    ];
    for name in names {
        let report = read(&folder.path().join(name));
        assert_eq!(ids(&report), ["c8"], "{name}");
        assert_eq!(samples(&report, &Metric::TTFT), Some(46), "{name}");
        assert_eq!(stat(groups(&report)[0], &Metric::TTFT, Statistic::P50), Some(186.693_559_5), "{name}");
    }
    let twice = try_read(&[folder.path().join(names[1]), folder.path().join(names[2])]);
    assert!(twice.unwrap_err().to_string().contains("same content"), "summary and records are one run");
}

#[test]
fn aiperf_levels_of_a_sweep_are_groups_of_one_round() {
    let folder = folder(&[
        ("aiperf/0.13.0/clean-c8-records.json", "concurrency_8/profile_export_aiperf.json"),
        ("aiperf/0.13.0/raw-c1.json", "concurrency_1/profile_export_aiperf.json"),
    ]);
    let report = read(folder.path());
    assert_eq!(ids(&report), ["c1", "c8"]);
    assert_eq!((report.jobs.len(), report.jobs[0].rounds.len()), (1, 1));
}

#[test]
fn aiperf_level_that_failed_wholly_has_no_summary_and_is_not_missed() {
    let folder = folder(&[
        ("aiperf/0.13.0/raw-c1.json", "concurrency_1/profile_export_aiperf.json"),
        ("aiperf/0.13.0/raw-c1.records.jsonl", "concurrency_1/profile_export.jsonl"),
        ("aiperf/0.13.0/allfail-500-c8.records.jsonl", "concurrency_8/profile_export.jsonl"),
    ]);
    let report = read(folder.path());
    let counts: Vec<_> = groups(&report).into_iter().map(|group| group.requests.counts()).collect();
    assert_eq!(counts, [Some((6, 6)), Some((0, 40))]);
}

#[test]
fn aiperf_records_alone_give_what_the_summary_would() {
    let folder = folder(&[("aiperf/0.13.0/clean-c8-records.records.jsonl", "profile_export.jsonl")]);
    let report = read(folder.path().join("profile_export.jsonl").as_path());
    let group = groups(&report)[0];
    assert_eq!(group.requests.counts(), Some((48, 48)));
    assert!((stat(group, &Metric::TTFT, Statistic::P95).unwrap() - 308.314).abs() < 0.001);
    // Over the time from the first start to the last response; the tool's own phase is 0.3 % longer.
    assert!(
        (super::value(group, &Metric::OUTPUT_THROUGHPUT).unwrap() - 1536.0 / 3.049_819_648).abs() < 0.001
    );
    assert!(report.source.warnings.iter().any(|w| w.contains("the load is not known")));
}

#[test]
fn inference_perf_summary_requests_and_folder_lead_to_the_stages() {
    let case = "inference-perf/0.7.0/faults-conc8-perrequest";
    let from = |part: &str| format!("{case}.{part}");
    let parts = [
        (from("summary.json"), "summary_lifecycle_metrics.json"),
        (from("stage_0_lifecycle_metrics.json"), "stage_0_lifecycle_metrics.json"),
        (from("per_request.json"), "per_request_lifecycle_metrics.json"),
        (from("config.yaml"), "config.yaml"),
    ];
    let parts: Vec<(&str, &str)> = parts.iter().map(|(from, to)| (from.as_str(), *to)).collect();
    let folder = folder(&parts);
    for name in [
        "",
        "summary_lifecycle_metrics.json",
        "stage_0_lifecycle_metrics.json",
        "per_request_lifecycle_metrics.json",
    ] {
        let report = read(&folder.path().join(name));
        assert_eq!(ids(&report), ["c8"], "{name}");
        assert_eq!(samples(&report, &Metric::TTFT), Some(18), "{name}");
        assert_eq!(samples(&report, &Metric::TPOT), Some(18), "{name}");
        assert_eq!(samples(&report, &Metric::E2E), Some(18), "{name}");
        assert_eq!(report.subject.model.as_deref(), Some("mock-model"), "{name}");
    }
}

#[test]
fn inference_perf_stages_are_groups_and_its_summary_alone_says_what_it_mixes() {
    let stage = "inference-perf/0.7.0/clean-conc8.stage_0_lifecycle_metrics.json";
    let folder =
        folder(&[(stage, "stage_0_lifecycle_metrics.json"), (stage, "stage_1_lifecycle_metrics.json")]);
    let text = fs::read_to_string(data(stage)).unwrap().replace("\"concurrency\": 8", "\"concurrency\": 16");
    fs::write(folder.path().join("stage_1_lifecycle_metrics.json"), text).unwrap();
    assert_eq!(ids(&read(folder.path())), ["c8", "c16"]);
    let report = read(&data("inference-perf/0.7.0/clean-conc8.summary.json"));
    assert_eq!(ids(&report), ["all"]);
    assert!(report.source.warnings.iter().any(|w| w.contains("mixes all stages")));
}

#[test]
fn inference_perf_stages_are_all_found_whatever_numbers_are_missing_and_in_the_order_in_which_they_ran() {
    let case = "inference-perf/0.7.0/clean-conc8";
    for before in ["", "tuesday."] {
        let folder =
            folder(&[(&format!("{case}.summary.json"), &format!("{before}summary_lifecycle_metrics.json"))]);
        let text = fs::read_to_string(data(&format!("{case}.stage_0_lifecycle_metrics.json"))).unwrap();
        for (stage, concurrency) in [(2, 4), (10, 16), (3, 8)] {
            let text = text.replace("\"concurrency\": 8", &format!("\"concurrency\": {concurrency}"));
            fs::write(folder.path().join(format!("{before}stage_{stage}_lifecycle_metrics.json")), text)
                .unwrap();
        }
        fs::write(folder.path().join("stage_two_lifecycle_metrics.json"), "{}").unwrap();
        let of_summary = read(&folder.path().join(format!("{before}summary_lifecycle_metrics.json")));
        assert_eq!(ids(&of_summary), ["c4", "c8", "c16"], "{before}");
        if before.is_empty() {
            assert_eq!(ids(&read(folder.path())), ["c4", "c8", "c16"]);
        }
    }
}

#[test]
fn inference_perf_requests_alone_are_read() {
    let folder = folder(&[(
        "inference-perf/0.7.0/faults-conc8-perrequest.per_request.json",
        "per_request_lifecycle_metrics.json",
    )]);
    let report = read(&folder.path().join("per_request_lifecycle_metrics.json"));
    let group = groups(&report)[0];
    assert_eq!(group.requests.counts(), Some((18, 20)));
    assert!((stat(group, &Metric::TTFT, Statistic::P99).unwrap() - 136.35).abs() < 0.001);
}

#[test]
fn llmeter_files_and_folder_lead_to_the_responses() {
    let case = "llmeter/0.2.0/faults-c8";
    let folder = folder(&[
        (&format!("{case}.responses.jsonl"), "responses.jsonl"),
        (&format!("{case}.stats.json"), "stats.json"),
        (&format!("{case}.summary.json"), "summary.json"),
        (&format!("{case}.run_config.json"), "run_config.json"),
    ]);
    for name in ["", "responses.jsonl", "stats.json", "summary.json", "run_config.json"] {
        let report = read(&folder.path().join(name));
        assert_eq!(ids(&report), ["c8"], "{name}");
        assert_eq!(samples(&report, &Metric::TTFT), Some(52), "{name}");
    }
}

#[test]
fn llmeter_stats_alone_have_the_tools_own_percentiles_and_say_what_is_in_them() {
    let folder = folder(&[("llmeter/0.2.0/faults-c8.stats.json", "stats.json")]);
    let report = read(&folder.path().join("stats.json"));
    let group = groups(&report)[0];
    let ttft = &group.metrics[&Metric::TTFT];
    assert!((ttft.stats[&Statistic::P99].get() - 499.889).abs() < 0.001);
    assert_eq!(ttft.percentile_definition, Some(pacegate::model::PercentileDefinition::Exclusive));
    assert!(report.source.warnings.iter().any(|w| w.contains("streams that were cut midway")));
}

#[test]
fn evalscope_levels_are_groups_and_any_file_leads_to_the_summary() {
    let level = |case: &str, parallel: u32, number: u32| {
        ["benchmark_summary.json", "benchmark_percentile.json", "benchmark_args.json"].map(|part| {
            let from = format!("evalscope/1.14.1/{case}.parallel_{parallel}_number_{number}.{part}");
            (from, format!("mock-model/parallel_{parallel}_number_{number}/{part}"))
        })
    };
    let files: Vec<(String, String)> =
        level("clean-c8", 8, 48).into_iter().chain(level("faults-c8", 8, 60)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let folder = folder(&files);
    let report = read(folder.path());
    assert_eq!(ids(&report), ["c8", "c8"]);
    assert_eq!(report.jobs[0].rounds.len(), 2, "the same level twice is two rounds");
    let report = read(&folder.path().join("mock-model/parallel_8_number_48/benchmark_percentile.json"));
    assert_eq!(groups(&report)[0].requests.counts(), Some((48, 48)));
}

#[test]
fn a_folder_of_vllm_results_is_read_and_the_pytorch_files_in_it_are_left_alone() {
    let folder = folder(&[
        ("vllm/0.33.0/clean-chat-c8-detailed.json", "vllm-infqps-concurrency8-m-20261130.json"),
        ("vllm/0.33.0/clean-completions-c32-defaults.json", "vllm-infqps-concurrency32-m-20261130.json"),
    ]);
    fs::write(folder.path().join("vllm-infqps-concurrency8-m-20261130.pytorch.json"), "[]").unwrap();
    fs::write(folder.path().join("notes.txt"), "nothing").unwrap();
    let report = read(folder.path());
    assert_eq!(ids(&report), ["c32", "c8"]);
    let beside: PathBuf = folder.path().join("vllm-infqps-concurrency8-m-20261130.pytorch.json");
    assert_eq!(ids(&read(&beside)), ["c8"], "it leads to the report beside it");
}

#[test]
fn a_damaged_file_in_a_folder_of_reports_is_refused_and_never_left_out() {
    let vllm = fs::read_to_string(data("vllm/0.33.0/clean-chat-c8-detailed.json")).unwrap();
    let deep = format!("{{\"completed\": {}1{}}}", "[".repeat(70), "]".repeat(70));
    let oha = fs::read_to_string(data("oha/1.16.0/clean-c8.json")).unwrap();
    let both = format!("{}, {}", &vllm[..vllm.rfind('}').unwrap()], &oha[1..]);
    for (text, words) in [
        (&vllm[..60], "the file breaks off here"),
        (&vllm[..vllm.len() / 2], "the file breaks off here"),
        (&deep, "nests deeper than 64 levels"),
        (&both, "could be vllm-bench-serve or oha"),
    ] {
        let folder = folder(&[("vllm/0.33.0/clean-completions-c32-defaults.json", "a.json")]);
        fs::write(folder.path().join("b.json"), text).unwrap();
        let error = try_read(&[folder.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("b.json") && error.contains(words), "{error}");
        let forced = Options { format: Some(Format::VllmBenchServe), ..Options::default() };
        let input = Input { strategy: None, path: folder.path().to_owned() };
        let forced = pacegate::source::ingest::read(&[input], &forced);
        assert_eq!(
            forced.is_ok(),
            words.contains("could be"),
            "--format decides what is ambiguous, and no more"
        );
    }
}

#[test]
fn a_file_of_a_folder_that_is_no_report_is_named() {
    let folder = folder(&[("vllm/0.33.0/clean-chat-c8-detailed.json", "a.json")]);
    fs::write(folder.path().join("settings.json"), "{\"replicas\": 2}").unwrap();
    let report = read(folder.path());
    assert_eq!(ids(&report), ["c8"]);
    let line = "no report of a known tool, so left out: settings.json";
    assert!(report.source.warnings.iter().any(|w| w == line), "{:?}", report.source.warnings);
}

#[test]
fn a_folder_of_two_tools_is_refused_by_name() {
    let folder = folder(&[
        ("vllm/0.33.0/clean-chat-c8-detailed.json", "a.json"),
        ("oha/1.16.0/clean-c8.json", "b.json"),
    ]);
    let error = try_read(&[folder.path().to_owned()]).unwrap_err().to_string();
    assert!(error.contains("vllm-bench-serve") && error.contains("oha"), "{error}");
}

#[test]
fn a_side_file_without_its_report_is_named_with_the_file_to_give() {
    for (file, name, words) in [
        ("aiperf/0.13.0/raw-c1.raw.jsonl", "profile_export_raw.jsonl", "what was sent and answered"),
        ("aiperf/0.13.0/raw-c1.csv", "profile_export_aiperf.csv", "give profile_export_aiperf.json"),
        (
            "aiperf/0.13.0/clean-c8-records.server_metrics.json",
            "server_metrics_export.json",
            "the server's own metrics",
        ),
        (
            "aiperf/0.4.0/clean-c8-records.server_metrics.json",
            "server_metrics_export.json",
            "the server's own metrics",
        ),
        ("genai-perf/0.0.16/clean-c8.csv", "a.csv", "profile_export_genai_perf.json"),
        ("llmeter/0.2.0/clean-c8.summary.json", "summary.json", "give responses.jsonl or stats.json"),
        ("llmeter/0.2.0/clean-c8.run_config.json", "run_config.json", "give responses.jsonl or stats.json"),
        (
            "evalscope/1.14.1/clean-c8.parallel_8_number_48.benchmark_args.json",
            "benchmark_args.json",
            "give benchmark_summary.json",
        ),
        (
            "inference-perf/0.7.0/clean-conc8.config.yaml",
            "config.yaml",
            "give stage_N_lifecycle_metrics.json",
        ),
        ("k6/1.1.0/clean-c8.points.ndjson", "points.ndjson", "give the file of --summary-export"),
        ("locust/2.47.0/clean-c8.failures.csv", "stats_failures.csv", "is locust's CSV of failures"),
        ("servebench/1.1.3/clean-c1-8-32.levels.csv", "x.levels.csv", "is servebench's CSV of levels"),
        (
            "servebench/1.1.3/clean-c1-8-32.requests.csv",
            "x.requests.csv",
            "is servebench's CSV of single requests",
        ),
    ] {
        let folder = folder(&[(file, name)]);
        let error = try_read(&[folder.path().join(name)]).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("; give "), "{file}: {error}");
    }
    let sqlite = super::read_text("benchmark_data.db", b"SQLite format 3\0\x10\0\x01\x01\0@  ").unwrap_err();
    assert!(sqlite.contains("is not read; give benchmark_summary.json"), "{sqlite}");
}

#[test]
fn every_file_of_the_test_data_is_read_or_known_for_what_it_is() {
    fn all(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { all(&path, files) } else { files.push(path) }
        }
    }
    let mut files = Vec::new();
    all(&data(""), &mut files);
    let own = [data("README.md"), data("expected.json")];
    files.retain(|file| !own.contains(file));
    assert!(files.len() > 120, "{}", files.len());
    for file in files {
        let read = pacegate::source::ingest::read_bytes("f", fs::read(&file).unwrap(), &Options::default());
        match read {
            Ok(report) => assert!(!groups(&report).is_empty(), "{}", file.display()),
            Err(IngestError::Companion { .. }) => {}
            Err(error) => panic!("{}: {error}", file.display()),
        }
    }
}

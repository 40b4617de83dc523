//! Where a tool writes several files for one run: any of them, or their folder, leads to the best one.

use std::fs;
use std::path::{Path, PathBuf};

use super::content::beside;
use super::error::IngestError;

/// Folders are searched this deep: a sweep has one folder a level.
const MOST_DEPTH: usize = 4;
/// More files than this are no folder of reports.
const MOST_FILES: usize = 10_000;

/// Ends of names and the end of the best file's name beside it. The best one itself comes first of its tool.
const SIBLINGS: &[(&str, &str)] = &[
    // AIPerf: the summary, which takes its samples from the records.
    ("profile_export_aiperf.csv", "profile_export_aiperf.json"),
    ("profile_export_aiperf_timeslices.json", "profile_export_aiperf.json"),
    ("profile_export_aiperf_timeslices.csv", "profile_export_aiperf.json"),
    ("server_metrics_export.json", "profile_export_aiperf.json"),
    ("server_metrics_export.csv", "profile_export_aiperf.json"),
    ("profile_export_raw.jsonl", "profile_export_aiperf.json"),
    ("profile_export.jsonl", "profile_export_aiperf.json"),
    (".records.jsonl", ".json"),
    (".raw.jsonl", ".json"),
    (".server_metrics.json", ".json"),
    // genai-perf: its own summary, not perf_analyzer's.
    ("profile_export_genai_perf.csv", "profile_export_genai_perf.json"),
    ("profile_export.json", "profile_export_genai_perf.json"),
    // LLMeter: the responses, which have every request.
    ("stats.json", "responses.jsonl"),
    ("summary.json", "responses.jsonl"),
    ("run_config.json", "responses.jsonl"),
    // evalscope: the summary, which takes in percentiles and arguments.
    ("benchmark_percentile.json", "benchmark_summary.json"),
    ("benchmark_args.json", "benchmark_summary.json"),
    // guidellm under its own names: JSON has the samples.
    ("benchmarks.csv", "benchmarks.json"),
    ("benchmarks.yaml", "benchmarks.json"),
    // servebench and locust.
    (".levels.csv", ".json"),
    (".requests.csv", ".json"),
    // The PyTorch file beside vLLM's report.
    (".pytorch.json", ".json"),
];

/// inference-perf: ends of names of the files that lead to the stages beside them; the summary mixes all stages.
const OF_STAGES: &[&str] =
    &["summary_lifecycle_metrics.json", "per_request_lifecycle_metrics.json", "config.yaml"];

/// Names of the best files, looked for in a folder and below it.
const BEST: &[&str] = &[
    "profile_export_aiperf.json",
    "profile_export_genai_perf.json",
    "responses.jsonl",
    "benchmark_summary.json",
    "benchmarks.json",
];

/// AIPerf writes no summary where every request failed; that level is read from its records, or it would be missed.
const RECORDS: (&str, &str) = ("profile_export.jsonl", "profile_export_aiperf.json");

/// Names of files that never are a report, in a folder of reports of freely chosen names.
const NEVER: &[&str] =
    &[".pytorch.json", "inputs.json", "config.json", "validation.json", "run_config.json", "payload.jsonl"];

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// These files, each a part of one run or a level of one sweep.
    Reports(Vec<PathBuf>),
    /// A folder without known names: these files may be reports.
    Candidates(Vec<PathBuf>),
}

/// The files to read for a path.
///
/// # Errors
/// A folder that can't be listed, or that holds nothing that could be a report.
pub fn find(path: &Path) -> Result<Found, IngestError> {
    if !path.is_dir() {
        return Ok(Found::Reports(best(path)?));
    }
    let mut files = Vec::new();
    list(path, 0, &mut files)?;
    files.sort();
    let stages = stages(&files, "");
    if !stages.is_empty() {
        return Ok(Found::Reports(stages));
    }
    let alone = |file: &Path| name(file) == RECORDS.0 && !file.with_file_name(RECORDS.1).is_file();
    let is_known = |file: &&PathBuf| BEST.contains(&name(file)) || alone(file);
    let known: Vec<PathBuf> = files.iter().filter(is_known).cloned().collect();
    if !known.is_empty() {
        return Ok(Found::Reports(known));
    }
    let report = |file: &&PathBuf| {
        let name = name(file);
        let ends = [".json", ".jsonl", ".json.gz", ".jsonl.gz", ".yaml", ".csv", ".txt"];
        ends.iter().any(|end| name.ends_with(end)) && !NEVER.iter().any(|never| name.ends_with(never))
    };
    let candidates: Vec<PathBuf> =
        files.iter().filter(|file| file.parent() == Some(path)).filter(report).cloned().collect();
    if candidates.is_empty() {
        return Err(IngestError::Folder { path: path.to_owned(), looked_for: looked_for() });
    }
    Ok(Found::Candidates(candidates))
}

/// What would have been taken from a folder.
#[must_use]
pub fn looked_for() -> String {
    format!(
        "looked for {}, stage_N_lifecycle_metrics.json, and any .json, .jsonl, .yaml, .csv or .txt report",
        BEST.join(", ")
    )
}

/// The best file beside this one; itself if there is none better. A summary of stages leads to all of them.
fn best(path: &Path) -> Result<Vec<PathBuf>, IngestError> {
    if let Some(before) = OF_STAGES.iter().find_map(|end| name(path).strip_suffix(end)) {
        let stages = stages(&files_beside(path)?, before);
        return Ok(if stages.is_empty() { vec![path.to_owned()] } else { stages });
    }
    let better =
        SIBLINGS.iter().find_map(|(end, other)| beside(path, end, other).filter(|path| path.is_file()));
    Ok(vec![better.unwrap_or_else(|| path.to_owned())])
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// The stages among files, in the order in which they ran; all their names begin with `before`.
fn stages(files: &[PathBuf], before: &str) -> Vec<PathBuf> {
    let number = |file: &PathBuf| {
        let number = name(file).strip_prefix(before)?.strip_prefix("stage_")?;
        number.strip_suffix("_lifecycle_metrics.json")?.parse::<u64>().ok()
    };
    let mut stages: Vec<(Option<&Path>, u64, &PathBuf)> =
        files.iter().filter_map(|file| Some((file.parent(), number(file)?, file))).collect();
    stages.sort();
    stages.into_iter().map(|(_, _, file)| file.clone()).collect()
}

/// Every file of this one's folder, with paths as this one's.
fn files_beside(path: &Path) -> Result<Vec<PathBuf>, IngestError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unreadable = |source| IngestError::Unreadable { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let file = path.with_file_name(entry.map_err(unreadable)?.file_name());
        files.extend(file.is_file().then_some(file));
    }
    Ok(files)
}

fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), IngestError> {
    let unreadable = |source| IngestError::Unreadable { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let path = entry.path();
        let hidden = entry.file_name().to_str().is_none_or(|name| name.starts_with('.'));
        if kind.is_dir() && depth < MOST_DEPTH && !hidden {
            list(&path, depth + 1, files)?;
        } else if kind.is_file() && !hidden && files.len() < MOST_FILES {
            files.push(path);
        }
    }
    Ok(())
}

//! Reports of other tools become the canonical report with the very values that they hold.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

mod counts;
mod docs;
mod generic;
mod joining;
mod large;
mod layouts;
mod mutations;
mod original;
mod real;
mod refusals;
mod sglang;
mod siblings;
mod spellings;
mod tools;
mod versions;
mod vllm;

use std::path::PathBuf;

use pacegate::model::report::Group;
use pacegate::model::{Metric, Report, Statistic};
use pacegate::source::ingest::{IngestError, Input, Options, read};

/// A report in the test data.
pub fn data(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports").join(file)
}

/// Reads files without names.
pub fn try_read(files: &[PathBuf]) -> Result<Report, IngestError> {
    let inputs: Vec<Input> = files.iter().map(|path| Input { strategy: None, path: path.clone() }).collect();
    read(&inputs, &Options::default())
}

/// Reads one report of the test data.
pub fn report(file: &str) -> Report {
    try_read(&[data(file)]).unwrap()
}

/// A folder with one file of this text; the path of the file.
pub fn written(name: &str, text: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// Reads a text as a file of this name.
pub fn read_text(name: &str, text: impl AsRef<[u8]>) -> Result<Report, String> {
    let (folder, path) = written(name, text);
    let shown = format!("{}/", folder.path().display());
    try_read(&[path]).map_err(|error| error.to_string().replace(&shown, ""))
}

/// The groups of all rounds of all jobs.
pub fn groups(report: &Report) -> Vec<&Group> {
    report.jobs.iter().flat_map(|job| &job.rounds).flat_map(|round| &round.groups).collect()
}

/// A statistic of a group.
pub fn stat(group: &Group, metric: &Metric, statistic: Statistic) -> Option<f64> {
    Some(group.metrics.get(metric)?.stats.get(&statistic)?.get())
}

/// The only value of a metric.
pub fn value(group: &Group, metric: &Metric) -> Option<f64> {
    stat(group, metric, Statistic::Value)
}

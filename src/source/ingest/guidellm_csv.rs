//! guidellm's CSV: one row a benchmark; the heading is one row up to 0.3 and three rows since.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::report::TokenSource;
use crate::model::{Fact, Metric, Statistic};

use super::content::Content;
use super::csv;
use super::detect::{Miss, Sniff};
use super::draft::Draft;
use super::error::IngestError;
use super::guidellm;
use super::number::{Number, Text};
use super::reading::{Reading, Run};
use super::{Format, stamp};

/// The cell `[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]`: it has no p50, the median has its own column.
const LIST: [Statistic; 11] = [
    Statistic::Min,
    Statistic::Percentile(100),
    Statistic::Percentile(1_000),
    Statistic::Percentile(5_000),
    Statistic::Percentile(10_000),
    Statistic::Percentile(25_000),
    Statistic::Percentile(75_000),
    Statistic::P90,
    Statistic::P95,
    Statistic::P99,
    Statistic::Max,
];

/// Per metric: the heading up to 0.3, the two headings since, the factor to ms.
const METRICS: &[(Metric, &str, &str, f64)] = &[
    (Metric::TTFT, "Successful Time to first token ms", "Time to First Token|Successful ms", 1.0),
    (Metric::TTFO, "", "Time to First Output Token|Successful ms", 1.0),
    (Metric::TPOT, "Successful Inter token latency ms", "Inter Token Latency|Successful ms", 1.0),
    (Metric::E2E, "Successful Request latency", "Request Latency|Successful Sec", 1000.0),
];

/// Whether its heading is one of guidellm's two.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if is_heading(sniff.head) {
        Ok(())
    } else {
        Err("no line \"benchmarks:\" (YAML) and no heading of its CSV".to_owned())
    }
}

/// Whether a text begins with one of the two headings.
pub fn is_heading(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let old = first.starts_with("Type,Run Id,") && first.contains("Successful Requests");
    let new = first.starts_with("Run Info,") && first.contains("Request Counts");
    old || new
}

/// One benchmark's cells by heading; the three heading rows are joined with `|`.
type Row = BTreeMap<String, String>;

/// Reads it.
///
/// # Errors
/// No rows, or values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let rows = csv::rows(content)?;
    let old = rows.first().and_then(|row| row.first()).is_some_and(|cell| cell == "Type");
    let heading = if old { 1 } else { 3 };
    let mut reading = Reading::new(Format::Guidellm);
    for cells in rows.iter().skip(heading) {
        let mut row = Row::new();
        for (column, cell) in cells.iter().enumerate() {
            let names = rows.iter().take(heading).filter_map(|names| names.get(column)).map(String::as_str);
            let name = names.collect::<Vec<_>>().join("|");
            row.entry(name.trim_end_matches('|').to_owned()).or_insert_with(|| cell.clone());
        }
        let run = read_row(&mut reading, &row, old);
        let (run, draft) = run;
        reading.run(content, run, [(String::new(), draft)])?;
    }
    Ok(reading)
}

fn read_row(reading: &mut Reading, row: &Row, old: bool) -> (Run, Draft) {
    let text = |name: &str| row.get(name).map(String::as_str).unwrap_or_default();
    let number = |name: &str| Number::parse(text(name)).unwrap_or_default();
    let pick = |old_name: &'static str, new_name: &'static str| if old { old_name } else { new_name };
    let mut draft = Draft::default();
    load(&mut draft, text("Args"), text("Benchmark|Strategy"), old);
    let model = json::<Worker>(text("Worker")).and_then(|worker| worker.backend_model.0);
    let model =
        model.or_else(|| json::<Backend>(text("Run Info|Backend")).and_then(|backend| backend.model.0));
    if let Some(model) = &model {
        reading.subject.model.get_or_insert_with(|| model.clone());
    }
    draft.fact(Fact::Model, model);
    draft.fact(Fact::Traffic, json::<Loader>(text("Request Loader")).and_then(|loader| loader.data.0));
    let version = json::<Metadata>(text("Runtime Info|Metadata")).and_then(|m| m.guidellm_version.0);
    reading.version = reading.version.take().or(version);
    let count = |old_name, new_name| number(pick(old_name, new_name));
    guidellm::outcomes(
        &mut draft,
        count("Successful Requests", "Request Counts|Successful"),
        count("Errored Requests", "Request Counts|Errored"),
        count("Incomplete Requests", "Request Counts|Incomplete"),
    );
    draft.wall_ms = number(pick("Duration", "Timings|Duration|Sec")).finite().map(|seconds| seconds * 1000.0);
    guidellm::define(&mut draft, !old);
    if draft.requests.succeeded != Some(0) {
        statistics(&mut draft, row, old);
    }
    let name = pick(
        "Successful Output tokens per second mean",
        "Token Throughput|Successful Output Tokens/Sec|Mean",
    );
    draft.value(&Metric::OUTPUT_THROUGHPUT, number(name));
    let name = pick("Successful Requests per second mean", "Server Throughput|Successful Requests/Sec|Mean");
    draft.value(&Metric::REQUEST_THROUGHPUT, number(name));
    let mean =
        number(pick("Successful Output token count mean", "Token Metrics|Successful Output Tokens|Mean"));
    draft.stat(&Metric::OUTPUT_TOKENS, Statistic::Mean, mean);
    draft.tokens(None, None, TokenSource::Unknown);
    let started = stamp::parse(text(pick("Start Time", "Timings|Start Time")));
    (Run { started, ..Run::default() }, draft)
}

fn statistics(draft: &mut Draft, row: &Row, old: bool) {
    for (metric, old_name, new_name, factor) in METRICS {
        let cell = |statistic: &str, new_statistic: &str| {
            let name =
                if old { format!("{old_name} {statistic}") } else { format!("{new_name}|{new_statistic}") };
            row.get(&name).map(String::as_str).unwrap_or_default()
        };
        for (statistic, old_word, new_word) in [
            (Statistic::Mean, "mean", "Mean"),
            (Statistic::P50, "median", "Median"),
            (Statistic::Std, "std dev", "Std Dev"),
        ] {
            let number = Number::parse(cell(old_word, new_word)).unwrap_or_default();
            draft.scaled(metric, statistic, number, *factor);
        }
        let list = cell("[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]", "Percentiles");
        let numbers: Vec<Number> = json(list).unwrap_or_default();
        if numbers.len() == LIST.len() {
            for (statistic, number) in LIST.into_iter().zip(numbers) {
                draft.scaled(metric, statistic, number, *factor);
            }
        }
    }
}

/// 0.3 keeps its arguments as JSON in a cell, 0.8 has `concurrent@8`.
fn load(draft: &mut Draft, args: &str, strategy: &str, old: bool) {
    if old {
        let strategy = json::<Args>(args).and_then(|args| args.strategy);
        if let Some(strategy) = strategy {
            guidellm::load(draft, &strategy.kind.0.unwrap_or_default(), strategy.streams, strategy.rate);
        }
        return;
    }
    let (kind, number) = strategy.split_once('@').unwrap_or((strategy, ""));
    let number = Number::parse(number).unwrap_or_default();
    let streams = if kind == "concurrent" { number } else { Number::Absent };
    guidellm::load(draft, kind, streams, number);
}

/// JSON in a cell; a cell that is none tells nothing.
fn json<T: for<'de> Deserialize<'de>>(cell: &str) -> Option<T> {
    serde_json::from_str(cell).ok()
}

#[derive(Deserialize)]
struct Args {
    strategy: Option<Strategy>,
}

#[derive(Deserialize)]
struct Strategy {
    #[serde(default, rename = "type_")]
    kind: Text,
    #[serde(default)]
    streams: Number,
    #[serde(default)]
    rate: Number,
}

#[derive(Deserialize)]
struct Worker {
    #[serde(default)]
    backend_model: Text,
}

#[derive(Deserialize)]
struct Backend {
    #[serde(default)]
    model: Text,
}

#[derive(Deserialize)]
struct Loader {
    #[serde(default)]
    data: Text,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    guidellm_version: Text,
}

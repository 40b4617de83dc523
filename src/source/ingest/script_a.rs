//! `benchmark.py` (script A): strategies compared on a mock engine.

use crate::model::group::name_part;
use crate::model::report::ReportedSpeedup;
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::draft::Draft;
use super::error::IngestError;
use super::locate::{self, Step};
use super::number::Number;
use super::outline::Shape;
use super::reading::{Reading, Run};
use super::spelling::{self, LATENCIES};
use super::tree::Tree;
use super::{Format, parse};

/// Decimals to which the script rounds its speed-up.
const SPEEDUP_DECIMALS: u32 = 2;
/// A bare `gpu_memory` above this is no count of GB.
const MOST_GB: f64 = 2048.0;
const MB_PER_GB: f64 = 1000.0;

/// Spellings of the containers' and summaries' other keys, normalised.
const RESULTS: &[&str] = &["results", "strategies", "summaries", "summary"];
const STRATEGY: &[&str] = &["strategy", "name", "optimization", "mode"];
const TRAFFIC: &[&str] = &["trafficmodel", "traffic", "workload", "scenario"];
const CONCURRENCY: &[&str] = &["maxconcurrency", "concurrency", "concurrentrequests"];
const REQUESTS: &[&str] = &["numrequests", "requests", "totalrequests", "n"];
const SPEEDUP: &[&str] = &["speedupvsbaseline", "speedup"];
const MEMORY: &[&str] = &["gpumemory", "gpumem", "memory", "gpumemorygb", "gpumemorymb"];

/// Whether it is script A's: summaries that have `total_latency` beside `ttft`, under one of the three containers.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.shape == Shape::Text {
        return Err("is no JSON".to_owned());
    }
    // Where a summary can stand: `results.INT8.`, `INT8.`, `[].`, `results[].`
    let summaries =
        sniff.outline.keys.iter().filter_map(|key| key.rsplit_once('.')).filter(|(above, key)| {
            is_summary(above) && spelling::latency(key).is_some_and(|(metric, _)| metric == Metric::E2E)
        });
    let mut summaries = summaries.map(|(above, _)| above);
    let Some(above) = summaries.next() else {
        return Err(format!(
            "no summary with total latency; looked for {} in {{\"results\": {{STRATEGY: …}}}}, {{STRATEGY: …}} and [{{\"strategy\": …}}]",
            spelling::spelled(&Metric::E2E)
        ));
    };
    let has = |wanted: &Metric| {
        let below = sniff.outline.keys.iter().filter_map(|key| key.strip_prefix(above)?.strip_prefix('.'));
        below
            .filter(|key| !key.contains('.'))
            .any(|key| spelling::latency(key).is_some_and(|(m, _)| m == *wanted))
    };
    for metric in [Metric::TTFT, Metric::TPOT] {
        if !has(&metric) {
            return Err(format!(
                "no {metric} beside the total latency of {above}; looked for {}",
                spelling::spelled(&metric)
            ));
        }
    }
    Ok(())
}

/// `[]`, `INT8`, `results.INT8`, `results[]`.
fn is_summary(path: &str) -> bool {
    let plain = |name: &str| !name.contains(['.', '[']);
    let results = |name: &str| RESULTS.contains(&spelling::normal(name).as_str());
    path == "[]"
        || plain(path)
        || path.strip_suffix("[]").is_some_and(results)
        || path.split_once('.').is_some_and(|(first, strategy)| results(first) && plain(strategy))
}

/// Reads it.
///
/// # Errors
/// A percentile that is no number, a strategy without a name.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::BenchmarkPy)?;
    let mut reading = Reading::new(Format::BenchmarkPy);
    let (holder, base) = match spelling::find(&tree, RESULTS) {
        Some((key, inner)) => (inner, Some(key)),
        None => (&tree, None),
    };
    let mut drafts = Vec::new();
    let named = holder.entries().iter().map(|(key, summary)| (Some(key.as_str()), summary));
    let listed = holder.elements().iter().map(|summary| (None, summary));
    for (index, (key, summary)) in named.chain(listed).enumerate() {
        let mut steps: Vec<Step<'_>> = base.map(Step::Key).into_iter().collect();
        steps.push(key.map_or(Step::Index(index), Step::Key));
        if summary.entries().is_empty() {
            continue;
        }
        let place = || locate::place(content, 0, &steps);
        let told = spelling::text(summary, STRATEGY);
        let Some(strategy) = told.as_deref().or(key).and_then(name_part) else {
            let what = "no strategy name; looked for \"strategy\" or \"name\"".to_owned();
            return Err(IngestError::WrongValue { place: place(), what, format: Format::BenchmarkPy });
        };
        let draft = read_summary(content, &tree, summary, &steps, strategy)?;
        drafts.push((place().key, draft));
    }
    if drafts.iter().any(|(_, draft)| draft.dimensions.strategy.as_deref() == Some("baseline")) {
        reading.reference = Some("baseline".to_owned());
    }
    reading.run(content, Run::default(), drafts)?;
    Ok(reading)
}

fn read_summary(
    content: &Content,
    tree: &Tree,
    summary: &Tree,
    steps: &[Step<'_>],
    strategy: String,
) -> Result<Draft, IngestError> {
    let mut draft = Draft::default();
    let either = |names: &[&str]| spelling::find(summary, names).or_else(|| spelling::find(tree, names));
    let traffic = either(TRAFFIC).and_then(|(_, value)| value.text(&[]));
    let concurrency = either(CONCURRENCY).and_then(|(_, value)| value.count(&[]));
    let requests = either(REQUESTS).and_then(|(_, value)| value.count(&[]));
    draft.dimensions.strategy = Some(strategy);
    draft.dimensions.traffic = traffic.as_deref().and_then(name_part);
    draft.dimensions.concurrency = concurrency.and_then(|c| u32::try_from(c).ok());
    draft.fact(Fact::Traffic, traffic);
    draft.fact(Fact::Concurrency, concurrency);
    draft.fact(Fact::Requests, requests);
    draft.outcomes(requests, None);
    for metric in LATENCIES {
        draft.define(metric, definition(metric), PercentileDefinition::FloorRank);
    }
    for (key, value) in summary.entries() {
        let steps: Vec<Step<'_>> = steps.iter().copied().chain([Step::Key(key)]).collect();
        latency(content, &mut draft, key, value, &steps)?;
    }
    for metric in LATENCIES {
        draft.count(metric, requests);
    }
    memory(&mut draft, summary);
    if let Some(value) = spelling::find(summary, SPEEDUP).and_then(|(_, value)| value.finite(&[])) {
        draft.speedup = Finite::new(value).ok().map(|value| ReportedSpeedup {
            value,
            statistic: Statistic::P99,
            decimals: SPEEDUP_DECIMALS,
        });
    }
    Ok(draft)
}

fn definition(metric: &Metric) -> &'static str {
    if *metric == Metric::TTFT {
        "preprocess-and-encode"
    } else if *metric == Metric::TPOT {
        "decode-per-token"
    } else {
        "whole-request"
    }
}

/// `"ttft": {"P50": …}`, or a percentile in the key itself.
fn latency(
    content: &Content,
    draft: &mut Draft,
    key: &str,
    value: &Tree,
    steps: &[Step<'_>],
) -> Result<(), IngestError> {
    if let Some((metric, factor)) = spelling::latency(key) {
        for (name, number) in value.entries() {
            let Some((statistic, own)) = spelling::statistic(name) else { continue };
            let steps: Vec<Step<'_>> = steps.iter().copied().chain([Step::Key(name)]).collect();
            let number = numeric(content, number, &steps)?;
            draft.scaled(&metric, statistic, number, own.unwrap_or(factor));
        }
        return Ok(());
    }
    if let Some((metric, statistic, factor)) = spelling::latency_statistic(key) {
        let number = numeric(content, value, steps)?;
        draft.scaled(&metric, statistic, number, factor);
    }
    Ok(())
}

fn numeric(content: &Content, value: &Tree, steps: &[Step<'_>]) -> Result<Number, IngestError> {
    value.number().ok_or_else(|| IngestError::WrongValue {
        place: locate::place(content, 0, steps),
        what: format!("found {}, expected a number of milliseconds", value.kind()),
        format: Format::BenchmarkPy,
    })
}

/// GB as a number or as {avg_gb, peak_gb}; MB where the key says so.
fn memory(draft: &mut Draft, summary: &Tree) {
    let Some((key, value)) = spelling::find(summary, MEMORY) else { return };
    let factor_of = |key: &str, otherwise: f64| match spelling::normal(key) {
        key if key.ends_with("mb") => 1.0,
        key if key.ends_with("gb") => MB_PER_GB,
        _ => otherwise,
    };
    let factor = factor_of(key, MB_PER_GB);
    if let Some(number) = value.number() {
        let unit_told = spelling::normal(key).ends_with('b');
        if !unit_told && number.finite().is_some_and(|value| value > MOST_GB) {
            draft.notes.push(format!("{key} is above {MOST_GB} and has no unit; read as not measured"));
            return;
        }
        draft.scaled(&Metric::GPU_MEMORY, Statistic::Value, number, factor);
    }
    for (name, number) in value.entries() {
        let normal = spelling::normal(name);
        let statistic = if normal.starts_with("avg") || normal.starts_with("mean") {
            Statistic::Mean
        } else if normal.starts_with("peak") || normal.starts_with("max") {
            Statistic::Max
        } else if matches!(normal.as_str(), "used" | "value" | "usedgb" | "usedmb" | "gb" | "mb") {
            Statistic::Value
        } else {
            continue;
        };
        if let Some(number) = number.number() {
            draft.scaled(&Metric::GPU_MEMORY, statistic, number, factor_of(name, factor));
        }
    }
}

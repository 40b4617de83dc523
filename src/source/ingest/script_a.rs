//! `benchmark.py` (script A): strategies compared on a mock engine.

use crate::model::group::name_part;
use crate::model::report::ReportedSpeedup;
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::draft::Draft;
use super::error::IngestError;
use super::locate::Step;
use super::number::Number;
use super::outline::Shape;
use super::reading::{Reading, Run};
use super::scripts::{self, Spot};
use super::spelling::{self, LATENCIES};
use super::tree::Tree;
use super::{Format, script_b};

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
    if script_b::detect(sniff).is_ok() {
        return Err(
            "has latency, throughput and reliability side by side, as benchmark_runner.py writes".to_owned()
        );
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
/// A percentile that is no number, a strategy without a name, a key twice.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree = scripts::parse(content, Format::BenchmarkPy)?;
    let whole = Spot::whole(content, Format::BenchmarkPy);
    let mut reading = Reading::new(Format::BenchmarkPy);
    let (holder, base) = match spelling::find(&tree, RESULTS) {
        Some((key, inner)) => (inner, whole.to(Step::Key(key))),
        None => (&tree, whole.clone()),
    };
    let mut drafts = Vec::new();
    let named = holder.entries().iter().map(|(key, summary)| (Some(key.as_str()), summary));
    let listed = holder.elements().iter().map(|summary| (None, summary));
    for (index, (key, summary)) in named.chain(listed).enumerate() {
        let spot = base.to(key.map_or(Step::Index(index), Step::Key));
        if summary.entries().is_empty() {
            continue;
        }
        let told = spelling::text(summary, STRATEGY);
        let Some(strategy) = told.as_deref().or(key).and_then(name_part) else {
            return Err(spot.wrong("no strategy name; looked for \"strategy\" or \"name\""));
        };
        let mut draft = Draft::default();
        if let Some(model) = scripts::model(&mut draft, &[(&spot, summary), (&whole, &tree)])? {
            reading.subject.model.get_or_insert(model);
        }
        draft.dimensions.strategy = Some(strategy);
        read_summary(&mut draft, &tree, summary, &spot)?;
        drafts.push((spot.place().key, draft));
    }
    if drafts.iter().any(|(_, draft)| draft.dimensions.strategy.as_deref() == Some("baseline")) {
        reading.reference = Some("baseline".to_owned());
    }
    reading.run(content, Run::default(), drafts)?;
    Ok(reading)
}

fn read_summary(draft: &mut Draft, tree: &Tree, summary: &Tree, spot: &Spot<'_>) -> Result<(), IngestError> {
    let either = |names: &[&str]| spelling::find(summary, names).or_else(|| spelling::find(tree, names));
    let traffic = either(TRAFFIC).and_then(|(_, value)| value.text(&[]));
    draft.dimensions.traffic = traffic.as_deref().and_then(name_part);
    draft.fact(Fact::Traffic, traffic);
    if let Some((key, value)) = either(CONCURRENCY) {
        draft.concurrency(key, value.number());
    }
    let requests = either(REQUESTS).and_then(|(key, value)| draft.counted(key, value.number()));
    draft.fact(Fact::Requests, requests);
    draft.outcomes(requests, None);
    for metric in LATENCIES {
        draft.define(metric, definition(metric), PercentileDefinition::FloorRank);
    }
    for (key, value) in summary.entries() {
        scripts::latency(draft, &spot.to(Step::Key(key)), (key, value), |metric| metric)?;
    }
    for metric in LATENCIES {
        draft.count(metric, requests);
    }
    memory(draft, summary, spot)?;
    if let Some((key, value)) = spelling::find(summary, SPEEDUP) {
        match spot.to(Step::Key(key)).number(value, "a number")? {
            Number::Absent => {}
            number => speedup(draft, key, number),
        }
    }
    Ok(())
}

fn speedup(draft: &mut Draft, key: &str, number: Number) {
    let value = number.finite().and_then(|value| Finite::new(value).ok());
    if value.is_none() {
        draft.contradicts(&format!("{key} is no finite number"));
    }
    let known = |value| ReportedSpeedup { value, statistic: Statistic::P99, decimals: SPEEDUP_DECIMALS };
    draft.speedup = value.map(known);
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

/// GB as a number or as {avg_gb, peak_gb}; MB where the key says so.
fn memory(draft: &mut Draft, summary: &Tree, spot: &Spot<'_>) -> Result<(), IngestError> {
    let Some((key, value)) = spelling::find(summary, MEMORY) else { return Ok(()) };
    let spot = spot.to(Step::Key(key));
    let factor_of = |key: &str, otherwise: f64| match spelling::normal(key) {
        key if key.ends_with("mb") => 1.0,
        key if key.ends_with("gb") => MB_PER_GB,
        _ => otherwise,
    };
    let factor = factor_of(key, MB_PER_GB);
    if !matches!(value, Tree::Map(_)) {
        let number = spot.number(value, "a number of GB")?;
        let unit_told = spelling::normal(key).ends_with('b');
        if !unit_told && number.finite().is_some_and(|value| value > MOST_GB) {
            draft.notes.push(format!("{key} is above {MOST_GB} and has no unit; read as not measured"));
            return Ok(());
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
        let number = spot.to(Step::Key(name)).number(number, "a number of GB")?;
        draft.scaled(&Metric::GPU_MEMORY, statistic, number, factor_of(name, factor));
    }
    Ok(())
}

//! evalscope perf, both generations. Its keys are sentences with a unit, and the unit is always read from there.

use crate::model::report::{FailureKind, TokenSource};
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::Number;
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, parse, rows};
use crate::model::Unit;

/// Per metric the words of its averages, both generations, and of its percentile column.
const METRICS: &[(Metric, &[&str], &str)] = &[
    (Metric::TTFT, &["Avg TTFT", "Average time to first token"], "TTFT"),
    (Metric::TPOT, &["Avg TPOT", "Average time per output token"], "TPOT"),
    (Metric::ITL, &["Avg ITL", "Average inter-token latency"], "ITL"),
    (Metric::E2E, &["Avg Latency", "Average latency"], "Latency"),
];

/// Whether it is evalscope's summary, or its percentiles.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.has("[].Percentiles") {
        return need(sniff, &["[].Latency (s)", "[].Latency (ms)"]);
    }
    sniff.object()?;
    need(sniff, &["Success Requests", "Succeed requests"])?;
    need(sniff, &["Failed Requests", "Failed requests"])?;
    need(sniff, &["Avg Latency (s)", "Average latency (s)", "Avg Latency (ms)", "Average latency (ms)"])
}

/// Reads the summary with the percentiles and the arguments beside it, or the percentiles alone.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::Evalscope)?;
    let mut reading = Reading::new(Format::Evalscope);
    let mut draft = Draft::default();
    let picked = PercentileDefinition::NearestRank;
    draft.define(&Metric::TTFT, "first-token", picked);
    draft.define(&Metric::TPOT, "excludes-first-token", picked);
    draft.define(&Metric::ITL, "gap-between-chunks", picked);
    draft.define(&Metric::E2E, "whole-request", picked);
    if tree.elements().is_empty() {
        summary(&mut draft, &tree);
        let table = beside(content, "benchmark_percentile.json")?;
        match &table {
            Some(table) => percentiles(&mut draft, table),
            None => draft.notes.push(
                "benchmark_percentile.json does not lie beside the summary, so there are only means"
                    .to_owned(),
            ),
        }
    } else {
        percentiles(&mut draft, &tree);
        draft.notes.push(
            "benchmark_summary.json does not lie beside the percentiles, so successes and throughput are not known"
                .to_owned(),
        );
    }
    if let Some(arguments) = beside(content, "benchmark_args.json")? {
        workload(&mut reading, &mut draft, &arguments);
    }
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

fn beside(content: &Content, name: &str) -> Result<Option<Tree>, IngestError> {
    let ends = [("benchmark_summary.json", name), ("benchmark_percentile.json", name)];
    let Some(mut other) = content.beside(&ends)? else { return Ok(None) };
    super::outline::quote_nonfinite(&mut other.bytes);
    parse::json(&other, Format::Evalscope).map(Some)
}

/// The value whose key begins with one of these words, with the unit in brackets behind them.
fn told<'a>(tree: &'a Tree, words: &[&str]) -> Option<(Option<&'a str>, &'a Tree)> {
    tree.entries().iter().find_map(|(key, value)| {
        let (name, unit) = match key.split_once(" (") {
            Some((name, unit)) => (name, Some(unit.trim_end_matches(')'))),
            None => (key.as_str(), None),
        };
        words.iter().any(|word| name.eq_ignore_ascii_case(word)).then_some((unit, value))
    })
}

/// A value in the metric's unit by the unit of its key. -1 and NaN say "not applicable".
fn value(draft: &mut Draft, metric: &Metric, statistic: Statistic, tree: &Tree, words: &[&str]) {
    let Some((unit, leaf)) = told(tree, words) else { return };
    let Some(factor) = unit.and_then(|unit| rows::factor(unit, metric.unit())) else {
        draft.notes.push(format!(
            "{} has the unit {:?}, which is not known; not read",
            words[0],
            unit.unwrap_or_default()
        ));
        return;
    };
    let absent = match leaf.number() {
        Some(Number::Nan) => true,
        Some(Number::Finite(value)) => value < 0.0,
        _ => false,
    };
    if !absent {
        draft.leaf(metric, statistic, Some(leaf), factor);
    }
}

fn summary(draft: &mut Draft, tree: &Tree) {
    let number = |words: &[&str]| told(tree, words).and_then(|(_, leaf)| leaf.number());
    let sent = draft.counted("Total Requests", number(&["Total Requests"]).or(Some(Number::Absent)));
    let succeeded = draft.counted("Success Requests", number(&["Success Requests", "Succeed requests"]));
    let failed = draft.counted("Failed Requests", number(&["Failed Requests"]));
    draft.failed(FailureKind::Unknown, failed.unwrap_or_default(), "");
    draft.requests.succeeded = succeeded;
    draft.requests.sent = sent.or_else(|| Some(succeeded? + failed?));
    draft.fact(Fact::Requests, sent);
    let rate = number(&["Request Rate"]).and_then(Number::finite).filter(|rate| *rate > 0.0);
    if let Some((_, leaf)) = told(tree, &["Concurrency", "Number of concurrency"]) {
        draft.concurrency_unless_open("Concurrency", leaf);
    }
    draft.dimensions.rate = rate.and_then(|rate| Finite::new(rate).ok());
    draft.fact(Fact::Rate, rate.map(|rate| format!("{rate} req/s")));
    draft.wall_ms = told(tree, &["Test Duration", "Time taken for tests"])
        .and_then(|(unit, leaf)| Some(leaf.number()?.finite()? * rows::factor(unit?, Unit::Millisecond)?));
    for (metric, words, _) in METRICS {
        value(draft, metric, Statistic::Mean, tree, words);
    }
    let tokens = number(&["Avg Output Tokens", "Average output tokens per request"]);
    if let Some(tokens) = tokens.filter(|tokens| tokens.finite().is_some_and(|tokens| tokens >= 0.0)) {
        draft.stat(&Metric::OUTPUT_TOKENS, Statistic::Mean, tokens);
    }
    for (metric, words) in [
        (Metric::OUTPUT_THROUGHPUT, ["Output Throughput", "Output token throughput"]),
        (Metric::REQUEST_THROUGHPUT, ["Req Throughput", "Request throughput"]),
    ] {
        value(draft, &metric, Statistic::Value, tree, &words);
    }
    draft.tokens(None, None, TokenSource::Unknown);
}

fn percentiles(draft: &mut Draft, table: &Tree) {
    for row in table.elements() {
        let Some(statistic) = row.text(&["Percentiles"]).as_deref().and_then(statistic) else { continue };
        for (metric, _, column) in METRICS {
            value(draft, metric, statistic, row, &[column]);
        }
    }
}

/// `50%`, `min`, `max`.
fn statistic(name: &str) -> Option<Statistic> {
    match name {
        "min" => Some(Statistic::Min),
        "max" => Some(Statistic::Max),
        percentile => format!("p{}", percentile.strip_suffix('%')?).parse().ok(),
    }
}

fn workload(reading: &mut Reading, draft: &mut Draft, arguments: &Tree) {
    let text = |key: &str| arguments.text(&[key]);
    reading.subject.model = text("model");
    draft.fact(Fact::Model, text("model"));
    draft.fact(Fact::Traffic, text("dataset"));
    draft.fact(Fact::OutputLimit, text("max_tokens"));
    let (least, most) = (text("min_prompt_length"), text("max_prompt_length"));
    draft.fact(Fact::PromptTokens, least.zip(most).map(|(least, most)| format!("{least} to {most}")));
    draft.fact(Fact::Sampling, text("temperature").map(|temperature| format!("temperature {temperature}")));
    let api = text("api").map(|api| format!("evalscope-perf, api {api}"));
    draft.fact(Fact::Tool, api);
}

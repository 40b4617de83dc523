//! genai-perf 0.0.16, the last; AIPerf came after it.

use crate::model::report::TokenSource;
use crate::model::{Fact, Finite, Metric, PercentileDefinition};

use super::content::Content;
use super::detect::{Miss, Sniff, lacks, need};
use super::draft::Draft;
use super::error::IngestError;
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, parse, rows};

/// Whether it is genai-perf's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["request_throughput.unit"])?;
    need(sniff, &["input_config"])?;
    lacks(sniff, "aiperf_version", "AIPerf")?;
    lacks(sniff, "schema_version", "AIPerf")?;
    lacks(sniff, "input_config.loadgen", "AIPerf")
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::GenaiPerf)?;
    let mut reading = Reading::new(Format::GenaiPerf);
    let mut draft = Draft::default();
    workload(&mut reading, &mut draft, &tree);
    // Requests without a response are dropped from the file in silence: what failed can't be told.
    draft.requests.succeeded = draft.counted_at(&tree, &["request_count", "avg"]);
    let linear = PercentileDefinition::Linear;
    draft.define(&Metric::TTFT, "first-response", linear);
    draft.define(&Metric::TPOT, "excludes-first-token", linear);
    draft.define(&Metric::E2E, "whole-request", linear);
    for (key, metric) in [
        ("time_to_first_token", Metric::TTFT),
        ("inter_token_latency", Metric::TPOT),
        ("request_latency", Metric::E2E),
    ] {
        rows::distribution(&mut draft, &tree, key, &metric);
    }
    rows::distribution(&mut draft, &tree, "output_sequence_length", &Metric::OUTPUT_TOKENS);
    rows::value(&mut draft, &tree, "output_token_throughput", &Metric::OUTPUT_THROUGHPUT);
    rows::value(&mut draft, &tree, "request_throughput", &Metric::REQUEST_THROUGHPUT);
    draft.tokens(None, None, TokenSource::Client);
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

fn workload(reading: &mut Reading, draft: &mut Draft, tree: &Tree) {
    let Some(config) = tree.get("input_config") else { return };
    let stimulus = config.at(&["perf_analyzer", "stimulus"]);
    let rate = stimulus.and_then(|stimulus| stimulus.finite(&["request_rate"]));
    if let Some(stimulus) = stimulus {
        draft.concurrency_at(stimulus, &["concurrency"]);
    }
    draft.dimensions.rate = rate.and_then(|rate| Finite::new(rate).ok());
    draft.fact(Fact::Rate, rate.map(|rate| format!("{rate} req/s")));
    draft.fact(Fact::PromptTokens, config.text(&["input", "synthetic_tokens", "mean"]));
    draft.fact(Fact::OutputLimit, config.text(&["input", "output_tokens", "mean"]));
    draft.fact(Fact::Traffic, config.text(&["input", "prompt_source"]));
    draft.fact(Fact::Requests, config.text(&["perf_analyzer", "measurement", "num"]));
    let endpoint = config.text(&["endpoint", "type"]);
    draft.fact(Fact::Tool, endpoint.map(|endpoint| format!("genai-perf, endpoint {endpoint}")));
    let names = config.get("model_names").and_then(|list| list.elements().first());
    let model = names.and_then(|name| name.text(&[]));
    draft.fact(Fact::Model, model.as_ref());
    reading.subject.model = model;
}

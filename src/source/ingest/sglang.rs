//! SGLang's `bench_serving`, in its Python and its Rust client.

use serde::Deserialize;

use crate::model::report::TokenSource;
use crate::model::{Fact, Finite, Metric, PercentileDefinition};

use super::content::Content;
use super::detect::{Miss, Sniff, lacks, need};
use super::draft::Draft;
use super::error::IngestError;
use super::flat::Flat;
use super::number::{Number, Scalar, Text};
use super::reading::{Reading, Run};
use super::{Format, parse, serving};

const NAMES: &[(&str, Metric)] =
    &[("ttft", Metric::TTFT), ("tpot", Metric::TPOT), ("itl", Metric::ITL), ("e2e_latency", Metric::E2E)];

/// Counted tokens may differ from the re-tokenised text by this share before it is said.
const RETOKENIZED: f64 = 0.02;

/// Whether it is SGLang's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["completed"])?;
    need(sniff, &["total_throughput", "total_output_tokens_retokenized"])?;
    need(sniff, &["mean_e2e_latency_ms", "median_e2e_latency_ms"])?;
    need(sniff, &["backend"])?;
    lacks(sniff, "total_token_throughput", "vllm bench serve")
}

/// Reads one run a line; the tool always appends.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let mut reading = Reading::new(Format::SglangBenchServing);
    let mut server_told = false;
    parse::json_lines(content, Format::SglangBenchServing, |flat: Flat, start| {
        let key = if start == 0 { String::new() } else { format!("run {}", reading.runs.len() + 1) };
        server_told |= flat.scalars.get("server_info") == Some(&Scalar::Nested);
        if let Some(tag) = flat.text("tag") {
            reading.subject.parameters.entry("tag".to_owned()).or_insert(tag);
        }
        let draft = group(&flat);
        reading.run(content, Run::default(), [(key, draft)])
    })?;
    if server_told {
        server(content, &mut reading)?;
    }
    if reading.runs.len() > 1 {
        reading.warn(format!(
            "the file holds {} runs, for the tool appends to it; the same group again is read as a further round",
            reading.runs.len()
        ));
    }
    Ok(reading)
}

/// What the server said of itself.
fn server(content: &Content, reading: &mut Reading) -> Result<(), IngestError> {
    #[derive(Deserialize)]
    struct Line {
        server_info: Option<Server>,
    }
    #[derive(Deserialize)]
    struct Server {
        #[serde(default)]
        model_path: Text,
        #[serde(default)]
        served_model_name: Text,
        #[serde(default)]
        version: Text,
    }
    parse::json_lines(content, Format::SglangBenchServing, |line: Line, _| {
        if let Some(server) = line.server_info {
            let subject = &mut reading.subject;
            subject.model = subject.model.take().or(server.served_model_name.0).or(server.model_path.0);
            subject.engine = Some("sglang".to_owned());
            subject.engine_version = subject.engine_version.take().or(server.version.0);
        }
        Ok(())
    })
}

fn group(flat: &Flat) -> Draft {
    let mut draft = Draft::default();
    // Only the Rust client says over which protocol it spoke.
    let rust = flat.scalars.contains_key("protocol");
    load(&mut draft, flat, if rust { "Rust" } else { "Python" });
    outcomes(&mut draft, flat);
    draft.wall_ms = flat.finite("duration").map(|seconds| seconds * 1000.0);
    draft.tokens(flat.count("total_input_tokens"), flat.count("total_output_tokens"), TokenSource::Unknown);
    retokenized(&mut draft, flat);
    let linear = PercentileDefinition::Linear;
    let word = |word: &str| if rust { format!("{word}-of-the-rust-client") } else { word.to_owned() };
    draft.define(&Metric::TTFT, &word("first-content-chunk"), linear);
    draft.define(&Metric::TPOT, &word("excludes-first-token-to-stream-end"), linear);
    draft.define(&Metric::ITL, &word("gap-between-chunks"), linear);
    draft.define(&Metric::E2E, &word("to-stream-end"), linear);
    serving::statistics(&mut draft, flat, NAMES);
    for (key, metric) in
        [("output_throughput", Metric::OUTPUT_THROUGHPUT), ("request_throughput", Metric::REQUEST_THROUGHPUT)]
    {
        draft.value(&metric, flat.number(key).unwrap_or_default());
    }
    samples(&mut draft, flat);
    draft
}

/// The time to first token of each success; the file has no raw end-to-end times.
fn samples(draft: &mut Draft, flat: &Flat) {
    let Some(raw) = serving::raw(flat) else { return };
    if draft.requests.succeeded != Some(raw.succeeded) {
        return;
    }
    let silent = raw.ttft.iter().filter(|ms| **ms <= 0.0).count();
    if silent > 0 {
        draft.notes.push(format!(
            "{silent} requests count as successes though no token came (ttft 0 in the raw list): the file's own ttft takes them in"
        ));
        return;
    }
    draft.samples(&Metric::TTFT, &raw.ttft);
}

fn load(draft: &mut Draft, flat: &Flat, client: &str) {
    draft.concurrency("max_concurrency", flat.told("max_concurrency"));
    let rate = flat.number("request_rate").unwrap_or_default();
    draft.dimensions.rate = rate.finite().and_then(|rate| Finite::new(rate).ok());
    match rate {
        Number::Finite(rate) => draft.fact(Fact::Rate, Some(format!("{rate} req/s"))),
        Number::Infinite => draft.fact(Fact::Rate, Some("no limit")),
        Number::Absent | Number::Nan => {}
    }
    draft.fact(Fact::Traffic, flat.text("dataset_name"));
    draft.fact(Fact::PromptTokens, flat.text("random_input_len"));
    draft
        .fact(Fact::OutputLimit, flat.text("sharegpt_output_len").or_else(|| flat.text("random_output_len")));
    draft.fact(Fact::Prompts, flat.text("random_range_ratio").map(|ratio| format!("length ratio {ratio}")));
    let backend = flat.text("backend").unwrap_or_default();
    draft.fact(Fact::Tool, Some(format!("sglang-bench-serving, {client} client, backend {backend}")));
}

/// The file counts successes only; failures are seen in `errors`, one entry a request.
fn outcomes(draft: &mut Draft, flat: &Flat) {
    let completed = draft.counted("completed", flat.number("completed"));
    serving::failures(draft, flat);
    let sent = flat.errors.as_ref().map(|errors| errors.len() as u64).filter(|n| *n > 0);
    if sent.is_none() {
        draft.notes.push(
            "the file counts no failures, so the success rate is unknown; --output-details adds them"
                .to_owned(),
        );
    }
    draft.fact(Fact::Requests, sent);
    draft.outcomes(sent, completed);
}

/// Without usage from the server the tool counts the tokens it asked for.
#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 tokens")]
fn retokenized(draft: &mut Draft, flat: &Flat) {
    let (Some(counted), Some(text)) =
        (flat.count("total_output_tokens"), flat.count("total_output_tokens_retokenized"))
    else {
        return;
    };
    if (counted as f64 - text as f64).abs() > RETOKENIZED * counted as f64 {
        draft.notes.push(format!(
            "the file counts {counted} output tokens and {text} in the text of the replies; without usage from the server it counts the tokens that were asked for, so throughput and tpot may be wrong"
        ));
    }
}

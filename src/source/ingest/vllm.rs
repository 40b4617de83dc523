//! `vllm bench serve` and `benchmark_serving.py`, from which it came.

use crate::model::report::{FailureKind, TokenSource};
use crate::model::{Fact, Finite, Metric, PercentileDefinition};

use super::content::Content;
use super::detect::{Miss, Sniff, lacks, need};
use super::draft::Draft;
use super::error::IngestError;
use super::flat::Flat;
use super::number::{Number, Scalar};
use super::reading::{Reading, Run};
use super::{Format, parse, serving, stamp};

const NAMES: &[(&str, Metric)] =
    &[("ttft", Metric::TTFT), ("tpot", Metric::TPOT), ("itl", Metric::ITL), ("e2el", Metric::E2E)];

/// Texts at the top level that are the tool's; any other is the user's `--metadata`.
const OWN_TEXTS: &[&str] =
    &["date", "endpoint_type", "backend", "model_id", "tokenizer_id", "request_rate", "ramp_up_strategy"];

/// The longest `--metadata` value that is kept.
const LONGEST_PARAMETER: usize = 200;

/// Whether it is vLLM's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["completed"])?;
    need(sniff, &["total_token_throughput"])?;
    need(sniff, &["backend", "endpoint_type"])?;
    lacks(sniff, "total_throughput", "SGLang's bench_serving")?;
    lacks(sniff, "user_throughput", "TensorRT-LLM's copy of the script")
}

/// Reads one run, or with `--append-result` one run a line.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let mut reading = Reading::new(Format::VllmBenchServe);
    parse::json_lines(content, Format::VllmBenchServe, |flat: Flat, start| {
        let key = if start == 0 { String::new() } else { format!("run {}", reading.runs.len() + 1) };
        let run = Run { started: flat.text("date").as_deref().and_then(stamp::parse), ..Run::default() };
        if !flat.scalars.contains_key("completed") {
            let path = content.name.clone();
            let what =
                format!("{}, which is no run of this tool: it has no \"completed\"", content.place(start));
            return Err(IngestError::NoRun { path, what });
        }
        header(&mut reading, &flat);
        let draft = group(&flat);
        reading.run(content, run, [(key, draft)])
    })?;
    Ok(reading)
}

fn header(reading: &mut Reading, flat: &Flat) {
    if let Some(model) = flat.text("model_id") {
        reading.subject.model.get_or_insert(model);
    }
    for (key, scalar) in &flat.scalars {
        let Scalar::Text(text) = scalar else { continue };
        let ours = OWN_TEXTS.contains(&key.as_str()) || scalar.number().is_some();
        if !ours && !text.is_empty() && text.len() <= LONGEST_PARAMETER {
            reading.subject.parameters.entry(key.clone()).or_insert_with(|| text.clone());
        }
    }
}

fn group(flat: &Flat) -> Draft {
    let mut draft = Draft::default();
    for key in ["completed", "failed", "num_prompts", "total_input_tokens", "total_output_tokens"] {
        if let Some(scalar) = flat.scalars.get(key) {
            draft.counted(key, scalar.number());
        }
    }
    load(&mut draft, flat);
    let raw = serving::raw(flat);
    outcomes(&mut draft, flat, raw.as_ref().map(|raw| raw.requests));
    draft.wall_ms = flat.finite("duration").map(|seconds| seconds * 1000.0);
    // The file does not say whether the server's usage or the tool's tokeniser counted.
    draft.tokens(flat.count("total_input_tokens"), flat.count("total_output_tokens"), TokenSource::Unknown);
    definitions(&mut draft, flat);
    serving::statistics(&mut draft, flat, NAMES);
    for (key, metric) in
        [("output_throughput", Metric::OUTPUT_THROUGHPUT), ("request_throughput", Metric::REQUEST_THROUGHPUT)]
    {
        draft.value(&metric, flat.number(key).unwrap_or_default());
    }
    if let Some(raw) = raw {
        if draft.requests.succeeded == Some(raw.succeeded) {
            draft.samples(&Metric::TTFT, &raw.ttft);
            draft.samples(&Metric::TPOT, &raw.tpot);
            draft.samples(&Metric::E2E, &raw.e2e);
        } else {
            draft.notes.push(format!(
                "{} requests of the raw lists succeeded, and the file counts {} completed; the raw lists are not used",
                raw.succeeded,
                draft.requests.succeeded.map_or_else(|| "no".to_owned(), |n| n.to_string())
            ));
        }
    }
    draft
}

/// Requests in flight, or a rate; a run without either sends all at once.
fn load(draft: &mut Draft, flat: &Flat) {
    draft.concurrency("max_concurrency", flat.told("max_concurrency"));
    let rate = flat.number("request_rate").unwrap_or_default();
    draft.dimensions.rate = rate.finite().and_then(|rate| Finite::new(rate).ok());
    match rate {
        Number::Finite(rate) => {
            let burstiness = flat.finite("burstiness").unwrap_or(1.0);
            draft.fact(Fact::Rate, Some(format!("{rate} req/s, burstiness {burstiness}")));
        }
        Number::Infinite => draft.fact(Fact::Rate, Some("no limit")),
        Number::Absent | Number::Nan => {}
    }
    draft.fact(Fact::Model, flat.text("model_id"));
    draft.fact(Fact::Requests, flat.count("num_prompts"));
    let backend = flat.text("backend").or_else(|| flat.text("endpoint_type"));
    draft.fact(Fact::Tool, backend.map(|backend| format!("vllm-bench-serve, backend {backend}")));
}

/// Versions before October 2025 count no failures: then `num_prompts` tells them only if every prompt was sent for certain.
fn outcomes(draft: &mut Draft, flat: &Flat, in_lists: Option<u64>) {
    let completed = flat.count("completed");
    let prompts = flat.count("num_prompts");
    let told = serving::failures(draft, flat);
    if let Some(failed) = flat.count("failed") {
        draft.failed(FailureKind::Unknown, failed.saturating_sub(told), "");
        draft.requests.succeeded = completed;
        draft.requests.sent = prompts.or_else(|| Some(completed? + failed));
        if let (Some(sent), Some(completed)) = (draft.requests.sent, completed)
            && sent != completed + failed
        {
            draft.notes.push(format!(
                "num_prompts is {sent}, and {completed} completed + {failed} failed are {}",
                completed + failed
            ));
        }
        return;
    }
    let all_completed = completed.filter(|completed| prompts == Some(*completed));
    let sent = in_lists.or(all_completed);
    if sent.is_none() {
        draft.notes.push(
            "this version of the tool counts no failures, so the success rate is unknown; a version from October 2025 or later does"
                .to_owned(),
        );
    }
    draft.outcomes(sent, completed);
}

/// Since August 2026 the role-only delta is no first token and the lists of latencies stay in the file; before, what counts as
/// the first token changed from version to version, and the file does not tell the version.
fn definitions(draft: &mut Draft, flat: &Flat) {
    let known = flat.lists.contains_key("latencies") || flat.scalars.contains_key("queue_times");
    let linear = PercentileDefinition::Linear;
    let word = |new: &str, old: &str| if known { new.to_owned() } else { old.to_owned() };
    draft.define(&Metric::TTFT, &word("first-token", "first-token-of-a-client-before-august-2026"), linear);
    draft.define(&Metric::TPOT, "excludes-first-token", linear);
    draft.define(&Metric::ITL, "gap-between-chunks", linear);
    draft.define(
        &Metric::E2E,
        &word("to-last-token", "to-last-token-of-a-client-before-august-2026"),
        linear,
    );
}

//! inference-perf: stage files, the summary over all stages, and the requests one by one. All of it in seconds.

use serde::Deserialize;

use crate::model::report::TokenSource;
use crate::model::{Fact, Finite, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::number::{Number, Text};
use super::outline::{Outline, Shape};
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, failure, parse};

const MS_PER_SECOND: f64 = 1000.0;
const NAMES: &[(&str, Metric)] = &[
    ("time_to_first_token", Metric::TTFT),
    ("time_per_output_token", Metric::TPOT),
    ("inter_token_latency", Metric::ITL),
    ("request_latency", Metric::E2E),
];
/// The ends of names under which its files lie side by side.
const CONFIG_BESIDE: &[(&str, &str)] = &[
    ("summary_lifecycle_metrics.json", "config.yaml"),
    ("per_request_lifecycle_metrics.json", "config.yaml"),
    (".summary.json", ".config.yaml"),
    (".per_request.json", ".config.yaml"),
];

/// Whether it is inference-perf's: a stage, the summary, or the requests.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    if sniff.outline.has("[].info.request_metrics") || sniff.outline.has("[].info.response_metrics") {
        return need(sniff, &["[].start_time"]);
    }
    sniff.object()?;
    need(sniff, &["load_summary"])?;
    need(sniff, &["successes.count"])?;
    need(sniff, &["failures.count"])
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content, outline: &Outline) -> Result<Reading, IngestError> {
    let mut reading = Reading::new(Format::InferencePerf);
    let requests = outline.shape == Shape::Array;
    let mut draft = if requests { from_requests(content)? } else { from_summary(content)? };
    config(content, &mut reading, &mut draft)?;
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

fn from_summary(content: &Content) -> Result<Draft, IngestError> {
    let tree: Tree = parse::json(content, Format::InferencePerf)?;
    let mut draft = Draft::default();
    load(&mut draft, &tree);
    outcomes(&mut draft, &tree);
    draft.wall_ms = tree.finite(&["benchmark_time_seconds"]).map(|seconds| seconds * MS_PER_SECOND);
    let total = |key: &str| tree.count(&["successes", key, "total"]);
    draft.tokens(total("prompt_tokens"), total("output_tokens"), TokenSource::Client);
    define(&mut draft);
    for (key, metric) in NAMES {
        // Null where there was none.
        let Some(object) = tree.at(&["successes", "latency", key]) else { continue };
        for (name, leaf) in object.entries() {
            if let Some(statistic) = statistic(name) {
                draft.leaf(metric, statistic, Some(leaf), MS_PER_SECOND);
            }
        }
    }
    let mean = tree
        .at(&["successes", "output_tokens", "mean"])
        .or_else(|| tree.at(&["successes", "output_len", "mean"]));
    draft.leaf(&Metric::OUTPUT_TOKENS, Statistic::Mean, mean, 1.0);
    let rate = |key: &str| tree.at(&["successes", "throughput", key]);
    draft.leaf(&Metric::OUTPUT_THROUGHPUT, Statistic::Value, rate("output_tokens_per_sec"), 1.0);
    draft.leaf(&Metric::REQUEST_THROUGHPUT, Statistic::Value, rate("requests_per_sec"), 1.0);
    let beside = content.beside(&[
        ("stage_0_lifecycle_metrics.json", "per_request_lifecycle_metrics.json"),
        ("summary_lifecycle_metrics.json", "per_request_lifecycle_metrics.json"),
        (".stage_0_lifecycle_metrics.json", ".per_request.json"),
        (".summary.json", ".per_request.json"),
    ])?;
    if let Some(beside) = beside {
        let requests = requests(&beside)?;
        // Requests do not tell their stage: they are this stage's only where it has them all.
        if Some(requests.all) == draft.requests.sent && Some(requests.succeeded) == draft.requests.succeeded {
            requests.into_samples(&mut draft);
        }
    }
    Ok(draft)
}

fn define(draft: &mut Draft) {
    let linear = PercentileDefinition::Linear;
    draft.define(&Metric::TTFT, "first-chunk-of-replies-with-several-tokens", linear);
    draft.define(&Metric::TPOT, "excludes-first-token", linear);
    draft.define(&Metric::ITL, "gap-between-tokens-zero-within-a-chunk", linear);
    draft.define(&Metric::E2E, "whole-request", linear);
}

/// The 50th is always `median`; which others there are can be configured.
fn statistic(name: &str) -> Option<Statistic> {
    match name {
        "mean" => Some(Statistic::Mean),
        "min" => Some(Statistic::Min),
        "max" => Some(Statistic::Max),
        "median" => Some(Statistic::P50),
        percentile => percentile.parse().ok().filter(|s: &Statistic| s.percent().is_some()),
    }
}

/// A stage has its load; the summary mixes all stages and has none.
fn load(draft: &mut Draft, tree: &Tree) {
    let load = |key: &str| tree.at(&["load_summary", key]);
    let rate = load("requested_rate").and_then(|leaf| leaf.finite(&[]));
    if let Some(leaf) = load("concurrency") {
        draft.concurrency_unless_open("load_summary.concurrency", leaf);
    }
    match (draft.dimensions.concurrency, rate) {
        (None, Some(rate)) => {
            draft.dimensions.rate = Finite::new(rate).ok();
            draft.fact(Fact::Rate, Some(format!("{rate} req/s")));
        }
        (None, None) => draft.notes.push(
            "the summary mixes all stages and does not tell the load; give the stage files (stage_N_lifecycle_metrics.json) or the folder"
                .to_owned(),
        ),
        (Some(_), _) => {}
    }
}

fn outcomes(draft: &mut Draft, tree: &Tree) {
    let succeeded = draft.counted_at(tree, &["successes", "count"]);
    let failed = draft.counted_at(tree, &["failures", "count"]);
    for (label, object) in tree.at(&["failures", "by_label"]).map_or(&[][..], Tree::entries) {
        let times = draft.times(label, object.get("count").and_then(Tree::number));
        draft.failed(failure::kind(label), times, label);
    }
    let sent = draft.counted_at(tree, &["load_summary", "count"]).or_else(|| Some(succeeded? + failed?));
    draft.fact(Fact::Requests, sent);
    draft.outcomes(sent, succeeded);
    let retried = tree.at(&["retries"]).filter(|leaf| !leaf.entries().is_empty());
    if retried.is_some() {
        draft
            .notes
            .push("requests were tried again after failures, and their latency takes that in".to_owned());
    }
}

#[derive(Deserialize)]
struct Config {
    server: Option<Server>,
    data: Option<Data>,
    load: Option<Load>,
    api: Option<Api>,
}

#[derive(Deserialize)]
struct Server {
    #[serde(default)]
    model_name: Text,
    #[serde(default, rename = "type")]
    kind: Text,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default, rename = "type")]
    kind: Text,
    input_distribution: Option<Lengths>,
    output_distribution: Option<Lengths>,
}

#[derive(Deserialize)]
struct Lengths {
    #[serde(default)]
    mean: Text,
}

#[derive(Deserialize)]
struct Load {
    #[serde(default, rename = "type")]
    kind: Text,
}

#[derive(Deserialize)]
struct Api {
    #[serde(default, rename = "type")]
    kind: Text,
}

/// `config.yaml` beside the file tells model and workload.
fn config(content: &Content, reading: &mut Reading, draft: &mut Draft) -> Result<(), IngestError> {
    let stage = content.name.rfind("stage_").map(|at| &content.name[at..]).unwrap_or("none");
    let ends: Vec<(&str, &str)> = CONFIG_BESIDE.iter().copied().chain([(stage, "config.yaml")]).collect();
    let Some(beside) = content.beside(&ends)? else { return Ok(()) };
    let Ok(config) = serde_saphyr::from_str::<Config>(beside.text()?) else { return Ok(()) };
    if let Some(server) = config.server {
        draft.fact(Fact::Model, server.model_name.0.as_ref());
        reading.subject.model = server.model_name.0;
        reading.subject.engine = server.kind.0;
    }
    if let Some(data) = config.data {
        draft.fact(Fact::Traffic, data.kind.0);
        draft.fact(Fact::PromptTokens, data.input_distribution.and_then(|lengths| lengths.mean.0));
        draft.fact(Fact::OutputLimit, data.output_distribution.and_then(|lengths| lengths.mean.0));
    }
    let api = config.api.and_then(|api| api.kind.0).unwrap_or_default();
    let load = config.load.and_then(|load| load.kind.0).unwrap_or_default();
    draft.fact(Fact::Tool, Some(format!("inference-perf, api {api}, load {load}")));
    Ok(())
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    start_time: Number,
    #[serde(default)]
    end_time: Number,
    info: Option<Info>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Info {
    response_metrics: Option<Response>,
    #[serde(default)]
    output_token_times: Option<Vec<Number>>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    output_tokens: Number,
    #[serde(default)]
    output_token_times: Option<Vec<Number>>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    error_type: Text,
    #[serde(default)]
    error_msg: Text,
}

/// What the requests say, in order of their start.
#[derive(Default)]
struct Requests {
    all: u64,
    succeeded: u64,
    failed: Vec<Failure>,
    /// Start in seconds, then ttft, tpot, e2e in ms.
    rows: Vec<(f64, [Option<f64>; 3])>,
    tokens: f64,
    first: f64,
    last: f64,
}

fn requests(content: &Content) -> Result<Requests, IngestError> {
    let list: Vec<Request> = parse::json(content, Format::InferencePerf)?;
    let mut all = Requests { all: list.len() as u64, first: f64::INFINITY, ..Requests::default() };
    for request in list {
        let start = request.start_time.finite();
        let end = request.end_time.finite();
        all.first = all.first.min(start.unwrap_or(f64::INFINITY));
        all.last = all.last.max(end.unwrap_or(0.0));
        if let Some(failure) = request.error {
            all.failed.push(failure);
            continue;
        }
        all.succeeded += 1;
        let Some((start, end)) = start.zip(end) else { continue };
        let response = request.info.as_ref().and_then(|info| info.response_metrics.as_ref());
        let times = response.and_then(|response| response.output_token_times.as_ref());
        let times = times.or_else(|| request.info.as_ref()?.output_token_times.as_ref());
        let times: Vec<f64> = times.into_iter().flatten().filter_map(|time| time.finite()).collect();
        all.tokens += response.and_then(|response| response.output_tokens.finite()).unwrap_or_default();
        let mut row = [None, None, Some((end - start) * MS_PER_SECOND)];
        if let [first, .., last] = times.as_slice() {
            row[0] = Some((first - start) * MS_PER_SECOND);
            row[1] = Some((last - first) * MS_PER_SECOND / gaps(times.len()));
        }
        all.rows.push((start, row));
    }
    all.rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(all)
}

#[expect(clippy::cast_precision_loss, reason = "no reply has 2^53 tokens")]
fn gaps(tokens: usize) -> f64 {
    (tokens - 1) as f64
}

impl Requests {
    fn into_samples(self, draft: &mut Draft) {
        let column =
            |index: usize| -> Vec<f64> { self.rows.iter().filter_map(|(_, row)| row[index]).collect() };
        draft.samples(&Metric::TTFT, &column(0));
        draft.samples(&Metric::TPOT, &column(1));
        draft.samples(&Metric::E2E, &column(2));
    }
}

/// The requests alone: everything is taken from them.
fn from_requests(content: &Content) -> Result<Draft, IngestError> {
    let requests = requests(content)?;
    let mut draft = Draft::default();
    for failure in &requests.failed {
        let words = failure.error_type.0.as_deref().unwrap_or_default();
        let message = failure.error_msg.0.as_deref().unwrap_or_default();
        draft.failed(failure::kind(&format!("{words} {message}")), 1, words);
    }
    draft.outcomes(Some(requests.all), Some(requests.succeeded));
    draft.fact(Fact::Requests, Some(requests.all));
    define(&mut draft);
    draft.tokens(None, Number::of(requests.tokens).count(), TokenSource::Client);
    let seconds = requests.last - requests.first;
    if seconds.is_finite() && seconds > 0.0 {
        draft.wall_ms = Some(seconds * MS_PER_SECOND);
        draft.value(&Metric::OUTPUT_THROUGHPUT, Number::of(requests.tokens / seconds));
        draft.value(&Metric::REQUEST_THROUGHPUT, Number::of(requests.rows.len() as f64 / seconds));
    }
    draft.notes.push(
        "requests do not tell their stage: all stages are read as one group of unknown load".to_owned(),
    );
    requests.into_samples(&mut draft);
    Ok(draft)
}

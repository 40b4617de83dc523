//! The parts of guidellm's JSON and YAML that are read, over all its generations.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::number::{Number, Text};

#[derive(Deserialize)]
pub struct File {
    pub metadata: Option<Metadata>,
    pub config: Option<TopConfig>,
    pub args: Option<TopArgs>,
    pub benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
pub struct Metadata {
    #[serde(default)]
    pub guidellm_version: Text,
}

#[derive(Deserialize)]
pub struct TopConfig {
    pub spec: Option<Spec>,
}

#[derive(Deserialize)]
pub struct Spec {
    pub data: Option<Vec<Data>>,
    pub metrics: Option<SpecMetrics>,
}

#[derive(Deserialize)]
pub struct SpecMetrics {
    pub prefer_response_metrics: Option<bool>,
}

#[derive(Deserialize)]
pub struct Data {
    #[serde(default)]
    pub kind: Text,
    #[serde(default)]
    pub prompt_tokens: Text,
    #[serde(default)]
    pub output_tokens: Text,
}

/// 0.4 and 0.5.
#[derive(Deserialize)]
pub struct TopArgs {
    #[serde(default)]
    pub model: Text,
}

#[derive(Deserialize)]
pub struct Benchmark {
    pub config: Option<Config>,
    pub args: Option<Args>,
    pub worker: Option<Worker>,
    pub request_loader: Option<Loader>,
    pub request_totals: Option<Totals>,
    pub metrics: Metrics,
    pub requests: Option<Requests>,
    #[serde(default)]
    pub start_time: Number,
    #[serde(default)]
    pub duration: Number,
    pub run_stats: Option<RunStats>,
}

#[derive(Deserialize)]
pub struct RunStats {
    #[serde(default)]
    pub start_time: Number,
    #[serde(default)]
    pub end_time: Number,
}

#[derive(Deserialize)]
pub struct Config {
    pub strategy: Option<Strategy>,
    pub backend: Option<Backend>,
}

#[derive(Deserialize)]
pub struct Args {
    pub strategy: Option<Strategy>,
}

#[derive(Deserialize)]
pub struct Backend {
    #[serde(default)]
    pub model: Text,
}

#[derive(Deserialize)]
pub struct Worker {
    #[serde(default)]
    pub backend_model: Text,
}

#[derive(Deserialize)]
pub struct Loader {
    #[serde(default)]
    pub data: Text,
}

#[derive(Deserialize)]
pub struct Strategy {
    #[serde(default, rename = "type_")]
    pub kind: Text,
    #[serde(default)]
    pub streams: Number,
    #[serde(default)]
    pub rate: Number,
}

#[derive(Clone, Copy, Default, Deserialize)]
pub struct Totals {
    #[serde(default)]
    pub successful: Number,
    #[serde(default)]
    pub errored: Number,
    #[serde(default)]
    pub incomplete: Number,
}

#[derive(Deserialize)]
pub struct Metrics {
    pub request_totals: Option<Totals>,
    pub requests_per_second: Option<Status>,
    pub request_latency: Option<Status>,
    pub prompt_token_count: Option<Status>,
    pub output_token_count: Option<Status>,
    pub time_to_first_token_ms: Option<Status>,
    pub time_to_first_output_token_ms: Option<Status>,
    pub inter_token_latency_ms: Option<Status>,
    pub output_tokens_per_second: Option<Status>,
}

#[derive(Deserialize)]
pub struct Status {
    pub successful: Option<Distribution>,
}

#[derive(Deserialize)]
pub struct Distribution {
    #[serde(default)]
    pub mean: Number,
    #[serde(default)]
    pub median: Number,
    #[serde(default)]
    pub std_dev: Number,
    #[serde(default)]
    pub min: Number,
    #[serde(default)]
    pub max: Number,
    #[serde(default)]
    pub count: Number,
    #[serde(default)]
    pub total_sum: Number,
    #[serde(default)]
    pub percentiles: Option<BTreeMap<String, Number>>,
}

#[derive(Deserialize)]
pub struct Requests {
    pub successful: Option<Vec<Success>>,
    pub errored: Option<Vec<Failure>>,
}

#[derive(Deserialize)]
pub struct Success {
    #[serde(default, alias = "start_time")]
    pub request_start_time: Number,
    #[serde(default)]
    pub request_latency: Number,
    #[serde(default)]
    pub time_to_first_token_ms: Number,
    #[serde(default)]
    pub inter_token_latency_ms: Number,
}

#[derive(Deserialize)]
pub struct Failure {
    /// 0.2 and 0.3.
    #[serde(default)]
    pub error: Text,
    pub info: Option<Info>,
}

#[derive(Deserialize)]
pub struct Info {
    #[serde(default)]
    pub error: Text,
}

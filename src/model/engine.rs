//! The embedded engine's speeds: the subject that a simulated run measures, not part of the workload.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Finite;
use super::report::FailureKind;
use super::unique_map;

/// `[profile.NAME.engine]`: how fast each stage is, for all strategies, and what a strategy changes.
///
/// Request time = (preprocess + prompt encode + decode x output tokens) x (1 + (in flight - 1) x congestion).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Engine {
    /// Work before the prompt is read, in ms a request. No strategy's factor touches it.
    pub preprocess_ms: Finite,
    /// Reading the prompt, in ms a prompt token.
    pub prompt_encode_ms: Finite,
    /// Making one output token, in ms.
    pub decode_ms: Finite,
    /// What each further request in flight adds, as a share (script A: 0.15).
    pub congestion: Finite,
    /// Relative noise of each request's own stage times (standard deviation of their logarithm).
    pub noise: Finite,
    /// Chance that a request stops before its output limit.
    pub early_stop: Finite,
    /// Share of requests that fail, by kind (`http_429`, `timeout_total`, `cut`).
    #[serde(deserialize_with = "unique_map::deserialize")]
    pub failures: BTreeMap<FailureKind, Finite>,
    /// What a strategy changes. A strategy that is not here is the plain engine.
    #[serde(deserialize_with = "unique_map::deserialize")]
    pub strategies: BTreeMap<String, StrategySpeeds>,
}

/// What one strategy changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StrategySpeeds {
    /// Divides prompt encode and decode; 1.5 is faster than 1.
    pub factor: Finite,
    /// Multiplies preprocess: a way to slow one stage on purpose.
    pub preprocess_times: Finite,
    /// Multiplies prompt encode.
    pub prompt_encode_times: Finite,
    /// Multiplies decode.
    pub decode_times: Finite,
    /// Whether prompt prefixes that another request has sent before are not read again.
    pub prefix_cache: bool,
    /// Mean GPU memory in MB.
    pub gpu_memory_mb: Finite,
    /// Highest GPU memory in MB.
    pub gpu_memory_peak_mb: Finite,
}

const fn finite(value: u32) -> Finite {
    Finite::whole(value)
}

impl Default for Engine {
    fn default() -> Self {
        Engine {
            preprocess_ms: finite(8),
            prompt_encode_ms: Finite::thousandths(200),
            decode_ms: finite(14),
            congestion: Finite::thousandths(150),
            noise: Finite::thousandths(50),
            early_stop: Finite::thousandths(100),
            failures: BTreeMap::new(),
            strategies: BTreeMap::new(),
        }
    }
}

impl Default for StrategySpeeds {
    fn default() -> Self {
        StrategySpeeds {
            factor: finite(1),
            preprocess_times: finite(1),
            prompt_encode_times: finite(1),
            decode_times: finite(1),
            prefix_cache: false,
            gpu_memory_mb: finite(28_000),
            gpu_memory_peak_mb: finite(30_200),
        }
    }
}

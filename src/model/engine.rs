//! The embedded engine's speeds: the subject that a simulated run measures, not part of the workload.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

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
    /// What a strategy changes, over what its name stands for ([`StrategySpeeds::named`]). Read with [`Engine::strategy`].
    #[serde(deserialize_with = "over_known")]
    #[schemars(with = "BTreeMap<String, StrategyChanges>")]
    pub strategies: BTreeMap<String, StrategySpeeds>,
}

impl Engine {
    /// The speeds of a strategy: as configured, else what its name stands for.
    #[must_use]
    pub fn strategy(&self, name: &str) -> StrategySpeeds {
        self.strategies.get(name).cloned().unwrap_or_else(|| StrategySpeeds::named(name))
    }
}

/// What one strategy changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
            preprocess_ms: finite(6),
            prompt_encode_ms: Finite::thousandths(130),
            decode_ms: finite(14),
            congestion: Finite::thousandths(150),
            noise: Finite::thousandths(60),
            early_stop: Finite::thousandths(200),
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

impl StrategySpeeds {
    /// What a name stands for: script A's factors and the memory that its reports showed. Any other name is the plain engine.
    #[must_use]
    pub fn named(name: &str) -> StrategySpeeds {
        let (factor, prefix_cache, memory_mb, peak_mb) = match name {
            "int8_quant" => (1_500, false, 15_500, 16_700),
            "speculative_decode" => (1_800, false, 31_200, 33_700),
            "prefix_cache" => (1_300, true, 29_400, 31_800),
            _ => return StrategySpeeds::default(),
        };
        StrategySpeeds {
            factor: Finite::thousandths(factor),
            prefix_cache,
            gpu_memory_mb: finite(memory_mb),
            gpu_memory_peak_mb: finite(peak_mb),
            ..StrategySpeeds::default()
        }
    }
}

/// A strategy as a file writes it: only what differs from what its name stands for.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct StrategyChanges {
    /// Divides prompt encode and decode; 1.5 is faster than 1.
    factor: Option<Finite>,
    /// Multiplies preprocess: a way to slow one stage on purpose.
    preprocess_times: Option<Finite>,
    /// Multiplies prompt encode.
    prompt_encode_times: Option<Finite>,
    /// Multiplies decode.
    decode_times: Option<Finite>,
    /// Whether prompt prefixes that another request has sent before are not read again.
    prefix_cache: Option<bool>,
    /// Mean GPU memory in MB.
    gpu_memory_mb: Option<Finite>,
    /// Highest GPU memory in MB.
    gpu_memory_peak_mb: Option<Finite>,
}

impl StrategyChanges {
    fn over(self, known: &StrategySpeeds) -> StrategySpeeds {
        StrategySpeeds {
            factor: self.factor.unwrap_or(known.factor),
            preprocess_times: self.preprocess_times.unwrap_or(known.preprocess_times),
            prompt_encode_times: self.prompt_encode_times.unwrap_or(known.prompt_encode_times),
            decode_times: self.decode_times.unwrap_or(known.decode_times),
            prefix_cache: self.prefix_cache.unwrap_or(known.prefix_cache),
            gpu_memory_mb: self.gpu_memory_mb.unwrap_or(known.gpu_memory_mb),
            gpu_memory_peak_mb: self.gpu_memory_peak_mb.unwrap_or(known.gpu_memory_peak_mb),
        }
    }
}

/// Reads each strategy over what its name stands for, so that slowing one stage of `int8_quant` keeps its factor.
fn over_known<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, StrategySpeeds>, D::Error> {
    let written: BTreeMap<String, StrategyChanges> = unique_map::deserialize(deserializer)?;
    Ok(written
        .into_iter()
        .map(|(name, changes)| {
            let speeds = changes.over(&StrategySpeeds::named(&name));
            (name, speeds)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowing_one_stage_of_a_known_strategy_keeps_its_factor() {
        let engine: Engine =
            serde_json::from_str(r#"{"strategies": {"int8_quant": {"decode_times": 1.2}}}"#).unwrap();
        let known = StrategySpeeds::named("int8_quant");
        assert_eq!(known.factor.get(), 1.5);
        let slowed = StrategySpeeds { decode_times: Finite::thousandths(1_200), ..known };
        assert_eq!(engine.strategy("int8_quant"), slowed);
        assert_eq!(engine.strategy("speculative_decode").factor.get(), 1.8);
        assert_eq!(engine.strategy("anything"), StrategySpeeds::default());
    }

    #[test]
    fn a_misspelled_stage_is_refused() {
        let text = r#"{"strategies": {"int8_quant": {"decode_time": 1.2}}}"#;
        assert!(serde_json::from_str::<Engine>(text).unwrap_err().to_string().contains("decode_time"));
    }
}

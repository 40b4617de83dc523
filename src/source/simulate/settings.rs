//! The engine's settings: whether they make sense, and how a report records them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Finite;
use crate::model::engine::{Engine, StrategySpeeds};

use super::SimulateError;

/// Refuses speeds that would give times of zero, below zero or without end, and shares that are no shares.
///
/// # Errors
/// The first setting that makes no sense.
pub fn check(engine: &Engine) -> Result<(), SimulateError> {
    const MOST: f64 = 1e9;
    let within = |name: &str, value: Finite, least: f64, most: f64, expected: &'static str| {
        if (least..=most).contains(&value.get()) {
            Ok(())
        } else {
            Err(SimulateError::Setting { name: name.to_owned(), value, expected })
        }
    };
    let positive =
        |name: &str, value| within(name, value, f64::MIN_POSITIVE, MOST, "above 0 and at most 1e9");
    let share = |name: &str, value| within(name, value, 0.0, 1.0, "a share from 0 to 1");

    within("preprocess_ms", engine.preprocess_ms, 0.0, MOST, "0 to 1e9")?;
    positive("prompt_encode_ms", engine.prompt_encode_ms)?;
    positive("decode_ms", engine.decode_ms)?;
    within("congestion", engine.congestion, 0.0, MOST, "0 to 1e9")?;
    share("noise", engine.noise)?;
    share("early_stop", engine.early_stop)?;
    for (kind, rate) in &engine.failures {
        share(&format!("failures.{}", kind_name(*kind)), *rate)?;
    }
    let all_failures: f64 = engine.failures.values().map(|rate| rate.get()).sum();
    // A sum of decimal shares may end a rounding error above 1.
    if all_failures > 1.0 + 1e-9 {
        return Err(SimulateError::FailureSum);
    }
    for (name, strategy) in &engine.strategies {
        for (setting, value) in factors(strategy) {
            positive(&format!("strategies.{name}.{setting}"), value)?;
        }
        for (setting, value) in memory(strategy) {
            within(&format!("strategies.{name}.{setting}"), value, 0.0, MOST, "0 to 1e9")?;
        }
    }
    Ok(())
}

fn factors(strategy: &StrategySpeeds) -> [(&'static str, Finite); 4] {
    [
        ("factor", strategy.factor),
        ("preprocess_times", strategy.preprocess_times),
        ("prompt_encode_times", strategy.prompt_encode_times),
        ("decode_times", strategy.decode_times),
    ]
}

fn memory(strategy: &StrategySpeeds) -> [(&'static str, Finite); 2] {
    [("gpu_memory_mb", strategy.gpu_memory_mb), ("gpu_memory_peak_mb", strategy.gpu_memory_peak_mb)]
}

/// Every setting that shaped a run of these strategies, by its name in `[profile.NAME.engine]`.
pub fn recorded<'a>(engine: &Engine, strategies: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let Engine {
        preprocess_ms,
        prompt_encode_ms,
        decode_ms,
        congestion,
        noise,
        early_stop,
        failures,
        strategies: _,
    } = engine;
    let stages = [
        ("preprocess_ms", preprocess_ms),
        ("prompt_encode_ms", prompt_encode_ms),
        ("decode_ms", decode_ms),
        ("congestion", congestion),
        ("noise", noise),
        ("early_stop", early_stop),
    ];
    let mut settings: BTreeMap<String, String> =
        stages.into_iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
    for (kind, rate) in failures {
        settings.insert(format!("failures.{}", kind_name(*kind)), rate.to_string());
    }
    for name in strategies.collect::<BTreeSet<_>>() {
        let strategy = engine.strategy(name);
        for (setting, value) in factors(&strategy) {
            settings.insert(format!("strategies.{name}.{setting}"), value.to_string());
        }
        settings.insert(format!("strategies.{name}.prefix_cache"), strategy.prefix_cache.to_string());
    }
    settings
}

/// The name in files.
fn kind_name(kind: crate::model::report::FailureKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => name,
        _ => kind.words().to_owned(),
    }
}

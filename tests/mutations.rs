//! Real reports, damaged at random: no panic, no hang, and never a pass that an independent reading of the damaged file
//! does not allow.
//!
//! `PACEGATE_MUTATIONS=1000000 cargo test --release --test mutations` runs a million of each; the default is a few
//! thousand, so that every run of the suite has some.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

use std::fs;
use std::path::Path;

use pacegate::baseline;
use pacegate::config::Config;
use pacegate::gate;
use pacegate::model::verdict::BaselineRef;
use pacegate::model::{Baseline, Outcome, Report};
use pacegate::source::ingest::{self, Input, Options};
use serde_json::Value;

const DEFAULT: u64 = 1000;

/// A plain generator of repeatable numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }
}

/// What a value may become.
const POISON: &[&str] = &[
    "null",
    "0",
    "-1",
    "1e308",
    "1e-300",
    "\"x\"",
    "\"12.5\"",
    "[]",
    "{}",
    "true",
    "9007199254740993",
    "0.5",
    "1000000",
    "\"\"",
    "[null]",
    "-0.0",
];

/// All places in a document, as JSON pointers.
fn places(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| {
            let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
            into.push(path.clone());
            places(inner, &path, into);
        }),
        Value::Array(items) => items.iter().enumerate().take(20).for_each(|(at, inner)| {
            let path = format!("{path}/{at}");
            into.push(path.clone());
            places(inner, &path, into);
        }),
        _ => {}
    }
}

fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    match value.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(&key.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(items)) => {
            if let Ok(at) = key.parse::<usize>()
                && at < items.len()
            {
                items.remove(at);
            }
        }
        _ => {}
    }
}

/// One to three edits of the document's structure.
fn edited(document: &Value, dice: &mut Dice) -> String {
    let mut value = document.clone();
    for _ in 0..=dice.roll(3) {
        let mut all = Vec::new();
        places(&value, "", &mut all);
        if all.is_empty() {
            break;
        }
        let place = all[dice.roll(all.len())].clone();
        match dice.roll(4) {
            0 => remove(&mut value, &place),
            1 => {
                if let Some(number) = value.pointer(&place).and_then(Value::as_f64) {
                    let factor = [0.0, 0.5, 1.05, 1.2, 3.0, 1000.0, -1.0][dice.roll(7)];
                    *value.pointer_mut(&place).unwrap() = serde_json::json!(number * factor);
                }
            }
            _ => {
                *value.pointer_mut(&place).unwrap() =
                    serde_json::from_str(POISON[dice.roll(POISON.len())]).unwrap()
            }
        }
    }
    value.to_string()
}

/// A few bytes flipped, cut out, doubled, or the end cut off.
fn scratched(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(bytes.len());
        match dice.roll(5) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => drop(bytes.remove(at)),
            2 if !bytes.is_empty() => bytes[at] ^= 1 << dice.roll(8),
            3 => {
                let piece: Vec<u8> = bytes.iter().skip(at).take(dice.roll(40)).copied().collect();
                bytes.splice(at..at, piece);
            }
            _ if !bytes.is_empty() => bytes[at] = b"0123456789.,:{}[]\"eE-\\"[dice.roll(22)],
            _ => {}
        }
    }
    bytes
}

fn read(path: &Path) -> Result<Report, ingest::IngestError> {
    ingest::read(&[Input { strategy: None, path: path.to_path_buf() }], &Options::default())
}

fn outcome(baseline: &Baseline, candidate: &Report) -> Outcome {
    let policy = Config::default().policy(None);
    let reference = BaselineRef {
        path: String::new(),
        blessed: None,
        commit: None,
        jobs: 1,
        model: None,
        digest: String::new(),
    };
    let verdict = gate::judge(gate::Input::new(
        candidate,
        Some((baseline, reference)),
        &policy,
        time::macros::date!(2026 - 01 - 01),
    ))
    .unwrap();
    // Every sentence of every output must be sayable.
    let _ = pacegate::emit::terminal(&verdict, pacegate::emit::Style::default());
    verdict.outcome
}

/// Why the damaged file may not pass, as an independent reader of the format sees it.
type Objection = fn(&Value, &Value) -> Option<String>;

/// A number, also where it is written as a string.
fn number(value: &Value, pointer: &str) -> Option<f64> {
    let found = value.pointer(pointer)?;
    found.as_f64().or_else(|| found.as_str()?.trim().parse().ok()).filter(|n: &f64| n.is_finite())
}

/// Both files tell, and not the same. What a file no longer tells is said in the notes and refuses nothing.
fn differ(old: &Value, new: &Value, key: &str) -> bool {
    let told = |value: &Value| match value.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    told(old).zip(told(new)).is_some_and(|(old, new)| old != new)
}

/// `None` where the new number is within +10 % or the floor of the old one.
fn slower(old: &Value, new: &Value, pointer: &str, floor: f64) -> Option<String> {
    let before = number(old, pointer)?;
    match number(new, pointer) {
        None => Some(format!("{pointer} is gone")),
        Some(after) if after <= 0.0 => Some(format!("{pointer} is {after}")),
        Some(after) if after > before * 1.1 + 1e-6 && after - before > floor + 1e-6 => {
            Some(format!("{pointer}: {before} to {after}"))
        }
        Some(_) => None,
    }
}

fn vllm(old: &Value, new: &Value) -> Option<String> {
    let completed = number(new, "/completed").unwrap_or(0.0);
    let failed = number(new, "/failed").or_else(|| Some(number(new, "/num_prompts")? - completed));
    if differ(old, new, "model_id") {
        return Some("another model".into());
    }
    if completed <= 0.0 || number(new, "/total_output_tokens").is_some_and(|n| n <= 0.0) {
        return Some("nothing succeeded, or no token came".into());
    }
    let Some(failed) = failed else { return Some("no count of failures".into()) };
    if completed / (completed + failed) < 0.95 - 1e-9 {
        return Some(format!("{failed} failed"));
    }
    let rate = number(new, "/output_throughput").unwrap_or(0.0);
    if rate < 0.9 * number(old, "/output_throughput").unwrap() - 1e-6 {
        return Some(format!("throughput {rate}"));
    }
    [("/median_ttft_ms", 2.0), ("/p95_ttft_ms", 2.0), ("/median_tpot_ms", 0.2), ("/p95_tpot_ms", 0.2)]
        .into_iter()
        .find_map(|(pointer, floor)| slower(old, new, pointer, floor))
}

fn script_b(old: &Value, new: &Value) -> Option<String> {
    let (old, new) = (&plain(old), &plain(new));
    let (total, failed) =
        (number(new, "/reliability/totalrequests"), number(new, "/reliability/failedrequests"));
    if let (Some(total), Some(failed)) = (total, failed)
        && (total <= 0.0 || (total - failed) / total < 0.95 - 1e-9)
    {
        return Some(format!("{failed} of {total} failed"));
    }
    let total = total.or_else(|| number(new, "/numrequests"));
    if number(new, "/reliability/successrate").is_none() && total.zip(failed).is_none() {
        return Some("no success rate".into());
    }
    if differ(old, new, "model") || differ(old, new, "concurrency") {
        return Some("another model or level".into());
    }
    [("/latency/p50ttftms", 2.0), ("/latency/p95ttftms", 2.0), ("/latency/p95e2ems", 10.0)]
        .into_iter()
        .find_map(|(pointer, floor)| slower(old, new, pointer, floor))
}

/// A report with its keys as the readers take them: without case and punctuation, and `95_ttft` as P95 TTFT.
fn plain(document: &Value) -> Value {
    let name = |key: &str| match bare(key) {
        bare if bare.starts_with(|c: char| c.is_ascii_digit()) => format!("p{bare}"),
        bare => bare,
    };
    match document {
        Value::Object(map) => map.iter().map(|(key, value)| (name(key), plain(value))).collect(),
        other => other.clone(),
    }
}

/// A key without case and punctuation.
fn bare(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// A summary with its percentiles under one spelling: `P95`, `95`, `[95` and `p95` are read alike.
fn spelled(summary: &Value) -> Value {
    let digits = |key: &str| key.chars().filter(char::is_ascii_digit).collect::<String>();
    let mut plain = serde_json::Map::new();
    for (metric, statistics) in summary.as_object().into_iter().flatten() {
        let inner = statistics.as_object().into_iter().flatten();
        let inner = inner.map(|(key, value)| (format!("p{}", digits(key)), value.clone()));
        plain.insert(bare(metric), Value::Object(inner.collect()));
    }
    Value::Object(plain)
}

fn script_a(old: &Value, new: &Value) -> Option<String> {
    let of = |document: &Value, name: &str| {
        let all = document.get("results")?.as_object()?;
        let named = all.values().find(|entry| entry.get("strategy").and_then(Value::as_str) == Some(name));
        named.or_else(|| all.get(&bare(name))).cloned()
    };
    let (old, new) = (&plain(old), &plain(new));
    ["BASELINE", "INT8_QUANT", "SPECULATIVE_DECODE"].into_iter().find_map(|strategy| {
        let before = of(old, strategy)?;
        let Some(after) = of(new, strategy) else { return Some(format!("{strategy} is gone")) };
        [
            ("/ttft/p50", 2.0),
            ("/ttft/p95", 2.0),
            ("/tpot/p50", 0.2),
            ("/tpot/p95", 0.2),
            ("/totallatency/p95", 10.0),
        ]
        .into_iter()
        .find_map(|(field, floor)| slower(&spelled(&before), &spelled(&after), field, floor))
    })
}

/// The report of a vLLM run as it is written without `--save-detailed`, with P95s.
fn vllm_summary() -> String {
    let text = include_str!("cases/vllm-same-again/blessed.json");
    let mut value: Value = serde_json::from_str(text).unwrap();
    let map = value.as_object_mut().unwrap();
    map.retain(|key, value| !value.is_array() && !key.starts_with("p50_"));
    for (key, n) in [("completed", 300), ("num_prompts", 300), ("total_output_tokens", 9600)] {
        map.insert(key.into(), n.into());
    }
    value.to_string()
}

fn hold(name: &str, original: &str, objection: Objection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    fs::write(&path, original).unwrap();
    let blessed = baseline::fresh(&read(&path).unwrap());
    let document: Value = serde_json::from_str(original).unwrap();
    assert_eq!(outcome(&blessed, &read(&path).unwrap()), Outcome::Pass, "{name}: the original must pass");
    let cases = std::env::var("PACEGATE_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(DEFAULT);
    let (mut dice, mut passed, mut refused) = (Dice(20_260_301), 0u64, 0u64);
    for case in 0..cases {
        let text = match dice.roll(3) {
            0 => scratched(original, &mut dice),
            _ => edited(&document, &mut dice).into_bytes(),
        };
        fs::write(&path, &text).unwrap();
        let Ok(report) = read(&path) else {
            refused += 1;
            continue;
        };
        if outcome(&blessed, &report) != Outcome::Pass {
            continue;
        }
        passed += 1;
        let text = String::from_utf8_lossy(&text);
        let seen: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(Value::Null);
        let why = objection(&document, &seen);
        assert!(why.is_none(), "{name}, case {case} passed though {}:\n{text}", why.unwrap_or_default());
    }
    // Otherwise the damage never got as far as the judge.
    assert!(
        passed > 0 && refused > 0 && passed + refused < cases,
        "{name}: {passed} passed, {refused} refused"
    );
}

#[test]
fn no_damaged_vllm_report_passes_by_mistake() {
    hold("vllm", &vllm_summary(), vllm);
}

#[test]
fn no_damaged_load_test_report_passes_by_mistake() {
    // With the 60 requests of the original file P95 has too few samples to be judged.
    let text = include_str!("data/reports/original/benchmark_runner-c8.json").replace(": 60,", ": 300,");
    hold("script b", &text, script_b);
}

#[test]
fn no_damaged_strategy_report_passes_by_mistake() {
    let text = include_str!("data/reports/original/benchmark-chat-c8.json");
    hold("script a", text, script_a);
}

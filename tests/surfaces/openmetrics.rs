//! OpenMetrics text, read by the grammar of its specification.

use std::collections::{BTreeMap, BTreeSet};

use pacegate::emit::openmetrics;
use pacegate::model::*;

use crate::{golden, samples};

/// Family, labels, value of every sample; panics on what a strict reader refuses.
pub fn read(text: &str) -> BTreeMap<(String, BTreeMap<String, String>), f64> {
    let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end: {text}"));
    let (mut current, mut closed) = (String::new(), BTreeSet::new());
    let mut samples = BTreeMap::new();
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!help.contains(['\\', '"']), "{line}");
            assert!(closed.insert(name.to_owned()), "{name} comes twice");
            name.clone_into(&mut current);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert_eq!(rest, format!("{current} gauge"));
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert!(name == current && name.ends_with(&format!("_{unit}")), "{line}");
        } else {
            let (name, rest) = line.split_once('{').unwrap();
            assert_eq!(name, current, "{line}");
            let (labels, rest) = labels(rest);
            let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
            assert!(value.is_finite(), "{line}");
            assert!(samples.insert((name.to_owned(), labels), value).is_none(), "twice: {line}");
        }
    }
    samples
}

fn labels(mut rest: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    loop {
        let (name, after) = rest.split_once("=\"").unwrap();
        assert!(name.chars().all(|c| c.is_ascii_lowercase()), "{name}");
        let (mut value, mut chars) = (String::new(), after.chars());
        loop {
            match chars.next().unwrap() {
                '"' => break,
                '\\' => value.push(match chars.next().unwrap() {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    c => panic!("\\{c} in {after}"),
                }),
                c => value.push(c),
            }
        }
        assert!(labels.insert(name.to_owned(), value).is_none(), "{name} twice");
        match chars.next().unwrap() {
            '}' => return (labels, chars.as_str()),
            ',' => rest = chars.as_str(),
            c => panic!("{c} after a label"),
        }
    }
}

fn value(verdict: &Verdict, name: &str, wanted: &[(&str, &str)]) -> Option<f64> {
    let mut wanted: BTreeMap<String, String> =
        wanted.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    wanted.insert("profile".to_owned(), verdict.profile.clone());
    read(&openmetrics(verdict)).get(&(name.to_owned(), wanted)).copied()
}

#[test]
fn every_ending_reads_as_its_snapshot() {
    for (name, verdict) in samples::all() {
        let text = openmetrics(&verdict);
        read(&text);
        golden::assert_same(&format!("tests/snapshots/openmetrics/{name}.prom"), &text);
    }
}

#[test]
fn values_are_in_base_units_on_both_sides() {
    let mut v = samples::regression_unconfirmed();
    samples::put(&mut v, samples::not_gated("chat/c8:gpu_memory", 40_000.0, 41_000.0));
    let of = |stat, side| [("group", "chat/c8"), ("stat", stat), ("side", side)];
    assert_eq!(value(&v, "pacegate_ttft_seconds", &of("p95", "blessed")), Some(0.412));
    assert_eq!(value(&v, "pacegate_ttft_seconds", &of("p95", "candidate")), Some(0.48906));
    assert_eq!(value(&v, "pacegate_success_ratio", &of("value", "candidate")), Some(1.0));
    let throughput = "pacegate_output_throughput_tokens_per_second";
    assert_eq!(value(&v, throughput, &of("value", "candidate")), Some(409.8));
    assert_eq!(value(&v, "pacegate_gpu_memory_bytes", &of("value", "candidate")), Some(41e9));
    assert_eq!(value(&v, "pacegate_output_tokens", &of("mean", "candidate")), Some(181.4));
}

#[test]
fn verdict_and_exit_code_are_gauges() {
    for (name, verdict) in samples::all() {
        assert_eq!(value(&verdict, "pacegate_exit_code", &[]), Some(f64::from(verdict.exit_code)), "{name}");
        let word = verdict.outcome.word().to_lowercase().replace(' ', "_");
        assert_eq!(value(&verdict, "pacegate_outcome", &[("outcome", &word)]), Some(1.0), "{name}");
        let all = read(&openmetrics(&verdict));
        let ones = all.iter().filter(|((family, _), v)| family == "pacegate_outcome" && **v == 1.0);
        assert_eq!(ones.count(), 1, "{name}");
    }
    let v = samples::regression_unconfirmed();
    let of = [("group", "chat/c8"), ("metric", "ttft"), ("stat", "p95")];
    assert_eq!(value(&v, "pacegate_field_fails", &of), Some(1.0));
    let change = value(&v, "pacegate_change_ratio", &of).unwrap();
    assert!((change - 0.187_038_8).abs() < 1e-6, "{change}");
}

#[test]
fn what_failed_has_no_latency() {
    let all = read(&openmetrics(&samples::all_failed()));
    assert!(!all.keys().any(|(_, labels)| labels.get("side").is_some_and(|side| side == "candidate")));
    let mut invalid = samples::pass();
    for finding in &mut invalid.findings {
        finding.judgement = Judgement::Invalid;
    }
    let all = read(&openmetrics(&invalid));
    assert!(!all.keys().any(|(_, labels)| labels.get("side").is_some_and(|side| side == "candidate")));
}

#[test]
fn metrics_from_outside_cannot_meet_ours_or_each_other() {
    let mut v = samples::pass();
    for name in ["ttft_seconds", "a.b", "a-b", "a_b", "exit_code", "outcome"] {
        let mut finding = samples::not_gated("chat/c1:goodput", 1.0, 2.0);
        finding.field.metric = Metric::named(name);
        v.findings.push(finding);
    }
    // A field that comes twice, as a broken file might bring it.
    let twice = v.findings[0].clone();
    v.findings.push(Finding { new: Some(samples::f(9.0)), ..twice });
    let all = read(&openmetrics(&v));
    assert_eq!(all.keys().filter(|(family, _)| family == "pacegate_other_value").count(), 12);
}

//! The `end_to_end` vectors of the decision rule, from samples to verdict.
//!
//! `tests/data/stats-golden.json` was made by an independent implementation in NumPy and SciPy.

use std::collections::BTreeMap;

use pacegate::model::policy::Decide;
use pacegate::model::verdict::Channel;
use pacegate::model::{Dimensions, Group, Metric, Outcome, Report, Round, Verdict};
use serde_json::Value;

use crate::build;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn group(round: &Value) -> Group {
    let e2e = numbers(&round["e2e"]);
    let mut metrics = BTreeMap::new();
    for metric in [Metric::TTFT, Metric::TPOT, Metric::E2E] {
        let samples = numbers(&round[metric.id()]);
        metrics.insert(metric.clone(), build::sampled(&metric, &samples));
    }
    let rate = round["output_throughput"].as_f64().unwrap();
    metrics.insert(Metric::OUTPUT_THROUGHPUT, build::throughput(rate, &e2e));
    let dimensions = Dimensions { concurrency: Some(8), ..Dimensions::default() };
    build::group(dimensions, metrics, e2e.len() as u64)
}

fn jobs(value: &Value) -> Vec<Vec<Round>> {
    let round = |round: &Value| Round { seed: None, groups: vec![group(round)], against: Vec::new() };
    value.as_array().unwrap().iter().map(|job| job.as_array().unwrap().iter().map(round).collect()).collect()
}

/// In a duet each candidate round keeps the baseline round of its block.
fn alternated(input: &Value) -> Report {
    let mut candidate = jobs(&input["candidate_jobs"]);
    let blessed = jobs(&input["baseline_jobs"]);
    for (round, other) in candidate[0].iter_mut().zip(&blessed[0]) {
        round.against.clone_from(&other.groups);
    }
    build::report(candidate)
}

fn close(what: &str, got: f64, wanted: f64, tolerance: f64) {
    assert!((got - wanted).abs() <= tolerance * wanted.abs().max(1.0), "{what}: {got}, expected {wanted}");
}

fn hold_against(case: &Value, verdict: &Verdict) {
    let expected = &case["expected"];
    let id = case["id"].as_str().unwrap();
    let tolerance = case["rel_tol"].as_f64().unwrap();
    assert_eq!(verdict.tier.unwrap().name(), expected["tier"].as_str().unwrap(), "{id}");
    let fails = expected["gate"] == "fail";
    assert_eq!(verdict.outcome, if fails { Outcome::Regression } else { Outcome::Pass }, "{id}");
    let find = |name: &str| verdict.findings.iter().find(|f| f.field.local() == name).unwrap();
    for (member, field) in
        expected["family"].as_array().unwrap().iter().zip(expected["fields"].as_array().unwrap())
    {
        let name = member["field"].as_str().unwrap();
        let finding = find(name);
        if !member["gated"].as_bool().unwrap() {
            assert!(!finding.gated, "{id} {name} is a companion and never judged");
            continue;
        }
        let what = |of: &str| format!("{id} {name} {of}");
        assert_eq!(finding.judgement.word(), field["verdict"].as_str().unwrap(), "{id} {name}");
        let ratio = finding.new.unwrap().get() / finding.old.unwrap().get();
        close(&what("ratio"), ratio, field["ratio"].as_f64().unwrap(), tolerance);
        let evidence = finding.evidence.unwrap();
        close(&what("p"), evidence.p.get(), field["p"].as_f64().unwrap(), tolerance);
        close(&what("p_holm"), evidence.p_holm.get(), field["p_holm"].as_f64().unwrap(), tolerance);
        match field["mde"].as_f64() {
            // The vectors count more time; a rate is said to fall by less than all of it.
            Some(mde) if name.ends_with("throughput") => {
                close(&what("mde"), evidence.resolution.unwrap().get(), mde / (1.0 + mde), tolerance);
            }
            Some(mde) => close(&what("mde"), evidence.resolution.unwrap().get(), mde, tolerance),
            None => assert!(evidence.resolution.is_none(), "{id} {name} can't fail by itself"),
        }
    }
    for name in expected["too_few"].as_array().unwrap() {
        assert_eq!(find(name.as_str().unwrap()).judgement.word(), "too few samples", "{id}");
    }
    assert_eq!(verdict.counts.over_limit as u64, expected["over_count"].as_u64().unwrap(), "{id}");
    let expected_over = expected["over_expected"].as_f64().unwrap();
    close(&format!("{id} expected"), verdict.counts.over_expected.unwrap().get(), expected_over, tolerance);
    close(
        &format!("{id} run mde"),
        verdict.resolution.run_wide.unwrap().get(),
        expected["run"]["mde"].as_f64().unwrap(),
        tolerance,
    );
    let run = verdict.causes.iter().find(|cause| cause.channel == Channel::RunWide);
    assert_eq!(
        run.is_some(),
        expected["run"]["over_limit"].as_bool().unwrap(),
        "{id} run-wide over its limit"
    );
    if let Some(run) = run {
        assert_eq!(run.regressed, expected["run"]["regressed"].as_bool().unwrap(), "{id}");
        close(
            &format!("{id} run p"),
            run.p.unwrap().get(),
            expected["run"]["p"].as_f64().unwrap(),
            tolerance,
        );
    }
}

#[test]
fn every_end_to_end_vector_gives_the_verdict_of_the_independent_implementation() {
    let golden: Value = serde_json::from_str(include_str!("../data/stats-golden.json")).unwrap();
    let cases: Vec<&Value> =
        golden["cases"].as_array().unwrap().iter().filter(|case| case["kind"] == "end_to_end").collect();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let input = &case["input"];
        let gated: Vec<&str> =
            input["gated"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        let policy = build::policy(&gated, input["limit"].as_f64().unwrap(), Decide::Evidence);
        let blessed = build::report(jobs(&input["baseline_jobs"]));
        let candidate = match input["tier"].as_str().unwrap() {
            "duet" => alternated(input),
            _ => build::report(jobs(&input["candidate_jobs"])),
        };
        let verdict = build::judge(&build::blessed(vec![blessed.clone()]), &candidate, &policy, &[]);
        hold_against(case, &verdict);
        through_files(case, blessed, candidate, &gated, &verdict);
    }
}

/// The same case through `pacegate check` on files: the same outcome and the same word for every field.
fn through_files(case: &Value, blessed: Report, candidate: Report, gated: &[&str], verdict: &Verdict) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    // A blessed baseline is of several reports; one with many jobs is read alike.
    write("baseline.json", serde_json::to_string(&build::blessed(vec![blessed])).unwrap());
    write("report.json", serde_json::to_string(&candidate).unwrap());
    write("pacegate.toml", rules(gated));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pacegate"))
        .args(["check", "report.json", "--baseline", "baseline.json", "--json", "verdict.json", "-q"])
        .current_dir(folder.path())
        .env_remove("CI")
        .output()
        .unwrap();
    let id = case["id"].as_str().unwrap();
    let fails = case["expected"]["gate"] == "fail";
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(i32::from(fails)), "{id}: {said}");
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("verdict.json")).unwrap()).unwrap();
    for finding in verdict.findings.iter().filter(|finding| finding.gated) {
        let field = serde_json::to_value(&finding.field).unwrap();
        let found =
            written["findings"].as_array().unwrap().iter().find(|other| other["field"] == field).unwrap();
        let word = serde_json::to_value(finding.judgement).unwrap();
        assert_eq!(found["judgement"], word, "{id} {}", finding.field);
    }
}

/// The gated fields at 10 % without floors, and nothing else.
fn rules(gated: &[&str]) -> String {
    let defaults =
        ["ttft.p50", "ttft.p95", "tpot.p50", "tpot.p95", "e2e.p95", "output_throughput", "success_rate"];
    let off = defaults
        .iter()
        .filter(|field| !gated.contains(field))
        .map(|field| format!("\"{field}\" = {{ gate = false }}"));
    let on = gated.iter().map(|field| {
        let rate = field.ends_with("throughput");
        let (key, floor) =
            if rate { ("max_decrease", "") } else { ("max_increase", ", min_change = \"0ms\"") };
        format!("\"{field}\" = {{ {key} = \"10%\"{floor} }}")
    });
    let lines: Vec<String> = off.chain(on).collect();
    format!("[gate]\ndecide = \"evidence\"\nblind_above = \"100000%\"\n{}\n", lines.join("\n"))
}

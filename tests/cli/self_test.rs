//! `pacegate self-test`: does it find a gate that can't fail, and leave one alone that can?

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{blessed, run, said};

/// The built-in profile blessed: exact, so the limits decide to the last digit.
pub fn blessed_engine() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["run", "--profile", "smoke", "--bless", "--reason", "first"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    folder
}

/// The same numbers as if an endpoint had given them: noise counts, evidence decides.
pub fn blessed_endpoint() -> tempfile::TempDir {
    let folder = blessed_engine();
    let path = folder.path().join("baselines/smoke.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"simulate\"", "\"load\"");
    fs::write(path, text).unwrap();
    folder
}

fn found(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("found.json")).unwrap()).unwrap()
}

fn trial<'a>(found: &'a Value, fault: &str) -> &'a Value {
    let trials = found["trials"].as_array().unwrap();
    let place = trials.iter().position(|trial| trial["fault"] == fault);
    assert!(place.is_some(), "no trial {fault}: {trials:#?}");
    &trials[place.unwrap()]
}

#[test]
fn a_gate_that_can_fail_passes_and_every_fault_is_named() {
    let folder = blessed_engine();
    let output = run(folder.path(), &["self-test", "--json", "found.json"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.starts_with("SELF-TEST PASSED: this gate can fail; all 30 trials ended as they must\n"),
        "{said}"
    );
    assert!(said.contains("none replayed (the embedded engine repeats its numbers exactly)"), "{said}");
    let found = found(folder.path());
    for (fault, exit) in [
        ("nothing planted", 0),
        ("ttft +15 % everywhere", 1),
        ("output_throughput \u{2212}15 % in baseline/chat/c8 alone", 1),
        ("tpot as much faster everywhere", 0),
        ("tpot no longer in the report", 3),
        ("a baseline in which ttft is 0", 3),
        ("NaN in place of a number", 2),
        ("2 % of the requests failed", 1),
        ("every request failed", 5),
        ("group baseline/chat/c8 under another name", 3),
        ("another model answered", 3),
        ("speculative_decode/chat/c8 claims 0.56x for its 1.80x: divided the wrong way round", 3),
    ] {
        let trial = trial(&found, fault);
        assert_eq!(trial["found"], "caught", "{fault}");
        assert_eq!(trial["expected"], exit, "{fault}");
    }
}

#[test]
fn what_noise_hides_is_said_with_how_much_it_takes() {
    let folder = blessed_endpoint();
    let output = run(folder.path(), &["self-test", "--replays", "20", "--json", "found.json"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let found = found(folder.path());
    assert_eq!(found["tier"], "single");
    assert_eq!(found["decided_by"], "evidence");
    let from = &trial(&found, "ttft +15 % everywhere")["found"]["caught_from"];
    let (missed, caught) = (from["missed"].as_f64().unwrap(), from["caught"].as_f64().unwrap());
    assert!((missed - 0.15).abs() < 1e-12, "{missed}");
    assert!(caught > missed && caught < 1.0, "{caught}");
    assert!(said.contains("within the noise; exit 1 from "), "{said}");
    assert!(said.contains("pacegate plan"), "{said}");
    // The same machine gives unchanged runs that hardly ever fail.
    let replays = &found["replays"][0];
    assert_eq!((replays["noise"].as_str(), replays["runs"].as_u64()), (Some("requests"), Some(20)));
    assert!(replays["failed"].as_u64().unwrap() <= 1 && replays["blocked"] == 0, "{replays}");
}

#[test]
fn what_it_says_is_caught_is_caught_and_a_hair_less_is_not() {
    let folder = blessed_endpoint();
    run(folder.path(), &["self-test", "--replays", "0", "--json", "found.json"]);
    let from =
        trial(&found(folder.path()), "ttft +15 % everywhere")["found"]["caught_from"]["caught"].clone();
    let from = from.as_f64().unwrap();
    for (factor, exit) in [(1.0 + from + 1e-3, 1), (1.0 + from - 1e-3, 0)] {
        let mut baseline: Value =
            serde_json::from_slice(&fs::read(folder.path().join("baselines/smoke.json")).unwrap()).unwrap();
        let mut report = baseline["reports"][0].take();
        slow_ttft(&mut report, factor);
        fs::write(folder.path().join("slow.json"), report.to_string()).unwrap();
        let output = run(folder.path(), &["check", "slow.json"]);
        assert_eq!(output.status.code(), Some(exit), "{factor}: {}", said(&output));
    }
}

/// Makes every TTFT of a report longer, in the file's own compact code.
fn slow_ttft(report: &mut Value, factor: f64) {
    for round in report["jobs"][0]["rounds"].as_array_mut().unwrap() {
        for group in round["groups"].as_array_mut().unwrap() {
            let ttft = &mut group["metrics"]["ttft"];
            let code = ttft["samples"].as_str().unwrap().to_owned();
            let samples = pacegate::model::Samples::try_from(code).unwrap();
            let longer = samples.sorted_millis().into_iter().map(|ms| ms * factor).collect::<Vec<_>>();
            let samples = pacegate::model::Samples::from_millis(&longer).unwrap();
            ttft["samples"] = String::from(samples).into();
            for value in ttft["stats"].as_object_mut().unwrap().values_mut() {
                *value = (value.as_f64().unwrap() * factor).into();
            }
        }
    }
}

#[test]
fn a_real_report_of_another_tool_is_tried_with_what_it_has() {
    let (folder, _) = blessed();
    let output = run(
        folder.path(),
        &["self-test", "--baseline", "base.json", "--replays", "50", "--json", "found.json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let found = found(folder.path());
    assert_eq!(found["decided_by"], "limits");
    assert_eq!(trial(&found, "ttft +15 % everywhere")["found"], "caught");
}

#[test]
fn a_gate_that_cannot_fail_is_found_out() {
    let folder = blessed_engine();
    let rules = "[gate]\n\"ttft.p50\" = { max_increase = \"10000%\" }\n\"ttft.p95\" = { max_increase = \"10000%\" }\n";
    let waiver = |field: &str| {
        format!(
            "[[waiver]]\nfield = \"**:{field}\"\nlimit = \"+100000%\"\nreason = \"later\"\nuntil = 2999-01-01\n"
        )
    };
    for (rules, missed) in [(rules.to_owned(), "ttft"), (waiver("tpot.p50") + &waiver("tpot.p95"), "tpot")] {
        fs::write(folder.path().join("pacegate.toml"), format!("[profile.smoke]\n{rules}")).unwrap();
        let output = run(folder.path(), &["self-test", "--json", "found.json"]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("SELF-TEST FAILED: "), "{said}");
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with('!')).collect();
        assert!(!lines.is_empty() && lines.iter().all(|line| line.contains(missed)), "{said}");
    }
}

#[test]
fn without_a_gate_there_is_nothing_to_try() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["self-test"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("bless first: pacegate run --bless"), "{}", said(&output));
    let folder = blessed_engine();
    fs::copy(folder.path().join("baselines/smoke.json"), folder.path().join("baselines/other.json")).unwrap();
    let output = run(folder.path(), &["self-test"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--profile NAME or --baseline FILE"), "{}", said(&output));
}

#[test]
fn no_report_takes_the_place_of_the_baseline() {
    let folder = blessed_endpoint();
    let path = folder.path().join("baselines/smoke.json");
    let before = fs::read(&path).unwrap();
    for command in ["self-test", "plan"] {
        let output = run(folder.path(), &[command, "--json", "baselines/../baselines/smoke.json"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("would overwrite the baseline"), "{}", said(&output));
    }
    let report = fs::read(folder.path().join("baselines/smoke.json")).unwrap();
    assert_eq!(report, before);
    // Nor of a report that a folder leads to.
    let (folder, _) = blessed();
    fs::create_dir(folder.path().join("results")).unwrap();
    fs::rename(folder.path().join("run.json"), folder.path().join("results/run.json")).unwrap();
    let before = fs::read(folder.path().join("results/run.json")).unwrap();
    for arguments in [
        ["check", "results", "--baseline", "base.json", "--report", "results/run.json"].as_slice(),
        ["convert", "results", "--output", "results/run.json"].as_slice(),
        ["trend", "results", "--json", "results/run.json"].as_slice(),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("would overwrite"), "{}", said(&output));
    }
    assert_eq!(fs::read(folder.path().join("results/run.json")).unwrap(), before);
}

#[test]
fn a_profile_that_is_not_in_the_file_is_a_slip() {
    let (folder, _) = blessed();
    let rules = "[profile.strict.gate]\n\"ttft.p95\" = { max_increase = \"1%\" }\n";
    fs::write(folder.path().join("pacegate.toml"), rules).unwrap();
    for command in [["check", "run.json"].as_slice(), ["self-test"].as_slice(), ["plan"].as_slice()] {
        let output =
            run(folder.path(), &[command, &["--baseline", "base.json", "--profile", "strct"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("unknown profile \"strct\""), "{}", said(&output));
        assert!(said(&output).contains("strict"), "{}", said(&output));
    }
}

#[test]
fn a_field_whose_limit_nothing_crosses_is_found_beside_one_that_is_caught() {
    let folder = blessed_engine();
    let rules = "[profile.smoke.gate]\n\"ttft.p95\" = { max_increase = \"1000000%\" }\n";
    fs::write(folder.path().join("pacegate.toml"), rules).unwrap();
    let output = run(folder.path(), &["self-test"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("! baseline/chat/c8:ttft.p95 alone, up to its limit"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_pass_of_the_very_numbers_that_are_blessed_says_so_in_its_first_line() {
    let (folder, _) = blessed();
    let page = said(&run(folder.path(), &["check", "run.json", "--baseline", "base.json"]));
    let first = page.lines().next().unwrap();
    assert!(first.starts_with("PASS: ") && first.contains("THE SAME NUMBERS AS THE BASELINE'S"), "{first}");
}

#[test]
fn a_report_of_which_nothing_is_gated_is_not_blessed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("pacegate.toml"),
        "[generic.own.fields]\n\"energy\" = { at = \"/joules\", unit = \"J\", shown = true }\n",
    )
    .unwrap();
    fs::write(folder.path().join("run.json"), r#"{"joules": 12.5}"#).unwrap();
    let output = run(
        folder.path(),
        &[
            "check",
            "run.json",
            "--format",
            "generic:own",
            "--baseline",
            "b.json",
            "--bless",
            "--reason",
            "first",
        ],
    );
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("no rule gates anything that this report has"), "{}", said(&output));
    assert!(!folder.path().join("b.json").exists());
}

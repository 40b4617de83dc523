//! `pacegate plan`: how much measuring shows which change.

use std::fs;

use serde_json::Value;

use super::self_test::{blessed_endpoint, blessed_engine};
use super::{run, said};

fn rows(folder: &std::path::Path, arguments: &[&str]) -> Vec<Value> {
    let output = run(folder, &[&["plan", "--json", "plan.json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let plan: Value = serde_json::from_slice(&fs::read(folder.join("plan.json")).unwrap()).unwrap();
    plan["rows"].as_array().unwrap().clone()
}

#[test]
fn what_only_a_duet_sees_is_said_in_requests_and_minutes() {
    let folder = blessed_endpoint();
    let output = run(folder.path(), &["plan"]);
    let page = said(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(
        page.starts_with(
            "PLAN baselines/smoke.json (profile smoke): 1 blessed job of 3 rounds of 3 groups \u{d7} 300 requests; a round takes "
        ),
        "{page}"
    );
    let everything =
        page.lines().find(|line| line.trim_start().starts_with("everything 15 % slower")).unwrap();
    assert!(everything.contains(" pairs ("), "{everything}");
    assert!(page.contains("the noise lies between jobs"), "{page}");
    let rows = rows(folder.path(), &[]);
    assert_eq!(rows[0]["target"], "everything");
    assert_eq!(
        (&rows[0]["requests"], &rows[0]["rounds"], &rows[0]["jobs"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    // The rates fall by one and a half times their limit of 10 %, as the user writes it.
    let rate = rows.iter().find(|row| row["target"]["metric"]["name"] == "output_throughput").unwrap();
    assert!((rate["wanted"].as_f64().unwrap() - 0.15).abs() < 1e-12, "{rate}");
}

#[test]
fn a_quiet_machine_needs_less_and_the_plan_holds() {
    let folder = blessed_endpoint();
    let quiet = "[profile.smoke]\n[gate]\nrun_noise = \"1%\"\n";
    fs::write(folder.path().join("pacegate.toml"), quiet).unwrap();
    let rows = rows(folder.path(), &["--see", "40%"]);
    let visible = |row: &Value| row["visible"].as_f64().unwrap();
    let (seen, unseen): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| visible(row) <= row["wanted"].as_f64().unwrap());
    assert!(!seen.is_empty() && !unseen.is_empty(), "{rows:#?}");
    for row in seen {
        assert!(row["rounds"].as_u64().unwrap() <= 3, "what is seen now needs no more rounds: {row}");
    }
}

#[test]
fn what_the_rules_allow_is_marked() {
    let folder = blessed_endpoint();
    let page = said(&run(folder.path(), &["plan", "--see", "8%"]));
    assert!(page.contains("everything 8 % slower *"), "{page}");
    assert!(page.contains("* the rules allow this much"), "{page}");
}

#[test]
fn without_noise_there_is_nothing_to_plan() {
    let folder = blessed_engine();
    let output = run(folder.path(), &["plan"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("repeats its numbers exactly"), "{}", said(&output));
    let output = run(folder.path(), &["plan", "--see", "150%"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("a rate can't fall by 150 %"), "{}", said(&output));
    let output = run(folder.path(), &["plan", "--see", "15"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("such as 15%"), "{}", said(&output));
}

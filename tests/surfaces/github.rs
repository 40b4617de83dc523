//! Annotations, read by the rules of the runner.

use pacegate::emit::{github, line_of};
use pacegate::model::policy::Origin;
use pacegate::model::*;

use crate::oracle::{Command, commands};
use crate::{golden, samples};

const BASELINE: &str = "{\n  \"schema\": \"pacegate.baseline/1\",\n  \"summary\": {\n    \"chat/c1:ttft.p95\": \"412.0 ms\",\n    \"chat/c8:ttft.p95\": \"412.0 ms\",\n    \"chat/c8:e2e.p95\": \"2980.5 ms\"\n  },\n  \"ledger\": {\n    \"pinned\": {\n      \"chat/c8:ttft.p95\": 400.0\n    }\n  }\n}\n";

fn read(verdict: &Verdict, baseline: Option<&str>) -> Vec<Command> {
    let lines = github(verdict, baseline);
    let all = commands(&lines);
    assert_eq!(all.len(), lines.lines().count(), "{lines}");
    all
}

fn property<'a>(command: &'a Command, name: &str) -> Option<&'a str> {
    command.properties.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[test]
fn every_ending_reads_as_its_snapshot() {
    for (name, verdict) in samples::all() {
        let lines = github(&verdict, Some(BASELINE));
        golden::assert_same(&format!("tests/snapshots/github/{name}.txt"), &lines);
    }
}

#[test]
fn a_pass_is_a_notice_and_everything_else_has_an_error() {
    for (name, verdict) in samples::all() {
        let all = read(&verdict, None);
        let errors = all.iter().filter(|c| c.name == "error").count();
        assert_eq!(errors > 0, verdict.exit_code != 0, "{name}: {all:?}");
        let notices = all.iter().filter(|c| c.name == "notice" && c.data.starts_with(verdict.outcome.word()));
        assert_eq!(notices.count(), usize::from(verdict.exit_code == 0), "{name}: {all:?}");
    }
}

#[test]
fn an_outcome_that_nothing_else_explains_is_an_error_itself() {
    let mut verdict = samples::pass();
    (verdict.outcome, verdict.exit_code) = (Outcome::Inconclusive, 4);
    let all = read(&verdict, None);
    assert!(all[0].name == "error" && all[0].data.starts_with("INCONCLUSIVE: 14 of 14"), "{all:?}");
}

#[test]
fn a_field_points_at_the_limit_that_decided_it() {
    let mut verdict = samples::regression_unconfirmed();
    for finding in &mut verdict.findings {
        if let Some(tolerance) = &mut finding.tolerance {
            tolerance.origin = Origin::File { path: "./ci/pacegate.toml".to_owned(), line: 31, column: 1 };
        }
    }
    let all = read(&verdict, Some(BASELINE));
    assert_eq!(property(&all[0], "file"), Some("ci/pacegate.toml"));
    assert_eq!(property(&all[0], "line"), Some("31"));
    assert!(
        all[0].data.contains("ttft.p95 of chat/c8 rose") || all[0].data.contains("ttft.p50 of chat/c8 rose")
    );
}

#[test]
fn a_field_with_a_built_in_limit_points_at_its_blessed_value() {
    let mut verdict = samples::missing_field();
    for (path, file) in [
        ("baselines/chat.json", "baselines/chat.json"),
        ("origin/main:baselines/chat.json", "baselines/chat.json"),
        (".\\baselines\\chat.json", "baselines/chat.json"),
        ("C:\\w\\chat.json", "C:/w/chat.json"),
    ] {
        path.clone_into(&mut verdict.baseline.as_mut().unwrap().path);
        let all = read(&verdict, Some(BASELINE));
        let of_c8 = all.iter().find(|c| c.data.starts_with("e2e.p95 of chat/c8 is missing")).unwrap();
        assert_eq!((property(of_c8, "file"), property(of_c8, "line")), (Some(file), Some("6")), "{path}");
        let of_c1 = all.iter().find(|c| c.data.starts_with("e2e.p95 of chat/c1 is missing")).unwrap();
        assert_eq!((property(of_c1, "file"), property(of_c1, "line")), (Some(file), None), "{path}");
    }
}

#[test]
fn the_line_of_a_value_is_that_of_the_summary() {
    let line = |name: &str| line_of(BASELINE, &samples::field(name)).map(std::num::NonZeroU32::get);
    assert_eq!(line("chat/c1:ttft.p95"), Some(4));
    assert_eq!(line("chat/c8:ttft.p95"), Some(5));
    assert_eq!(line("chat/c8:ttft.p9"), None);
}

#[test]
fn one_cause_is_not_repeated_for_each_field_that_it_refuses() {
    let all = read(&samples::not_comparable(), None);
    let errors: Vec<_> = all.iter().filter(|c| c.name == "error").collect();
    assert_eq!(errors.len(), 1, "{all:?}");
    assert!(errors[0].data.starts_with("the model differs: blessed \"my-model\", now \"my-model-fp8\""));
}

#[test]
fn report_only_warns_and_never_errs() {
    let all = read(&samples::report_only(), None);
    assert!(all.iter().all(|c| c.name != "error"), "{all:?}");
    assert!(all.iter().any(|c| c.name == "warning" && c.data.contains("chat/c8 rose")), "{all:?}");
}

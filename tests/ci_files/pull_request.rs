//! Pull requests, end to end: a base, a head, their merge as the runner has it, the action's own script.

use std::fs;
use std::path::Path;

use crate::world::{ANOTHER_VLLM, Runner, SLOWER, VLLM, World, bless, data, git};

fn unchanged(_: &Path) {}

fn slower(tree: &Path) {
    fs::copy(data(SLOWER), tree.join("results/report.json")).unwrap();
}

fn has_all_files(step: &crate::world::Step) {
    for name in ["report", "markdown"] {
        let path = step.output(name);
        assert!(fs::metadata(path).is_ok_and(|file| file.len() > 0), "{name}: {path:?}\n{}", step.log);
    }
    let folder = Path::new(step.output("folder"));
    for name in ["report.json", "verdict.json", "verdict.md", "junit.xml", "metrics.txt", "log.txt"] {
        assert!(folder.join(name).exists(), "{name}\n{}", step.log);
    }
}

#[test]
fn a_change_that_slows_nothing_is_green_and_keeps_its_report() {
    let world = World::with_pull_request(unchanged);
    let step = world.pull_request(&world.checkout(2)).gate();
    step.ended(0, "pass");
    has_all_files(&step);
    assert_eq!(step.output("artifact"), "pacegate-check-gate-0-1");
    assert!(step.summary.starts_with("an earlier step's line\n"), "{}", step.summary);
    assert!(step.summary.to_lowercase().contains("pass"), "{}", step.summary);
    assert!(!step.log.contains("::error"), "{}", step.log);
}

#[test]
fn a_slower_head_is_red_and_keeps_its_report_all_the_same() {
    let world = World::with_pull_request(slower);
    let step = world.pull_request(&world.checkout(2)).gate();
    step.ended(1, "regression");
    has_all_files(&step);
    assert!(step.summary.to_lowercase().contains("regression"), "{}", step.summary);
    assert!(step.log.contains("::error "), "{}", step.log);
    let first = step.log.lines().find(|line| line.starts_with("REGRESSION")).expect("a first line");
    assert!(first.contains("int8_quant/chat/c8"), "{first}");
}

#[test]
fn report_only_is_green_and_says_what_it_would_have_been() {
    let world = World::with_pull_request(slower);
    let step = world.pull_request(&world.checkout(2)).set("PACEGATE_ACTION_REPORT_ONLY", "true").gate();
    step.ended(0, "regression");
    has_all_files(&step);
}

#[test]
fn a_baseline_blessed_by_the_change_is_named_in_the_first_line_and_its_reason_lets_it_judge() {
    let world = World::with_pull_request(|tree| {
        slower(tree);
        bless(tree, "the new kernel needs it");
    });
    let step = world.pull_request(&world.checkout(2)).gate();
    step.ended(0, "pass");
    let first = step.log.lines().next().unwrap();
    assert!(first.starts_with("THIS CHANGE ALTERS ITS OWN BASELINE"), "{first}");
    assert!(first.contains("the new kernel needs it"), "{first}");
    assert!(step.summary.to_lowercase().contains("alters its own baseline"), "{}", step.summary);
}

#[test]
fn a_baseline_rewritten_without_the_ledger_is_named_and_does_not_judge() {
    let world = World::with_pull_request(|tree| {
        slower(tree);
        // As if it had never been blessed before: no step from the base's ledger.
        fs::remove_dir_all(tree.join("baselines")).unwrap();
        bless(tree, "");
    });
    let step = world.pull_request(&world.checkout(2)).gate();
    step.ended(1, "regression");
    let first = step.log.lines().next().unwrap();
    assert!(first.starts_with("THIS CHANGE ALTERS ITS OWN BASELINE"), "{first}");
    assert!(first.ends_with("because this change rewrote the ledger, which no bless does"), "{first}");
}

#[test]
fn limits_raised_by_the_change_do_not_judge_it() {
    let world = World::with_pull_request(|tree| {
        slower(tree);
        let rules =
            "default = \"chat\"\n[profile.chat]\n[gate]\n\"ttft.p95\" = { max_increase = \"900%\" }\n";
        fs::write(tree.join("pacegate.toml"), rules).unwrap();
    });
    let step = world.pull_request(&world.checkout(2)).gate();
    step.ended(1, "regression");
    assert!(step.summary.contains("pacegate.toml"), "{}", step.summary);
}

#[test]
fn a_fork_without_token_or_secrets_gets_the_same_verdict() {
    let world = World::with_pull_request(unchanged);
    let runner = world.pull_request(&world.checkout(2)).set("GITHUB_TOKEN", "").set("OPENAI_API_KEY", "");
    runner.gate().ended(0, "pass");
}

#[test]
fn a_clone_without_the_base_is_no_verdict_and_says_the_line_that_mends_it() {
    let world = World::with_pull_request(unchanged);
    let step = world.pull_request(&world.checkout(1)).gate();
    step.ended(3, "no-verdict");
    let annotation = step.log.lines().find(|line| line.starts_with("::error title=pacegate::"));
    assert!(annotation.is_some_and(|line| line.contains("fetch-depth: 2")), "{}", step.log);
}

#[test]
fn a_summary_that_cannot_be_written_changes_no_verdict() {
    let world = World::with_pull_request(unchanged);
    let checkout = world.checkout(2);
    for place in ["no/such/folder/summary.md", ""] {
        // The second is a folder.
        let runner = world.pull_request(&checkout);
        let summary = runner.temp().join(place).display().to_string();
        let step = runner.set("GITHUB_STEP_SUMMARY", summary).gate();
        step.ended(0, "pass");
        has_all_files(&step);
        assert!(step.log.to_lowercase().contains("summary"), "{}", step.log);
    }
}

#[test]
fn a_merge_group_is_held_against_its_base_commit_which_is_fetched() {
    let world = World::with_pull_request(slower);
    let checkout = world.checkout(1);
    let runner = Runner::new(&checkout)
        .set("GITHUB_EVENT_NAME", "merge_group")
        .set("GITHUB_SHA", &world.merge)
        .set("PACEGATE_ACTION_BASE_SHA", &world.base);
    let step = runner.gate();
    step.ended(1, "regression");
    assert!(step.log.contains(&world.base), "{}", step.log);
}

#[test]
fn a_checkout_of_the_head_is_held_against_the_pull_requests_base() {
    let mut world = World::with_pull_request(|tree| {
        slower(tree);
        fs::remove_dir_all(tree.join("baselines")).unwrap();
        bless(tree, "");
    });
    let merge = world.merge.clone();
    // The head is a merge too, as after an update from the base branch, and both of its first parents have the altered
    // baseline: neither may be what judges.
    let upstream = world.folder.path().join("upstream");
    git(&upstream, &["switch", "--quiet", "--create", "side", &world.base]);
    git(&upstream, &["commit", "--quiet", "--allow-empty", "--message", "meanwhile on the base"]);
    git(&upstream, &["switch", "--quiet", "head"]);
    git(&upstream, &["merge", "--quiet", "--no-ff", "--no-edit", "side"]);
    world.merge = git(&upstream, &["rev-parse", "head"]);
    let runner = world.pull_request(&world.checkout(2)).set("GITHUB_SHA", merge);
    runner.gate().ended(1, "regression");
}

#[test]
fn a_push_is_held_against_the_checkouts_own_baseline() {
    let world = World::with_pull_request(unchanged);
    let runner =
        Runner::new(&world.checkout(1)).set("GITHUB_EVENT_NAME", "push").set("GITHUB_SHA", &world.merge);
    runner.gate().ended(0, "pass");
}

#[test]
fn a_pattern_stands_for_all_reports_that_it_matches() {
    let world = World::with_pull_request(|tree| {
        fs::copy(data(VLLM), tree.join("results/vllm 1.json")).unwrap();
        fs::copy(data(ANOTHER_VLLM), tree.join("results/vllm 2.json")).unwrap();
    });
    let runner = world.pull_request(&world.checkout(2)).set("PACEGATE_ACTION_BASE_REF", "none");
    let step = runner.set("PACEGATE_ACTION_REPORTS", "  results/vllm *.json  \n\n").gate();
    let report = fs::read_to_string(step.output("report")).unwrap_or_default();
    for name in ["results/vllm 1.json", "results/vllm 2.json"] {
        assert!(report.contains(name), "{}", step.log);
    }
}

#[test]
fn legs_of_a_matrix_and_attempts_keep_artifacts_of_their_own() {
    let world = World::with_pull_request(unchanged);
    let runner = world.pull_request(&world.checkout(2));
    let runner = runner.set("STRATEGY_JOB_INDEX", "3").set("GITHUB_RUN_ATTEMPT", "2");
    let step = runner.set("PACEGATE_ACTION_PROFILE", "chat").gate();
    step.ended(0, "pass");
    assert_eq!(step.output("artifact"), "pacegate-chat-gate-3-2");
}

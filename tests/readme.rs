//! Every command of the README, run as it stands there.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const README: &str = include_str!("../README.md");

/// The lines `$ …` of the README's console blocks.
fn commands() -> Vec<&'static str> {
    let blocks = README.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("$ ")).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The words of a command line, a quoted one in one piece.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn pacegate(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pacegate"))
        .args(words(arguments))
        .current_dir(folder)
        .env_remove("CI")
        .output()
        .unwrap()
}

#[test]
fn every_command_of_the_readme_is_known_here() {
    let known = [
        "cargo run --release -- run --profile smoke",
        "cargo run --release -- run --config examples/slow-decode.toml --profile smoke --baseline baselines/smoke.json",
        "pacegate check run.json --bless --reason \"first baseline\"",
        "pacegate check next-run.json",
        "cargo test",
    ];
    assert_eq!(commands(), known, "run the new command in a test of this file");
}

#[test]
fn the_main_job_passes_and_a_slower_decode_fails_in_one_sentence() {
    let arguments = |line: &'static str| line.strip_prefix("cargo run --release -- ").unwrap();
    let passed = pacegate(root(), arguments(commands()[0]));
    let out = String::from_utf8_lossy(&passed.stdout).into_owned();
    assert_eq!(passed.status.code(), Some(0), "{out}");
    assert!(out.starts_with("SIMULATED: no model was measured"), "{out}");
    let failed = pacegate(root(), arguments(commands()[1]));
    let out = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{out}");
    let cause = "tpot is 20 % slower in 3 of 3 groups (worst: tpot.p95 of int8_quant/chat/c8 21.03 \u{2192} 25.23 ms, limit +10 % and 0.2 ms): look at decode";
    assert!(out.contains(cause), "{out}");
    let table: Vec<&str> = out.lines().filter(|line| line.contains("REGRESSED")).collect();
    assert!(!table.is_empty() && table.iter().all(|line| !line.contains("ttft")), "{table:?}");
}

#[test]
fn a_vllm_report_is_blessed_and_the_next_one_gated_with_two_commands() {
    let folder = tempfile::tempdir().unwrap();
    let report = root().join("tests/data/reports/vllm/0.33.0/clean-chat-c8-detailed.json");
    for name in ["run.json", "next-run.json"] {
        fs::copy(&report, folder.path().join(name)).unwrap();
    }
    for line in &commands()[2..4] {
        let output = pacegate(folder.path(), line.strip_prefix("pacegate ").unwrap());
        assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(folder.path().join("baselines/vllm-bench-serve.json").is_file());
}

#[test]
fn the_rules_of_the_readme_are_rules() {
    let blocks: Vec<&str> =
        README.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let read = |toml: &str| pacegate::config::load(Path::new("pacegate.toml"), toml).unwrap();
    let (profile, gate) = (read(blocks[0]), read(blocks[1]));
    assert!(profile.profiles.contains_key("chat"));
    assert_eq!((gate.gate.rules.len(), gate.waivers.len()), (2, 1));
}

#[test]
fn every_file_that_the_readme_links_to_is_there() {
    let links = README.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let missing: Vec<&str> =
        links.filter(|link| !link.contains("://") && !root().join(link).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

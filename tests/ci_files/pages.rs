//! The pages under docs/ci: their console blocks are typed in as they stand, and the pacegate lines of their YAML, Groovy
//! and shell blocks run in the place of a CI job.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{ANOTHER_VLLM, BINARY, REPORT, bare, commit, data, git, read, text};

const PAGES: [&str; 6] = ["github", "gitlab", "jenkins", "buildkite", "azure", "local"];

/// Fenced blocks: language and lines.
fn blocks(page: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(language), None) => open = Some((language.to_owned(), Vec::new())),
            (None, Some((language, mut lines))) => {
                lines.push(line.to_owned());
                open = Some((language, lines));
            }
            (None, None) => {}
        }
    }
    blocks
}

/// A repository in which a benchmark has left its report.
fn desk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    fs::create_dir(folder.path().join("results")).unwrap();
    fs::copy(data(crate::world::VLLM), folder.path().join("results/vllm.json")).unwrap();
    fs::write(folder.path().join("bench.sh"), "#!/bin/sh\n").unwrap();
    commit(folder.path(), "a server");
    folder
}

/// A shell that finds this build's pacegate first.
fn shell(folder: &Path, line: &str) -> Command {
    let binaries = PathBuf::from(BINARY).parent().unwrap().display().to_string();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap());
    let mut command = bare("bash", folder);
    command.env("PATH", path).args(["-e", "-c", line]);
    command
}

#[test]
fn every_console_line_ends_well_and_prints_what_the_page_shows() {
    for page in PAGES {
        let desk = desk();
        let mut commands = 0;
        let commits_itself = read(&format!("docs/ci/{page}.md")).contains("$ git commit");
        for (_, lines) in
            blocks(&read(&format!("docs/ci/{page}.md"))).iter().filter(|(language, _)| language == "console")
        {
            let mut printed = String::new();
            for line in lines {
                if let Some(typed) = line.strip_prefix("$ ") {
                    let output = shell(desk.path(), typed).output().unwrap();
                    printed = text(&output);
                    assert!(output.status.success(), "{page}: {typed}\n{printed}");
                    commands += 1;
                    // What was blessed is committed, so that HEAD^1 has it one command later.
                    if typed.contains("--bless") && !commits_itself {
                        commit(desk.path(), "Bless");
                        git(desk.path(), &["commit", "--quiet", "--allow-empty", "--message", "a change"]);
                    }
                } else {
                    let shown = printed.lines().any(|real| real.trim_start().starts_with(line.trim()));
                    assert!(shown, "{page}: {line:?} is not in\n{printed}");
                }
            }
        }
        assert!(commands >= 2, "{page} shows {commands} commands");
    }
}

/// The pacegate command lines in a block of another language.
fn embedded(lines: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines {
        let line =
            line.trim().trim_start_matches("- ").trim_start_matches("run: ").trim_start_matches("exec ");
        let groovy = line.split("script: '").nth(1).and_then(|rest| rest.split('\'').next());
        let command = groovy.unwrap_or(line);
        if command.starts_with("pacegate ") {
            found.push(command.to_owned());
        }
    }
    found
}

/// The job's clone: `target` is the merge request's target, HEAD^1 the base, the baseline stands in both.
fn job() -> tempfile::TempDir {
    let desk = desk();
    let bless = "pacegate check results/vllm.json --bless --reason 'first baseline'";
    assert!(shell(desk.path(), bless).output().unwrap().status.success());
    commit(desk.path(), "base");
    for name in ["target", "main"] {
        git(desk.path(), &["update-ref", &format!("refs/remotes/origin/{name}"), "HEAD"]);
    }
    fs::create_dir(desk.path().join("results/downloaded")).unwrap();
    fs::copy(data(REPORT), desk.path().join("results/downloaded/report.json")).unwrap();
    git(desk.path(), &["commit", "--quiet", "--allow-empty", "--message", "a change"]);
    desk
}

#[test]
fn every_pacegate_line_of_the_other_blocks_runs_in_a_job() {
    let mut run = 0;
    for page in PAGES {
        for (language, lines) in blocks(&read(&format!("docs/ci/{page}.md"))) {
            if language == "console" {
                continue;
            }
            for line in embedded(&lines) {
                let job = job();
                // What adds to the baseline must bring other numbers than it has.
                if line.contains("--add") {
                    fs::copy(data(ANOTHER_VLLM), job.path().join("results/vllm.json")).unwrap();
                    fs::copy(data(ANOTHER_VLLM), job.path().join("results/downloaded/report.json")).unwrap();
                }
                let output =
                    shell(job.path(), &line).env("GITHUB_RUN_ID", "4711").env("CI", "true").output().unwrap();
                let desk_only = line.contains("--bless") && !line.contains("--allow-ci");
                let output = if desk_only { shell(job.path(), &line).output().unwrap() } else { output };
                assert!(output.status.success(), "{page}: {line}\n{}", text(&output));
                for file in line
                    .split(' ')
                    .filter(|word| word.starts_with("pacegate.") || word.starts_with("metrics."))
                {
                    assert!(job.path().join(file).exists(), "{page}: {line}: {file}");
                }
                run += 1;
            }
        }
    }
    assert!(run >= 7, "{run}");
}

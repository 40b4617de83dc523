//! `pacegate init`: a commented pacegate.toml and the CI system's workflow, never over a file.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::cli::{CiSystem, InitArgs};
use crate::config::{self, defaults};
use crate::exit::Exit;

use super::fail::ExitWith;
use super::{Done, outputs};

/// Where a benchmark's report is taken to be if nobody says.
const REPORT: &str = "results/vllm.json";

/// What became of one file.
enum Written {
    New,
    Kept,
}

pub fn init(args: &InitArgs) -> Done {
    let reports = reports(&args.reports)?;
    let here = std::env::current_dir()?;
    let root = root(&here);
    let toml = config::find(&here).unwrap_or_else(|| root.join(config::FILE_NAME));
    let mut files = vec![(toml, pacegate_toml())];
    let ci = args.ci.unwrap_or_else(|| system_of(&root));
    files.extend(workflow(ci, &reports).map(|(name, text)| (root.join(name), text)));

    let mut page = String::new();
    for (path, text) in &files {
        let shown = path.strip_prefix(&here).unwrap_or(path).display();
        match write_new(path, text).map_err(|error| ExitWith::error(Exit::OutputFailed, error))? {
            Written::New => page.push_str(&format!("wrote {shown}\n")),
            Written::Kept => page.push_str(&format!("kept {shown}, which is there already\n")),
        }
    }
    page.push_str(&next(ci, &reports));
    outputs::print(&page)?;
    Ok(Exit::Pass)
}

/// The reports as they go into YAML and a shell's command line, which is why only plain names are taken.
fn reports(given: &[String]) -> anyhow::Result<Vec<String>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./=*+-".contains(c);
    for report in given {
        let fits = !report.is_empty() && !report.starts_with('-') && report.chars().all(plain);
        ensure!(
            fits,
            "{report:?} can't go into a workflow as it is; use letters, digits and _ . / = * + -, or edit the workflow afterwards"
        );
    }
    Ok(if given.is_empty() { vec![REPORT.to_owned()] } else { given.to_vec() })
}

/// The root of the git repository; the folder itself outside of one.
fn root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_path_buf()
}

fn system_of(root: &Path) -> CiSystem {
    if root.join(".gitlab-ci.yml").exists() { CiSystem::Gitlab } else { CiSystem::Github }
}

fn pacegate_toml() -> String {
    let rules: String = defaults::RULES.iter().map(|rule| format!("#{}\n", rule.written())).collect();
    include_str!("init/pacegate.toml").replace("@RULES@\n", &(rules + "\n"))
}

/// The workflow's path from the root, and its text.
fn workflow(ci: CiSystem, reports: &[String]) -> Option<(&'static str, String)> {
    let (path, template, reports) = match ci {
        CiSystem::Github => {
            (".github/workflows/pacegate.yml", include_str!("init/github.yml"), yaml(reports))
        }
        CiSystem::Gitlab => (".gitlab/pacegate.yml", include_str!("init/gitlab.yml"), reports.join(" ")),
        CiSystem::None => return None,
    };
    let text = template
        .replace("@REPORTS@", &reports)
        .replace("@USES@", &action())
        .replace("@HOME@", env!("CARGO_PKG_REPOSITORY"))
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    Some((path, text))
}

/// The action's `reports`: one report a line.
fn yaml(reports: &[String]) -> String {
    match reports {
        [one] => format!("'{one}'"),
        several => several.iter().fold("|".to_owned(), |text, report| text + "\n            " + report),
    }
}

/// The action as a workflow names it: by the commit that a release was built from, so that it can't be moved.
fn action() -> String {
    let home = env!("CARGO_PKG_REPOSITORY");
    let name = home.rsplit('/').take(2).collect::<Vec<_>>();
    let name = name.into_iter().rev().collect::<Vec<_>>().join("/");
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("PACEGATE_COMMIT") {
        Some(commit) if commit.len() == 40 => format!("{name}@{commit} # v{version}"),
        _ => format!("{name}@v{version}"),
    }
}

/// Writes a file that is not there. What is there stays, whatever it is.
fn write_new(path: &Path, text: &str) -> anyhow::Result<Written> {
    let failed = || format!("{} could not be written", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(failed)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).with_context(failed)?;
            Ok(Written::New)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Written::Kept),
        Err(error) => Err(error).with_context(failed),
    }
}

fn next(ci: CiSystem, reports: &[String]) -> String {
    let reports = reports.join(" ");
    let mut steps = Vec::new();
    let files = match ci {
        CiSystem::Github => {
            steps.push(
                "in the workflow, replace ./bench.sh by your benchmark and the runner's labels by yours"
                    .to_owned(),
            );
            "pacegate.toml .github baselines"
        }
        CiSystem::Gitlab => {
            steps.push("in the job, replace ./bench.sh by your benchmark and the tags by yours".to_owned());
            steps.push("in .gitlab-ci.yml: include: { local: .gitlab/pacegate.yml }".to_owned());
            "pacegate.toml .gitlab .gitlab-ci.yml baselines"
        }
        CiSystem::None => "pacegate.toml baselines",
    };
    steps.push(format!(
        "measure once and bless: pacegate check {reports} --bless --reason \"first baseline\""
    ));
    steps.push(format!("commit: git add {files} && git commit -m \"Gate the speed of serving\""));
    let lines: String = steps.iter().map(|step| format!("  - {step}\n")).collect();
    format!("\nNext\n{lines}{ENDPOINT}")
}

/// `run` works at once, which must not be taken for a measurement of one's own server.
const ENDPOINT: &str = "
If pacegate is to measure by itself, in place of reading a benchmark's reports
  - `pacegate run` measures its embedded engine, and so no server of yours, until pacegate.toml names an endpoint
  - take the # off [profile.chat], base_url and model there, put yours in; `pacegate doctor` says whether it answers
";

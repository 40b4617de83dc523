//! The gate that a command looks at without a report: what is blessed, and the rules for it.

use std::path::{Path, PathBuf};

use crate::cli::PlaceArgs;
use crate::exit::Exit;
use crate::model::Baseline;
use crate::model::policy::Policy;
use crate::model::verdict::BaselineRef;

use super::against;
use super::apart::{self, Named};
use super::fail::ExitWith;
use super::workspace::Workspace;

/// A baseline and the rules that hold for it.
pub struct Blessed {
    pub baseline: Baseline,
    pub reference: BaselineRef,
    pub policy: Policy,
    path: PathBuf,
    config: Option<PathBuf>,
}

impl Blessed {
    /// Finds and reads both.
    pub fn open(args: &PlaceArgs) -> anyhow::Result<Blessed> {
        let workspace = Workspace::open(args)?;
        let path = match &args.baseline {
            Some(path) => path.clone(),
            None => baseline_path(&workspace)?,
        };
        let Some((baseline, reference)) = against::blessed(&path)? else {
            return Err(nothing_blessed(&format!("there is no {}", path.display())));
        };
        let profile = workspace.chosen_profile().unwrap_or(&baseline.profile).to_owned();
        let policy = workspace.policy(&profile);
        Ok(Blessed { policy, baseline, reference, path, config: workspace.config_path })
    }

    /// Refuses to write over what is read.
    pub fn spare(&self, json: Option<&Path>) -> anyhow::Result<()> {
        let outputs: Vec<Named<'_>> = json.iter().map(|path| ("--json", *path)).collect();
        let config = self.config.iter().map(|path| ("", path.as_path()));
        let inputs: Vec<Named<'_>> = config.chain([("the baseline ", self.path.as_path())]).collect();
        apart::from_inputs(&outputs, &inputs)
    }
}

/// The chosen profile's, else the only one there is.
fn baseline_path(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    if let Some(profile) = workspace.chosen_profile() {
        return Ok(workspace.baseline_path(profile));
    }
    let folder = workspace.root().join("baselines");
    let mut files = json_files(&folder);
    match (files.pop(), files.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(nothing_blessed(&format!("no baseline in {}", folder.display()))),
        (Some(_), more) => Err(anyhow::anyhow!(
            "{} baselines in {}: say which with --profile NAME or --baseline FILE",
            more + 1,
            folder.display()
        )),
    }
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "json") && !hidden(path)).collect()
}

fn nothing_blessed(what: &str) -> anyhow::Error {
    let next =
        "bless first: pacegate run --bless --reason TEXT, or pacegate check REPORT --bless --reason TEXT";
    ExitWith::error(Exit::NoVerdict, anyhow::anyhow!("{what}, so there is no gate to look at; {next}"))
}

//! Where a command stands: pacegate.toml, the profile it means, and the paths that follow from them.

use std::path::{Path, PathBuf};

use crate::cli::PlaceArgs;
use crate::config::{self, Choice, Config};
use crate::model::Mapping;
use crate::model::policy::Policy;

use super::apart::Named;

/// The configuration that holds for one invocation.
pub struct Workspace {
    /// The file as given or found; `None` where there is none.
    pub config_path: Option<PathBuf>,
    /// Its content; the built-in rules where there is no file.
    pub config: Config,
    profile: Option<String>,
    baseline: Option<PathBuf>,
}

impl Workspace {
    /// Finds and reads pacegate.toml.
    pub fn open(args: &PlaceArgs) -> anyhow::Result<Workspace> {
        let workspace = Workspace::at(args.chosen.config.as_deref(), args.chosen.profile.as_deref())?;
        Ok(Workspace { baseline: args.baseline.clone(), ..workspace })
    }

    /// The same for a command that judges nothing.
    pub fn at(config: Option<&Path>, profile: Option<&str>) -> anyhow::Result<Workspace> {
        let config_path = match config {
            Some(path) => Some(path.to_path_buf()),
            None => config::find(&std::env::current_dir()?).map(|path| shortest(&path)),
        };
        let config = match &config_path {
            Some(path) => config::read(path)?,
            None => Config::default(),
        };
        // A slip would be judged by the rules of no profile.
        if let Some(name) = profile.filter(|_| !config.profiles.is_empty()) {
            config::select(Some(&config), Some(name))?;
        }
        let own = || profile.map(str::to_owned).or_else(|| config.default.clone());
        let only = || match config.profiles.len() {
            1 => config.profiles.keys().next().cloned(),
            _ => None,
        };
        let profile = own().or_else(only);
        Ok(Workspace { profile, baseline: None, config_path, config })
    }

    /// The profile that was named, or that the file makes the only choice.
    pub fn chosen_profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// What `run` measures.
    pub fn choice(&self, named: Option<&str>) -> anyhow::Result<Choice> {
        let config = self.config_path.is_some().then_some(&self.config);
        Ok(config::select(config, named)?)
    }

    /// The rules for a profile.
    pub fn policy(&self, profile: &str) -> Policy {
        self.config.policy(Some(profile))
    }

    /// How to read a tool that is not known: the mapping of a name, or the only one.
    pub fn mapping(&self, name: Option<&str>) -> anyhow::Result<&Mapping> {
        let file = self.config_path.as_deref().unwrap_or(Path::new(config::FILE_NAME));
        Ok(self.config.mapping(name, &file.display().to_string())?)
    }

    /// Where the profile's baseline is kept.
    pub fn baseline_path(&self, profile: &str) -> PathBuf {
        self.baseline.clone().unwrap_or_else(|| self.root().join("baselines").join(format!("{profile}.json")))
    }

    /// The configuration, for what must not be written over it.
    pub fn files(&self) -> Vec<Named<'_>> {
        self.config_path.iter().map(|path| ("", path.as_path())).collect()
    }

    /// The folder that paths in pacegate.toml are relative to.
    pub fn root(&self) -> PathBuf {
        let parent = self.config_path.as_deref().and_then(Path::parent);
        parent.map(Path::to_path_buf).unwrap_or_default()
    }
}

/// Relative to the working directory where it lies below it: that is how people name it.
fn shortest(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).map_or_else(|_| path.to_path_buf(), Path::to_path_buf)
}

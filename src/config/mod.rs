//! `pacegate.toml`: from text to a profile and a policy. It parses and has no opinion; it opens no file but its own.
//!
//! Every refusal names file:line:column, what was found, what was expected and the nearest right name.

mod alterations;
mod amount;
pub mod defaults;
mod error;
mod gate;
mod generic;
pub mod keys;
mod nearest;
mod pattern;
mod profile;
mod select;
mod strategy;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use crate::model::Mapping;
use crate::model::policy::{Policy, Rule, Waiver};

pub use alterations::alterations;
pub use defaults::builtin;
pub use error::{ConfigError, Place, Problem};
pub use gate::{Gate, Setting};
pub use generic::MappingError;
pub use nearest::nearest;
pub use profile::ProfileConfig;
pub use select::{Choice, SelectError, select};
use table::{Source, Table};

/// The name of the file.
pub const FILE_NAME: &str = "pacegate.toml";

/// A file as read. The default is what holds without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The profile that `run` takes when none is named.
    pub default: Option<String>,
    /// The profiles by name.
    pub profiles: BTreeMap<String, ProfileConfig>,
    /// `[gate]` as written.
    pub gate: Gate,
    /// The waivers, for every profile.
    pub waivers: Vec<Waiver>,
    /// How to read the reports of tools that are not known, by name.
    pub mappings: BTreeMap<String, Mapping>,
}

/// Reads the text of a file; `path` is what errors and origins call it.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn load(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source { path: path.display().to_string(), text };
    let root = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        let key = text.get(span.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
        let duplicate = message.contains("duplicate key");
        let problem = if duplicate { Problem::Duplicate(key) } else { Problem::Syntax(message) };
        source.error(span.start, problem)
    })?;
    let table = Table::new(&source, "the file".to_owned(), 0, root.get_ref()).known("")?;
    let mut config = Config::default();
    if let Some(gate) = table.get("gate") {
        config.gate = gate::read(&gate.table("[gate]".to_owned())?)?;
    }
    if let Some(profiles) = table.get("profile") {
        for entry in profiles.table("[profile]".to_owned())?.entries() {
            config.profiles.insert(entry.key.to_owned(), profile::read(entry)?);
        }
    }
    if let Some(waivers) = table.get("waiver") {
        config.waivers = gate::waivers(waivers)?;
    }
    if let Some(mappings) = table.get("generic") {
        for entry in mappings.table("[generic]".to_owned())?.entries() {
            config.mappings.insert(entry.key.to_owned(), generic::read(entry)?);
        }
    }
    if let Some(default) = table.get("default") {
        let name = default.string("the name of a profile")?;
        if !select::known(Some(&config)).any(|known| known == name) {
            return Err(default.value_error(Problem::UnknownName {
                what: "profile",
                name: name.to_owned(),
                nearest: nearest(name, select::known(Some(&config))),
                known: select::known(Some(&config)).map(str::to_owned).collect(),
            }));
        }
        config.default = Some(name.to_owned());
    }
    config.refuse_rules_without_limit()?;
    Ok(config)
}

/// Reads a file from disk.
///
/// # Errors
/// An unreadable file, or the first thing that is wrong in it.
pub fn read(path: &Path) -> Result<Config, ConfigError> {
    let start = || Place { path: path.display().to_string(), line: 1, column: 1 };
    let bytes = std::fs::read(path).map_err(|error| ConfigError {
        place: start(),
        problem: Box::new(Problem::Unreadable(error.to_string())),
    })?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => load(path, text),
        Err(_) => Err(ConfigError { place: start(), problem: Box::new(Problem::NotUtf8) }),
    }
}

/// The file that holds for a folder: its own or that of a parent, up to the root of the git repository.
///
/// Outside of a repository only the folder itself counts: a file further up belongs to somebody else.
#[must_use]
pub fn find(start: &Path) -> Option<PathBuf> {
    let root = start.ancestors().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    start.ancestors().take(root + 1).map(|folder| folder.join(FILE_NAME)).find(|file| file.is_file())
}

impl Config {
    /// What is tolerated: the built-in rules, `[gate]` over them, the profile's own gate over both.
    ///
    /// A name that the file does not have gets what holds for every profile.
    #[must_use]
    pub fn policy(&self, profile: Option<&str>) -> Policy {
        let own = profile.and_then(|name| self.profiles.get(name));
        let gate = own.map_or_else(|| self.gate.clone(), |own| self.gate.under(&own.gate));
        fn value<T: Copy>(setting: &Option<Setting<T>>) -> Option<T> {
            setting.as_ref().map(|setting| setting.value)
        }
        Policy {
            run_noise: value(&gate.run_noise).unwrap_or(defaults::RUN_NOISE),
            decide: value(&gate.decide).unwrap_or_default(),
            unresolved: value(&gate.unresolved).unwrap_or_default(),
            blind_above: value(&gate.blind_above).unwrap_or(defaults::BLIND_ABOVE),
            self_bless: value(&gate.self_bless).unwrap_or_default(),
            max_drift: value(&gate.max_drift),
            waivers: self.waivers.clone(),
            rules: defaults::RULES.iter().map(defaults::DefaultRule::rule).chain(gate.rules).collect(),
        }
    }

    /// A rule for a field that no rule limits would look like a gate and could never fail.
    fn refuse_rules_without_limit(&self) -> Result<(), ConfigError> {
        let of_profiles = || self.profiles.values().flat_map(|profile| &profile.gate.rules);
        let all = || self.gate.rules.iter().chain(of_profiles());
        let built_in: Vec<Rule> = defaults::RULES.iter().map(defaults::DefaultRule::rule).collect();
        let same = |one: &Rule, other: &Rule| {
            one.pattern.metric == other.pattern.metric && one.pattern.statistic == other.pattern.statistic
        };
        let limited = |rule: &Rule| built_in.iter().chain(all()).any(|o| same(o, rule) && gate::limits(o));
        match all().find(|rule| rule.gate != Some(false) && !limited(rule)) {
            None => Ok(()),
            Some(rule) => Err(gate::no_limit(rule)),
        }
    }
}

//! Which profile is meant.

use crate::model::policy::Origin;
use crate::model::profile::Profile;

use super::nearest::{meant_and_all, nearest};
use super::{Config, defaults};

/// The profile that is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What to measure.
    pub profile: Profile,
    /// The embedded engine, if it is the target, was asked for in so many words: by `smoke` or `full` on the command
    /// line or as `default`, by `embedded = true` or by an `engine` table.
    pub embedded_named: bool,
    /// Where it is written.
    pub origin: Origin,
}

/// No profile can be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// Not a profile.
    #[error("unknown profile \"{name}\"{}", meant_and_all(nearest.as_deref(), known))]
    Unknown {
        /// The name.
        name: String,
        /// The nearest right one.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// Several, and none of them is the default.
    #[error(
        "the file has {} and names no default; say --profile NAME, or write default = \"{}\" on its first line",
        known.join(", "),
        known.first().map_or("", String::as_str)
    )]
    Several {
        /// Their names.
        known: Vec<String>,
    },
}

/// The profiles of the file, then the built-in ones that it does not replace.
pub(super) fn known(config: Option<&Config>) -> impl Iterator<Item = &str> {
    let own = move || config.into_iter().flat_map(|config| config.profiles.keys().map(String::as_str));
    let built_in = defaults::BUILTINS.into_iter().filter(move |name| !own().any(|own| own == *name));
    own().chain(built_in)
}

/// The profile named; else the default or the only one of the file; else the built-in `smoke`.
///
/// # Errors
/// A name that neither the file nor the program has; several profiles and no default.
pub fn select(config: Option<&Config>, name: Option<&str>) -> Result<Choice, SelectError> {
    let names = |config: &Config| config.profiles.keys().cloned().collect::<Vec<_>>();
    let default = config.and_then(|config| config.default.as_deref());
    let name = match (name.or(default), config) {
        (Some(name), _) => name.to_owned(),
        (None, Some(config)) => match names(config).as_slice() {
            [] => return Ok(smoke()),
            [only] => only.clone(),
            _ => return Err(SelectError::Several { known: names(config) }),
        },
        (None, None) => return Ok(smoke()),
    };
    if let Some(own) = config.and_then(|config| config.profiles.get(&name)) {
        return Ok(Choice {
            profile: own.profile.clone(),
            embedded_named: own.embedded_named,
            origin: own.origin.clone(),
        });
    }
    if let Some(profile) = defaults::builtin(&name) {
        return Ok(Choice { profile, embedded_named: true, origin: Origin::Default });
    }
    let known = || known(config);
    Err(SelectError::Unknown {
        nearest: nearest(&name, known()),
        known: known().map(str::to_owned).collect(),
        name,
    })
}

/// What is run where nobody said what.
fn smoke() -> Choice {
    let profile = defaults::builtin("smoke").unwrap_or_else(|| defaults::profile("smoke"));
    Choice { profile, embedded_named: false, origin: Origin::Default }
}

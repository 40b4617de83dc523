//! What can be wrong with `pacegate.toml`, and where.

use std::fmt;

use crate::model::policy::Origin;

use super::nearest::{hint, in_brackets, meant_and_all};

/// Something in the file is wrong. `Display` begins with `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Box<Problem>,
}

/// A place in a file, 1-based; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user would name it.
    pub path: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

impl From<Place> for Origin {
    fn from(place: Place) -> Origin {
        Origin::File { path: place.path, line: place.line, column: place.column }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant says what it means and what its fields are")]
pub enum Problem {
    #[error("the file can't be read: {0}")]
    Unreadable(String),
    #[error("the file is not UTF-8; save it as UTF-8 text")]
    NotUtf8,
    #[error("not TOML: {0}")]
    Syntax(String),
    #[error("the key \"{0}\" stands twice")]
    Duplicate(String),
    #[error("the embedded engine's speeds: {0}")]
    Engine(String),
    #[error("unknown key \"{key}\" in {table}{}", hint(nearest.as_deref(), known))]
    UnknownKey { key: String, table: String, nearest: Option<String>, known: Vec<String> },
    #[error("unknown {what} \"{name}\"{}", meant_and_all(nearest.as_deref(), known))]
    UnknownName { what: &'static str, name: String, nearest: Option<String>, known: Vec<String> },
    #[error("{key} is {found}; expected {expected}")]
    Wrong { key: String, found: String, expected: String },
    #[error("{table} has no {key}; {advice}")]
    Missing { table: String, key: &'static str, advice: &'static str },
    #[error("{key} can't stand beside {other}; {advice}")]
    Conflict { key: String, other: String, advice: String },
    #[error("\"{field}\" {why}")]
    Mapped { field: String, why: String },
    #[error("{key} names \"{name}\" twice")]
    Twice { key: String, name: String },

    #[error("\"{pattern}\" is no field: {why}")]
    Pattern { pattern: String, why: String },
    #[error("unknown metric \"{metric}\" in \"{pattern}\"{}", hint(nearest.as_deref(), known))]
    UnknownMetric { metric: String, pattern: String, nearest: Option<String>, known: Vec<String> },
    #[error("unknown statistic \"{statistic}\" in \"{pattern}\"{}; {expected}", in_brackets(nearest.as_deref()))]
    UnknownStatistic { statistic: String, pattern: String, nearest: Option<String>, expected: String },
    #[error("{metric} can be shown and never gates: neither side of it is better; remove this rule")]
    NoDirection { metric: String },
    #[error("a dot splits a key that is not quoted; write \"{right}\" with its quotes")]
    Unquoted { right: String },
    #[error("{key} says nothing for {metric}, where {direction}; write {right}")]
    WrongSide { key: String, metric: String, direction: &'static str, right: &'static str },
    #[error("{key} of {field} is {found}: {why}; write {forms}")]
    Amount { key: String, field: String, found: String, why: String, forms: String },
    #[error("\"{field}\" gates nothing: no rule gives it a limit; add {forms}, or remove it")]
    NoLimit { field: String, forms: String },
    #[error("\"{field}\" says nothing; give it a limit such as {forms}, or remove it")]
    Nothing { field: String, forms: String },
    #[error("{key} of {field} would have no effect: {why}")]
    NoEffect { key: String, field: String, why: String },
    #[error("\"{field}\" has gate = false beside {key}; remove one of them")]
    OffWithLimit { field: String, key: String },
}

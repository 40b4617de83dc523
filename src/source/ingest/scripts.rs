//! What the readers of the two hand-written scripts share: their keys have many spellings, and none may stand twice.

use std::collections::BTreeMap;

use crate::model::{Fact, Metric};

use super::content::Content;
use super::draft::Draft;
use super::error::{IngestError, Place};
use super::locate::{self, Step};
use super::number::{Number, Scalar};
use super::spelling;
use super::tree::Tree;
use super::{Format, parse};

/// Spellings of the model's name, normalised.
const MODEL: &[&str] = &["model", "modelid", "modelname"];

/// The map whose keys are the words of a server and no names of ours.
const ERRORS: &str = "errors";

/// A value in a script's report: the file, its format and the keys that lead there.
#[derive(Clone, Debug)]
pub struct Spot<'a> {
    content: &'a Content,
    format: Format,
    steps: Vec<Step<'a>>,
}

impl<'a> Spot<'a> {
    /// The whole of a file.
    #[must_use]
    pub fn whole(content: &'a Content, format: Format) -> Spot<'a> {
        Spot { content, format, steps: Vec::new() }
    }

    /// One step further in.
    #[must_use]
    pub fn to(&self, step: Step<'a>) -> Spot<'a> {
        let mut further = self.clone();
        further.steps.push(step);
        further
    }

    /// Line, column and keys.
    #[must_use]
    pub fn place(&self) -> Place {
        locate::place(self.content, 0, &self.steps)
    }

    /// What stands here can't be.
    #[must_use]
    pub fn wrong(&self, what: impl Into<String>) -> IngestError {
        IngestError::WrongValue { place: self.place(), what: what.into(), format: self.format }
    }

    /// The value that stands here as a number.
    ///
    /// # Errors
    /// It is none; `expected` says what it should be.
    pub fn number(&self, value: &Tree, expected: &str) -> Result<Number, IngestError> {
        value.number().ok_or_else(|| self.wrong(format!("found {}, expected {expected}", value.kind())))
    }
}

/// Parses a script's report, in which no key stands twice in whatever spellings.
///
/// # Errors
/// As [`parse::json`], and a key twice.
pub fn parse(content: &Content, format: Format) -> Result<Tree, IngestError> {
    let tree = parse::json(content, format)?;
    distinct(&tree, &Spot::whole(content, format))?;
    Ok(tree)
}

/// An object of this key is there or null; anything else in its place would be read as nothing.
///
/// # Errors
/// It is something else.
pub fn object<'a>(
    tree: &'a Tree,
    name: &str,
    spot: &Spot<'a>,
) -> Result<Option<(Spot<'a>, &'a Tree)>, IngestError> {
    let Some((key, value)) = spelling::find(tree, &[name]) else { return Ok(None) };
    let spot = spot.to(Step::Key(key));
    match value {
        Tree::Map(_) => Ok(Some((spot, value))),
        Tree::Leaf(Scalar::Null) => Ok(None),
        Tree::Leaf(_) | Tree::List(_) => {
            Err(spot.wrong(format!("found {}, expected an object", value.kind())))
        }
    }
}

/// The model's name, of the first of these objects that has one.
///
/// # Errors
/// It is a list or an object.
pub fn model(draft: &mut Draft, places: &[(&Spot<'_>, &Tree)]) -> Result<Option<String>, IngestError> {
    let found = places.iter().find_map(|(spot, tree)| Some((spot, spelling::find(tree, MODEL)?)));
    let Some((spot, (key, value))) = found else { return Ok(None) };
    if matches!(value, Tree::List(_) | Tree::Map(_)) {
        return Err(spot.to(Step::Key(key)).wrong(format!("found {}, expected a name", value.kind())));
    }
    let model = value.text(&[]);
    draft.fact(Fact::Model, model.as_ref());
    Ok(model)
}

/// A latency under `key`: `"ttft": {"P50": …}`, or a percentile in the key itself; `as_ours` says which metric the script means.
/// Whether the key was one of these.
///
/// # Errors
/// A percentile that is no number, and a latency of which nothing is known.
pub fn latency(
    draft: &mut Draft,
    spot: &Spot<'_>,
    (key, value): (&str, &Tree),
    as_ours: fn(Metric) -> Metric,
) -> Result<bool, IngestError> {
    const EXPECTED: &str = "a number of milliseconds";
    if let Some((metric, statistic, factor)) = spelling::latency_statistic(key) {
        draft.scaled(&as_ours(metric), statistic, spot.number(value, EXPECTED)?, factor);
        return Ok(true);
    }
    let Some((metric, factor)) = spelling::latency(key) else { return Ok(false) };
    let mut read = false;
    for (name, number) in value.entries() {
        let Some((statistic, own)) = spelling::statistic(name) else {
            draft.notes.push(format!("{key} has \"{name}\", which is no statistic that is read; left out"));
            continue;
        };
        let number = spot.to(Step::Key(name)).number(number, EXPECTED)?;
        draft.scaled(&as_ours(metric.clone()), statistic, number, own.unwrap_or(factor));
        read = true;
    }
    match value {
        Tree::Map(entries) if !read && !entries.is_empty() => Err(spot
            .wrong("no statistic that is known in it; expected some of p50, p90, p95, p99, mean, min, max")),
        Tree::Map(_) | Tree::Leaf(Scalar::Null) => Ok(true),
        Tree::Leaf(_) | Tree::List(_) => {
            draft.notes.push(format!("{key} is {} without a statistic; left out", value.kind()));
            Ok(false)
        }
    }
}

/// A key is taken in any spelling, so two spellings of it in one object are the key twice.
fn distinct(tree: &Tree, spot: &Spot<'_>) -> Result<(), IngestError> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (key, value) in tree.entries() {
        let (spot, name) = (spot.to(Step::Key(key)), spelling::normal(key));
        if name != ERRORS {
            distinct(value, &spot)?;
        }
        // A key of signs alone has no name, and no reader asks for it.
        if let Some(first) = seen.insert(name, key).filter(|_| key.contains(char::is_alphanumeric)) {
            return Err(IngestError::DuplicateKey {
                place: spot.place(),
                key: first.to_owned(),
                again: Some(key.clone()),
            });
        }
    }
    let mut elements =
        tree.elements().iter().enumerate().filter(|(_, value)| !matches!(value, Tree::Leaf(_)));
    elements.try_for_each(|(index, value)| distinct(value, &spot.to(Step::Index(index))))
}

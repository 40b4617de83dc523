//! Places in a report that a mapping names: JSON pointers, and columns of a CSV.

use crate::model::group::name_part;

use super::content::Content;
use super::error::{IngestError, Place};
use super::locate::{self, Step};
use super::number::{Number, Scalar};
use super::tree::Tree;
use super::{Format, csv};

/// Names that a sentence lists of what is there.
const MOST_NAMES: usize = 12;

/// The rows of a CSV as a list of objects.
///
/// # Errors
/// No row, a heading twice, a row of another length.
pub fn table(content: &Content) -> Result<Tree, IngestError> {
    let rows = csv::rows(content)?;
    let Some((heading, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        let what = "expected a heading and at least one row".to_owned();
        return Err(IngestError::NoRun { path: content.name.clone(), what });
    };
    let heading: Vec<&str> = heading.iter().map(|name| name.trim()).collect();
    for (index, name) in heading.iter().enumerate() {
        if !name.is_empty() && heading[..index].contains(name) {
            let place = Place::file(&content.name).key("heading");
            return Err(IngestError::DuplicateKey { place, key: (*name).to_owned(), again: None });
        }
    }
    let mut list = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if row.len() != heading.len() {
            return Err(IngestError::WrongValue {
                place: Place::file(&content.name).key(format!("row {}", index + 1)),
                what: format!("has {} cells, and the heading {}", row.len(), heading.len()),
                format: Format::Generic,
            });
        }
        let cells = heading.iter().zip(row);
        let cells = cells.map(|(name, cell)| ((*name).to_owned(), Tree::Leaf(Scalar::Text(cell.clone()))));
        list.push(Tree::Map(cells.collect()));
    }
    Ok(Tree::List(list))
}

/// A value in a report, and how one gets there.
#[derive(Debug)]
pub struct Spot<'a> {
    content: &'a Content,
    csv: bool,
    steps: Vec<Step<'a>>,
    /// The value.
    pub tree: &'a Tree,
}

impl<'a> Spot<'a> {
    /// A whole file.
    #[must_use]
    pub fn whole(content: &'a Content, csv: bool, tree: &'a Tree) -> Spot<'a> {
        Spot { content, csv, steps: Vec::new(), tree }
    }

    /// Line, column and keys; in a CSV row and column.
    #[must_use]
    pub fn place(&self) -> Place {
        if !self.csv {
            return locate::place(self.content, 0, &self.steps);
        }
        let words = self.steps.iter().map(|step| match step {
            Step::Index(row) => format!("row {}", row + 1),
            Step::Key(column) => format!("column {column}"),
        });
        Place::file(&self.content.name).key(words.collect::<Vec<_>>().join(", "))
    }

    /// What stands here can't be.
    #[must_use]
    pub fn wrong(&self, what: String) -> IngestError {
        IngestError::WrongValue { place: self.place(), what, format: Format::Generic }
    }

    /// The elements of a list, or the rows of a CSV.
    #[must_use]
    pub fn elements(&self) -> Vec<Spot<'a>> {
        let one = |(index, tree)| {
            let steps = self.steps.iter().copied().chain([Step::Index(index)]).collect();
            Spot { content: self.content, csv: self.csv, steps, tree }
        };
        self.tree.elements().iter().enumerate().map(one).collect()
    }

    /// The value at a place from here; `what` is what the mapping looks for there.
    ///
    /// # Errors
    /// There is none: where the way ends, and what is there instead.
    pub fn to(&self, at: &str, what: &str) -> Result<Spot<'a>, IngestError> {
        let pointer = at.strip_prefix('/').filter(|_| !self.csv);
        let unescaped = |step: &str| step.replace("~1", "/").replace("~0", "~");
        let names: Vec<String> =
            pointer.map_or_else(|| vec![at.to_owned()], |rest| rest.split('/').map(unescaped).collect());
        let mut here = Spot { steps: self.steps.clone(), ..*self };
        for name in names {
            let Some((step, tree)) = here.child(&name) else {
                let there = here.there(at);
                return Err(here.wrong(format!(
                    "the mapping looks for {what} at \"{at}\", and there is no \"{name}\" here: {there}"
                )));
            };
            here.steps.push(step);
            here.tree = tree;
        }
        Ok(here)
    }

    fn child(&self, name: &str) -> Option<(Step<'a>, &'a Tree)> {
        match self.tree {
            Tree::Map(entries) => {
                let (key, tree) = entries.iter().find(|(key, _)| key == name)?;
                Some((Step::Key(key), tree))
            }
            Tree::List(elements) => {
                let index = name.parse().ok()?;
                Some((Step::Index(index), elements.get(index)?))
            }
            Tree::Leaf(_) => None,
        }
    }

    /// What is here, where something else was looked for.
    fn there(&self, at: &str) -> String {
        match self.tree {
            Tree::Map(_) if !self.csv && !at.starts_with('/') && at.contains('.') => {
                format!("a place in an object is written /{}", at.replace('.', "/"))
            }
            Tree::Map(entries) => {
                let names: Vec<&str> = entries.iter().take(MOST_NAMES).map(|(key, _)| key.as_str()).collect();
                let more = if entries.len() > MOST_NAMES { ", \u{2026}" } else { "" };
                format!("there is {}{more}", names.join(", "))
            }
            Tree::List(elements) => format!("it is a list with {} elements, counted from 0", elements.len()),
            Tree::Leaf(_) => format!("it is {}", self.tree.kind()),
        }
    }

    /// The number here; absent where that is allowed.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, may_be_absent: bool) -> Result<Number, IngestError> {
        let number = self.tree.number().filter(|number| may_be_absent || *number != Number::Absent);
        number.ok_or_else(|| self.wrong(format!("found {}, expected a number", self.tree.kind())))
    }

    /// The text here.
    ///
    /// # Errors
    /// It is none, or empty.
    pub fn text(&self) -> Result<String, IngestError> {
        self.tree.text(&[]).ok_or_else(|| self.wrong(format!("found {}, expected a text", self.tree.kind())))
    }

    /// The text here as a part of a group's name.
    ///
    /// # Errors
    /// It has no letter and no digit.
    pub fn name(&self) -> Result<String, IngestError> {
        let name = self.text().ok().as_deref().and_then(name_part);
        name.ok_or_else(|| self.wrong(format!("found {}, expected a name", self.tree.kind())))
    }
}

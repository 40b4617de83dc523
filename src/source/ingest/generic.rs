//! Any other tool's JSON or CSV, by a mapping that the user writes: where each number stands, and what it is.

use crate::model::{Fact, Metric, PercentileDefinition, Statistic, Unit};

use super::content::Content;
use super::draft::Draft;
use super::error::{IngestError, Place};
use super::number::{Number, Scalar};
use super::outline::{Outline, Shape};
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, csv, parse, rows};

/// Where the numbers of a tool stand that is not known here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The tool, as reports shall name it.
    pub tool: String,
    /// The numbers; each must be there.
    pub values: Vec<MappedValue>,
    /// Where the requests sent stand, if they do.
    pub sent: Option<String>,
    /// Where the successful requests stand, if they do.
    pub succeeded: Option<String>,
    /// Where the requests in flight stand, if they do.
    pub concurrency: Option<String>,
    /// Where the model's name stands, if it does.
    pub model: Option<String>,
}

/// One number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedValue {
    /// A JSON pointer such as `/latency/p95`, or the heading of a CSV column.
    pub at: String,
    /// The metric.
    pub metric: Metric,
    /// Its unit in the file, such as `s`, `ms`, `tok/s`, `GB`; for a metric that is not in the table it is kept as it is.
    pub unit: String,
    /// The statistic.
    pub statistic: Statistic,
    /// What the tool means by the metric, in a word; two words are never compared.
    pub definition: String,
    /// How the tool picks percentiles.
    pub percentiles: PercentileDefinition,
}

/// Reads a file by a mapping.
///
/// # Errors
/// Neither JSON nor CSV, a place that is not there or holds no number, a unit that is none of the metric's.
pub fn read(content: &Content, outline: &Outline, mapping: &Mapping) -> Result<Reading, IngestError> {
    let tree =
        if outline.shape == Shape::Text { table(content)? } else { parse::json(content, Format::Generic)? };
    let mut reading = Reading::new(Format::Generic);
    let mut draft = Draft::default();
    for value in &mapping.values {
        let leaf = at(content, &tree, &value.at)?;
        let factor = factor(&value.unit, value.metric.unit()).ok_or_else(|| IngestError::WrongValue {
            place: Place::file(&content.name).key(&value.at),
            what: format!("the mapping says the unit \"{}\", which is none of {}", value.unit, value.metric),
            format: Format::Generic,
        })?;
        draft.define(&value.metric, &value.definition, value.percentiles);
        draft.leaf(&value.metric, value.statistic, Some(leaf), factor);
    }
    let mut count = |place: &Option<String>| match place {
        Some(place) => at(content, &tree, place).map(|leaf| draft.counted(place, leaf.number())),
        None => Ok(None),
    };
    let (sent, succeeded, concurrency) =
        (count(&mapping.sent)?, count(&mapping.succeeded)?, count(&mapping.concurrency)?);
    draft.outcomes(sent, succeeded);
    draft.dimensions.concurrency = concurrency.and_then(|c| u32::try_from(c).ok());
    draft.fact(Fact::Concurrency, concurrency);
    draft.fact(Fact::Requests, sent);
    draft.fact(Fact::Tool, Some(format!("generic, {}", mapping.tool)));
    if let Some(place) = &mapping.model {
        let model = at(content, &tree, place)?.text(&[]);
        draft.fact(Fact::Model, model.as_ref());
        reading.subject.model = model;
    }
    reading.run(content, Run::default(), [(String::new(), draft)])?;
    Ok(reading)
}

/// A CSV of one row as an object of its columns.
fn table(content: &Content) -> Result<Tree, IngestError> {
    let rows = csv::rows(content)?;
    let [heading, row] = rows.as_slice() else {
        return Err(IngestError::NoRun {
            path: content.name.clone(),
            what: format!("expected a heading and one row, found {} rows", rows.len()),
        });
    };
    let cells =
        heading.iter().zip(row).map(|(name, cell)| (name.clone(), Tree::Leaf(Scalar::Text(cell.clone()))));
    Ok(Tree::Map(cells.collect()))
}

/// The value at a JSON pointer, or in a column.
fn at<'a>(content: &Content, tree: &'a Tree, place: &str) -> Result<&'a Tree, IngestError> {
    let found = match place.strip_prefix('/') {
        None => tree.get(place),
        Some(rest) => rest.split('/').try_fold(tree, |tree, step| {
            let key = step.replace("~1", "/").replace("~0", "~");
            match tree {
                Tree::List(elements) => elements.get(key.parse::<usize>().ok()?),
                Tree::Map(_) | Tree::Leaf(_) => tree.get(&key),
            }
        }),
    };
    let present = found.filter(|leaf| leaf.number() != Some(Number::Absent));
    present.ok_or_else(|| IngestError::WrongValue {
        place: Place::file(&content.name).key(place),
        what: "the mapping looks for a value here and there is none".to_owned(),
        format: Format::Generic,
    })
}

fn factor(unit: &str, ours: Unit) -> Option<f64> {
    match (ours, unit) {
        (Unit::Plain, _) => Some(1.0),
        (Unit::Megabyte, "MB") | (Unit::Ratio, "x") | (Unit::Fraction, "fraction") => Some(1.0),
        (Unit::Megabyte, "GB") => Some(1000.0),
        (Unit::Megabyte, "MiB") => Some(1.048_576),
        (Unit::Megabyte, "GiB") => Some(1_073.741_824),
        (Unit::Fraction, "%") => Some(0.01),
        (ours, unit) => rows::factor(unit, ours),
    }
}

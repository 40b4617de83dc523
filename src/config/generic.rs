//! `[generic.NAME]`: how to read a tool that is not known.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::model::group::is_name;
use crate::model::mapping::{COUNTS, Counted, FACTS, MappedField, Mapping, units};
use crate::model::metric::METRICS;
use crate::model::{Direction, Finite, Metric, PercentileDefinition, Statistic};

use super::error::{ConfigError, Problem};
use super::nearest::{meant_and_all, nearest};
use super::table::{Entry, Table};
use super::{Config, gate, pattern, strategy};

/// No mapping can be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// There is none at all.
    #[error(
        "--format generic needs a mapping, and {file} has none; write [generic.NAME] there, with where each number of the report stands"
    )]
    None {
        /// Where it would stand.
        file: String,
    },
    /// None of this name.
    #[error("unknown mapping \"{name}\"{}", meant_and_all(nearest.as_deref(), known))]
    Unknown {
        /// The name.
        name: String,
        /// The nearest right one.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// Several, and none was named.
    #[error("there are the mappings {}; say which with --format generic:NAME", known.join(", "))]
    Several {
        /// Their names.
        known: Vec<String>,
    },
}

impl Config {
    /// The mapping of a name, or the only one; `file` is where a mapping would be written.
    ///
    /// # Errors
    /// A name that the file does not have; no mapping; several and no name.
    pub fn mapping(&self, name: Option<&str>, file: &str) -> Result<&Mapping, MappingError> {
        let known = || self.mappings.keys().cloned().collect();
        if self.mappings.is_empty() {
            return Err(MappingError::None { file: file.to_owned() });
        }
        match name {
            None if self.mappings.len() > 1 => Err(MappingError::Several { known: known() }),
            None => self.mappings.values().next().ok_or(MappingError::Several { known: known() }),
            Some(name) => self.mappings.get(name).ok_or_else(|| MappingError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name, self.mappings.keys().map(String::as_str)),
                known: known(),
            }),
        }
    }
}

const PLACE: &str = "a JSON pointer such as \"/latency/p95\", or the heading of a CSV column";
const LIST: &str = "a JSON pointer such as \"/levels\", or \"/\" where the file itself is the list";

pub(super) fn read(entry: &Entry<'_>) -> Result<Mapping, ConfigError> {
    strategy::named(entry.key).map_err(|problem| entry.key_error(problem))?;
    let name = format!("generic.{}", entry.key);
    let table = entry.table(format!("[{name}]"))?.known("generic.NAME")?;
    let at = |key: &str| table.get(key).map(|entry| place(entry)).transpose();
    let mut counts = BTreeMap::new();
    for (key, counted) in COUNTS {
        counts.extend(at(key)?.map(|at| (counted, at)));
    }
    let requests = [Counted::Sent, Counted::Succeeded, Counted::Failed];
    let told: Vec<_> = requests.iter().filter(|counted| counts.contains_key(counted)).collect();
    if told.len() == 1 && !counts.contains_key(&Counted::Sent) {
        return Err(
            table.missing("sent", "one count tells no success rate: name two of sent, succeeded and failed")
        );
    }
    let mut facts = BTreeMap::new();
    for (key, fact) in FACTS {
        facts.extend(at(key)?.map(|at| (fact, at)));
    }
    let each = table
        .get("each")
        .map(|entry| match place(entry) {
            Ok(at) if at.starts_with('/') => Ok(at),
            _ => Err(entry.wrong(LIST)),
        })
        .transpose()?;
    let percentiles = table
        .get("percentiles")
        .map(|entry| entry.word("percentile definition", &DEFINITIONS))
        .transpose()?;
    let Some(fields) = table.get("fields") else {
        return Err(table.missing(
            "fields",
            "say where the numbers stand, such as \"ttft.p95\" = { at = \"/ttft/p95\", unit = \"ms\" }",
        ));
    };
    let fields = all_fields(&fields.table(format!("[{name}.fields]"))?, entry.key)?;
    own_places(&table, &fields, &at)?;
    Ok(Mapping {
        tool: entry.key.to_owned(),
        each,
        fields,
        percentiles: percentiles.unwrap_or(PercentileDefinition::OfTheTool),
        counts,
        strategy: at("strategy")?,
        facts,
    })
}

const DEFINITIONS: [(&str, PercentileDefinition); 7] = {
    use PercentileDefinition::{
        Exclusive, FloorRank, InvertedCdf, Linear, MedianAndFloorRank, NearestRank, OfTheTool,
    };
    [
        (Linear.name(), Linear),
        (NearestRank.name(), NearestRank),
        (FloorRank.name(), FloorRank),
        (MedianAndFloorRank.name(), MedianAndFloorRank),
        (InvertedCdf.name(), InvertedCdf),
        (Exclusive.name(), Exclusive),
        (OfTheTool.name(), OfTheTool),
    ]
};

/// A JSON pointer, or a column. What looks like another way to name a place is refused, for it would never be found.
fn place(entry: &Entry<'_>) -> Result<String, ConfigError> {
    let at = entry.string(PLACE)?;
    let other = at.starts_with("$.") || at.starts_with("$[") || at.starts_with("#/") || at.starts_with('.');
    let escaped = |at: &str| at.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if other || (at.starts_with('/') && !escaped(at)) {
        return Err(entry.wrong(PLACE));
    }
    Ok(at.to_owned())
}

/// Two numbers of one place are one number: failures read where the requests stand would never be seen.
fn own_places(
    table: &Table<'_>,
    fields: &[MappedField],
    at: &dyn Fn(&str) -> Result<Option<String>, ConfigError>,
) -> Result<(), ConfigError> {
    let mut taken: Vec<(String, String)> = Vec::new();
    for field in fields {
        taken.push((field.at.clone(), crate::model::field::local(&field.metric, field.statistic)));
    }
    for (key, _) in COUNTS {
        let Some((entry, place)) = table.get(key).zip(at(key)?) else { continue };
        if let Some((_, other)) = taken.iter().find(|(taken, _)| *taken == place) {
            let why = format!("reads the same place as \"{other}\", {place}; each has its own");
            return Err(entry.key_error(Problem::Mapped { field: key.to_owned(), why }));
        }
        taken.push((place, key.to_owned()));
    }
    Ok(())
}

fn all_fields(table: &Table<'_>, tool: &str) -> Result<Vec<MappedField>, ConfigError> {
    let mut fields: Vec<MappedField> = Vec::new();
    for entry in table.entries() {
        let field = one(entry, tool)?;
        let refuse = |why: String| entry.key_error(Problem::Mapped { field: entry.key.to_owned(), why });
        if let Some(same) = fields.iter().find(|other| other.at == field.at) {
            let other = crate::model::field::local(&same.metric, same.statistic);
            return Err(refuse(format!(
                "reads the same place as \"{other}\", {}; each has its own",
                same.at
            )));
        }
        let other = fields.iter().find(|o| o.metric == field.metric && o.definition != field.definition);
        if let Some(other) = other {
            return Err(refuse(format!(
                "has the definition \"{}\", and another statistic of {} has \"{}\"; one metric has one",
                field.definition, field.metric, other.definition
            )));
        }
        fields.push(field);
    }
    if fields.is_empty() {
        return Err(table.error(Problem::Wrong {
            key: table.name.clone(),
            found: "empty".to_owned(),
            expected: "at least one field".to_owned(),
        }));
    }
    Ok(fields)
}

fn one(entry: &Entry<'_>, tool: &str) -> Result<MappedField, ConfigError> {
    if let Some(right) = gate::split_by_dots(entry, "generic.NAME.fields.FIELD") {
        return Err(entry.key_error(Problem::Unquoted { right }));
    }
    let table = match entry.value.get_ref() {
        DeValue::Table(_) => entry.table(format!("\"{}\"", entry.key))?.known("generic.NAME.fields.FIELD")?,
        _ => return Err(entry.wrong("a table such as { at = \"/latency/p95\", unit = \"ms\" }")),
    };
    let shown = table.get("shown").map(|entry| entry.boolean()).transpose()?.unwrap_or(false);
    let (metric, statistic) = if shown { own(entry)? } else { known(entry)? };
    let Some(at) = table.get("at") else {
        return Err(
            table.missing("at", "say where it stands, as a JSON pointer or the heading of a CSV column")
        );
    };
    let Some(unit) = table.get("unit") else {
        return Err(table.missing("unit", "say which unit it has in the file, such as unit = \"ms\""));
    };
    better(&table, &metric)?;
    let definition = table.get("definition").map(|entry| entry.string("what the tool means, in a word"));
    let mut definition = definition.transpose()?.unwrap_or(tool).to_owned();
    let factor = if shown {
        definition = format!("{definition}, in {}", unit.string("a unit")?);
        1.0
    } else {
        let words: Vec<(&str, f64)> = units(metric.unit()).collect();
        unit.word("unit for this metric", &words)?
    };
    let factor = Finite::new(factor).map_err(|_| unit.wrong("a unit"))?;
    Ok(MappedField { at: place(at)?, metric, statistic, factor, definition })
}

fn known(entry: &Entry<'_>) -> Result<(Metric, Statistic), ConfigError> {
    let (metric, statistic) = pattern::field(entry.key).map_err(|problem| entry.key_error(problem))?;
    if metric == Metric::SPEEDUP {
        let why = "is never read from a file: it is recomputed from e2e of both strategies".to_owned();
        return Err(entry.key_error(Problem::Mapped { field: entry.key.to_owned(), why }));
    }
    Ok((metric, statistic))
}

/// A metric of the tool's own.
fn own(entry: &Entry<'_>) -> Result<(Metric, Statistic), ConfigError> {
    let refuse =
        |why: &str| entry.key_error(Problem::Mapped { field: entry.key.to_owned(), why: why.to_owned() });
    let (metric, statistic) = pattern::parts(entry.key);
    if METRICS.iter().any(|def| def.id == metric) {
        return Err(refuse("is a metric that is known here; remove shown = true"));
    }
    let statistic = statistic.map_or(Ok(Statistic::Value), str::parse);
    match statistic {
        Ok(statistic) if is_name(metric) => Ok((Metric::named(metric), statistic)),
        _ => Err(refuse("is no field; write it like \"energy\" or \"queue_time.p95\"")),
    }
}

/// A mapping can't turn a metric around.
fn better(table: &Table<'_>, metric: &Metric) -> Result<(), ConfigError> {
    let Some(entry) = table.get("better") else { return Ok(()) };
    let words = [("lower", Direction::LowerIsBetter), ("higher", Direction::HigherIsBetter)];
    let said = entry.word("side", &words)?;
    match metric.direction() {
        known if known == said => Ok(()),
        Direction::Unknown => {
            Err(entry.wrong(format!("nothing: {metric} is shown and never gates; remove it")))
        }
        known => Err(entry.wrong(format!("nothing else than what {metric} is: {}", known.words()))),
    }
}

//! TOML values with their places: every refusal names line and column.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Place, Problem};
use super::keys;
use super::nearest::nearest;
use crate::model::Finite;

/// A file that is being read.
pub(super) struct Source<'a> {
    pub path: String,
    pub text: &'a str,
}

impl Source<'_> {
    /// The place of a byte.
    pub fn place(&self, at: usize) -> Place {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            path: self.path.clone(),
            line: count(before.matches('\n').count() + 1),
            column: count(line.chars().count() + 1),
        }
    }

    pub fn error(&self, at: usize, problem: Problem) -> ConfigError {
        ConfigError { place: self.place(at), problem: Box::new(problem) }
    }
}

/// A table, its keys in the order of the file.
pub(super) struct Table<'a> {
    /// As in its header: `[profile.chat]`.
    pub name: String,
    /// Where its own key or header stands.
    pub at: usize,
    source: &'a Source<'a>,
    entries: Vec<Entry<'a>>,
}

/// A key and its value.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub key: &'a str,
    /// Byte at which the key stands.
    pub at: usize,
    pub value: &'a Spanned<DeValue<'a>>,
    pub source: &'a Source<'a>,
}

impl<'a> Table<'a> {
    pub fn new(source: &'a Source<'a>, name: String, at: usize, table: &'a DeTable<'a>) -> Table<'a> {
        let mut entries: Vec<Entry<'a>> = table
            .iter()
            .map(|(key, value)| Entry { key: key.get_ref(), at: key.span().start, value, source })
            .collect();
        entries.sort_by_key(|entry| entry.at);
        Table { name, at, source, entries }
    }

    /// Refuses keys that the table of keys does not have.
    pub fn known(self, table: &str) -> Result<Table<'a>, ConfigError> {
        let known: Vec<&str> = keys::of(table).collect();
        match self.entries.iter().find(|entry| !known.contains(&entry.key)) {
            None => Ok(self),
            Some(entry) => Err(entry.key_error(Problem::UnknownKey {
                key: entry.key.to_owned(),
                table: self.name.clone(),
                nearest: nearest(entry.key, known.iter().copied()),
                known: known.iter().map(|key| (*key).to_owned()).collect(),
            })),
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.entries.iter()
    }

    pub fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// An error at the table's own key.
    pub fn error(&self, problem: Problem) -> ConfigError {
        self.source.error(self.at, problem)
    }

    pub fn missing(&self, key: &'static str, advice: &'static str) -> ConfigError {
        self.error(Problem::Missing { table: self.name.clone(), key, advice })
    }

    /// Refuses two keys that exclude each other, at the later one.
    pub fn exclusive(&self, one: &str, other: &str, advice: &str) -> Result<(), ConfigError> {
        let (Some(one), Some(other)) = (self.get(one), self.get(other)) else { return Ok(()) };
        let (first, second) = if one.at < other.at { (one, other) } else { (other, one) };
        Err(second.key_error(Problem::Conflict {
            key: second.key.to_owned(),
            other: first.key.to_owned(),
            advice: advice.to_owned(),
        }))
    }
}

impl<'a> Entry<'a> {
    pub fn key_error(&self, problem: Problem) -> ConfigError {
        self.source.error(self.at, problem)
    }

    pub fn value_error(&self, problem: Problem) -> ConfigError {
        self.source.error(self.value.span().start, problem)
    }

    /// The value as it is written, in one short line.
    pub fn written(&self) -> String {
        let text = self.source.text.get(self.value.span()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() <= 60 {
            return line;
        }
        line.chars().take(57).chain("...".chars()).collect()
    }

    pub fn wrong(&self, expected: impl Into<String>) -> ConfigError {
        self.value_error(Problem::Wrong {
            key: self.key.to_owned(),
            found: self.written(),
            expected: expected.into(),
        })
    }

    pub fn place(&self) -> Place {
        self.source.place(self.at)
    }

    /// The items of an array with their own places, or the value itself as the only item.
    pub fn items(&self) -> Result<Vec<Entry<'a>>, ConfigError> {
        let item = |value| Entry { value, ..*self };
        match self.value.get_ref() {
            DeValue::Array(items) if items.is_empty() => Err(self.wrong("at least one value")),
            DeValue::Array(items) => Ok(items.iter().map(item).collect()),
            _ => Ok(vec![*self]),
        }
    }

    pub fn table(&self, name: String) -> Result<Table<'a>, ConfigError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Table::new(self.source, name, self.at, table)),
            _ => Err(self.wrong("a table")),
        }
    }

    pub fn string(&self, expected: &str) -> Result<&'a str, ConfigError> {
        match self.value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.wrong(expected)),
        }
    }

    pub fn boolean(&self) -> Result<bool, ConfigError> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub fn whole<T: TryFrom<u64> + PartialOrd>(&self, least: T, expected: &str) -> Result<T, ConfigError> {
        let DeValue::Integer(number) = self.value.get_ref() else { return Err(self.wrong(expected)) };
        let value = u64::from_str_radix(number.as_str(), number.radix()).ok();
        value
            .and_then(|value| T::try_from(value).ok())
            .filter(|value| *value >= least)
            .ok_or_else(|| self.wrong(expected))
    }

    pub fn finite(&self, expected: &str) -> Result<Finite, ConfigError> {
        let text = match self.value.get_ref() {
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            _ => return Err(self.wrong(expected)),
        };
        let value = text.parse::<f64>().ok();
        value.and_then(|value| Finite::new(value).ok()).ok_or_else(|| self.wrong(expected))
    }

    /// One of several words.
    pub fn word<T: Copy>(&self, what: &'static str, words: &[(&str, T)]) -> Result<T, ConfigError> {
        let known = || words.iter().map(|(word, _)| *word);
        let DeValue::String(text) = self.value.get_ref() else {
            let quoted: Vec<String> = known().map(|word| format!("\"{word}\"")).collect();
            return Err(self.wrong(quoted.join(" or ")));
        };
        words.iter().find(|(word, _)| word == text).map(|(_, value)| *value).ok_or_else(|| {
            self.value_error(Problem::UnknownName {
                what,
                name: text.to_string(),
                nearest: nearest(text, known()),
                known: known().map(str::to_owned).collect(),
            })
        })
    }
}

//! Why a report was not read: what was wrong, where, what was expected, and what to do next.

use std::fmt;
use std::path::PathBuf;

use super::Format;

/// A place in a file: `run.json:3:14 (benchmarks[0].duration)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was given.
    pub path: String,
    /// Line and column, 1-based; absent where the fault has no single place.
    pub at: Option<(usize, usize)>,
    /// The keys that lead there; empty for the file as a whole.
    pub key: String,
}

impl Place {
    /// The file as a whole.
    #[must_use]
    pub fn file(path: &str) -> Place {
        Place { path: path.to_owned(), at: None, key: String::new() }
    }

    /// At a byte of the file.
    #[must_use]
    pub fn offset(path: &str, bytes: &[u8], offset: usize) -> Place {
        let before = &bytes[..offset.min(bytes.len())];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column =
            offset.min(bytes.len()) - before.iter().rposition(|b| *b == b'\n').map_or(0, |nl| nl + 1) + 1;
        Place { path: path.to_owned(), at: Some((line, column)), key: String::new() }
    }

    /// The same place with the keys that lead there.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Place {
        self.key = key.into();
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        if self.key.is_empty() { Ok(()) } else { write!(f, " ({})", self.key) }
    }
}

/// Why one format was not it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The format.
    pub format: Format,
    /// The first thing missing.
    pub missing: String,
}

/// Why reports were not read. All of them end in exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// No report was given.
    #[error("no report was given; name at least one file, or - for standard input")]
    NoInput,
    /// The system did not give the file.
    #[error("{path}: can't be read: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder in which no known report lies.
    #[error("{path}: is a folder without a report that is known here ({looked_for}); name the report file in it", path = path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// File names that would have been taken.
        looked_for: String,
    },
    /// Nothing in it.
    #[error("{path}: is empty; did the benchmark write its report before it ended?")]
    Empty {
        /// The file.
        path: String,
    },
    /// Larger than what is read.
    #[error(
        "{path}: holds more than {limit} bytes; write a summary without the texts of the replies and give that"
    )]
    TooLarge {
        /// The file.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The compressed file is damaged.
    #[error("{path}: begins like gzip but does not unpack: {source}; was the upload cut off?")]
    Gzip {
        /// The file.
        path: String,
        /// What the unpacker said.
        source: std::io::Error,
    },
    /// Neither UTF-8 nor anything that is read.
    #[error("{place}: is not UTF-8 text; save the report as UTF-8 (PowerShell's > writes UTF-16)")]
    NotText {
        /// The first bad byte.
        place: Place,
    },
    /// The file ends in the middle.
    #[error(
        "{place}: the file breaks off here: {what}; the report was cut short, so run the benchmark again or fetch the file anew"
    )]
    Truncated {
        /// Where it ends.
        place: Place,
        /// What the parser waited for.
        what: String,
    },
    /// Not the syntax that its first bytes promise.
    #[error("{place}: is not valid {syntax}: {what}")]
    Syntax {
        /// Where.
        place: Place,
        /// JSON, CSV, YAML.
        syntax: &'static str,
        /// What the parser said.
        what: String,
    },
    /// NaN or infinity where the tool writes none.
    #[error(
        "{place}: {token} is not a number that can be judged, and {format} does not write it; look at what went wrong in that run"
    )]
    NotFinite {
        /// Where.
        place: Place,
        /// The token.
        token: String,
        /// Whose file this is.
        format: Format,
    },
    /// A key twice in one object.
    #[error(
        "{place}: the key \"{key}\" stands twice in one object{again}, so it is not known which value holds; was the file merged by hand?",
        again = again.as_ref().map(|again| format!(", the second time as \"{again}\"")).unwrap_or_default()
    )]
    DuplicateKey {
        /// Where.
        place: Place,
        /// The key.
        key: String,
        /// Its second spelling, where that is another.
        again: Option<String>,
    },
    /// Nested deeper than any report.
    #[error("{place}: nests deeper than {limit} levels; no known report does")]
    TooDeep {
        /// Where.
        place: Place,
        /// The limit.
        limit: usize,
    },
    /// A value of another kind than the tool writes.
    #[error("{place}: {what}; {}", next(*format))]
    WrongValue {
        /// Where.
        place: Place,
        /// What is there and what was expected.
        what: String,
        /// The format that was read.
        format: Format,
    },
    /// Several tools' marks in one file.
    #[error("{path}: could be {formats}; say which with --format NAME")]
    Ambiguous {
        /// The file.
        path: String,
        /// The names.
        formats: String,
    },
    /// No known format.
    #[error("{path}: no known report format. {hint}Looked for:\n{list}", list = listed(refusals))]
    Unknown {
        /// The file.
        path: String,
        /// Per format the first thing missing.
        refusals: Vec<Refusal>,
        /// What the file is, where that is known; ends in a space.
        hint: String,
    },
    /// The format was forced, and it is not that.
    #[error("{path}: is not {format}: {missing}; leave --format away to have the format found")]
    NotThis {
        /// The file.
        path: String,
        /// The format asked for.
        format: Format,
        /// What is missing.
        missing: String,
    },
    /// A file that stands beside a report.
    #[error("{path}: {what}; give {instead}")]
    Companion {
        /// The file.
        path: String,
        /// What it is.
        what: String,
        /// What to give in its place.
        instead: String,
    },
    /// A blessed baseline in place of a report.
    #[error(
        "{path}: is a blessed baseline, not a report; give it with --baseline {path}, and a report of the run to be judged here"
    )]
    Baseline {
        /// The file.
        path: String,
    },
    /// A report of another schema version.
    #[error(
        "{path}: its schema is \"{schema}\" and this version reads \"{known}\"; use the pacegate that wrote it, or measure again"
    )]
    Schema {
        /// The file.
        path: String,
        /// What it says.
        schema: String,
        /// What is read.
        known: &'static str,
    },
    /// The same bytes twice.
    #[error(
        "{first} and {second} have the same content, so they are one measurement and not two; leave one away"
    )]
    SameContent {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// Two tools in one command.
    #[error(
        "{first} is {first_format} and {second} is {second_format}: two tools measure differently, so they can't be joined; check them one by one"
    )]
    MixedFormats {
        /// One file.
        first: String,
        /// Its format.
        first_format: String,
        /// Another.
        second: String,
        /// Its format.
        second_format: String,
    },
    /// A strategy name for a file that names its own.
    #[error(
        "{path}: names its strategies itself ({inside}), so it can't be read as strategy \"{name}\"; leave \"{name}=\" away"
    )]
    StrategyInside {
        /// The file.
        path: String,
        /// The name given.
        name: String,
        /// The names in it.
        inside: String,
    },
    /// The given name can't be a group's name.
    #[error("\"{name}\" can't name a strategy: use letters, digits, '.', '_' and '-'")]
    BadStrategy {
        /// As given.
        name: String,
    },
    /// Read, but there is nothing in it.
    #[error("{path}: holds no run: {what}")]
    NoRun {
        /// The file.
        path: String,
        /// What was looked for.
        what: String,
    },
    /// Two reports that contradict one another.
    #[error("{first} and {second} can't be joined: {what}")]
    Contradiction {
        /// One file.
        first: String,
        /// Another.
        second: String,
        /// In what.
        what: String,
    },
}

impl IngestError {
    /// The file may be whole and sound, but it is no report: in a folder it is left out. A damaged one is never.
    pub(super) fn is_of_another_kind(&self) -> bool {
        matches!(
            self,
            IngestError::Unknown { .. }
                | IngestError::NotThis { .. }
                | IngestError::Companion { .. }
                | IngestError::Baseline { .. }
        )
    }
}

fn listed(refusals: &[Refusal]) -> String {
    let lines = refusals.iter().map(|refusal| format!("  {}: {}", refusal.format, refusal.missing));
    lines.collect::<Vec<_>>().join("\n")
}

fn next(format: Format) -> String {
    match format {
        Format::Generic => "look at the report, and at its mapping in pacegate.toml".to_owned(),
        _ => format!("this is not what {format} writes there"),
    }
}

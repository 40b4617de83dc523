//! From bytes to a baseline, or to a sentence that says what is wrong where.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::model::baseline::{self, Baseline, MOST_JOBS};
use crate::model::{report, verdict};

/// A place in a file, 1-based; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user would name it, or `REF:path`.
    pub file: String,
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A baseline can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// There is no file: a case of its own, because it means "bless first".
    #[error("there is no {0}")]
    Absent(PathBuf),
    /// A folder.
    #[error("{0} is a folder; name the baseline file in it")]
    Folder(PathBuf),
    /// The system refuses.
    #[error("{path} can't be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing in it.
    #[error("{0}:1:1: the file is empty; take it from git again, or bless anew")]
    Empty(String),
    /// Not UTF-8.
    #[error("{0}: not UTF-8 text; take the file from git again, or bless anew")]
    NotText(Place),
    /// A pointer of Git LFS in place of the content.
    #[error(
        "{0}:1:1: this is a Git LFS pointer, not the baseline; run git lfs pull, or with actions/checkout set lfs: true"
    )]
    LfsPointer(String),
    /// A merge that was not finished.
    #[error(
        "{0}: marks of a merge conflict; take one side whole (git checkout --theirs FILE) and bless again"
    )]
    Conflict(Place),
    /// It breaks off.
    #[error("{0}: the file breaks off here; take it from git again, or bless anew")]
    Truncated(Place),
    /// Not JSON.
    #[error("{place}: not JSON: {why}")]
    NotJson {
        /// Where.
        place: Place,
        /// Why.
        why: String,
    },
    /// A report of ours.
    #[error(
        "{file}:1:1: this is a report, not a baseline; bless it: pacegate check {file} --bless --reason TEXT"
    )]
    IsReport {
        /// The file.
        file: String,
    },
    /// A verdict of ours.
    #[error("{file}:1:1: this is a verdict (--json), not a baseline")]
    IsVerdict {
        /// The file.
        file: String,
    },
    /// JSON of someone else.
    #[error(
        "{file}:1:1: this is no baseline of pacegate: \"schema\" is {found}, expected \"{}\"",
        baseline::SCHEMA
    )]
    Foreign {
        /// The file.
        file: String,
        /// What stands there.
        found: String,
    },
    /// Of a newer or older version.
    #[error(
        "{file}:1:1: the baseline has schema \"{schema}\", written by pacegate {writer}; this is pacegate {}, which reads \"{}\". Use that version, or bless anew with this one",
        env!("CARGO_PKG_VERSION"),
        baseline::SCHEMA
    )]
    OtherVersion {
        /// The file.
        file: String,
        /// Its schema.
        schema: String,
        /// The version that wrote it.
        writer: String,
    },
    /// A key has a value that can't be.
    #[error("{place}: {key}: {why}")]
    Wrong {
        /// Where.
        place: Place,
        /// The path of keys, such as `reports[0].jobs[0].id`.
        key: String,
        /// Why.
        why: String,
    },
}

/// The bytes of a baseline on disk.
///
/// # Errors
/// `Absent` where there is no file; else why it can't be read.
pub fn read(path: &Path) -> Result<Vec<u8>, BaselineError> {
    use std::io::ErrorKind;
    std::fs::read(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => BaselineError::Absent(path.to_path_buf()),
        ErrorKind::IsADirectory => BaselineError::Folder(path.to_path_buf()),
        _ => BaselineError::Unreadable { path: path.to_path_buf(), source },
    })
}

/// The part that says what a document is.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
    tool: Option<HeadTool>,
    #[serde(rename = "reports")]
    _reports: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct HeadTool {
    version: Option<String>,
}

/// Reads a baseline from bytes; `file` is what errors call it.
///
/// # Errors
/// What is wrong and where.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Baseline, BaselineError> {
    let text = text(file, bytes)?;
    check_schema(file, &head(file, text)?)?;
    let baseline: Baseline = typed(text).map_err(|(key, error)| located(file, text, &error, &key))?;
    check(file, &baseline)?;
    Ok(baseline)
}

/// Reads a type, or the path of keys at which that failed and why.
fn typed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, (String, serde_json::Error)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| (error.path().to_string(), error.into_inner()))?;
    deserializer.end().map_err(|error| (".".to_owned(), error))?;
    Ok(value)
}

fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, BaselineError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
        BaselineError::NotText(end_of(file, &good))
    })?;
    if text.trim().is_empty() {
        return Err(BaselineError::Empty(file.to_owned()));
    }
    if text.starts_with("version https://git-lfs") {
        return Err(BaselineError::LfsPointer(file.to_owned()));
    }
    let mark = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
    match text.lines().position(mark) {
        Some(line) => {
            Err(BaselineError::Conflict(Place { file: file.to_owned(), line: line + 1, column: 1 }))
        }
        None => Ok(text),
    }
}

fn head(file: &str, text: &str) -> Result<Head, BaselineError> {
    typed::<Head>(text).map_err(|(key, error)| {
        // What the head skips over has no path there; the whole type knows it, where it stops at the same byte.
        let at = |error: &serde_json::Error| (error.line(), error.column());
        match typed::<Baseline>(text) {
            Err((key, whole)) if at(&whole) == at(&error) => located(file, text, &whole, &key),
            _ => located(file, text, &error, &key),
        }
    })
}

fn check_schema(file: &str, head: &Head) -> Result<(), BaselineError> {
    let file = file.to_owned();
    let family = |schema: &str| schema.split('/').next().unwrap_or_default().to_owned();
    let found = match &head.schema {
        Some(serde_json::Value::String(schema)) if schema == baseline::SCHEMA => return Ok(()),
        Some(serde_json::Value::String(schema)) => schema.clone(),
        Some(other) => return Err(BaselineError::Foreign { file, found: other.to_string() }),
        None => return Err(BaselineError::Foreign { file, found: "not there".to_owned() }),
    };
    let ours = family(&found);
    if ours == family(baseline::SCHEMA) {
        let writer = head.tool.as_ref().and_then(|tool| tool.version.clone());
        let writer = writer.unwrap_or_else(|| "of an unknown version".to_owned());
        Err(BaselineError::OtherVersion { file, schema: found, writer })
    } else if ours == family(report::SCHEMA) {
        Err(BaselineError::IsReport { file })
    } else if ours == family(verdict::SCHEMA) {
        Err(BaselineError::IsVerdict { file })
    } else {
        Err(BaselineError::Foreign { file, found: format!("{found:?}") })
    }
}

/// What the types can't say.
fn check(file: &str, baseline: &Baseline) -> Result<(), BaselineError> {
    let wrong = |key: String, why: String| {
        let place = Place { file: file.to_owned(), line: 1, column: 1 };
        Err(BaselineError::Wrong { place, key, why })
    };
    for (i, report) in baseline.reports.iter().enumerate() {
        if report.schema != report::SCHEMA {
            let why = format!("\"{}\", expected \"{}\"", report.schema, report::SCHEMA);
            return wrong(format!("reports[{i}].schema"), why);
        }
    }
    match baseline.jobs().count() {
        0 => wrong("reports".to_owned(), "no job is in it; bless anew".to_owned()),
        jobs if jobs > MOST_JOBS => {
            wrong("reports".to_owned(), format!("{jobs} jobs, and {MOST_JOBS} is the most; bless anew"))
        }
        _ => Ok(()),
    }
}

fn located(file: &str, text: &str, error: &serde_json::Error, key: &str) -> BaselineError {
    let place = place(file, text, error.line(), error.column());
    let why = error.to_string();
    let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why).to_owned();
    match error.classify() {
        serde_json::error::Category::Eof => BaselineError::Truncated(place),
        serde_json::error::Category::Data => BaselineError::Wrong { place, key: key.to_owned(), why },
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            let line = text.split('\n').nth(place.line - 1).unwrap_or_default();
            let rest: String = line.chars().skip(place.column - 1).collect();
            let no_number = ["NaN", "Infinity"].into_iter().find(|word| rest.starts_with(word));
            let why = no_number.map_or(why, |word| format!("{word} is no number"));
            let why = if key == "." { why } else { format!("{why} (in {key})") };
            BaselineError::NotJson { place, why }
        }
    }
}

/// serde counts bytes, people count characters.
fn place(file: &str, text: &str, line: usize, column: usize) -> Place {
    let bytes = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default().as_bytes();
    let before = bytes.get(..column.saturating_sub(1)).unwrap_or(bytes);
    let column = String::from_utf8_lossy(before).chars().count() + 1;
    Place { file: file.to_owned(), line: line.max(1), column }
}

fn end_of(file: &str, text: &str) -> Place {
    let last = text.rsplit('\n').next().unwrap_or_default();
    Place { file: file.to_owned(), line: text.matches('\n').count() + 1, column: last.chars().count() + 1 }
}

//! Typed JSON with errors a person can act on. The fast parser goes first; only after a fault a second one finds the keys.

use serde::Deserialize;
use serde_json::error::Category;

use super::Format;
use super::content::Content;
use super::error::{IngestError, Place};

/// Parses the one value of a file.
///
/// # Errors
/// Truncated, not JSON, a key twice, a value of another kind: with line, column and keys.
pub fn json<'a, T: Deserialize<'a>>(content: &'a Content, format: Format) -> Result<T, IngestError> {
    serde_json::from_slice(&content.bytes).map_err(|error| {
        let mut parser = serde_json::Deserializer::from_slice(&content.bytes);
        let key = match serde_path_to_error::deserialize::<_, T>(&mut parser) {
            Err(tracked) => keys(tracked.path()),
            Ok(_) => String::new(),
        };
        explained(content, 0, &error, key, format)
    })
}

/// Parses values that stand one after another (JSONL), and hands each on with the byte at which it begins.
///
/// # Errors
/// As [`json`], and whatever `take` says.
pub fn json_lines<'a, T: Deserialize<'a>>(
    content: &'a Content,
    format: Format,
    mut take: impl FnMut(T, usize) -> Result<(), IngestError>,
) -> Result<(), IngestError> {
    let mut values = serde_json::Deserializer::from_slice(&content.bytes).into_iter::<T>();
    loop {
        let start = values.byte_offset();
        match values.next() {
            None => return Ok(()),
            Some(Ok(value)) => take(value, start)?,
            Some(Err(error)) => {
                let rest = content.bytes.get(start..).unwrap_or_default();
                let mut parser = serde_json::Deserializer::from_slice(rest);
                let key = match serde_path_to_error::deserialize::<_, T>(&mut parser) {
                    Err(tracked) => keys(tracked.path()),
                    Ok(_) => String::new(),
                };
                return Err(explained(content, start, &error, key, format));
            }
        }
    }
}

fn keys(path: &serde_path_to_error::Path) -> String {
    let text = path.to_string();
    if text == "." { String::new() } else { text }
}

fn explained(
    content: &Content,
    start: usize,
    error: &serde_json::Error,
    key: String,
    format: Format,
) -> IngestError {
    let mut place = Place::file(&content.name).key(key);
    let (line, column) = (error.line(), error.column());
    if line > 0 {
        // A parser of a stream counts from the file's beginning, so `start` is no part of it.
        place.at = Some((line, column));
    } else if start > 0 {
        place.at = content.place(start).at;
    }
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned();
    match error.classify() {
        Category::Eof => IngestError::Truncated { place, what },
        Category::Syntax | Category::Io => IngestError::Syntax { place, syntax: "JSON", what },
        Category::Data => {
            let field = what.strip_prefix("duplicate field `").and_then(|rest| rest.strip_suffix('`'));
            let twice = || what.strip_prefix("the key \"")?.strip_suffix("\" stands twice");
            match field.or_else(twice) {
                Some(key) => IngestError::DuplicateKey { place, key: key.to_owned(), again: None },
                None => IngestError::WrongValue { place, what, format },
            }
        }
    }
}

//! GitHub workflow commands: annotations.

use std::num::NonZeroU32;

use super::terminal::defuse;
use super::{is_hidden, reveal, shorten};

/// The most an annotation's message may hold, in UTF-16 units: the runner cuts there without a word.
pub const ANNOTATION_MESSAGE_LIMIT: usize = 4096;

/// The most an annotation's title may hold, in UTF-16 units, from the Checks API.
pub const ANNOTATION_TITLE_LIMIT: usize = 255;

/// How loud an annotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// Red, `::error`.
    Error,
    /// Yellow, `::warning`.
    Warning,
    /// Grey, `::notice`.
    Notice,
}

/// One annotation; every text in it may be foreign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotation<'a> {
    /// How loud it is.
    pub level: AnnotationLevel,
    /// The file it points at, relative to the workspace with `/` between folders.
    pub file: Option<&'a str>,
    /// The line of that file, from 1.
    pub line: Option<NonZeroU32>,
    /// The bold line above the message.
    pub title: Option<&'a str>,
    /// What is to be said; may have several lines.
    pub message: &'a str,
}

/// One annotation as a workflow command, without the line break that must follow it.
///
/// It must start its line. Empty properties are left out; message and title are cut to their limits.
#[must_use]
pub fn workflow_command(annotation: &Annotation<'_>) -> String {
    let name = match annotation.level {
        AnnotationLevel::Error => "error",
        AnnotationLevel::Warning => "warning",
        AnnotationLevel::Notice => "notice",
    };
    let title = annotation.title.map(|title| {
        let title = shown(title);
        shorten(&title, ANNOTATION_TITLE_LIMIT, char::len_utf16).into_owned()
    });
    let properties = [
        ("file", annotation.file.map(workflow_property)),
        ("line", annotation.line.map(|line| line.to_string())),
        ("title", title.as_deref().map(workflow_property)),
    ];
    let properties: Vec<String> = properties
        .into_iter()
        .filter_map(|(key, value)| {
            value.filter(|value| !value.is_empty()).map(|value| format!("{key}={value}"))
        })
        .collect();
    let gap = if properties.is_empty() { "" } else { " " };
    format!("::{name}{gap}{}::{}", properties.join(","), workflow_data(annotation.message))
}

/// Foreign text for the part of a workflow command after its second `::`, at most [`ANNOTATION_MESSAGE_LIMIT`].
///
/// Line breaks and tabs survive; other hidden characters become visible, for the runner prints the message to its log.
#[must_use]
pub fn workflow_data(text: &str) -> String {
    let shown = shown(text);
    percent(&shorten(&shown, ANNOTATION_MESSAGE_LIMIT, char::len_utf16))
}

/// Foreign text for the value of a workflow command's property. Not cut: half a path is a wrong path.
#[must_use]
pub fn workflow_property(text: &str) -> String {
    percent(&shown(text)).replace(':', "%3A").replace(',', "%2C")
}

fn shown(text: &str) -> String {
    defuse(&reveal(text, |c| !matches!(c, '\n' | '\r' | '\t') && is_hidden(c)))
}

/// `%` first, or the escapes themselves would be escaped.
fn percent(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

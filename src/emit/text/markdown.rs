//! GitHub-flavoured Markdown. Foreign text stands in code spans only: of the usual escaping rules it is the one that
//! no string was found to break, and GitHub links no mention, issue or emoji inside of it.

use super::{is_hidden, reveal, shorten};

/// The most that one code span may show, in bytes of UTF-8: a summary over 1 MiB is not shown at all.
pub const MARKDOWN_CODE_LIMIT: usize = 1024;

/// Foreign text as a code span for a line of Markdown outside of tables, at most [`MARKDOWN_CODE_LIMIT`] bytes of it.
///
/// The fence is one backtick longer than the longest run inside. Empty text becomes a span of one space, since an
/// empty span does not exist.
#[must_use]
pub fn markdown_code(text: &str) -> String {
    let shown = reveal(text, is_hidden);
    let shown = match &*shorten(&shown, MARKDOWN_CODE_LIMIT, char::len_utf8) {
        "" => " ".to_owned(),
        shown => shown.to_owned(),
    };
    let fence = "`".repeat(longest_backtick_run(&shown) + 1);
    // A reader takes one space off each side, unless there is nothing but spaces.
    let edge = |c: char| c == '`' || c == ' ';
    let blank = shown.chars().all(|c| c == ' ');
    let pad = if !blank && (shown.starts_with(edge) || shown.ends_with(edge)) { " " } else { "" };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

/// The same for a cell of a table, where a pipe ends the cell even inside of a code span.
///
/// Only there: elsewhere the backslash before a pipe would be shown.
#[must_use]
pub fn markdown_code_cell(text: &str) -> String {
    markdown_code(text).replace('|', r"\|")
}

fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

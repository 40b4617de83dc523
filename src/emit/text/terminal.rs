//! Terminals and the CI logs that terminal output ends in.

use super::{is_hidden, reveal};

/// Foreign text for one place in a line on stdout, stderr or in a log file.
///
/// Everything hidden becomes visible, line breaks and tabs too, so no escape sequence, overwriting or reordering gets
/// through and the text stays in its line. A CI runner finds no command in it either: see `defuse`; and leading
/// `::` is parted, though a line of ours never starts with foreign text.
#[must_use]
pub fn terminal(text: &str) -> String {
    let shown = defuse(&reveal(text, is_hidden));
    let start = shown.len() - shown.trim_start().len();
    match shown[start..].strip_prefix("::") {
        Some(rest) => format!("{}: :{rest}", &shown[..start]),
        None => shown,
    }
}

/// Parts the `##` of `##[`, which GitHub's runner takes for a command anywhere in a line, and of its relatives in
/// other systems, `##vso[` and `##teamcity[`.
pub(super) fn defuse(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("##") {
        let (before, from) = rest.split_at(at + 1);
        safe.push_str(before);
        if from[1..].trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('[') {
            safe.push(' ');
        }
        rest = from;
    }
    safe + rest
}

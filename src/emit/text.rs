//! Foreign text made harmless, one function per sink.
//!
//! Model names, error strings, file contents and branch names are written by others. Each function here takes such
//! text and returns what may stand in exactly one kind of place; none of them fits a place it is not named for.
//! Apply each once, to the foreign part alone, never to a whole line of ours.

mod markdown;
mod openmetrics;
mod terminal;
mod workflow;
mod xml;

pub use markdown::{MARKDOWN_CODE_LIMIT, markdown_code, markdown_code_cell};
pub use openmetrics::openmetrics_label;
pub use terminal::terminal;
pub use workflow::{
    ANNOTATION_MESSAGE_LIMIT, ANNOTATION_TITLE_LIMIT, Annotation, AnnotationLevel, workflow_command,
    workflow_data, workflow_property,
};
pub use xml::{XML_TEXT_LIMIT, xml_clean, xml_text};

use std::borrow::Cow;
use std::fmt::Write as _;

/// Cuts `text` on a character boundary to at most `limit` units and says how much is gone: `… N more bytes`.
///
/// `measure` gives the units of one character, such as `char::len_utf8` or `char::len_utf16`. The sentence about
/// the rest is counted in the limit, so a limit below its own length (some 30 units) leaves that sentence alone.
#[must_use]
pub fn shorten(text: &str, limit: usize, measure: impl Fn(char) -> usize) -> Cow<'_, str> {
    let units = |part: &str| part.chars().map(&measure).sum::<usize>();
    if units(text) <= limit {
        return Cow::Borrowed(text);
    }
    let more = |bytes: usize| format!("… {bytes} more bytes");
    let room = limit.saturating_sub(units(&more(text.len())));
    let mut used = 0;
    let kept = text.char_indices().find(|&(_, c)| {
        used += measure(c);
        used > room
    });
    let kept = kept.map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}{}", &text[..kept], more(text.len() - kept)))
}

/// Replaces every character that `hide` names by a visible form: `\n`, `\r`, `\t`, else `\u{1b}`.
///
/// A backslash stays as it is: the result is for reading, not for turning back.
fn reveal(text: &str, hide: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !hide(c) => shown.push(c),
            '\n' => shown.push_str(r"\n"),
            '\r' => shown.push_str(r"\r"),
            '\t' => shown.push_str(r"\t"),
            c => {
                let _infallible = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    shown
}

/// Whether a character draws nothing of its own or steers what is drawn around it.
///
/// Unicode's controls, line and paragraph separators, format characters (but not the Arabic number signs, which are
/// drawn), non-characters, and everything that it calls default-ignorable. Two names that differ only by one of these
/// would look the same, and GitHub's runner looks for its commands by comparing by culture, which may skip them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

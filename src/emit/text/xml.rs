//! XML 1.0, read by parsers that agree on little but the standard.

use super::{reveal, shorten};

/// The most that one XML text or attribute may show, in bytes of UTF-8 before escaping.
///
/// A whole parser family refuses a node of ten million bytes, and annotation services one of 64 KB.
pub const XML_TEXT_LIMIT: usize = 8 * 1024;

/// Foreign text for an XML writer that escapes by itself: only characters that every parser takes, at most
/// [`XML_TEXT_LIMIT`] bytes.
///
/// What XML 1.0 forbids can't be written as a reference either, so it becomes visible (`\u{1b}`); so do the C1
/// controls, line and paragraph separators and bidi controls, which consumers pass on to terminals and pages.
/// Bytes that are not UTF-8 must have become U+FFFD before.
#[must_use]
pub fn xml_clean(text: &str) -> String {
    shorten(&reveal(text, is_refused), XML_TEXT_LIMIT, char::len_utf8).into_owned()
}

/// Foreign text for the inside of an XML element: cleaned by [`xml_clean`], then escaped.
///
/// A carriage return is written as a reference, or a parser would make a line feed of it. `>` is always escaped, so
/// `]]>` needs no rule of its own.
#[must_use]
pub fn xml_text(text: &str) -> String {
    let clean = xml_clean(text);
    let mut escaped = String::with_capacity(clean.len());
    for c in clean.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\r' => escaped.push_str("&#13;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_refused(c: char) -> bool {
    match c {
        '\n' | '\r' | '\t' => false,
        '\u{fffe}' | '\u{ffff}' | '\u{2028}' | '\u{2029}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => true,
        c => c.is_control(),
    }
}

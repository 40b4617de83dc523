//! Sentences as Markdown.

use crate::emit::text::{markdown_code, shorten};
use crate::model::sentence::{Piece, Sentence};

/// The most of our own words in one sentence, in bytes; lists of names can be long.
const MOST: usize = 2000;

/// A sentence for a line outside of tables: what is foreign stands in code spans, and so do the names of fields,
/// groups, files and flags among our own words, for GitHub makes links of some (`www.…`, `GH-1`) and emphasis of
/// others (`**`).
pub(super) fn prose(sentence: &Sentence) -> String {
    let mut shown = String::new();
    let mut room = MOST;
    for piece in &sentence.0 {
        let text = match piece {
            Piece::Foreign(text) => markdown_code(text),
            Piece::Own(text) => {
                let text = shorten(text, room, char::len_utf8);
                room = room.saturating_sub(text.len());
                own(&text)
            }
        };
        // Two spans side by side would be read as one.
        if shown.ends_with('`') && text.starts_with('`') {
            shown.push(' ');
        }
        shown.push_str(&text);
    }
    shown
}

/// Our own words, in which commands already stand between backticks.
fn own(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return words(text);
    }
    let part = |(at, part): (usize, &&str)| if at % 2 == 1 { markdown_code(part) } else { words(part) };
    parts.iter().enumerate().map(part).collect()
}

fn words(text: &str) -> String {
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// One word, in a code span if it is a name.
fn word(word: &str) -> String {
    let start = word.len() - word.trim_start_matches(['(', '"']).len();
    let end = word.trim_end_matches([')', '"', ',', ';', ':', '.', '?', '!']).len().max(start);
    let (before, core, after) = (&word[..start], &word[start..end], &word[end..]);
    if core.chars().all(|c| c.is_ascii_punctuation()) {
        let escaped: String = core.chars().map(escape).collect();
        return format!("{before}{escaped}{after}");
    }
    let core = if is_word(core) { core.to_owned() } else { markdown_code(core) };
    format!("{before}{core}{after}")
}

/// Punctuation that stands alone, so that it starts no list, link, tag or emphasis.
fn escape(c: char) -> String {
    if "%/,;:'\"()".contains(c) { c.to_string() } else { format!("\\{c}") }
}

fn is_word(core: &str) -> bool {
    let all = |test: fn(char) -> bool| core.chars().all(test);
    let number = |c: char| c.is_ascii_digit() || ".,%+-x".contains(c) || is_sign(c);
    let spelled = |c: char| c.is_alphabetic() || "'-".contains(c) || is_sign(c);
    all(char::is_alphanumeric)
        || all(number)
        || (all(spelled) && !core.starts_with('-'))
        || matches!(core, "tok/s" | "req/s")
}

/// The signs of our sentences.
fn is_sign(c: char) -> bool {
    "\u{2192}\u{2212}\u{d7}\u{2264}\u{2265}\u{2026}\u{2013}\u{f7}".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_code_and_words_and_numbers_do_not() {
        let own = |text: &str| prose(&Sentence::default().own(text));
        assert_eq!(
            own("ttft.p95 of chat/c8 rose 412.0 \u{2192} 489.1 ms (+18.7 %, limit +10 % and 2 ms): slower"),
            "`ttft.p95` of `chat/c8` rose 412.0 \u{2192} 489.1 ms (+18.7 %, limit +10 % and 2 ms): slower"
        );
        assert_eq!(own("it can't be: 411.2 tok/s, 10,000"), "it can't be: 411.2 tok/s, 10,000");
        assert_eq!(own("`pacegate doctor` looks"), "`pacegate doctor` looks");
    }

    #[test]
    fn a_name_that_github_would_link_or_emphasise_does_nothing() {
        let own = |text: &str| prose(&Sentence::default().own(text));
        assert_eq!(own("www.example.test/c8: GH-1"), "`www.example.test/c8`: `GH-1`");
        assert_eq!(own("the waiver for a/**:ttft.p95 ends"), "the waiver for `a/**:ttft.p95` ends");
        assert_eq!(own("** _ ` #1 @x [a](b)"), "\\*\\* \\_ \\` `#1` `@x` `[a](b`)");
    }

    #[test]
    fn two_spans_side_by_side_stay_two() {
        let sentence = Sentence::default().foreign("a").foreign("b");
        assert_eq!(prose(&sentence), "`a` `b`");
    }
}

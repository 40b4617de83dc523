//! Events of one stream differ in their text alone, most of the time: what was read of one holds for the next. This is
//! exact: only the inside of one JSON string may differ, and only by characters that mean themselves.

use super::openai::{Carries, Chunk};

/// An event around its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    before: Vec<u8>,
    after: Vec<u8>,
    carries: Carries,
}

impl Pattern {
    /// The pattern of an event that is nothing but text.
    pub fn of(data: &[u8], chunk: &Chunk<'_>) -> Option<Pattern> {
        let text = chunk.text_alone()?;
        // Only a text without escapes lies in the data itself.
        let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
        let (before, rest) = data.split_at_checked(start)?;
        let after = rest.strip_prefix(text.as_bytes())?;
        (before.last() == Some(&b'"') && after.first() == Some(&b'"')).then(|| Pattern {
            before: before.to_vec(),
            after: after.to_vec(),
            carries: chunk.carries(),
        })
    }

    /// What an event of this pattern carries, and its text; `None` where it has to be read.
    pub fn read<'a>(&self, data: &'a [u8]) -> Option<(Carries, &'a str)> {
        let text = data.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())?;
        let plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
        if text.is_empty() || !text.iter().all(plain) {
            return None;
        }
        Some((self.carries, std::str::from_utf8(text).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> String {
        format!(
            r#"{{"id":"\"a\"","choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}"#
        )
    }

    fn pattern(data: &str) -> Option<Pattern> {
        Pattern::of(data.as_bytes(), &Chunk::read(data.as_bytes()).unwrap())
    }

    #[test]
    fn an_event_that_differs_in_its_text_alone_is_read_by_the_pattern() {
        let first = pattern(&event(" a")).unwrap();
        for text in ["b", " 東京", "data: [DONE]", "}]}", "x".repeat(5000).as_str()] {
            let data = event(text);
            assert_eq!(first.read(data.as_bytes()), Some((Carries::Output, text)));
            let full = Chunk::read(data.as_bytes()).unwrap();
            assert_eq!(
                (full.carries(), full.texts().collect::<String>()),
                (Carries::Output, text.to_owned())
            );
        }
    }

    #[test]
    fn whatever_differs_in_more_is_read_in_full() {
        let first = pattern(&event(" a")).unwrap();
        let is_read = |data: &str| first.read(data.as_bytes()).is_some();
        for text in ["", r"\n", r"\u6771", "a\",\"refusal\":\"b", "a\u{1}"] {
            assert!(!is_read(&event(text)), "{text}");
        }
        assert!(!is_read(&event("a").replace("null", "\"stop\"")));
        assert!(!is_read(&event("a").replace("\"index\":0", "\"index\":1")));
        // Broken in the middle of a character.
        assert_eq!(first.read(&[event("").split_at(52).0.as_bytes(), &[0xe6]].concat()), None);
    }

    #[test]
    fn an_event_with_more_than_text_makes_no_pattern() {
        assert!(pattern(&event("a")).is_some());
        for more in [
            event(r"a\n"),
            event(""),
            event("a").replace("null", "\"stop\""),
            event("a").replacen('{', "{\"usage\":{\"completion_tokens\":1},", 1),
            event("a").replacen('{', "{\"error\":\"x\",", 1),
            event("a").replace("\"content\"", "\"refusal\":\"b\",\"content\""),
            event("a").replace("}]}", "},{\"index\":1,\"delta\":{\"content\":\"b\"}}]}"),
        ] {
            assert_eq!(pattern(&more), None, "{more}");
        }
    }
}

//! One pass over a JSON file before it is parsed: its top keys, its depth, and where it is no JSON by the standard.

use std::collections::BTreeSet;

use memchr::memchr2;

/// No report nests deeper; what does is refused before a parser sees it.
pub const MOST_DEPTH: usize = 64;

/// Keys are kept down to this depth.
const KEY_DEPTH: usize = 4;

/// Enough keys of one depth to tell formats apart; an object with more is a map of something, and must not hide the keys above it.
const MOST_KEYS: usize = 4096;

/// What a file looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Begins with `{`.
    Object,
    /// Begins with `[`.
    Array,
    /// Neither: CSV, YAML, printed text.
    Text,
}

/// What one pass found.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The first value's kind.
    pub shape: Shape,
    /// Paths of keys in the first value, such as `summary.successRate` and `benchmarks[].metrics`; of arrays the first element.
    pub keys: BTreeSet<String>,
    /// How many values stand one after another (JSONL has more than one).
    pub documents: usize,
    /// The first bare NaN or Infinity.
    pub nonfinite: Option<usize>,
    /// The first bracket nested too deep.
    pub too_deep: Option<usize>,
}

impl Outline {
    /// Whether a key path is there.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Looks at the bytes once.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Outline {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let shape = match first {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            _ => Shape::Text,
        };
        let mut outline =
            Outline { shape, keys: BTreeSet::new(), documents: 0, nonfinite: None, too_deep: None };
        if shape != Shape::Text {
            Scan { bytes, at: 0, stack: Vec::new(), path: String::new(), kept: [0; KEY_DEPTH] }
                .run(&mut outline);
        }
        outline
    }
}

/// One open bracket.
struct Level {
    object: bool,
    /// In an object: the next string is a key.
    key_next: bool,
    /// Keys below here are kept.
    kept: bool,
    /// Length of `path` for this level.
    path: usize,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Level>,
    path: String,
    /// Keys that were kept, by depth.
    kept: [usize; KEY_DEPTH],
}

impl Scan<'_> {
    fn run(&mut self, outline: &mut Outline) {
        while let Some(byte) = self.next_mark() {
            match byte {
                b'"' => self.string(outline),
                b'{' | b'[' => {
                    if self.stack.len() >= MOST_DEPTH {
                        outline.too_deep = Some(self.at);
                        return;
                    }
                    self.open(byte == b'{', outline.documents == 0);
                }
                b'}' | b']' => {
                    self.stack.pop();
                    if self.stack.is_empty() {
                        outline.documents += 1;
                    }
                }
                b',' => self.comma(),
                _ if outline.nonfinite.is_none() && self.begins_token() => outline.nonfinite = Some(self.at),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Goes to the next byte that means something; commas only where keys are kept.
    fn next_mark(&mut self) -> Option<u8> {
        let commas = self.stack.last().is_some_and(|level| level.kept);
        let rest = self.bytes.get(self.at..)?;
        let found = rest.iter().position(|byte| MARKS[usize::from(*byte)] && (commas || *byte != b','))?;
        self.at += found;
        Some(self.bytes[self.at])
    }

    fn begins_token(&self) -> bool {
        let rest = &self.bytes[self.at..];
        rest.starts_with(b"NaN") || rest.starts_with(b"Infinity")
    }

    fn open(&mut self, object: bool, first_document: bool) {
        let depth = self.stack.len();
        let kept = depth < KEY_DEPTH && self.stack.last().map_or(first_document, |level| level.kept);
        if kept && !object {
            self.path.push_str("[]");
        }
        self.stack.push(Level { object, key_next: object, kept, path: self.path.len() });
    }

    fn comma(&mut self) {
        if let Some(level) = self.stack.last_mut() {
            level.key_next = level.object;
            // Of an array only the first element tells keys.
            level.kept &= level.object;
        }
    }

    fn string(&mut self, outline: &mut Outline) {
        let start = self.at + 1;
        let mut end = start;
        loop {
            match memchr2(b'"', b'\\', self.bytes.get(end..).unwrap_or(&[])) {
                Some(found) if self.bytes[end + found] == b'\\' => end += found + 2,
                Some(found) => break end += found,
                None => break end = self.bytes.len(),
            }
        }
        self.at = end;
        // What breaks off is no key: it could begin like one.
        if end >= self.bytes.len() {
            return;
        }
        let depth = self.stack.len();
        let Some(level) = self.stack.last_mut() else { return };
        if level.kept && level.key_next {
            level.key_next = false;
            self.path.truncate(level.path);
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(&String::from_utf8_lossy(&self.bytes[start..end]));
            if let Some(kept) = self.kept.get_mut(depth - 1).filter(|kept| **kept < MOST_KEYS) {
                *kept += usize::from(outline.keys.insert(self.path.clone()));
            }
        }
    }
}

/// Bytes at which the scan stops.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let stops = b"\"{}[],NI";
    let mut i = 0;
    while i < stops.len() {
        marks[stops[i] as usize] = true;
        i += 1;
    }
    marks
};

/// Where bare `NaN`, `Infinity` and `-Infinity` stand outside strings, each is replaced by a string of the same length that
/// [`super::number::Number`] reads, so that a JSON parser takes the file and every line and column stays.
pub fn quote_nonfinite(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) =
        bytes.get(at..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'N' | b'I')))
    {
        at += found;
        if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
            continue;
        }
        let negative = at > 0 && bytes[at - 1] == b'-';
        let (from, word): (usize, &[u8]) = if bytes[at..].starts_with(b"NaN") {
            (at, b"\"n\"")
        } else if bytes[at..].starts_with(b"Infinity") && negative {
            (at - 1, b"\"-inf\"   ")
        } else if bytes[at..].starts_with(b"Infinity") {
            (at, b"\"inf\"   ")
        } else {
            at += 1;
            continue;
        };
        bytes[from..from + word.len()].copy_from_slice(word);
        at = from + word.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_first_elements_are_seen_and_strings_hide_brackets() {
        let text = br#" {"a": {"b": [ {"c": 1}, {"d": 2} ], "e\"}": "}{"}, "f": [[{"g": 0}]], "h": {"i": {"j": {"k": {"l": 1}}}}}"#;
        let outline = Outline::of(text);
        let keys: Vec<&str> = outline.keys.iter().map(String::as_str).collect();
        assert_eq!(keys, ["a", "a.b", "a.b[].c", "a.e\\\"}", "f", "f[][].g", "h", "h.i", "h.i.j", "h.i.j.k"]);
        assert_eq!((outline.documents, outline.nonfinite, outline.too_deep), (1, None, None));
    }

    #[test]
    fn values_one_after_another_are_counted_and_only_the_first_tells_keys() {
        let outline = Outline::of(b"{\"a\":1}\r\n{\"b\":2}\n");
        assert_eq!((outline.documents, outline.has("a"), outline.has("b")), (2, true, false));
    }

    #[test]
    fn a_map_of_many_keys_hides_none_above_it_and_is_not_kept_whole() {
        let map: Vec<String> = (0..9000).map(|n| format!("\"k{n}\":{{\"x{n}\":0}}")).collect();
        let outline =
            Outline::of(format!("{{\"map\":{{{}}},\"last\":{{\"of\":1}}}}", map.join(",")).as_bytes());
        assert!(outline.has("map.k4095.x4095") && outline.has("last"));
        assert_eq!((outline.has("map.k4096"), outline.keys.len()), (false, 2 + 4096 + 4096));
    }

    #[test]
    fn a_key_that_breaks_off_is_none() {
        let text = br#"{"metrics": 1, "metrics_phase": 2}"#;
        for end in 0..text.len() {
            let outline = Outline::of(&text[..end]);
            assert!(outline.keys.iter().all(|key| key == "metrics" || key == "metrics_phase"), "{end}");
            assert_eq!(outline.has("metrics"), end > 9, "{end}");
        }
    }

    #[test]
    fn depth_is_bounded_at_sixty_four() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(Outline::of(nested(64).as_bytes()).too_deep, None);
        assert_eq!(Outline::of(nested(65).as_bytes()).too_deep, Some(64));
    }

    #[test]
    fn bare_tokens_become_strings_of_the_same_length() {
        let mut text =
            br#"{"a": NaN, "Infinity NaN \" I": Infinity, "b": [-Infinity,NaN], "N": null}"#.to_vec();
        assert_eq!(Outline::of(&text).nonfinite, Some(6));
        let before = text.len();
        quote_nonfinite(&mut text);
        assert_eq!(text.len(), before);
        let expected = r#"{"a": "n", "Infinity NaN \" I": "inf"   , "b": ["-inf"   ,"n"], "N": null}"#;
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn broken_bytes_end_the_scan_without_a_panic() {
        for text in ["\"", "{\"", "{\"\\", "{\"a\\\"", "]]]}", "{,,,", "[", "{\"a\":\"\\"] {
            assert_eq!(Outline::of(text.as_bytes()).too_deep, None);
            quote_nonfinite(&mut text.as_bytes().to_vec());
        }
    }
}

//! Where a key stands in a JSON file: walked again only when a sentence needs line and column.

use memchr::memchr2;

use super::content::Content;
use super::error::Place;

/// One step into a JSON value.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Into an object.
    Key(&'a str),
    /// Into a list.
    Index(usize),
}

/// The place of the value that the steps lead to; of the last value on the way that exists.
#[must_use]
pub fn place(content: &Content, from: usize, steps: &[Step<'_>]) -> Place {
    let mut key = String::new();
    for step in steps {
        match step {
            Step::Key(name) if key.is_empty() => key.push_str(name),
            Step::Key(name) => key.push_str(&format!(".{name}")),
            Step::Index(index) => key.push_str(&format!("[{index}]")),
        }
    }
    let mut walker = Walker { bytes: &content.bytes, at: from };
    walker.space();
    for step in steps {
        if walker.enter(*step).is_none() {
            break;
        }
    }
    content.place(walker.at).key(key)
}

/// The keys that lead to a byte.
#[must_use]
pub fn keys_to(content: &Content, offset: usize) -> String {
    let mut walker = Walker { bytes: &content.bytes, at: 0 };
    // Per open bracket: the last key, or the index in a list.
    let mut stack: Vec<Result<String, usize>> = Vec::new();
    while walker.at < offset {
        match walker.peek() {
            None => break,
            Some(b'"') => {
                let from = walker.at + 1;
                if walker.string().is_none() {
                    break;
                }
                let text = content.bytes.get(from..walker.at - 1).unwrap_or_default();
                walker.space_only();
                if walker.peek() == Some(b':')
                    && let Some(Ok(key)) = stack.last_mut()
                {
                    *key = String::from_utf8_lossy(text).into_owned();
                }
                continue;
            }
            Some(b'{') => stack.push(Ok(String::new())),
            Some(b'[') => stack.push(Err(0)),
            Some(b'}' | b']') => drop(stack.pop()),
            Some(b',') => {
                if let Some(Err(index)) = stack.last_mut() {
                    *index += 1;
                }
            }
            Some(_) => {}
        }
        walker.at += 1;
    }
    let mut keys = String::new();
    for step in stack {
        match step {
            Ok(key) if keys.is_empty() => keys.push_str(&key),
            Ok(key) => keys.push_str(&format!(".{key}")),
            Err(index) => keys.push_str(&format!("[{index}]")),
        }
    }
    keys
}

struct Walker<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walker<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    fn space_only(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Goes to a child; stays where it is if there is none.
    fn enter(&mut self, step: Step<'_>) -> Option<()> {
        let start = self.at;
        let found = self.child(step);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn child(&mut self, step: Step<'_>) -> Option<()> {
        let object = self.peek()? == b'{';
        self.at += 1;
        let mut index = 0;
        loop {
            self.space();
            match (self.peek()?, step) {
                (b'}' | b']', _) => return None,
                (b'"', Step::Key(wanted)) if object => {
                    let from = self.at + 1;
                    self.string()?;
                    let name = self.bytes.get(from..self.at - 1)?;
                    self.space();
                    if name == wanted.as_bytes() {
                        return Some(());
                    }
                    self.value()?;
                }
                (_, Step::Index(wanted)) if !object && index == wanted => return Some(()),
                _ => self.value()?,
            }
            index += 1;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let found = memchr2(b'"', b'\\', self.bytes.get(self.at..)?)?;
            self.at += found;
            if self.peek()? == b'"' {
                self.at += 1;
                return Some(());
            }
            self.at += 2;
        }
    }

    fn value(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return Some(()),
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return Some(()),
                _ => self.at += 1,
            }
            if depth == 0 && matches!(self.peek(), Some(b',' | b'}' | b']') | None) {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_on_its_line() {
        let text = "{\n \"a\": [1, {\"b\\\"\": 2,\n  \"c\": \"x\"}],\n \"d\": {\"e\": 5}\n}";
        let content = Content::of("f.json".into(), text.as_bytes().to_vec()).unwrap();
        let at = |steps: &[Step<'_>]| place(&content, 0, steps).to_string();
        assert_eq!(at(&[Step::Key("a"), Step::Index(1), Step::Key("c")]), "f.json:3:8 (a[1].c)");
        assert_eq!(at(&[Step::Key("d"), Step::Key("e")]), "f.json:4:13 (d.e)");
        assert_eq!(at(&[Step::Key("d"), Step::Key("gone")]), "f.json:4:7 (d.gone)");
    }

    #[test]
    fn the_keys_that_lead_to_a_byte_are_told() {
        let text = r#"{"a": [1, {"b": "x:", "c": NaN}]}"#;
        let content = Content::of("f.json".into(), text.as_bytes().to_vec()).unwrap();
        assert_eq!(keys_to(&content, text.find("NaN").unwrap()), "a[1].c");
    }
}

//! Server-sent events: bytes in, events out. Pure framing; it knows neither JSON nor clocks.
//!
//! As the HTML standard has it (§9.2.6): lines end in CR, LF or CRLF, `:` begins a comment, several `data` lines are
//! joined by LF, a blank line ends the event. Pieces may be cut anywhere, also inside a character. Beyond the
//! standard: a line `error: …` counts as data of an error event (older llama.cpp), and [`Framer::finish`] hands out
//! what stands before the end of the stream without its blank line, since servers forget it after `[DONE]`.

/// What an event's field names say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any event that is not named `error`.
    Message,
    /// Named `error`, or sent as an `error:` line.
    Error,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its data, lines joined by LF.
    pub data: &'a [u8],
    /// How many bytes of the stream were there when it was complete.
    pub end: usize,
}

/// Collects bytes until an event is complete.
#[derive(Clone, Debug, Default)]
pub struct Framer {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    is_error: bool,
    after_cr: bool,
    past_first_line: bool,
    offset: usize,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Framer {
    /// Takes the next bytes of the stream and hands out every event that they complete.
    pub fn push(&mut self, bytes: &[u8], mut event: impl FnMut(Event<'_>)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                (rest, self.offset) = (&rest[1..], self.offset + 1);
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                self.offset += rest.len();
                return;
            };
            self.after_cr = rest[end] == b'\r';
            self.offset += end + 1;
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if self.line.is_empty() {
                self.take_line(line, &mut event);
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole, &mut event);
            }
        }
    }

    /// The stream has ended: hands out an event that only lacked its blank line.
    pub fn finish(mut self, mut event: impl FnMut(Event<'_>)) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.take_line(&line, &mut event);
        }
        self.dispatch(&mut event);
    }

    fn take_line(&mut self, line: &[u8], event: &mut impl FnMut(Event<'_>)) {
        let first = !std::mem::replace(&mut self.past_first_line, true);
        let line = if first { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"error" => {
                self.is_error = true;
                self.add_data(value);
            }
            b"event" => self.is_error = value == b"error",
            _ => {}
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
    }

    fn dispatch(&mut self, event: &mut impl FnMut(Event<'_>)) {
        if self.has_data {
            let kind = if self.is_error { Kind::Error } else { Kind::Message };
            event(Event { kind, data: &self.data, end: self.offset });
        }
        self.data.clear();
        (self.has_data, self.is_error) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<(Kind, String, usize)> {
        let mut framer = Framer::default();
        let mut found = Vec::new();
        let mut keep =
            |e: Event<'_>| found.push((e.kind, String::from_utf8_lossy(e.data).into_owned(), e.end));
        for piece in pieces {
            framer.push(piece, &mut keep);
        }
        framer.finish(keep);
        found
    }

    fn data(text: &str) -> Vec<String> {
        events(&[text.as_bytes()]).into_iter().map(|(_, data, _)| data).collect()
    }

    #[test]
    fn an_event_ends_at_its_blank_line_whatever_ends_the_lines() {
        for (text, ends) in [
            ("data: a\n\ndata: b\n\n", [9, 18]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", [10, 21]),
            ("data: a\r\rdata: b\r\r", [9, 18]),
        ] {
            let found: Vec<_> = events(&[text.as_bytes()]).into_iter().map(|(_, d, end)| (d, end)).collect();
            assert_eq!(found, [("a".to_owned(), ends[0]), ("b".to_owned(), ends[1])], "{text:?}");
        }
    }

    #[test]
    fn comments_ids_and_blank_lines_are_no_events() {
        assert_eq!(data(": ping\n\n:\n\nid: 7\nretry: 10\n\n\n\n"), Vec::<String>::new());
        assert_eq!(data(": ping\ndata: a\n: ping\n\n"), ["a"]);
    }

    #[test]
    fn data_lines_are_joined_and_one_space_is_no_data() {
        assert_eq!(data("data: {\ndata:  1\ndata:}\ndata\n\n"), ["{\n 1\n}\n"]);
    }

    #[test]
    fn an_event_named_error_or_an_error_line_is_an_error() {
        let kinds = |text: &str| events(&[text.as_bytes()]).into_iter().map(|(k, ..)| k).collect::<Vec<_>>();
        assert_eq!(kinds("event: error\ndata: x\n\ndata: y\n\n"), [Kind::Error, Kind::Message]);
        assert_eq!(kinds("error: {\"code\":500}\n\n"), [Kind::Error]);
        assert_eq!(kinds("event: message\ndata: x\n\n"), [Kind::Message]);
    }

    #[test]
    fn the_last_event_counts_without_its_blank_line_and_a_byte_order_mark_does_not_hide_the_first() {
        assert_eq!(data("data: a\n\ndata: [DONE]"), ["a", "[DONE]"]);
        assert_eq!(data("data: a\n\ndata: [DONE]\n"), ["a", "[DONE]"]);
        assert_eq!(data("\u{feff}data: a\n\n"), ["a"]);
    }

    #[test]
    fn a_cut_at_any_byte_changes_nothing() {
        let text = "\u{feff}: hi\r\n\r\ndata: {\"a\":\r\ndata: \"東京🚀\"}\r\n\r\nevent: error\ndata: b\n\ndata: c\r\rdata: [DONE]\n\n";
        let whole = events(&[text.as_bytes()]);
        assert_eq!(whole.len(), 4);
        for cut in 0..=text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            assert_eq!(events(&[a, b]), whole, "cut at {cut}");
        }
        let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(events(&single), whole);
    }
}

//! HTTP/1.1 replies: where one ends, followed while its bytes come, and its head and the pieces of its body, read again
//! from the recorded bytes afterwards. Both by [`Framing`], so that they can't differ.

use std::ops::Range;

/// The head of a reply, as far as it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Where the head ends.
    pub end: usize,
    /// Whether the body is an event stream.
    pub event_stream: bool,
    /// The `Retry-After` header.
    pub retry_after: Option<String>,
    /// The `Location` header.
    pub location: Option<String>,
    /// A content coding that was not asked for.
    pub coding: Option<String>,
    /// The server says that it is `pacegate mock`.
    pub simulated: bool,
    /// Whether the server means to leave the connection open after the reply.
    pub keep_alive: bool,
}

/// The header by which the mock server says that no model answers.
pub const SIMULATED: (&str, &str) = ("x-simulated", "pacegate mock");

/// How the body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// By its length or its last chunk.
    Whole,
    /// It lasts until the connection closes; nothing in it says whether it is whole.
    WithConnection,
    /// Bytes are missing.
    Short,
}

/// A reply in the recorded bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its head.
    pub head: Head,
    /// Its body without the transfer coding, as ranges of the recorded bytes.
    pub body: Vec<Range<usize>>,
    /// How the body ended.
    pub end: BodyEnd,
}

impl Reply {
    /// The body in one piece.
    #[must_use]
    pub fn text(&self, raw: &[u8]) -> Vec<u8> {
        self.body.iter().flat_map(|range| &raw[range.clone()]).copied().collect()
    }
}

/// The bytes are no HTTP reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an HTTP/1.1 reply ({0})")]
pub struct NotHttp(String);

/// Most bytes of a head, of a chunk's size line and of trailers.
const MOST_HEAD: usize = 64 << 10;

/// Follows a reply from its first byte to its end. It looks at no byte of the body.
#[derive(Debug, Default)]
pub struct Framing {
    head: Option<Head>,
    at: At,
}

/// What is expected next, and from which byte on.
#[derive(Clone, Copy, Debug, Default)]
enum At {
    #[default]
    Head,
    Body {
        from: usize,
        end: usize,
        chunked: bool,
    },
    UntilClosed(usize),
    ChunkEnd(usize),
    ChunkSize(usize),
    Trailers(usize),
    Whole(usize),
}

impl Framing {
    /// Goes on with all bytes that have come so far, and hands out the new pieces of the body.
    ///
    /// # Errors
    /// When the bytes are no HTTP reply.
    pub fn advance(&mut self, raw: &[u8], mut body: impl FnMut(Range<usize>)) -> Result<(), NotHttp> {
        loop {
            self.at = match self.at {
                At::Head => match head(raw)? {
                    Some((head, at)) => {
                        self.head = Some(head);
                        at
                    }
                    None => return within(MOST_HEAD, raw.len(), "a head"),
                },
                At::Body { from, end, chunked } => {
                    let have = end.min(raw.len());
                    if from < have {
                        body(from..have);
                    }
                    if have < end {
                        self.at = At::Body { from: have, end, chunked };
                        return Ok(());
                    }
                    if chunked { At::ChunkEnd(end) } else { At::Whole(end) }
                }
                At::UntilClosed(from) => {
                    if from < raw.len() {
                        body(from..raw.len());
                    }
                    self.at = At::UntilClosed(raw.len());
                    return Ok(());
                }
                At::ChunkEnd(from) => match &raw[from..] {
                    [b'\r', b'\n', ..] => At::ChunkSize(from + 2),
                    [] | [b'\r'] => return Ok(()),
                    _ => return Err(NotHttp("a chunk is longer than it says".to_owned())),
                },
                At::ChunkSize(from) => match chunk_size(raw, from)? {
                    Some(at) => at,
                    None => return within(MOST_HEAD, raw.len() - from, "a chunk's size line"),
                },
                At::Trailers(from) => match trailers(&raw[from..]) {
                    Some(length) => At::Whole(from + length),
                    None => {
                        return within(MOST_HEAD, raw.len() - from, "the header lines after the last chunk");
                    }
                },
                At::Whole(_) => return Ok(()),
            };
        }
    }

    /// How the body ends if nothing more comes.
    #[must_use]
    pub fn end(&self) -> BodyEnd {
        match self.at {
            At::Whole(_) => BodyEnd::Whole,
            At::UntilClosed(_) => BodyEnd::WithConnection,
            _ => BodyEnd::Short,
        }
    }

    /// Whether the connection can carry another request: the reply is whole, these bytes are all that came, and the
    /// server did not say that it closes.
    #[must_use]
    pub fn leaves_open(&self, raw: &[u8]) -> bool {
        let nothing_follows = matches!(self.at, At::Whole(end) if end == raw.len());
        nothing_follows && self.head.as_ref().is_some_and(|head| head.keep_alive)
    }
}

/// Reads a reply; `None` while its head is not complete.
///
/// # Errors
/// When the bytes are no HTTP reply.
pub fn decode(raw: &[u8]) -> Result<Option<Reply>, NotHttp> {
    let (mut framing, mut body) = (Framing::default(), Vec::new());
    framing.advance(raw, |piece| body.push(piece))?;
    let end = framing.end();
    Ok(framing.head.map(|head| Reply { head, body, end }))
}

fn within(most: usize, bytes: usize, what: &str) -> Result<(), NotHttp> {
    if bytes <= most { Ok(()) } else { Err(NotHttp(format!("{what} of more than {} kB", most >> 10))) }
}

fn head(raw: &[u8]) -> Result<Option<(Head, At)>, NotHttp> {
    // A TLS record of an alert: what an https port says to plain HTTP.
    if raw.starts_with(&[0x15, 0x03]) {
        return Err(NotHttp("a TLS alert: this port wants https://".to_owned()));
    }
    let mut start = 0;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 128];
        let mut parsed = httparse::Response::new(&mut headers);
        let length = match parsed.parse(&raw[start..]).map_err(|e| NotHttp(e.to_string()))? {
            httparse::Status::Partial => return Ok(None),
            httparse::Status::Complete(length) => length,
        };
        start += length;
        let status = parsed.code.unwrap_or_default();
        // 1xx replies come before the real one.
        if !(100..200).contains(&status) {
            return understand(&parsed, status, start).map(Some);
        }
    }
}

fn understand(parsed: &httparse::Response<'_, '_>, status: u16, end: usize) -> Result<(Head, At), NotHttp> {
    let all = |name: &'static str| {
        let named = parsed.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| String::from_utf8_lossy(header.value).trim().to_owned())
    };
    let value = |name| all(name).next();
    let items = |name| all(name).flat_map(|list| list_items(&list).map(str::to_owned).collect::<Vec<_>>());
    let says = |name, word: &str| items(name).any(|item| item.eq_ignore_ascii_case(word));
    // The same length again is one length (RFC 9112 §6.3).
    let lengths: Vec<String> = items("content-length").collect();
    let at = if matches!(status, 204 | 304) {
        At::Whole(end)
    } else if says("transfer-encoding", "chunked") {
        At::ChunkSize(end)
    } else if let Some(length) = lengths.first() {
        let digits = length.bytes().all(|byte| byte.is_ascii_digit());
        let bytes = length.parse().ok().and_then(|length| end.checked_add(length));
        let agreed = bytes.filter(|_| digits && lengths.iter().all(|other| other == length));
        let bytes = agreed.ok_or_else(|| NotHttp(format!("a content length of {}", lengths.join(", "))))?;
        At::Body { from: end, end: bytes, chunked: false }
    } else {
        At::UntilClosed(end)
    };
    // HTTP/1.0 closes unless it says otherwise, 1.1 the other way round.
    let keep_alive =
        !says("connection", "close") && (parsed.version == Some(1) || says("connection", "keep-alive"));
    let head = Head {
        status,
        end,
        event_stream: value("content-type")
            .unwrap_or_default()
            .to_lowercase()
            .starts_with("text/event-stream"),
        retry_after: value("retry-after"),
        location: value("location"),
        coding: coding(items("content-encoding").chain(items("transfer-encoding"))),
        simulated: value(SIMULATED.0).is_some(),
        keep_alive,
    };
    Ok((head, at))
}

/// The items of a header that is a list.
pub(super) fn list_items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

/// What a body was coded with beyond its chunks.
fn coding(codings: impl Iterator<Item = String>) -> Option<String> {
    codings
        .map(|coding| coding.to_lowercase())
        .find(|coding| !["chunked", "identity", ""].contains(&coding.as_str()))
}

fn chunk_size(raw: &[u8], from: usize) -> Result<Option<At>, NotHttp> {
    let bad = || NotHttp("bad chunk size".to_owned());
    // No digit is no 0, which would be the end.
    if raw.get(from).is_some_and(|byte| !byte.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let httparse::Status::Complete((line, size)) =
        httparse::parse_chunk_size(&raw[from..]).map_err(|_| bad())?
    else {
        return Ok(None);
    };
    let from = from + line;
    if size == 0 {
        return Ok(Some(At::Trailers(from)));
    }
    let end = usize::try_from(size).ok().and_then(|size| from.checked_add(size)).ok_or_else(bad)?;
    Ok(Some(At::Body { from, end, chunked: true }))
}

/// After the last chunk: header lines, then a blank one. Their length.
fn trailers(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"\r\n") {
        return Some(2);
    }
    memchr::memmem::find(rest, b"\r\n\r\n").map(|at| at + 4)
}

#[cfg(test)]
mod tests;

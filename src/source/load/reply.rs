//! From the recorded bytes of one reply to its head and the pieces of its body, after the request is over.
//!
//! hyper drives the connection and decides when a reply ends; this reads the same bytes again, because only here is
//! known in which socket read each byte came.

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

enum Coding {
    Chunked,
    Length(usize),
    Nothing,
    UntilClosed,
}

/// Reads a reply; `None` while its head is not complete.
///
/// # Errors
/// When the bytes are no HTTP reply.
pub fn decode(raw: &[u8]) -> Result<Option<Reply>, NotHttp> {
    let Some((head, coding)) = head(raw)? else { return Ok(None) };
    let (body, end) = match coding {
        Coding::Chunked => chunks(raw, head.end)?,
        Coding::Nothing => (Vec::new(), BodyEnd::Whole),
        Coding::UntilClosed => (some(head.end..raw.len()), BodyEnd::WithConnection),
        Coding::Length(length) => {
            let have = raw.len() - head.end;
            let end = if have >= length { BodyEnd::Whole } else { BodyEnd::Short };
            (some(head.end..head.end + have.min(length)), end)
        }
    };
    Ok(Some(Reply { head, body, end }))
}

fn some(range: Range<usize>) -> Vec<Range<usize>> {
    if range.is_empty() { Vec::new() } else { vec![range] }
}

fn head(raw: &[u8]) -> Result<Option<(Head, Coding)>, NotHttp> {
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
            return Ok(Some(understand(status, start, parsed.headers)));
        }
    }
}

fn understand(status: u16, end: usize, headers: &[httparse::Header<'_>]) -> (Head, Coding) {
    let value = |name: &str| {
        let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(header.value).trim().to_owned())
    };
    let lower = |name| value(name).unwrap_or_default().to_lowercase();
    let coding = if matches!(status, 204 | 304) {
        Coding::Nothing
    } else if lower("transfer-encoding").contains("chunked") {
        Coding::Chunked
    } else {
        value("content-length").and_then(|text| text.parse().ok()).map_or(Coding::UntilClosed, Coding::Length)
    };
    let head = Head {
        status,
        end,
        event_stream: lower("content-type").starts_with("text/event-stream"),
        retry_after: value("retry-after"),
        location: value("location"),
        coding: value("content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity")),
        simulated: value(SIMULATED.0).is_some(),
    };
    (head, coding)
}

fn chunks(raw: &[u8], start: usize) -> Result<(Vec<Range<usize>>, BodyEnd), NotHttp> {
    let (mut at, mut body) = (start, Vec::new());
    loop {
        let parsed =
            httparse::parse_chunk_size(&raw[at..]).map_err(|_| NotHttp("bad chunk size".to_owned()))?;
        let httparse::Status::Complete((line, size)) = parsed else { return Ok((body, BodyEnd::Short)) };
        at += line;
        if size == 0 {
            let end = if ends_after_trailers(&raw[at..]) { BodyEnd::Whole } else { BodyEnd::Short };
            return Ok((body, end));
        }
        let end = usize::try_from(size).ok().and_then(|size| at.checked_add(size)).unwrap_or(usize::MAX);
        body.extend(some(at..end.min(raw.len())));
        if end >= raw.len() {
            return Ok((body, BodyEnd::Short));
        }
        match &raw[end..] {
            [b'\r', b'\n', ..] => at = end + 2,
            [b'\r'] => return Ok((body, BodyEnd::Short)),
            _ => return Err(NotHttp("a chunk is longer than it says".to_owned())),
        }
    }
}

/// After the last chunk: header lines, then a blank one.
fn ends_after_trailers(rest: &[u8]) -> bool {
    rest.starts_with(b"\r\n") || rest.windows(4).any(|window| window == b"\r\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(raw: &str) -> (String, BodyEnd) {
        let reply = decode(raw.as_bytes()).unwrap().unwrap();
        (reply.body.iter().map(|range| &raw[range.clone()]).collect(), reply.end)
    }

    #[test]
    fn chunks_are_joined_and_their_end_is_seen() {
        let raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n";
        assert_eq!(body(raw), ("abcde".to_owned(), BodyEnd::Whole));
        let head = raw.find("\r\n\r\n").unwrap() + 4;
        for cut in head..raw.len() {
            let (text, end) = body(&raw[..cut]);
            assert!("abcde".starts_with(&text) && end == BodyEnd::Short, "cut at {cut}");
        }
        let trailers = raw.replace("0\r\n\r\n", "0\r\nx: 1\r\n\r\n");
        assert_eq!(body(&trailers), ("abcde".to_owned(), BodyEnd::Whole));
    }

    #[test]
    fn a_length_says_whether_bytes_are_missing_and_a_close_says_nothing() {
        assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"), ("ab".to_owned(), BodyEnd::Whole));
        assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"), ("ab".to_owned(), BodyEnd::Short));
        assert_eq!(body("HTTP/1.1 200 OK\r\n\r\nab"), ("ab".to_owned(), BodyEnd::WithConnection));
        assert_eq!(body("HTTP/1.1 204 No Content\r\n\r\n"), (String::new(), BodyEnd::Whole));
    }

    #[test]
    fn interim_replies_are_passed_over() {
        let raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
        let reply = decode(raw.as_bytes()).unwrap().unwrap();
        assert_eq!((reply.head.status, reply.head.retry_after.as_deref()), (429, Some("7")));
        assert_eq!(decode(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap(), None);
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        assert!(decode(b"SSH-2.0-OpenSSH_9.6\r\n").is_err());
        let overlong = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n";
        assert!(decode(overlong.as_bytes()).is_err());
    }
}

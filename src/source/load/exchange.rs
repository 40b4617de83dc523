//! One request and its reply on an open connection: bytes out, stamped bytes in, until the reply ends or a limit fires.

use std::io;
use std::task::Poll;

use http::HeaderMap;
use http::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE};

use crate::model::profile::Timeouts;

use super::clock::millis;
use super::connection::Connection;
use super::endpoint::Endpoint;
use super::reply::{BodyEnd, Framing, list_items};
use super::request::Call;
use super::timeline::token_has_come;
use super::transcript::{Ending, Nanos, Phase, Read};

/// More bytes than any answer has, heads and transfer coding included.
const MOST_BYTES: usize = 256 << 20;

/// After so many reads in a row the other requests of the thread have their turn.
const MOST_READS: usize = 64;

/// A request under way, and what came back so far.
pub(super) struct Exchange {
    /// Where it goes.
    pub connection: Connection,
    request: Vec<u8>,
    written: usize,
    flushed: bool,
    write_error: Option<io::Error>,
    framing: Framing,
    deadlines: Deadlines,
    /// A token has come, as far as anybody looked.
    token: bool,
    /// The request itself asks the server to close the connection.
    last: bool,
    /// Every byte received.
    pub raw: Vec<u8>,
    /// Every read.
    pub reads: Vec<Read>,
    /// When the first byte was written.
    pub sent: Option<Nanos>,
}

/// How far an exchange came.
pub(super) enum Progress {
    /// Nothing is left to do before the next event.
    Waits,
    /// More may be there already.
    Again,
    /// It is over.
    Ended(Ending),
}

impl Exchange {
    pub fn new(connection: Connection, endpoint: &Endpoint, call: &Call, deadlines: Deadlines) -> Exchange {
        let raw = Vec::with_capacity(connection.last_reply);
        Exchange {
            connection,
            request: request(endpoint, call),
            written: 0,
            flushed: false,
            write_error: None,
            framing: Framing::default(),
            deadlines,
            token: !call.stream,
            last: says_close(&endpoint.headers),
            raw,
            reads: Vec::new(),
            sent: None,
        }
    }

    /// Whether the connection can carry another request after this one.
    pub fn leaves_open(&self) -> bool {
        self.flushed && !self.last && self.framing.leaves_open(&self.raw)
    }

    /// Goes on as far as it can without waiting.
    pub fn poll(&mut self) -> Progress {
        if !self.flushed && self.write_error.is_none() {
            self.write_error = self.write().err();
        }
        for _ in 0..MOST_READS {
            let read = match self.connection.poll_read(&mut self.raw) {
                Poll::Pending => return Progress::Waits,
                Poll::Ready(Ok(Some(read))) => read,
                Poll::Ready(Ok(None)) if self.framing.end() == BodyEnd::WithConnection => {
                    return Progress::Ended(Ending::Whole);
                }
                Poll::Ready(Ok(None)) => return Progress::Ended(self.closed()),
                Poll::Ready(Err(error)) => return Progress::Ended(self.broken(words(&error))),
            };
            self.reads.push(read);
            if read.end > MOST_BYTES {
                return Progress::Ended(Ending::TooLarge);
            }
            // While bytes never stop coming, no timer has its turn.
            if read.at >= self.deadlines.total {
                return Progress::Ended(self.deadlines.ending(Phase::Total));
            }
            if let Err(error) = self.framing.advance(&self.raw, |_| {}) {
                return Progress::Ended(Ending::Broken(error.to_string()));
            }
            if self.framing.end() == BodyEnd::Whole {
                return Progress::Ended(Ending::Whole);
            }
            if self.connection.has_taken_all() {
                return Progress::Waits;
            }
        }
        Progress::Again
    }

    /// When to look at the limits next.
    pub fn next_look(&self, now: Nanos) -> Nanos {
        self.deadlines.next(self.token, self.reads.last(), now)
    }

    /// Looks at the limits. Bytes are looked at only here: nearly no request gets so far.
    pub fn look(&mut self, now: Nanos) -> Option<Ending> {
        self.token = self.token || token_has_come(&self.raw);
        let fired = self.deadlines.fired(self.token, self.reads.last(), now);
        fired.map(|phase| self.deadlines.ending(phase))
    }

    /// Writes what is left of the request. A reply can come before its end: a refusal does not wait for a long prompt.
    fn write(&mut self) -> io::Result<()> {
        while self.written < self.request.len() {
            match self.connection.poll_write(&self.request[self.written..]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(written) => {
                    let (bytes, at) = written?;
                    self.written += bytes;
                    self.sent.get_or_insert(at);
                }
            }
        }
        if let Poll::Ready(flushed) = self.connection.poll_flush() {
            flushed?;
            self.flushed = true;
        }
        Ok(())
    }

    fn closed(&self) -> Ending {
        let when = if self.raw.is_empty() {
            "the server closed it"
        } else {
            "the connection was closed within the reply"
        };
        self.broken(when.to_owned())
    }

    /// Where nothing came, that the request could not be written says more.
    fn broken(&self, reason: String) -> Ending {
        match &self.write_error {
            Some(error) if self.raw.is_empty() => Ending::Broken(error.to_string()),
            _ => Ending::Broken(reason),
        }
    }
}

/// rustls answers a missing close_notify with the address of its manual.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the server ended TLS without its close_notify, so bytes may be missing".to_owned()
        }
        _ => error.to_string(),
    }
}

/// A request as it goes out. A strategy's own header replaces what stands here by default.
fn request(endpoint: &Endpoint, call: &Call) -> Vec<u8> {
    let body = call.body.as_deref().unwrap_or_default();
    let mut bytes = Vec::with_capacity(1024 + body.len());
    let mut add = |parts: [&[u8]; 4]| parts.iter().for_each(|part| bytes.extend_from_slice(part));
    let method = if call.body.is_some() { "POST" } else { "GET" };
    add([method.as_bytes(), b" ", call.path.as_bytes(), b" HTTP/1.1\r\n"]);
    for (name, value) in &endpoint.headers {
        add([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
    }
    if call.body.is_some() && !endpoint.headers.contains_key(CONTENT_TYPE) {
        add([CONTENT_TYPE.as_str().as_bytes(), b": ", b"application/json", b"\r\n"]);
    }
    if !endpoint.headers.contains_key(ACCEPT) {
        let accept = if call.stream { "text/event-stream" } else { "*/*" };
        add([ACCEPT.as_str().as_bytes(), b": ", accept.as_bytes(), b"\r\n"]);
    }
    if call.body.is_some() {
        add([CONTENT_LENGTH.as_str().as_bytes(), b": ", body.len().to_string().as_bytes(), b"\r\n"]);
    }
    add([b"\r\n", body, b"", b""]);
    bytes
}

/// Whether these headers end the connection (RFC 9112 §9.6).
fn says_close(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(CONNECTION).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(list_items).any(|option| option.eq_ignore_ascii_case("close"))
}

/// The limits of one request as moments on the clock.
pub(super) struct Deadlines {
    timeouts: Timeouts,
    first_token: Nanos,
    gap: Nanos,
    total: Nanos,
}

impl Deadlines {
    /// `begun`: when the request was taken up, connecting included.
    pub fn of(timeouts: Timeouts, begun: Nanos, now: Nanos) -> Deadlines {
        Deadlines {
            timeouts,
            first_token: now + millis(timeouts.first_token_ms),
            gap: millis(timeouts.gap_ms),
            total: begun + millis(timeouts.total_ms),
        }
    }

    /// When to look next. It is not set back with every read: the look finds out that a read has come meanwhile.
    fn next(&self, token: bool, last_read: Option<&Read>, now: Nanos) -> Nanos {
        let gap_ends = last_read.map_or(now, |read| read.at) + self.gap;
        // A read can come right after this look, and its gap must not end unseen.
        let gap_ends = if gap_ends > now { gap_ends } else { now + self.gap };
        let first_token = if token { self.total } else { self.first_token };
        gap_ends.min(first_token).min(self.total)
    }

    fn fired(&self, token: bool, last_read: Option<&Read>, now: Nanos) -> Option<Phase> {
        let idle = last_read.is_some_and(|read| read.at + self.gap <= now);
        if now >= self.total {
            Some(Phase::Total)
        } else if token && idle {
            Some(Phase::Gap)
        } else if !token && now >= self.first_token {
            Some(Phase::FirstToken)
        } else {
            None
        }
    }

    fn ending(&self, phase: Phase) -> Ending {
        let limit_ms = match phase {
            Phase::Connect => self.timeouts.connect_ms,
            Phase::FirstToken => self.timeouts.first_token_ms,
            Phase::Gap => self.timeouts.gap_ms,
            Phase::Total => self.timeouts.total_ms,
        };
        Ending::Timeout { phase, limit_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Taken up at 1 s, connected at 3 s.
    fn deadlines() -> Deadlines {
        let timeouts =
            Timeouts { connect_ms: 9_000, first_token_ms: 20_000, gap_ms: 5_000, total_ms: 60_000 };
        Deadlines::of(timeouts, 1_000_000_000, 3_000_000_000)
    }

    fn read_at(seconds: u64) -> Read {
        Read { at: seconds * 1_000_000_000, end: 1 }
    }

    fn fired(token: bool, read: Option<u64>, seconds: u64) -> Option<Phase> {
        let (deadlines, now) = (deadlines(), seconds * 1_000_000_000);
        let fired = deadlines.fired(token, read.map(read_at).as_ref(), now);
        let next = deadlines.next(token, read.map(read_at).as_ref(), now);
        assert!(fired.is_some() || next > now, "a look that does not wait");
        fired
    }

    #[test]
    fn every_limit_fires_when_it_is_over_and_not_before() {
        assert_eq!(fired(false, None, 22), None);
        assert_eq!(fired(false, None, 23), Some(Phase::FirstToken));
        // A role has come, a token has not.
        assert_eq!(fired(false, Some(4), 22), None);
        assert_eq!(fired(false, Some(22), 23), Some(Phase::FirstToken));
        assert_eq!(fired(true, Some(22), 26), None);
        assert_eq!(fired(true, Some(22), 27), Some(Phase::Gap));
        assert_eq!(fired(true, Some(59), 60), None);
        assert_eq!(fired(true, Some(59), 61), Some(Phase::Total));
    }

    #[test]
    fn the_next_look_is_at_the_first_limit_that_can_fire() {
        let next = |token, read: Option<u64>, now: u64| {
            deadlines().next(token, read.map(read_at).as_ref(), now * 1_000_000_000) / 1_000_000_000
        };
        // A token can come right after this look, and its gap must not end unseen.
        assert_eq!(next(false, None, 3), 8);
        assert_eq!(next(false, None, 19), 23);
        assert_eq!(next(true, Some(22), 25), 27);
        assert_eq!(next(true, Some(58), 59), 61);
    }
}

//! One request and its reply on an open connection: bytes out, stamped bytes in, until the reply ends or a limit fires.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use http::HeaderMap;
use http::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE};
use tokio::time::sleep_until;

use crate::model::profile::Timeouts;

use super::clock::{Clock, millis};
use super::connection::Connection;
use super::endpoint::Endpoint;
use super::reply::{BodyEnd, Framing, list_items};
use super::request::Call;
use super::timeline::token_has_come;
use super::transcript::{Ending, Nanos, Phase, Read};

/// More bytes than any answer has, heads and transfer coding included.
const MOST_BYTES: usize = 256 << 20;

/// A request under way, and what came back so far.
pub(super) struct Exchange<'a> {
    connection: &'a mut Connection,
    request: Vec<u8>,
    written: usize,
    flushed: bool,
    write_error: Option<io::Error>,
    framing: Framing,
    deadlines: Deadlines,
    /// The request itself asks the server to close the connection.
    last: bool,
    /// Every byte received.
    pub raw: Vec<u8>,
    /// Every read.
    pub reads: Vec<Read>,
    /// When the first byte was written.
    pub sent: Option<Nanos>,
}

impl<'a> Exchange<'a> {
    pub fn new(
        connection: &'a mut Connection,
        endpoint: &Endpoint,
        call: &Call,
        deadlines: Deadlines,
    ) -> Exchange<'a> {
        let raw = Vec::with_capacity(connection.last_reply);
        Exchange {
            connection,
            request: request(endpoint, call),
            written: 0,
            flushed: false,
            write_error: None,
            framing: Framing::default(),
            deadlines,
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

    /// Runs to the end of the reply, or until a limit fires.
    pub async fn run(&mut self, call: &Call, clock: Clock) -> Ending {
        let mut token = !call.stream;
        loop {
            let next = self.deadlines.next(token, self.reads.last(), clock.now());
            tokio::select! {
                biased;
                ended = poll_fn(|cx| self.poll(cx)) => return ended,
                () = sleep_until(clock.moment(next)) => {}
            }
            // Bytes are looked at only now: nearly no request gets here.
            token = token || token_has_come(&self.raw);
            if let Some(phase) = self.deadlines.fired(token, self.reads.last(), clock.now()) {
                return self.deadlines.ending(phase);
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        if !self.flushed && self.write_error.is_none() {
            self.write_error = self.write(cx).err();
        }
        loop {
            let read = match ready!(self.connection.poll_read(cx, &mut self.raw)) {
                Ok(Some(read)) => read,
                Ok(None) if self.framing.end() == BodyEnd::WithConnection => {
                    return Poll::Ready(Ending::Whole);
                }
                Ok(None) => return Poll::Ready(self.closed()),
                Err(error) => return Poll::Ready(self.broken(words(&error))),
            };
            self.reads.push(read);
            if read.end > MOST_BYTES {
                return Poll::Ready(Ending::TooLarge);
            }
            // While bytes never stop coming, no timer has its turn.
            if read.at >= self.deadlines.total {
                return Poll::Ready(self.deadlines.ending(Phase::Total));
            }
            if let Err(error) = self.framing.advance(&self.raw, |_| {}) {
                return Poll::Ready(Ending::Broken(error.to_string()));
            }
            if self.framing.end() == BodyEnd::Whole {
                return Poll::Ready(Ending::Whole);
            }
        }
    }

    /// Writes what is left of the request. A reply can come before its end: a refusal does not wait for a long prompt.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.written < self.request.len() {
            match self.connection.poll_write(cx, &self.request[self.written..]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(written) => {
                    let (bytes, at) = written?;
                    self.written += bytes;
                    self.sent.get_or_insert(at);
                }
            }
        }
        if let Poll::Ready(flushed) = self.connection.poll_flush(cx) {
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

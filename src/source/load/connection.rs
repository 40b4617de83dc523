//! One open connection that stamps its reads.

use std::cell::RefCell;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::task::{Poll, ready};

use mio::net::TcpStream;
use rustls::ClientConnection;

use super::clock::Clock;
use super::keep_alive::{HABIT, KeepAlive};
use super::transcript::{Nanos, Read};

/// One read takes up to so many bytes.
const READ_BYTES: usize = 16 << 10;

/// An idle connection is not used again after this: servers close theirs after 2 seconds and up, and a request that
/// meets a closing connection would fail through nobody's fault.
const IDLE: Nanos = 1_000_000_000;

/// Whether a read that did not fill its buffer has taken all there was, so that the next bytes are an event of their
/// own. On Windows only a read that finds nothing makes the system tell of the next bytes.
const SHORT_READ_TAKES_ALL: bool = cfg!(not(windows));

thread_local! {
    /// Where every read of a thread lands first: one for all its connections, so that it stays in the cache.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// An open connection, used by one request at a time. What it can't do now it does after the next event.
pub(super) struct Connection {
    tcp: TcpStream,
    tls: Option<Session>,
    clock: Clock,
    last_used: Nanos,
    short_read: bool,
    /// The server closes: its close is no event of its own any more.
    pub closing: bool,
    /// How long the last reply was, in bytes: the next one is likely to be as long.
    pub last_reply: usize,
}

/// TLS over the socket.
struct Session {
    tls: Box<ClientConnection>,
    /// What comes after the bytes that were handed out: the end, or an error.
    after: Option<io::Result<()>>,
    /// When the handshake ended, until the text that came with its last bytes was handed out.
    began: Option<Nanos>,
}

impl Connection {
    pub fn new(tcp: TcpStream, tls: Option<Box<ClientConnection>>, clock: Clock) -> Connection {
        let last_used = clock.now();
        let tls = tls.map(|tls| Session { tls, after: None, began: Some(last_used) });
        Connection { tcp, tls, clock, last_used, short_read: false, closing: false, last_reply: 0 }
    }

    /// Appends what the next read brings, with the time of that read; nothing at the stream's end.
    pub fn poll_read(&mut self, raw: &mut Vec<u8>) -> Poll<io::Result<Option<Read>>> {
        let before = raw.len();
        loop {
            if let Some(after) = self.tls.as_mut().and_then(|session| session.after.take()) {
                return Poll::Ready(after.map(|()| None));
            }
            let early = self.tls.as_mut().and_then(|session| session.early(raw));
            let at = match early {
                Some(at) => at,
                None => ready!(self.receive(raw))?,
            };
            // TLS may have to answer, a new key for one.
            let answered = self.poll_flush();
            if raw.len() > before {
                return Poll::Ready(Ok(Some(Read { at, end: raw.len() })));
            }
            match (&self.tls, answered) {
                (None, _) => return Poll::Ready(Ok(None)),
                // What the server said last says more than that it takes nothing any more.
                (Some(session), Poll::Ready(Err(error))) if session.after.is_none() => {
                    return Poll::Ready(Err(error));
                }
                // It had something to say for itself, such as a new session ticket.
                _ => {}
            }
        }
    }

    /// Whether the last read left nothing, so that what comes next is an event of its own.
    pub fn has_taken_all(&self) -> bool {
        let handed_out = self.tls.as_ref().is_none_or(|session| session.after.is_none());
        self.short_read && !self.closing && handed_out
    }

    /// Appends what one read of the socket holds, and tells when that was.
    fn receive(&mut self, raw: &mut Vec<u8>) -> Poll<io::Result<Nanos>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let read = ready!(nonblocking(|| self.tcp.read(scratch)));
            let at = self.clock.now();
            let bytes = read?;
            self.short_read = SHORT_READ_TAKES_ALL && bytes > 0 && bytes < scratch.len();
            match &mut self.tls {
                None => raw.extend_from_slice(&scratch[..bytes]),
                Some(session) => session.decrypt(&scratch[..bytes], raw),
            }
            Poll::Ready(Ok(at))
        })
    }

    /// Writes some bytes, and tells when that began.
    pub fn poll_write(&mut self, bytes: &[u8]) -> Poll<io::Result<(usize, Nanos)>> {
        let before = self.clock.now();
        // What TLS still holds goes first, so that it never holds more than its limit.
        ready!(self.poll_flush())?;
        let written = match &mut self.tls {
            None => ready!(nonblocking(|| self.tcp.write(bytes)))?,
            Some(session) => session.tls.writer().write(bytes)?,
        };
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        Poll::Ready(Ok((written, before)))
    }

    /// Sends what TLS still holds.
    pub fn poll_flush(&mut self) -> Poll<io::Result<()>> {
        let Some(session) = &mut self.tls else { return Poll::Ready(Ok(())) };
        while session.tls.wants_write() {
            ready!(nonblocking(|| session.tls.write_tls(&mut self.tcp)))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Whether another request may be sent on it. Notes a close that tells of the server's habit.
    pub fn is_usable(&mut self, now: Nanos, keep_alive: &KeepAlive) -> bool {
        let idle = now.saturating_sub(self.last_used);
        // The socket itself is asked: a close that came since the last events is not known yet.
        let silent = self.is_silent();
        if !silent && idle < HABIT {
            keep_alive.closed();
        }
        silent && idle < IDLE && keep_alive.may_reuse()
    }

    /// A reply is over; the connection rests.
    pub fn rests(&mut self, now: Nanos, reply_bytes: usize) {
        (self.last_used, self.last_reply) = (now, reply_bytes);
    }

    /// Whether an idle connection is open and brings nothing that nobody asked for.
    pub fn is_silent(&mut self) -> bool {
        self.poll_read(&mut Vec::new()).is_pending()
    }
}

impl Session {
    /// Takes bytes off the socket; none is its end. What comes after their text is kept for the next read.
    fn decrypt(&mut self, mut bytes: &[u8], raw: &mut Vec<u8>) {
        loop {
            let taken = self.tls.read_tls(&mut bytes).and_then(|_| {
                self.tls
                    .process_new_packets()
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
            });
            let ended = self.text(raw);
            self.after = taken.map_or_else(|error| Some(Err(error)), |_| ended);
            if self.after.is_some() || bytes.is_empty() {
                return;
            }
        }
    }

    /// Takes the text that came with the last bytes of the handshake, and tells when that was.
    fn early(&mut self, raw: &mut Vec<u8>) -> Option<Nanos> {
        let began = self.began.take()?;
        let before = raw.len();
        self.after = self.text(raw);
        (raw.len() > before || self.after.is_some()).then_some(began)
    }

    /// Takes what is decrypted, and tells what comes after it, if anything is known to.
    fn text(&mut self, raw: &mut Vec<u8>) -> Option<io::Result<()>> {
        let mut reader = self.tls.reader();
        loop {
            match reader.fill_buf() {
                Ok([]) => return Some(Ok(())),
                Ok(text) => {
                    raw.extend_from_slice(text);
                    let length = text.len();
                    reader.consume(length);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// A call on a socket that never waits: not ready is no error, and an interrupted call is made again.
pub(super) fn nonblocking<T>(mut call: impl FnMut() -> io::Result<T>) -> Poll<io::Result<T>> {
    loop {
        return match call() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            done => Poll::Ready(done),
        };
    }
}

#[cfg(test)]
mod tests;

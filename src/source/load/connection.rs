//! One HTTP/1.1 connection over a socket that stamps its reads.
//!
//! hyper writes requests and finds the end of replies. Every byte that it gets passes through [`Wire`], which has
//! copied it with the time of its socket read before hyper sees it.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::clock::{Clock, millis};
use super::endpoint::Endpoint;
use super::keep_alive::{HABIT, KeepAlive, WATCH};
use super::transcript::{Nanos, Opened, Read};

/// More bytes than any answer has, heads and transfer coding included.
const MOST_BYTES: usize = 256 << 20;

/// One read takes up to so many bytes.
const READ_BYTES: usize = 16 << 10;

/// An idle connection is not used again after this: servers close theirs after 2 seconds and up, and a request that
/// meets a closing connection would fail through nobody's fault.
const IDLE: Nanos = 1_000_000_000;

/// What came over a connection since the last request was begun.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub raw: Vec<u8>,
    pub reads: Vec<Read>,
    pub sent: Option<Nanos>,
    pub too_large: bool,
}

/// Why there is no connection.
pub(super) enum OpenError {
    Tcp(io::Error),
    Tls(io::Error),
    Http(hyper::Error),
}

/// An open connection, used by one request at a time.
pub(super) struct Connection {
    pub sender: http1::SendRequest<Full<Bytes>>,
    pub driver: Pin<Box<http1::Connection<Wire, Full<Bytes>>>>,
    pub closed: bool,
    pub recording: Rc<RefCell<Recording>>,
    pub last_used: Nanos,
}

impl Connection {
    /// Opens a connection. The times of TCP and TLS are apart.
    pub async fn open(endpoint: &Endpoint, clock: Clock) -> Result<(Connection, Opened), OpenError> {
        let begun = clock.now();
        let tcp = TcpStream::connect(endpoint.addresses.as_slice()).await.map_err(OpenError::Tcp)?;
        tcp.set_nodelay(true).map_err(OpenError::Tcp)?;
        let connected = clock.now();
        let last_read = Rc::new(Cell::new(connected));
        let stamped = Stamped { tcp, clock, last_read: Rc::clone(&last_read) };
        let (io, handshake) = match &endpoint.tls {
            None => (Io::Plain(stamped), None),
            Some(tls) => {
                let stream =
                    tls.connector.connect(tls.name.clone(), stamped).await.map_err(OpenError::Tls)?;
                (Io::Tls(Box::new(stream)), Some(clock.now() - connected))
            }
        };
        let recording = Rc::new(RefCell::new(Recording::default()));
        let wire = Wire { io, clock, last_read, recording: Rc::clone(&recording) };
        let (sender, driver) = http1::Builder::new().handshake(wire).await.map_err(OpenError::Http)?;
        let opened = Opened { tcp: connected - begun, tls: handshake };
        let (driver, last_used) = (Box::pin(driver), clock.now());
        Ok((Connection { sender, driver, closed: false, recording, last_used }, opened))
    }

    /// Whether another request may be sent on it. Notes a close that tells of the server's habit.
    pub fn is_usable(&mut self, now: Nanos, keep_alive: &KeepAlive) -> bool {
        let idle = now.saturating_sub(self.last_used);
        if !self.closed {
            // A close by the server is noticed only by looking.
            let mut context = Context::from_waker(Waker::noop());
            self.closed = self.driver.as_mut().poll(&mut context).is_ready();
        }
        if self.closed && idle < HABIT {
            keep_alive.closed();
        }
        !self.closed && self.sender.is_ready() && idle < IDLE && keep_alive.may_reuse()
    }

    /// Waits whether the server closes after its reply, if that is not known yet.
    pub async fn watch(&mut self, keep_alive: &KeepAlive) {
        if self.closed {
            // The close came with the reply's end.
            return keep_alive.closed();
        }
        if !keep_alive.is_unknown() {
            return;
        }
        match timeout(WATCH, self.driver.as_mut()).await {
            Ok(_closed) => {
                self.closed = true;
                keep_alive.closed();
            }
            Err(_) => keep_alive.kept(),
        }
    }
}

/// A TCP socket that notes when its last read returned.
pub(super) struct Stamped {
    tcp: TcpStream,
    clock: Clock,
    last_read: Rc<Cell<Nanos>>,
}

enum Io {
    Plain(Stamped),
    Tls(Box<TlsStream<Stamped>>),
}

/// What hyper reads from and writes to.
pub(super) struct Wire {
    io: Io,
    clock: Clock,
    last_read: Rc<Cell<Nanos>>,
    recording: Rc<RefCell<Recording>>,
}

thread_local! {
    /// Where every read of a thread lands first: one for all its connections, so that it stays in the cache.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

impl AsyncRead for Stamped {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = ready!(Pin::new(&mut this.tcp).poll_read(cx, buf));
        this.last_read.set(this.clock.now());
        Poll::Ready(read)
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().tcp).poll_write(cx, buf)
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(cx)
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        SCRATCH.with_borrow_mut(|scratch| {
            let room = buf.remaining().min(scratch.len());
            let mut into = ReadBuf::new(&mut scratch[..room]);
            ready!(match &mut this.io {
                Io::Plain(io) => Pin::new(io).poll_read(cx, &mut into),
                Io::Tls(io) => Pin::new(io.as_mut()).poll_read(cx, &mut into),
            })?;
            let kept = this.keep(into.filled());
            buf.put_slice(into.filled());
            Poll::Ready(kept)
        })
    }
}

impl Wire {
    /// Copies what a read brought, with the time of that read.
    fn keep(&self, got: &[u8]) -> io::Result<()> {
        if got.is_empty() {
            return Ok(());
        }
        // What TLS had decrypted before has the stamp of the read that brought it.
        let at = self.last_read.get();
        let recording = &mut *self.recording.borrow_mut();
        if recording.raw.len() + got.len() > MOST_BYTES {
            recording.too_large = true;
            return Err(io::Error::other("the reply is too large"));
        }
        recording.raw.extend_from_slice(got);
        recording.reads.push(Read { at, end: recording.raw.len() });
        Ok(())
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let before = this.clock.now();
        let written = ready!(match &mut this.io {
            Io::Plain(io) => Pin::new(io).poll_write(cx, buf),
            Io::Tls(io) => Pin::new(io.as_mut()).poll_write(cx, buf),
        })?;
        this.recording.borrow_mut().sent.get_or_insert(before);
        Poll::Ready(Ok(written))
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().io {
            Io::Plain(io) => Pin::new(io).poll_flush(cx),
            Io::Tls(io) => Pin::new(io.as_mut()).poll_flush(cx),
        }
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().io {
            Io::Plain(io) => Pin::new(io).poll_shutdown(cx),
            Io::Tls(io) => Pin::new(io.as_mut()).poll_shutdown(cx),
        }
    }
}

/// The limits of one request as moments on the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadlines {
    pub first_token: Nanos,
    pub gap: Nanos,
    pub total: Nanos,
}

impl Deadlines {
    pub fn of(timeouts: crate::model::profile::Timeouts, begun: Nanos, now: Nanos) -> Deadlines {
        Deadlines {
            first_token: now + millis(timeouts.first_token_ms),
            gap: millis(timeouts.gap_ms),
            total: begun + millis(timeouts.total_ms),
        }
    }
}

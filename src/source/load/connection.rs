//! One connection that stamps its reads.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use socket2::SockRef;
use tokio::io::{AsyncBufRead as _, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::clock::Clock;
use super::endpoint::Endpoint;
use super::keep_alive::{HABIT, KeepAlive, WATCH};
use super::transcript::{Nanos, Opened, Read};

/// One read takes up to so many bytes.
const READ_BYTES: usize = 16 << 10;

/// An idle connection is not used again after this: servers close theirs after 2 seconds and up, and a request that
/// meets a closing connection would fail through nobody's fault.
const IDLE: Nanos = 1_000_000_000;

thread_local! {
    /// Where every read of a thread lands first: one for all its connections, so that it stays in the cache.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// Why there is no connection.
pub(super) enum OpenError {
    Tcp(io::Error),
    Tls(io::Error),
}

/// An open connection, used by one request at a time.
pub(super) struct Connection {
    io: Io,
    clock: Clock,
    last_read: Rc<Cell<Nanos>>,
    last_used: Nanos,
    /// How long the last reply was, in bytes: the next one is likely to be as long.
    pub last_reply: usize,
}

enum Io {
    Plain(Stamped),
    Tls(Box<TlsStream<Stamped>>),
}

/// A TCP socket that notes when its last read returned.
struct Stamped {
    tcp: TcpStream,
    clock: Clock,
    last_read: Rc<Cell<Nanos>>,
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
        let opened = Opened { tcp: connected - begun, tls: handshake };
        let last_used = clock.now();
        Ok((Connection { io, clock, last_read, last_used, last_reply: 0 }, opened))
    }

    /// Appends what the next read brings, with the time of that read; nothing at the stream's end.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, raw: &mut Vec<u8>) -> Poll<io::Result<Option<Read>>> {
        let before = raw.len();
        match &mut self.io {
            Io::Plain(io) => SCRATCH.with_borrow_mut(|scratch| {
                let mut into = ReadBuf::new(scratch);
                ready!(Pin::new(io).poll_read(cx, &mut into))?;
                raw.extend_from_slice(into.filled());
                Poll::Ready(io::Result::Ok(()))
            }),
            // What is decrypted already comes before the socket is read again, so that it keeps the stamp of its own read.
            Io::Tls(io) => {
                let mut io = Pin::new(io.as_mut());
                let decrypted = ready!(io.as_mut().poll_fill_buf(cx))?;
                let bytes = decrypted.len();
                raw.extend_from_slice(decrypted);
                io.consume(bytes);
                Poll::Ready(Ok(()))
            }
        }
        .map_ok(|()| (raw.len() > before).then(|| Read { at: self.last_read.get(), end: raw.len() }))
    }

    /// Writes some bytes, and tells when that began.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<(usize, Nanos)>> {
        let before = self.clock.now();
        let written = ready!(match &mut self.io {
            Io::Plain(io) => Pin::new(io).poll_write(cx, bytes),
            Io::Tls(io) => Pin::new(io.as_mut()).poll_write(cx, bytes),
        })?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        Poll::Ready(Ok((written, before)))
    }

    /// Sends what TLS still holds.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Plain(_) => Poll::Ready(Ok(())),
            Io::Tls(io) => Pin::new(io.as_mut()).poll_flush(cx),
        }
    }

    /// Whether another request may be sent on it. Notes a close that tells of the server's habit.
    pub fn is_usable(&mut self, now: Nanos, keep_alive: &KeepAlive) -> bool {
        let idle = now.saturating_sub(self.last_used);
        // A close by the server is noticed only by looking.
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

    /// Waits whether the server closes after its reply, if that is not known yet.
    pub async fn watch(&mut self, keep_alive: &KeepAlive) {
        if !keep_alive.is_unknown() {
            return;
        }
        match timeout(WATCH, poll_fn(|cx| self.poll_silence(cx))).await {
            Ok(()) => keep_alive.closed(),
            Err(_) => keep_alive.kept(),
        }
    }

    /// Whether an idle connection is open and brings nothing. The socket itself is asked: the runtime learns of a close only
    /// when it next waits for events.
    fn is_silent(&mut self) -> bool {
        let (tcp, tls) = match &self.io {
            Io::Plain(io) => (&io.tcp, false),
            Io::Tls(io) => (&io.get_ref().0.tcp, true),
        };
        let open = match SockRef::from(tcp).peek(&mut [MaybeUninit::uninit()]) {
            // Behind TLS, bytes can be no more than a new session ticket.
            Ok(bytes) => tls && bytes > 0,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        open && (!tls || self.poll_silence(&mut Context::from_waker(Waker::noop())).is_pending())
    }

    /// Ready when an idle connection was closed, or brings what nobody asked for.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut byte = [0; 1];
        let mut into = ReadBuf::new(&mut byte);
        match &mut self.io {
            Io::Plain(io) => Pin::new(io).poll_read(cx, &mut into),
            Io::Tls(io) => Pin::new(io.as_mut()).poll_read(cx, &mut into),
        }
        .map(drop)
    }
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

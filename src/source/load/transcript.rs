//! What one request left behind: raw bytes, when each socket read brought them, and how it ended. Nothing is parsed
//! while requests run; `timeline` reads this afterwards.

/// Nanoseconds on the run's monotonic clock.
pub type Nanos = u64;

/// One socket read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// When it returned.
    pub at: Nanos,
    /// How many bytes of the reply were there afterwards.
    pub end: usize,
}

/// How opening a connection went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// From the first packet to the open TCP connection.
    pub tcp: Nanos,
    /// The TLS handshake after it.
    pub tls: Option<Nanos>,
}

/// Which time limit fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Until the connection stood.
    Connect,
    /// Until the first token.
    FirstToken,
    /// Between two reads.
    Gap,
    /// The whole request.
    Total,
}

/// How a request ended, as the connection saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The reply ended as HTTP says.
    Whole,
    /// The connection broke before, with the reason.
    Broken(String),
    /// No connection, with the reason.
    NotConnected(String),
    /// No TLS session, with the reason.
    NoTls(String),
    /// A time limit.
    Timeout {
        /// Which.
        phase: Phase,
        /// Its length in ms.
        limit_ms: u32,
    },
    /// More bytes than any answer has.
    TooLarge,
}

/// The record of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// When it was meant to be sent.
    pub intended: Nanos,
    /// When the client took it up.
    pub begun: Nanos,
    /// How its connection was opened; `None` where an open one was used.
    pub opened: Option<Opened>,
    /// When its first byte was written.
    pub sent: Option<Nanos>,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Every byte received.
    pub raw: Vec<u8>,
    /// Every socket read.
    pub reads: Vec<Read>,
    /// How it ended.
    pub ending: Ending,
    /// When.
    pub ended: Nanos,
}

impl Transcript {
    /// When the reply had this many bytes.
    #[must_use]
    pub fn at(&self, bytes: usize) -> Option<(usize, Nanos)> {
        let read = self.reads.partition_point(|read| read.end < bytes);
        self.reads.get(read).map(|found| (read, found.at))
    }
}

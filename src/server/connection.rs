//! One client's connection: reading HTTP/1.1 requests off it, and writing exactly the bytes asked for.

use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::clock::Clock;
use super::reply::Reply;
use super::script::Act;

/// Most bytes of a request's head.
const MOST_HEAD: usize = 64 << 10;
/// Most bytes of a request's body, and of what a client may send ahead while it is answered.
const MOST_BODY: usize = 16 << 20;
/// Most header fields.
const MOST_FIELDS: usize = 96;
/// Between two parts of what is cut in two, in microseconds.
const PAUSE_US: u64 = 1_000;

/// The client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HungUp;

/// An open connection and what was read from it and not yet used.
#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    buffer: Vec<u8>,
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// GET, POST.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// `authorization`.
    pub authorization: Option<String>,
    /// `x-request-id`.
    pub request_id: Option<String>,
    /// Whether the client wants no other request on this connection.
    pub close: bool,
    /// The body.
    pub body: Vec<u8>,
    /// When the head had been read.
    pub received: Instant,
}

/// Why there is no request.
#[derive(Debug)]
pub enum NoRequest {
    /// The client closed the connection.
    Closed,
    /// It is none, and this is the answer before closing.
    Refused(Reply),
}

struct Head {
    request: Request,
    head_len: usize,
    body_len: usize,
    expects_continue: bool,
}

impl Connection {
    /// Takes over an accepted socket.
    pub fn new(socket: TcpStream) -> Self {
        Self { socket, buffer: Vec::new() }
    }

    /// Reads the next request.
    ///
    /// # Errors
    /// There is none.
    pub async fn request(&mut self) -> Result<Request, NoRequest> {
        let head = loop {
            if let Some(head) = parse(&self.buffer).map_err(NoRequest::Refused)? {
                break head;
            }
            if self.buffer.len() > MOST_HEAD {
                return Err(NoRequest::Refused(Reply::error(
                    431,
                    "Bad Request",
                    None,
                    "The head is too long.",
                )));
            }
            self.read().await?;
        };
        let Head { mut request, head_len, body_len, expects_continue } = head;
        if expects_continue && self.buffer.len() < head_len + body_len {
            let go_on = self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await;
            go_on.map_err(|HungUp| NoRequest::Closed)?;
        }
        self.buffer.reserve((head_len + body_len).saturating_sub(self.buffer.len()));
        while self.buffer.len() < head_len + body_len {
            self.read().await?;
        }
        let rest = self.buffer.split_off(head_len + body_len);
        let mut used = std::mem::replace(&mut self.buffer, rest);
        request.body = used.split_off(head_len);
        Ok(request)
    }

    async fn read(&mut self) -> Result<(), NoRequest> {
        match self.socket.read_buf(&mut self.buffer).await {
            Ok(0) | Err(_) => Err(NoRequest::Closed),
            Ok(_) => Ok(()),
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// The client is gone.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), HungUp> {
        self.socket.write_all(bytes).await.map_err(|_| HungUp)
    }

    /// Waits until a moment, in microseconds since the clock's epoch.
    ///
    /// # Errors
    /// The client hung up meanwhile.
    pub async fn wait(&mut self, clock: &Clock, until_us: u64) -> Result<(), HungUp> {
        if clock.now_us() >= until_us {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = clock.until(until_us) => Ok(()),
            () = self.hang_up() => Err(HungUp),
        }
    }

    /// Waits until the client hangs up. What it sends meanwhile is kept for later.
    pub async fn hang_up(&mut self) {
        while self.buffer.len() <= MOST_BODY && self.read().await.is_ok() {}
    }

    /// Does one step of a fault.
    ///
    /// # Errors
    /// The client is gone, by its own doing or by this step.
    pub async fn act(&mut self, act: &Act, clock: &Clock) -> Result<(), HungUp> {
        match act {
            Act::Write(bytes) => return self.write(bytes).await,
            Act::Pause => return self.wait(clock, clock.now_us() + PAUSE_US).await,
            Act::Close => {
                // Fails only when the client is gone, which is what is reported anyway.
                let _ = self.socket.shutdown().await;
            }
            Act::Reset => {
                // Without it the close below would be in good order, which the client sees as a cut too.
                let _ = self.socket.set_zero_linger();
            }
            Act::Stall => self.hang_up().await,
        }
        Err(HungUp)
    }
}

fn parse(buffer: &[u8]) -> Result<Option<Head>, Reply> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let head_len = match parsed.parse(buffer) {
        Ok(httparse::Status::Complete(head_len)) => head_len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(Reply::bad_request(None, &format!("not HTTP/1.1: {error}"))),
    };
    let field = |name: &str| {
        let found = parsed.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| String::from_utf8_lossy(field.value).into_owned())
    };
    let says = |name: &str, word: &str| field(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
    if field("transfer-encoding").is_some() {
        return Err(Reply::error(411, "Bad Request", None, "send the body with a content-length"));
    }
    let body_len = match field("content-length").map(|length| length.parse::<usize>()) {
        None => 0,
        Some(Ok(length)) if length <= MOST_BODY => length,
        Some(Ok(_)) => return Err(Reply::error(413, "Bad Request", None, "the body is over 16 MiB")),
        Some(Err(_)) => return Err(Reply::bad_request(None, "content-length is no number")),
    };
    let path = parsed.path.unwrap_or_default();
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.split_once('?').map_or(path, |(path, _)| path).to_owned(),
        authorization: field("authorization"),
        request_id: field("x-request-id"),
        close: says("connection", "close") || parsed.version == Some(0),
        body: Vec::new(),
        received: Instant::now(),
    };
    let expects_continue = says("expect", "100-continue");
    Ok(Some(Head { request, head_len, body_len, expects_continue }))
}

//! A client that sees every byte, and knows nothing of the server's own code.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pacegate::server::{Latency, Running, Settings, start};
use serde_json::{Value, json};

/// Far longer than any answer here takes; it only ends a test that would hang.
const GIVE_UP: Duration = Duration::from_secs(30);

/// How the bytes of an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As the head said.
    Complete,
    /// The server closed the connection before.
    Closed,
    /// The server reset the connection.
    Reset,
}

/// An answer as it came.
#[derive(Debug)]
pub struct Answer {
    pub bytes: Vec<u8>,
    pub end: End,
}

pub struct Client {
    pub socket: TcpStream,
}

impl Client {
    pub fn connect(addr: SocketAddr) -> Self {
        let socket = TcpStream::connect(addr).unwrap();
        socket.set_read_timeout(Some(GIVE_UP)).unwrap();
        Self { socket }
    }

    pub fn send(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).unwrap();
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send(&post(path, "", body));
        self.answer()
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: mock\r\n\r\n"));
        self.answer()
    }

    /// Reads exactly so many bytes.
    pub fn exactly(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.socket.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Reads the next JSON answer and nothing behind it.
    pub fn one_after_another(&mut self) -> Value {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.extend(self.exactly(1));
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        serde_json::from_slice(&self.exactly(length.parse().unwrap())).unwrap()
    }

    /// Reads one answer to its end.
    pub fn answer(&mut self) -> Answer {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            if is_complete(&bytes) {
                return Answer { bytes, end: End::Complete };
            }
            match self.socket.read(&mut part) {
                Ok(0) => return Answer { bytes, end: End::Closed },
                Ok(count) => bytes.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return Answer { bytes, end: End::Reset };
                }
                Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&bytes)),
            }
        }
    }
}

pub fn post(path: &str, fields: &str, body: &Value) -> String {
    let body = body.to_string();
    format!("POST {path} HTTP/1.1\r\nhost: mock\r\ncontent-length: {}\r\n{fields}\r\n{body}", body.len())
}

fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(bytes.split_at(at + 4))
}

fn is_complete(bytes: &[u8]) -> bool {
    let Some((head, body)) = split_head(bytes) else { return false };
    let head = String::from_utf8_lossy(head).into_owned();
    match head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()) {
        Some(length) => body.len() >= length.parse().unwrap(),
        None => dechunk(body).is_some(),
    }
}

/// The HTTP chunks of a whole body; `None` while it is not whole.
fn dechunk(mut body: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut chunks = Vec::new();
    loop {
        let line = body.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&body[..line]).unwrap(), 16).unwrap();
        let chunk = body.get(line + 2..line + 2 + size)?;
        assert_eq!(body.get(line + 2 + size..line + 4 + size)?, b"\r\n", "a chunk ends in CRLF");
        body = &body[line + 4 + size..];
        if size == 0 {
            assert!(body.is_empty(), "bytes after the last chunk");
            return Some(chunks);
        }
        chunks.push(chunk.to_vec());
    }
}

impl Answer {
    pub fn head(&self) -> String {
        String::from_utf8(split_head(&self.bytes).unwrap().0.to_vec()).unwrap()
    }

    pub fn status(&self) -> u16 {
        self.head()[9..12].parse().unwrap()
    }

    pub fn body(&self) -> &[u8] {
        split_head(&self.bytes).unwrap().1
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body().to_vec()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(self.body()).unwrap()
    }

    pub fn chunks(&self) -> Vec<Vec<u8>> {
        dechunk(self.body()).unwrap()
    }

    /// The events of a good stream, without `[DONE]`, which is checked.
    pub fn events(&self) -> Vec<Value> {
        assert_eq!(self.end, End::Complete);
        let body = String::from_utf8(self.chunks().concat()).unwrap();
        let mut events: Vec<&str> =
            body.strip_suffix("\n\n").unwrap().split("\n\n").map(|event| &event["data: ".len()..]).collect();
        assert_eq!(events.pop(), Some("[DONE]"));
        events.into_iter().map(|event| serde_json::from_str(event).unwrap()).collect()
    }
}

/// A server that answers at once, changed as the test needs it.
pub fn server(change: impl FnOnce(&mut Settings)) -> Running {
    let mut settings = Settings { latency: Latency::None, ..Settings::default() };
    change(&mut settings);
    start(settings).unwrap()
}

pub const CHAT: &str = "/v1/chat/completions";

/// A streamed chat request of so many output tokens, with usage.
pub fn chat(tokens: u32) -> Value {
    json!({
        "model": "embedded", "messages": [{"role": "user", "content": "Why does the queue grow?"}],
        "max_tokens": tokens, "ignore_eos": true, "stream": true, "stream_options": {"include_usage": true},
    })
}

/// A value of `/metrics`, by its name and labels up to the model's.
pub fn metric(running: &Running, line: &str) -> f64 {
    let text = Client::connect(running.addr()).get("/metrics").text();
    let found = text.lines().find_map(|candidate| candidate.strip_prefix(line));
    found.unwrap_or_else(|| panic!("no {line} in {text}")).trim().parse().unwrap()
}

/// Waits until a metric has this value, by asking again and again.
pub fn until_metric(running: &Running, line: &str, value: f64) {
    let started = std::time::Instant::now();
    while metric(running, line) != value {
        assert!(started.elapsed() < GIVE_UP, "{line} never was {value}");
    }
}

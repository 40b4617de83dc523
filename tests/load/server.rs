//! A tiny server on a raw loopback socket: each connection plays a script, byte for byte.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What a connection does after it has read a request.
#[derive(Clone)]
pub enum Then {
    /// Writes these bytes and keeps the connection.
    Reply(Vec<u8>),
    /// Writes these bytes and closes.
    Close(Vec<u8>),
    /// Writes these bytes in pieces of so many, each in a packet of its own, and closes.
    Pieces(Vec<u8>, usize),
}

/// A request as the server saw it.
#[derive(Debug)]
pub struct Seen {
    /// The number of its connection, from 0.
    pub connection: usize,
    pub head: String,
    pub body: String,
}

pub struct Server {
    pub url: String,
    pub seen: Receiver<Seen>,
}

impl Server {
    /// Answers every request with what `answer` makes of it.
    pub fn start(answer: impl Fn(&Seen) -> Then + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, seen) = channel();
        let answer = std::sync::Arc::new(answer);
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (answer, sender) = (std::sync::Arc::clone(&answer), sender.clone());
                thread::spawn(move || serve(stream.unwrap(), connection, &*answer, &sender));
            }
        });
        Server { url, seen }
    }

    /// The requests that have come so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.seen.try_iter().collect()
    }
}

fn serve(mut stream: TcpStream, connection: usize, answer: &dyn Fn(&Seen) -> Then, sender: &Sender<Seen>) {
    stream.set_nodelay(true).unwrap();
    let mut received = Vec::new();
    while let Some(seen) = request(&mut stream, &mut received, connection) {
        let then = answer(&seen);
        let _gone = sender.send(seen);
        let (bytes, piece) = match &then {
            Then::Reply(bytes) | Then::Close(bytes) => (bytes, bytes.len().max(1)),
            Then::Pieces(bytes, piece) => (bytes, *piece),
        };
        if bytes.chunks(piece).any(|piece| stream.write_all(piece).is_err()) {
            return;
        }
        match then {
            Then::Reply(_) => {}
            Then::Close(_) | Then::Pieces(..) => return,
        }
    }
}

fn request(stream: &mut TcpStream, received: &mut Vec<u8>, connection: usize) -> Option<Seen> {
    loop {
        if let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4) {
            let head = String::from_utf8_lossy(&received[..end]).into_owned();
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let whole = end + length.unwrap_or(0_usize);
            if received.len() >= whole {
                let body = String::from_utf8_lossy(&received[end..whole]).into_owned();
                received.drain(..whole);
                return Some(Seen { connection, head, body });
            }
        }
        let mut piece = [0; 65536];
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(n) => received.extend_from_slice(&piece[..n]),
        }
    }
}

/// A chunked event stream of these events.
pub fn stream(events: &[String]) -> Vec<u8> {
    let mut reply = unfinished(events);
    reply.extend_from_slice(b"0\r\n\r\n");
    reply
}

/// The same without its last chunk.
pub fn unfinished(events: &[String]) -> Vec<u8> {
    let mut reply =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for event in events {
        let event = format!("data: {event}\n\n");
        reply.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
    }
    reply
}

/// A plain reply.
pub fn plain(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
}

/// A model that answers with as many words as it may and counts every word as a token.
pub fn model(seen: &Seen) -> Then {
    if !seen.head.starts_with("POST /v1/chat/completions") {
        return Then::Reply(plain("404 Not Found", "", "{\"detail\":\"Not Found\"}"));
    }
    let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    let (words, tokens) = (prompt.split_whitespace().count(), body["max_tokens"].as_u64().unwrap());
    let usage = serde_json::json!({"prompt_tokens": words + 10, "completion_tokens": tokens});
    if body["stream"] == false {
        let reply = serde_json::json!({"model": body["model"], "usage": usage,
            "choices": [{"index": 0, "message": {"content": "w"}, "finish_reason": "length"}]});
        return Then::Reply(plain("200 OK", "content-type: application/json\r\n", &reply.to_string()));
    }
    let delta = |delta: serde_json::Value, finish: Option<&str>| {
        serde_json::json!({"model": body["model"], "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).to_string()
    };
    let mut events = vec![delta(serde_json::json!({"role": "assistant", "content": ""}), None)];
    events.extend((0..tokens).map(|_| delta(serde_json::json!({"content": "w "}), None)));
    events.push(delta(serde_json::json!({}), Some("length")));
    if body["stream_options"]["include_usage"] == true {
        events.push(serde_json::json!({"choices": [], "usage": usage}).to_string());
    }
    events.push("[DONE]".to_owned());
    Then::Reply(stream(&events))
}

//! Answers in one piece: the regular ones and the refusals, as vLLM words them.

use serde_json::json;

use crate::source::load::reply::SIMULATED;

/// A status, a body, and what goes with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    content_type: &'static str,
    body: String,
    retry_after_s: Option<u32>,
}

impl Reply {
    /// A JSON text.
    pub fn json(body: String) -> Self {
        Self { status: 200, content_type: "application/json", body, retry_after_s: None }
    }

    /// Plain text, with the type that Prometheus asks for.
    pub fn metrics(body: String) -> Self {
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        Self { status: 200, content_type, body, retry_after_s: None }
    }

    /// One JSON text a line.
    pub fn json_lines(body: String) -> Self {
        Self { status: 200, content_type: "application/x-ndjson", body, retry_after_s: None }
    }

    /// A refusal. `param` is the request's field that is to blame.
    pub fn error(status: u16, kind: &str, param: Option<&str>, message: &str) -> Self {
        Self { status, ..Self::json(error_body(status, kind, param, message)) }
    }

    /// The request can't be answered as it is.
    pub fn bad_request(param: Option<&str>, message: &str) -> Self {
        Self::error(400, "BadRequestError", param, message)
    }

    /// No key or a wrong one.
    pub fn unauthorized() -> Self {
        Self { status: 401, ..Self::json(r#"{"error":"Unauthorized"}"#.to_owned()) }
    }

    /// No such path.
    pub fn no_path() -> Self {
        Self { status: 404, ..Self::json(r#"{"detail":"Not Found"}"#.to_owned()) }
    }

    /// The path has another method.
    pub fn wrong_method() -> Self {
        Self { status: 405, ..Self::json(r#"{"detail":"Method Not Allowed"}"#.to_owned()) }
    }

    /// No such model.
    pub fn no_model(model: &str, known: &[&str]) -> Self {
        let known = known.join(", ");
        let message = format!("The model `{model}` does not exist. Valid aliases: {known}.");
        Self::error(404, "NotFoundError", Some("model"), &message)
    }

    /// Too many requests in flight.
    pub fn too_many(retry_after_s: u32) -> Self {
        let refused = Self::error(429, "rate_limit_exceeded", None, "Too many requests in flight.");
        Self { retry_after_s: Some(retry_after_s), ..refused }
    }

    /// The server's own failure.
    pub fn server_error() -> Self {
        Self::error(500, "InternalServerError", None, "The engine failed.")
    }

    /// Status line and headers.
    pub fn head(&self, close: bool) -> Vec<u8> {
        let retry_after = self.retry_after_s.map_or_else(String::new, |s| format!("retry-after: {s}\r\n"));
        format!(
            "HTTP/1.1 {} {}\r\nserver: pacegate\r\n{}: {}\r\ncontent-length: {}\r\ncontent-type: {}\r\n{retry_after}{}\r\n",
            self.status,
            reason_phrase(self.status),
            SIMULATED.0,
            SIMULATED.1,
            self.body.len(),
            self.content_type,
            connection(close),
        )
        .into_bytes()
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        self.body.as_bytes()
    }
}

/// The JSON of an error, in a body or in an event.
pub fn error_body(status: u16, kind: &str, param: Option<&str>, message: &str) -> String {
    json!({"error": {"message": message, "type": kind, "param": param, "code": status}}).to_string()
}

/// Status line and headers of a stream.
pub fn stream_head(close: bool) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nserver: pacegate\r\n{}: {}\r\ncontent-type: text/event-stream; charset=utf-8\r\n{}transfer-encoding: chunked\r\n\r\n",
        SIMULATED.0,
        SIMULATED.1,
        connection(close),
    )
    .into_bytes()
}

fn connection(close: bool) -> &'static str {
    if close { "connection: close\r\n" } else { "" }
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

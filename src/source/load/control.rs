//! Requests beside the load: probes, server counters, token counts. One at a time, on a connection of their own.

use std::io;

use serde_json::{Value, json};

use crate::model::profile::Timeouts;

use super::block;
use super::endpoint::Endpoint;
use super::openai::MOST_TOKENS;
use super::reconcile::{self, Counters};
use super::reply;
use super::request::Call;
use super::timeline::Timeline;
use super::transcript::{Ending, Transcript};

/// A server under load answers `/metrics` late or not at all; nothing waits for it longer than this.
const CONTROL_MS: u32 = 10_000;

/// Sends one request and waits for its end.
///
/// # Errors
/// When the system gives no event queue.
pub fn ask(endpoint: &Endpoint, call: &Call, timeouts: Timeouts) -> io::Result<Transcript> {
    block::one(endpoint, call, timeouts)
}

/// A GET or POST beside the API; `None` unless it is answered with 200.
pub(super) fn fetch(endpoint: &Endpoint, path: String, body: Option<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
    let limits = Timeouts {
        connect_ms: CONTROL_MS,
        first_token_ms: CONTROL_MS,
        gap_ms: CONTROL_MS,
        total_ms: CONTROL_MS,
    };
    let transcript = ask(endpoint, &Call { path, body, stream: false }, limits)?;
    if transcript.ending != Ending::Whole {
        return Ok(None);
    }
    let Ok(Some(reply)) = reply::decode(&transcript.raw) else { return Ok(None) };
    Ok((reply.head.status == 200).then(|| reply.text(&transcript.raw)))
}

/// The engine's counters, with its name; `None` where there are none.
///
/// # Errors
/// When the system gives no event queue.
pub fn counters(endpoint: &Endpoint) -> io::Result<Option<(&'static str, Counters)>> {
    let text = fetch(endpoint, endpoint.url.beside("/metrics"), None)?;
    Ok(text.and_then(|text| reconcile::counters(&String::from_utf8_lossy(&text))))
}

/// The engine's version, where it says it in the way of vLLM.
///
/// # Errors
/// When the system gives no event queue.
pub fn version(endpoint: &Endpoint) -> io::Result<Option<String>> {
    let text = fetch(endpoint, endpoint.url.beside("/version"), None)?;
    let version = |text: Vec<u8>| {
        let value: Value = serde_json::from_slice(&text).ok()?;
        value.get("version")?.as_str().map(str::to_owned)
    };
    Ok(text.and_then(version))
}

/// How many tokens a whole answer has by the engine's own tokenizer (vLLM, SGLang, llama.cpp, TGI). Never asked piece by
/// piece: pieces have other tokens than the whole.
///
/// # Errors
/// When the system gives no event queue.
pub fn tokenize(endpoint: &Endpoint, model: &str, text: &str) -> io::Result<Option<u64>> {
    let body = json!({
        "model": model, "prompt": text, "content": text, "inputs": text, "add_special_tokens": false,
    });
    let reply = fetch(endpoint, endpoint.url.beside("/tokenize"), Some(body.to_string().into_bytes()))?;
    Ok(reply.and_then(|reply| token_count(&reply)).filter(|count| *count <= MOST_TOKENS))
}

fn token_count(reply: &[u8]) -> Option<u64> {
    let value: Value = serde_json::from_slice(reply).ok()?;
    let list = |value: &Value| value.as_array().map(|tokens| tokens.len() as u64);
    value.get("count").and_then(Value::as_u64).or_else(|| list(value.get("tokens")?)).or_else(|| list(&value))
}

/// One plain API call, read.
///
/// # Errors
/// When the system gives no event queue.
pub fn call(endpoint: &Endpoint, call: &Call, timeouts: Timeouts) -> io::Result<Timeline> {
    Ok(Timeline::read(&ask(endpoint, call, timeouts)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_s_token_count_is_read() {
        for (engine, reply) in [
            ("vllm and sglang", r#"{"count":3,"max_model_len":2048,"tokens":[1,2,3]}"#),
            ("llama.cpp", r#"{"tokens":[1,2,3]}"#),
            ("tgi", r#"[{"id":1,"text":"a"},{"id":2,"text":"b"},{"id":3,"text":"c"}]"#),
        ] {
            assert_eq!(token_count(reply.as_bytes()), Some(3), "{engine}");
        }
        assert_eq!(token_count(br#"{"detail":"Not Found"}"#), None);
    }
}

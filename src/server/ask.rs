//! What a completion request asks for.

use serde::Deserialize;
use serde_json::Value;

use super::frames::Interface;
use super::reply::Reply;
use super::settings::Settings;
use super::tokens::{tokenize, tokenize_chat};

/// A completion request that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Chat or text.
    pub interface: Interface,
    /// Which of the models.
    pub model: usize,
    /// The prompt's tokens.
    pub prompt: Vec<u32>,
    /// Most output tokens.
    pub limit: u32,
    /// Fewest output tokens.
    pub least: u32,
    /// Whether to use the whole limit.
    pub ignore_eos: bool,
    /// Whether to stream.
    pub stream: bool,
    /// `stream_options.include_usage`.
    pub include_usage: bool,
    /// `stream_options.continuous_usage_stats`.
    pub continuous_usage: bool,
    /// The request's own seed.
    pub seed: u64,
}

#[derive(Deserialize)]
struct Body {
    model: Option<String>,
    messages: Option<Vec<Message>>,
    prompt: Option<Value>,
    max_tokens: Option<i64>,
    max_completion_tokens: Option<i64>,
    min_tokens: Option<u32>,
    ignore_eos: Option<bool>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    n: Option<u32>,
    seed: Option<i64>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<Value>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

impl Ask {
    /// Reads a request's body.
    ///
    /// # Errors
    /// The refusal, if it can't be answered.
    pub fn read(interface: Interface, body: &[u8], settings: &Settings) -> Result<Ask, Reply> {
        let body = parse(body)?;
        let model = model(body.model.as_deref(), settings)?;
        if body.n.is_some_and(|n| n != 1) {
            return Err(Reply::bad_request(Some("n"), "only one choice is made: n has to be 1"));
        }
        let prompt = match interface {
            Interface::Chat => chat_prompt(body.messages.as_deref())?,
            Interface::Text => text_prompt(body.prompt.as_ref())?,
        };
        let most = settings.max_model_len;
        if prompt.len() >= most as usize {
            let message = format!(
                "This model's maximum context length is {most} tokens. However, your prompt contains {} input tokens.",
                prompt.len()
            );
            return Err(Reply::bad_request(Some("input_tokens"), &message));
        }
        let room = most - u32::try_from(prompt.len()).unwrap_or(most);
        let limit = match body.max_completion_tokens.or(body.max_tokens) {
            None => settings.default_max_tokens,
            Some(limit) if limit >= 1 => u32::try_from(limit).unwrap_or(u32::MAX),
            Some(limit) => {
                let message = format!("max_tokens must be at least 1, got {limit}.");
                return Err(Reply::bad_request(Some("max_tokens"), &message));
            }
        };
        let options = body.stream_options.as_ref();
        Ok(Ask {
            interface,
            model,
            prompt,
            limit: limit.min(room),
            least: body.min_tokens.unwrap_or(1).max(1),
            ignore_eos: body.ignore_eos == Some(true),
            stream: body.stream == Some(true),
            include_usage: options.is_some_and(|options| options.include_usage == Some(true)),
            continuous_usage: options.is_some_and(|options| options.continuous_usage_stats == Some(true)),
            seed: body.seed.unwrap_or_default().cast_unsigned(),
        })
    }
}

/// The tokens of `/tokenize`, which takes a prompt or messages.
///
/// # Errors
/// The refusal, if it can't be answered.
pub fn read_tokenize(body: &[u8], settings: &Settings) -> Result<Vec<u32>, Reply> {
    let body = parse(body)?;
    model(body.model.as_deref(), settings)?;
    match &body.messages {
        Some(messages) => chat_prompt(Some(messages)),
        None => text_prompt(body.prompt.as_ref()),
    }
}

fn parse(body: &[u8]) -> Result<Body, Reply> {
    serde_json::from_slice(body).map_err(|error| Reply::bad_request(None, &format!("JSON error: {error}")))
}

fn model(name: Option<&str>, settings: &Settings) -> Result<usize, Reply> {
    let Some(name) = name else { return Ok(0) };
    let known: Vec<&str> = settings.models.iter().map(String::as_str).collect();
    known.iter().position(|model| *model == name).ok_or_else(|| Reply::no_model(name, &known))
}

fn chat_prompt(messages: Option<&[Message]>) -> Result<Vec<u32>, Reply> {
    let messages = messages.filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| Reply::bad_request(Some("messages"), "messages are missing"))?;
    let texts: Vec<String> = messages.iter().map(|message| text(message.content.as_ref())).collect();
    let roles = messages.iter().map(|message| message.role.as_str());
    Ok(tokenize_chat(roles.zip(texts.iter().map(String::as_str))))
}

/// A message's text: a string, or the text parts of a list.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")).filter_map(Value::as_str).collect()
        }
        _ => String::new(),
    }
}

/// A prompt: a text, or its tokens.
fn text_prompt(prompt: Option<&Value>) -> Result<Vec<u32>, Reply> {
    let refusal = || Reply::bad_request(Some("prompt"), "prompt has to be one text or one list of tokens");
    match prompt {
        Some(Value::String(text)) => Ok(tokenize(text)),
        Some(Value::Array(items)) => match items.as_slice() {
            [Value::String(text)] => Ok(tokenize(text)),
            [Value::Array(ids)] => token_ids(ids).ok_or_else(refusal),
            ids => token_ids(ids).ok_or_else(refusal),
        },
        _ => Err(refusal()),
    }
}

fn token_ids(ids: &[Value]) -> Option<Vec<u32>> {
    ids.iter().map(|id| id.as_u64().and_then(|id| u32::try_from(id).ok())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(body: &str) -> Result<Ask, Reply> {
        let models = vec!["a".to_owned(), "b".to_owned()];
        let settings = Settings { models, max_model_len: 100, ..Settings::default() };
        Ask::read(Interface::Chat, body.as_bytes(), &settings)
    }

    #[test]
    fn prompts_come_in_every_form_that_clients_send() {
        let one = chat(r#"{"model":"b","messages":[{"role":"user","content":"one two"}],"max_tokens":7}"#);
        let one = one.unwrap();
        assert_eq!((one.model, one.limit, one.prompt.len()), (1, 7, 6));
        let parts = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":" two"}]},{"role":"assistant","content":null}]}"#;
        let parts = chat(parts).unwrap();
        assert_eq!((parts.model, parts.prompt.len()), (0, 10));
        assert_eq!(parts.limit, 90, "the default of 256 does not fit behind 10 tokens of 100");
        let text = |prompt: &str| text_prompt(Some(&serde_json::from_str(prompt).unwrap())).map(|p| p.len());
        assert_eq!(text(r#""one two""#), Ok(2));
        assert_eq!(text(r#"["one two"]"#), Ok(2));
        assert_eq!(text("[1,2,3]"), Ok(3));
        assert_eq!(text("[[1,2,3]]"), Ok(3));
        assert!(text(r#"["one","two"]"#).is_err());
    }

    #[test]
    fn what_cannot_be_answered_is_refused_by_status_and_field() {
        let message = r#""messages":[{"role":"user","content":"x"}]"#;
        for (body, status, says) in [
            ("{".to_owned(), 400, "JSON error"),
            ("{}".to_owned(), 400, "messages are missing"),
            (format!(r#"{{"model":"c",{message}}}"#), 404, "Valid aliases: a, b."),
            (format!(r#"{{"max_tokens":0,{message}}}"#), 400, "at least 1, got 0"),
            (format!(r#"{{"n":2,{message}}}"#), 400, "n has to be 1"),
            (
                format!(r#"{{"messages":[{{"role":"user","content":"{}"}}]}}"#, "word ".repeat(100)),
                400,
                "maximum context length is 100",
            ),
        ] {
            let refused = chat(&body).unwrap_err();
            let text = String::from_utf8(refused.body().to_vec()).unwrap();
            assert_eq!(refused.status, status, "{text}");
            assert!(text.contains(says), "{text}");
        }
    }
}

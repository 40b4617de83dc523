//! What OpenAI-compatible servers write: one JSON chunk to deltas, usage and errors.
//!
//! Read as loosely as servers differ: `content` may be absent, null, a text or a list of parts, `choices` may be empty
//! or null, numbers may be floats. What makes an answer wrong is decided by `timeline`, not here.

mod text;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use self::text::{Count, Text};

/// One chunk of a stream, or a whole reply.
#[derive(Debug, Default, Deserialize)]
pub struct Chunk<'a> {
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<UsageJson>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(borrow, default)]
    object: Text<'a>,
    #[serde(borrow, default)]
    message: Text<'a>,
    #[serde(default)]
    detail: Option<Value>,
    #[serde(default)]
    code: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Count,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Text<'a>,
    #[serde(borrow, default)]
    reasoning: Text<'a>,
    #[serde(borrow, default)]
    reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow, default)]
    function_call: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct UsageJson {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
}

/// The server's own token counts; `None` is "not said".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens.
    pub prompt: Option<u64>,
    /// Output tokens, reasoning included.
    pub completion: Option<u64>,
    /// Prompt tokens that came from a prefix cache.
    pub cached: Option<u64>,
}

/// An error as the server words it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    /// Its code: a status or a word such as `model_not_found`.
    pub code: Option<String>,
    /// Its text, as sent.
    pub message: String,
    /// The parameter that it complains about.
    pub param: Option<String>,
}

/// No answer and no prompt has more tokens: an overflow or an uninitialised count of the server's.
pub const MOST_TOKENS: u64 = u32::MAX as u64;

/// What kind of tokens a delta carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Nothing: role only, empty, null.
    Nothing,
    /// Reasoning tokens and nothing else.
    Reasoning,
    /// Content or a tool call.
    Output,
}

impl<'a> Chunk<'a> {
    /// Reads one chunk.
    ///
    /// # Errors
    /// When the bytes are not a JSON object of this shape.
    pub fn read(data: &'a [u8]) -> Result<Chunk<'a>, serde_json::Error> {
        match std::str::from_utf8(data) {
            Ok(text) => serde_json::from_str(text),
            // Says where it is broken.
            Err(_) => serde_json::from_slice(data),
        }
    }

    /// The text of a chunk that has nothing else: one choice, one text, no end, no usage, no error.
    #[must_use]
    pub fn text_alone(&self) -> Option<&str> {
        let [choice] = self.choices() else { return None };
        let nothing_else = choice.finish_reason.is_empty() && self.usage.is_none() && self.error().is_none();
        let mut texts = choice.texts().filter(|text| !text.is_empty());
        let text = texts.next().filter(|_| nothing_else && texts.next().is_none())?;
        Some(text.0.as_ref())
    }

    /// The most that any choice carries.
    #[must_use]
    pub fn carries(&self) -> Carries {
        let mut most = Carries::Nothing;
        for choice in self.choices() {
            match choice.carries() {
                Carries::Output => return Carries::Output,
                Carries::Reasoning => most = Carries::Reasoning,
                Carries::Nothing => {}
            }
        }
        most
    }

    /// The index of every choice, and whether this chunk ends it.
    pub fn finishes(&self) -> impl Iterator<Item = (u64, bool)> {
        self.choices().iter().map(|choice| (choice.index.0.unwrap_or(0), !choice.finish_reason.is_empty()))
    }

    /// Every text that costs output tokens, in order: reasoning, content, tool calls.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.choices().iter().flat_map(Choice::texts).map(|text| text.0.as_ref())
    }

    /// The model that answered.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        (!self.model.is_empty()).then_some(self.model.0.as_ref())
    }

    /// The token counts, if this chunk has any.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let usage = self.usage.as_ref()?;
        let details = usage.prompt_tokens_details.as_ref();
        let usage = Usage {
            prompt: usage.prompt_tokens.0,
            completion: usage.completion_tokens.0,
            cached: details.and_then(|details| details.cached_tokens.0).or(usage.prompt_cache_hit_tokens.0),
        };
        (usage != Usage::default()).then_some(usage)
    }

    /// The error, if this is one: `{"error": …}`, `{"object": "error", "message": …}` or `{"detail": …}`.
    #[must_use]
    pub fn error(&self) -> Option<ServerError> {
        match (self.error.as_ref().filter(|error| says_something(error)), &self.detail) {
            (Some(Value::Object(error)), _) => Some(ServerError {
                code: error.get("code").and_then(word).or_else(|| error.get("type").and_then(word)),
                message: error
                    .get("message")
                    .and_then(word)
                    .unwrap_or_else(|| Value::Object(error.clone()).to_string()),
                param: error.get("param").and_then(word),
            }),
            (None, detail) => {
                let is_error = self.object.0 == "error" && !self.message.is_empty();
                let message = if is_error { Some(self.message.0.clone().into_owned()) } else { None };
                let message = message.or_else(|| detail.as_ref().and_then(word))?;
                Some(ServerError { code: self.code.as_ref().and_then(word), message, param: None })
            }
            (Some(other), _) => {
                let said = word(other)?;
                let more = if self.message.is_empty() { said } else { format!("{said}: {}", self.message.0) };
                Some(ServerError { code: self.code.as_ref().and_then(word), message: more, param: None })
            }
        }
    }

    /// What a reply with an error status says: an [`error`](Self::error), or a bare `{"message": …}`.
    #[must_use]
    pub fn refusal(&self) -> Option<ServerError> {
        self.error().or_else(|| {
            let message = (!self.message.is_empty()).then(|| self.message.0.clone().into_owned())?;
            Some(ServerError { code: self.code.as_ref().and_then(word), message, param: None })
        })
    }

    /// Whether this has nothing that a chunk of an answer has.
    #[must_use]
    pub fn is_no_answer(&self) -> bool {
        self.choices().is_empty() && self.usage.is_none()
    }

    fn choices(&self) -> &[Choice<'a>] {
        self.choices.as_deref().unwrap_or_default()
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Some servers send `"error": null`, `false` or `""` with every good answer.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(errors) => !errors.is_empty(),
        Value::Number(code) => code.as_f64() != Some(0.0),
        Value::Bool(true) => true,
    }
}

impl Usage {
    /// The counts that an answer can have, and the largest one that none can.
    #[must_use]
    pub fn believable(self) -> (Usage, Option<u64>) {
        let all = [self.prompt, self.completion, self.cached];
        let beyond = all.into_iter().flatten().filter(|count| *count > MOST_TOKENS).max();
        let fit = |count: Option<u64>| count.filter(|count| *count <= MOST_TOKENS);
        let fit =
            Usage { prompt: fit(self.prompt), completion: fit(self.completion), cached: fit(self.cached) };
        (fit, beyond)
    }
}

impl<'a> Choice<'a> {
    fn parts(&self) -> impl Iterator<Item = &Delta<'a>> {
        self.delta.iter().chain(&self.message)
    }

    fn carries(&self) -> Carries {
        if !self.text.is_empty() || self.parts().any(Delta::has_output) {
            Carries::Output
        } else if self.parts().any(|part| !part.reasoning.is_empty() || !part.reasoning_content.is_empty()) {
            Carries::Reasoning
        } else {
            Carries::Nothing
        }
    }

    fn texts(&self) -> impl Iterator<Item = &Text<'a>> {
        let deltas = self.parts().flat_map(|part| {
            // Some servers send the same reasoning under both names.
            let reasoning = if part.reasoning.is_empty() { &part.reasoning_content } else { &part.reasoning };
            let functions = part.functions().flat_map(|function| [&function.name, &function.arguments]);
            [reasoning, &part.content, &part.refusal].into_iter().chain(functions)
        });
        std::iter::once(&self.text).chain(deltas)
    }
}

impl<'a> Delta<'a> {
    fn has_output(&self) -> bool {
        let called = |function: &Function<'_>| !function.name.is_empty() || !function.arguments.is_empty();
        !self.content.is_empty() || !self.refusal.is_empty() || self.functions().any(called)
    }

    fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        let calls = self.tool_calls.iter().flatten().filter_map(|call| call.function.as_ref());
        calls.chain(&self.function_call)
    }
}

impl ServerError {
    /// Whether it is about the model's name.
    #[must_use]
    pub fn is_about_the_model(&self) -> bool {
        let code = self.code.as_deref().unwrap_or_default().to_lowercase();
        let message = self.message.to_lowercase();
        let missing =
            ["not exist", "not found", "unknown", "no such", "not supported", "not available", "deprecated"];
        code.contains("model")
            || self.param.as_deref() == Some("model")
            || (message.contains("model") && missing.iter().any(|word| message.contains(word)))
    }

    /// Code and message in one line.
    #[must_use]
    pub fn line(&self) -> Cow<'_, str> {
        match &self.code {
            Some(code) => Cow::Owned(format!("{code}: {}", self.message)),
            None => Cow::Borrowed(&self.message),
        }
    }
}

#[cfg(test)]
mod tests;

//! What is asked. Built-in traffic is text of common words, as long as a probe of the tokenizer says; files hold their
//! own prompts. Every prompt begins with a nonce of this run, so that a prefix cache that an earlier run warmed can't
//! answer it.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::model::profile::{Api, CacheMode};
use crate::source::simulate::random::{Purpose, StreamKey};
use crate::source::simulate::traffic::Request;

mod file;
mod words;

pub use file::{PromptFileError, PromptSet, read};
pub(super) use words::ALL as ALL_WORDS;

/// Stands for everything in this folder that decides what is asked; to be raised when any of it changes.
pub const VERSION: &str = "load-2";

/// Words of a nonce. Its length in tokens is nearly always the same, since each word is common.
const NONCE_WORDS: usize = 8;

/// How many tokens a text has, as a probe of the server's own counts says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Tokens of the chat template and the nonce.
    overhead: f64,
    /// Tokens of a word.
    per_word: f64,
}

impl Default for Scale {
    /// A word of common English is about one token; used where no server told.
    fn default() -> Self {
        Scale { overhead: 16.0, per_word: 1.05 }
    }
}

impl Scale {
    /// From two probes: words sent and tokens counted.
    #[must_use]
    pub fn of_probes(short: (u32, u64), long: (u32, u64)) -> Option<Scale> {
        let words = f64::from(long.0) - f64::from(short.0);
        let per_word = (long.1 as f64 - short.1 as f64) / words;
        let overhead = short.1 as f64 - per_word * f64::from(short.0);
        (words > 0.0 && (0.1..=20.0).contains(&per_word) && overhead > -16.0)
            .then_some(Scale { overhead, per_word })
    }

    /// Words that make a prompt of so many tokens; at least one.
    #[must_use]
    pub fn words(self, tokens: u32) -> u32 {
        let words = (f64::from(tokens) - self.overhead) / self.per_word;
        words.round().max(1.0) as u32
    }
}

/// Whether a prompt's tokens are near enough to its tier: within 2 % or 4 tokens, whichever is more.
#[must_use]
pub fn meets_tier(tier: u32, tokens: f64) -> bool {
    (tokens - f64::from(tier)).abs() <= (f64::from(tier) * 0.02).max(4.0)
}

/// What one prompt is.
#[derive(Clone, Debug, PartialEq)]
pub enum Prompt {
    /// A text.
    Text(String),
    /// Chat messages as the file has them.
    Messages(Vec<Value>),
}

/// Makes the words that no cache has seen: of the run, and of one prompt of one block of it.
#[derive(Clone, Debug)]
pub struct Nonce {
    run: u64,
    block: String,
}

impl Nonce {
    /// The nonce of a block: a group in one round against one endpoint.
    #[must_use]
    pub fn new(run: u64, block: impl Into<String>) -> Nonce {
        Nonce { run, block: block.into() }
    }

    /// Its words for a prompt. Where prefixes are to be shared, all prompts of a block begin alike.
    fn words(&self, index: u64, cache: CacheMode) -> String {
        let digest = Sha256::new().chain_update(self.run.to_le_bytes()).chain_update(self.block.as_bytes());
        let digest = match cache {
            CacheMode::Unique => digest.chain_update(index.to_le_bytes()),
            CacheMode::SharedPrefix => digest,
        };
        let chosen = digest.finalize();
        let words =
            chosen.iter().take(NONCE_WORDS).map(|byte| words::NONCE[usize::from(*byte) % words::NONCE.len()]);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The text of a built-in request. The same index gives the same text for every strategy; only the nonce differs.
#[must_use]
pub fn text(
    request: &Request,
    index: u64,
    key: &StreamKey,
    scale: Scale,
    nonce: &Nonce,
    cache: CacheMode,
) -> Prompt {
    let all = scale.words(request.prompt_tokens);
    let shared =
        request.prefix.map_or(0, |prefix| (f64::from(prefix.tokens) / scale.per_word) as u32).min(all);
    let mut text = nonce.words(index, cache);
    text.push_str(".\n");
    if let Some(prefix) = request.prefix {
        let document = StreamKey::new(prefix.id.into(), "document");
        words::fill(&mut text, shared, &mut document.substream(0, Purpose::Workload));
    }
    // Workload draws lengths from this index; the words need a stream of their own.
    let own = key.substream(index, Purpose::Speed);
    words::fill(&mut text, all - shared, &mut { own });
    Prompt::Text(text)
}

/// A text of so many words for a probe.
#[must_use]
pub fn probe(words: u32, nonce: &Nonce, index: u64) -> Prompt {
    let mut text = nonce.words(index, CacheMode::Unique);
    text.push_str(".\n");
    words::fill_evenly(&mut text, words);
    Prompt::Text(text)
}

/// A prompt of a file with this block's nonce before it.
#[must_use]
pub fn with_nonce(prompt: &Prompt, index: u64, nonce: &Nonce, cache: CacheMode) -> Prompt {
    let words = nonce.words(index, cache);
    match prompt {
        Prompt::Text(text) => Prompt::Text(format!("{words}.\n{text}")),
        Prompt::Messages(messages) => {
            let mut messages = messages.clone();
            let first = messages.iter_mut().find_map(|message| match message.get_mut("content") {
                Some(Value::String(text)) => Some(text),
                _ => None,
            });
            if let Some(text) = first {
                *text = format!("{words}.\n{text}");
            }
            Prompt::Messages(messages)
        }
    }
}

/// How a prompt stands in a request body: the field and its value.
#[must_use]
pub fn field(prompt: Prompt, api: Api) -> (&'static str, Value) {
    match (api, prompt) {
        (Api::Chat, Prompt::Text(text)) => {
            ("messages", serde_json::json!([{"role": "user", "content": text}]))
        }
        (Api::Chat, Prompt::Messages(messages)) => ("messages", Value::Array(messages)),
        (Api::Completions, Prompt::Text(text)) => ("prompt", Value::String(text)),
        (Api::Completions, Prompt::Messages(messages)) => {
            let texts = messages.iter().filter_map(|message| message.get("content")?.as_str());
            ("prompt", Value::String(texts.collect::<Vec<_>>().join("\n\n")))
        }
    }
}

#[cfg(test)]
mod tests;

//! What to measure.

use std::collections::BTreeMap;

use super::engine::Engine;
use super::quantity::Finite;

/// A fixed benchmark: run it twice and only the subject can have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name, `[a-z0-9._-]`.
    pub name: String,
    /// What answers the requests.
    pub target: Target,
    /// Declared hardware of the server.
    pub server: Option<String>,
    /// The ways to serve, the reference strategy first.
    pub strategies: Vec<Strategy>,
    /// The strategy that speed-ups divide by.
    pub reference: Option<String>,
    /// Traffic models (`chat`, `rag`, `code`) or one prompt file.
    pub prompts: Prompts,
    /// Prompt tiers in tokens; empty: as the traffic has them.
    pub prompt_tokens: Vec<u32>,
    /// How requests arrive.
    pub load: Load,
    /// Requests per group and round.
    pub requests: u32,
    /// Passes over all groups.
    pub rounds: u32,
    /// Output limit in tokens.
    pub max_tokens: Option<u32>,
    /// Warm-up requests per level; `None` is max(2, concurrency).
    pub warmup: Option<u32>,
    /// Sampling temperature sent to the endpoint.
    pub temperature: Finite,
    /// Seed of prompts, arrivals and the embedded engine.
    pub seed: u64,
    /// Stream the answers (a reply without streaming has no TTFT).
    pub stream: bool,
    /// How prompts share prefixes.
    pub cache: CacheMode,
    /// Time limits of a request.
    pub timeouts: Timeouts,
    /// Command run before each block, for servers that don't fit one GPU together.
    pub before_block: Option<String>,
}

/// What answers the requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The embedded engine in virtual time.
    Embedded(Engine),
    /// An OpenAI-compatible endpoint.
    Endpoint {
        /// Base URL as written; a file in a checkout names it, so the key does not go there by itself.
        base_url: Option<String>,
        /// Model id.
        model: String,
        /// `chat/completions` or `completions`.
        api: Api,
    },
}

/// Which API is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `/chat/completions`.
    Chat,
    /// `/completions`.
    Completions,
}

/// One way to serve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strategy {
    /// The name.
    pub name: String,
    /// Its own endpoint, if it differs.
    pub base_url: Option<String>,
    /// Its own model id, if it differs.
    pub model: Option<String>,
    /// Extra headers.
    pub headers: BTreeMap<String, Value>,
    /// Extra body fields, as JSON.
    pub body: BTreeMap<String, serde_json::Value>,
}

/// A text in the file, or the name of an environment variable that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// As written.
    Text(String),
    /// From the environment; treated like the key.
    Env(String),
}

/// Where prompts come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompts {
    /// Built-in traffic models by name.
    Traffic(Vec<String>),
    /// A JSON or JSONL file, relative to `pacegate.toml`.
    File(String),
}

/// How requests arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Closed loop: so many in flight, refilled at once.
    Concurrency(Vec<u32>),
    /// Open loop: so many a second.
    Rate {
        /// Requests per second, one group each.
        rates: Vec<Finite>,
        /// Spacing.
        arrival: Arrival,
    },
}

/// Spacing of open-loop arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Equal gaps.
    Constant,
    /// Exponential gaps.
    Poisson,
}

/// Whether prompts of one run share prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// Every prompt begins with a nonce, so that a warm prefix cache can't fake a win.
    Unique,
    /// Prompts share long prefixes (rag).
    SharedPrefix,
}

impl CacheMode {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CacheMode::Unique => "unique",
            CacheMode::SharedPrefix => "shared-prefix",
        }
    }
}

/// Time limits of a request, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect_ms: u32,
    /// Until the first token.
    pub first_token_ms: u32,
    /// Between two reads.
    pub gap_ms: u32,
    /// For the whole request.
    pub total_ms: u32,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { connect_ms: 10_000, first_token_ms: 120_000, gap_ms: 60_000, total_ms: 600_000 }
    }
}

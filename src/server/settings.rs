//! What is served, how fast, and what goes wrong.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use crate::model::Finite;
use crate::model::engine::Engine;
use crate::model::report::FailureKind;

use super::fault::{Fault, FaultRule, Strikes};

/// Everything that can be chosen.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The models served. A model that is called like a strategy of the engine has that strategy's speeds.
    pub models: Vec<String>,
    /// The engine's speeds, and the failures it has of its own.
    pub engine: Engine,
    /// What the times of an answer come from.
    pub latency: Latency,
    /// Completion requests answered at once; one more is refused with 429. None is no limit.
    pub max_in_flight: Option<u32>,
    /// `Retry-After` of every 429, in seconds.
    pub retry_after_s: u32,
    /// Whether every model has a prefix cache, not only the strategies that bring one.
    pub prefix_cache: bool,
    /// When an answer tells its tokens.
    pub usage: Usage,
    /// Whether every event tells the tokens so far, asked for or not.
    pub continuous_usage: bool,
    /// Whether the event that only tells the role comes at once, long before the first token.
    pub role_at_once: bool,
    /// Share of a chat answer's tokens, from its beginning, that are reasoning.
    pub reasoning_share: Finite,
    /// Share of a chat answer's tokens, up to its end, that are the arguments of a tool call.
    pub tool_call_share: Finite,
    /// Tokens in an event.
    pub tokens_per_event: u32,
    /// Output tokens of a request that sets no limit.
    pub default_max_tokens: u32,
    /// Most prompt tokens; more are refused with 400.
    pub max_model_len: u32,
    /// What goes wrong, for whom.
    pub faults: Vec<FaultRule>,
    /// Where faults, lengths and noise are drawn from.
    pub seed: u64,
    /// The key that completion requests have to bring, if any.
    pub api_key: Option<String>,
    /// How many of the latest requests' true times are kept.
    pub records: usize,
}

/// What the times of an answer come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Everything at once.
    None,
    /// The same for every request.
    Fixed {
        /// From the request to the first token.
        first_token: Duration,
        /// From each token to the next.
        gap: Duration,
    },
    /// The embedded engine's stage times, congestion and noise included.
    Engine,
}

/// When an answer tells its tokens. Answers that are not streamed tell them unless it is [`Usage::Never`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// When the request asks with `stream_options.include_usage`.
    WhenAsked,
    /// In every answer.
    Always,
    /// In none.
    Never,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            models: vec!["embedded".to_owned()],
            engine: Engine::default(),
            latency: Latency::Engine,
            max_in_flight: None,
            retry_after_s: 1,
            prefix_cache: false,
            usage: Usage::WhenAsked,
            continuous_usage: false,
            role_at_once: false,
            reasoning_share: Finite::ZERO,
            tool_call_share: Finite::ZERO,
            tokens_per_event: 1,
            default_max_tokens: 256,
            max_model_len: 32_768,
            faults: Vec::new(),
            seed: 0,
            api_key: None,
            records: 10_000,
        }
    }
}

/// Why the server doesn't start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Others could reach it.
    #[error("{0} can be reached from other machines; listen on 127.0.0.1 or [::1]")]
    Remote(SocketAddr),
    /// The address can't be had.
    #[error("can't listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: std::io::Error,
    },
    /// No thread or no event queue.
    #[error("can't start the server's threads: {0}")]
    Threads(std::io::Error),
    /// Nothing to serve.
    #[error("no model to serve")]
    NoModel,
    /// The name would need escaping somewhere.
    #[error("model id {0:?} is empty or has a quote, a backslash or a control character in it")]
    ModelId(String),
    /// The name is there twice.
    #[error("model id \"{0}\" is given twice")]
    SameModel(String),
    /// A share that is none.
    #[error("the {name} share is {share}, and has to be from 0 to 1")]
    Share {
        /// Of what.
        name: &'static str,
        /// What was given.
        share: Finite,
    },
    /// The two shares overlap.
    #[error("reasoning and tool calls together are more than the whole answer")]
    Shares,
    /// A number that has to be at least 1.
    #[error("{0} has to be at least 1")]
    Zero(&'static str),
    /// Only the simulation can fail so.
    #[error("the embedded engine's failure \"{words}\" can't be had over HTTP", words = .0.words())]
    Failure(FailureKind),
}

impl Settings {
    /// Refuses what can't be served.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn check(&self) -> Result<(), ServerError> {
        if !self.listen.ip().is_loopback() {
            return Err(ServerError::Remote(self.listen));
        }
        let mut seen = BTreeSet::new();
        for model in &self.models {
            if model.is_empty() || model.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
                return Err(ServerError::ModelId(model.clone()));
            }
            if !seen.insert(model) {
                return Err(ServerError::SameModel(model.clone()));
            }
        }
        if seen.is_empty() {
            return Err(ServerError::NoModel);
        }
        let shares = [("reasoning", self.reasoning_share), ("tool call", self.tool_call_share)];
        for (name, share) in shares {
            if !(0.0..=1.0).contains(&share.get()) {
                return Err(ServerError::Share { name, share });
            }
        }
        if self.reasoning_share.get() + self.tool_call_share.get() > 1.0 {
            return Err(ServerError::Shares);
        }
        let at_least_one = [
            ("tokens per event", self.tokens_per_event),
            ("the default output limit", self.default_max_tokens),
            ("the longest prompt", self.max_model_len),
        ];
        match at_least_one.iter().find(|(_, value)| *value == 0) {
            Some((name, _)) => Err(ServerError::Zero(name)),
            None => Ok(()),
        }
    }

    /// The faults asked for and, after them, the engine's own failures.
    ///
    /// # Errors
    /// A failure that can't be had over HTTP.
    pub(super) fn fault_rules(&self) -> Result<Vec<FaultRule>, ServerError> {
        let mut rules = self.faults.clone();
        for (kind, share) in &self.engine.failures {
            let fault = Fault::like(*kind).ok_or(ServerError::Failure(*kind))?;
            rules.push(FaultRule { fault, strikes: Strikes::Share(*share) });
        }
        Ok(rules)
    }
}

/// The text names no latency.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no latency; expected none, engine, or the time to the first token and the gap, such as 80ms/8ms"
)]
pub struct UnknownLatency(String);

impl FromStr for Latency {
    type Err = UnknownLatency;
    /// `none`, `engine`, or `80ms/8ms`.
    fn from_str(text: &str) -> Result<Self, UnknownLatency> {
        let ms = |text: &str| {
            let ms = text.strip_suffix("ms")?.parse::<f64>().ok()?;
            Duration::try_from_secs_f64(ms / 1000.0).ok()
        };
        match text {
            "none" => return Ok(Latency::None),
            "engine" => return Ok(Latency::Engine),
            _ => {}
        }
        let fixed = text
            .split_once('/')
            .and_then(|(first, gap)| Some(Latency::Fixed { first_token: ms(first)?, gap: ms(gap)? }));
        fixed.ok_or_else(|| UnknownLatency(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_served_are_refused() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            assert!(settings.check().is_ok());
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(refused(|s| s.listen = SocketAddr::from(([0, 0, 0, 0], 8000))).contains("other machines"));
        assert!(refused(|s| s.models.clear()).contains("no model"));
        assert!(refused(|s| s.models.push("a\"b".into())).contains("quote"));
        assert!(refused(|s| s.models.push("embedded".into())).contains("twice"));
        assert!(refused(|s| s.reasoning_share = Finite::whole(2)).contains("reasoning share is 2"));
        assert!(
            refused(|s| (s.reasoning_share, s.tool_call_share) = (Finite::whole(1), Finite::whole(1)))
                .contains("more than the whole")
        );
        assert!(refused(|s| s.tokens_per_event = 0).contains("tokens per event"));
    }

    #[test]
    fn engine_failures_become_faults_or_are_refused() {
        let mut settings = Settings::default();
        settings.engine.failures.insert(FailureKind::Cut, Finite::thousandths(20));
        let rules = settings.fault_rules().unwrap();
        assert_eq!(rules, ["truncated-chunk=2%".parse().unwrap()]);
        settings.engine.failures.insert(FailureKind::Tls, Finite::thousandths(20));
        assert!(settings.fault_rules().unwrap_err().to_string().contains("TLS failure"));
    }

    #[test]
    fn latency_is_read_from_text() {
        assert_eq!("none".parse(), Ok(Latency::None));
        assert_eq!("engine".parse(), Ok(Latency::Engine));
        let fixed =
            Latency::Fixed { first_token: Duration::from_millis(80), gap: Duration::from_micros(7_500) };
        assert_eq!("80ms/7.5ms".parse(), Ok(fixed));
        for text in ["80/8", "80ms", "-1ms/8ms", "NaNms/8ms", ""] {
            assert_eq!(text.parse::<Latency>(), Err(UnknownLatency(text.to_owned())));
        }
    }
}

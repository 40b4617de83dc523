//! One request, and what its answer means: cause and remedy, in words.

use std::fmt;

use serde_json::Value;

use crate::model::profile::{Profile, Strategy};
use crate::model::report::{FailureKind, MOCK_ENGINE};

use super::control;
use super::key::{Secret, clean};
use super::measure::{LoadError, Options};
use super::prompts::{Nonce, probe};
use super::request::Call;
use super::side::{Side, secrets};
use super::timeline::{Failure, Timeline};
use super::url::BaseUrl;

/// Output tokens that are asked for: enough to see a second token.
const TOKENS: u32 = 16;

/// Words of the prompt.
const WORDS: u32 = 16;

/// Models named when the one asked for does not exist.
const MOST_MODELS: usize = 10;

/// What is wrong, or that nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Tokens came.
    Healthy {
        /// The model that answered.
        model: Option<String>,
        /// Time to the first token in microseconds; `None` where the answer was not streamed.
        first_token_us: Option<u64>,
        /// Output tokens by usage.
        tokens: Option<u64>,
        /// The engine, where its counters tell.
        engine: Option<&'static str>,
    },
    /// 401 or 403, and no key was sent.
    NoKey(u16),
    /// 401, though a key was sent.
    KeyRefused,
    /// 403.
    Forbidden,
    /// 404, but the other form of the path answers.
    OtherPath(String),
    /// 404 for both forms of the path.
    WrongPath,
    /// No such model; those that the server names.
    NoModel(Vec<String>),
    /// 429.
    TooMany(Option<String>),
    /// A stream without a token.
    NoTokens,
    /// The stream broke off or holds no JSON.
    Broken,
    /// An error event inside a 200.
    ErrorInStream,
    /// Nobody listens there.
    Unreachable,
    /// Somebody listens, and closes the connection without a word.
    HungUp,
    /// The connection could not be encrypted.
    NoTls,
    /// No connection in time.
    ConnectTooSlow,
    /// A connection, but no token in time.
    TokenTooSlow,
    /// 5xx.
    ServerError,
    /// Another refusal.
    Refused,
}

/// The examination of one strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The strategy.
    pub strategy: String,
    /// The address that was called.
    pub url: String,
    /// The model asked for.
    pub model: String,
    /// What it was.
    pub cause: Cause,
    /// What the server or the connection said, cleaned.
    pub said: Option<String>,
    /// The variable that the key comes from.
    pub key_variable: String,
}

/// Examines every strategy's endpoint with one request each, and a few more where the first one fails.
///
/// # Errors
/// What is wrong before any request: a bad URL, an unknown host, a key that must not go there.
pub fn examine(
    profile: &Profile,
    options: &Options,
    key_variable: &str,
) -> Result<Vec<Diagnosis>, LoadError> {
    let one = |strategy: &Strategy| {
        let side = Side::resolve(profile, strategy, options, None)?;
        let (cause, said) = look(&side, profile, options)?;
        let mut all = secrets(strategy, options)?.into_iter().map(|(_, secret)| secret).collect::<Vec<_>>();
        all.extend(options.key.clone());
        Ok(Diagnosis {
            strategy: strategy.name.clone(),
            url: side.endpoint.url.shown(side.form.api),
            model: side.form.model.clone(),
            cause: cause.cleaned(&all),
            said: said.map(|text| clean(&text, &all)),
            key_variable: key_variable.to_owned(),
        })
    };
    profile.strategies.iter().map(one).collect()
}

impl Cause {
    /// Without a secret that the server sent back, wherever it put it.
    fn cleaned(self, secrets: &[Secret]) -> Cause {
        match self {
            Cause::Healthy { model, first_token_us, tokens, engine } => {
                let model = model.map(|model| clean(&model, secrets));
                Cause::Healthy { model, first_token_us, tokens, engine }
            }
            Cause::NoModel(models) => {
                Cause::NoModel(models.iter().map(|model| clean(model, secrets)).collect())
            }
            Cause::TooMany(wait) => Cause::TooMany(wait.map(|wait| clean(&wait, secrets))),
            other => other,
        }
    }
}

fn look(side: &Side, profile: &Profile, options: &Options) -> Result<(Cause, Option<String>), LoadError> {
    let timeline = send(side, &side.endpoint.url, profile, options)?;
    let Some(Failure { kind, text, retry_after }) = timeline.failure.clone() else {
        let engine = control::counters(&side.endpoint)?.map(|(engine, _)| engine);
        let engine = if timeline.simulated { Some(MOCK_ENGINE) } else { engine };
        return Ok((healthy(&timeline, engine), None));
    };
    let cause = match kind {
        FailureKind::Http401 if options.key.is_none() => Cause::NoKey(401),
        FailureKind::Http403 if options.key.is_none() => Cause::NoKey(403),
        FailureKind::Http401 => Cause::KeyRefused,
        FailureKind::Http403 => Cause::Forbidden,
        FailureKind::Http404Path => {
            let other = side.endpoint.url.other_form();
            let again = send(side, &other, profile, options)?;
            let found = again.failure.is_none_or(|failure| failure.kind != FailureKind::Http404Path)
                && again.status.is_some();
            if found { Cause::OtherPath(other.written()) } else { Cause::WrongPath }
        }
        FailureKind::Http404Model => Cause::NoModel(models(side)?),
        FailureKind::Http429 => Cause::TooMany(retry_after),
        FailureKind::ZeroTokens => Cause::NoTokens,
        FailureKind::Cut | FailureKind::Malformed | FailureKind::TimeoutGap => Cause::Broken,
        FailureKind::ErrorEvent => Cause::ErrorInStream,
        FailureKind::Connect if timeline.sent => Cause::HungUp,
        FailureKind::Connect => Cause::Unreachable,
        FailureKind::Tls => Cause::NoTls,
        FailureKind::TimeoutConnect => Cause::ConnectTooSlow,
        FailureKind::TimeoutFirstToken | FailureKind::TimeoutTotal => Cause::TokenTooSlow,
        FailureKind::Http5xx => Cause::ServerError,
        FailureKind::Http4xx | FailureKind::Unknown => Cause::Refused,
    };
    Ok((cause, Some(text)))
}

fn healthy(timeline: &Timeline, engine: Option<&'static str>) -> Cause {
    Cause::Healthy {
        model: timeline.model.clone(),
        first_token_us: timeline.first_token.map(|ns| ns / 1000),
        tokens: timeline.output_tokens(),
        engine,
    }
}

fn send(side: &Side, url: &BaseUrl, profile: &Profile, options: &Options) -> Result<Timeline, LoadError> {
    let mut form = side.form.clone();
    // A first request shows what every server takes.
    form.ignore_eos = false;
    let body = form.body(probe(WORDS, &Nonce::new(options.run, "doctor"), 0), TOKENS);
    let call = Call { path: url.call(form.api), body: Some(body), stream: form.stream };
    Ok(control::call(&side.endpoint, &call, profile.timeouts)?)
}

/// The models that the server names, in its order.
fn models(side: &Side) -> Result<Vec<String>, LoadError> {
    let text = control::fetch(&side.endpoint, side.endpoint.url.models(), None)?.unwrap_or_default();
    let list: Value = serde_json::from_slice(&text).unwrap_or_default();
    let ids = list["data"].as_array().into_iter().flatten().filter_map(|model| model["id"].as_str());
    Ok(ids.take(MOST_MODELS).map(str::to_owned).collect())
}

impl Diagnosis {
    /// Whether the endpoint can be measured.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        matches!(self.cause, Cause::Healthy { .. })
    }

    /// What is the matter, in one sentence.
    #[must_use]
    pub fn what(&self) -> String {
        let (url, model, key) = (&self.url, &self.model, &self.key_variable);
        match &self.cause {
            Cause::Healthy { model, first_token_us, tokens, engine } => {
                let name = model.as_deref().unwrap_or("a model that does not say its name");
                let engine = match engine {
                    Some(MOCK_ENGINE) => format!(" on {MOCK_ENGINE} (SIMULATED: no model answers here)"),
                    Some(engine) => format!(" on {engine}"),
                    None => String::new(),
                };
                let first = match first_token_us {
                    Some(us) => format!("first token after {:.1} ms", *us as f64 / 1000.0),
                    None => "answered in one piece, so it has no time to first token".to_owned(),
                };
                let tokens = match tokens {
                    Some(tokens) => format!("{tokens} tokens by usage"),
                    None => "no usage, so tpot and token throughput will be absent".to_owned(),
                };
                format!("{url}: {name}{engine}, {first}, {tokens}")
            }
            Cause::NoKey(401) => format!("{url} wants a key (401), and {key} is not set or empty"),
            Cause::NoKey(status) => {
                format!("{url} refuses a request without a key ({status}), and {key} is not set or empty")
            }
            Cause::KeyRefused => format!("{url} refused the key of {key} (401)"),
            Cause::Forbidden => format!("{url} knows the key but does not allow this (403)"),
            Cause::OtherPath(base) => format!("{url} does not exist (404), but {base} answers"),
            Cause::WrongPath => format!("{url} does not exist (404), with /v1 or without"),
            Cause::NoModel(_) => format!("{url} has no model \"{model}\""),
            Cause::TooMany(wait) => {
                let wait = match wait {
                    Some(wait) if wait.parse::<u64>().is_ok() => format!("; it asks to wait {wait} s"),
                    Some(date) => format!("; it asks to wait until {date}"),
                    None => String::new(),
                };
                format!("{url} refused a single request as too many (429){wait}")
            }
            Cause::NoTokens => format!("{url} answered 200 without a single token"),
            Cause::Broken => format!("{url} answered, but the reply broke off or could not be read"),
            Cause::ErrorInStream => format!("{url} answered 200, and then an error inside the stream"),
            Cause::Unreachable => format!("nobody answers at {url}"),
            Cause::HungUp => format!("{url} takes connections and closes them without a reply"),
            Cause::NoTls => format!("{url} could not be reached over TLS"),
            Cause::ConnectTooSlow => format!("{url} could not be connected to in time"),
            Cause::TokenTooSlow => format!("{url} took the request, but no token came in time"),
            Cause::ServerError => format!("{url} failed by itself (5xx)"),
            Cause::Refused => format!("{url} refused the request"),
        }
    }

    /// What to do next; `None` where nothing is to be done.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        let key = &self.key_variable;
        Some(match &self.cause {
            Cause::Healthy { .. } => return None,
            Cause::NoKey(401) => format!("export {key}=…, or name another variable with --api-key-env"),
            Cause::NoKey(_) => format!(
                "export {key}=…, or name another variable with --api-key-env; if the server wants no key, a proxy or \
                 firewall before it refuses this machine"
            ),
            Cause::KeyRefused => {
                format!("check that {key} holds a key of this server, whole and not expired, then export it again")
            }
            Cause::Forbidden => "ask for access to this model or project, or use another key".to_owned(),
            Cause::OtherPath(base) => format!("set base_url = \"{base}\""),
            Cause::WrongPath => {
                "set base_url to the address whose /chat/completions the server documents; a URL with a path is used as \
                 given, one without gets /v1"
                    .to_owned()
            }
            Cause::NoModel(models) if models.is_empty() => {
                "set model to a name that the server serves; it lists none at /models".to_owned()
            }
            Cause::NoModel(models) => format!("set model to one of: {}", models.join(", ")),
            Cause::TooMany(_) => {
                "wait, or check the quota; if it comes at 32 in flight only, step down to 8 and try again".to_owned()
            }
            Cause::NoTokens => {
                "look at the server's chat template and reasoning parser: its chunks have empty choices or no content; \
                 a request with stream = false shows what it says"
                    .to_owned()
            }
            Cause::Broken => {
                "look for a proxy that cuts or rewrites streams, and at the server's log for a crash".to_owned()
            }
            Cause::ErrorInStream => "read the server's words below: most often its queue is full".to_owned(),
            Cause::Unreachable => {
                "check that the server runs, listens on this host and port, and is not only bound to another interface"
                    .to_owned()
            }
            Cause::HungUp => {
                "check that the API listens at this port and speaks http here, not https, and look at the server's log"
                    .to_owned()
            }
            Cause::NoTls => {
                "check whether the server speaks https at this port; for a private authority pass --ca-file".to_owned()
            }
            Cause::ConnectTooSlow => {
                "the endpoint is not reachable from here: check firewall, VPN and host name".to_owned()
            }
            Cause::TokenTooSlow => {
                "its queue is full or the model still loads: look at the server's running and waiting requests, or raise \
                 timeouts"
                    .to_owned()
            }
            Cause::ServerError => "look at the server's log; 503 is often a model that still loads".to_owned(),
            Cause::Refused => {
                "read the server's words below; body fields that it does not know are taken out with a null in the \
                 strategy's body"
                    .to_owned()
            }
        })
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.strategy, self.what())?;
        if let Some(remedy) = self.remedy() {
            write!(f, "\n  do: {remedy}")?;
        }
        if let Some(said) = &self.said {
            write!(f, "\n  it said: {said}")?;
        }
        Ok(())
    }
}

//! One strategy at one endpoint: where its requests go, what they have in common, and what a first look at the server
//! told.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::model::profile::{Profile, Strategy, Target, Value};

use super::body::Form;
use super::control;
use super::endpoint::Endpoint;
use super::key::{NamedBy, Secret};
use super::measure::{LoadError, Options};
use super::prompts::{ALL_WORDS, Nonce, Scale, probe};
use super::request::Call;
use super::timeline::Timeline;
use super::url::BaseUrl;

/// Words of the two probes that tell how many tokens a word has: every word once, and three times.
const PROBE_WORDS: (u32, u32) = (ALL_WORDS, 3 * ALL_WORDS);

/// One strategy at one endpoint.
#[derive(Clone)]
pub(super) struct Side {
    pub endpoint: Arc<Endpoint>,
    pub form: Form,
    /// Filled by the first look.
    pub seen: Option<Seen>,
}

/// What the first look told.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub scale: Option<Scale>,
    pub engine: Option<&'static str>,
    pub version: Option<String>,
}

impl Side {
    /// Resolves a strategy's endpoint. Who named it decides whether the key may go there.
    pub fn resolve(
        profile: &Profile,
        strategy: &Strategy,
        options: &Options,
        against: Option<&str>,
    ) -> Result<Side, LoadError> {
        let Target::Endpoint { model, api, .. } = &profile.target else {
            return Err(LoadError::Embedded);
        };
        let (url, named_by) = address(profile, strategy, options, against)?;
        let key = options.key.as_ref();
        key.map(|key| key.allow(&url, named_by, &options.trusted)).transpose()?;
        let headers = secrets(strategy, options)?;
        for (_, secret) in &headers {
            secret.allow(&url, named_by, &options.trusted)?;
        }
        let mut endpoint = Endpoint::resolve(url, options.ca_file.as_deref().map(Path::new))?;
        for (name, value) in &strategy.headers {
            if let Value::Text(text) = value {
                endpoint.header(name, text, false)?;
            }
        }
        for (name, secret) in &headers {
            endpoint.header(name, secret.expose(), true)?;
        }
        key.map(|key| endpoint.authorize(key)).transpose()?;
        let form = Form {
            api: *api,
            model: strategy.model.clone().unwrap_or_else(|| model.clone()),
            temperature: profile.temperature,
            // Servers take a signed number of 32 bits at least.
            seed: profile.seed & 0x7fff_ffff,
            stream: profile.stream,
            ignore_eos: true,
            extra: strategy.body.clone(),
        };
        Ok(Side { endpoint: Arc::new(endpoint), form, seen: None })
    }

    /// The first look: whether the server takes `ignore_eos`, how many tokens a word has, which engine it is.
    pub fn look(&mut self, profile: &Profile, nonce: &Nonce) -> io::Result<()> {
        if self.seen.is_some() {
            return Ok(());
        }
        let mut seen = Seen::default();
        let mut short = self.probe(profile, nonce, PROBE_WORDS.0)?;
        if self.form.ignore_eos
            && short.failure.as_ref().is_some_and(|f| f.kind == crate::model::report::FailureKind::Http4xx)
        {
            self.form.ignore_eos = false;
            short = self.probe(profile, nonce, PROBE_WORDS.0)?;
        }
        if short.failure.is_none() {
            let long = self.probe(profile, nonce, PROBE_WORDS.1)?;
            let prompt = |timeline: &Timeline| timeline.usage.and_then(|usage| usage.prompt);
            seen.scale = prompt(&short)
                .zip(prompt(&long))
                .and_then(|(short, long)| Scale::of_probes((PROBE_WORDS.0, short), (PROBE_WORDS.1, long)));
            seen.engine = control::counters(&self.endpoint)?.map(|(engine, _)| engine);
            if seen.engine.is_some() {
                seen.version = control::version(&self.endpoint)?;
            }
        }
        self.seen = Some(seen);
        Ok(())
    }

    fn probe(&self, profile: &Profile, nonce: &Nonce, words: u32) -> io::Result<Timeline> {
        let body = self.form.plain().body(probe(words, nonce, words.into()), 1);
        let call = Call { path: self.endpoint.url.call(self.form.api), body: Some(body), stream: false };
        control::call(&self.endpoint, &call, profile.timeouts)
    }
}

/// A strategy's base URL, and who named it.
fn address(
    profile: &Profile,
    strategy: &Strategy,
    options: &Options,
    against: Option<&str>,
) -> Result<(BaseUrl, NamedBy), LoadError> {
    let Target::Endpoint { base_url, .. } = &profile.target else { return Err(LoadError::Embedded) };
    let person = |url| (url, NamedBy::Person);
    let file = |url| (url, NamedBy::File);
    let (url, named_by) = against
        .map(person)
        .or_else(|| strategy.base_url.as_deref().map(file))
        .or_else(|| options.base_url.as_deref().map(person))
        .or_else(|| base_url.as_deref().map(file))
        .ok_or_else(|| LoadError::NoEndpoint(profile.name.clone()))?;
    Ok((BaseUrl::parse(url)?, named_by))
}

/// The addresses that a profile's requests go to, each once, for people.
///
/// # Errors
/// What is no address, or where there is none.
pub fn addresses(profile: &Profile, options: &Options) -> Result<Vec<String>, LoadError> {
    let Target::Endpoint { api, .. } = &profile.target else { return Err(LoadError::Embedded) };
    let own = profile.strategies.iter().map(|strategy| Ok(address(profile, strategy, options, None)?.0));
    let against = options.against.as_deref().map(|url| BaseUrl::parse(url).map_err(LoadError::from));
    let mut all: Vec<String> = Vec::new();
    for url in own.chain(against) {
        let shown = url?.shown(*api);
        if !all.contains(&shown) {
            all.push(shown);
        }
    }
    Ok(all)
}

/// The headers whose values come from the environment: they follow the key's rule.
pub(super) fn secrets(strategy: &Strategy, options: &Options) -> Result<Vec<(String, Secret)>, LoadError> {
    let mut secrets = Vec::new();
    for (name, value) in &strategy.headers {
        let Value::Env(variable) = value else { continue };
        let text = (options.variable)(variable).unwrap_or_default();
        let missing = || LoadError::HeaderVariable { header: name.clone(), variable: variable.clone() };
        secrets.push((name.clone(), Secret::new(variable, &text)?.ok_or_else(missing)?));
    }
    Ok(secrets)
}

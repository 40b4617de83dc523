//! `[profile.NAME]`.

use serde::Deserialize;
use toml::de::ValueDeserializer;

use crate::model::Finite;
use crate::model::engine::Engine;
use crate::model::policy::Origin;
use crate::model::profile::{Api, Arrival, CacheMode, Load, Profile, Prompts, Strategy, Target, Timeouts};

use super::error::{ConfigError, Problem};
use super::gate::{self, Gate};
use super::nearest::nearest;
use super::table::{Entry, Table};
use super::{amount, defaults, strategy};

/// A profile and what only its file knows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileConfig {
    /// What to measure.
    pub profile: Profile,
    /// The embedded engine is asked for in so many words: `embedded = true` or an `engine` table.
    pub embedded_named: bool,
    /// `[profile.NAME.gate]` as written.
    pub gate: Gate,
    /// Where it begins.
    pub origin: Origin,
}

const WHOLE: &str = "a whole number from 1 to 4294967295";

pub(super) fn read(entry: &Entry<'_>) -> Result<ProfileConfig, ConfigError> {
    strategy::named(entry.key).map_err(|problem| entry.key_error(problem))?;
    let table = entry.table(format!("[profile.{}]", entry.key))?.known("profile.NAME")?;
    let written =
        table.get("strategies").map(|strategies| strategy::read(strategies, entry.key)).transpose()?;
    let (target, embedded_named) = target(&table, written.as_deref().unwrap_or_default())?;
    // A table named like a built-in profile changes that profile, so that one line slows one stage of `smoke`.
    let builtin = defaults::builtin(entry.key).filter(|_| matches!(target, Target::Embedded(_)));
    let start = builtin.unwrap_or_else(|| defaults::profile(entry.key));
    let strategies = written.unwrap_or_else(|| match &target {
        Target::Embedded(_) => start.strategies.clone(),
        // An endpoint that names no way to serve is one: the reference that others will be held against.
        Target::Endpoint { .. } => vec![Strategy { name: "baseline".to_owned(), ..Strategy::default() }],
    });
    let reference = reference(&table, &strategies)?;
    let whole = |key: &str, least: u32, expected: &str| {
        table.get(key).map(|entry| entry.whole(least, expected)).transpose()
    };
    let text = |key: &str, expected: &str| {
        table.get(key).map(|entry| entry.string(expected).map(str::to_owned)).transpose()
    };
    let profile = Profile {
        server: text("server", "the server's hardware in a word, such as \"h100x8\"")?,
        strategies: reference_first(strategies, reference.as_deref()),
        reference,
        cache: cache(&table, &target)?,
        prompts: prompts(&table, &start.prompts)?,
        target,
        prompt_tokens: table.get("prompt_tokens").map(|e| counts(e)).transpose()?.unwrap_or_default(),
        load: load(&table, &start.load)?,
        requests: whole("requests", 1, WHOLE)?.unwrap_or(defaults::REQUESTS),
        rounds: whole("rounds", 1, WHOLE)?.unwrap_or(defaults::ROUNDS),
        max_tokens: whole("max_tokens", 1, WHOLE)?,
        warmup: whole("warmup", 0, "a whole number from 0")?,
        temperature: temperature(&table)?,
        seed: seed(&table)?,
        stream: table.get("stream").map(|entry| entry.boolean()).transpose()?.unwrap_or(true),
        timeouts: table.get("timeouts").map(|e| timeouts(e, entry.key)).transpose()?.unwrap_or_default(),
        before_block: text("before_block", "a command")?,
        ..start
    };
    let gate = match table.get("gate") {
        Some(gate) => gate::read(&gate.table(format!("[profile.{}.gate]", entry.key))?)?,
        None => Gate::default(),
    };
    Ok(ProfileConfig { profile, embedded_named, gate, origin: entry.place().into() })
}

/// What answers, and whether the embedded engine was asked for by name.
fn target(table: &Table<'_>, strategies: &[Strategy]) -> Result<(Target, bool), ConfigError> {
    const ONE: &str = "a profile measures the embedded engine or an endpoint";
    let embedded = table.get("embedded").map(|entry| entry.boolean()).transpose()?;
    let engine = table.get("engine").map(engine).transpose()?;
    for key in ["base_url", "model", "api"] {
        table.exclusive(key, "engine", ONE)?;
        if embedded == Some(true) {
            table.exclusive(key, "embedded", ONE)?;
        }
    }
    if embedded == Some(false) {
        table.exclusive("embedded", "engine", ONE)?;
    }
    let base_url = table.get("base_url").map(strategy::base_url).transpose()?;
    let model = table.get("model").map(|entry| entry.string("a model id")).transpose()?.map(str::to_owned);
    let elsewhere = strategies.iter().find(|s| s.base_url.is_some() || s.model.is_some());
    let named = engine.is_some() || embedded == Some(true);
    if named || (embedded.is_none() && base_url.is_none() && model.is_none() && elsewhere.is_none()) {
        return match elsewhere {
            Some(_) => Err(table.error(Problem::Conflict {
                key: "the embedded engine".to_owned(),
                other: "a strategy with base_url or model".to_owned(),
                advice: ONE.to_owned(),
            })),
            None => Ok((Target::Embedded(engine.unwrap_or_default()), named)),
        };
    }
    let api = [("chat", Api::Chat), ("completions", Api::Completions)];
    let api = table.get("api").map(|entry| entry.word("api", &api)).transpose()?.unwrap_or(Api::Chat);
    let of_all = || strategies.iter().all(|s| s.model.is_some()).then(|| strategies.first()?.model.clone());
    let Some(model) = model.or_else(|| of_all().flatten()) else {
        return Err(table
            .missing("model", "name the model id that the endpoint serves, such as model = \"my-model\""));
    };
    Ok((Target::Endpoint { base_url, model, api }, false))
}

fn engine(entry: &Entry<'_>) -> Result<Engine, ConfigError> {
    Engine::deserialize(ValueDeserializer::from(entry.value.clone())).map_err(|error| {
        let at = error.span().map_or(entry.at, |span| span.start);
        entry.source.error(at, Problem::Engine(error.message().to_owned()))
    })
}

fn reference(table: &Table<'_>, strategies: &[Strategy]) -> Result<Option<String>, ConfigError> {
    let names = || strategies.iter().map(|strategy| strategy.name.as_str());
    let Some(entry) = table.get("reference") else {
        return Ok(names().find(|name| *name == "baseline").or(names().next()).map(str::to_owned));
    };
    let name = entry.string("the name of a strategy")?;
    if names().any(|known| known == name) {
        return Ok(Some(name.to_owned()));
    }
    Err(entry.value_error(Problem::UnknownName {
        what: "strategy",
        name: name.to_owned(),
        nearest: nearest(name, names()),
        known: names().map(str::to_owned).collect(),
    }))
}

/// The reference strategy first, the others as the file has them.
fn reference_first(mut strategies: Vec<Strategy>, reference: Option<&str>) -> Vec<Strategy> {
    strategies.sort_by_key(|strategy| Some(strategy.name.as_str()) != reference);
    strategies
}

fn prompts(table: &Table<'_>, usual: &Prompts) -> Result<Prompts, ConfigError> {
    table.exclusive("traffic", "prompts", "prompts come from a traffic model or from a file")?;
    if let Some(file) = table.get("prompts") {
        return Ok(Prompts::File(file.string("a file such as \"prompts.jsonl\"")?.to_owned()));
    }
    let Some(traffic) = table.get("traffic") else {
        return Ok(usual.clone());
    };
    let words = defaults::TRAFFICS.map(|name| (name, name));
    let names = distinct(traffic, |item| item.word("traffic model", &words))?;
    Ok(Prompts::Traffic(names.into_iter().map(str::to_owned).collect()))
}

/// The items of a list, each once.
fn distinct<'a, T: PartialEq>(
    entry: &Entry<'a>,
    read: impl Fn(&Entry<'a>) -> Result<T, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    let mut values = Vec::new();
    for item in entry.items()? {
        let value = read(&item)?;
        if values.contains(&value) {
            let (key, name) = (item.key.to_owned(), item.written().trim_matches('"').to_owned());
            return Err(item.value_error(Problem::Twice { key, name }));
        }
        values.push(value);
    }
    Ok(values)
}

fn counts(entry: &Entry<'_>) -> Result<Vec<u32>, ConfigError> {
    distinct(entry, |item| item.whole(1, WHOLE))
}

fn load(table: &Table<'_>, usual: &Load) -> Result<Load, ConfigError> {
    table.exclusive("concurrency", "rate", "a closed loop has a concurrency, an open loop a rate")?;
    let arrivals = [("poisson", Arrival::Poisson), ("constant", Arrival::Constant)];
    let arrival = table.get("arrival").map(|entry| entry.word("arrival", &arrivals)).transpose()?;
    if let Some(rates) = table.get("rate") {
        let rates = distinct(rates, |item| {
            let expected = "requests per second above 0";
            item.finite(expected)
                .and_then(|r| if r > Finite::ZERO { Ok(r) } else { Err(item.wrong(expected)) })
        })?;
        return Ok(Load::Rate { rates, arrival: arrival.unwrap_or(Arrival::Poisson) });
    }
    if let Some(entry) = table.get("arrival") {
        return Err(entry.key_error(Problem::Conflict {
            key: "arrival".to_owned(),
            other: "concurrency".to_owned(),
            advice: "it spaces requests that are sent at a rate; add rate = [2.0], or remove it".to_owned(),
        }));
    }
    let levels = table.get("concurrency").map(counts).transpose()?;
    Ok(levels.map_or_else(|| usual.clone(), Load::Concurrency))
}

fn temperature(table: &Table<'_>) -> Result<Finite, ConfigError> {
    let expected = "a number from 0";
    let Some(entry) = table.get("temperature") else { return Ok(Finite::ZERO) };
    let value = entry.finite(expected)?;
    if value >= Finite::ZERO { Ok(value) } else { Err(entry.wrong(expected)) }
}

fn seed(table: &Table<'_>) -> Result<u64, ConfigError> {
    let seed = table.get("seed").map(|entry| entry.whole(0, "a whole number from 0")).transpose()?;
    Ok(seed.unwrap_or(defaults::SEED))
}

/// On a real endpoint a warm prefix cache could fake a win; the embedded engine has one only where a strategy says so.
fn cache(table: &Table<'_>, target: &Target) -> Result<CacheMode, ConfigError> {
    let modes = [("unique", CacheMode::Unique), ("shared-prefix", CacheMode::SharedPrefix)];
    let default = match target {
        Target::Embedded(_) => CacheMode::SharedPrefix,
        Target::Endpoint { .. } => CacheMode::Unique,
    };
    Ok(table.get("cache").map(|entry| entry.word("cache mode", &modes)).transpose()?.unwrap_or(default))
}

fn timeouts(entry: &Entry<'_>, profile: &str) -> Result<Timeouts, ConfigError> {
    let table = entry.table(format!("[profile.{profile}.timeouts]"))?.known("profile.NAME.timeouts")?;
    let usual = Timeouts::default();
    let limit = |key: &str, usual: u32| table.get(key).map_or(Ok(usual), amount::whole_millis);
    Ok(Timeouts {
        connect_ms: limit("connect", usual.connect_ms)?,
        first_token_ms: limit("first_token", usual.first_token_ms)?,
        gap_ms: limit("gap", usual.gap_ms)?,
        total_ms: limit("total", usual.total_ms)?,
    })
}

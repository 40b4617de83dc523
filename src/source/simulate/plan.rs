//! From the profile to the groups that are run, in their order.

use std::collections::BTreeMap;

use crate::model::engine::{Engine, StrategySpeeds};
use crate::model::profile::{Arrival, Load, Profile, Prompts};
use crate::model::report::Workload as Facts;
use crate::model::{Dimensions, Fact, Finite, GroupId};

use super::SimulateError;
use super::events::Arrivals;
use super::random::StreamKey;
use super::traffic::{self, Traffic, Workload};

/// One group of the profile.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its name.
    pub id: GroupId,
    /// What it is made of.
    pub dimensions: Dimensions,
    /// What the strategy changes on the engine.
    pub strategy: StrategySpeeds,
    /// When its requests are sent.
    pub arrivals: Arrivals,
    traffic: Traffic,
}

impl Planned {
    /// What is asked in a round with this seed: the same for every strategy.
    pub fn workload(&self, profile: &Profile, engine: &Engine, seed: u64) -> Workload {
        let name = Dimensions { strategy: None, ..self.dimensions.clone() }.id();
        Workload {
            traffic: self.traffic,
            prompt_tokens: self.dimensions.prompt_tokens,
            max_tokens: profile.max_tokens,
            cache: profile.cache,
            early_stop: engine.early_stop,
            key: StreamKey::new(seed, name.as_str()),
        }
    }

    /// The facts in which a comparable report has to agree.
    pub fn facts(&self, profile: &Profile) -> Facts {
        let (low, high) = self.traffic.output_tokens();
        let most = profile.max_tokens.map_or(high, |limit| limit.min(high));
        let tier = self.dimensions.prompt_tokens;
        let mut facts = BTreeMap::from([
            (Fact::Traffic, self.traffic.to_string()),
            (Fact::Prompts, traffic::VERSION.to_owned()),
            (Fact::PromptTokens, tier.map_or_else(|| "mixed".to_owned(), |tokens| tokens.to_string())),
            (Fact::OutputLimit, format!("{}-{most}", low.min(most))),
            (Fact::CacheMode, profile.cache.name().to_owned()),
            (Fact::Requests, profile.requests.to_string()),
        ]);
        let (fact, value) = match self.arrivals {
            Arrivals::Closed { concurrency } => (Fact::Concurrency, concurrency.to_string()),
            Arrivals::Poisson { .. } => (Fact::Rate, self.rate("poisson")),
            Arrivals::Constant { .. } => (Fact::Rate, self.rate("constant")),
        };
        facts.insert(fact, value);
        facts
    }

    fn rate(&self, arrival: &str) -> String {
        self.dimensions.rate.map_or_else(String::new, |rate| format!("{rate} req/s {arrival}"))
    }
}

/// All groups of the profile: traffic, then load, then prompt tier, then strategy, each as the profile orders them.
///
/// # Errors
/// What the profile asks for and the embedded engine can't do.
pub fn groups(profile: &Profile, engine: &Engine) -> Result<Vec<Planned>, SimulateError> {
    let names = match &profile.prompts {
        Prompts::Traffic(names) => names,
        Prompts::File(file) => return Err(SimulateError::PromptFile(file.clone())),
    };
    let mut groups = Vec::new();
    for name in names {
        let traffic: Traffic = name.parse()?;
        for (load, arrivals) in loads(&profile.load)? {
            for prompt_tokens in or_none(profile.prompt_tokens.iter().copied()) {
                for strategy in or_none(profile.strategies.iter().map(|strategy| strategy.name.clone())) {
                    let speeds =
                        strategy.as_deref().map_or_else(StrategySpeeds::default, |s| engine.strategy(s));
                    let traffic_name = Some(name.clone());
                    let dimensions =
                        Dimensions { strategy, traffic: traffic_name, prompt_tokens, ..load.clone() };
                    let id = dimensions.id();
                    groups.push(Planned { id, dimensions, strategy: speeds, arrivals, traffic });
                }
            }
        }
    }
    if groups.is_empty() || profile.requests == 0 || profile.rounds == 0 {
        return Err(SimulateError::NothingToMeasure);
    }
    Ok(groups)
}

/// A dimension that is left out counts as one group without it.
fn or_none<T>(values: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let values: Vec<Option<T>> = values.map(Some).collect();
    if values.is_empty() { vec![None] } else { values }
}

fn loads(load: &Load) -> Result<Vec<(Dimensions, Arrivals)>, SimulateError> {
    match load {
        Load::Concurrency(levels) => levels.iter().map(|&concurrency| closed(concurrency)).collect(),
        Load::Rate { rates, arrival } => rates.iter().map(|&rate| open(rate, *arrival)).collect(),
    }
}

fn closed(concurrency: u32) -> Result<(Dimensions, Arrivals), SimulateError> {
    if concurrency == 0 {
        return Err(SimulateError::NoConcurrency);
    }
    let dimensions = Dimensions { concurrency: Some(concurrency), ..Dimensions::default() };
    Ok((dimensions, Arrivals::Closed { concurrency }))
}

fn open(rate: Finite, arrival: Arrival) -> Result<(Dimensions, Arrivals), SimulateError> {
    if !(0.001..=1e6).contains(&rate.get()) {
        return Err(SimulateError::Rate(rate));
    }
    let gap_us = 1e6 / rate.get();
    let arrivals = match arrival {
        Arrival::Poisson => Arrivals::Poisson { gap_us },
        Arrival::Constant => Arrivals::Constant { gap_us },
    };
    Ok((Dimensions { rate: Some(rate), ..Dimensions::default() }, arrivals))
}

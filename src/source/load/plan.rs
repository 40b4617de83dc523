//! From the profile to the groups that are measured, and the order in which rounds pass over them.

use std::collections::BTreeMap;

use crate::model::profile::{Arrival, Load, Profile, Prompts};
use crate::model::report::Workload as Facts;
use crate::model::{Dimensions, Fact, Finite, GroupId};
use crate::source::simulate::random::{Purpose, StreamKey, Substream};
use crate::source::simulate::traffic::Traffic;

use super::measure::LoadError;
use super::prompts::{self, PromptSet};

/// What a group asks.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ask {
    /// Built-in traffic.
    Traffic(Traffic),
    /// Prompts of a file, and the file's hash.
    Set(PromptSet, String),
}

/// One group of the profile.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub id: GroupId,
    pub dimensions: Dimensions,
    /// Index into the profile's strategies.
    pub strategy: usize,
    pub ask: Ask,
    pub arrival: Option<Arrival>,
}

/// Output tokens where neither the profile nor a prompt says.
const MAX_TOKENS: u32 = 256;

impl Planned {
    /// The group's name without its strategy: what is asked is the same for all strategies.
    pub fn workload_name(&self) -> GroupId {
        Dimensions { strategy: None, ..self.dimensions.clone() }.id()
    }

    /// The limit of a prompt from a file.
    pub fn max_tokens(profile: &Profile) -> u32 {
        profile.max_tokens.unwrap_or(MAX_TOKENS)
    }

    /// The facts in which a comparable report has to agree.
    pub fn facts(&self, profile: &Profile, sampling: &str) -> Facts {
        let tier = self.dimensions.prompt_tokens;
        let (traffic, prompts, length, limit) = match &self.ask {
            Ask::Traffic(traffic) => {
                let (low, high) = traffic.output_tokens();
                let most = profile.max_tokens.map_or(high, |limit| limit.min(high));
                let length = tier.map_or_else(|| "mixed".to_owned(), |tokens| tokens.to_string());
                (
                    traffic.to_string(),
                    prompts::VERSION.to_owned(),
                    length,
                    format!("{}-{most}", low.min(most)),
                )
            }
            Ask::Set(set, hash) => (
                set.name.clone(),
                hash.clone(),
                "as in the file".to_owned(),
                Self::max_tokens(profile).to_string(),
            ),
        };
        let mut facts = BTreeMap::from([
            (Fact::Traffic, traffic),
            (Fact::Prompts, prompts),
            (Fact::PromptTokens, length),
            (Fact::OutputLimit, limit),
            (Fact::Sampling, sampling.to_owned()),
            (Fact::CacheMode, profile.cache.name().to_owned()),
            (Fact::Requests, profile.requests.to_string()),
        ]);
        if let Some(concurrency) = self.dimensions.concurrency {
            facts.insert(Fact::Concurrency, concurrency.to_string());
        }
        if let (Some(rate), Some(arrival)) = (self.dimensions.rate, self.arrival) {
            let spacing = match arrival {
                Arrival::Constant => "constant",
                Arrival::Poisson => "poisson",
            };
            facts.insert(Fact::Rate, format!("{rate} req/s {spacing}"));
        }
        facts
    }
}

/// All groups: prompts, then load, then tier, then strategy, each as the profile orders them.
pub(super) fn groups(profile: &Profile, asks: Vec<(String, Ask)>) -> Result<Vec<Planned>, LoadError> {
    let mut groups = Vec::new();
    let tiers: Vec<Option<u32>> = match profile.prompt_tokens.as_slice() {
        [] => vec![None],
        tiers => tiers.iter().copied().map(Some).collect(),
    };
    for (name, ask) in &asks {
        for (load, arrival) in loads(&profile.load)? {
            for prompt_tokens in &tiers {
                for (index, strategy) in profile.strategies.iter().enumerate() {
                    let dimensions = Dimensions {
                        strategy: Some(strategy.name.clone()),
                        traffic: Some(name.clone()),
                        prompt_tokens: *prompt_tokens,
                        ..load.clone()
                    };
                    let id = dimensions.id();
                    groups.push(Planned { id, dimensions, strategy: index, ask: ask.clone(), arrival });
                }
            }
        }
    }
    if groups.is_empty() || profile.requests == 0 || profile.rounds == 0 {
        return Err(LoadError::NothingToMeasure);
    }
    if matches!(profile.prompts, Prompts::File(_)) && !profile.prompt_tokens.is_empty() {
        return Err(LoadError::TiersWithFile);
    }
    Ok(groups)
}

fn loads(load: &Load) -> Result<Vec<(Dimensions, Option<Arrival>)>, LoadError> {
    let closed = |&concurrency: &u32| match concurrency {
        0 => Err(LoadError::NoConcurrency),
        _ => Ok((Dimensions { concurrency: Some(concurrency), ..Dimensions::default() }, None)),
    };
    let open = |rate: Finite, arrival: Arrival| match rate.get() {
        0.001..=1e6 => Ok((Dimensions { rate: Some(rate), ..Dimensions::default() }, Some(arrival))),
        _ => Err(LoadError::Rate(rate)),
    };
    match load {
        Load::Concurrency(levels) => levels.iter().map(closed).collect(),
        Load::Rate { rates, arrival } => rates.iter().map(|&rate| open(rate, *arrival)).collect(),
    }
}

/// One block: a group against one of the two endpoints of a duet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Index into the groups.
    pub group: usize,
    /// The endpoint that `--against` names, and not the group's own.
    pub against: bool,
}

/// The order of a round. Strategies of one workload follow each other, in an order that the seed draws anew each round,
/// so that drift hits all alike; so do the two endpoints of a duet. Where servers can't run side by side
/// (`before_block`), everything of one server stays together.
pub(super) fn order(groups: &[Planned], profile: &Profile, duet: bool, round: u32) -> Vec<Step> {
    let key = StreamKey::new(profile.seed, "order");
    let mut draw = key.substream(round.into(), Purpose::Workload);
    let strategies: Vec<usize> = (0..profile.strategies.len()).collect();
    let cells: Vec<Vec<usize>> = if profile.before_block.is_some() {
        vec![(0..groups.len()).collect()]
    } else {
        (0..groups.len())
            .step_by(strategies.len().max(1))
            .map(|at| (at..at + strategies.len()).collect())
            .collect()
    };
    let mut steps = Vec::new();
    for cell in cells {
        for strategy in shuffled(&strategies, &mut draw) {
            let sides: &[bool] = if duet { &[false, true] } else { &[false] };
            for against in shuffled(sides, &mut draw) {
                let of_strategy = cell.iter().filter(|group| groups[**group].strategy == strategy);
                steps.extend(of_strategy.map(|&group| Step { group, against }));
            }
        }
    }
    steps
}

/// Fisher and Yates.
fn shuffled<T: Clone>(all: &[T], draw: &mut Substream) -> Vec<T> {
    let mut all = all.to_vec();
    for last in (1..all.len()).rev() {
        let other = draw.whole(0, last as u32) as usize;
        all.swap(last, other);
    }
    all
}

//! The state behind all connections, and the plan of an answer.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::source::simulate::engine::{Speeds, Stages};
use crate::source::simulate::random::{Purpose, StreamKey};
use crate::source::simulate::traffic;

use super::ask::Ask;
use super::clock::Clock;
use super::fault::Faults;
use super::frames::Interface;
use super::metrics::Counters;
use super::plan::Plan;
use super::record::Log;
use super::settings::{Latency, ServerError, Settings};
use super::tokens::{PrefixCache, identity};

/// Everything that connections share.
pub struct Engine {
    pub settings: Settings,
    pub clock: Clock,
    pub faults: Faults,
    pub log: Log,
    pub models: Vec<Model>,
    /// Unix time of the start, for `created`.
    pub created: u64,
    cache: PrefixCache,
    key: StreamKey,
    arrived: AtomicU64,
    in_flight: AtomicU32,
}

/// One model that is served.
pub struct Model {
    pub name: String,
    pub counters: Counters,
    speeds: Speeds,
    pub has_cache: bool,
}

/// A place among the requests in flight, given back when dropped.
pub struct Slot<'a> {
    engine: &'a Engine,
    model: usize,
    /// Requests in flight when it was taken, itself included.
    pub in_flight: u32,
}

impl Engine {
    pub fn new(settings: Settings, epoch: Instant) -> Result<Self, ServerError> {
        let model = |name: &String| {
            let strategy = settings.engine.strategy(name);
            let speeds = Speeds::new(&settings.engine, &strategy);
            let has_cache = settings.prefix_cache || strategy.prefix_cache;
            Model { name: name.clone(), counters: Counters::default(), speeds, has_cache }
        };
        let models = settings.models.iter().map(model).collect();
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(Self {
            clock: Clock::start(epoch).map_err(ServerError::Threads)?,
            faults: Faults::new(&settings.fault_rules()?, settings.seed),
            log: Log::new(settings.records),
            models,
            created,
            cache: PrefixCache::default(),
            key: StreamKey::new(settings.seed, "mock"),
            arrived: AtomicU64::new(0),
            in_flight: AtomicU32::new(0),
            settings,
        })
    }

    /// The number of the completion request that has just come.
    pub fn next_index(&self) -> u64 {
        self.arrived.fetch_add(1, Relaxed)
    }

    /// A place in flight, if there is one.
    pub fn slot(&self, model: usize) -> Option<Slot<'_>> {
        let in_flight = self.in_flight.load(Relaxed) + 1;
        if self.settings.max_in_flight.is_some_and(|most| in_flight > most) {
            return None;
        }
        // All connections run on one thread, so nobody came between the reading and this.
        self.in_flight.store(in_flight, Relaxed);
        self.models[model].counters.running.fetch_add(1, Relaxed);
        Some(Slot { engine: self, model, in_flight })
    }

    /// Looks the prompt up in the prefix cache; `None` where the model has none.
    pub fn cached(&self, ask: &Ask) -> Option<u32> {
        let model = &self.models[ask.model];
        model.has_cache.then(|| {
            let hits = u32::try_from(self.cache.hit(ask.model, &ask.prompt)).unwrap_or(u32::MAX);
            model.counters.cache_queries.fetch_add(ask.prompt.len() as u64, Relaxed);
            model.counters.cache_hits.fetch_add(u64::from(hits), Relaxed);
            hits
        })
    }

    /// What the answer will be. The same prompt and seed are answered with the same text, in whatever order they come.
    pub fn plan(&self, ask: &Ask, index: u64, cached: u32, in_flight: u32) -> Plan {
        let identity = identity(&ask.prompt) ^ ask.seed;
        let tokens = self.output_tokens(ask, identity);
        let share = |share: f64| match ask.interface {
            Interface::Chat => (f64::from(tokens) * share).round() as u32,
            Interface::Text => 0,
        };
        Plan {
            tokens,
            stops_early: tokens < ask.limit,
            per_event: self.settings.tokens_per_event,
            reasoning: share(self.settings.reasoning_share.get()),
            tool_call: share(self.settings.tool_call_share.get()),
            first_word: (identity % 1024) as usize,
            stages: self.stages(ask, index, cached, in_flight),
        }
    }

    fn output_tokens(&self, ask: &Ask, identity: u64) -> u32 {
        let mut draw = self.key.substream(identity, Purpose::Workload);
        let stops_early = draw.unit() < self.settings.engine.early_stop.get() && !ask.ignore_eos;
        let share = draw.unit();
        let tokens = if stops_early { traffic::stopped(ask.limit, share) } else { ask.limit };
        tokens.max(ask.least.min(ask.limit))
    }

    fn stages(&self, ask: &Ask, index: u64, cached: u32, in_flight: u32) -> Stages {
        let us = |duration: std::time::Duration| duration.as_secs_f64() * 1e6;
        let (first_us, gap_us) = match self.settings.latency {
            Latency::None => (0.0, 0.0),
            Latency::Fixed { first_token, gap } => (us(first_token), us(gap)),
            Latency::Engine => {
                let speeds = &self.models[ask.model].speeds;
                let deviation = speeds.deviation(&mut self.key.substream(index, Purpose::Speed));
                let prompt = u32::try_from(ask.prompt.len()).unwrap_or(u32::MAX);
                return speeds.stages(deviation, prompt.saturating_sub(cached), in_flight);
            }
        };
        Stages {
            preprocess_us: first_us.round() as u64,
            encode_us: 0,
            decode_us_per_token: gap_us,
            penalty: 1.0,
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.engine.in_flight.fetch_sub(1, Relaxed);
        self.engine.models[self.model].counters.running.fetch_sub(1, Relaxed);
    }
}

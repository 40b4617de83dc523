//! What one request costs, from the engine's speeds.
//!
//! A request costs `preprocess + encode × prompt tokens + decode × output tokens`, all of it multiplied by the
//! congestion penalty `1 + (in flight − 1) × congestion` at the moment it is sent. A strategy's factor divides encode
//! and decode only. The encode stage ends in the first token and every decode step takes as long as the others; the
//! step after the last token finds the end of the answer, and then the request is no longer in flight.

use std::collections::BTreeMap;

use crate::model::engine::{Engine, StrategySpeeds};

use super::random::Substream;
use super::traffic::Prefix;

/// The speeds of one strategy, in microseconds and with its factor applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speeds {
    preprocess_us: f64,
    encode_us_per_token: f64,
    decode_us_per_token: f64,
    congestion: f64,
    noise: f64,
}

/// One request's own deviation from the nominal speed of each stage; 1.0 is none.
///
/// It depends on the request alone, so that every strategy meets the same luck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    preprocess: f64,
    encode: f64,
    decode: f64,
}

/// How long each stage of one request takes, congestion included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stages {
    /// Before the prompt is encoded, in microseconds.
    pub preprocess_us: u64,
    /// Encoding the prompt up to the first token, in microseconds.
    pub encode_us: u64,
    /// One decode step, that is, the gap between two tokens, in microseconds.
    pub decode_us_per_token: f64,
    /// The congestion penalty that the times above contain.
    pub penalty: f64,
}

impl Speeds {
    /// The speeds of a strategy on this engine.
    pub fn new(engine: &Engine, strategy: &StrategySpeeds) -> Self {
        const US_PER_MS: f64 = 1000.0;
        let factor = strategy.factor.get();
        Self {
            preprocess_us: engine.preprocess_ms.get() * US_PER_MS * strategy.preprocess_times.get(),
            encode_us_per_token: engine.prompt_encode_ms.get()
                * US_PER_MS
                * strategy.prompt_encode_times.get()
                / factor,
            decode_us_per_token: engine.decode_ms.get() * US_PER_MS * strategy.decode_times.get() / factor,
            congestion: engine.congestion.get(),
            noise: engine.noise.get(),
        }
    }

    /// Draws the deviation of one request.
    pub fn deviation(&self, draw: &mut Substream) -> Deviation {
        let mut stage = || libm::exp(self.noise * draw.normal());
        Deviation { preprocess: stage(), encode: stage(), decode: stage() }
    }

    /// What a request costs that encodes so many tokens while so many requests, itself included, are in flight.
    pub fn stages(&self, deviation: Deviation, encoded_tokens: u32, in_flight: u32) -> Stages {
        let penalty = 1.0 + (f64::from(in_flight) - 1.0) * self.congestion;
        let encode = self.encode_us_per_token * f64::from(encoded_tokens);
        Stages {
            preprocess_us: whole_us(self.preprocess_us * deviation.preprocess * penalty),
            encode_us: whole_us(encode * deviation.encode * penalty),
            decode_us_per_token: self.decode_us_per_token * deviation.decode * penalty,
            penalty,
        }
    }
}

impl Stages {
    /// From sending the request to its first token.
    pub fn first_token_us(&self) -> u64 {
        self.preprocess_us + self.encode_us
    }

    /// So many decode steps.
    pub fn decode_us(&self, steps: u32) -> u64 {
        whole_us(self.decode_us_per_token * f64::from(steps))
    }
}

/// More than any run lasts (36,500 years), and so small that ten of them can be added up.
const MOST_US: f64 = 1.152_921_504_606_847e18;

/// Rounds to whole microseconds, between nothing and [`MOST_US`].
pub(super) fn whole_us(us: f64) -> u64 {
    us.round().min(MOST_US) as u64
}

/// What of the shared prefixes has been encoded so far in this group.
#[derive(Clone, Debug, Default)]
pub struct PrefixCache {
    longest: BTreeMap<u32, u32>,
}

impl PrefixCache {
    /// How many of the prefix's tokens are there already; afterwards all of them are.
    pub fn hit(&mut self, prefix: Prefix) -> u32 {
        let longest = self.longest.entry(prefix.id).or_default();
        let hit = prefix.tokens.min(*longest);
        *longest = prefix.tokens.max(*longest);
        hit
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::Finite;

    pub fn finite(value: f64) -> Finite {
        Finite::new(value).unwrap()
    }

    /// An engine with round numbers and nothing left to chance.
    pub fn plain() -> Engine {
        Engine {
            preprocess_ms: finite(6.0),
            prompt_encode_ms: finite(0.13),
            decode_ms: finite(14.0),
            congestion: finite(0.15),
            noise: Finite::ZERO,
            early_stop: Finite::ZERO,
            failures: BTreeMap::new(),
            strategies: BTreeMap::new(),
        }
    }

    pub fn faster(factor: f64) -> StrategySpeeds {
        StrategySpeeds { factor: finite(factor), ..StrategySpeeds::default() }
    }

    const NONE: Deviation = Deviation { preprocess: 1.0, encode: 1.0, decode: 1.0 };

    #[test]
    fn the_factor_divides_encode_and_decode_but_not_preprocess() {
        let reference = Speeds::new(&plain(), &faster(1.0)).stages(NONE, 1000, 1);
        assert_eq!((reference.preprocess_us, reference.encode_us), (6_000, 130_000));
        assert_eq!(reference.decode_us(100), 1_400_000);
        let int8 = Speeds::new(&plain(), &faster(1.5)).stages(NONE, 1000, 1);
        // 130,000 / 1.5 and 1,400,000 / 1.5, to the microsecond.
        assert_eq!((int8.preprocess_us, int8.encode_us, int8.decode_us(100)), (6_000, 86_667, 933_333));
    }

    #[test]
    fn every_further_request_in_flight_adds_fifteen_percent() {
        let at = |in_flight| Speeds::new(&plain(), &faster(1.0)).stages(NONE, 1000, in_flight);
        for (in_flight, penalty) in [(1, 1.0), (8, 2.05), (32, 5.65)] {
            assert!((at(in_flight).penalty - penalty).abs() < 1e-12, "{in_flight} in flight");
        }
        // 6 × 2.05 and 130 × 2.05; 6 × 5.65 and 130 × 5.65.
        assert_eq!(
            (at(8).preprocess_us, at(8).encode_us, at(8).decode_us(100)),
            (12_300, 266_500, 2_870_000)
        );
        assert_eq!(
            (at(32).preprocess_us, at(32).encode_us, at(32).decode_us(100)),
            (33_900, 734_500, 7_910_000)
        );
    }

    #[test]
    fn each_stage_of_one_strategy_can_be_slowed_alone() {
        let before = Speeds::new(&plain(), &faster(1.5)).stages(NONE, 1000, 1);
        let slowed = |change: fn(&mut StrategySpeeds)| {
            let mut strategy = faster(1.5);
            change(&mut strategy);
            Speeds::new(&plain(), &strategy).stages(NONE, 1000, 1)
        };
        let preprocess = slowed(|s| s.preprocess_times = Finite::from(2));
        assert_eq!(preprocess, Stages { preprocess_us: 12_000, ..before });
        let encode = slowed(|s| s.prompt_encode_times = Finite::from(2));
        assert_eq!(encode, Stages { encode_us: 173_333, ..before });
        let decode = slowed(|s| s.decode_times = Finite::from(2));
        assert_eq!(decode.decode_us(3), 56_000);
        assert_eq!(decode, Stages { decode_us_per_token: decode.decode_us_per_token, ..before });
    }

    #[test]
    fn a_prefix_hits_only_what_an_earlier_prompt_encoded() {
        let mut cache = PrefixCache::default();
        assert_eq!(cache.hit(Prefix { id: 1, tokens: 100 }), 0);
        assert_eq!(cache.hit(Prefix { id: 2, tokens: 100 }), 0);
        assert_eq!(cache.hit(Prefix { id: 1, tokens: 300 }), 100);
        assert_eq!(cache.hit(Prefix { id: 1, tokens: 200 }), 200);
    }
}

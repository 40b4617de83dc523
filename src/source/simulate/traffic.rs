//! What the requests ask for: prompt length, shared prefix, output limit, early stop.
//!
//! The weights and output ranges are those of the strategy-comparison script that this engine replaces.

use std::fmt;
use std::str::FromStr;

use crate::model::Finite;
use crate::model::profile::CacheMode;

use super::random::{Purpose, StreamKey};

/// Stands for everything in this file that decides what is asked; to be raised when any of it changes.
pub const VERSION: &str = "embedded-1";

/// A kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Conversation: mostly short prompts, 50 to 500 output tokens.
    Chat,
    /// Retrieval: long prompts that share documents, 100 to 800 output tokens.
    Rag,
    /// Programming: mixed prompts, 200 to 2000 output tokens.
    Code,
}

/// The length class of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptLength {
    /// 16 to 256 tokens.
    Short,
    /// 257 to 1024 tokens.
    Medium,
    /// 1025 to 4096 tokens.
    Long,
}

impl PromptLength {
    /// The fewest and the most tokens of a prompt of this class.
    pub const fn tokens(self) -> (u32, u32) {
        match self {
            Self::Short => (16, 256),
            Self::Medium => (257, 1024),
            Self::Long => (1025, 4096),
        }
    }
}

/// The share of requests, in percent, and what they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SharedPrefix {
    /// How many different prefixes circulate.
    count: u32,
    /// Percent of requests whose prompt begins with one of them.
    percent_of_requests: u32,
    /// Percent of such a prompt that the prefix makes up.
    percent_of_prompt: u32,
}

/// The names of all kinds of traffic.
const NAMES: [(Traffic, &str); 3] = [(Traffic::Chat, "chat"), (Traffic::Rag, "rag"), (Traffic::Code, "code")];

/// The text names no traffic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the embedded engine has no traffic \"{0}\"; expected chat, rag or code")]
pub struct UnknownTraffic(String);

impl FromStr for Traffic {
    type Err = UnknownTraffic;
    fn from_str(text: &str) -> Result<Self, UnknownTraffic> {
        let known = NAMES.iter().find(|(_, name)| *name == text);
        known.map(|(traffic, _)| *traffic).ok_or_else(|| UnknownTraffic(text.to_owned()))
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(traffic, _)| traffic == self).map_or("", |(_, name)| name))
    }
}

impl Traffic {
    /// Percent of short, medium and long prompts.
    pub const fn prompt_weights(self) -> [u32; 3] {
        match self {
            Self::Chat => [70, 20, 10],
            Self::Rag => [20, 40, 40],
            Self::Code => [30, 40, 30],
        }
    }

    /// The fewest and the most output tokens that a request is limited to.
    pub const fn output_tokens(self) -> (u32, u32) {
        match self {
            Self::Chat => (50, 500),
            Self::Rag => (100, 800),
            Self::Code => (200, 2000),
        }
    }

    const fn shared_prefix(self) -> SharedPrefix {
        match self {
            // A handful of system prompts, small beside the conversation.
            Self::Chat => SharedPrefix { count: 4, percent_of_requests: 50, percent_of_prompt: 20 },
            // A few popular documents, followed by a question.
            Self::Rag => SharedPrefix { count: 12, percent_of_requests: 85, percent_of_prompt: 80 },
            // Some files of the same repository.
            Self::Code => SharedPrefix { count: 16, percent_of_requests: 60, percent_of_prompt: 40 },
        }
    }
}

/// What shapes the requests of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The kind of traffic.
    pub traffic: Traffic,
    /// Exact prompt length, in place of the traffic's own mix.
    pub prompt_tokens: Option<u32>,
    /// Upper bound on the output limit, on top of the traffic's own range.
    pub max_tokens: Option<u32>,
    /// Whether prompts share prefixes at all.
    pub cache: CacheMode,
    /// Share of answers that end before their limit, anywhere from a tenth of it up.
    pub early_stop: Finite,
    /// Where its random draws come from.
    pub key: StreamKey,
}

/// A prefix that a prompt shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Which one of the traffic's prefixes.
    pub id: u32,
    /// How many of the prompt's tokens it makes up.
    pub tokens: u32,
}

/// One request as its sender made it, before any engine saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Length class drawn for the prompt.
    pub length: PromptLength,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// The prefix it shares with other requests, if any.
    pub prefix: Option<Prefix>,
    /// Most output tokens it may use.
    pub output_limit: u32,
    /// Output tokens it does use.
    pub output_tokens: u32,
}

impl Workload {
    /// Draws the request with this index. The same index always gives the same request.
    pub fn request(&self, index: u64) -> Request {
        let mut draw = self.key.substream(index, Purpose::Workload);
        let [short, medium, _] = self.traffic.prompt_weights();
        let length = match draw.whole(1, 100) {
            percent if percent <= short => PromptLength::Short,
            percent if percent <= short + medium => PromptLength::Medium,
            _ => PromptLength::Long,
        };
        let (fewest, most) = length.tokens();
        let drawn_tokens = draw.whole(fewest, most);
        let (low, high) = self.traffic.output_tokens();
        let drawn_limit = draw.whole(low, high);
        let stops_early = draw.unit() < self.early_stop.get();
        let stop_share = draw.unit();
        let shared = self.traffic.shared_prefix();
        let drawn_to_share = draw.whole(1, 100) <= shared.percent_of_requests;
        let id = draw.whole(0, shared.count - 1);

        let prompt_tokens = self.prompt_tokens.unwrap_or(drawn_tokens);
        let output_limit = self.max_tokens.map_or(drawn_limit, |most| drawn_limit.min(most)).max(1);
        let prefix_tokens = (u64::from(prompt_tokens) * u64::from(shared.percent_of_prompt) / 100) as u32;
        let shares_prefix = drawn_to_share && self.cache == CacheMode::SharedPrefix;
        Request {
            length,
            prompt_tokens,
            prefix: shares_prefix.then_some(Prefix { id, tokens: prefix_tokens }),
            output_limit,
            output_tokens: if stops_early { stopped(output_limit, stop_share) } else { output_limit },
        }
    }
}

/// Tokens of an answer that ends at a share (0 to 1) of the way from a tenth of its limit to the limit.
pub fn stopped(limit: u32, share: f64) -> u32 {
    let fewest = limit.div_ceil(10);
    fewest + (f64::from(limit - fewest) * share) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 100_000;
    const ALL: [Traffic; 3] = [Traffic::Chat, Traffic::Rag, Traffic::Code];

    fn workload(traffic: Traffic) -> Workload {
        Workload {
            traffic,
            prompt_tokens: None,
            max_tokens: None,
            cache: CacheMode::SharedPrefix,
            early_stop: Finite::new(0.2).unwrap(),
            key: StreamKey::new(20_260_101, "distribution"),
        }
    }

    fn chi_square(observed: &[u32], expected: &[f64]) -> f64 {
        observed.iter().zip(expected).map(|(o, e)| (f64::from(*o) - e).powi(2) / e).sum()
    }

    #[test]
    fn prompt_lengths_follow_the_weights() {
        // Upper 0.001 critical value for 2 degrees of freedom, NIST/SEMATECH e-Handbook, table 1.3.6.7.4.
        const CRITICAL: f64 = 13.816;
        let weights = [[0.70, 0.20, 0.10], [0.20, 0.40, 0.40], [0.30, 0.40, 0.30]];
        for (traffic, weights) in ALL.into_iter().zip(weights) {
            let (workload, mut observed) = (workload(traffic), [0_u32; 3]);
            for index in 0..DRAWS {
                observed[workload.request(index.into()).length as usize] += 1;
            }
            let chi = chi_square(&observed, &weights.map(|w| w * f64::from(DRAWS)));
            assert!(chi < CRITICAL, "{traffic:?}: {observed:?} has chi-square {chi}");
        }
    }

    #[test]
    fn output_limits_are_uniform_over_exactly_their_range() {
        // Upper 0.001 critical value for 9 degrees of freedom, NIST/SEMATECH e-Handbook, table 1.3.6.7.4.
        const CRITICAL: f64 = 27.877;
        const CELLS: u32 = 10;
        for (traffic, (low, high)) in ALL.into_iter().zip([(50, 500), (100, 800), (200, 2000)]) {
            let values = high - low + 1;
            let cell = |value: u32| ((value - low) * CELLS / values) as usize;
            let mut expected = [0.0; CELLS as usize];
            for value in low..=high {
                expected[cell(value)] += f64::from(DRAWS) / f64::from(values);
            }
            let mut observed = [0_u32; CELLS as usize];
            let (workload, mut least, mut most) = (workload(traffic), u32::MAX, 0);
            for index in 0..DRAWS {
                let limit = workload.request(index.into()).output_limit;
                (least, most) = (least.min(limit), most.max(limit));
                observed[cell(limit)] += 1;
            }
            let chi = chi_square(&observed, &expected);
            assert_eq!((least, most), (low, high), "{traffic:?}");
            assert!(chi < CRITICAL, "{traffic:?}: {observed:?} has chi-square {chi}");
        }
    }

    #[test]
    fn prompt_tokens_stay_in_their_class_and_a_tier_replaces_them() {
        for index in 0..1000 {
            let request = workload(Traffic::Code).request(index);
            let (fewest, most) = request.length.tokens();
            assert!((fewest..=most).contains(&request.prompt_tokens), "{request:?}");
            let tiered = Workload { prompt_tokens: Some(64), ..workload(Traffic::Code) }.request(index);
            assert_eq!((tiered.prompt_tokens, tiered.output_limit), (64, request.output_limit));
        }
    }

    #[test]
    fn early_stops_shorten_answers_at_the_set_rate_and_change_nothing_else() {
        let stopping = workload(Traffic::Chat);
        let full = Workload { early_stop: Finite::ZERO, ..stopping.clone() };
        let mut shortened = 0;
        for index in 0..u64::from(DRAWS) {
            let (some, all) = (stopping.request(index), full.request(index));
            assert_eq!(all.output_tokens, all.output_limit);
            assert_eq!(Request { output_tokens: all.output_tokens, ..some }, all);
            assert!((1..=some.output_limit).contains(&some.output_tokens), "{some:?}");
            shortened += u32::from(some.output_tokens < some.output_limit);
        }
        // Four standard errors of a proportion of 0.2 over 100,000 draws.
        assert!((f64::from(shortened) / f64::from(DRAWS) - 0.2).abs() < 0.00506, "{shortened}");
    }

    #[test]
    fn unique_prompts_share_no_prefix_and_are_otherwise_the_same() {
        let unique = Workload { cache: CacheMode::Unique, ..workload(Traffic::Rag) };
        let mut shared = 0;
        for index in 0..1000 {
            let (with, without) = (workload(Traffic::Rag).request(index), unique.request(index));
            assert_eq!(without, Request { prefix: None, ..with });
            shared += u32::from(with.prefix.is_some());
        }
        // Four standard errors around 85 % of 1,000.
        assert!((805..=895).contains(&shared), "{shared}");
    }

    #[test]
    fn traffic_is_known_by_its_name_only() {
        for name in ["chat", "rag", "code"] {
            assert_eq!(name.parse::<Traffic>().unwrap().to_string(), name);
        }
        assert_eq!("Chat".parse::<Traffic>(), Err(UnknownTraffic("Chat".to_owned())));
    }

    #[test]
    fn a_token_limit_caps_the_drawn_limit() {
        let capped = Workload { max_tokens: Some(100), ..workload(Traffic::Chat) };
        for index in 0..1000 {
            let (drawn, limit) = (workload(Traffic::Chat).request(index), capped.request(index).output_limit);
            assert_eq!(limit, drawn.output_limit.min(100));
        }
    }
}

//! Every metric that pacegate knows, as data: one row each. Docs and rules are made from this table.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::group::{BadName, is_name};
use super::quantity::{Finite, Unit};

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A lower value is better (times, memory).
    LowerIsBetter,
    /// A higher value is better (throughput, success rate, speed-up).
    HigherIsBetter,
    /// Neither side is better: shown, never gated.
    Unknown,
}

impl Direction {
    /// A worsening by a ratio of 1 + `worse` as the user sees it: half the throughput is 50 % less, not 100 % more time.
    #[must_use]
    pub fn as_change(self, worse: Finite) -> Finite {
        match self {
            // Above −1, as every ratio is: 1 + worse is positive.
            Direction::HigherIsBetter => Finite::new(worse.get() / (1.0 + worse.get())).unwrap_or(worse),
            Direction::LowerIsBetter | Direction::Unknown => worse,
        }
    }

    /// "lower is better" and so on.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Direction::LowerIsBetter => "lower is better",
            Direction::HigherIsBetter => "higher is better",
            Direction::Unknown => "neither side is better",
        }
    }
}

/// Fields of one class move together when one stage of the server changes (statistics.md, "channel class").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelClass {
    /// Time to first token.
    Ttft,
    /// Time per output token.
    Tpot,
    /// Gaps between chunks.
    Itl,
    /// End to end.
    E2e,
    /// All rates.
    Throughput,
}

impl ChannelClass {
    /// The name in sentences.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChannelClass::Ttft => "ttft",
            ChannelClass::Tpot => "tpot",
            ChannelClass::Itl => "itl",
            ChannelClass::E2e => "e2e",
            ChannelClass::Throughput => "throughput",
        }
    }
}

/// One row of the metric table.
#[derive(Clone, Copy, Debug)]
pub struct MetricDef {
    /// The name in files, rules and sentences.
    pub id: &'static str,
    /// The unit that every value is converted to.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// The channel that it belongs to; none where it is judged by its limit alone.
    pub class: Option<ChannelClass>,
    /// What is measured, from where to where, what is divided by what.
    pub definition: &'static str,
    /// What the user calls it when it got worse: "slower".
    pub worse: &'static str,
    /// What the user calls it when it got better: "faster".
    pub better: &'static str,
}

use ChannelClass::{E2e, Itl, Throughput, Tpot, Ttft};
use Direction::{HigherIsBetter, LowerIsBetter};

#[rustfmt::skip]
/// The metric table.
pub const METRICS: &[MetricDef] = &[
    MetricDef { id: "success_rate", unit: Unit::Fraction, direction: HigherIsBetter, class: None, worse: "less reliable", better: "more reliable",
        definition: "requests that succeeded / all requests sent, warm-up apart. A cut stream and a reply without tokens are failures." },
    MetricDef { id: "ttft", unit: Unit::Millisecond, direction: LowerIsBetter, class: Some(Ttft), worse: "slower", better: "faster",
        definition: "time to first token: from the request's first byte on an open connection to the first delta that carries a token (content, reasoning or tool call; never a role-only or empty one). Successful requests only." },
    MetricDef { id: "ttfo", unit: Unit::Millisecond, direction: LowerIsBetter, class: Some(Ttft), worse: "slower", better: "faster",
        definition: "time to first output token: like ttft, to the first token after the reasoning." },
    MetricDef { id: "tpot", unit: Unit::Millisecond, direction: LowerIsBetter, class: Some(Tpot), worse: "slower", better: "faster",
        definition: "time per output token, one value a request: (last token - first token) / (tokens - tokens of the first chunk). The first token is not in it." },
    MetricDef { id: "itl", unit: Unit::Millisecond, direction: LowerIsBetter, class: Some(Itl), worse: "slower", better: "faster",
        definition: "inter-token latency: the gaps between chunks that carry tokens, of all requests pooled. Near 0 where chunks arrive together; not the same as tpot." },
    MetricDef { id: "e2e", unit: Unit::Millisecond, direction: LowerIsBetter, class: Some(E2e), worse: "slower", better: "faster",
        definition: "end to end: from the request's first byte to its last token, not to [DONE]. Grows with the length of the answer." },
    MetricDef { id: "output_throughput", unit: Unit::TokensPerSecond, direction: HigherIsBetter, class: Some(Throughput), worse: "slower", better: "faster",
        definition: "all output tokens / measured wall time of the group." },
    MetricDef { id: "tokens_per_second", unit: Unit::TokensPerSecond, direction: HigherIsBetter, class: Some(Throughput), worse: "slower", better: "faster",
        definition: "mean over the successful requests of each request's own output tokens / its own time. Not output_throughput: requests in flight side by side are not added up." },
    MetricDef { id: "request_throughput", unit: Unit::RequestsPerSecond, direction: HigherIsBetter, class: Some(Throughput), worse: "slower", better: "faster",
        definition: "successful requests / measured wall time of the group." },
    MetricDef { id: "speedup_vs_baseline", unit: Unit::Ratio, direction: HigherIsBetter, class: None, worse: "less speed-up", better: "more speed-up",
        definition: "e2e of the reference strategy / e2e of this strategy, at the same percentile in the same job. Above 1 this strategy is faster than the reference strategy, below 1 it is slower. Always recomputed from both sides." },
    MetricDef { id: "gpu_memory", unit: Unit::Megabyte, direction: LowerIsBetter, class: None, worse: "more memory", better: "less memory",
        definition: "GPU memory as the source reports it." },
    MetricDef { id: "output_tokens", unit: Unit::Token, direction: Direction::Unknown, class: None, worse: "changed", better: "changed",
        definition: "output tokens of a successful request. Neither side is better; when it moves, e2e and throughput are not comparable." },
];

/// The name of a metric. One that is not in the table can be shown but never gates.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^[A-Za-z0-9._-]{1,256}$"))]
pub struct Metric(Cow<'static, str>);

impl TryFrom<String> for Metric {
    type Error = BadName;
    fn try_from(id: String) -> Result<Metric, BadName> {
        if is_name(&id) { Ok(Metric(Cow::Owned(id))) } else { Err(BadName(id)) }
    }
}

#[expect(missing_docs, reason = "the names are the ids of the table")]
impl Metric {
    pub const SUCCESS_RATE: Metric = Metric(Cow::Borrowed("success_rate"));
    pub const TTFT: Metric = Metric(Cow::Borrowed("ttft"));
    pub const TTFO: Metric = Metric(Cow::Borrowed("ttfo"));
    pub const TPOT: Metric = Metric(Cow::Borrowed("tpot"));
    pub const ITL: Metric = Metric(Cow::Borrowed("itl"));
    pub const E2E: Metric = Metric(Cow::Borrowed("e2e"));
    pub const OUTPUT_THROUGHPUT: Metric = Metric(Cow::Borrowed("output_throughput"));
    pub const TOKENS_PER_SECOND: Metric = Metric(Cow::Borrowed("tokens_per_second"));
    pub const REQUEST_THROUGHPUT: Metric = Metric(Cow::Borrowed("request_throughput"));
    pub const SPEEDUP: Metric = Metric(Cow::Borrowed("speedup_vs_baseline"));
    pub const GPU_MEMORY: Metric = Metric(Cow::Borrowed("gpu_memory"));
    pub const OUTPUT_TOKENS: Metric = Metric(Cow::Borrowed("output_tokens"));
}

impl Metric {
    /// A metric by name; it need not be in the table.
    #[must_use]
    pub fn named(id: impl Into<String>) -> Metric {
        Metric(Cow::Owned(id.into()))
    }

    /// The name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }

    /// Its row, if the table has it.
    #[must_use]
    pub fn def(&self) -> Option<&'static MetricDef> {
        METRICS.iter().find(|def| def.id == self.0)
    }

    /// Which way is better; unknown for a metric that is not in the table.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.def().map_or(Direction::Unknown, |def| def.direction)
    }

    /// The unit of the table.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.def().map_or(Unit::Plain, |def| def.unit)
    }

    /// The channel class, if it has one.
    #[must_use]
    pub fn class(&self) -> Option<ChannelClass> {
        self.def().and_then(|def| def.class)
    }

    fn rank(&self) -> usize {
        METRICS.iter().position(|def| def.id == self.0).unwrap_or(METRICS.len())
    }
}

impl Ord for Metric {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Metric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_outside_the_table_has_no_better_side() {
        assert_eq!(Metric::named("vibes").direction(), Direction::Unknown);
        assert_eq!(Metric::TTFT.direction(), LowerIsBetter);
        assert_eq!(Metric::SPEEDUP.direction(), HigherIsBetter);
    }

    #[test]
    fn a_file_cannot_bring_a_metric_that_is_no_name() {
        assert_eq!(serde_json::from_str::<Metric>(r#""goodput""#).unwrap(), Metric::named("goodput"));
        assert!(serde_json::from_str::<Metric>(r#""a\n::error::b""#).is_err());
    }

    #[test]
    fn rates_and_only_rates_are_in_the_throughput_class() {
        for def in METRICS {
            let rate = matches!(def.unit, Unit::TokensPerSecond | Unit::RequestsPerSecond);
            assert_eq!(rate, def.class == Some(Throughput), "{}", def.id);
            assert!(!rate || def.direction == HigherIsBetter, "{}", def.id);
        }
    }
}

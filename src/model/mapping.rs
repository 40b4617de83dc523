//! Where the numbers of a tool stand that pacegate does not know: what the user says of it in `pacegate.toml`.

use std::collections::BTreeMap;

use super::fact::Fact;
use super::metric::Metric;
use super::quantity::{Finite, Unit};
use super::statistic::{PercentileDefinition, Statistic};

/// Where the numbers of one tool's reports stand. A place is a JSON pointer such as `/latency/p95`, or the heading of a CSV column.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The tool, as reports shall name it.
    pub tool: String,
    /// The list of a JSON report whose elements are groups; the places are then in each of them.
    pub each: Option<String>,
    /// The numbers; each must be there.
    pub fields: Vec<MappedField>,
    /// How the tool picks percentiles.
    pub percentiles: PercentileDefinition,
    /// Where counts stand.
    pub counts: BTreeMap<Counted, String>,
    /// Where the strategy's name stands.
    pub strategy: Option<String>,
    /// Where stands what must agree for a comparison.
    pub facts: BTreeMap<Fact, String>,
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedField {
    /// Where it stands.
    pub at: String,
    /// The metric.
    pub metric: Metric,
    /// The statistic.
    pub statistic: Statistic,
    /// From the file's unit to the metric's.
    pub factor: Finite,
    /// What the tool means by the metric, in a word; two words are never compared.
    pub definition: String,
}

/// What a mapping may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "COUNTS says what each is")]
pub enum Counted {
    Sent,
    Succeeded,
    Failed,
    InputTokens,
    OutputTokens,
}

/// The keys of counts.
pub const COUNTS: [(&str, Counted); 5] = [
    ("sent", Counted::Sent),
    ("succeeded", Counted::Succeeded),
    ("failed", Counted::Failed),
    ("input_tokens", Counted::InputTokens),
    ("output_tokens", Counted::OutputTokens),
];

/// The keys of facts.
pub const FACTS: [(&str, Fact); 9] = [
    ("model", Fact::Model),
    ("concurrency", Fact::Concurrency),
    ("rate", Fact::Rate),
    ("traffic", Fact::Traffic),
    ("prompt_tokens", Fact::PromptTokens),
    ("output_limit", Fact::OutputLimit),
    ("server", Fact::Server),
    ("engine", Fact::Engine),
    ("tool_version", Fact::ToolVersion),
];

/// Units that a file may have, with the factor to ours. Case matters: MB is not Mb.
const UNITS: &[(Unit, &str, f64)] = &[
    (Unit::Millisecond, "ms", 1.0),
    (Unit::Millisecond, "s", 1e3),
    (Unit::Millisecond, "us", 1e-3),
    (Unit::Millisecond, "ns", 1e-6),
    (Unit::Millisecond, "min", 6e4),
    (Unit::TokensPerSecond, "tok/s", 1.0),
    (Unit::TokensPerSecond, "tokens/s", 1.0),
    (Unit::RequestsPerSecond, "req/s", 1.0),
    (Unit::RequestsPerSecond, "req/min", 1.0 / 60.0),
    (Unit::Fraction, "fraction", 1.0),
    (Unit::Fraction, "%", 0.01),
    (Unit::Ratio, "x", 1.0),
    (Unit::Megabyte, "MB", 1.0),
    (Unit::Megabyte, "GB", 1e3),
    (Unit::Megabyte, "KB", 1e-3),
    (Unit::Megabyte, "bytes", 1e-6),
    (Unit::Megabyte, "MiB", 1.048_576),
    (Unit::Megabyte, "GiB", 1_073.741_824),
    (Unit::Token, "tokens", 1.0),
];

/// The units that a number of ours may have in a file, with the factor to ours.
pub fn units(ours: Unit) -> impl Iterator<Item = (&'static str, f64)> {
    UNITS.iter().filter(move |(unit, _, _)| *unit == ours).map(|(_, word, factor)| (*word, *factor))
}

//! The canonical report: what jobs measured, whoever measured it. Every source ends in one.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::group::{Dimensions, GroupId};
use super::metric::Metric;
use super::quantity::{Finite, Unit};
use super::samples::Samples;
use super::statistic::{PercentileDefinition, Statistic};
use super::timestamp::Timestamp;
use super::unique_map;

/// The schema name that a report carries.
pub const SCHEMA: &str = "pacegate.report/1";

/// What jobs measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Always `pacegate.report/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Who wrote this file.
    pub tool: Tool,
    /// How the numbers came about.
    pub source: Source,
    /// What was measured.
    #[serde(default)]
    pub subject: Subject,
    /// The machine that measured.
    #[serde(default)]
    pub client: Client,
    /// The code under test, as far as git told.
    #[serde(default)]
    pub code: Code,
    /// What was asked for.
    pub profile: ProfileRef,
    /// The jobs; one unless several reports were joined.
    pub jobs: Vec<Job>,
}

/// A program and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
}

impl Tool {
    /// This program.
    #[must_use]
    pub fn pacegate() -> Tool {
        Tool { name: env!("CARGO_PKG_NAME").to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// How the numbers came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The embedded engine in virtual time: no endpoint was measured.
    Simulate,
    /// pacegate's own load generator.
    Load,
    /// Read from another tool's report.
    Ingest,
}

/// Where the numbers come from, and what is known to be approximate in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The kind.
    pub kind: SourceKind,
    /// The foreign format, such as `vllm-bench-serve`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Its version, where the file tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format_version: Option<String>,
    /// The files read, as given.
    #[serde(default)]
    pub files: Vec<String>,
    /// SHA-256 of each file's content, so that the same content twice is seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// What a reader should know about these numbers.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What was measured. `None` is "not recorded".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The model id that answered.
    #[serde(default)]
    pub model: Option<String>,
    /// The engine's name.
    #[serde(default)]
    pub engine: Option<String>,
    /// Its version.
    #[serde(default)]
    pub engine_version: Option<String>,
    /// The server's hardware as declared.
    #[serde(default)]
    pub server_hardware: Option<String>,
    /// Whatever else may have changed and is what the gate is for: flags, strategy parameters, the embedded engine's speeds.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique_map::deserialize"
    )]
    pub parameters: BTreeMap<String, String>,
}

/// The machine that measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Processor name.
    #[serde(default)]
    pub cpu: Option<String>,
    /// Logical cores.
    #[serde(default)]
    pub cores: Option<u32>,
    /// Operating system.
    #[serde(default)]
    pub os: Option<String>,
    /// A short hash of the host's name: tells machines apart without naming them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// The code under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// Commit id.
    #[serde(default)]
    pub commit: Option<String>,
    /// Files that differed from it.
    #[serde(default)]
    pub dirty: Vec<String>,
}

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileRef {
    /// The profile's name.
    pub name: String,
    /// The strategy that speed-ups divide by.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::group::optional_name"
    )]
    pub reference: Option<String>,
    /// Per group, the workload as named facts; a fact that is not here was not recorded.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub workloads: BTreeMap<GroupId, Workload>,
    /// Per group, a short hash of its workload.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub fingerprints: BTreeMap<GroupId, String>,
}

/// The facts that make a group's workload.
pub type Workload = BTreeMap<Fact, String>;

/// One invocation: the unit of replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// CI run id + attempt + leg, else host + time; for ingested files a hash of their content.
    pub id: String,
    /// When it started, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// False where it was interrupted.
    #[serde(default = "yes")]
    pub complete: bool,
    /// Warm-up requests, kept apart from everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Warmup>,
    /// One or more passes over the groups.
    pub rounds: Vec<Round>,
}

fn yes() -> bool {
    true
}

/// Requests sent before measuring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warmup {
    /// How many.
    pub sent: u64,
    /// Failures by kind.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub failed: BTreeMap<FailureKind, u64>,
}

/// One pass over the groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The seed of this round, where there is one. Not part of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The groups, in the order in which they ran.
    pub groups: Vec<Group>,
    /// Duet: the same groups measured on the other endpoint in the same block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Group>,
}

/// One group's measurements in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name; always that of `dimensions`.
    pub id: GroupId,
    /// What it is made of.
    #[serde(default)]
    pub dimensions: Dimensions,
    /// How the requests ended.
    #[serde(default)]
    pub requests: Requests,
    /// Measured wall time in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<Finite>,
    /// Tokens of the successful requests.
    #[serde(default)]
    pub tokens: Tokens,
    /// The numbers.
    #[serde(deserialize_with = "unique_map::deserialize")]
    pub metrics: BTreeMap<Metric, Measurement>,
    /// The speed-up that the source's own file claims. Never judged by; held against the recomputed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup_reported: Option<ReportedSpeedup>,
    /// What the client found out about itself while measuring this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_check: Option<SelfCheck>,
    /// Open loop: how well the schedule was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Where the time went, as shares of the mean end-to-end time (embedded engine only). `preprocess`, `prompt_encode`
    /// and `decode` add up to 1; `congestion` is the part of the whole that was there only because other requests were
    /// in flight; `spared_by_early_stop` is what full-length answers would have taken on top. With s the reference
    /// strategy's `preprocess`, a factor F measures as `1 / (s + (1 - s) / F)`.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique_map::deserialize"
    )]
    pub shares: BTreeMap<String, Finite>,
}

/// How a group's requests ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Requests sent, warm-up apart; `None` where the source does not tell.
    #[serde(default)]
    pub sent: Option<u64>,
    /// Requests that succeeded; `None` where the source does not tell.
    #[serde(default)]
    pub succeeded: Option<u64>,
    /// Failures by kind.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub failed: BTreeMap<FailureKind, u64>,
    /// One cleaned sample of the error text per kind.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique_map::deserialize"
    )]
    pub error_samples: BTreeMap<FailureKind, String>,
}

impl Requests {
    /// Successes and all requests, if the source tells both.
    #[must_use]
    pub fn counts(&self) -> Option<(u64, u64)> {
        Some((self.succeeded?, self.sent?))
    }

    /// All failures.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "FailureKind::words says it of each")]
pub enum FailureKind {
    #[serde(rename = "http_401")]
    Http401,
    #[serde(rename = "http_403")]
    Http403,
    #[serde(rename = "http_404_path")]
    Http404Path,
    #[serde(rename = "http_404_model")]
    Http404Model,
    #[serde(rename = "http_429")]
    Http429,
    #[serde(rename = "http_4xx")]
    Http4xx,
    #[serde(rename = "http_5xx")]
    Http5xx,
    Connect,
    Tls,
    TimeoutConnect,
    TimeoutFirstToken,
    TimeoutGap,
    TimeoutTotal,
    Cut,
    Malformed,
    ZeroTokens,
    ErrorEvent,
    // The source says that it failed, not why.
    Unknown,
}

impl FailureKind {
    /// What a user calls it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            FailureKind::Http401 => "401 (key missing or wrong)",
            FailureKind::Http403 => "403 (not allowed)",
            FailureKind::Http404Path => "404 (wrong path)",
            FailureKind::Http404Model => "404 (no such model)",
            FailureKind::Http429 => "429 (too many requests)",
            FailureKind::Http4xx => "other 4xx",
            FailureKind::Http5xx => "5xx (server error)",
            FailureKind::Connect => "connection refused or reset",
            FailureKind::Tls => "TLS failure",
            FailureKind::TimeoutConnect => "time-out while connecting",
            FailureKind::TimeoutFirstToken => "time-out before the first token",
            FailureKind::TimeoutGap => "time-out between tokens",
            FailureKind::TimeoutTotal => "time-out of the whole request",
            FailureKind::Cut => "stream cut",
            FailureKind::Malformed => "malformed reply",
            FailureKind::ZeroTokens => "reply without tokens",
            FailureKind::ErrorEvent => "error event in the stream",
            FailureKind::Unknown => "failed, reason not recorded",
        }
    }
}

impl FailureKind {
    /// What is usually behind it, and what to do; `None` where there is no usual cause.
    #[must_use]
    pub const fn usual_cause(self) -> Option<&'static str> {
        Some(match self {
            FailureKind::Http401 => "the key is not exported, or empty",
            FailureKind::Http403 => "the key is good, but not for this model or endpoint",
            FailureKind::Http404Path => {
                "the base URL carries a /v1 that is added again, or lacks one that the server needs"
            }
            FailureKind::Http404Model => "the model id is wrong or retired",
            FailureKind::Http429 => {
                "too many requests in flight, or the quota is spent: step down the concurrency and try again"
            }
            FailureKind::Http5xx => "the server failed: look at its log",
            FailureKind::Connect => "nothing listens at that address, or the server fell over",
            FailureKind::Tls => "a certificate that is not trusted, or https where the server speaks http",
            FailureKind::TimeoutConnect => "the endpoint can't be reached from here",
            FailureKind::TimeoutFirstToken | FailureKind::TimeoutTotal => {
                "the server's queue is full: step down the concurrency and try again"
            }
            FailureKind::TimeoutGap | FailureKind::Cut => {
                "the server or a proxy between stopped the stream: look at their logs and time limits"
            }
            FailureKind::ZeroTokens => "stream chunks without delta.content, or with empty choices",
            FailureKind::Http4xx
            | FailureKind::Malformed
            | FailureKind::ErrorEvent
            | FailureKind::Unknown => {
                return None;
            }
        })
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Who counted the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The server's `usage`.
    Usage,
    /// The engine's tokeniser endpoint.
    Tokenize,
    /// The measuring tool's own tokeniser.
    Client,
    /// The embedded engine knows.
    Engine,
    /// Not recorded.
    #[default]
    Unknown,
}

/// Tokens of a group's successful requests. `None` is "not recorded".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Prompt tokens.
    #[serde(default)]
    pub input: Option<u64>,
    /// Output tokens.
    #[serde(default)]
    pub output: Option<u64>,
    /// Prompt tokens that came from a prefix cache.
    #[serde(default)]
    pub cached: Option<u64>,
    /// Who counted.
    #[serde(default)]
    pub from: TokenSource,
}

/// The numbers of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The unit of every value here.
    pub unit: Unit,
    /// What the source means by the metric, in a word: `first-token`, `first-chunk`, `excludes-first-token`. Two words are never compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// How many samples the statistics are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// How the percentiles were picked; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile_definition: Option<PercentileDefinition>,
    /// The statistics as the source has them.
    #[serde(deserialize_with = "unique_map::deserialize")]
    pub stats: BTreeMap<Statistic, Finite>,
    /// All samples, where the source has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// Variance inflation through dependence in time, per percentile (statistics.md §1.3), taken from the order of arrival, which the codec loses.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique_map::deserialize"
    )]
    pub vif: BTreeMap<Statistic, Finite>,
}

impl Measurement {
    /// A metric that has one value and no distribution.
    #[must_use]
    pub fn single(unit: Unit, value: Finite) -> Measurement {
        Measurement {
            unit,
            definition: None,
            n: None,
            percentile_definition: None,
            stats: BTreeMap::from([(Statistic::Value, value)]),
            samples: None,
            vif: BTreeMap::new(),
        }
    }
}

/// A speed-up as a file claims it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportedSpeedup {
    /// The claimed number.
    pub value: Finite,
    /// The percentile of e2e that the tool says it divides.
    pub statistic: Statistic,
    /// Decimals that the tool rounds to.
    pub decimals: u32,
}

/// What the client found out about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfCheck {
    /// p99 of how late the client woke up, in ms.
    #[serde(default)]
    pub wakeup_lag_p99_ms: Option<Finite>,
    /// Share of reads that held more than one token-bearing event.
    #[serde(default)]
    pub coalesced_reads: Option<Finite>,
    /// The most requests that were really in flight.
    #[serde(default)]
    pub in_flight_reached: Option<u32>,
    /// CPU time / (wall time x cores).
    #[serde(default)]
    pub cpu_share: Option<Finite>,
}

/// How an open-loop schedule was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// Arrivals that were sent late.
    pub late: u64,
    /// Arrivals that were not sent at all.
    pub dropped: u64,
}

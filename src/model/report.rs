//! The canonical report: what jobs measured, whoever measured it. Every source ends in one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::group::{Dimensions, GroupId};
use super::metric::Metric;
use super::quantity::{Finite, Unit};
use super::samples::Samples;
use super::statistic::{PercentileDefinition, Statistic};
use super::timestamp::Timestamp;
use super::{unique_groups, unique_map};

pub use super::requests::{Arrivals, FailureKind, Requests, SelfCheck, TokenSource, Tokens};

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

impl Report {
    /// Whether no model was measured: the embedded engine, in this process or behind `pacegate mock`.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.source.kind == SourceKind::Simulate || self.subject.engine.as_deref() == Some(MOCK_ENGINE)
    }
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

impl Source {
    /// Numbers of this kind that no foreign file gave, with nothing to know about them yet.
    #[must_use]
    pub fn of(kind: SourceKind) -> Self {
        Self {
            kind,
            format: None,
            format_version: None,
            files: Vec::new(),
            digests: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The name of [`Subject::engine`] where `pacegate mock` answered and no model.
pub const MOCK_ENGINE: &str = "pacegate mock";

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
    #[serde(default, deserialize_with = "unique_map::nested")]
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
    #[serde(deserialize_with = "super::requests::told")]
    pub sent: u64,
    /// Failures by kind.
    #[serde(default, deserialize_with = "super::requests::counts")]
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
    #[serde(deserialize_with = "unique_groups::deserialize")]
    pub groups: Vec<Group>,
    /// Duet: the same groups measured on the other endpoint in the same block.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "unique_groups::deserialize")]
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

impl Group {
    /// A group of which nothing is recorded yet.
    #[must_use]
    pub fn new(dimensions: Dimensions) -> Self {
        Self {
            id: dimensions.id(),
            dimensions,
            requests: Requests::default(),
            wall_ms: None,
            tokens: Tokens::default(),
            metrics: BTreeMap::new(),
            speedup_reported: None,
            self_check: None,
            arrivals: None,
            shares: BTreeMap::new(),
        }
    }
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

//! Jobs of the main branch over time: a line of the history file, and what came before a job.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::quantity::Finite;
use super::report::Requests;
use super::timestamp::Timestamp;
use super::unique_map;
use super::verdict::{Channel, Outcome};

/// The schema name that a line carries.
pub const SCHEMA: &str = "pacegate.history/1";

/// One job held against one baseline: a line of the history file.
///
/// A reader takes keys that it does not know: a newer pacegate may write more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    /// Always `pacegate.history/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// When it was measured; when it was judged, where the report does not tell.
    pub at: Timestamp,
    /// The commit measured.
    #[serde(default)]
    pub commit: Option<String>,
    /// The CI run and leg, without its attempt; else the job of the report.
    pub job: String,
    /// The profile.
    pub profile: String,
    /// The model that answered.
    #[serde(default)]
    pub model: Option<String>,
    /// The baseline that it was held against.
    pub baseline: HistoryBaseline,
    /// Differences that the command line allowed.
    #[serde(default)]
    pub allowed: Vec<Fact>,
    /// How it ended.
    pub outcome: Outcome,
    /// The channels over their limits, whatever the chance.
    pub over: Vec<Channel>,
    /// How the requests of all groups ended.
    pub requests: Requests,
    /// The gated fields, `group:field` to the value in the metric's unit.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub fields: BTreeMap<String, Finite>,
}

/// A baseline by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryBaseline {
    /// First 12 digits of its SHA-256.
    pub digest: String,
    /// Jobs in it.
    pub jobs: usize,
}

/// Which commit, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moment {
    /// The commit, where recorded.
    pub commit: Option<String>,
    /// When it was measured.
    pub at: Timestamp,
}

/// A job before the one that is judged; re-runs of one commit are one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastJob {
    /// Its first run.
    pub first: Moment,
    /// The channels that were over their limits in each of its runs.
    pub over: BTreeSet<Channel>,
}

/// What a history says of the jobs before the one that is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// The file as given.
    pub file: String,
    /// Jobs against the same baseline, oldest first.
    pub jobs: Vec<PastJob>,
    /// Earlier runs of this very job or commit, and what was over in each of them.
    pub again: Option<PastJob>,
    /// This job.
    pub this: Moment,
    /// Whether this job is one of the main branch, so that it counts and is added.
    pub counts: bool,
}

/// What a verdict says of its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HistoryNote {
    /// The file as given.
    pub file: String,
    /// Earlier jobs in it against the same baseline; re-runs of one commit are one job.
    pub jobs: usize,
    /// Whether this commit or CI run was judged before, so that it counts once.
    pub again: bool,
    /// Whether this job counts and is added. A pull request reads and neither counts nor is added.
    pub counts: bool,
    /// Blessed jobs that the rule still needs before it fails anything; 0 where it holds.
    pub needs_blessed: usize,
    /// Channels over their limits in this job, with how long that has been so.
    pub rows: Vec<HistoryRow>,
}

/// One channel that is over its limits, job after job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HistoryRow {
    /// Which channel.
    pub channel: Channel,
    /// Jobs in a row, this one included.
    pub jobs: usize,
    /// The first of them.
    pub since: Moment,
    /// Whether it fails this job.
    pub fails: bool,
}

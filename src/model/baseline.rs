//! The blessed baseline: what the team agreed to be held against.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::quantity::Finite;
use super::report::{Code, Job, Report, Tool};
use super::timestamp::Timestamp;
use super::unique_map;

/// The schema name that a baseline carries.
pub const SCHEMA: &str = "pacegate.baseline/1";

/// The most jobs that a baseline keeps.
pub const MOST_JOBS: usize = 10;

/// `baselines/<profile>.json`: a summary for the reviewer first, then the ledger, then the blessed reports with their samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Always `pacegate.baseline/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// The profile that it is for.
    pub profile: String,
    /// For the reviewer's diff: `group:field` to a value with its unit. Never read back.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub summary: BTreeMap<String, String>,
    /// Every bless.
    pub ledger: Ledger,
    /// The blessed reports, oldest first.
    pub reports: Vec<Report>,
}

impl Baseline {
    /// A baseline that holds nothing: what a first report is held against.
    #[must_use]
    pub fn nothing() -> Baseline {
        Baseline {
            schema: SCHEMA.to_owned(),
            tool: Tool::pacegate(),
            profile: String::new(),
            summary: BTreeMap::new(),
            ledger: Ledger::default(),
            reports: Vec::new(),
        }
    }

    /// All blessed jobs with the report that they are of, oldest first.
    pub fn jobs(&self) -> impl Iterator<Item = (&Report, &Job)> {
        self.reports.iter().flat_map(|report| report.jobs.iter().map(move |job| (report, job)))
    }
}

/// Every bless, so that many small worsenings can't hide a large one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// `group:field` values of the first bless.
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub pinned: BTreeMap<String, Finite>,
    /// Oldest first.
    pub entries: Vec<LedgerEntry>,
}

/// One bless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// When.
    pub at: Timestamp,
    /// At which commit, and which files differed from it (the baseline itself apart).
    pub code: Code,
    /// Whether it replaced the jobs or added one.
    pub action: BlessAction,
    /// Why, in the words of who blessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Per metric, the median relative change of its fields against the bless before (0.04 = +4 %).
    #[serde(default, deserialize_with = "unique_map::deserialize")]
    pub changes: BTreeMap<Metric, Finite>,
}

/// What a bless did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlessAction {
    /// The first one.
    First,
    /// All jobs were replaced.
    Replace,
    /// A job was added.
    Add,
}

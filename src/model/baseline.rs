//! The blessed baseline: what the team agreed to be held against.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::FieldId;
use super::finding::Change;
use super::group::GroupId;
use super::metric::{Direction, Metric};
use super::quantity::{Finite, Unit};
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
    /// Groups whose workload changed: their pinned values begin anew here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarted: Vec<GroupId>,
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

/// What a bless made: the new baseline, and all that is said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Blessed {
    /// The baseline to be written.
    pub baseline: Baseline,
    /// What was done.
    pub action: BlessAction,
    /// The report is already what is blessed: nothing needs to be written.
    pub unchanged: bool,
    /// Old jobs that were dropped because only the last [`MOST_JOBS`] are kept.
    pub dropped: usize,
    /// Every field with a better side, old against new.
    pub rows: Vec<FieldRow>,
    /// How far each field is from its pinned first value, the worst first.
    pub drift: Vec<Drift>,
}

/// One line of the table that a bless prints.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRow {
    /// Which field.
    pub field: FieldId,
    /// Its unit.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// The value until now; absent for a new field.
    pub old: Option<Finite>,
    /// The value from now on; absent where the field is no longer watched.
    pub new: Option<Finite>,
}

impl FieldRow {
    /// Both values, if both are there.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        Some(Change { old: self.old?, new: self.new?, unit: self.unit, direction: self.direction })
    }

    /// The direction in a word: `slower`, `faster`, `the same`, `new`, `no longer watched`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        use super::finding::Toward;
        let Some(change) = self.change() else {
            return if self.old.is_none() { "new" } else { "no longer watched" };
        };
        let shown_as_none =
            ["+0.0 %", "\u{2212}0.0 %", "+0.00 pp", "\u{2212}0.00 pp"].contains(&change.amount().as_str());
        match (change.toward(), self.field.metric.def()) {
            (Toward::Same, _) => "the same",
            _ if shown_as_none => "the same",
            (Toward::Worse, Some(def)) => def.worse,
            (Toward::Better, Some(def)) => def.better,
            (_, _) => "changed",
        }
    }
}

/// How far a field is from its pinned first value.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// Which field.
    pub field: FieldId,
    /// The pinned value against the value now.
    pub change: Change,
    /// How many blesses lie in between.
    pub blesses: usize,
}

impl Drift {
    /// The drift towards worse, as a share of the pinned value; negative where it got better.
    #[must_use]
    pub fn worsening(&self) -> Finite {
        let share = self.change.relative().unwrap_or(Finite::ZERO).get();
        let worse = if self.change.direction == Direction::HigherIsBetter { -share } else { share };
        Finite::new(worse).unwrap_or(Finite::ZERO)
    }
}

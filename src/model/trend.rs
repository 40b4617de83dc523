//! What a series of past jobs shows: levels, changes that last, single odd jobs, and the drift since the first bless.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::field::FieldId;
use super::finding::Change;
use super::history::Moment;
use super::metric::ChannelClass;
use super::quantity::Finite;
use super::report::{FailureKind, Tool};
use super::verdict::Channel;

/// The schema name that a trend carries.
pub const SCHEMA: &str = "pacegate.trend/1";

/// Past jobs, in as many series as they can be compared in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// Always `pacegate.trend/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Who looked.
    pub tool: Tool,
    /// The series, that with the newest job first.
    pub series: Vec<TrendSeries>,
    /// What was found and is in no series.
    pub left_out: Vec<LeftOut>,
}

/// Jobs that measured the same.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrendSeries {
    /// The profile.
    pub profile: String,
    /// The model that answered.
    pub model: Option<String>,
    /// The baseline that its jobs were held against; absent for reports, which are held against none.
    pub baseline: Option<String>,
    /// Why these jobs are no series with the other ones of the profile.
    pub apart: Vec<&'static str>,
    /// In a word.
    pub state: TrendState,
    /// Success rates first, then what lasts, then single jobs; the newest first.
    pub findings: Vec<Told>,
    /// Jobs that are still missing before a change could be seen at all; 0 where it could.
    pub jobs_missing: usize,
    /// The smallest lasting change of everything that its fourth job would show 9 times out of 10, as a share.
    pub smallest_step: Option<Finite>,
    /// Where the numbers stand against the pinned first bless.
    pub drift: Option<PinnedDrift>,
    /// Jobs that are looked at, oldest first.
    pub jobs: Vec<TrendJob>,
    /// Older jobs that are not.
    pub older: usize,
    /// What is not in the series, and why.
    pub notes: Vec<String>,
}

/// A series in a word. The order is that of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendState {
    /// The newest level is worse than the one before.
    Worse,
    /// The newest jobs stand apart, and are too few to tell a blip from a trend.
    TooEarly,
    /// The newest level is better than the one before.
    Better,
    /// Single jobs stood apart, and the next ones did not.
    Blip,
    /// No change that lasts.
    Steady,
    /// Too few jobs.
    TooFew,
}

impl TrendState {
    /// The words in capitals.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            TrendState::Worse => "TREND, WORSE",
            TrendState::TooEarly => "TOO EARLY TO TELL",
            TrendState::Better => "TREND, BETTER",
            TrendState::Blip => "BLIP",
            TrendState::Steady => "STEADY",
            TrendState::TooFew => "TOO FEW JOBS",
        }
    }
}

/// A finding and its sentence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Told {
    /// What was found.
    #[serde(flatten)]
    pub finding: TrendFinding,
    /// In words.
    pub text: String,
}

/// What a series shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TrendFinding {
    /// The success rate has another level.
    SuccessShift(SuccessShift),
    /// Fewer requests succeeded in single jobs.
    SuccessOdd(SuccessOdd),
    /// Times or rates have another level.
    Shift(Shift),
    /// Times or rates of single jobs stand apart.
    Odd(Odd),
}

/// When a level begins, and how its jobs keep to it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Since {
    /// The first job of the new level.
    pub first: Moment,
    /// The last job of the old one.
    pub last_before: Moment,
    /// Jobs of the new level.
    pub jobs: usize,
    /// Those of them that are nearer to the new level than to the old.
    pub held: usize,
    /// Whether the level lasts to the newest job.
    pub lasts: bool,
}

/// Another level of the success rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SuccessShift {
    /// Since when.
    pub since: Since,
    /// Mean success rate before.
    pub old: Finite,
    /// Mean success rate since.
    pub new: Finite,
    /// Failures a job by kind, before and since, what grew most first; 429 and time-outs before all others.
    pub failures: Vec<FailureChange>,
}

/// Failures of one kind, a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailureChange {
    /// Which kind.
    pub failure: FailureKind,
    /// Before.
    pub old: Finite,
    /// Since.
    pub new: Finite,
}

/// One to three jobs that stand apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Apart {
    /// The first of them.
    pub first: Moment,
    /// How many in a row.
    pub jobs: usize,
    /// They are the newest jobs: so many more would tell a blip from a trend. 0 where later jobs are as usual again.
    pub more_to_tell: usize,
}

/// Jobs in which fewer requests succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SuccessOdd {
    /// Which jobs.
    pub apart: Apart,
    /// The usual success rate.
    pub usual: Finite,
    /// Of these jobs.
    pub seen: Finite,
    /// Failures of these jobs by kind; 429 and time-outs first.
    pub failed: Vec<(FailureKind, u64)>,
}

/// What the success rate did meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Meanwhile {
    /// It stayed.
    Steady,
    /// It fell: latency is read after that.
    Fell,
    /// It rose.
    Rose,
    /// Too few jobs tell.
    Unknown,
}

/// Another level of times or rates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Shift {
    /// What moved: everything, or the metrics that moved by themselves.
    pub what: Vec<Channel>,
    /// Metrics that moved along with them.
    pub along: Vec<ChannelClass>,
    /// Since when.
    pub since: Since,
    /// Worse by this ratio: 1.18 is 18 % worse, 0.9 is better.
    pub ratio: Finite,
    /// Chance of so large a change without one (two-sided t-test across it).
    pub p: Finite,
    /// The field that shows it most.
    pub most: Option<FieldChange>,
    /// What the success rate did.
    pub success: Meanwhile,
}

/// A field and its geometric means before and since.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FieldChange {
    /// Which.
    pub field: FieldId,
    /// Both values.
    pub change: Change,
}

/// Jobs whose times or rates stand apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Odd {
    /// What stood apart.
    pub what: Vec<Channel>,
    /// Which jobs.
    pub apart: Apart,
    /// Worse by this ratio in the job that is furthest apart.
    pub ratio: Finite,
    /// The field that shows it most.
    pub most: Option<FieldChange>,
    /// What the success rate did in these jobs.
    pub success: Meanwhile,
}

/// The newest level against the pinned first bless.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PinnedDrift {
    /// The baseline's file as given.
    pub file: String,
    /// The first bless.
    pub first: Option<Moment>,
    /// Blesses since.
    pub blesses: usize,
    /// Worse by this ratio, per metric.
    pub classes: BTreeMap<ChannelClass, Finite>,
    /// The field that is worst off.
    pub most: Option<FieldChange>,
}

/// One job of a series.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrendJob {
    /// Where it was read: a file, or a file and its line.
    pub source: String,
    /// Its name.
    pub job: String,
    /// Which commit, and when.
    #[serde(flatten)]
    pub moment: Moment,
    /// Requests sent, where known.
    pub sent: Option<u64>,
    /// Requests that succeeded, where known.
    pub succeeded: Option<u64>,
    /// Everything against the oldest level: worse by this ratio; absent where the job has no times.
    pub everything: Option<Finite>,
    /// Each metric, likewise.
    pub metrics: BTreeMap<ChannelClass, Finite>,
    /// Whether a level begins with it, or it stands apart.
    pub mark: JobMark,
}

/// What is remarkable about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobMark {
    /// Nothing.
    None,
    /// A new level begins here.
    NewLevel,
    /// It stands apart from its level.
    Apart,
}

/// Something that was found and is in no series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// A file, or a file and its line.
    pub source: String,
    /// Why.
    pub why: String,
}

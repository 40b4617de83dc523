//! What trying a gate out showed: planted faults, and replays of what is blessed.

use schemars::JsonSchema;
use serde::Serialize;

use super::finding::DecidedBy;
use super::quantity::Finite;
use super::reason::Reason;
use super::report::Tool;
use super::verdict::Tier;

/// The schema name that a trial carries.
pub const SCHEMA: &str = "pacegate.self-test/1";

/// A gate tried out on its own baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SelfTest {
    /// Always `pacegate.self-test/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Who tried.
    pub tool: Tool,
    /// The profile.
    pub profile: String,
    /// The blessed baseline, as given.
    pub baseline: String,
    /// Blessed jobs.
    pub jobs: usize,
    /// The tier of a run like the last blessed one against this baseline.
    pub tier: Option<Tier>,
    /// Who decides at this tier.
    pub decided_by: Option<DecidedBy>,
    /// One row a planted fault.
    pub trials: Vec<Trial>,
    /// What unchanged runs would have got.
    pub replays: Vec<Replays>,
}

/// One planted fault.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trial {
    /// What was planted, in words of ours: groups and metrics are names.
    pub fault: String,
    /// The exit code that it must end with.
    pub expected: u8,
    /// What came of it.
    pub found: Found,
}

/// What came of a planted fault.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Ended with the right exit code.
    Caught,
    /// One and a half times the limit is within the noise at this evidence; this much is caught.
    CaughtFrom(Planted),
    /// Ended with another exit code.
    Missed {
        /// That code.
        exit: u8,
        /// The most that was planted, where the fault has a size.
        planted: Option<Finite>,
        /// What the gate said, where it said anything.
        why: Option<Box<Reason>>,
    },
}

/// How much was planted, as shares towards worse in the metric's own direction (0.15 is +15 % of a time, −15 % of a rate).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Planted {
    /// One and a half times the limit: missed.
    pub missed: Finite,
    /// The smallest that was caught.
    pub caught: Finite,
}

/// Unchanged runs, as made from what is blessed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replays {
    /// How they were made.
    pub noise: ReplayNoise,
    /// How many.
    pub runs: u32,
    /// How many ended as a regression.
    pub failed: u32,
    /// How many did not pass for another reason (exit 3 or 4).
    pub blocked: u32,
    /// The highest share of failures that these replays leave likely (95 %, two-sided).
    pub at_most: Finite,
}

/// How an unchanged run was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayNoise {
    /// Other requests to the same server, the same machine and hour.
    Requests,
    /// And jobs that differ by the run noise that the rules assume.
    Jobs {
        /// Standard deviation of the logarithm between jobs.
        run: Finite,
    },
    /// Each blessed job, as it was measured, against the others.
    LeaveOneOut,
}

impl SelfTest {
    /// The planted faults that were not caught.
    pub fn missed(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|trial| matches!(trial.found, Found::Missed { .. }))
    }
}

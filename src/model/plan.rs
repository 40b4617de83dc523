//! What measuring would show before it is done: how much more of it makes a change visible.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use super::quantity::Finite;
use super::report::Tool;
use super::verdict::Tier;

/// The schema name that a plan carries.
pub const SCHEMA: &str = "pacegate.plan/1";

/// How much measuring shows which change, from the spread of what is blessed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plan {
    /// Always `pacegate.plan/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Who planned.
    pub tool: Tool,
    /// The profile.
    pub profile: String,
    /// The blessed baseline, as given.
    pub baseline: String,
    /// The tier of one more run like the blessed ones.
    pub tier: Tier,
    /// At this tier a plain limit decides, so that what is over it fails whatever the noise: the plan is for evidence.
    pub limits_decide: bool,
    /// How the blessed jobs were measured.
    pub measured: Measured,
    /// Assumed noise between jobs (standard deviation of the logarithm).
    pub run_noise: Finite,
    /// One row a change that is to be seen.
    pub rows: Vec<PlanRow>,
}

/// How much was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// Blessed jobs.
    pub jobs: usize,
    /// Fewest rounds of any.
    pub rounds: usize,
    /// Groups in a round.
    pub groups: usize,
    /// Fewest requests of a group and round, where recorded.
    pub requests: Option<u64>,
    /// Wall time of one round, all groups, where it is recorded.
    pub round_ms: Option<Finite>,
}

/// A change that is to be seen with 90 % power, and how much of one thing alone shows it, all else as it was.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanRow {
    /// What changes.
    pub target: PlanTarget,
    /// A worsening as a share, in the metric's own direction (0.15 is +15 % of a time, −15 % of a rate).
    pub wanted: Finite,
    /// The smallest that one more run like these shows; `None`: none at all.
    pub visible: Option<Finite>,
    /// Requests per group and round; `None`: no number up to a million.
    pub requests: Option<u64>,
    /// Rounds per job; `None`: no number up to a hundred.
    pub rounds: Option<u64>,
    /// Blessed jobs; `None`: no number up to the ten that are kept.
    pub jobs: Option<u64>,
    /// Round pairs of a duet (both sides in one job); `None`: no number up to a hundred.
    pub pairs: Option<u64>,
    /// The rule's own limit is above the change: it has to be lowered, to half the change here, or the change is allowed.
    pub allowed: bool,
}

/// What changes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanTarget {
    /// All fields alike.
    Everything,
    /// One metric in every group.
    Metric {
        /// Its name, or that of its class.
        name: String,
        /// Whether it is a rate, which falls.
        rate: bool,
    },
    /// One field in one group, the noisiest.
    Field {
        /// `group:metric.statistic`.
        name: String,
        /// Whether it is a rate, which falls.
        rate: bool,
    },
}

/// A worsening as somebody types it: `15%`, kept as the share 0.15.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct See(pub Finite);

impl FromStr for See {
    type Err = String;
    fn from_str(text: &str) -> Result<See, String> {
        let number = text.trim().trim_start_matches(['+', '-', '\u{2212}']).strip_suffix('%');
        let share =
            number.and_then(|number| number.trim().parse::<f64>().ok()).map(|percent| percent / 100.0);
        match share.filter(|share| (0.001..=10.0).contains(share)).map(Finite::new) {
            Some(Ok(share)) => Ok(See(share)),
            _ => Err("expected a percentage from 0.1% to 1000%, such as 15%".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worsening_is_a_percentage_with_or_without_its_sign() {
        for text in ["15%", "+15%", "-15 %", "15.0%"] {
            assert_eq!(text.parse::<See>().map(|see| see.0.get()), Ok(0.15), "{text}");
        }
        for text in ["15", "0%", "NaN%", "inf%", "", "%", "1e9%", "15ms"] {
            assert!(text.parse::<See>().is_err(), "{text}");
        }
    }
}

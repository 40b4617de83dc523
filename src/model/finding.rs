//! The judgement of one field, with its reasons.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::FieldId;
use super::metric::Direction;
use super::policy::Tolerance;
use super::quantity::{Finite, Quantity, Unit};
use super::reason::Reason;

/// What is said of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Worse than the rules allow.
    Regressed,
    /// The blessed baseline has it, the candidate does not.
    Missing,
    /// The numbers can't be right.
    Invalid,
    /// The two sides do not mean the same.
    NotComparable,
    /// Over the limit, and noise could explain it.
    Unresolved,
    /// Too few samples for this statistic.
    TooFew,
    /// Worse than the rule allows, within a waiver.
    Waived,
    /// Better by more than the limit.
    Improved,
    /// Only the candidate has it.
    New,
    /// Within the rules.
    Unchanged,
    /// Shown; no rule gates it.
    NotGated,
}

impl Judgement {
    /// The word in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Judgement::Regressed => "regressed",
            Judgement::Missing => "missing",
            Judgement::Invalid => "invalid",
            Judgement::NotComparable => "not comparable",
            Judgement::Unresolved => "unresolved",
            Judgement::TooFew => "too few samples",
            Judgement::Waived => "waived",
            Judgement::Improved => "improved",
            Judgement::New => "new",
            Judgement::Unchanged => "unchanged",
            Judgement::NotGated => "not gated",
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Both values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// Blessed value.
    pub old: Finite,
    /// Candidate's value.
    pub new: Finite,
    /// Unit of both.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
}

/// Where a change went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// To the better side.
    Better,
    /// To the worse side.
    Worse,
    /// Nowhere.
    Same,
    /// Neither side is better.
    Unknown,
}

impl Change {
    /// Where it went, by the metric's direction.
    #[must_use]
    pub fn toward(&self) -> Toward {
        match (self.direction, self.new.cmp(&self.old)) {
            (_, std::cmp::Ordering::Equal) => Toward::Same,
            (Direction::Unknown, _) => Toward::Unknown,
            (Direction::LowerIsBetter, std::cmp::Ordering::Less)
            | (Direction::HigherIsBetter, std::cmp::Ordering::Greater) => Toward::Better,
            _ => Toward::Worse,
        }
    }

    /// The change as a share of the old value; `None` where the old value is 0.
    #[must_use]
    pub fn relative(&self) -> Option<Finite> {
        Finite::new((self.new.get() - self.old.get()) / self.old.get().abs()).ok()
    }

    /// `rose`, `fell` or `stayed at`.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match self.new.cmp(&self.old) {
            std::cmp::Ordering::Less => "fell",
            std::cmp::Ordering::Equal => "stayed",
            std::cmp::Ordering::Greater => "rose",
        }
    }

    /// `412.0 -> 489.1 ms`.
    #[must_use]
    pub fn values(&self) -> String {
        Quantity::pair(self.old, self.new, self.unit)
    }

    /// `+18.7 %`, `-1.00 pp`, or the plain difference where there is no percentage.
    #[must_use]
    pub fn amount(&self) -> String {
        let sign = |v: f64| if v < 0.0 { "\u{2212}" } else { "+" };
        let difference = self.new.get() - self.old.get();
        match (self.unit, self.relative()) {
            (Unit::Fraction, _) => format!("{}{:.2} pp", sign(difference), difference.abs() * 100.0),
            (_, Some(share)) => format!("{}{:.1} %", sign(share.get()), share.get().abs() * 100.0),
            (unit, None) => format!("{}{} {unit}", sign(difference), difference.abs()),
        }
    }
}

/// What the statistics say of one field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// 95 % interval of candidate ÷ baseline, noise between jobs included.
    pub interval: Option<(Finite, Finite)>,
    /// Chance of a residual this large without a change of this field.
    pub p: Finite,
    /// The same, adjusted for all gated fields (Holm).
    pub p_holm: Finite,
    /// The smallest change that this field could have shown with 90 % power; `None`: this evidence can't fail the field by itself.
    pub resolution: Option<Finite>,
}

/// Who decided a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The limit as written, whatever the noise.
    Limits,
    /// The evidence rule.
    Evidence,
    /// The engine is deterministic: any change is real.
    Exact,
}

/// The judgement of one field.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Which field.
    pub field: FieldId,
    /// What is said of it.
    pub judgement: Judgement,
    /// Whether a rule gates it.
    pub gated: bool,
    /// Blessed value; absent where there is none.
    pub old: Option<Finite>,
    /// Candidate's value; absent where there is none.
    pub new: Option<Finite>,
    /// Unit of both.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Limits in force.
    pub tolerance: Option<Tolerance>,
    /// What the statistics say.
    pub evidence: Option<Evidence>,
    /// Who decided.
    pub decided_by: Option<DecidedBy>,
    /// Limits decided, and the evidence rule agrees (`true`) or does not (`false`).
    pub confirmed: Option<bool>,
    /// Only a summary was there on one side at least.
    pub summary: bool,
    /// Why, the most important first.
    pub reasons: Vec<Reason>,
}

impl Finding {
    /// Both values, if both are there.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        Some(Change { old: self.old?, new: self.new?, unit: self.unit, direction: self.direction })
    }

    /// How far over its limit, as a sort key: the larger the worse.
    #[must_use]
    pub fn badness(&self) -> Finite {
        let share = self.change().and_then(|c| c.relative()).map_or(0.0, Finite::get);
        let worse = if self.direction == Direction::HigherIsBetter { -share } else { share };
        Finite::new(worse).unwrap_or(Finite::ZERO)
    }
}

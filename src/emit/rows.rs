//! The table of fields, as text cells.

use crate::model::finding::Toward;
use crate::model::{Finding, Judgement, Quantity};

use super::evidence::interval;

/// How much a row asks for attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It fails the gate.
    Fails,
    /// It does not, and a person should look.
    Look,
    /// It got better.
    Better,
    /// Nothing to see.
    Quiet,
}

/// In the place of a value that there is not.
pub const NONE: &str = "none";

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// How much it asks for attention.
    pub mark: Mark,
    /// `group:metric.statistic`.
    pub field: String,
    /// Blessed value with its unit, or `none`.
    pub blessed: String,
    /// Candidate's value with its unit, or `none`.
    pub now: String,
    /// `+18.7 %`.
    pub change: String,
    /// 95 % interval of the change, where known.
    pub interval: Option<String>,
    /// The limit in force; empty where no rule gates the field.
    pub limit: String,
    /// `REGRESSED, slower`.
    pub judgement: String,
}

/// One field as a row.
#[must_use]
pub fn row(finding: &Finding) -> Row {
    let unit = finding.unit;
    let decimals =
        [finding.old, finding.new].into_iter().flatten().map(|v| unit.decimals(v)).max().unwrap_or(0);
    let value = |value: Option<_>| match value {
        None => NONE.to_owned(),
        Some(value) => Quantity { value, unit }.with_decimals(decimals),
    };
    Row {
        mark: mark(finding),
        field: finding.field.to_string(),
        blessed: value(finding.old),
        now: value(finding.new),
        change: finding.change().map(|change| change.amount()).unwrap_or_default(),
        interval: interval(finding),
        limit: finding.tolerance.as_ref().map(|t| t.words(finding.direction, unit)).unwrap_or_default(),
        judgement: judgement(finding),
    }
}

fn mark(finding: &Finding) -> Mark {
    match finding.judgement {
        _ if super::headline::fails(finding) => Mark::Fails,
        _ if !finding.gated => Mark::Quiet,
        Judgement::Unresolved | Judgement::TooFew | Judgement::Waived => Mark::Look,
        Judgement::Improved => Mark::Better,
        _ => Mark::Quiet,
    }
}

/// The judgement in words, with the side to which the value went where that matters.
fn judgement(finding: &Finding) -> String {
    let def = finding.field.metric.def();
    let side = match (finding.change().map(|change| change.toward()), def) {
        (Some(Toward::Worse), Some(def)) => Some(def.worse),
        (Some(Toward::Better), Some(def)) => Some(def.better),
        _ => None,
    };
    let word = finding.judgement.word();
    let word = if super::headline::fails(finding) { word.to_uppercase() } else { word.to_owned() };
    let moved = matches!(
        finding.judgement,
        Judgement::Regressed | Judgement::Improved | Judgement::Unresolved | Judgement::Waived
    );
    let side = side.filter(|_| moved).map(|side| format!(", {side}")).unwrap_or_default();
    format!("{word}{side}")
}

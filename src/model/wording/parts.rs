//! Words and numbers that several sentences share.

use crate::model::policy::trimmed;
use crate::model::quantity::Finite;
use crate::model::reason::Side;

pub fn side_words(side: Side) -> &'static str {
    match side {
        Side::Blessed => "in the blessed baseline",
        Side::Candidate => "in this report",
    }
}

/// Where a mean over rounds is shown, a value of one of them is named as such.
pub fn round_words(in_a_round: bool) -> &'static str {
    if in_a_round { " in a round" } else { "" }
}

/// A share with its sign: `+18.7 %`.
pub fn plus(share: Finite) -> String {
    let sign = if share.get() < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{} %", trimmed((share.get().abs() * 1000.0).round() / 10.0))
}

/// A share without its sign, where a word says which way: `18.7 %`.
pub fn share(share: Finite) -> String {
    format!("{} %", trimmed((share.get() * 1000.0).round() / 10.0))
}

/// A probability without false precision.
pub fn chance(p: Finite) -> String {
    match p.get() {
        p if p < 0.0001 => "under 1 in 10,000".to_owned(),
        p if p < 0.01 => format!("{:.2} %", p * 100.0),
        p => format!("{:.0} %", p * 100.0),
    }
}

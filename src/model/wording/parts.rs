//! Words and numbers that several sentences share.

use std::fmt::Display;

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

/// A number of things: `1 field`, `2 fields`. The noun is one whose plural only adds an s.
pub fn count<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let end = if n == N::from(1) { "" } else { "s" };
    format!("{n} {noun}{end}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_thing_has_no_plural() {
        let fields = |n: usize| count(n, "more field");
        assert_eq!([fields(0), fields(1), fields(2)], ["0 more fields", "1 more field", "2 more fields"]);
    }
}

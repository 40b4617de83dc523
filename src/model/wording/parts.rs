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

/// How much of a whole a part is: `99.33 %`. One failure in a million is not "100 %", and one success in a million not "0 %",
/// whatever they round to.
#[expect(clippy::cast_precision_loss, reason = "request counts are far below 2^53")]
pub fn part_of(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    let shown = if part == 0 || part >= whole { percent } else { percent.clamp(0.01, 99.99) };
    format!("{shown:.2} %")
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

    #[test]
    fn a_part_is_never_shown_as_all_or_nothing() {
        for (part, whole, shown) in [
            (0, 0, "0.00 %"),
            (0, 7, "0.00 %"),
            (1, 1_000_000, "0.01 %"),
            (53, 60, "88.33 %"),
            (298, 299, "99.67 %"),
            (999_999, 1_000_000, "99.99 %"),
            (7, 7, "100.00 %"),
        ] {
            assert_eq!(part_of(part, whole), shown, "{part} of {whole}");
        }
        assert_eq!(
            (count(0, "job"), count(1, "job"), count(2, "job")),
            ("0 jobs".into(), "1 job".into(), "2 jobs".into())
        );
    }
}

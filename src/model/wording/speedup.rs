//! The number that people read upside down.

use crate::model::finding::Change;
use crate::model::group::GroupId;
use crate::model::policy::Tolerance;
use crate::model::quantity::{Finite, Quantity};
use crate::model::sentence::Sentence;
use crate::model::statistic::Statistic;

pub fn speedup_reversed(
    group: &GroupId,
    reference: &str,
    statistic: Statistic,
    old: Finite,
    new: Finite,
    legs: (Finite, Finite),
) -> Sentence {
    Sentence::default().own(format!(
            "{group} was faster than the reference strategy {reference} and is now SLOWER than it: at {statistic} of e2e it now takes {} where the reference strategy takes {} (speedup_vs_baseline.{statistic} {}x \u{2192} {}x; below 1 is slower)",
            ms(legs.1),
            ms(legs.0),
            two(old),
            two(new)
        ))
}

pub fn speedup_fell(
    group: &GroupId,
    reference: &str,
    statistic: Statistic,
    change: Change,
    tolerance: &Tolerance,
) -> Sentence {
    Sentence::default().own(format!(
            "{group} {} the reference strategy {reference}: speedup_vs_baseline.{statistic} fell {}x \u{2192} {}x ({}, limit {}): less speed-up",
            standing(change.old, change.new),
            two(change.old),
            two(change.new),
            change.amount(),
            tolerance.words(change.direction, change.unit)
        ))
}

pub fn speedup_unclear(
    group: &GroupId,
    reference: &str,
    statistic: Statistic,
    old: Finite,
    new: Finite,
    interval: Option<(Finite, Finite)>,
) -> Sentence {
    Sentence::default().own(format!(
            "{group} is no longer demonstrably faster than the reference strategy {reference}: speedup_vs_baseline.{statistic} {}x \u{2192} {}x{}",
            two(old),
            two(new),
            interval.map(|(lo, hi)| format!(" (95 %: {} to {})", two(lo), two(hi))).unwrap_or_default()
        ))
}

pub fn speedup_swapped(
    group: &GroupId,
    reference: &str,
    reported: Finite,
    recomputed: Finite,
    statistic: Statistic,
    legs: (Finite, Finite),
) -> Sentence {
    Sentence::default().own(format!(
            "the report has speedup_vs_baseline upside down for {group}: it says {reported}, but at {statistic} of e2e the reference strategy {reference} takes {} and this strategy {}, and reference / this = {}, so this strategy is {} than the reference strategy. Numerator and denominator are swapped",
            ms(legs.0),
            ms(legs.1),
            two(recomputed),
            if recomputed.get() >= 1.0 { "FASTER" } else { "SLOWER" }
        ))
}

pub fn speedup_contradicted(
    group: &GroupId,
    reference: &str,
    reported: Finite,
    recomputed: Finite,
    statistic: Statistic,
) -> Sentence {
    Sentence::default().own(format!(
            "the report says speedup_vs_baseline {reported} for {group}, but its own {statistic} of e2e gives {} ({reference} / this strategy); the recomputed value is judged",
            two(recomputed)
        ))
}

pub fn speedup_default(
    group: &GroupId,
    reference: &str,
    reported: Finite,
    recomputed: Finite,
    statistic: Statistic,
) -> Sentence {
    Sentence::default().own(format!(
        "the report says speedup_vs_baseline {reported} for {group}, which looks like a default and no measurement: its own {statistic} of e2e gives {} ({reference} / this strategy). Mend the tool that wrote it",
        two(recomputed)
    ))
}

pub fn speedup_not_recomputable(group: &GroupId, reported: Option<Finite>, why: &str) -> Sentence {
    Sentence::default().own(format!(
        "speedup_vs_baseline of {group} can't be computed: {why}{}",
        reported
            .map(|r| format!("; the {r} that the report gives is not trusted by itself"))
            .unwrap_or_default()
    ))
}

pub fn no_reference(wanted: &Option<String>, strategies: &[String]) -> Sentence {
    Sentence::default().own(format!(
            "no speed-up can be computed: there is no reference strategy{} among {}; name one of them \"baseline\" (for files: baseline=REPORT), or set reference in pacegate.toml",
            wanted.as_ref().map(|w| format!(" \"{w}\"")).unwrap_or_default(),
            strategies.join(", ")
        ))
}

fn standing(old: Finite, new: Finite) -> &'static str {
    match (old.get() > 1.0, new.get() > 1.0) {
        (_, true) => "is still faster than",
        (false, false) => "is slower than",
        (true, false) => "is no longer faster than",
    }
}

fn two(value: Finite) -> String {
    format!("{:.2}", value.get())
}

fn ms(value: Finite) -> String {
    Quantity { value, unit: crate::model::quantity::Unit::Millisecond }.to_string()
}

//! A field against its limit.

use crate::model::field::FieldId;
use crate::model::finding::{Change, Toward};
use crate::model::group::GroupId;
use crate::model::metric::Metric;
use crate::model::policy::{Allowance, Origin, Tolerance};
use crate::model::quantity::{Finite, Quantity};
use crate::model::reason::{Instead, Side};
use crate::model::sentence::Sentence;

use super::parts::{chance, count, round_words, side_words};

pub fn over_limit(field: &FieldId, change: Change, tolerance: &Tolerance) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} {} {} ({}, limit {}): {}",
        field.local(),
        field.group,
        change.verb(),
        change.values(),
        change.amount(),
        tolerance.words(change.direction, change.unit),
        word(&field.metric, &change)
    ))
}

pub fn under_min_change(field: &FieldId, change: Change, tolerance: &Tolerance) -> Sentence {
    Sentence::default().own(format!(
            "{} of {} {} {} ({}): over the share of its limit ({}), but the change is not above min_change, so it does not count",
            field.local(),
            field.group,
            change.verb(),
            change.values(),
            change.amount(),
            tolerance.words(change.direction, change.unit)
        ))
}

pub fn over_max(field: &FieldId, value: Quantity, max: Finite, origin: &Origin) -> Sentence {
    Sentence::default()
        .own(format!(
            "{} of {} is {value}, above the absolute limit of {}",
            field.local(),
            field.group,
            Quantity { value: max, unit: value.unit }
        ))
        .then(set_at(origin))
}

pub fn under_min(field: &FieldId, value: Quantity, min: Finite, origin: &Origin) -> Sentence {
    Sentence::default()
        .own(format!(
            "{} of {} is {value}, below the absolute limit of {}",
            field.local(),
            field.group,
            Quantity { value: min, unit: value.unit }
        ))
        .then(set_at(origin))
}

fn set_at(origin: &Origin) -> Sentence {
    match origin {
        Origin::Default => Sentence::default().own(" (built-in limit)"),
        written => Sentence::default().own(" set at ").foreign(written.to_string()),
    }
}

pub fn better(field: &FieldId, change: Change) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} {} {} ({}): {}",
        field.local(),
        field.group,
        change.verb(),
        change.values(),
        change.amount(),
        word(&field.metric, &change)
    ))
}

pub fn unconfirmed(
    p: Option<Finite>,
    expected: Option<Finite>,
    gated: usize,
    lift: &Option<String>,
) -> Sentence {
    Sentence::default().own(unconfirmed_words(p, expected, gated, lift.as_deref()))
}

pub fn confirmed(by: &&'static str, p: Finite) -> Sentence {
    Sentence::default().own(format!("confirmed by {by} (chance without a change: {})", chance(p)))
}

pub fn could_be_noise(field: &FieldId, change: Change, tolerance: &Tolerance, p: Option<Finite>) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} {} {} ({}, limit {}), but noise between jobs could explain it{}",
        field.local(),
        field.group,
        change.verb(),
        change.values(),
        change.amount(),
        tolerance.words(change.direction, change.unit),
        p.map(|p| format!(" (chance without a change: {})", chance(p))).unwrap_or_default()
    ))
}

pub fn too_few_samples(field: &FieldId, n: u64, needed: u64, instead: Instead) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} has {} in its smallest round and needs {needed} to be {}{}",
        field.local(),
        field.group,
        count(n, "sample"),
        if instead == Instead::OwnLimit { "told from noise" } else { "judged" },
        in_its_place(field, instead)
    ))
}

pub fn unequal_samples(field: &FieldId, smaller: u64, larger: u64, instead: Instead) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is of {} on one side and of {smaller} on the other: tails of such unequal runs differ by themselves{}",
        field.local(),
        field.group,
        count(larger, "sample"),
        in_its_place(field, instead)
    ))
}

fn in_its_place(field: &FieldId, instead: Instead) -> String {
    match instead {
        Instead::Nothing => String::new(),
        Instead::Percentile(other) => format!("; {}.{other} is judged in its place", field.metric),
        Instead::OwnLimit => "; its limit decides all the same".to_owned(),
    }
}

pub fn zero_value(field: &FieldId, side: Side, in_a_round: bool) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is 0{} {}: below what the clock can tell, so no change can be computed",
        field.local(),
        field.group,
        round_words(in_a_round),
        side_words(side)
    ))
}

pub fn missing(field: &FieldId, old: Quantity, hint: &Option<String>) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is missing: the blessed baseline has {old}, this report has none{}",
        field.local(),
        field.group,
        hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default()
    ))
}

pub fn no_latency_left(group: &GroupId) -> Sentence {
    Sentence::default()
        .own(format!("no latency field of {group} has enough samples to be judged: send more requests"))
}

pub fn new(field: &FieldId) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is new: the blessed baseline does not have it, so nothing watches it until it is blessed",
        field.local(),
        field.group
    ))
}

pub fn not_judged(field: &FieldId) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is gated and was not judged, and that is never a pass",
        field.local(),
        field.group
    ))
}

pub fn limit_out_of_reach(field: &FieldId, old: Quantity, tolerance: &Tolerance) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} can't fail: its limit is {}, and the blessed value is {old}, which can't fall by so much. Write a smaller limit, or min",
        field.local(),
        field.group,
        tolerance.words(field.metric.direction(), old.unit)
    ))
}

pub fn withdrawn(group: &GroupId) -> Sentence {
    Sentence::default().own(format!(
        "not called an improvement: fewer requests of {group} succeeded, and failing fast is not fast"
    ))
}

pub fn waived(
    field: &FieldId,
    change: Change,
    allowance: Allowance,
    why: &str,
    until: time::Date,
) -> Sentence {
    Sentence::default()
        .own(format!(
            "{} of {} {} {} ({}), waived up to {} until {until}: ",
            field.local(),
            field.group,
            change.verb(),
            change.values(),
            change.amount(),
            allowance.signed(change.direction, change.unit)
        ))
        .foreign(why)
}

pub fn waiver_expired(pattern: &str, why: &str, until: time::Date, origin: &Origin) -> Sentence {
    Sentence::default()
        .own(format!("the waiver for {pattern} ended on {until} and covers nothing any more ("))
        .foreign(why)
        .own(", at ")
        .foreign(origin.to_string())
        .own("): mend the field, or give it a new date")
}

pub fn waiver_expires_soon(pattern: &str, why: &str, until: time::Date, days: i64) -> Sentence {
    Sentence::default()
        .own(format!("the waiver for {pattern} ends on {until}, in {days} days ("))
        .foreign(why)
        .own(")")
}

pub fn waiver_exceeded(field: &FieldId, change: Change, allowance: Allowance, origin: &Origin) -> Sentence {
    Sentence::default()
        .own(format!(
            "the waiver for {} of {} allows {}, and it is {}: not covered (",
            field.local(),
            field.group,
            allowance.signed(change.direction, change.unit),
            change.amount()
        ))
        .foreign(origin.to_string())
        .own(")")
}

pub fn waiver_unused(pattern: &str, origin: &Origin, nearest: &Option<String>) -> Sentence {
    let meant = |field| format!(": it matches no field; did you mean {field}?");
    Sentence::default()
        .own(format!("the waiver for {pattern} at "))
        .foreign(origin.to_string())
        .own(" covers nothing in this run")
        .own(nearest.as_ref().map(meant).unwrap_or_default())
}

fn word(metric: &Metric, change: &Change) -> &'static str {
    match (metric.def(), change.toward()) {
        (Some(def), Toward::Worse) => def.worse,
        (Some(def), Toward::Better) => def.better,
        (_, Toward::Same) => "the same",
        (_, _) => "changed",
    }
}

fn unconfirmed_words(
    p: Option<Finite>,
    expected: Option<Finite>,
    gated: usize,
    lift: Option<&str>,
) -> String {
    let mut text =
        "unconfirmed: the limit decides as written, because this evidence can't tell a change from noise"
            .to_owned();
    if let Some(p) = p {
        text.push_str(&format!(" (chance without a change: {})", chance(p)));
    }
    if let Some(expected) = expected {
        text.push_str(&format!(
            "; identical code would put about {:.1} of {gated} fields above their limits",
            expected.get()
        ));
    }
    if let Some(lift) = lift {
        text.push_str(&format!(". Evidence decides with {lift}"));
    }
    text
}

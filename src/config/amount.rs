//! Amounts as people write them: `10%`, `1pp`, `2ms`, `0.5 s`, `100 tok/s`.

use crate::model::policy::Allowance;
use crate::model::quantity::Unit;
use crate::model::{Direction, Finite, Metric};

use super::error::{ConfigError, Problem};
use super::nearest::{in_brackets, nearest};
use super::table::Entry;
use toml::de::DeValue;

/// A number with what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    /// `10%`, as 0.1.
    Percent(f64),
    /// `1pp`, as 0.01.
    Points(f64),
    /// `0.5s`, as 500 ms.
    Of(f64, Unit),
}

/// What an amount is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// `max_increase`, `max_decrease`, or a waiver's limit.
    Change,
    /// `min_change`.
    Floor,
    /// `max` or `min`.
    Bound,
}

/// How each suffix is kept: a power of ten, so that `99.9%` is the very number 0.999, then a factor. Percent and points
/// are apart.
const UNITS: &[(&str, i32, f64, Unit)] = &[
    ("ms", 0, 1.0, Unit::Millisecond),
    ("s", 3, 1.0, Unit::Millisecond),
    ("us", -3, 1.0, Unit::Millisecond),
    ("\u{b5}s", -3, 1.0, Unit::Millisecond),
    ("\u{3bc}s", -3, 1.0, Unit::Millisecond),
    ("min", 3, 60.0, Unit::Millisecond),
    ("tok/s", 0, 1.0, Unit::TokensPerSecond),
    ("req/s", 0, 1.0, Unit::RequestsPerSecond),
    ("MB", 0, 1.0, Unit::Megabyte),
    ("GB", 3, 1.0, Unit::Megabyte),
    ("x", 0, 1.0, Unit::Ratio),
];

/// Splits a sign off, if there is one.
fn signed(text: &str) -> (Option<char>, &str) {
    match text.chars().next() {
        Some('+') => (Some('+'), &text[1..]),
        Some('-') => (Some('-'), &text[1..]),
        Some('\u{2212}') => (Some('-'), text.trim_start_matches('\u{2212}')),
        _ => (None, text),
    }
}

/// Reads an amount without a sign; the error says what is wrong with it.
fn parse(text: &str) -> Result<Amount, String> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, suffix) = (&text[..end], text[end..].trim());
    let plain = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    let shifted = |power: i32| {
        let value =
            format!("{number}e{power}").parse::<f64>().ok().filter(|value| value.is_finite() && plain);
        value.ok_or_else(|| "that is no number with a unit".to_owned())
    };
    match suffix {
        "" => shifted(0).and(Err("a bare number can be a percentage or an amount".to_owned())),
        "%" => shifted(-2).map(Amount::Percent),
        "pp" => shifted(-2).map(Amount::Points),
        _ => match UNITS.iter().find(|(name, ..)| *name == suffix) {
            Some((_, power, times, unit)) => shifted(*power).map(|value| Amount::Of(value * times, *unit)),
            None => {
                shifted(0)?;
                let names = UNITS.iter().map(|(name, ..)| *name).chain(["%", "pp"]);
                let near = nearest(suffix, names);
                Err(format!("\"{suffix}\" is no unit{}", in_brackets(near.as_deref())))
            }
        },
    }
}

/// How an amount of this kind is written.
pub(super) const fn forms(slot: Slot, unit: Unit) -> &'static str {
    match (slot, unit) {
        (Slot::Change, Unit::Millisecond) => "\"10%\" or \"20ms\"",
        (Slot::Change, Unit::TokensPerSecond) => "\"10%\" or \"50tok/s\"",
        (Slot::Change, Unit::RequestsPerSecond) => "\"10%\" or \"0.5req/s\"",
        (Slot::Change, Unit::Megabyte) => "\"10%\" or \"500MB\"",
        (Slot::Change, Unit::Ratio) => "\"10%\" or \"0.1x\"",
        (Slot::Change, Unit::Fraction) => "\"1pp\"",
        (Slot::Floor, Unit::Millisecond) => "\"2ms\"",
        (Slot::Floor, Unit::TokensPerSecond) => "\"5tok/s\"",
        (Slot::Floor, Unit::RequestsPerSecond) => "\"0.1req/s\"",
        (Slot::Floor, Unit::Megabyte) => "\"100MB\"",
        (Slot::Bound, Unit::Millisecond) => "\"3000ms\" or \"3s\"",
        (Slot::Bound, Unit::TokensPerSecond) => "\"500tok/s\"",
        (Slot::Bound, Unit::RequestsPerSecond) => "\"2req/s\"",
        (Slot::Bound, Unit::Megabyte) => "\"40000MB\" or \"40GB\"",
        (Slot::Bound, Unit::Ratio) => "\"1.2x\"",
        (Slot::Bound, Unit::Fraction) => "\"95%\"",
        (Slot::Floor, Unit::Fraction | Unit::Ratio) | (_, Unit::Token | Unit::Plain) => {
            "an amount with its unit"
        }
    }
}

/// How much a field may change for the worse.
pub(super) fn change(entry: &Entry<'_>, field: &str, metric: &Metric) -> Result<Allowance, ConfigError> {
    let allowance = match read(entry, field, metric, Slot::Change)? {
        Amount::Percent(share) => Allowance::Relative(finite(share)),
        Amount::Points(share) => Allowance::Points(finite(share)),
        Amount::Of(value, _) => Allowance::Absolute(finite(value)),
    };
    let refuse = |why: &str| Err(wrong(entry, field, metric, Slot::Change, why));
    match allowance {
        Allowance::Relative(v) | Allowance::Points(v) | Allowance::Absolute(v) if v == Finite::ZERO => {
            refuse("a limit of 0 fails on noise alone")
        }
        Allowance::Relative(v) | Allowance::Points(v)
            if v.get() >= 1.0 && metric.direction() == Direction::HigherIsBetter =>
        {
            refuse("nothing falls by more than 100 %, so this could never fail")
        }
        allowance => Ok(allowance),
    }
}

/// A floor or a bound, in the metric's unit.
pub(super) fn value(
    entry: &Entry<'_>,
    field: &str,
    metric: &Metric,
    slot: Slot,
) -> Result<Finite, ConfigError> {
    let refuse = |why: &str| Err(wrong(entry, field, metric, slot, why));
    match (read(entry, field, metric, slot)?, metric.direction()) {
        (Amount::Percent(share) | Amount::Points(share), _) if share > 1.0 => {
            refuse("no rate is above 100 %")
        }
        (Amount::Of(v, _), Direction::LowerIsBetter) if slot == Slot::Bound && v == 0.0 => {
            refuse("nothing takes no time, so this could never pass")
        }
        (Amount::Percent(v) | Amount::Points(v) | Amount::Of(v, _), _) => Ok(finite(v)),
    }
}

/// A share written in percent, such as `run_noise`.
pub(super) fn share(entry: &Entry<'_>) -> Result<Finite, ConfigError> {
    let expected = "a percentage above 0 such as \"5%\"";
    let text = entry.string(expected)?;
    match parse(text.trim()) {
        Ok(Amount::Percent(share)) if share > 0.0 => Ok(finite(share)),
        _ => Err(entry.wrong(expected)),
    }
}

/// A time limit in whole milliseconds.
pub(super) fn whole_millis(entry: &Entry<'_>) -> Result<u32, ConfigError> {
    let expected = "a time of 1 ms or more such as \"10s\"";
    let text = entry.string(expected)?;
    match parse(text.trim()) {
        Ok(Amount::Of(ms, Unit::Millisecond)) if ms.fract() == 0.0 && (1.0..=4e9).contains(&ms) => {
            Ok(ms as u32)
        }
        _ => Err(entry.wrong(expected)),
    }
}

/// The text is finite by its grammar and its length was checked by parsing.
fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap_or(Finite::ZERO)
}

fn read(entry: &Entry<'_>, field: &str, metric: &Metric, slot: Slot) -> Result<Amount, ConfigError> {
    let refuse = |why: &str| wrong(entry, field, metric, slot, why);
    let text = match entry.value.get_ref() {
        DeValue::String(text) => text.trim(),
        DeValue::Float(number) if number.as_str().ends_with("nan") || number.as_str().ends_with("inf") => {
            return Err(refuse("that is no number with a unit"));
        }
        DeValue::Integer(_) | DeValue::Float(_) => {
            return Err(refuse("a bare number can be a percentage or an amount"));
        }
        _ => return Err(refuse("that is no amount")),
    };
    let (sign, rest) = signed(text);
    let amount = parse(rest.trim_start()).map_err(|why| refuse(&why))?;
    let worse = if metric.direction() == Direction::HigherIsBetter { '-' } else { '+' };
    match sign {
        Some('+') if entry.key == "limit" && worse == '-' => {
            return Err(refuse("higher is better, so it is worse when it falls (-)"));
        }
        Some('-') if entry.key == "limit" && worse == '+' => {
            return Err(refuse("lower is better, so it is worse when it rises (+)"));
        }
        Some('-') if entry.key != "limit" => return Err(refuse("a limit can't be negative")),
        _ => {}
    }
    fits(amount, metric.unit(), slot, metric).map_err(|why| refuse(&why))
}

/// Whether an amount can be meant for this metric.
fn fits(amount: Amount, unit: Unit, slot: Slot, metric: &Metric) -> Result<Amount, String> {
    let rate = unit == Unit::Fraction;
    match (amount, slot) {
        (Amount::Percent(_), Slot::Change) if rate => {
            Err("a rate changes by percentage points (pp)".to_owned())
        }
        (Amount::Percent(_), Slot::Bound) if rate => Ok(amount),
        (Amount::Percent(_), Slot::Change) => Ok(amount),
        (Amount::Percent(_), _) => Err("a percentage of what? This is an amount".to_owned()),
        (Amount::Points(_), Slot::Bound) if rate => Err("pp is a difference of two rates".to_owned()),
        (Amount::Points(_), _) if rate => Ok(amount),
        (Amount::Points(_), _) => Err(format!("pp is for rates; {metric} is {}", kind(unit))),
        (Amount::Of(_, given), _) if given == unit => Ok(amount),
        (Amount::Of(_, given), _) => Err(format!("{metric} is {}, not in {given}", kind(unit))),
    }
}

fn kind(unit: Unit) -> String {
    match unit {
        Unit::Fraction => "a rate".to_owned(),
        Unit::Ratio => "a ratio".to_owned(),
        _ => format!("in {unit}"),
    }
}

fn wrong(entry: &Entry<'_>, field: &str, metric: &Metric, slot: Slot, why: &str) -> ConfigError {
    let forms = match (entry.key, metric.unit(), metric.direction()) {
        ("limit", Unit::Fraction, _) => "\"-2pp\"",
        ("limit", _, Direction::HigherIsBetter) => "\"-25%\"",
        ("limit", _, _) => "\"+25%\"",
        (_, unit, _) => forms(slot, unit),
    };
    entry.value_error(Problem::Amount {
        key: entry.key.to_owned(),
        field: field.to_owned(),
        found: entry.written(),
        why: why.to_owned(),
        forms: forms.to_owned(),
    })
}

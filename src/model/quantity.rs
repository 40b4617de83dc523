//! Numbers that may cross module borders: finite, and with their unit.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number that is neither NaN nor infinite, so that it can be ordered, stored as JSON and compared.
///
/// Minus zero is stored as zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(with = "f64")]
pub struct Finite(f64);

/// A value was NaN or infinite.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a finite number")]
pub struct NotFinite(pub f64);

impl Finite {
    /// Zero.
    pub const ZERO: Finite = Finite(0.0);

    /// Takes a float.
    ///
    /// # Errors
    /// NaN and the infinities are refused.
    pub fn new(value: f64) -> Result<Self, NotFinite> {
        if value.is_finite() { Ok(Finite(value + 0.0)) } else { Err(NotFinite(value)) }
    }

    /// A whole number.
    #[must_use]
    pub const fn whole(value: u32) -> Self {
        Finite(value as f64)
    }

    /// A number given in thousandths, for constants such as 0.15.
    #[must_use]
    pub const fn thousandths(value: u32) -> Self {
        Finite(value as f64 / 1000.0)
    }

    /// The float.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Finite {
    type Error = NotFinite;
    fn try_from(value: f64) -> Result<Self, NotFinite> {
        Finite::new(value)
    }
}

impl From<Finite> for f64 {
    fn from(value: Finite) -> f64 {
        value.0
    }
}

impl From<u32> for Finite {
    fn from(value: u32) -> Finite {
        Finite(f64::from(value))
    }
}

impl Eq for Finite {}

impl PartialOrd for Finite {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Finite {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl fmt::Display for Finite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What may stand behind a number and a space, so that both stay in one line.
pub const SYMBOLS: [&str; 8] = ["%", "pp", "ms", "tok/s", "req/s", "MB", "tokens", "token"];

/// The one unit in which a quantity is kept; sources convert at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millisecond,
    /// Tokens per second.
    #[serde(rename = "tok/s")]
    TokensPerSecond,
    /// Requests per second.
    #[serde(rename = "req/s")]
    RequestsPerSecond,
    /// A share between 0 and 1, shown as a percentage.
    #[serde(rename = "fraction")]
    Fraction,
    /// One time divided by another.
    #[serde(rename = "x")]
    Ratio,
    /// Megabytes (10^6 bytes).
    #[serde(rename = "MB")]
    Megabyte,
    /// Tokens.
    #[serde(rename = "tokens")]
    Token,
    /// A number without a unit, or one whose unit the source does not tell.
    #[serde(rename = "1")]
    Plain,
}

impl Unit {
    /// How the unit is written behind a number; empty where the number says it all.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Millisecond => "ms",
            Unit::TokensPerSecond => "tok/s",
            Unit::RequestsPerSecond => "req/s",
            Unit::Fraction => "%",
            Unit::Ratio => "x",
            Unit::Megabyte => "MB",
            Unit::Token => "tokens",
            Unit::Plain => "",
        }
    }

    /// `value` in this unit without the symbol, with `decimals` of [`Unit::decimals`].
    #[must_use]
    pub fn number(self, value: Finite, decimals: usize) -> String {
        let shown = if self == Unit::Fraction { value.get() * 100.0 } else { value.get() };
        format!("{shown:.decimals$}")
    }

    /// How many decimals a value of this size is shown with; a pair takes the larger of the two.
    #[must_use]
    pub fn decimals(self, value: Finite) -> usize {
        match (self, value.get().abs()) {
            (Unit::Fraction | Unit::Ratio, _) => 2,
            (Unit::Token, size) if size.fract() == 0.0 => 0,
            (_, 0.0) => 1,
            (_, size) if size >= 100.0 => 1,
            (_, size) if size >= 1.0 => 2,
            _ => 4,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// A number and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The number.
    pub value: Finite,
    /// Its unit.
    pub unit: Unit,
}

impl Quantity {
    /// `old -> new unit` with the same number of decimals on both sides: those of the larger, or as many more as it
    /// takes to tell the two apart.
    #[must_use]
    pub fn pair(old: Finite, new: Finite, unit: Unit) -> String {
        let fewest = unit.decimals(old).min(unit.decimals(new));
        let apart =
            |decimals: &usize| old == new || unit.number(old, *decimals) != unit.number(new, *decimals);
        let decimals = (fewest..=6).find(apart).unwrap_or(6);
        let text = format!("{} \u{2192} {} {unit}", unit.number(old, decimals), unit.number(new, decimals));
        text.trim_end().to_owned()
    }

    /// The smallest and the largest of some values: `101.2 ms`, or `101.2 to 240.1 ms` where they read differently.
    #[must_use]
    pub fn span(values: &[Finite], unit: Unit) -> Option<String> {
        let (low, high) = (*values.iter().min()?, *values.iter().max()?);
        let largest = Quantity { value: high, unit };
        let decimals = unit.decimals(low).max(unit.decimals(high));
        let (number, text) = (unit.number(low, decimals), largest.with_decimals(decimals));
        if number == unit.number(high, decimals) { Some(text) } else { Some(format!("{number} to {text}")) }
    }

    /// With a given number of decimals: `412.00 ms`, `1.50x`.
    #[must_use]
    pub fn with_decimals(&self, decimals: usize) -> String {
        let number = self.unit.number(self.value, decimals);
        match self.unit {
            Unit::Plain => number,
            Unit::Ratio => number + self.unit.symbol(),
            _ => format!("{number} {}", self.unit),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_decimals(self.unit.decimals(self.value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_and_infinity_are_no_numbers() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Finite::new(bad).is_err());
        }
        assert_eq!(Finite::new(-0.0).unwrap().to_string(), "0");
    }

    #[test]
    fn every_unit_that_stands_behind_a_space_is_known_to_those_who_break_lines() {
        let units = crate::model::metric::METRICS.iter().map(|def| def.unit.symbol());
        let apart: Vec<_> = units.filter(|unit| !["", Unit::Ratio.symbol()].contains(unit)).collect();
        assert!(apart.len() > 5 && apart.iter().all(|unit| SYMBOLS.contains(unit)), "{apart:?}");
    }

    #[test]
    fn a_span_shows_one_value_or_the_outermost() {
        let finite = |v| Finite::new(v).unwrap();
        let span = |values: &[f64]| {
            Quantity::span(&values.iter().map(|v| finite(*v)).collect::<Vec<_>>(), Unit::Millisecond)
        };
        assert_eq!(span(&[]), None);
        assert_eq!(span(&[412.0, 412.0]).unwrap(), "412.0 ms");
        assert_eq!(span(&[2.001, 2.004]).unwrap(), "2.00 ms");
        assert_eq!(span(&[240.1, 99.5, 101.0]).unwrap(), "99.50 to 240.10 ms");
        assert_eq!(Quantity { value: finite(1.5), unit: Unit::Ratio }.to_string(), "1.50x");
        assert_eq!(Quantity { value: finite(3.0), unit: Unit::Plain }.to_string(), "3.00");
    }

    #[test]
    fn a_pair_shows_both_sides_with_the_same_decimals() {
        let finite = |v| Finite::new(v).unwrap();
        assert_eq!(
            Quantity::pair(finite(412.0), finite(489.06), Unit::Millisecond),
            "412.0 \u{2192} 489.1 ms"
        );
        assert_eq!(Quantity::pair(finite(99.5), finite(100.25), Unit::Millisecond), "99.5 \u{2192} 100.2 ms");
        assert_eq!(Quantity::pair(finite(1.0), finite(0.905), Unit::Fraction), "100.00 \u{2192} 90.50 %");
    }
}

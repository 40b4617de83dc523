//! Numbers as other tools write them: as numbers, as texts, as `"inf"`, as null.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A number, or what stands in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Number {
    /// Null, or an empty text.
    #[default]
    Absent,
    /// A finite number.
    Finite(f64),
    /// `inf`, `Infinity`.
    Infinite,
    /// `NaN`, or minus infinity.
    Nan,
}

impl Number {
    /// The finite number, if it is one.
    #[must_use]
    pub fn finite(self) -> Option<f64> {
        match self {
            Number::Finite(value) => Some(value),
            Number::Absent | Number::Infinite | Number::Nan => None,
        }
    }

    /// A whole number that is not negative, if it is one.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    pub fn count(self) -> Option<u64> {
        let value = self.finite()?;
        ((0.0..=9e15).contains(&value) && value.fract() == 0.0).then_some(value as u64)
    }

    /// A float as a number.
    #[must_use]
    pub fn of(value: f64) -> Number {
        if value.is_finite() {
            Number::Finite(value)
        } else if value == f64::INFINITY {
            Number::Infinite
        } else {
            Number::Nan
        }
    }

    /// A number written as text; `None` if the text is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "" | "null" | "none" => Some(Number::Absent),
            "inf" | "+inf" | "infinity" | "+infinity" => Some(Number::Infinite),
            "n" | "nan" | "-inf" | "-infinity" => Some(Number::Nan),
            _ => text.parse::<f64>().ok().map(Number::of),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Lenient;
        impl Visitor<'_> for Lenient {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::of(value))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "what is above 2^53 is no count and no time in ms"
            )]
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number::Finite(value as f64))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "what is above 2^53 is no count and no time in ms"
            )]
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Finite(value as f64))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                Number::parse(text)
                    .ok_or_else(|| E::custom(format!("found the text {text:?}, expected a number")))
            }
            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number::Absent)
            }
        }
        deserializer.deserialize_any(Lenient)
    }
}

/// A text that identifies something. Numbers and booleans are taken as they are written, null and nested values as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        match Scalar::deserialize(deserializer)? {
            Scalar::Text(text) if !text.trim().is_empty() => Ok(Text(Some(text))),
            Scalar::Number(value) => Ok(Text(Some(value.to_string()))),
            Scalar::Flag(value) => Ok(Text(Some(value.to_string()))),
            Scalar::Text(_) | Scalar::Null | Scalar::Nested => Ok(Text(None)),
        }
    }
}

/// A value whose inside does not matter.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Null.
    Null,
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// An object or a list; its inside was skipped.
    Nested,
}

impl Scalar {
    /// It as a number; `None` where it can't be one.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        match self {
            Scalar::Null => Some(Number::Absent),
            Scalar::Number(value) => Some(Number::of(*value)),
            Scalar::Text(text) => Number::parse(text),
            Scalar::Flag(_) | Scalar::Nested => None,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar::Flag(value))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "what is above 2^53 is no count and no time in ms"
            )]
            fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value as f64))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "what is above 2^53 is no count and no time in ms"
            )]
            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value as f64))
            }
            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }
            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Null)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Nested)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Nested)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_every_spelling() {
        let read = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        for (text, number) in [
            ("1.5", Number::Finite(1.5)),
            ("3", Number::Finite(3.0)),
            ("-3", Number::Finite(-3.0)),
            ("\" 4.25 \"", Number::Finite(4.25)),
            ("\"inf\"   ", Number::Infinite),
            ("\"Infinity\"", Number::Infinite),
            ("\"n\"", Number::Nan),
            ("\"NaN\"", Number::Nan),
            ("\"-inf\"", Number::Nan),
            ("null", Number::Absent),
            ("\"\"", Number::Absent),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
        assert!(serde_json::from_str::<Number>("\"fast\"").is_err());
        assert!(serde_json::from_str::<Number>("[1]").is_err());
    }

    #[test]
    fn a_count_is_whole_and_not_negative() {
        assert_eq!(Number::Finite(300.0).count(), Some(300));
        assert_eq!(Number::Finite(-1.0).count(), None);
        assert_eq!(Number::Finite(0.5).count(), None);
        assert_eq!(Number::Infinite.count(), None);
    }
}

//! A flat JSON object of scalars with raw lists among them: how vLLM, SGLang and LLMeter write.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::number::{Number, Scalar};

/// The lists that are kept; every other list and object is skipped.
const NUMBER_LISTS: &[&str] = &["ttfts", "latencies", "output_lens", "input_lens", "start_times"];

/// A flat object.
#[derive(Debug, Default)]
pub struct Flat {
    /// Scalars by key; nested values are there as [`Scalar::Nested`].
    pub scalars: BTreeMap<String, Scalar>,
    /// Raw lists of numbers, one entry a request.
    pub lists: BTreeMap<String, Vec<Number>>,
    /// The texts of `errors`, one entry a request, empty for a success.
    pub errors: Option<Vec<String>>,
}

impl Flat {
    /// A scalar as a number; `None` if it is absent or no number.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<Number> {
        self.scalars.get(key)?.number()
    }

    /// A number that should be one: absent where the key is, `None` where something else stands.
    #[must_use]
    pub fn told(&self, key: &str) -> Option<Number> {
        self.scalars.get(key).map_or(Some(Number::Absent), Scalar::number)
    }

    /// A finite number.
    #[must_use]
    pub fn finite(&self, key: &str) -> Option<f64> {
        self.number(key)?.finite()
    }

    /// A count.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        self.number(key)?.count()
    }

    /// A text that is not empty; a number is taken as it is written.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        match self.scalars.get(key)? {
            Scalar::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            Scalar::Number(value) => Some(value.to_string()),
            Scalar::Flag(value) => Some(value.to_string()),
            Scalar::Text(_) | Scalar::Null | Scalar::Nested => None,
        }
    }

    /// A raw list, if there is one that is not empty.
    #[must_use]
    pub fn list(&self, key: &str) -> Option<&[Number]> {
        self.lists.get(key).map(Vec::as_slice).filter(|list| !list.is_empty())
    }
}

impl<'de> Deserialize<'de> for Flat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flat, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Flat;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Flat, A::Error> {
                let mut flat = Flat::default();
                while let Some(key) = map.next_key::<String>()? {
                    let twice = flat.scalars.contains_key(&key)
                        || flat.lists.contains_key(&key)
                        || (key == "errors" && flat.errors.is_some());
                    if twice {
                        return Err(A::Error::custom(format!("the key \"{key}\" stands twice")));
                    }
                    if NUMBER_LISTS.contains(&key.as_str()) {
                        flat.lists.insert(key, map.next_value::<Option<Vec<Number>>>()?.unwrap_or_default());
                    } else if key == "errors" {
                        flat.errors = map.next_value::<Errors>()?.0;
                    } else {
                        let value = map.next_value()?;
                        flat.scalars.insert(key, value);
                    }
                }
                Ok(flat)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// `errors`: a list of texts; whatever else it is, it tells nothing.
struct Errors(Option<Vec<String>>);

impl<'de> Deserialize<'de> for Errors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Errors, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Errors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of error texts")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Errors, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element::<Option<String>>()? {
                    texts.push(text.unwrap_or_default());
                }
                Ok(Errors(Some(texts)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Errors, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Errors(None))
            }
            fn visit_unit<E>(self) -> Result<Errors, E> {
                Ok(Errors(None))
            }
        }
        deserializer.deserialize_any(List)
    }
}

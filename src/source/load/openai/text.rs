//! Texts and counts as loosely as servers write them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A text; empty where the server wrote null, a number or an object. A list of parts is joined.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, null or a list of parts")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Cow::default())
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::default())
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Cow::default())
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Cow::default())
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Cow::default())
    }
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cow::default())
    }
    fn visit_seq<S: SeqAccess<'de>>(self, mut parts: S) -> Result<Self::Value, S::Error> {
        let mut joined = String::new();
        while let Some(part) = parts.next_element::<Value>()? {
            join(&part, &mut joined);
        }
        Ok(Cow::Owned(joined))
    }
}

/// Collects the texts of content parts: `{"type": "text", "text": …}`, and nested ones such as `thinking`.
fn join(part: &Value, joined: &mut String) {
    match part {
        Value::String(text) => joined.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| join(part, joined)),
        Value::Object(fields) => {
            for name in ["text", "thinking", "content"] {
                if let Some(value) = fields.get(name) {
                    join(value, joined);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A count; `None` where the server wrote null or something that is no count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count(pub Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor).map(Count)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count")
    }
    fn visit_u64<E: Error>(self, count: u64) -> Result<Self::Value, E> {
        Ok(Some(count))
    }
    fn visit_i64<E: Error>(self, count: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(count).ok())
    }
    fn visit_f64<E: Error>(self, count: f64) -> Result<Self::Value, E> {
        // What is beyond 64 bits stays the most that there is, so that it is seen to be no count.
        Ok((count.fract() == 0.0 && count >= 0.0).then_some(count as u64))
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_seq<S: SeqAccess<'de>>(self, mut parts: S) -> Result<Self::Value, S::Error> {
        while parts.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

//! A group: one combination of strategy, traffic, load and prompt tier.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::quantity::Finite;

/// The name of a group, such as `int8_quant/rag/c8/p1024`; `all` where a report has no dimension at all.
///
/// Files may be written by anyone, and sentences hold group names as our own words, so only names get in whose parts
/// are letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = "^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$", "maxLength" = 256))]
pub struct GroupId(pub String);

/// A file names a group, a strategy or a metric in a way that could not stand in a line of output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no name: expected 1 to 256 letters, digits, '.', '_', '-' and, in groups, '/'")]
pub struct BadName(pub String);

impl TryFrom<String> for GroupId {
    type Error = BadName;
    fn try_from(text: String) -> Result<GroupId, BadName> {
        if text.split('/').all(is_name) && text.len() <= 256 { Ok(GroupId(text)) } else { Err(BadName(text)) }
    }
}

/// Whether a text may be a strategy, a traffic model, a metric or another part of a name: `[A-Za-z0-9._-]`, 1 to 256.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// For `#[serde(deserialize_with = "…")]` on an optional name.
///
/// # Errors
/// What [`is_name`] refuses.
pub fn optional_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    match name {
        Some(name) if !is_name(&name) => Err(D::Error::custom(BadName(name))),
        name => Ok(name),
    }
}

impl GroupId {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a group is made of. A dimension that the source does not have is absent and left out of the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimensions {
    /// One way to serve.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_name")]
    pub strategy: Option<String>,
    /// The traffic model or data set.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_name")]
    pub traffic: Option<String>,
    /// Requests in flight, closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Requests per second, open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Finite>,
    /// Prompt tier in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u32>,
}

impl Dimensions {
    /// The group's name.
    #[must_use]
    pub fn id(&self) -> GroupId {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.strategy.clone());
        parts.extend(self.traffic.clone());
        parts.extend(self.concurrency.map(|c| format!("c{c}")));
        parts.extend(self.rate.map(|r| format!("r{r}")));
        parts.extend(self.prompt_tokens.map(|p| format!("p{p}")));
        if parts.is_empty() {
            parts.push("all".to_owned());
        }
        GroupId(parts.join("/"))
    }

    /// The same group of another strategy: the other leg of a speed-up.
    #[must_use]
    pub fn with_strategy(&self, strategy: &str) -> Dimensions {
        Dimensions { strategy: Some(strategy.to_owned()), ..self.clone() }
    }
}

/// Makes a foreign name safe as part of a group's name: letters are lowered, whatever is not `[a-z0-9._-]` becomes `_`.
///
/// `None` where nothing is left.
#[must_use]
pub fn name_part(foreign: &str) -> Option<String> {
    let lowered = foreign.trim().to_lowercase();
    let name: String = lowered
        .chars()
        .take(64)
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c) { c } else { '_' })
        .collect();
    name.chars().any(|c| c.is_ascii_alphanumeric()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_dimensions_are_left_out_of_the_name() {
        let full = Dimensions {
            strategy: Some("int8_quant".into()),
            traffic: Some("rag".into()),
            concurrency: Some(8),
            rate: None,
            prompt_tokens: Some(1024),
        };
        assert_eq!(full.id().as_str(), "int8_quant/rag/c8/p1024");
        assert_eq!(Dimensions::default().id().as_str(), "all");
        let open = Dimensions { rate: Finite::new(2.5).ok(), ..Dimensions::default() };
        assert_eq!(open.id().as_str(), "r2.5");
    }

    #[test]
    fn a_file_cannot_bring_a_name_that_would_reach_a_terminal_or_markdown() {
        let read = |json: &str| serde_json::from_str::<GroupId>(json);
        assert_eq!(read(r#""int8_quant/rag/c8/r2.5""#).unwrap().as_str(), "int8_quant/rag/c8/r2.5");
        for bad in
            [r#""""#, r#""a//b""#, r#""a\u001b[2J""#, r#""a|b""#, r#""a b""#, r#""<h1>""#, r#""\u00e4""#]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&format!("\"{}\"", "a".repeat(257))).is_err());
        assert!(serde_json::from_str::<Dimensions>(r#"{"strategy": "a\nb"}"#).is_err());
        assert!(serde_json::from_str::<Dimensions>(r#"{"strategy": null}"#).is_ok());
    }

    #[test]
    fn foreign_names_cannot_forge_a_path() {
        assert_eq!(name_part("INT8_QUANT").as_deref(), Some("int8_quant"));
        assert_eq!(name_part("a/b\u{1b}[2J").as_deref(), Some("a_b__2j"));
        assert_eq!(name_part(" // ").as_deref(), None);
    }
}

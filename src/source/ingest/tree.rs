//! A small report as a tree, for formats whose keys have many spellings. Big reports are read typed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::number::{Number, Scalar};

/// A JSON value whose objects keep their order and hold no key twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Null, a flag, a number or a text.
    Leaf(Scalar),
    /// A list.
    List(Vec<Tree>),
    /// An object.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value at a path of keys.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |tree, key| tree.get(key))
    }

    /// The entries of an object; none for anything else.
    #[must_use]
    pub fn entries(&self) -> &[(String, Tree)] {
        match self {
            Tree::Map(entries) => entries,
            Tree::Leaf(_) | Tree::List(_) => &[],
        }
    }

    /// The elements of a list; none for anything else.
    #[must_use]
    pub fn elements(&self) -> &[Tree] {
        match self {
            Tree::List(elements) => elements,
            Tree::Leaf(_) | Tree::Map(_) => &[],
        }
    }

    /// It as a number; `None` where it can't be one.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        match self {
            Tree::Leaf(scalar) => scalar.number(),
            Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// The finite number at a path of keys.
    #[must_use]
    pub fn finite(&self, path: &[&str]) -> Option<f64> {
        self.at(path)?.number()?.finite()
    }

    /// The count at a path of keys.
    #[must_use]
    pub fn count(&self, path: &[&str]) -> Option<u64> {
        self.at(path)?.number()?.count()
    }

    /// The text at a path of keys; a number is taken as it is written.
    #[must_use]
    pub fn text(&self, path: &[&str]) -> Option<String> {
        match self.at(path)? {
            Tree::Leaf(Scalar::Text(text)) if !text.trim().is_empty() => Some(text.clone()),
            Tree::Leaf(Scalar::Number(value)) => Some(value.to_string()),
            Tree::Leaf(Scalar::Flag(value)) => Some(value.to_string()),
            Tree::Leaf(Scalar::Text(_) | Scalar::Null | Scalar::Nested) | Tree::List(_) | Tree::Map(_) => {
                None
            }
        }
    }

    /// What it is, for a sentence: "the text \"fast\"".
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Tree::Leaf(Scalar::Null) => "null".to_owned(),
            Tree::Leaf(Scalar::Flag(value)) => value.to_string(),
            Tree::Leaf(Scalar::Number(value)) => format!("the number {value}"),
            Tree::Leaf(Scalar::Text(text)) => {
                format!("the text {:?}", text.chars().take(40).collect::<String>())
            }
            Tree::Leaf(Scalar::Nested) => "a nested value".to_owned(),
            Tree::List(_) => "a list".to_owned(),
            Tree::Map(_) => "an object".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Tree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
                Ok(Tree::Leaf(Scalar::Flag(value)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
                Ok(Tree::Leaf(Scalar::Number(value)))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "what is above 2^53 is no count and no time in ms"
            )]
            fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
                Ok(Tree::Leaf(Scalar::Number(value as f64)))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "what is above 2^53 is no count and no time in ms"
            )]
            fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
                Ok(Tree::Leaf(Scalar::Number(value as f64)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::Leaf(Scalar::Text(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Leaf(Scalar::Null))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    elements.push(element);
                }
                Ok(Tree::List(elements))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut entries: Vec<(String, Tree)> = Vec::new();
                let mut seen = std::collections::BTreeSet::new();
                while let Some(key) = map.next_key::<String>()? {
                    if !seen.insert(key.clone()) {
                        return Err(A::Error::custom(format!("the key \"{key}\" stands twice")));
                    }
                    let value = map.next_value()?;
                    entries.push((key, value));
                }
                Ok(Tree::Map(entries))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

//! Reading JSON objects as maps without losing a duplicate key.
//!
//! serde's own maps keep the last of two equal keys; a bad merge of a baseline would then pass unseen.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// For `#[serde(deserialize_with = "unique_map::deserialize")]` on every `BTreeMap` of ours.
///
/// # Errors
/// A key that stands twice, named.
pub fn deserialize<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord + fmt::Display,
    V: Deserialize<'de>,
{
    struct Unique<K, V>(PhantomData<(K, V)>);
    impl<'de, K: Deserialize<'de> + Ord + fmt::Display, V: Deserialize<'de>> Visitor<'de> for Unique<K, V> {
        type Value = BTreeMap<K, V>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = access.next_key::<K>()? {
                if map.contains_key(&key) {
                    return Err(A::Error::custom(format!("the key \"{key}\" stands twice")));
                }
                map.insert(key, access.next_value()?);
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(Unique(PhantomData))
}

/// The same for a map of maps: the inner ones refuse a key that stands twice, too.
///
/// # Errors
/// A key that stands twice, named.
pub fn nested<'de, D, K, L, V>(deserializer: D) -> Result<BTreeMap<K, BTreeMap<L, V>>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord + fmt::Display,
    L: Deserialize<'de> + Ord + fmt::Display,
    V: Deserialize<'de>,
{
    struct Inner<L, V>(BTreeMap<L, V>);
    impl<'de, L: Deserialize<'de> + Ord + fmt::Display, V: Deserialize<'de>> Deserialize<'de> for Inner<L, V> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserialize(deserializer).map(Inner)
        }
    }
    let maps: BTreeMap<K, Inner<L, V>> = deserialize(deserializer)?;
    Ok(maps.into_iter().map(|(key, Inner(map))| (key, map)).collect())
}

//! How a reason looks in JSON: a stable word and the sentence.

use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::reason::Reason;

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Reason", 2)?;
        object.serialize_field("code", &self.code())?;
        object.serialize_field("text", &self.to_string())?;
        object.end()
    }
}

/// How a reason looks in JSON.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ReasonJson {
    /// A stable word.
    code: String,
    /// The sentence.
    text: String,
}

impl JsonSchema for Reason {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reason".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        ReasonJson::json_schema(generator)
    }
}

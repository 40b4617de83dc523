//! Points in time as they stand in files.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A point in time, written as RFC 3339 (`2026-01-02T03:04:05Z`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("format" = "date-time"))]
pub struct Timestamp(pub OffsetDateTime);

impl TryFrom<String> for Timestamp {
    type Error = time::error::Parse;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        OffsetDateTime::parse(&text, &Rfc3339).map(Timestamp)
    }
}

impl From<Timestamp> for String {
    fn from(stamp: Timestamp) -> String {
        stamp.to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utc = self.0.to_offset(time::UtcOffset::UTC);
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            utc.year(),
            u8::from(utc.month()),
            utc.day(),
            utc.hour(),
            utc.minute(),
            utc.second()
        )
    }
}

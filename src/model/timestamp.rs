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
        // The last hours of the year 9999 west of Greenwich have no such form in universal time.
        let utc = self.0.checked_to_offset(time::UtcOffset::UTC).unwrap_or(self.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_that_universal_time_cannot_hold_is_no_panic() {
        let read = |text: &str| Timestamp::try_from(text.to_owned()).unwrap().to_string();
        assert_eq!(read("2026-01-02T03:04:05+02:00"), "2026-01-02T01:04:05Z");
        assert_eq!(read("9999-12-31T23:59:59-10:00"), "9999-12-31T23:59:59Z");
    }
}

//! Points in time as they stand in files.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// A point in time, written as RFC 3339 (`2026-01-02T03:04:05Z`): in universal time, to the second, in the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("format" = "date-time"))]
pub struct Timestamp(OffsetDateTime);

/// Why something is no [`Timestamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTimestamp {
    /// The text is none.
    #[error("is no point in time: {0}")]
    Unreadable(#[from] time::error::Parse),
    /// Its year has no four digits that every reader of RFC 3339 takes.
    #[error("is not in the years 1 to 9999 of universal time")]
    OutOfRange,
}

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(OffsetDateTime::UNIX_EPOCH);

    /// The point in time, its fraction of a second cut off.
    ///
    /// # Errors
    /// Its year in universal time is not 1 to 9999.
    pub fn new(at: OffsetDateTime) -> Result<Timestamp, NoTimestamp> {
        // The last hours of the year 9999 west of Greenwich have no form in universal time.
        let utc = at.checked_to_offset(UtcOffset::UTC).filter(|utc| (1..=9999).contains(&utc.year()));
        utc.map(|utc| Timestamp(utc.truncate_to_second())).ok_or(NoTimestamp::OutOfRange)
    }

    /// In universal time, to the second.
    #[must_use]
    pub const fn get(self) -> OffsetDateTime {
        self.0
    }
}

impl TryFrom<String> for Timestamp {
    type Error = NoTimestamp;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Timestamp::new(OffsetDateTime::parse(&text, &Rfc3339)?)
    }
}

impl From<Timestamp> for String {
    fn from(stamp: Timestamp) -> String {
        stamp.to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utc = self.0;
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

    fn read(text: &str) -> Result<String, NoTimestamp> {
        Timestamp::try_from(text.to_owned()).map(|stamp| stamp.to_string())
    }

    #[test]
    fn a_stamp_is_universal_time_to_the_second() {
        assert_eq!(read("2026-01-02T03:04:05.999+02:00").unwrap(), "2026-01-02T01:04:05Z");
        assert_eq!(read("9999-12-31T23:59:59Z").unwrap(), "9999-12-31T23:59:59Z");
        assert_eq!(read("0001-01-01T00:00:00Z").unwrap(), "0001-01-01T00:00:00Z");
        assert_eq!(Timestamp::EPOCH.to_string(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn what_universal_time_has_no_four_digits_for_is_no_stamp() {
        for text in [
            "9999-12-31T23:59:59-10:00",
            "9999-12-31T23:59:59-23:00",
            "0000-01-01T00:00:00+23:00",
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:00:00+00:01",
        ] {
            assert_eq!(read(text), Err(NoTimestamp::OutOfRange), "{text}");
        }
        assert!(matches!(read("yesterday"), Err(NoTimestamp::Unreadable(_))));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["\"0001-01-01T00:00:00Z\"", "\"2026-01-02T01:04:05Z\"", "\"9999-12-31T23:59:59Z\""] {
            let stamp: Timestamp = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&stamp).unwrap(), text);
        }
    }
}

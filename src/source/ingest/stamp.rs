//! Points in time as other tools write them.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

use crate::model::Timestamp;

/// RFC 3339, ISO without a zone (read as UTC), or vLLM's `20261130-095916` (the client's local time, read as UTC).
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(stamp) = OffsetDateTime::parse(text, &Rfc3339) {
        return Timestamp::new(stamp).ok();
    }
    let compact = format_description!("[year][month][day]-[hour][minute][second]");
    if let Ok(stamp) = PrimitiveDateTime::parse(text, compact) {
        return Timestamp::new(stamp.assume_utc()).ok();
    }
    let (date, clock) = text.split_once(['T', ' '])?;
    let date = Date::parse(date, format_description!("[year]-[month]-[day]")).ok()?;
    let clock = clock.get(..8)?;
    let clock = Time::parse(clock, format_description!("[hour]:[minute]:[second]")).ok()?;
    Timestamp::new(PrimitiveDateTime::new(date, clock).assume_utc()).ok()
}

/// Seconds since 1970.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
pub fn epoch_seconds(seconds: f64) -> Option<Timestamp> {
    // From 2001 to 2128: what is outside is a monotonic clock.
    if !(1e9..5e9).contains(&seconds) {
        return None;
    }
    OffsetDateTime::from_unix_timestamp(seconds as i64).ok().and_then(|at| Timestamp::new(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_time_is_read() {
        for text in [
            "2026-11-30T09:59:16Z",
            "2026-11-30T10:59:16.5+01:00",
            "20261130-095916",
            "2026-11-30 09:59:16",
            "2026-11-30T09:59:16.123456",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), "2026-11-30T09:59:16Z", "{text}");
        }
        assert_eq!(parse("yesterday"), None);
        assert_eq!(epoch_seconds(1_796_032_756.9).unwrap().to_string(), "2026-11-30T09:59:16Z");
        assert_eq!(epoch_seconds(12_345.0), None);
    }

    #[test]
    fn a_time_beyond_what_our_files_hold_is_none() {
        for text in [
            "9999-12-31T23:59:59-23:00",
            "0000-01-01T00:00:00+23:00",
            "00001130-095916",
            "0000-11-30 09:59:16",
            "-0001-11-30 09:59:16",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! Samples of one metric, and the compact text in which files keep them.
//!
//! The codec: integer microseconds, sorted, differences, unsigned LEB128, base64. Exact, and some 2.5 bytes a sample.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No file of ours holds more samples of one metric and round than this.
const MOST_SAMPLES: usize = 50_000_000;

/// Durations in whole microseconds, ascending. The order of arrival is gone: what needs it (`vif`) is kept beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[A-Za-z0-9+/]*={0,2}$"))]
pub struct Samples(Vec<u64>);

/// A text is no sample code, or a duration can't be kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SamplesError {
    /// Not base64.
    #[error("the samples are not base64 ({0})")]
    NotBase64(String),
    /// The code breaks off or is not LEB128.
    #[error(
        "the samples are damaged at byte {0} of the code: expected sorted differences as unsigned LEB128"
    )]
    Damaged(usize),
    /// More than the limit.
    #[error("more than {MOST_SAMPLES} samples")]
    TooMany,
    /// NaN, infinite, negative or above 2^53 microseconds.
    #[error("{0} ms is no duration: expected a finite number from 0 to 9e12")]
    NoDuration(f64),
}

impl Samples {
    /// From microseconds in any order.
    #[must_use]
    pub fn from_micros(mut micros: Vec<u64>) -> Samples {
        micros.sort_unstable();
        Samples(micros)
    }

    /// From milliseconds in any order, rounded to the nearest microsecond.
    ///
    /// # Errors
    /// NaN, infinite, negative or absurdly large values.
    pub fn from_millis(millis: &[f64]) -> Result<Samples, SamplesError> {
        let micros: Result<Vec<u64>, SamplesError> = millis.iter().map(|&ms| micros(ms)).collect();
        Ok(Samples::from_micros(micros?))
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sorted microseconds.
    #[must_use]
    pub fn micros(&self) -> &[u64] {
        &self.0
    }

    /// The sorted samples in milliseconds.
    #[must_use]
    pub fn sorted_millis(&self) -> Vec<f64> {
        self.0.iter().map(|&us| millis(us)).collect()
    }
}

/// Microseconds as milliseconds; exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "a duration of 2^53 microseconds is 285 years")]
fn millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

/// Milliseconds as whole microseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
fn micros(ms: f64) -> Result<u64, SamplesError> {
    if (0.0..=9e12).contains(&ms) {
        Ok((ms * 1000.0).round() as u64)
    } else {
        Err(SamplesError::NoDuration(ms))
    }
}

impl From<Samples> for String {
    fn from(samples: Samples) -> String {
        let mut bytes = Vec::with_capacity(samples.0.len() * 3);
        let mut last = 0;
        for &value in &samples.0 {
            let mut rest = value - last;
            last = value;
            while rest >= 0x80 {
                bytes.push((rest & 0x7f) as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for Samples {
    type Error = SamplesError;
    fn try_from(text: String) -> Result<Samples, SamplesError> {
        let bytes = STANDARD.decode(text).map_err(|e| SamplesError::NotBase64(e.to_string()))?;
        let mut samples = Vec::with_capacity((bytes.len() / 2).min(MOST_SAMPLES));
        let (mut last, mut value, mut shift) = (0u64, 0u64, 0u32);
        for (at, byte) in bytes.iter().enumerate() {
            let part = u64::from(byte & 0x7f);
            if shift > 56 || (part << shift) >> shift != part {
                return Err(SamplesError::Damaged(at));
            }
            value |= part << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                last = last.checked_add(value).filter(|v| *v < 1 << 53).ok_or(SamplesError::Damaged(at))?;
                if samples.len() == MOST_SAMPLES {
                    return Err(SamplesError::TooMany);
                }
                samples.push(last);
                (value, shift) = (0, 0);
            }
        }
        if shift != 0 {
            return Err(SamplesError::Damaged(bytes.len()));
        }
        Ok(Samples(samples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_exact() {
        let samples = Samples::from_millis(&[412.0, 0.001, 0.0, 89_123.457, 412.0]).unwrap();
        assert_eq!(samples.micros(), [0, 1, 412_000, 412_000, 89_123_457]);
        let text = String::from(samples.clone());
        assert_eq!(Samples::try_from(text).unwrap(), samples);
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for bad in [f64::NAN, f64::INFINITY, -0.1, 1e13] {
            assert!(Samples::from_millis(&[1.0, bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn damaged_codes_are_refused_with_the_byte() {
        assert!(matches!(Samples::try_from("%%%".to_owned()), Err(SamplesError::NotBase64(_))));
        let cut = STANDARD.encode([0x81]);
        assert_eq!(Samples::try_from(cut), Err(SamplesError::Damaged(1)));
        let huge = STANDARD.encode([0xff; 12]);
        assert!(matches!(Samples::try_from(huge), Err(SamplesError::Damaged(_))));
    }
}

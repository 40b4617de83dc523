//! Which requests fail, when, and how long a failure takes.

use std::collections::BTreeMap;

use crate::model::Finite;
use crate::model::profile::Timeouts;
use crate::model::report::FailureKind;

use super::engine::Stages;
use super::random::Substream;

/// How long an immediate refusal takes, such as a 429, in microseconds.
const REFUSAL_US: u64 = 5_000;

/// How often requests fail, by kind, and the limits after which they are given up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Share of all requests, 0 to 1, by kind; together at most 1.
    pub rates: BTreeMap<FailureKind, Finite>,
    /// Time limits.
    pub timeouts: Timeouts,
}

/// What chance holds for one request: how it fails, if it does, and how far it gets before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    /// How it fails.
    pub kind: Option<FailureKind>,
    progress: f64,
}

impl Failures {
    /// Draws the fate of one request. Every kind takes its share of the unit interval.
    pub fn fate(&self, draw: &mut Substream) -> Fate {
        let mut rest = draw.unit();
        let progress = draw.unit();
        for (kind, rate) in &self.rates {
            if rest < rate.get() {
                return Fate { kind: Some(*kind), progress };
            }
            rest -= rate.get();
        }
        Fate { kind: None, progress }
    }

    /// How long the request is in flight, and how it fails, by fate or by a time limit.
    pub fn ending(&self, fate: Fate, stages: &Stages, output_tokens: u32) -> (u64, Option<FailureKind>) {
        let (first_us, limits) = (stages.first_token_us(), self.timeouts);
        let us = |limit_ms: u32| u64::from(limit_ms) * 1000;
        let (taken_us, kind) = match fate.kind {
            Some(kind) if !reaches_the_engine(kind) => return (self.without_the_engine_us(kind), Some(kind)),
            _ if first_us > us(limits.first_token_ms) => {
                (us(limits.first_token_ms), Some(FailureKind::TimeoutFirstToken))
            }
            None => (first_us + stages.decode_us(output_tokens), None),
            Some(FailureKind::ZeroTokens) => (first_us, Some(FailureKind::ZeroTokens)),
            Some(kind) => {
                let steps = (f64::from(output_tokens.saturating_sub(1)) * fate.progress) as u32;
                let stall_us = if kind == FailureKind::TimeoutGap { us(limits.gap_ms) } else { 0 };
                (first_us + stages.decode_us(steps) + stall_us, Some(kind))
            }
        };
        let limit_us = us(limits.total_ms);
        if taken_us > limit_us { (limit_us, Some(FailureKind::TimeoutTotal)) } else { (taken_us, kind) }
    }

    fn without_the_engine_us(&self, kind: FailureKind) -> u64 {
        let limit_ms = match kind {
            FailureKind::TimeoutConnect => self.timeouts.connect_ms,
            FailureKind::TimeoutFirstToken => self.timeouts.first_token_ms,
            FailureKind::TimeoutTotal => self.timeouts.total_ms,
            _ => return REFUSAL_US,
        };
        u64::from(limit_ms) * 1000
    }
}

/// Whether a request that fails so was read by the engine before, so that its prompt is in the prefix cache.
pub fn reaches_the_engine(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Cut
            | FailureKind::TimeoutGap
            | FailureKind::Malformed
            | FailureKind::ErrorEvent
            | FailureKind::ZeroTokens
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: Stages =
        Stages { preprocess_us: 6_000, encode_us: 130_000, decode_us_per_token: 14_000.0, penalty: 1.0 };

    fn failures(total_ms: u32) -> Failures {
        let timeouts = Timeouts { connect_ms: 100, first_token_ms: 200, gap_ms: 300, total_ms };
        Failures { rates: BTreeMap::new(), timeouts }
    }

    fn fails(kind: FailureKind) -> Fate {
        Fate { kind: Some(kind), progress: 0.5 }
    }

    #[test]
    fn each_kind_of_failure_takes_its_own_time() {
        let takes = |kind| failures(10_000).ending(fails(kind), &STAGES, 101);
        for (kind, taken_us) in [
            (FailureKind::Http429, 5_000),
            (FailureKind::Connect, 5_000),
            (FailureKind::TimeoutConnect, 100_000),
            (FailureKind::TimeoutFirstToken, 200_000),
            (FailureKind::TimeoutTotal, 10_000_000),
            (FailureKind::ZeroTokens, 136_000),
            // Half of the 100 steps between the first and the last token: 136 + 50 × 14 ms, and the gap's own limit.
            (FailureKind::Cut, 836_000),
            (FailureKind::TimeoutGap, 1_136_000),
        ] {
            assert_eq!(takes(kind), (taken_us, Some(kind)));
        }
    }

    #[test]
    fn limits_cut_what_takes_longer_and_pass_what_takes_exactly_as_long() {
        let well = Fate { kind: None, progress: 0.5 };
        assert_eq!(failures(1_536).ending(well, &STAGES, 100), (1_536_000, None));
        assert_eq!(failures(1_535).ending(well, &STAGES, 100), (1_535_000, Some(FailureKind::TimeoutTotal)));
        let slow = Stages { encode_us: 194_001, ..STAGES };
        assert_eq!(failures(9_999).ending(well, &slow, 100), (200_000, Some(FailureKind::TimeoutFirstToken)));
    }
}

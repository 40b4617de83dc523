//! The run's clock: monotonic, in nanoseconds since the run began. A step of the machine's date changes nothing.

use std::time::{Duration, Instant};

use super::transcript::Nanos;

/// A monotonic clock with its own zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Starts at zero.
    #[must_use]
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub fn now(self) -> Nanos {
        // 2^64 nanoseconds are 584 years.
        self.0.elapsed().as_nanos() as Nanos
    }

    /// The moment of a stamp.
    #[must_use]
    pub fn moment(self, at: Nanos) -> Instant {
        self.0 + Duration::from_nanos(at)
    }
}

/// Milliseconds as nanoseconds.
#[must_use]
pub fn millis(ms: u32) -> Nanos {
    u64::from(ms) * 1_000_000
}

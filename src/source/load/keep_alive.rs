//! Whether a server keeps a connection open after its reply.
//!
//! Some close after every streamed reply without saying so (llama.cpp). The next request would be sent at once, into a
//! connection that is being closed, and fail through nobody's fault. So it is watched once, and what was learned holds
//! for the endpoint: nothing is sent twice instead.

use std::sync::atomic::{AtomicU8, Ordering};

use super::transcript::Nanos;

/// A close that comes this soon after a reply is the server's habit, not its time-out.
pub(super) const HABIT: Nanos = 250_000_000;

/// How long a connection is watched, once for an endpoint, after the last reply of its first requests.
pub(super) const WATCH: Nanos = HABIT;

const UNKNOWN: u8 = 0;
const KEEPS: u8 = 1;
const CLOSES: u8 = 2;

/// What is known of one endpoint.
#[derive(Debug, Default)]
pub(super) struct KeepAlive(AtomicU8);

impl KeepAlive {
    /// Whether a connection may be used again.
    pub fn may_reuse(&self) -> bool {
        self.0.load(Ordering::Relaxed) != CLOSES
    }

    /// Whether nothing is known yet.
    pub fn is_unknown(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// A connection outlived its reply. A close that was seen weighs more.
    pub fn kept(&self) {
        // Fails where something is known already, which is as good.
        let _known = self.0.compare_exchange(UNKNOWN, KEEPS, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// A connection was closed right after a reply.
    pub fn closed(&self) {
        self.0.store(CLOSES, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_that_was_seen_weighs_more_than_connections_that_were_kept() {
        let known = KeepAlive::default();
        assert!(known.is_unknown() && known.may_reuse());
        known.kept();
        assert!(!known.is_unknown() && known.may_reuse());
        known.closed();
        known.kept();
        assert!(!known.may_reuse());
    }
}

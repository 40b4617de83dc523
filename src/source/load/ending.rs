//! What the connection's end makes of a request.

use crate::model::report::FailureKind;

use super::transcript::{Ending, Phase};

/// The failure in it, if it is one.
pub(super) fn ended_badly(ending: &Ending, nothing_came: bool, done: bool) -> Option<(FailureKind, String)> {
    Some(match ending {
        Ending::Whole => return None,
        // `[DONE]` was the end; how the connection was closed after it, if at all, is nobody's loss.
        Ending::Broken(_) | Ending::Timeout { .. } if done => return None,
        Ending::Broken(reason) if nothing_came => {
            (FailureKind::Connect, format!("the connection closed before any reply: {reason}"))
        }
        Ending::Broken(reason) => (FailureKind::Cut, reason.clone()),
        Ending::NotConnected(reason) => (FailureKind::Connect, reason.clone()),
        Ending::NoTls(reason) => (FailureKind::Tls, reason.clone()),
        Ending::TooLarge => (FailureKind::Malformed, "the reply is larger than any answer".to_owned()),
        Ending::Timeout { phase, limit_ms } => {
            let (kind, until) = match phase {
                Phase::Connect => (FailureKind::TimeoutConnect, "no connection"),
                Phase::FirstToken => (FailureKind::TimeoutFirstToken, "no token"),
                Phase::Gap => (FailureKind::TimeoutGap, "nothing more"),
                Phase::Total => (FailureKind::TimeoutTotal, "not finished"),
            };
            (kind, format!("{until} within {limit_ms} ms"))
        }
    })
}

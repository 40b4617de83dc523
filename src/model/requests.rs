//! How requests ended, who counted their tokens, and what the client found out about itself.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::quantity::Finite;
use super::unique_map;

/// How a group's requests ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Requests sent, warm-up apart; `None` where the source does not tell.
    #[serde(default, deserialize_with = "count")]
    pub sent: Option<u64>,
    /// Requests that succeeded; `None` where the source does not tell.
    #[serde(default, deserialize_with = "count")]
    pub succeeded: Option<u64>,
    /// Failures by kind.
    #[serde(default, deserialize_with = "counts")]
    pub failed: BTreeMap<FailureKind, u64>,
    /// One cleaned sample of the error text per kind.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique_map::deserialize"
    )]
    pub error_samples: BTreeMap<FailureKind, String>,
}

impl Requests {
    /// Successes and all requests, if the source tells both.
    #[must_use]
    pub fn counts(&self) -> Option<(u64, u64)> {
        Some((self.succeeded?, self.sent?))
    }

    /// All failures.
    #[must_use]
    pub fn failures(&self) -> u64 {
        total(self.failed.values().map(|n| Some(*n))).unwrap_or_default()
    }
}

/// The most requests or tokens that a file may tell of: more are no count, and sums of them would wrap around.
const MOST: u64 = 9_000_000_000_000_000;

fn within<E: Error>(count: u64) -> Result<u64, E> {
    if count <= MOST {
        return Ok(count);
    }
    Err(E::custom(format!("{count} is no count of requests or tokens; {MOST} is the most")))
}

/// For `#[serde(deserialize_with = "…")]` on a count that is always there.
pub(super) fn told<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    within(u64::deserialize(deserializer)?)
}

/// For `#[serde(deserialize_with = "…")]` on counts.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Option::<u64>::deserialize(deserializer)?.map(within).transpose()
}

/// The same for counts by kind.
pub(super) fn counts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<FailureKind, u64>, D::Error> {
    let counts: BTreeMap<FailureKind, u64> = unique_map::deserialize(deserializer)?;
    counts.into_iter().map(|(kind, times)| Ok((kind, within(times)?))).collect()
}

/// The sum of counts, unknown where one is.
pub fn total(counts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    counts.into_iter().try_fold(0u64, |sum, count| Some(sum.saturating_add(count?)))
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "FailureKind::words says it of each")]
pub enum FailureKind {
    #[serde(rename = "http_401")]
    Http401,
    #[serde(rename = "http_403")]
    Http403,
    #[serde(rename = "http_404_path")]
    Http404Path,
    #[serde(rename = "http_404_model")]
    Http404Model,
    #[serde(rename = "http_429")]
    Http429,
    #[serde(rename = "http_4xx")]
    Http4xx,
    #[serde(rename = "http_5xx")]
    Http5xx,
    Connect,
    Tls,
    TimeoutConnect,
    TimeoutFirstToken,
    TimeoutGap,
    TimeoutTotal,
    Cut,
    Malformed,
    ZeroTokens,
    ErrorEvent,
    // The source says that it failed, not why.
    Unknown,
}

impl FailureKind {
    /// What a user calls it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            FailureKind::Http401 => "401 (key missing or wrong)",
            FailureKind::Http403 => "403 (not allowed)",
            FailureKind::Http404Path => "404 (wrong path)",
            FailureKind::Http404Model => "404 (no such model)",
            FailureKind::Http429 => "429 (too many requests)",
            FailureKind::Http4xx => "other 4xx",
            FailureKind::Http5xx => "5xx (server error)",
            FailureKind::Connect => "connection refused or reset",
            FailureKind::Tls => "TLS failure",
            FailureKind::TimeoutConnect => "time-out while connecting",
            FailureKind::TimeoutFirstToken => "time-out before the first token",
            FailureKind::TimeoutGap => "time-out between tokens",
            FailureKind::TimeoutTotal => "time-out of the whole request",
            FailureKind::Cut => "stream cut",
            FailureKind::Malformed => "malformed reply",
            FailureKind::ZeroTokens => "reply without tokens",
            FailureKind::ErrorEvent => "error event in the stream",
            FailureKind::Unknown => "failed, reason not recorded",
        }
    }
}

impl FailureKind {
    /// What is usually behind it, and what to do; `None` where there is no usual cause.
    #[must_use]
    pub const fn usual_cause(self) -> Option<&'static str> {
        Some(match self {
            FailureKind::Http401 => "the key is not exported, or empty",
            FailureKind::Http403 => "the key is good, but not for this model or endpoint",
            FailureKind::Http404Path => {
                "the base URL carries a /v1 that is added again, or lacks one that the server needs"
            }
            FailureKind::Http404Model => "the model id is wrong or retired",
            FailureKind::Http429 => {
                "too many requests in flight, or the quota is spent: step down the concurrency and try again"
            }
            FailureKind::Http5xx => "the server failed: look at its log",
            FailureKind::Connect => "nothing listens at that address, or the server fell over",
            FailureKind::Tls => "a certificate that is not trusted, or https where the server speaks http",
            FailureKind::TimeoutConnect => "the endpoint can't be reached from here",
            FailureKind::TimeoutFirstToken | FailureKind::TimeoutTotal => {
                "the server's queue is full: step down the concurrency and try again"
            }
            FailureKind::TimeoutGap | FailureKind::Cut => {
                "the server or a proxy between stopped the stream: look at their logs and time limits"
            }
            FailureKind::ZeroTokens => "stream chunks without delta.content, or with empty choices",
            FailureKind::Http4xx
            | FailureKind::Malformed
            | FailureKind::ErrorEvent
            | FailureKind::Unknown => {
                return None;
            }
        })
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Who counted the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The server's `usage`.
    Usage,
    /// The engine's tokeniser endpoint.
    Tokenize,
    /// The measuring tool's own tokeniser.
    Client,
    /// The embedded engine knows.
    Engine,
    /// Not recorded.
    #[default]
    Unknown,
}

/// Tokens of a group's successful requests. `None` is "not recorded".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Prompt tokens.
    #[serde(default, deserialize_with = "count")]
    pub input: Option<u64>,
    /// Output tokens.
    #[serde(default, deserialize_with = "count")]
    pub output: Option<u64>,
    /// Prompt tokens that came from a prefix cache.
    #[serde(default, deserialize_with = "count")]
    pub cached: Option<u64>,
    /// Who counted.
    #[serde(default)]
    pub from: TokenSource,
}

/// What the client found out about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfCheck {
    /// p99 of how late the client woke up, in ms.
    #[serde(default)]
    pub wakeup_lag_p99_ms: Option<Finite>,
    /// Share of reads that held more than one token-bearing event.
    #[serde(default)]
    pub coalesced_reads: Option<Finite>,
    /// The most requests that were really in flight.
    #[serde(default)]
    pub in_flight_reached: Option<u32>,
    /// CPU time / (wall time x cores).
    #[serde(default)]
    pub cpu_share: Option<Finite>,
    /// Why this group's numbers can't be trusted: an arrival rate that was not kept, counts that don't agree. Empty where they can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// How an open-loop schedule was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// Arrivals that were sent late.
    pub late: u64,
    /// Arrivals that were not sent at all.
    pub dropped: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_no_run_has_is_refused_before_anything_adds_it_up() {
        let most: Requests = serde_json::from_str(r#"{"sent": 9000000000000000}"#).unwrap();
        assert_eq!((most.sent, most.succeeded), (Some(MOST), None));
        let more = serde_json::from_str::<Requests>(r#"{"sent": 9000000000000001}"#).unwrap_err();
        assert!(more.to_string().contains("9000000000000001 is no count of requests or tokens"), "{more}");
        assert!(serde_json::from_str::<Tokens>(r#"{"output": 18446744073709551615}"#).is_err());
    }

    #[test]
    fn a_sum_of_counts_is_unknown_where_one_is_and_never_wraps() {
        assert_eq!(total([Some(2), Some(3)]), Some(5));
        assert_eq!(total([Some(2), None]), None);
        assert_eq!(total([Some(u64::MAX), Some(3)]), Some(u64::MAX));
        assert_eq!(total([]), Some(0));
    }
}

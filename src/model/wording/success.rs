//! How many requests succeeded.

use crate::model::group::GroupId;
use crate::model::reason::Side;
use crate::model::requests::{FailureKind, Requests};
use crate::model::sentence::Sentence;

use super::parts::{part_of, side_words};

pub fn success_dropped(
    group: &GroupId,
    old: (u64, u64),
    new: (u64, u64),
    limit: &str,
    failed: &Requests,
) -> Sentence {
    Sentence::default().own(format!(
        "success_rate of {group} fell {} ({}, limit {limit}): less reliable{}",
        rates(old, new),
        points(old, new),
        kinds(&failed.failed)
    ))
}

pub fn success_could_be_noise(group: &GroupId, old: (u64, u64), new: (u64, u64), limit: &str) -> Sentence {
    Sentence::default().own(format!(
        "success_rate of {group} fell {} ({}, limit {limit}), but failures in bursts do that by chance; a min for success_rate is a plain limit",
        rates(old, new),
        points(old, new)
    ))
}

pub fn success_unknown(side: Side) -> Sentence {
    Sentence::default().own(format!(
            "how many requests failed is not recorded {}, so no success rate is judged: failing fast would not be seen",
            side_words(side)
        ))
}

pub fn no_success(group: &GroupId, requests: &Requests) -> Sentence {
    Sentence::default().own(format!(
        "no request of {group} succeeded ({}){}: it has no latency to speak of",
        requests
            .sent
            .map_or_else(|| "how many were sent is not recorded".to_owned(), |n| format!("{n} sent")),
        kinds(&requests.failed)
    ))
}

fn kinds(failed: &std::collections::BTreeMap<FailureKind, u64>) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = failed.iter().map(|(kind, n)| format!("{n} \u{d7} {kind}")).collect();
    format!("; failures: {}", parts.join(", "))
}

fn rates(old: (u64, u64), new: (u64, u64)) -> String {
    format!("{} of {} \u{2192} {} of {}", old.0, old.1, new.0, new.1)
}

#[expect(clippy::cast_precision_loss, reason = "request counts are far below 2^53")]
fn points(old: (u64, u64), new: (u64, u64)) -> String {
    let rate = |(k, n): (u64, u64)| if n == 0 { 0.0 } else { k as f64 / n as f64 * 100.0 };
    let difference = rate(new) - rate(old);
    let sign = if difference < 0.0 { "\u{2212}" } else { "+" };
    let [old, new] = [old, new].map(|(k, n)| part_of(k, n));
    format!("{old} \u{2192} {new}, {sign}{:.2} pp", difference.abs())
}

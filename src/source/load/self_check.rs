//! What a group's own numbers say about whether they can be trusted.

use crate::model::profile::CacheMode;
use crate::model::{Group, Metric, Statistic};

use super::prompts::meets_tier;
use super::timeline::MOST_TOKENS_A_CHUNK;

/// Late and dropped arrivals above this share of all: the rate was not kept.
const RATE_KEPT: f64 = 0.01;

/// A server that answers faster than this may be done with some requests before all connections are open.
const ANSWERED_AT_ONCE_MS: f64 = 20.0;

/// A prefix cache may hold the chat template before the nonce; more than this share of the prompts is not that.
const CACHED_SHARE: f64 = 0.2;

/// Why a group's numbers can't be trusted; empty where they can.
pub(super) fn problems(group: &Group) -> Vec<String> {
    let mut problems = Vec::new();
    let sent = group.requests.sent.unwrap_or_default();
    if let (Some(arrivals), Some(rate)) = (&group.arrivals, group.dimensions.rate) {
        let missed = arrivals.late + arrivals.dropped;
        if missed as f64 > RATE_KEPT * (sent + arrivals.dropped) as f64 {
            problems.push(format!(
                "{}: the rate of {rate} requests a second was not kept: of {} arrivals {} were sent more than 10 ms late \
                 and {} not at all; lower the rate, or send from a faster machine",
                group.id,
                sent + arrivals.dropped,
                arrivals.late,
                arrivals.dropped
            ));
        }
    }
    let reached = group.self_check.as_ref().and_then(|check| check.in_flight_reached);
    if let (Some(wanted), Some(reached), Some(succeeded)) =
        (group.dimensions.concurrency, reached, group.requests.succeeded)
    {
        let wanted = u64::from(wanted).min(sent);
        let e2e = group.metrics.get(&Metric::E2E).and_then(|e2e| e2e.stats.get(&Statistic::P50));
        let at_once = e2e.is_none_or(|e2e| e2e.get() < ANSWERED_AT_ONCE_MS);
        if u64::from(reached) < wanted && succeeded > 0 && !at_once {
            problems.push(format!(
                "{}: {wanted} requests were to be in flight, but only {reached} ever were; the client did not load the \
                 server as asked",
                group.id
            ));
        }
    }
    problems
}

/// A server that counts so many tokens counts none.
pub(super) fn absurd(group: &Group, count: u64) -> String {
    format!(
        "{}: the server's usage claims {count} tokens in one answer, more than any has; such counts were not taken, so \
         token throughput and tpot may be absent: look at the server's usage",
        group.id
    )
}

/// What a reader of a group's numbers should know.
pub(super) fn warnings(group: &Group, tokens_per_event: Option<f64>, cache: CacheMode) -> Vec<String> {
    let mut warnings = Vec::new();
    let id = &group.id;
    if group.tokens.output.is_none() && group.requests.succeeded.is_some_and(|n| n > 0) {
        warnings.push(format!(
            "{id}: the server counts no output tokens (no usage in its replies), so tpot and token throughput are absent"
        ));
    }
    if let Some(ratio) = tokens_per_event.filter(|ratio| *ratio > MOST_TOKENS_A_CHUNK) {
        warnings.push(format!(
            "{id}: {ratio:.2} tokens an event: itl is the gap between events and not between tokens; read tpot"
        ));
    }
    if let (Some(tier), Some(input), Some(n)) =
        (group.dimensions.prompt_tokens, group.tokens.input, group.requests.succeeded.filter(|n| *n > 0))
    {
        let mean = input as f64 / n as f64;
        if !meets_tier(tier, mean) {
            warnings.push(format!("{id}: prompts have {mean:.0} tokens on average, not {tier}"));
        }
    }
    if let (CacheMode::Unique, Some(cached), Some(input)) = (cache, group.tokens.cached, group.tokens.input)
        && cached as f64 > CACHED_SHARE * input as f64
    {
        warnings.push(format!(
            "{id}: {cached} of {input} prompt tokens came from the server's prefix cache, though every prompt begins \
             with words of its own; ttft is that of a warm cache"
        ));
    }
    warnings
}

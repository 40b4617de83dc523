//! Which requests the numbers are of: to be read before any latency.

use crate::model::report::FailureKind;
use crate::model::sentence::Sentence;
use crate::model::wording::{count, part_of};
use crate::model::{Measurement, Metric, Statistic};

use super::pages::Page;
use super::scope::Scope;
use super::view::{Seen, Tool, View};

/// A queue is suspected above this p95 of ttft, in ms.
const LONG_QUEUE_MS: f64 = 3000.0;

/// Success rate, errors and their usual causes, warm-up, and what the provider should have counted.
pub fn section(page: &mut Page, view: &View<'_>, scope: &Scope) {
    if !scope.has_metric(&Metric::SUCCESS_RATE) {
        return;
    }
    page.titled("success_rate (higher is better): read this first");
    if view.groups.iter().any(|seen| seen.counts().is_some()) {
        page.own("requests that succeeded / ALL requests sent, warm-up apart; latencies and throughputs are of the successful ones only");
    }
    for seen in scope.groups(view) {
        group(page, seen);
    }
    if !scope.groups(view).any(tells_tokens) {
        page.own("tokens in and out: not recorded");
    }
    causes(page, view, scope);
    if view.tool == Tool::ScriptB && scope.has_all_groups() {
        usage_check(page, view);
    }
}

fn group(page: &mut Page, seen: &Seen<'_>) {
    let mut parts: Vec<String> = match (seen.counts(), seen.total(|group| group.requests.sent)) {
        (Some((good, all)), _) if all > 0 => vec![format!("{good} of {all} ({})", part_of(good, all))],
        (None, Some(sent)) => vec![format!("{} sent, successes not recorded", count(sent, "request"))],
        _ => return,
    };
    let failed: Vec<String> = kinds(seen).into_iter().map(|(kind, n)| format!("{n} \u{d7} {kind}")).collect();
    parts.extend((!failed.is_empty()).then(|| failed.join(", ")));
    parts.extend(tokens(seen));
    page.own(format!("{}: {}", seen.id, parts.join("; ")));
}

fn tells_tokens(seen: &Seen<'_>) -> bool {
    tokens(seen).is_some()
}

/// `148150 tokens in, 75964 tokens out`, whichever of the two is recorded of every round.
fn tokens(seen: &Seen<'_>) -> Option<String> {
    let way = |n: Option<u64>, way| n.map(|n| format!("{} {way}", count(n, "token")));
    let ways = [
        way(seen.total(|group| group.tokens.input), "in"),
        way(seen.total(|group| group.tokens.output), "out"),
    ];
    let known: Vec<String> = ways.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn kinds(seen: &Seen<'_>) -> Vec<(FailureKind, u64)> {
    let mut sum = std::collections::BTreeMap::new();
    for (kind, n) in seen.rounds.iter().flat_map(|group| &group.requests.failed) {
        *sum.entry(*kind).or_insert(0) += n;
    }
    sum.into_iter().collect()
}

fn causes(page: &mut Page, view: &View<'_>, scope: &Scope) {
    let mut all: Vec<FailureKind> = scope.groups(view).flat_map(kinds).map(|(kind, _)| kind).collect();
    all.sort();
    all.dedup();
    for kind in &all {
        if let Some(cause) = kind.usual_cause() {
            page.own(format!("{kind}, usually: {cause}"));
        }
    }
    let partly = scope.groups(view).filter(|seen| !seen.all_failed() && !kinds(seen).is_empty());
    for seen in partly {
        if let Some((good, all)) = seen.counts() {
            page.own(format!(
                "{}: {} {} failed requests are in no percentile; every latency is of the {good} that succeeded",
                seen.id,
                if matches!(view.tool, Tool::ScriptB | Tool::Vllm) { "the zeros of its" } else { "its" },
                all - good
            ));
        }
    }
}

/// Script B: hold the number of requests against the provider's own count.
fn usage_check(page: &mut Page, view: &View<'_>) {
    let sent: Option<Vec<u64>> =
        view.groups.iter().flat_map(|seen| &seen.rounds).map(|group| group.requests.sent).collect();
    let Some(sent) = sent else { return };
    let warmup: u64 = view.report.jobs.iter().filter_map(|job| job.warmup.as_ref()).map(|w| w.sent).sum();
    let total = sent.iter().sum::<u64>() + warmup;
    let sum = match even(view, &sent, warmup) {
        Some((each, warm, times)) => format!("({each} prompts + {warm} warm-up) \u{d7} {times} = {total}"),
        None => format!("{} measured + {warmup} warm-up = {total}", total - warmup),
    };
    let model = match &view.report.subject.model {
        Some(model) => Sentence::default().own(" under the model id ").foreign(model),
        None => Sentence::default(),
    };
    page.say(
        Sentence::default()
            .own(format!("usage check: the provider should have counted about {sum} requests"))
            .then(model)
            .own(", with a 429 or an error for each failed one. No usage at all means that nothing real was called"),
    );
    if warmup > 0 {
        page.own("warm-up requests are in none of the numbers");
    }
}

/// Prompts and warm-up requests of each pass over a level, and `3 levels × 2 rounds`, where all passes are alike.
fn even(view: &View<'_>, sent: &[u64], warmup: u64) -> Option<(u64, u64, String)> {
    let (each, rounds) = (*sent.first()?, view.groups.first()?.rounds.len());
    let alike = sent.iter().all(|n| *n == each) && view.groups.iter().all(|seen| seen.rounds.len() == rounds);
    let passes = sent.len() as u64;
    let levels = count(view.groups.len(), "level");
    let times = if rounds == 1 { levels } else { format!("{levels} \u{d7} {rounds} rounds") };
    (alike && warmup.is_multiple_of(passes)).then(|| (each, warmup / passes, times))
}

/// In which order to read a load test, and what one run can't tell.
pub fn over_time(page: &mut Page, view: &View<'_>, scope: &Scope) {
    if view.tool != Tool::ScriptB || !scope.is_all() {
        return;
    }
    page.titled("In which order to read it");
    page.own("success_rate and errors first, then p95: the tail tells more than p50. Change one variable at a time");
    for seen in &view.groups {
        if let Some(line) = tail(seen) {
            page.own(line);
        }
    }
    page.own(
        "one run can't tell a blip from a trend: keep the files of the same prompts, model and key, weekly",
    );
    page.own("p95 of ttft up with the same success_rate suggests routing or network; success_rate down: look at 429 and time-outs first");
}

/// How far the tail is from the middle, in the round where it is longest.
fn tail(seen: &Seen<'_>) -> Option<String> {
    let both = |m: &Measurement| {
        let of = |statistic| m.stats.get(&statistic).map(|value| value.get());
        Some((of(Statistic::P50).filter(|middle| *middle > 0.0)?, of(Statistic::P95)?))
    };
    let rounds: Vec<(f64, f64)> = seen.measurements(&Metric::TTFT).filter_map(both).collect();
    let (middle, tail) = rounds.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let word = if tail > LONG_QUEUE_MS {
        "above 3000 ms: look for a full queue at the server"
    } else {
        "a tail under control: below 3000 ms"
    };
    let which = match rounds.len() {
        1 => String::new(),
        n => format!(" in the worst of {n} rounds"),
    };
    Some(format!(
        "{}: ttft p50 {middle:.1} ms, p95 {tail:.1} ms{which}, {:.1} times as long; {word}",
        seen.id,
        tail / middle
    ))
}

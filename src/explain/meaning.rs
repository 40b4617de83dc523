//! What a metric of this tool measures, and its values.

use crate::model::sentence::Sentence;
use crate::model::{Metric, Quantity, Statistic, Unit};

use super::pages::Page;
use super::scope::Scope;
use super::view::{Seen, Tool, View};

/// A metric: what it is, which side is better, its values.
pub fn section(page: &mut Page, view: &View<'_>, scope: &Scope, metric: &Metric) {
    let unit = metric.unit().symbol();
    let unit = if unit.is_empty() { String::new() } else { format!("{unit}; ") };
    page.titled(format!("{metric} ({unit}{})", metric.direction().words()));
    page.say(meaning(view, metric));
    if view.tool == Tool::ScriptA && *metric == Metric::E2E && has_all(view, &[Metric::TTFT, Metric::TPOT]) {
        page.own(
            "total_latency, ttft and tpot are three different times in the same unit: never one column without their names",
        );
    }
    if view.tool == Tool::Embedded && *metric == Metric::E2E {
        page.own(
            "it ends at the last token, so it is one decode step shorter than script A's total latency (preprocess + prompt encode + decode per token × output tokens)",
        );
    }
    for seen in scope.groups(view) {
        if let Some(line) = values(seen, metric, scope) {
            page.own(format!("{}: {line}", seen.id));
        }
    }
}

fn has_all(view: &View<'_>, metrics: &[Metric]) -> bool {
    let there = view.metrics();
    metrics.iter().all(|metric| there.contains(metric))
}

/// `p50 46.61 ms, p95 466.0 ms`; smallest to largest where there are several rounds.
fn values(seen: &Seen<'_>, metric: &Metric, scope: &Scope) -> Option<String> {
    let unit = seen.measurements(metric).next()?.unit;
    let mut statistics: Vec<Statistic> =
        seen.measurements(metric).flat_map(|m| m.stats.keys().copied()).collect();
    statistics.sort();
    statistics.dedup();
    let shown = statistics.into_iter().filter(|statistic| scope.has_statistic(*statistic));
    let parts: Vec<String> = shown
        .filter_map(|statistic| {
            let span = Quantity::span(&seen.values(metric, statistic), unit)?;
            Some(if statistic == Statistic::Value { span } else { format!("{statistic} {span}") })
        })
        .collect();
    let rounds =
        if seen.rounds.len() > 1 { format!(" over {} rounds", seen.rounds.len()) } else { String::new() };
    (!parts.is_empty()).then(|| parts.join(", ") + &rounds)
}

fn meaning(view: &View<'_>, metric: &Metric) -> Sentence {
    let own = |text: &str| Sentence::default().own(text);
    if let Some(text) = of_tool(view.tool, metric) {
        return own(text);
    }
    let table =
        metric.def().map_or("not a metric that pacegate knows: shown, never gated", |def| def.definition);
    let definition =
        view.groups.iter().flat_map(|seen| seen.measurements(metric)).find_map(|m| m.definition.as_ref());
    match (view.tool, definition) {
        (Tool::Other, Some(word)) => own("by this tool's definition: ")
            .foreign(word)
            .own(format!(". As pacegate itself measures it: {table}")),
        _ => own(table),
    }
}

/// Where a tool means something of its own.
fn of_tool(tool: Tool, metric: &Metric) -> Option<&'static str> {
    Some(match (tool, metric.id()) {
        (Tool::ScriptA, "e2e") => {
            "total_latency in the file: (preprocess + prompt encode + decode per token × output tokens) × the concurrency penalty, one value a request"
        }
        (Tool::ScriptA, "ttft") => {
            "(preprocess + prompt encode) × the concurrency penalty: until the first token"
        }
        (Tool::ScriptA, "tpot") => "decode time per output token × the concurrency penalty",
        (Tool::ScriptA, "gpu_memory") => "as the script states it; its GB × 1000 = MB",
        (Tool::ScriptB, "ttft") => {
            "from the start of the request to the first streamed chunk OF ANY KIND, one that carries only a role included: earlier than the first token, so not comparable with other tools' ttft"
        }
        (Tool::ScriptB, "itl") => {
            "tpot in the file: the gaps between content deltas. Everyone else calls that ITL; it is not their TPOT"
        }
        (Tool::ScriptB, "e2e") => "from the start of the request to its end",
        (Tool::ScriptB, "tokens_per_second") => {
            "the mean over the successful requests of each one's own tokens / its own time. Not the server's throughput: requests in flight side by side are not added up"
        }
        (Tool::Vllm, "ttft") => {
            "from sending the request to the first chunk that carries a token, successful requests only"
        }
        (Tool::Vllm, "tpot") => {
            "(e2e - ttft) / (output tokens - 1), one value a request; the first token is not in it"
        }
        (Tool::Vllm, "itl") => {
            "the gaps between chunks, of all requests pooled: near 0 where chunks arrive together, so not tpot"
        }
        (Tool::Vllm, "e2e") => "e2el in the file: from sending the request to its last token",
        _ => return None,
    })
}

/// Whether the metric is a time.
pub fn is_time(metric: &Metric) -> bool {
    metric.unit() == Unit::Millisecond
}

//! What concurrency did, and what to expect of the traffic.

use crate::model::Metric;

use super::pages::Page;
use super::scope::Scope;
use super::view::{Tool, View};

/// What each further request in flight adds in script A.
const CONGESTION: f64 = 0.15;
/// The concurrency of script A's default run.
const DEFAULT_CONCURRENCY: u32 = 8;

/// Concurrency and traffic, where a time is asked for.
pub fn section(page: &mut Page, view: &View<'_>, scope: &Scope) {
    if !scope.metric_is_latency_or_all() && !scope.names(&Metric::SPEEDUP) {
        return;
    }
    page.titled("What concurrency did");
    if view.tool.is_mock_engine() {
        penalty(page, view, scope);
    } else if scope.dimension(view, |d| d.concurrency).iter().any(|c| *c > 1) {
        page.own("requests in flight are bounded on this side only: the server may queue, or answer 429; waiting there is in every latency");
    }
    if !scope.dimension(view, |d| d.rate).is_empty() {
        page.own("open loop: requests were sent by the clock, whatever was still in flight; latency includes the wait that this makes");
    }
    traffic(page, view, scope);
}

fn penalty(page: &mut Page, view: &View<'_>, scope: &Scope) {
    let recorded = view.report.subject.parameters.get("congestion").and_then(|text| text.parse().ok());
    let each: f64 = recorded.unwrap_or(CONGESTION);
    let factor = |level: u32| 1.0 + (f64::from(level) - 1.0) * each;
    let levels: Vec<u32> = scope.dimension(view, |d| d.concurrency).into_iter().collect();
    for level in &levels {
        if *level <= 1 {
            page.own(format!("c{level}: one request at a time, so no congestion"));
            continue;
        }
        page.own(format!(
            "c{level}: every time is multiplied by 1 + ({level} \u{2212} 1) \u{d7} {each} = {:.2} when {level} are in flight: congestion, not the strategy",
            factor(*level)
        ));
    }
    if let [low, .., high] = levels.as_slice() {
        page.own(format!(
            "from c{low} to c{high} alone makes everything {:.2} / {:.2} = {:.2} times as slow. Compare a strategy with the reference strategy at one level only",
            factor(*high),
            factor(*low),
            factor(*high) / factor(*low)
        ));
    }
    let rates = scope.dimension(view, |d| d.rate);
    if levels.is_empty() && rates.is_empty() {
        page.own(format!(
            "the file does not record it. The default run has up to {DEFAULT_CONCURRENCY} in flight, which multiplies every time by 1 + ({DEFAULT_CONCURRENCY} \u{2212} 1) \u{d7} {each} = {:.2}; at 32 it is {:.2}. Two files of different concurrency differ by that alone",
            factor(DEFAULT_CONCURRENCY),
            factor(32)
        ));
    }
}

fn traffic(page: &mut Page, view: &View<'_>, scope: &Scope) {
    page.titled("What to expect of the traffic");
    if !(view.tool.is_mock_engine() || view.tool == Tool::Load) {
        return;
    }
    let models = scope.dimension(view, |d| d.traffic.clone());
    let mut known = 0;
    for model in &models {
        if let Some(text) = expectation(model) {
            page.own(text);
            known += 1;
        }
    }
    if known > 1 {
        page.own("a strategy that helps in one traffic model and not in another is usually right");
    }
    if models.is_empty() && view.tool == Tool::ScriptA {
        page.own("the file does not record its traffic model; chat, rag and code are not comparable with each other");
    }
}

fn expectation(model: &str) -> Option<&'static str> {
    Some(match model {
        "chat" => {
            "chat (prompts 70 % short, 20 % medium, 10 % long; 50 to 500 output tokens): low ttft, and a tail that the few long prompts make"
        }
        "rag" => {
            "rag (prompts 20 % short, 40 % medium, 40 % long; 100 to 800 output tokens): long prompts throughout, ttft p99 clearly higher; a prefix cache gains most here, because many requests share a long prefix"
        }
        "code" => {
            "code (prompts 30 % short, 40 % medium, 30 % long; 200 to 2000 output tokens): many output tokens, so tpot and e2e are the sensitive ones"
        }
        _ => return None,
    })
}

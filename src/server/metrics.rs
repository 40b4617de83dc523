//! `/metrics`, in vLLM's names.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counters of one model.
#[derive(Debug, Default)]
pub struct Counters {
    /// Requests in flight.
    pub running: AtomicU64,
    /// Prompt tokens read, cached ones included.
    pub prompt_tokens: AtomicU64,
    /// Output tokens made.
    pub generation_tokens: AtomicU64,
    /// Prompt tokens looked up in the prefix cache.
    pub cache_queries: AtomicU64,
    /// Prompt tokens found there.
    pub cache_hits: AtomicU64,
    /// First tokens sent.
    pub first_tokens: AtomicU64,
    /// Microseconds to all first tokens.
    pub first_token_us: AtomicU64,
    /// Answers that ended by themselves.
    pub stopped: AtomicU64,
    /// Answers that used their whole limit.
    pub at_length: AtomicU64,
    /// Answers that ended in an error event.
    pub failed: AtomicU64,
}

/// A metric's name, kind, meaning and value.
type Row = (&'static str, &'static str, &'static str, fn(&Counters) -> String);

const ROWS: [Row; 7] = [
    ("vllm:num_requests_running", "gauge", "Requests in flight.", |c| whole(&c.running)),
    ("vllm:prompt_tokens_total", "counter", "Prompt tokens read.", |c| whole(&c.prompt_tokens)),
    ("vllm:generation_tokens_total", "counter", "Output tokens made.", |c| whole(&c.generation_tokens)),
    ("vllm:prefix_cache_queries_total", "counter", "Prompt tokens looked up in the prefix cache.", |c| {
        whole(&c.cache_queries)
    }),
    ("vllm:prefix_cache_hits_total", "counter", "Prompt tokens found in the prefix cache.", |c| {
        whole(&c.cache_hits)
    }),
    ("vllm:time_to_first_token_seconds_count", "counter", "First tokens sent.", |c| whole(&c.first_tokens)),
    ("vllm:time_to_first_token_seconds_sum", "counter", "Seconds to all first tokens.", |c| {
        format!("{:.6}", c.first_token_us.load(Relaxed) as f64 / 1e6)
    }),
];

fn whole(counter: &AtomicU64) -> String {
    format!("{}.0", counter.load(Relaxed))
}

/// The text of `/metrics`. Model ids need no escaping: settings refuse those that would.
pub fn exposition<'a>(models: impl Iterator<Item = (&'a str, &'a Counters)> + Clone) -> String {
    let mut text = String::new();
    for (name, kind, help, value) in ROWS {
        // Writing to a String can't fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (model, counters) in models.clone() {
            let _ = writeln!(text, r#"{name}{{engine="0",model_name="{model}"}} {}"#, value(counters));
        }
    }
    let name = "vllm:request_success_total";
    let _ = writeln!(text, "# HELP {name} Answers that ended.\n# TYPE {name} counter");
    for (model, counters) in models {
        let reasons =
            [("stop", &counters.stopped), ("length", &counters.at_length), ("error", &counters.failed)];
        for (reason, counter) in reasons {
            let labels = format!(r#"engine="0",finished_reason="{reason}",model_name="{model}""#);
            let _ = writeln!(text, "{name}{{{labels}}} {}", whole(counter));
        }
    }
    text
}

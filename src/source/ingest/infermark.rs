//! infermark: one group a concurrency level. Seconds throughout.

use crate::model::report::{TokenSource, Warmup};
use crate::model::{Fact, Metric, PercentileDefinition, Statistic};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::draft::Draft;
use super::error::IngestError;
use super::reading::{Reading, Run};
use super::tree::Tree;
use super::{Format, failure, parse, stamp};

const MS_PER_SECOND: f64 = 1000.0;

/// Whether it is infermark's.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["results"])?;
    need(sniff, &["results[].n_success"])?;
    need(sniff, &["results[].total_duration"])
}

/// Reads it.
///
/// # Errors
/// Parsing, and values that can't be.
pub fn read(content: &Content) -> Result<Reading, IngestError> {
    let tree: Tree = parse::json(content, Format::Infermark)?;
    let mut reading = Reading::new(Format::Infermark);
    reading.subject.model = tree.text(&["model"]);
    let levels = tree.get("results").map_or(&[][..], Tree::elements);
    let warmup = tree.count(&["config", "warmup"]).filter(|n| *n > 0);
    let run = Run {
        started: tree.text(&["timestamp"]).as_deref().and_then(stamp::parse),
        warmup: warmup.map(|sent| Warmup { sent: sent * levels.len() as u64, ..Warmup::default() }),
        ..Run::default()
    };
    let drafts =
        levels.iter().enumerate().map(|(index, level)| (format!("results[{index}]"), group(&tree, level)));
    reading.run(content, run, drafts.collect::<Vec<_>>())?;
    Ok(reading)
}

fn group(tree: &Tree, level: &Tree) -> Draft {
    let mut draft = Draft::default();
    draft.concurrency_at(level, &["concurrency"]);
    draft.fact(Fact::Model, tree.text(&["model"]));
    draft.fact(Fact::OutputLimit, tree.text(&["config", "max_tokens"]));
    draft.fact(
        Fact::Prompts,
        tree.text(&["config", "prompt_length"]).map(|n| format!("one prompt of {n} characters")),
    );
    let mode = tree.text(&["config", "mode"]);
    draft.fact(Fact::Tool, mode.map(|mode| format!("infermark, mode {mode}")));
    for (words, times) in level.get("errors").map_or(&[][..], Tree::entries) {
        let times = draft.times(words, times.number());
        draft.failed(failure::kind(words), times, words);
    }
    let succeeded = draft.counted_at(level, &["n_success"]);
    let failed = draft.counted_at(level, &["n_error"]);
    let sent = draft.counted_at(level, &["n_requests"]).or_else(|| Some(succeeded? + failed?));
    draft.outcomes(sent, succeeded);
    draft.fact(Fact::Requests, sent);
    draft.wall_ms = level.finite(&["total_duration"]).map(|seconds| seconds * MS_PER_SECOND);
    draft.tokens(None, None, TokenSource::Unknown);
    let linear = PercentileDefinition::Linear;
    for (key, metric, definition) in [
        ("ttft", Metric::TTFT, "first-content-chunk"),
        ("itl", Metric::ITL, "gap-between-chunks"),
        ("latency", Metric::E2E, "whole-request"),
    ] {
        draft.define(&metric, definition, linear);
        for (name, leaf) in level.get(key).map_or(&[][..], Tree::entries) {
            if let Ok(statistic) = name.parse::<Statistic>() {
                draft.leaf(&metric, statistic, Some(leaf), MS_PER_SECOND);
            }
        }
    }
    draft.leaf(&Metric::OUTPUT_THROUGHPUT, Statistic::Value, level.get("tokens_per_second"), 1.0);
    draft.leaf(&Metric::REQUEST_THROUGHPUT, Statistic::Value, level.get("requests_per_second"), 1.0);
    draft
}

//! From a baseline to the text that is committed, and the diff of two such texts.

use std::collections::BTreeMap;

use similar::TextDiff;

use crate::model::{Baseline, digest};

/// The most bytes of a baseline file: it is committed, and reviewed.
pub const MOST_BYTES: usize = 5_000_000;

/// Sample codes longer than this are shortened in a diff.
const LONG_LINE: usize = 160;

/// The baseline has no text that could be committed.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Larger than a repository should keep.
    #[error(
        "the baseline would have {}, and {} is the most. Largest groups: {}. Largest metrics: {}. Bless fewer rounds, requests or groups, or fewer jobs (--bless without --add)",
        mb(*bytes), mb(MOST_BYTES), listed(groups), listed(metrics)
    )]
    TooLarge {
        /// How many bytes it would have.
        bytes: usize,
        /// The largest groups, all jobs and rounds together.
        groups: Vec<(String, usize)>,
        /// The largest metrics, all groups together.
        metrics: Vec<(String, usize)>,
    },
    /// No JSON could be made.
    #[error("no JSON could be made of the baseline: {0}")]
    Json(#[from] serde_json::Error),
}

fn mb(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn listed(parts: &[(String, usize)]) -> String {
    parts.iter().map(|(name, bytes)| format!("{name} ({})", mb(*bytes))).collect::<Vec<_>>().join(", ")
}

/// The text of the file: pretty JSON, stable order, one value a line, the summary first.
///
/// # Errors
/// More than [`MOST_BYTES`], with what makes it so large.
pub fn render(baseline: &Baseline) -> Result<String, RenderError> {
    let mut text = serde_json::to_string_pretty(baseline)?;
    text.push('\n');
    if text.len() <= MOST_BYTES {
        return Ok(text);
    }
    let (mut groups, mut metrics) = (BTreeMap::new(), BTreeMap::new());
    let all = baseline.jobs().flat_map(|(_, job)| &job.rounds).flat_map(|round| &round.groups);
    for group in all {
        *groups.entry(group.id.to_string()).or_default() += serde_json::to_string_pretty(group)?.len();
        for (metric, measurement) in &group.metrics {
            let size = serde_json::to_string_pretty(measurement)?.len();
            *metrics.entry(metric.to_string()).or_default() += size;
        }
    }
    Err(RenderError::TooLarge { bytes: text.len(), groups: largest(groups), metrics: largest(metrics) })
}

fn largest(sizes: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut sizes: Vec<(String, usize)> = sizes.into_iter().collect();
    sizes.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    sizes.truncate(3);
    sizes
}

/// The unified diff of two texts; sample codes are shortened to their length and a hash, so that people can read it.
///
/// Empty where nothing differs. `old` is `None` for a new file.
#[must_use]
pub fn diff(path: &str, old: Option<&str>, new: &str) -> String {
    let (before, after) = (readable(old.unwrap_or_default()), readable(new));
    let from = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    TextDiff::from_lines(before.as_str(), after.as_str())
        .unified_diff()
        .context_radius(3)
        .header(&from, &format!("b/{path}"))
        .to_string()
}

fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1 << 20));
    for line in text.lines() {
        match line.split_once("\": \"").filter(|_| line.len() > LONG_LINE) {
            Some((key, value)) => {
                let hash = digest::hex(value, 8);
                out.push_str(&format!("{key}\": \"... {} characters, hash {hash}\"", value.len()));
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

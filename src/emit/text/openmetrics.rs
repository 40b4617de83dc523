//! OpenMetrics text, which is also the Prometheus text format for gauges.

use super::{is_hidden, reveal};

/// Foreign text for between the quotes of a label's value.
///
/// Hidden characters become visible first (readers differ in what they take for the end of a line); a line feed is
/// kept in the format's own form.
#[must_use]
pub fn openmetrics_label(text: &str) -> String {
    let shown = reveal(text, |c| c != '\n' && is_hidden(c));
    shown.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

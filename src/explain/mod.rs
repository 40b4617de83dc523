//! What each number of a report is, in words: what is divided by what, which side is better, which sample a percentile
//! picks, what is not there and why.
//!
//! Every sentence stands only where it applies to the report at hand.

mod absent;
mod dilution;
mod load;
mod meaning;
mod pages;
mod percentile;
mod reliability;
mod scope;
mod speedup;
mod view;

use crate::model::Report;

use pages::Page;
use scope::Scope;
use view::View;

/// A field can't be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// No metric, alias or group has that name.
    #[error("no field \"{field}\" in this report; the nearest: {}", nearest.join(", "))]
    UnknownField {
        /// As it was typed, escaped for the sink.
        field: String,
        /// What the report has that looks most like it.
        nearest: Vec<String>,
    },
}

/// Explains a report, or one field of it: `ttft`, `ttft.p95`, `int8_quant/chat/c8:ttft.p95`, `speedup_vs_baseline`, or a
/// group alone. Names of the measuring tool (`total_latency.P99`) are understood too.
///
/// The text is plain; `escape` makes what others wrote in the report harmless for where the text is going.
///
/// # Errors
/// A field that is no name of the report's metrics or groups. A known metric that the report lacks is explained.
pub fn explain(
    report: &Report,
    field: Option<&str>,
    escape: impl Fn(&str) -> String,
) -> Result<String, ExplainError> {
    let view = View::of(report);
    let scope = match field {
        None => Scope::default(),
        Some(field) => Scope::parse(field, &view)
            .map_err(|nearest| ExplainError::UnknownField { field: escape(field), nearest })?,
    };
    let mut page = Page::default();
    page.title(&view);
    reliability::section(&mut page, &view, &scope);
    for metric in view.metrics() {
        if scope.has_metric(&metric) {
            meaning::section(&mut page, &view, &scope, &metric);
        }
    }
    percentile::section(&mut page, &view, &scope);
    absent::section(&mut page, &view, &scope);
    speedup::section(&mut page, &view, &scope);
    load::section(&mut page, &view, &scope);
    reliability::over_time(&mut page, &view, &scope);
    page.warnings(report, &scope);
    Ok(page.text(escape))
}

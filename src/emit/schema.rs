//! JSON Schemas of everything that pacegate writes.

use schemars::Schema;

use crate::model::history::HistoryEntry;
use crate::model::trend::Trend;
use crate::model::{Baseline, Plan, Report, SelfTest, Verdict};

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SchemaKind {
    /// What jobs measured.
    Report,
    /// What was blessed.
    Baseline,
    /// How a comparison ended.
    Verdict,
    /// What trying a gate out showed.
    SelfTest,
    /// How much measuring shows which change.
    Plan,
    /// A line of the history of the main branch.
    History,
    /// What past jobs show.
    Trend,
}

impl SchemaKind {
    /// All of them.
    pub const ALL: [SchemaKind; 7] = [
        SchemaKind::Report,
        SchemaKind::Baseline,
        SchemaKind::Verdict,
        SchemaKind::SelfTest,
        SchemaKind::Plan,
        SchemaKind::History,
        SchemaKind::Trend,
    ];

    /// The name: `report`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SchemaKind::Report => "report",
            SchemaKind::Baseline => "baseline",
            SchemaKind::Verdict => "verdict",
            SchemaKind::SelfTest => "self-test",
            SchemaKind::Plan => "plan",
            SchemaKind::History => "history",
            SchemaKind::Trend => "trend",
        }
    }

    fn schema(self) -> Schema {
        match self {
            SchemaKind::Report => schemars::schema_for!(Report),
            SchemaKind::Baseline => schemars::schema_for!(Baseline),
            SchemaKind::Verdict => schemars::schema_for!(Verdict),
            SchemaKind::SelfTest => schemars::schema_for!(SelfTest),
            SchemaKind::Plan => schemars::schema_for!(Plan),
            SchemaKind::History => schemars::schema_for!(HistoryEntry),
            SchemaKind::Trend => schemars::schema_for!(Trend),
        }
    }
}

/// The JSON Schema (draft 2020-12) of a document, pretty, with a line break at its end.
#[must_use]
pub fn schema(kind: SchemaKind) -> String {
    format!("{:#}\n", kind.schema().to_value())
}

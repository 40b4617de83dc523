//! Jobs over time: what came before a job, and whether a series of them drifts. Pure: no I/O, no clock.
//!
//! ```text
//! lines ──► entries ──► before ──► gate (three in a row)
//! entries, verdicts, reports ──► points ──► series ──► success, latency, drift ──► trend
//! ```

mod before;
mod drift;
mod entry;
mod latency;
mod levels;
mod lines;
mod point;
mod series;
mod since;
mod success;
mod trend;

pub use before::before;
pub use drift::Pinned;
pub use entry::{Job, entry};
pub use lines::{DamagedLine, entries, lines, text};
pub use point::{Document, Point, document};
pub use trend::trend;

//! What the emitters say, held against committed snapshots and independent readers.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

mod blessed;
mod first_lines;
mod golden;
mod hostile;
mod json;
mod once;
mod samples;
mod schemas;
mod snapshots;
mod widths;

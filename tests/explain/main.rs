//! Every number of a report in words, and every trap only where it lies.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

#[path = "../emit/golden.rs"]
mod golden;

mod fields;
mod reports;
mod rounds;
mod snapshots;
mod traps;

//! The blessed baseline: as a file, as a decision, and through git.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod blessing;
mod build;
mod git;
mod killed;
mod ledger;
mod reading;
mod rendering;

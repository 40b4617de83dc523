//! The table that a test makes afresh, so that the page can't drift from the rule.

use super::simulate::{Effort, fill};
use super::tables;

/// Its name.
pub const SMALL: &str = "small";

/// How any table is made, up to its options.
pub const COMMAND: &str = "`cargo run --release --example calibrate --";

/// The block of the page: always the same gates.
pub fn small() -> anyhow::Result<String> {
    let filled = fill(&[tables::small()], Effort { seed: 1, pool: 600 }, &|_| ())?;
    let tables: Vec<String> = filled.iter().map(|table| table.markdown()).collect();
    Ok(format!("{COMMAND} --table {SMALL}`\n\n{}", tables.concat()))
}

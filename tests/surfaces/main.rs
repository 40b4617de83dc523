//! What CI systems are given, held against committed snapshots and independent readers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on says where")]

mod github;
mod hostile;
mod huge;
mod junit;
mod markdown;
mod openmetrics;
#[path = "../escapers/oracle.rs"]
#[expect(dead_code, reason = "only the runner's reading of commands is needed here")]
mod oracle;
mod poisoned;
#[path = "../emit"]
mod emit {
    pub mod golden;
    pub mod samples;
}

use emit::{golden, samples};

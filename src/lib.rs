//! pacegate: a regression gate for LLM serving.
//!
//! ```text
//! source (simulate | load | ingest) -> report -> gate (valid? comparable? judged) -> verdict -> emit
//! ```

pub mod baseline;
pub mod cli;
pub mod command;
pub mod config;
pub mod emit;
pub mod exit;
pub mod explain;
pub mod files;
pub mod gate;
pub mod history;
pub mod model;
pub mod self_test;
pub mod server;
pub mod source;
pub mod stats;

//! The blessed baseline as a file: reading it, blessing, its ledger, and what git has of it at another ref.
//!
//! It takes verdicts and has no opinion of its own about numbers.

mod bless;
pub mod git;
mod job_identity;
mod ledger;
mod objections;
mod read;
mod values;
mod write;

pub use bless::{BlessRefused, BlessRequest, bless, fresh};
pub use ledger::{LedgerStep, beyond, drift, drift_of, step};
pub use objections::Objections;
pub use read::{BaselineError, Place, parse, read};
pub use values::values;
pub use write::{MOST_BYTES, RenderError, diff, render};

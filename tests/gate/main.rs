//! The judge, held against independent vectors and against the failures that made people switch other gates off.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod build;
mod comparing;
mod complaints;
mod deciding;
mod golden;
mod hidden;
mod speedup;
mod summaries;
mod waivers;
mod words;

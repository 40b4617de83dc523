//! The embedded engine: a whole serving engine in virtual time.
//!
//! Nothing is waited for and nothing is random in the sense of unrepeatable: the same profile and seed give the same
//! measurements, byte for byte, on every platform. [`measure`] runs a profile; the rest is what it is made of.

pub mod engine;
pub mod events;
pub mod failure;
mod measure;
mod plan;
pub mod random;
mod settings;
mod tally;
pub mod traffic;

pub use measure::{Progress, SimulateError, measure};

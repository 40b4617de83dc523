//! The embedded engine: a whole serving engine in virtual time.
//!
//! Nothing is waited for and nothing is random in the sense of unrepeatable: the same profile and seed give the same
//! measurements, byte for byte, on every platform.

pub mod engine;
pub mod events;
pub mod failure;
pub mod random;
pub mod traffic;

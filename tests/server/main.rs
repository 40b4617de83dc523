//! The mock server over a real loopback socket, byte for byte.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod answers;
mod client;
mod faults;
mod refusals;
mod truth;

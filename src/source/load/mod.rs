//! The load generator: streams real answers from an OpenAI-compatible endpoint and times them.
//!
//! While requests run, bytes are stamped at the socket read and copied, and [`reply`] follows where the reply ends.
//! [`sse`], [`openai`] and [`timeline`] read them afterwards and are pure.

pub mod block;
mod body;
pub mod clock;
mod connection;
pub mod control;
pub mod doctor;
mod ending;
pub mod endpoint;
mod exchange;
mod files;
mod keep_alive;
pub mod key;
mod measure;
pub mod openai;
mod opening;
mod pattern;
mod plan;
pub mod prompts;
pub mod reconcile;
pub mod reply;
pub mod request;
pub mod schedule;
mod self_check;
mod side;
pub mod sse;
mod tally;
pub mod timeline;
mod too_many;
pub mod transcript;
pub mod url;
mod worker;

pub use measure::{LoadError, Options, measure};
pub use side::addresses;

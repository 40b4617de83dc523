//! pacegate.
#![doc = ""]
pub mod stats;

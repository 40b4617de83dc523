//! The only stage that formats: verdicts and reports as text for people and machines.

pub mod text;

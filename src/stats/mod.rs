//! The decision rule as pure maths on slices: no words of the product, no files, no clock, no randomness.
//!
//! Numbers enter through functions that refuse NaN, infinity, negative and empty input with a [`StatsError`];
//! none of them ever comes back as a value. Where a result does not exist (a rank beyond the sample, a change
//! that this evidence could never show) the type says so with `Option`, never with a sentinel.
//!
//! - [`percentile`]: what the tools of this field mean by "p99", and how many samples a percentile needs
//! - [`interval`]: order-statistic and ratio intervals, for display
//! - [`sampling`]: the sampling variance of one round, one job, one summary
//! - [`evidence`]: the three channels, their verdicts, and the smallest change they could have shown
//! - [`proportion`], [`success`]: success rates
//! - [`speedup`]: which of two strategies is faster, and whether that changed
//! - [`multiplicity`], [`tail`]: Holm, Benjamini-Hochberg, Student and normal tails
//! - [`trend`]: three in a row, change points
//! - [`series`]: many jobs as series of everything and of each class, and jobs that stand apart
//! - [`constants`]: every number of the rule with the reason for it
mod check;
pub mod constants;
pub mod evidence;
pub mod interval;
pub mod multiplicity;
pub mod percentile;
pub mod proportion;
pub mod sampling;
pub mod series;
pub mod speedup;
pub mod success;
pub mod tail;
pub mod trend;

pub use check::StatsError;

//! The evidence rule: did everything, one metric, or one field get worse by more than noise explains and more than its
//! limit allows, and what is the smallest change that would have been seen?
//!
//! Input are the fields of one gate and, per job, their sign-aligned natural logarithms (+ = worse, so a throughput
//! enters as −ln) with their sampling variances. [`judge`] answers for evidence with noise, [`judge_exact`] for
//! measurements that repeat exactly.

mod channels;
mod design;
mod exact;
mod field;
mod input;
mod judge;
mod layout;
mod outcome;
mod resolution;

pub use exact::{ExactField, ExactOutcome, judge_exact};
pub use field::{Class, Field, limit_of_decrease, limit_of_increase, over_limit};
pub use input::{Evidence, JobRow, Tier};
pub use judge::judge;
pub use outcome::{ClassOutcome, FieldOutcome, FieldWord, Outcome, Test};
pub use resolution::Resolution;

#[cfg(test)]
mod tests;

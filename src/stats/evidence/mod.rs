//! The evidence rule: did everything, one metric, or one field get worse by more than noise explains and more than its
//! limit allows, and what is the smallest change that would have been seen?
//!
//! Input are the fields of one gate and, per job, their sign-aligned natural logarithms (+ = worse, so a throughput
//! enters as −ln) with their sampling variances. [`judge`] answers for what was measured,
//! [`resolution_ahead`], [`duet_resolution_ahead`] and [`needed`] before a candidate is measured, [`look`] while rounds
//! of a duet are still being added.
mod adaptive;
mod channels;
mod design;
mod field;
mod input;
mod judge;
mod layout;
mod outcome;
mod plan;
mod resolution;

pub use adaptive::{Decision, Look, look};
pub use field::{Class, Field, limit_of_decrease, limit_of_increase, over_limit};
pub use input::{Evidence, JobRow, Tier};
pub use judge::{judge, over_their_limits};
pub use outcome::{ClassOutcome, FieldOutcome, FieldWord, Outcome, Test};
pub use plan::{
    Needed, Target, Workload, duet_resolution_ahead, needed, pairs_needed, resolution_ahead, visible_ahead,
};
pub use resolution::Resolution;

#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod rule_tests;

//! The words of pacegate: what was measured, what was asked, what was judged. Pure values: no I/O, no clock.
//!
//! Everything else speaks these types; this module imports nothing of ours.

pub mod baseline;
pub mod digest;
pub mod engine;
pub mod fact;
pub mod field;
pub mod finding;
pub mod group;
pub mod history;
pub mod mapping;
pub mod metric;
pub mod plan;
pub mod point;
pub mod policy;
pub mod profile;
pub mod quantity;
pub mod reason;
mod reason_json;
mod reason_part;
pub mod report;
pub mod requests;
pub mod samples;
pub mod self_test;
pub mod sentence;
pub mod statistic;
pub mod timestamp;
pub mod trend;
pub mod unique_groups;
mod unique_map;
pub mod verdict;
pub mod wording;

pub use baseline::Baseline;
pub use fact::{Fact, Severity};
pub use field::FieldId;
pub use finding::{Change, Finding, Judgement};
pub use group::{Dimensions, GroupId};
pub use mapping::Mapping;
pub use metric::{ChannelClass, Direction, Metric, MetricDef};
pub use plan::Plan;
pub use quantity::{Finite, NotFinite, Quantity, Unit};
pub use reason::Reason;
pub use report::{Group, Job, Measurement, Report, Round};
pub use samples::Samples;
pub use self_test::SelfTest;
pub use statistic::{PercentileDefinition, Statistic};
pub use timestamp::Timestamp;
pub use verdict::{Outcome, Tier, Verdict};

//! The only stage that formats: verdicts and reports as text for people and machines.
//!
//! One function a sink. What several sinks say is here too, as sentences whose foreign parts each sink escapes its own
//! way: [`headline`], [`evidence`], [`summary`], [`next_step`], [`remarks`],
//! [`rows`].

pub mod evidence;
pub mod headline;
pub mod next_step;
pub mod remarks;
pub mod rows;
pub mod summary;
pub mod text;

mod bless;
mod github;
mod json;
mod junit;
mod markdown;
mod openmetrics;
mod plan;
mod schema;
mod self_test;
mod terminal;
mod trend;

pub use bless::{BlessPage, blessed};
pub use github::{github, line_of};
pub use json::json;
pub use junit::{Run, junit};
pub use markdown::{MARKDOWN_LIMIT, markdown};
pub use next_step::blessing;
pub use openmetrics::openmetrics;
pub use plan::plan;
pub use schema::{SchemaKind, schema};
pub use self_test::self_test;
pub use terminal::{Detail, Style, terminal};
pub use trend::{trend, trend_json};

//! The address of one number: group, metric, statistic.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::group::GroupId;
use super::metric::Metric;
use super::statistic::Statistic;

/// One number of a group, written `int8_quant/rag/c8:ttft.p95`, or `…:output_throughput` where a metric has one value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldId {
    /// The group.
    pub group: GroupId,
    /// The metric.
    pub metric: Metric,
    /// The statistic.
    pub statistic: Statistic,
}

impl FieldId {
    /// A field by its parts.
    #[must_use]
    pub fn new(group: GroupId, metric: Metric, statistic: Statistic) -> FieldId {
        FieldId { group, metric, statistic }
    }

    /// Without the group: `ttft.p95`.
    #[must_use]
    pub fn local(&self) -> String {
        local(&self.metric, self.statistic)
    }
}

/// `ttft.p95`, or `output_throughput` for the only value of a metric.
#[must_use]
pub fn local(metric: &Metric, statistic: Statistic) -> String {
    match statistic {
        Statistic::Value => metric.to_string(),
        _ => format!("{metric}.{statistic}"),
    }
}

impl fmt::Display for FieldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.group, self.local())
    }
}

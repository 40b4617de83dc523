//! Which number of a distribution a field is, and by which definition a percentile was picked.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number taken from a metric: `p95`, `mean`, or the only one there is (`value`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = r"^(value|mean|min|max|std|p[0-9]{1,2}(\.[0-9]{1,3})?)$"))]
pub enum Statistic {
    /// The single value of a metric that is no distribution (a throughput, a rate).
    Value,
    /// Arithmetic mean.
    Mean,
    /// A percentile, in thousandths of a percent: 95_000 is p95, 99_900 is p99.9.
    Percentile(u32),
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Standard deviation as the source computed it.
    Std,
}

impl Statistic {
    /// The median.
    pub const P50: Statistic = Statistic::Percentile(50_000);
    /// 90th percentile.
    pub const P90: Statistic = Statistic::Percentile(90_000);
    /// 95th percentile.
    pub const P95: Statistic = Statistic::Percentile(95_000);
    /// 99th percentile.
    pub const P99: Statistic = Statistic::Percentile(99_000);

    /// The percentile as a number from 0 to 100, if this is one.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        match self {
            Statistic::Percentile(thousandths) => Some(f64::from(thousandths) / 1000.0),
            Statistic::Value | Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Std => None,
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Value => f.write_str("value"),
            Statistic::Mean => f.write_str("mean"),
            Statistic::Min => f.write_str("min"),
            Statistic::Max => f.write_str("max"),
            Statistic::Std => f.write_str("std"),
            Statistic::Percentile(thousandths) => write!(f, "p{}", f64::from(*thousandths) / 1000.0),
        }
    }
}

/// The text is not the name of a statistic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no statistic; expected value, mean, min, max, std or a percentile such as p95 or p99.9")]
pub struct UnknownStatistic(String);

impl FromStr for Statistic {
    type Err = UnknownStatistic;
    fn from_str(text: &str) -> Result<Self, UnknownStatistic> {
        match text {
            "value" => Ok(Statistic::Value),
            "mean" => Ok(Statistic::Mean),
            "min" => Ok(Statistic::Min),
            "max" => Ok(Statistic::Max),
            "std" => Ok(Statistic::Std),
            _ => percentile(text).ok_or_else(|| UnknownStatistic(text.to_owned())),
        }
    }
}

/// `p95`, `p99.9`, `p99.95`: up to three decimals, strictly between 0 and 100.
fn percentile(text: &str) -> Option<Statistic> {
    let (whole, decimals) = match text.strip_prefix('p')?.split_once('.') {
        Some((whole, decimals)) => (whole, decimals),
        None => (text.strip_prefix('p')?, ""),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 2 || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
        return None;
    }
    let thousandths: u32 = format!("{whole}{decimals:0<3}").parse().ok()?;
    (thousandths > 0).then_some(Statistic::Percentile(thousandths))
}

impl TryFrom<String> for Statistic {
    type Error = UnknownStatistic;
    fn try_from(text: String) -> Result<Self, UnknownStatistic> {
        text.parse()
    }
}

impl From<Statistic> for String {
    fn from(statistic: Statistic) -> String {
        statistic.to_string()
    }
}

/// How a percentile is picked from n sorted samples. Two definitions are never compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PercentileDefinition {
    /// `s[min(floor(n p / 100), n - 1)]`, 0-based, no interpolation: script A, and pacegate's own.
    FloorRank,
    /// P50 as the mean of the middle two (Python's `statistics.median`), other percentiles floor rank: script B.
    MedianAndFloorRank,
    /// Linear interpolation between order statistics (NumPy's default, R-7): vLLM, SGLang, AIPerf.
    Linear,
    /// `s[ceil(n p / 100) - 1]`: evalscope.
    NearestRank,
    /// The smallest value whose cumulative weight reaches p: guidellm.
    InvertedCdf,
    /// `(n + 1) p` with interpolation, can pass the largest sample (Python's `statistics.quantiles`): LLMeter.
    Exclusive,
    /// However the tool does it: good for comparing the tool with itself.
    OfTheTool,
    /// The source does not say.
    Unknown,
}

impl PercentileDefinition {
    /// The name in files and sentences.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PercentileDefinition::FloorRank => "floor-rank",
            PercentileDefinition::MedianAndFloorRank => "median-and-floor-rank",
            PercentileDefinition::Linear => "linear",
            PercentileDefinition::NearestRank => "nearest-rank",
            PercentileDefinition::InvertedCdf => "inverted-cdf",
            PercentileDefinition::Exclusive => "exclusive",
            PercentileDefinition::OfTheTool => "of-the-tool",
            PercentileDefinition::Unknown => "unknown",
        }
    }
}

impl fmt::Display for PercentileDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_what_they_were() {
        for name in ["value", "mean", "min", "max", "std", "p50", "p95", "p99.9", "p0.1", "p99.999"] {
            assert_eq!(name.parse::<Statistic>().unwrap().to_string(), name);
        }
        for bad in ["", "p", "p100", "p0", "p-1", "p99.9999", "95", "p9 5", "P95", "p1e1"] {
            assert!(bad.parse::<Statistic>().is_err(), "{bad}");
        }
    }
}

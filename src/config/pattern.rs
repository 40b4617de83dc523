//! Field patterns: `ttft.p95`, `int8_quant/**:ttft.p95`.

use crate::model::group::is_name;
use crate::model::metric::METRICS;
use crate::model::policy::FieldPattern;
use crate::model::quantity::Unit;
use crate::model::{Direction, Metric, Statistic};

use super::error::Problem;
use super::nearest::nearest;

/// Which statistics of a metric a rule may name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One number and no distribution.
    One,
    /// A distribution.
    Many,
    /// Some tools report one number, others a distribution.
    Either,
    /// Percentiles alone: each is a quotient of two.
    Percentiles,
}

fn shape(metric: &Metric) -> Shape {
    match metric.unit() {
        Unit::Fraction | Unit::RequestsPerSecond => Shape::One,
        Unit::TokensPerSecond if *metric == Metric::OUTPUT_THROUGHPUT => Shape::One,
        Unit::Ratio => Shape::Percentiles,
        Unit::Millisecond => Shape::Many,
        Unit::TokensPerSecond | Unit::Megabyte | Unit::Token | Unit::Plain => Shape::Either,
    }
}

/// Reads a pattern whose metric gates.
pub(super) fn parse(text: &str) -> Result<FieldPattern, Problem> {
    let (group, field) = match text.rsplit_once(':') {
        Some((group, field)) => (Some(segments(group, text)?), field),
        None => (None, text),
    };
    let (metric, statistic) = parts(field);
    let metric = known_metric(metric, text)?;
    if metric.direction() == Direction::Unknown {
        return Err(Problem::NoDirection { metric: metric.to_string() });
    }
    let statistic = known_statistic(&metric, statistic, text)?;
    Ok(FieldPattern { group, metric, statistic })
}

/// Reads a field without a group, whether its metric gates or not.
pub(super) fn field(text: &str) -> Result<(Metric, Statistic), Problem> {
    let (metric, statistic) = parts(text);
    let metric = known_metric(metric, text)?;
    let statistic = known_statistic(&metric, statistic, text)?;
    Ok((metric, statistic))
}

/// `ttft` and `p95`.
pub(super) fn parts(field: &str) -> (&str, Option<&str>) {
    field.split_once('.').map_or((field, None), |(metric, statistic)| (metric, Some(statistic)))
}

fn segments(group: &str, pattern: &str) -> Result<Vec<String>, Problem> {
    let refuse = |why: String| Problem::Pattern { pattern: pattern.to_owned(), why };
    group
        .split('/')
        .map(|segment| match segment {
            "*" | "**" => Ok(segment.to_owned()),
            "" => Err(refuse(
                "a part of the group is empty; write it like \"int8_quant/**:ttft.p95\"".to_owned(),
            )),
            _ if segment.contains('*') => Err(refuse(format!(
                "\"{segment}\" mixes a * with letters; * is one whole part, ** any number of them"
            ))),
            _ if is_name(segment) => Ok(segment.to_owned()),
            _ => Err(refuse(format!("\"{segment}\" can't be a part of a group's name"))),
        })
        .collect()
}

fn known_metric(name: &str, pattern: &str) -> Result<Metric, Problem> {
    if let Some(def) = METRICS.iter().find(|def| def.id == name) {
        return Ok(Metric::named(def.id));
    }
    let gating = || METRICS.iter().filter(|def| def.direction != Direction::Unknown).map(|def| def.id);
    let near = written_together(name).or_else(|| nearest(name, gating()));
    Err(Problem::UnknownMetric {
        metric: name.to_owned(),
        pattern: pattern.to_owned(),
        nearest: near,
        known: gating().map(str::to_owned).collect(),
    })
}

/// `ttft_p95` for `ttft.p95`: the most usual slip, since most tools write it so.
fn written_together(name: &str) -> Option<String> {
    let (metric, statistic) = name.rsplit_once(['_', '-', '/'])?;
    let def = METRICS.iter().find(|def| def.id == metric)?;
    statistic.parse::<Statistic>().ok().map(|statistic| format!("{}.{statistic}", def.id))
}

fn known_statistic(metric: &Metric, name: Option<&str>, pattern: &str) -> Result<Statistic, Problem> {
    const NAMES: [&str; 6] = ["p50", "p90", "p95", "p99", "mean", "max"];
    let shape = shape(metric);
    let refuse = |why: String| Problem::Pattern { pattern: pattern.to_owned(), why };
    let Some(name) = name else {
        return match shape {
            Shape::One | Shape::Either => Ok(Statistic::Value),
            Shape::Many | Shape::Percentiles => {
                Err(refuse(format!("{metric} has several statistics; write \"{metric}.p95\"")))
            }
        };
    };
    let statistic: Statistic = name.parse().map_err(|_| Problem::UnknownStatistic {
        statistic: name.to_owned(),
        pattern: pattern.to_owned(),
        nearest: nearest(name, NAMES),
        expected: match shape {
            Shape::One => format!("{metric} has one value, write \"{metric}\""),
            _ => "expected a percentile such as p95 or p99.9, mean, min or max".to_owned(),
        },
    })?;
    match (shape, statistic) {
        (_, Statistic::Std) => {
            Err(refuse(format!("the spread of {metric} can be shown and never gates; gate a percentile")))
        }
        (Shape::One, Statistic::Value)
        | (Shape::Either, _)
        | (Shape::Percentiles, Statistic::Percentile(_)) => Ok(statistic),
        (Shape::One, _) => Err(refuse(format!("{metric} has one value; write \"{metric}\""))),
        (Shape::Percentiles, _) => {
            Err(refuse(format!("{metric} is known at percentiles alone; write \"{metric}.p95\"")))
        }
        (Shape::Many, Statistic::Value) => {
            Err(refuse(format!("{metric} has several statistics; write \"{metric}.p95\"")))
        }
        (Shape::Many, _) => Ok(statistic),
    }
}

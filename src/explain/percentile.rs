//! Which sample a percentile is, and how far other definitions of it would differ.

use crate::model::{Finite, Metric, PercentileDefinition, Quantity, Samples, Statistic, Unit};
use crate::stats::percentile::{Definition, Position, Sorted, smallest_sample};

use super::pages::Page;
use super::scope::Scope;
use super::view::{Seen, Tool, View};

/// So many different sample counts of one metric are explained.
const MOST_SIZES: usize = 3;

/// How far linear interpolation reads from a floor rank, lognormal data with a log-sd of 0.5, simulated: mean bias and 95th
/// percentile of the absolute difference, in per cent, for p50, p95, p99.
const LINEAR_AGAINST_FLOOR: [(u64, [(f64, f64); 3]); 4] = [
    (20, [(-2.8, 8.4), (-18.0, 45.0), (-3.6, 9.0)]),
    (100, [(-0.6, 1.9), (-4.4, 13.0), (-15.0, 39.0)]),
    (300, [(-0.2, 0.6), (-1.6, 4.8), (-5.8, 17.0)]),
    (1000, [(-0.1, 0.2), (-0.4, 1.3), (-1.8, 5.1)]),
];

/// Below this bias, in per cent, a difference is not worth a sentence.
const WORTH_SAYING: f64 = 1.0;

/// A percentile of so many samples.
type Case = (Statistic, PercentileDefinition, u64);

/// Which sample each percentile of the times is, and how far other definitions would differ.
pub fn section(page: &mut Page, view: &View<'_>, scope: &Scope) {
    page.titled("Which sample a percentile is");
    let metrics: Vec<Metric> = view.metrics().into_iter().filter(|metric| scope.has_metric(metric)).collect();
    let mut cases: Vec<Case> = metrics.iter().flat_map(|metric| cases(view, scope, metric)).collect();
    cases.sort_unstable();
    cases.dedup();
    for part in cases.chunk_by(|a, b| a.0 == b.0) {
        for &(statistic, definition, n) in part.iter().take(MOST_SIZES) {
            page.own(picked(statistic, definition, n));
        }
        let Some(&(statistic, definition, n)) = part.first() else { continue };
        if part.len() > MOST_SIZES {
            page.own(format!("and likewise for the other sample counts of {statistic}"));
        }
        let of_case: Vec<&Metric> = metrics
            .iter()
            .filter(|metric| self::cases(view, scope, metric).contains(&(statistic, definition, n)))
            .collect();
        differences(page, view, scope, &of_case, (statistic, definition, n));
        let needed = statistic.percent().and_then(|p| smallest_sample(p).ok()).map_or(0, |n| n as u64);
        if n < needed {
            page.own(format!("{statistic} needs {needed} samples to be judged; {n} are too few"));
        }
    }
    if view.tool == Tool::Vllm && cases.iter().any(|case| case.0 == Statistic::P50) {
        page.own("p50 is what the file calls median: it has median_ttft_ms, and no p50_ttft_ms unless asked");
    }
    let median = |case: &Case| case.0 == Statistic::P50 && case.1 == PercentileDefinition::MedianAndFloorRank;
    if view.tool == Tool::ScriptB && cases.iter().any(median) {
        page.own("p50 and p95 of this script follow two different rules: the median, and a floor rank");
    }
}

/// The percentiles of a metric, by what they are of.
fn cases(view: &View<'_>, scope: &Scope, metric: &Metric) -> Vec<Case> {
    let mut cases = Vec::new();
    for seen in scope.groups(view) {
        for measured in seen.measurements(metric) {
            let Some(definition) = measured.percentile_definition else { continue };
            let percentiles =
                measured.stats.keys().filter(|s| s.percent().is_some() && scope.has_statistic(**s));
            let sizes = seen.sizes(metric);
            cases.extend(percentiles.flat_map(|s| sizes.iter().map(move |n| (*s, definition, *n))));
        }
    }
    cases
}

/// `p99 of 300 is the 298th fastest; nothing is interpolated`.
fn picked(statistic: Statistic, definition: PercentileDefinition, n: u64) -> String {
    let place = |rank: usize| format!("{} fastest", ordinal(rank));
    let name = statistic.to_string().to_uppercase();
    let position = read_as(definition, statistic)
        .and_then(|d| d.position(usize::try_from(n).ok()?, statistic.percent()?).ok());
    match (position, definition) {
        (None, _) => {
            format!("how {name} of {n} is picked, the source does not say: compare it with nothing")
        }
        (Some(Position::Rank(rank)), PercentileDefinition::Linear | PercentileDefinition::Exclusive) => {
            format!("{name} of {n} is the {}: no interpolation was needed", place(rank))
        }
        (Some(Position::Rank(rank)), _) if rank as u64 == n => {
            format!("{name} of {n} is the largest sample; nothing is interpolated")
        }
        (Some(Position::Rank(rank)), _) => {
            format!("{name} of {n} is the {}; nothing is interpolated", place(rank))
        }
        (Some(Position::Between(lower, _)), PercentileDefinition::MedianAndFloorRank) => format!(
            "{name} of {n} is the mean of the {} and the {} (Python's statistics.median)",
            ordinal(lower),
            place(lower + 1)
        ),
        (Some(Position::Between(lower, fraction)), _) => format!(
            "{name} of {n} lies {:.0} % of the way from the {} to the {}: interpolated{}",
            fraction * 100.0,
            ordinal(lower),
            place(lower + 1),
            if definition == PercentileDefinition::Linear { " (NumPy's default)" } else { "" }
        ),
    }
}

fn read_as(definition: PercentileDefinition, statistic: Statistic) -> Option<Definition> {
    Some(match definition {
        PercentileDefinition::FloorRank => Definition::FloorRank,
        PercentileDefinition::MedianAndFloorRank if statistic == Statistic::P50 => Definition::Median,
        PercentileDefinition::MedianAndFloorRank => Definition::FloorRank,
        PercentileDefinition::Linear => Definition::Linear,
        PercentileDefinition::NearestRank => Definition::NearestRank,
        PercentileDefinition::InvertedCdf => Definition::InvertedCdf,
        PercentileDefinition::Exclusive => Definition::Exclusive,
        PercentileDefinition::OfTheTool | PercentileDefinition::Unknown => return None,
    })
}

/// How far the other common definition would read, exactly where there are samples, else as simulated.
fn differences(page: &mut Page, view: &View<'_>, scope: &Scope, metrics: &[&Metric], case: Case) {
    let (statistic, definition, n) = case;
    let Some(ours) = read_as(definition, statistic) else { return };
    let (other, name) = match ours {
        Definition::FloorRank => (Definition::Linear, "NumPy, which interpolates,"),
        Definition::Linear => (Definition::FloorRank, "a floor rank (benchmark.py, pacegate's own runs)"),
        _ => return,
    };
    let measured =
        |metric: &Metric| scope.groups(view).flat_map(|seen| seen.measurements(metric)).collect::<Vec<_>>();
    let (mut simulated, mut agreed) = (Vec::new(), Vec::new());
    for metric in metrics {
        let sampled = |seen: &&Seen<'_>| seen.measurements(metric).any(|m| m.samples.is_some());
        let first = scope.groups(view).find(sampled);
        let samples = first.and_then(|seen| seen.measurements(metric).find_map(|m| m.samples.as_ref()));
        let (Some(seen), Some(samples)) = (first, samples) else {
            simulated.push(*metric);
            continue;
        };
        match both(samples, statistic, ours, other) {
            Some((here, there)) if here == there => {
                agreed.push(format!("{here} for {metric}.{statistic} of {}", seen.id));
            }
            Some((here, there)) => page.own(format!(
                "{name} would say {there} for {metric}.{statistic} of the same samples of {}, not {here}",
                seen.id
            )),
            None => {}
        }
    }
    if !agreed.is_empty() {
        page.own(format!("{name} would say the same at this n: {}", agreed.join(", ")));
    }
    let largest =
        |metric: &Metric| measured(metric).into_iter().filter_map(|m| m.stats.get(&statistic)).max().copied();
    let values: Vec<(&Metric, Finite)> =
        simulated.into_iter().filter_map(|metric| Some((metric, largest(metric)?))).collect();
    if let Some(text) = in_general(other, name, statistic, n, &values) {
        page.own(text);
    }
}

/// A percentile by two definitions, as it is shown.
fn both(
    samples: &Samples,
    statistic: Statistic,
    ours: Definition,
    other: Definition,
) -> Option<(String, String)> {
    let sorted = Sorted::new(samples.sorted_millis()).ok()?;
    let read = |definition| {
        let value = Finite::new(sorted.percentile(statistic.percent()?, definition).ok()?).ok()?;
        Some(Quantity { value, unit: Unit::Millisecond }.to_string())
    };
    Some((read(ours)?, read(other)?))
}

fn in_general(
    other: Definition,
    name: &str,
    statistic: Statistic,
    n: u64,
    values: &[(&Metric, Finite)],
) -> Option<String> {
    let column = [Statistic::P50, Statistic::P95, Statistic::P99].iter().position(|s| *s == statistic)?;
    let distance = |row: u64| (log(row) - log(n)).abs();
    let (at, row) = LINEAR_AGAINST_FLOOR.iter().min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)))?;
    let (bias, spread) = row[column];
    if bias.abs() < WORTH_SAYING || values.is_empty() {
        return None;
    }
    // The table tells how much linear reads below a floor rank; seen from linear, a floor rank reads above by a little more.
    let (side, bias) = match other {
        Definition::Linear => ("lower", bias.abs()),
        _ => ("higher", 100.0 * (1.0 / (1.0 - bias.abs() / 100.0) - 1.0)),
    };
    let shifts: Vec<String> = values
        .iter()
        .filter_map(|(metric, largest)| {
            let value = Finite::new(largest.get() * bias / 100.0).ok()?;
            Some(format!("{} of {metric}", Quantity { value, unit: metric.unit() }))
        })
        .collect();
    let about = if *at == n { format!("n = {n}") } else { format!("n = {n} (worked out for {at})") };
    Some(format!(
        "{name} reads {statistic} {bias:.1} % {side} on average at {about}: up to {} here; 1 time in 20 the two are more than {spread} % apart, with nothing changed",
        shifts.join(", ")
    ))
}

#[expect(clippy::cast_precision_loss, reason = "a distance between sample counts")]
fn log(n: u64) -> f64 {
    (n.max(1) as f64).ln()
}

/// `1st`, `22nd`, `113th`.
fn ordinal(n: usize) -> String {
    let suffix = match (n % 100, n % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_english() {
        let words: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 298].map(ordinal).into();
        assert_eq!(
            words,
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th", "298th"]
        );
    }

    #[test]
    fn each_definition_says_which_sample_it_picks() {
        use PercentileDefinition::{Exclusive, FloorRank, Linear, MedianAndFloorRank, NearestRank, Unknown};
        let say = picked;
        assert_eq!(
            say(Statistic::P99, FloorRank, 300),
            "P99 of 300 is the 298th fastest; nothing is interpolated"
        );
        assert_eq!(
            say(Statistic::P99, FloorRank, 100),
            "P99 of 100 is the largest sample; nothing is interpolated"
        );
        assert_eq!(
            say(Statistic::P99, NearestRank, 300),
            "P99 of 300 is the 297th fastest; nothing is interpolated"
        );
        assert_eq!(
            say(Statistic::P50, MedianAndFloorRank, 60),
            "P50 of 60 is the mean of the 30th and the 31st fastest (Python's statistics.median)"
        );
        assert_eq!(
            say(Statistic::P50, MedianAndFloorRank, 61),
            "P50 of 61 is the 31st fastest; nothing is interpolated"
        );
        assert_eq!(
            say(Statistic::P95, MedianAndFloorRank, 60),
            "P95 of 60 is the 58th fastest; nothing is interpolated"
        );
        assert_eq!(
            say(Statistic::P99, Linear, 300),
            "P99 of 300 lies 1 % of the way from the 297th to the 298th fastest: interpolated (NumPy's default)"
        );
        assert_eq!(
            say(Statistic::P50, Linear, 301),
            "P50 of 301 is the 151st fastest: no interpolation was needed"
        );
        assert_eq!(
            say(Statistic::P99, Exclusive, 50),
            "P99 of 50 lies 149 % of the way from the 49th to the 50th fastest: interpolated"
        );
        assert_eq!(
            say(Statistic::P95, Unknown, 50),
            "how P95 of 50 is picked, the source does not say: compare it with nothing"
        );
    }
}

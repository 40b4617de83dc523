//! Shifts with one cause.

use crate::model::metric::{ChannelClass, Metric};
use crate::model::quantity::Finite;
use crate::model::reason::{Reach, Reason};
use crate::model::sentence::Sentence;

use super::parts::{chance, count, plus, share};

/// The sentence of a shift, with the field that shows it most; `None` for any other reason.
pub fn with_worst(reason: &Reason, worst: &str) -> Option<Sentence> {
    let worst = Some(worst);
    let text = match reason {
        Reason::RunWide { ratio, interval, p, regressed, reach } => {
            run_wide_words(*ratio, (*interval, *p), worst, *regressed, *reach)
        }
        Reason::ClassShift { class, ratio, interval, p, regressed } => {
            class_words(*class, *ratio, (*interval, *p), worst, *regressed)
        }
        Reason::MetricShift { metric, groups, of, strategies, smallest, largest, with } => {
            metric_shift_words(metric, (*groups, *of), strategies, (*smallest, *largest), worst, with)
        }
        _ => return None,
    };
    Some(Sentence::default().own(text))
}

pub fn run_wide(
    ratio: Finite,
    interval: Option<(Finite, Finite)>,
    p: Option<Finite>,
    regressed: bool,
    reach: Reach,
) -> Sentence {
    Sentence::default().own(run_wide_words(ratio, (interval, p), None, regressed, reach))
}

pub fn class_shift(
    class: ChannelClass,
    ratio: Finite,
    interval: Option<(Finite, Finite)>,
    p: Option<Finite>,
    regressed: bool,
) -> Sentence {
    Sentence::default().own(class_words(class, ratio, (interval, p), None, regressed))
}

pub fn metric_shift(
    metric: &Metric,
    groups: usize,
    of: usize,
    strategies: &[String],
    smallest: Finite,
    largest: Finite,
    with: &[Metric],
) -> Sentence {
    Sentence::default().own(metric_shift_words(
        metric,
        (groups, of),
        strategies,
        (smallest, largest),
        None,
        with,
    ))
}

/// The 95 % interval of a ratio, and the chance without a change.
type Sureness = (Option<(Finite, Finite)>, Option<Finite>);

fn class_words(
    class: ChannelClass,
    ratio: Finite,
    sure: Sureness,
    worst: Option<&str>,
    regressed: bool,
) -> String {
    let less = (1.0 - 1.0 / ratio.get()) * 100.0;
    let sure = if class == ChannelClass::Throughput { (sure.0.and_then(as_rates), sure.1) } else { sure };
    let moved = match (class, regressed) {
        (ChannelClass::Throughput, true) => format!("fell by {less:.1} %"),
        (ChannelClass::Throughput, false) => format!("may have fallen by {less:.1} %"),
        (_, true) => format!("got {}", percent_worse(ratio)),
        (_, false) => format!("may have got {}", percent_worse(ratio)),
    };
    format!("{} {moved} relative to the other metrics{}{}", class.name(), aside(worst, sure), stage(class))
}

/// The ends of a ratio of times as those of the ratio of rates.
fn as_rates((lo, hi): (Finite, Finite)) -> Option<(Finite, Finite)> {
    Finite::new(1.0 / hi.get()).ok().zip(Finite::new(1.0 / lo.get()).ok())
}

fn run_wide_words(
    ratio: Finite,
    sure: Sureness,
    worst: Option<&str>,
    regressed: bool,
    reach: Reach,
) -> String {
    let what = if reach == Reach::NotAll { "the middle one of all gated fields" } else { "everything" };
    let verb = if regressed { "is" } else { "may be" };
    let cause = match (regressed, reach) {
        (true, Reach::Decode) => {
            ": decode, or this machine? Repeat on another runner, or measure both sides in one job"
        }
        (true, Reach::Everything) => {
            ": the change, or this machine? Repeat on another runner, or measure both sides in one job"
        }
        (true, Reach::NotAll) => ": not all of them moved, so look at those that did",
        (false, _) => "; not significant by itself",
    };
    format!("{what} {verb} {}{}{cause}", percent_worse(ratio), aside(worst, sure))
}

fn metric_shift_words(
    metric: &Metric,
    (groups, of): (usize, usize),
    strategies: &[String],
    span: (Finite, Finite),
    worst: Option<&str>,
    with: &[Metric],
) -> String {
    let worse = metric.def().map_or("worse", |def| def.worse);
    let size = if share(span.0) == share(span.1) {
        share(span.1)
    } else {
        format!("{} to {}", share(span.0), share(span.1))
    };
    let worst = aside(worst, (None, None));
    let whose = if strategies.is_empty() { String::new() } else { format!(" of {}", strategies.join(", ")) };
    let stage = metric.class().map(stage).unwrap_or_default();
    let with: Vec<&str> = with.iter().map(Metric::id).collect();
    let along =
        if with.is_empty() { String::new() } else { format!("; {} moved with it", with.join(" and ")) };
    format!("{metric}{whose} is {size} {worse} in {groups} of {}{worst}{stage}{along}", count(of, "group"))
}

fn stage(class: ChannelClass) -> String {
    match class {
        ChannelClass::Ttft => ": look at queueing, preprocessing and prompt encoding".to_owned(),
        ChannelClass::Tpot | ChannelClass::Itl => ": look at decode".to_owned(),
        ChannelClass::E2e | ChannelClass::Throughput => String::new(),
    }
}

/// ` (worst: …; 95 %: +14 % to +32 %; chance without a change: 0.09 %)`, as much of it as is known.
fn aside(worst: Option<&str>, (interval, p): Sureness) -> String {
    let share = |ratio: Finite| Finite::new(ratio.get() - 1.0).unwrap_or(Finite::ZERO);
    let worst = worst.map(|worst| format!("worst: {worst}"));
    let interval = interval.map(|(lo, hi)| format!("95 %: {} to {}", plus(share(lo)), plus(share(hi))));
    let p = p.map(|p| format!("chance without a change: {}", chance(p)));
    let known: Vec<String> = worst.into_iter().chain(interval).chain(p).collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) }
}

fn percent_worse(ratio: Finite) -> String {
    format!("{:.1} % slower", (ratio.get() - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_throughput_is_of_the_rate_like_the_fall_beside_it() {
        let finite = |value: f64| Finite::new(value).unwrap();
        let interval = Some((finite(1.0), finite(1.25)));
        let words = class_words(ChannelClass::Throughput, finite(1.125), (interval, None), None, true);
        assert_eq!(
            words,
            "throughput fell by 11.1 % relative to the other metrics (95 %: \u{2212}20 % to +0 %)"
        );
    }
}

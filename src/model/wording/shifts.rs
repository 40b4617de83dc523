//! Shifts with one cause.

use crate::model::metric::{ChannelClass, Metric};
use crate::model::quantity::Finite;
use crate::model::sentence::Sentence;

use super::parts::{chance, plus};

pub fn run_wide(
    ratio: Finite,
    interval: Option<(Finite, Finite)>,
    p: Option<Finite>,
    regressed: bool,
    decode: bool,
) -> Sentence {
    Sentence::default().own(run_wide_words(ratio, interval, p, regressed, decode))
}

pub fn class_shift(
    class: ChannelClass,
    ratio: Finite,
    interval: Option<(Finite, Finite)>,
    p: Option<Finite>,
    regressed: bool,
) -> Sentence {
    let less = (1.0 - 1.0 / ratio.get()) * 100.0;
    let moved = match (class, regressed) {
        (ChannelClass::Throughput, true) => format!("fell by {less:.1} %"),
        (ChannelClass::Throughput, false) => format!("may have fallen by {less:.1} %"),
        (_, true) => format!("got {}", percent_worse(ratio)),
        (_, false) => format!("may have got {}", percent_worse(ratio)),
    };
    Sentence::default().own(format!(
        "{} {moved} relative to the other metrics{}{}",
        class.name(),
        range(interval, p),
        stage(class)
    ))
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
    Sentence::default().own(metric_shift_words(metric, groups, of, strategies, (smallest, largest), with))
}

fn run_wide_words(
    ratio: Finite,
    interval: Option<(Finite, Finite)>,
    p: Option<Finite>,
    regressed: bool,
    decode: bool,
) -> String {
    let verb = if regressed { "is" } else { "may be" };
    let cause = match (regressed, decode) {
        (true, true) => {
            ": decode, or this machine? Repeat on another runner, or measure both sides in one job"
        }
        (true, false) => {
            ": the change, or this machine? Repeat on another runner, or measure both sides in one job"
        }
        (false, _) => "; not significant, so it does not fail",
    };
    format!("everything {verb} {}{}{cause}", percent_worse(ratio), range(interval, p))
}

fn metric_shift_words(
    metric: &Metric,
    groups: usize,
    of: usize,
    strategies: &[String],
    span: (Finite, Finite),
    with: &[Metric],
) -> String {
    let worse = metric.def().map_or("worse", |def| def.worse);
    let size = if plus(span.0) == plus(span.1) {
        plus(span.1)
    } else {
        format!("{} to {}", plus(span.0), plus(span.1))
    };
    let whose = if strategies.is_empty() { String::new() } else { format!(" of {}", strategies.join(", ")) };
    let stage = metric.class().map(stage).unwrap_or_default();
    let with: Vec<&str> = with.iter().map(Metric::id).collect();
    let along =
        if with.is_empty() { String::new() } else { format!("; {} moved with it", with.join(" and ")) };
    format!("{metric}{whose} is {size} {worse} in {groups} of {of} groups{stage}{along}")
}

fn stage(class: ChannelClass) -> String {
    match class {
        ChannelClass::Ttft => ": look at queueing, preprocessing and prompt encoding".to_owned(),
        ChannelClass::Tpot | ChannelClass::Itl => ": look at decode".to_owned(),
        ChannelClass::E2e | ChannelClass::Throughput => String::new(),
    }
}

/// ` (95 %: +14 % to +32 %; chance without a change: 0.09 %)`, as much of it as is known.
fn range(interval: Option<(Finite, Finite)>, p: Option<Finite>) -> String {
    let share = |ratio: Finite| Finite::new(ratio.get() - 1.0).unwrap_or(Finite::ZERO);
    let interval = interval.map(|(lo, hi)| format!("95 %: {} to {}", plus(share(lo)), plus(share(hi))));
    let p = p.map(|p| format!("chance without a change: {}", chance(p)));
    let known: Vec<String> = interval.into_iter().chain(p).collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) }
}

fn percent_worse(ratio: Finite) -> String {
    format!("{:.1} % slower", (ratio.get() - 1.0) * 100.0)
}

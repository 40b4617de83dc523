//! Why a measured speed-up is the strategy's factor, or less.

use std::cmp::Ordering;

use crate::model::engine::StrategySpeeds;
use crate::model::{Finite, Group, Metric, Statistic};

use super::pages::Page;
use super::speedup::{Pair, legs, ms};
use super::view::{Seen, Tool, View};

/// A share below this is not shown as a number.
const LEAST: f64 = 0.001;

/// The values of a metric on both sides, and what they give.
struct Measured {
    name: String,
    top: Finite,
    bottom: Finite,
}

impl Measured {
    fn of(pair: &Pair<'_>, metric: &Metric, statistics: &[Statistic]) -> Option<Measured> {
        let of = |statistic: &Statistic| Some((*statistic, legs(pair, metric, *statistic)?));
        let (statistic, (top, bottom)) = statistics.iter().find_map(of)?;
        Some(Measured { name: format!("{metric} {statistic}"), top, bottom })
    }

    fn ratio(&self) -> f64 {
        self.top.get() / self.bottom.get()
    }

    /// `ttft p50 61.33 ms / 44.59 ms = 1.38`.
    fn words(&self) -> String {
        format!("{} {} / {} = {:.2}", self.name, ms(self.top), ms(self.bottom), self.ratio())
    }

    /// Which side of the factor it is on, as far as two decimals show.
    fn against(&self, factor: f64) -> Ordering {
        (self.ratio() * 100.0).round().total_cmp(&(factor * 100.0).round())
    }
}

/// How far e2e and ttft of a strategy show its factor, and why not further; empty where the factor is not known.
pub(super) fn lines(view: &View<'_>, pair: &Pair<'_>) -> Vec<String> {
    let Some(factor) = factor(view, pair.strategy) else { return Vec::new() };
    let whole =
        Measured::of(pair, &Metric::E2E, &[Statistic::Mean, Statistic::P50, Statistic::P95, Statistic::P99]);
    let first = Measured::of(pair, &Metric::TTFT, &[Statistic::P50]);
    let preprocess = whole.as_ref().and_then(|whole| preprocess(pair.reference, whole));
    let slowed = slowed(view, pair.strategy);
    let mut lines: Vec<String> = slowed
        .iter()
        .map(|slowed| {
            format!("beside the factor {factor} this run changes stages of {}: {slowed}", pair.strategy)
        })
        .collect();
    let lines_of = [(whole, e2e as fn(&Measured, f64, Option<f64>) -> String), (first, ttft)];
    for (measured, reason) in lines_of {
        let Some(measured) = measured else { continue };
        let share = preprocess.map(|ms| ms / measured.top.get());
        let why = match measured.against(factor) {
            Ordering::Greater if caches(view, pair.strategy) => {
                format!("more than the factor {factor}, because cached prefixes are not read again")
            }
            Ordering::Greater => format!("more than the factor {factor}"),
            Ordering::Equal => format!("as good as the whole factor {factor}, because {}", small(share)),
            Ordering::Less if slowed.is_some() => {
                format!("less than the factor {factor}, because of the stages that this run changes")
            }
            Ordering::Less => {
                format!("less than the factor {factor}, because {}", reason(&measured, factor, share))
            }
        };
        lines.push(format!("{}: {why}", measured.words()));
    }
    lines
}

/// What holds for every strategy, once.
pub(super) fn in_common(page: &mut Page, view: &View<'_>, pairs: &[Pair<'_>]) {
    if view.tool != Tool::Embedded {
        return;
    }
    page.own("congestion multiplies both sides alike, so it does not change the ratio");
    let same = |pair: &Pair<'_>| {
        let tokens = |seen: &Seen<'_>| seen.total(|group| group.tokens.output);
        tokens(pair.seen).is_some() && tokens(pair.seen) == tokens(pair.reference)
    };
    if pairs.iter().all(same) {
        page.own("nor do different output lengths: all strategies meet the same requests and answer with the same number of tokens");
    }
}

fn small(share: Option<f64>) -> String {
    match share {
        Some(share) if share < LEAST => {
            format!("preprocess, which it does not touch, is {} of it", percent(share))
        }
        Some(share) => format!("preprocess, which it does not touch, is only {} of it", percent(share)),
        None => "preprocess, which it does not touch, is a small part of it".to_owned(),
    }
}

fn e2e(_: &Measured, _: f64, share: Option<f64>) -> String {
    match share {
        Some(share) => {
            format!("preprocess, which it does not touch, is {} of the reference strategy's", percent(share))
        }
        None => "it divides prompt encode and decode only: preprocess stays as it is, congestion multiplies all of it, and random output lengths move the percentiles".to_owned(),
    }
}

fn percent(share: f64) -> String {
    if share < LEAST { "under 0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

fn ttft(measured: &Measured, factor: f64, share: Option<f64>) -> String {
    let Some(share) = share.filter(|share| *share < 1.0) else {
        return "preprocess, which it does not touch, weighs more in ttft than in e2e".to_owned();
    };
    format!(
        "preprocess ({:.2} ms on average), which it does not touch, is {:.0} % of the reference strategy's, and 1 / ({share:.2} + {:.2} / {factor}) is about {:.2}",
        share * measured.top.get(),
        share * 100.0,
        1.0 - share,
        1.0 / (share + (1.0 - share) / factor)
    )
}

/// Mean ms of preprocess a request of the reference strategy, where it is known where the time went.
fn preprocess(reference: &Seen<'_>, whole: &Measured) -> Option<f64> {
    let shares: Vec<f64> = reference
        .rounds
        .iter()
        .filter_map(|group: &&Group| Some(group.shares.get("preprocess")?.get()))
        .collect();
    let count = u32::try_from(shares.len()).ok().filter(|n| *n > 0)?;
    Some(shares.iter().sum::<f64>() / f64::from(count) * whole.top.get())
}

/// The factor of a strategy on a mock engine: as recorded, else what its name stands for.
fn factor(view: &View<'_>, strategy: &str) -> Option<f64> {
    let named = StrategySpeeds::named(strategy);
    let recorded = parameter(view, strategy, "factor").and_then(|text| text.parse::<f64>().ok());
    let factor = match (view.tool, recorded) {
        (Tool::Embedded, Some(factor)) => factor,
        (Tool::Embedded, None) => named.factor.get(),
        // Of script A, only these two are documented.
        (Tool::ScriptA, _) if matches!(strategy, "int8_quant" | "speculative_decode") => named.factor.get(),
        _ => return None,
    };
    (factor > 1.0).then_some(factor)
}

fn parameter<'a>(view: &View<'a>, strategy: &str, name: &str) -> Option<&'a str> {
    view.report.subject.parameters.get(&format!("strategies.{strategy}.{name}")).map(String::as_str)
}

fn caches(view: &View<'_>, strategy: &str) -> bool {
    parameter(view, strategy, "prefix_cache") == Some("true")
}

/// `decode_times 1.2`: the stages of a strategy that the profile slows or speeds on purpose.
fn slowed(view: &View<'_>, strategy: &str) -> Option<String> {
    let changed =
        ["preprocess_times", "prompt_encode_times", "decode_times"].into_iter().filter_map(|name| {
            let value = parameter(view, strategy, name)?;
            (value != "1").then(|| format!("{name} {value}"))
        });
    let changed: Vec<String> = changed.collect();
    (!changed.is_empty()).then(|| changed.join(", "))
}

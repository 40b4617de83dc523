//! Which strategy is faster, by how much, and why it is less than the table promised.

use crate::model::{Finite, Group, Metric, Quantity, Statistic, Unit};

use super::dilution;
use super::pages::Page;
use super::scope::Scope;
use super::view::{Seen, Tool, View};

/// The percentiles of e2e that are divided.
const STATISTICS: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];

/// A strategy's group beside that of the reference strategy.
pub(super) struct Pair<'a> {
    pub strategy: &'a str,
    pub seen: &'a Seen<'a>,
    pub reference: &'a Seen<'a>,
}

/// Every speed-up, recomputed from both legs and in words.
pub fn section<'a>(page: &mut Page, view: &'a View<'a>, scope: &Scope) {
    if !(scope.has_metric(&Metric::SPEEDUP) || scope.names(&Metric::E2E)) {
        return;
    }
    page.titled("speedup_vs_baseline (x; higher is better)");
    let claims =
        view.groups.iter().flat_map(|seen| &seen.rounds).any(|group| group.speedup_reported.is_some());
    let strategies = view.dimension(|d| d.strategy.clone());
    let Some(reference) = view.report.profile.reference.as_deref().filter(|name| strategies.contains(*name))
    else {
        if strategies.len() > 1 || claims {
            let names: Vec<&str> = strategies.iter().map(String::as_str).collect();
            page.own(format!(
                "no speed-up can be computed: none of {} is named as the reference strategy; name one \"baseline\"",
                names.join(", ")
            ));
        }
        return;
    };
    let pairs: Vec<Pair<'a>> = scope_pairs(view, scope, reference);
    let shown = |statistic: &Statistic| scope.has_statistic(*statistic);
    if pairs.is_empty() || !STATISTICS.iter().any(shown) {
        return;
    }
    page.own(format!(
        "e2e of the reference strategy ({reference}) / e2e of this strategy, at the same percentile. The strategy's own time is the DENOMINATOR: above 1 it is faster than the reference strategy, below 1 slower"
    ));
    if view.tool == Tool::ScriptA {
        page.own("the file has it at p99 alone, to two decimals; here it is computed anew from both times");
    }
    for pair in &pairs {
        one(page, view, scope, pair);
    }
    dilution::in_common(page, view, &pairs);
}

fn scope_pairs<'a>(view: &'a View<'a>, scope: &Scope, reference: &str) -> Vec<Pair<'a>> {
    let wanted: Vec<_> = scope.groups(view).map(|seen| seen.id.clone()).collect();
    let pair = |seen: &'a Seen<'a>| {
        let strategy = seen.dimensions.strategy.as_deref().filter(|name| *name != reference)?;
        let leg = seen.dimensions.with_strategy(reference);
        let reference = view.groups.iter().find(|other| *other.dimensions == leg)?;
        Some(Pair { strategy, seen, reference })
    };
    view.groups.iter().filter(|seen| wanted.contains(seen.id)).filter_map(pair).collect()
}

fn one(page: &mut Page, view: &View<'_>, scope: &Scope, pair: &Pair<'_>) {
    page.own(format!("{}:", pair.seen.id));
    let mut said = None;
    for statistic in STATISTICS.into_iter().filter(|statistic| scope.has_statistic(*statistic)) {
        let Some((top, bottom)) = legs(pair, &Metric::E2E, statistic) else { continue };
        let ratio = top.get() / bottom.get();
        let words = in_words(pair.strategy, ratio);
        let line = format!("  {statistic} {} / {} = {ratio:.2}", ms(top), ms(bottom));
        page.own(if said.as_ref() == Some(&words) { line } else { format!("{line}. {words}") });
        said = Some(words);
    }
    for line in claims(view, pair) {
        page.own(format!("  {line}"));
    }
    for line in dilution::lines(view, pair) {
        page.own(format!("  {line}"));
    }
}

/// The mean over rounds of both sides.
pub(super) fn legs(pair: &Pair<'_>, metric: &Metric, statistic: Statistic) -> Option<(Finite, Finite)> {
    let mean = |seen: &Seen<'_>| {
        let values = seen.values(metric, statistic);
        let count = u32::try_from(values.len()).ok().filter(|n| *n > 0)?;
        let sum: f64 = values.iter().map(|v| v.get()).sum();
        Finite::new(sum / f64::from(count)).ok().filter(|v| *v > Finite::ZERO)
    };
    Some((mean(pair.reference)?, mean(pair.seen)?))
}

fn in_words(strategy: &str, ratio: f64) -> String {
    match (ratio * 100.0).round() {
        hundredths if hundredths < 100.0 => format!(
            "{ratio:.2} is below 1: {strategy} is SLOWER than the reference strategy: it takes {:.2} times as long",
            1.0 / ratio
        ),
        hundredths if hundredths > 100.0 => format!(
            "{strategy} is faster than the reference strategy: it takes {:.0} % of the time",
            100.0 / ratio
        ),
        _ => format!("{strategy} and the reference strategy are equally fast"),
    }
}

/// What each round claims, where it is not what that round's own two times give.
fn claims(view: &View<'_>, pair: &Pair<'_>) -> Vec<String> {
    let rounds = view.report.jobs.iter().flat_map(|job| &job.rounds);
    let legs = rounds.enumerate().filter_map(|(at, round)| {
        let of = |seen: &Seen<'_>| round.groups.iter().find(|group| group.id == *seen.id);
        Some((at, (of(pair.reference), of(pair.seen)?)))
    });
    let line = |(at, (reference, group)): (usize, (Option<&Group>, &Group))| {
        let line = held_against(reference?, group)?;
        Some(if pair.seen.rounds.len() > 1 { format!("round {}: {line}", at + 1) } else { line })
    };
    legs.filter_map(line).collect()
}

fn held_against(reference: &Group, group: &Group) -> Option<String> {
    let claim = group.speedup_reported.as_ref()?;
    let time = |group: &Group| {
        let time = group.metrics.get(&Metric::E2E)?.stats.get(&claim.statistic)?;
        Some(*time).filter(|time| *time > Finite::ZERO)
    };
    let (top, bottom) = (time(reference)?, time(group)?);
    let ratio = top.get() / bottom.get();
    let said = claim.value;
    if agrees(said, ratio, claim.decimals) {
        return None;
    }
    if agrees(said, 1.0 / ratio, claim.decimals) {
        return Some(format!(
            "UPSIDE DOWN in the file: it says {said} for {}, and that is {} / {}, this strategy / the reference strategy. Numerator and denominator are swapped: right is {ratio:.2}, {} than the reference strategy",
            group.id,
            ms(bottom),
            ms(top),
            if ratio > 1.0 { "FASTER" } else { "SLOWER" }
        ));
    }
    Some(format!(
        "the file says {said} for {}, but its own {} of e2e gives {ratio:.2}: believe the two times",
        group.id, claim.statistic
    ))
}

/// Equal once rounded as the tool rounds.
fn agrees(said: Finite, computed: f64, decimals: u32) -> bool {
    let step = 10f64.powi(-i32::try_from(decimals).unwrap_or(2));
    (said.get() - computed).abs() <= 0.51 * step + 1e-9
}

pub(super) fn ms(value: Finite) -> String {
    Quantity { value, unit: Unit::Millisecond }.to_string()
}

//! Which strategy is faster, by how much, and why it is less than the table promised.

use crate::model::engine::StrategySpeeds;
use crate::model::report::ReportedSpeedup;
use crate::model::{Finite, Group, Metric, Quantity, Statistic, Unit};

use super::pages::Page;
use super::scope::Scope;
use super::view::{Seen, Tool, View};

/// The percentiles of e2e that are divided.
const STATISTICS: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];

/// A strategy's e2e beside that of the reference strategy.
struct Pair<'a> {
    strategy: &'a str,
    seen: &'a Seen<'a>,
    reference: &'a Seen<'a>,
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
    if pairs.is_empty() {
        return;
    }
    page.own(format!(
        "e2e of the reference strategy ({reference}) / e2e of this strategy, at the same percentile. The strategy's own time is the DENOMINATOR: above 1 it is faster than the reference strategy, below 1 slower"
    ));
    if view.tool == Tool::ScriptA {
        page.own("the file has it at p99 alone, to two decimals; here it is computed anew from both times");
    }
    for pair in &pairs {
        one(page, view, pair);
    }
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

fn one(page: &mut Page, view: &View<'_>, pair: &Pair<'_>) {
    page.own(format!("{}:", pair.seen.id));
    for statistic in STATISTICS {
        let Some((top, bottom)) = legs(pair, statistic) else { continue };
        let ratio = top.get() / bottom.get();
        page.own(format!(
            "  {statistic} {} / {} = {ratio:.2}. {}",
            ms(top),
            ms(bottom),
            in_words(pair.strategy, ratio)
        ));
    }
    for group in &pair.seen.rounds {
        if let Some(line) = group.speedup_reported.as_ref().and_then(|claim| held_against(pair, claim)) {
            page.own(format!("  {line}"));
        }
    }
    if let Some(line) = why_less(view, pair) {
        page.own(format!("  {line}"));
    }
}

/// The mean over rounds of both sides.
fn legs(pair: &Pair<'_>, statistic: Statistic) -> Option<(Finite, Finite)> {
    let mean = |seen: &Seen<'_>| {
        let values = seen.values(&Metric::E2E, statistic);
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

/// What the file claims, if it is not what its own two times give.
fn held_against(pair: &Pair<'_>, claim: &ReportedSpeedup) -> Option<String> {
    let (top, bottom) = legs(pair, claim.statistic)?;
    let ratio = top.get() / bottom.get();
    let said = claim.value;
    if agrees(said, ratio, claim.decimals) {
        return None;
    }
    if agrees(said, 1.0 / ratio, claim.decimals) {
        return Some(format!(
            "UPSIDE DOWN in the file: it says {said} for {}, and that is {} / {}, this strategy / the reference strategy. Numerator and denominator are swapped: right is {ratio:.2}, {} than the reference strategy",
            pair.seen.id,
            ms(bottom),
            ms(top),
            if ratio > 1.0 { "FASTER" } else { "SLOWER" }
        ));
    }
    Some(format!(
        "the file says {said} for {}, but its own {} of e2e gives {ratio:.2}: believe the two times",
        pair.seen.id, claim.statistic
    ))
}

/// Equal once rounded as the tool rounds.
fn agrees(said: Finite, computed: f64, decimals: u32) -> bool {
    let step = 10f64.powi(-i32::try_from(decimals).unwrap_or(2));
    (said.get() - computed).abs() <= 0.51 * step + 1e-9
}

/// Why a measured speed-up is below the strategy's factor.
fn why_less(view: &View<'_>, pair: &Pair<'_>) -> Option<String> {
    let factor = factor(view, pair.strategy)?;
    let (top, bottom) = STATISTICS.iter().rev().find_map(|statistic| legs(pair, *statistic))?;
    let measured = top.get() / bottom.get();
    if measured >= factor - 0.0005 || measured < 0.995 {
        return None;
    }
    let shown = if factor - measured < 0.01 { format!("{measured:.3}") } else { format!("{measured:.2}") };
    let shares = pair.reference.rounds.iter().find(|group| !group.shares.is_empty());
    let start = format!(
        "why {shown} and not the factor {factor:.1} of {}: the factor divides prompt encode and decode only",
        pair.strategy
    );
    Some(match shares.and_then(|group| untouched(group, factor)) {
        Some(text) => format!("{start}; {text}"),
        None => format!(
            "{start}; preprocess stays as it is, congestion multiplies all of it, and random output lengths move the percentiles"
        ),
    })
}

/// With the shares of the reference strategy's time: what can show at most.
fn untouched(group: &Group, factor: f64) -> Option<String> {
    let share = |name: &str| group.shares.get(name).map(|share| share.get());
    let fixed = share("preprocess")?;
    let most = 1.0 / (fixed + (1.0 - fixed) / factor);
    let mut text = format!(
        "preprocess is {:.1} % of the reference strategy's time and stays, so the mean can show no more than 1 / ({fixed:.3} + {:.3} / {factor:.1}) = {most:.2}",
        fixed * 100.0,
        1.0 - fixed
    );
    if let Some(congestion) = share("congestion").filter(|share| *share > 0.0005) {
        text.push_str(&format!(
            "; {:.1} % of its time is there only because others are in flight, and stretches both alike",
            congestion * 100.0
        ));
    }
    if let Some(spared) = share("spared_by_early_stop").filter(|share| *share > 0.0005) {
        text.push_str(&format!(
            "; answers that stop early spare {:.1} %, which moves the percentiles",
            spared * 100.0
        ));
    }
    Some(text)
}

/// The factor of a strategy on a mock engine: as recorded, else what its name stands for.
fn factor(view: &View<'_>, strategy: &str) -> Option<f64> {
    let named = StrategySpeeds::named(strategy);
    let recorded = view.report.subject.parameters.get(&format!("strategies.{strategy}.factor"));
    let factor = match (view.tool, recorded.and_then(|text| text.parse::<f64>().ok())) {
        (Tool::Embedded, Some(factor)) => factor,
        (Tool::Embedded, None) => named.factor.get(),
        // Of script A, only these two are documented.
        (Tool::ScriptA, _) if matches!(strategy, "int8_quant" | "speculative_decode") => named.factor.get(),
        _ => return None,
    };
    (factor > 1.0).then_some(factor)
}

fn ms(value: Finite) -> String {
    Quantity { value, unit: Unit::Millisecond }.to_string()
}

//! The words of every [`Reason`]. One place, so that no two outputs say it differently.

use super::finding::{Change, Toward};
use super::metric::{ChannelClass, Metric};
use super::policy::trimmed;
use super::quantity::{Finite, Quantity};
use super::reason::{Reason, Side, Suspicion};
use super::report::FailureKind;
use super::sentence::Sentence;

/// The sentence of a reason.
pub fn sentence(reason: &Reason) -> Sentence {
    let s = Sentence::default();
    match reason {
        Reason::OverLimit { field, change, tolerance } => s.own(format!(
            "{} of {} {} {} ({}, limit {}): {}",
            field.local(),
            field.group,
            change.verb(),
            change.values(),
            change.amount(),
            tolerance.words(change.direction, change.unit),
            word(&field.metric, change)
        )),
        Reason::UnderMinChange { field, change, tolerance } => s.own(format!(
            "{} of {} {} {} ({}): over the share of its limit ({}), but the change is not above min_change, so it does not count",
            field.local(),
            field.group,
            change.verb(),
            change.values(),
            change.amount(),
            tolerance.words(change.direction, change.unit)
        )),
        Reason::OverMax { field, value, max, origin } => s
            .own(format!(
                "{} of {} is {value}, above the absolute limit of {} set at ",
                field.local(),
                field.group,
                Quantity { value: *max, unit: value.unit }
            ))
            .foreign(origin.to_string()),
        Reason::UnderMin { field, value, min, origin } => s
            .own(format!(
                "{} of {} is {value}, below the absolute limit of {} set at ",
                field.local(),
                field.group,
                Quantity { value: *min, unit: value.unit }
            ))
            .foreign(origin.to_string()),
        Reason::Better { field, change } => s.own(format!(
            "{} of {} {} {} ({}): {}",
            field.local(),
            field.group,
            change.verb(),
            change.values(),
            change.amount(),
            word(&field.metric, change)
        )),
        Reason::Unconfirmed { p, expected, gated, lift } => s.own(unconfirmed(*p, *expected, *gated, lift.as_deref())),
        Reason::Confirmed { by, p } => s.own(format!("confirmed by {by} (chance without a change: {})", chance(*p))),
        Reason::CouldBeNoise { field, change, tolerance, p } => s.own(format!(
            "{} of {} {} {} ({}, limit {}), but noise between jobs could explain it{}",
            field.local(),
            field.group,
            change.verb(),
            change.values(),
            change.amount(),
            tolerance.words(change.direction, change.unit),
            p.map(|p| format!(" (chance without a change: {})", chance(p))).unwrap_or_default()
        )),
        Reason::TooFewSamples { field, n, needed, stand_in } => s.own(format!(
            "{} of {} has {n} samples in its smallest round and needs {needed} to be judged{}",
            field.local(),
            field.group,
            stand_in.map(|st| format!("; {}.{st} is judged in its place", field.metric)).unwrap_or_default()
        )),
        Reason::UnequalSamples { field, smaller, larger, stand_in } => s.own(format!(
            "{} of {} is of {larger} samples on one side and of {smaller} on the other: tails of such unequal runs differ by themselves{}",
            field.local(),
            field.group,
            stand_in.map(|st| format!("; {}.{st} is judged in its place", field.metric)).unwrap_or_default()
        )),
        Reason::ZeroValue { field, side } => s.own(format!(
            "{} of {} is 0 {}: below what the clock can tell, so no change can be computed",
            field.local(),
            field.group,
            side_words(*side)
        )),
        Reason::Missing { field, old, hint } => s.own(format!(
            "{} of {} is missing: the blessed baseline has {old}, this report has none{}",
            field.local(),
            field.group,
            hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default()
        )),
        Reason::NoLatencyLeft { group } => s.own(format!(
            "no latency field of {group} has enough samples to be judged: send more requests"
        )),
        Reason::New { field } => s.own(format!(
            "{} of {} is new: the blessed baseline does not have it, so nothing watches it until it is blessed",
            field.local(),
            field.group
        )),
        Reason::Withdrawn { group } => s.own(format!(
            "not called an improvement: fewer requests of {group} succeeded, and failing fast is not fast"
        )),
        Reason::Waived { field, change, allowance, why, until } => s
            .own(format!(
                "{} of {} {} {} ({}), waived up to {} until {until}: ",
                field.local(),
                field.group,
                change.verb(),
                change.values(),
                change.amount(),
                allowance.signed(change.direction, change.unit)
            ))
            .foreign(why),
        Reason::WaiverExpired { pattern, why, until, origin } => s
            .own(format!("the waiver for {pattern} ended on {until} and covers nothing any more ("))
            .foreign(why)
            .own(", at ")
            .foreign(origin.to_string())
            .own("): mend the field, or give it a new date"),
        Reason::WaiverExpiresSoon { pattern, why, until, days } => s
            .own(format!("the waiver for {pattern} ends on {until}, in {days} days ("))
            .foreign(why)
            .own(")"),
        Reason::WaiverUnused { pattern, origin } => s
            .own(format!("the waiver for {pattern} at "))
            .foreign(origin.to_string())
            .own(" covers nothing in this run"),
        Reason::SuccessDropped { group, old, new, limit, failed } => s.own(format!(
            "success_rate of {group} fell {} ({}, limit {limit}): less reliable{}",
            rates(*old, *new),
            points(*old, *new),
            kinds(&failed.failed)
        )),
        Reason::SuccessCouldBeNoise { group, old, new, limit } => s.own(format!(
            "success_rate of {group} fell {} ({}, limit {limit}), but so few failures can come by chance",
            rates(*old, *new),
            points(*old, *new)
        )),
        Reason::SuccessUnknown { side } => s.own(format!(
            "how many requests failed is not recorded {}, so no success rate is judged: failing fast would not be seen",
            side_words(*side)
        )),
        Reason::NoSuccess { group, requests } => s.own(format!(
            "no request of {group} succeeded ({} sent){}: it has no latency to speak of",
            requests.sent.map_or_else(|| "number not recorded".to_owned(), |n| n.to_string()),
            kinds(&requests.failed)
        )),
        Reason::SpeedupReversed { group, reference, statistic, old, new, legs } => s.own(format!(
            "{group} was faster than the reference strategy {reference} and is now SLOWER than it: at {statistic} of e2e it now takes {} where the reference strategy takes {} (speedup_vs_baseline.{statistic} {}x \u{2192} {}x; below 1 is slower)",
            ms(legs.1),
            ms(legs.0),
            two(*old),
            two(*new)
        )),
        Reason::SpeedupFell { group, reference, statistic, change, tolerance } => s.own(format!(
            "{group} {} the reference strategy {reference}: speedup_vs_baseline.{statistic} fell {}x \u{2192} {}x ({}, limit {}): less speed-up",
            standing(change.old, change.new),
            two(change.old),
            two(change.new),
            change.amount(),
            tolerance.words(change.direction, change.unit)
        )),
        Reason::SpeedupUnclear { group, reference, statistic, old, new, interval } => s.own(format!(
            "{group} is no longer demonstrably faster than the reference strategy {reference}: speedup_vs_baseline.{statistic} {}x \u{2192} {}x{}",
            two(*old),
            two(*new),
            interval.map(|(lo, hi)| format!(" (95 %: {} to {})", two(lo), two(hi))).unwrap_or_default()
        )),
        Reason::SpeedupSwapped { group, reference, reported, recomputed, statistic, legs } => s.own(format!(
            "the report has speedup_vs_baseline upside down for {group}: it says {reported}, but at {statistic} of e2e the reference strategy {reference} takes {} and this strategy {}, and reference / this = {}, so this strategy is {} than the reference strategy. Numerator and denominator are swapped",
            ms(legs.0),
            ms(legs.1),
            two(*recomputed),
            if recomputed.get() >= 1.0 { "FASTER" } else { "SLOWER" }
        )),
        Reason::SpeedupContradicted { group, reference, reported, recomputed, statistic } => s.own(format!(
            "the report says speedup_vs_baseline {reported} for {group}, but its own {statistic} of e2e gives {} ({reference} / this strategy); the recomputed value is judged",
            two(*recomputed)
        )),
        Reason::SpeedupNotRecomputable { group, reported, why } => s.own(format!(
            "speedup_vs_baseline of {group} can't be computed: {why}{}",
            reported.map(|r| format!("; the {r} that the report gives is not trusted by itself")).unwrap_or_default()
        )),
        Reason::NoReference { wanted, strategies } => s.own(format!(
            "no speed-up can be computed: there is no reference strategy{} among {}; name one of them \"baseline\" (for files: baseline=REPORT), or set reference in pacegate.toml",
            wanted.as_ref().map(|w| format!(" \"{w}\"")).unwrap_or_default(),
            strategies.join(", ")
        )),
        Reason::RunWide { ratio, interval, p, regressed, decode } => s.own(run_wide(*ratio, *interval, *p, *regressed, *decode)),
        Reason::ClassShift { class, ratio, interval, p, regressed } => s.own(format!(
            "{} {} {} relative to the other metrics{}{}",
            class.name(),
            if *regressed { "got" } else { "may have got" },
            percent_worse(*ratio),
            range(*interval, *p),
            stage(*class)
        )),
        Reason::MetricShift { metric, groups, of, strategies, smallest, largest, with } => {
            s.own(metric_shift(metric, *groups, *of, strategies, (*smallest, *largest), with))
        }
        Reason::NoBaseline { path, bless } => s
            .own("there is no blessed baseline at ")
            .foreign(path)
            .own(", so nothing was compared. When these numbers are good, bless them: ")
            .foreign(bless),
        Reason::NothingInCommon { old, new } => s.own(format!(
            "the blessed baseline and this report have no group in common: blessed {}; now {}",
            list(old),
            list(new)
        )),
        Reason::NothingCompared => s.own("no gated field could be compared, and that is never a pass"),
        Reason::Differs { fact, group, old, new, allowed } => s
            .own(format!(
                "{} differs{}: blessed ",
                fact.what(),
                group.as_ref().map(|g| format!(" for {g}")).unwrap_or_default()
            ))
            .foreign(old)
            .own(", now ")
            .foreign(new)
            .own(differs_end(*fact, *allowed)),
        Reason::NotRecorded { facts, side } => s.own(format!(
            "not recorded {}, so not compared: {}",
            side.map_or("on either side", side_words),
            facts.iter().map(|fact| fact.what()).collect::<Vec<_>>().join(", ")
        )),
        Reason::ParameterChanged { name, old, new } => {
            let shown = |v: &Option<String>| v.clone().unwrap_or_else(|| "not there".to_owned());
            s.foreign(name).own(" changed: ").foreign(shown(old)).own(" \u{2192} ").foreign(shown(new))
        }
        Reason::RuleMatchesNothing { pattern, origin, nearest } => s
            .own("the gate rule ")
            .foreign(pattern)
            .own(" at ")
            .foreign(origin.to_string())
            .own(" matches no field, so it can never fail")
            .own(nearest.as_ref().map(|n| format!("; the nearest field is {n}")).unwrap_or_default()),
        Reason::Blind { metric, resolution, above } => s.own(format!(
            "the gate is blind for {metric}: in every group {}. Send more requests or rounds, or bless more jobs",
            match resolution {
                Some(share) => format!("the smallest change it could have seen is {}, more than {}", plus(*share), plus(*above)),
                None => "no change at all could have failed it".to_owned(),
            }
        )),
        Reason::Drift { field, change, max, blesses } => s.own(format!(
            "{} of {} has drifted {} since the pinned first bless ({}, over {blesses} blesses; max_drift is {}): no single bless looked bad, all together do",
            field.local(),
            field.group,
            change.amount(),
            change.values(),
            plus(*max)
        )),
        Reason::BaselineAltered { path, git_ref, reason, followed } => {
            let s = s.own("THIS CHANGE ALTERS ITS OWN BASELINE: ").foreign(path).own(" differs from ").foreign(git_ref);
            match (reason, followed) {
                (Some(reason), true) => s.own("; its ledger gives the reason ").foreign(reason).own(", so the new one is judged by"),
                (_, true) => s.own("; the new one is judged by"),
                (_, false) => s.own("; judged by the copy of that ref, because this change's ledger gives no reason"),
            }
        }
        Reason::LimitsAltered { path, git_ref, lines, followed } => s
            .own("THIS CHANGE ALTERS ITS OWN LIMITS: ")
            .foreign(path)
            .own(" differs from ")
            .foreign(git_ref)
            .own(if *followed { " (its own copy is judged by)" } else { " (judged by the copy of that ref)" })
            .own(if lines.is_empty() { "" } else { ": " })
            .foreign(lines.join("; ")),
        Reason::SelfBlessRefused => s.own(
            "self_bless = \"fail\": a change may not alter the baseline or the limits that judge it; merge the new baseline first",
        ),
        Reason::CountsDontAddUp { group, sent, succeeded, failed } => s.own(format!(
            "the requests of {group} don't add up: {sent} sent, {succeeded} succeeded, {failed} failed"
        )),
        Reason::NoTokens { group } => s.own(format!(
            "{group} has successful requests and not one output token: nothing shows that a model answered"
        )),
        Reason::AllFailed { sent, failed } => s.own(format!(
            "every request failed: {sent} sent{}. There is nothing to judge; mend the endpoint first",
            failed.iter().map(|(kind, n)| format!(", {n} \u{d7} {kind}")).collect::<String>()
        )),
        Reason::NothingSent => s.own("no request was sent: an empty report is never a pass"),
        Reason::BadLatency { field, value } => {
            s.own(format!("{} of {} is {value}: no time can be that", field.local(), field.group))
        }
        Reason::Incomplete { job } => {
            s.own("job ").foreign(job).own(" was interrupted: a partial report is kept to look at, never to judge")
        }
        Reason::ClientBottleneck { group, lag, limit } => s.own(format!(
            "the client was the bottleneck in {group}: it woke up {lag} late at p99, and {limit} is the most that can be told from the server's time. Use a quieter machine or lower the concurrency"
        )),
        Reason::Suspicious { field, change, what, more } => s.own(suspicious(field, change.as_ref(), *what, *more)),
        Reason::SourceSays { text } => s.own("the source says: ").foreign(text),
    }
}

fn word(metric: &Metric, change: &Change) -> &'static str {
    match (metric.def(), change.toward()) {
        (Some(def), Toward::Worse) => def.worse,
        (Some(def), Toward::Better) => def.better,
        (_, Toward::Same) => "the same",
        (_, _) => "changed",
    }
}

fn unconfirmed(p: Option<Finite>, expected: Option<Finite>, gated: usize, lift: Option<&str>) -> String {
    let mut text =
        "unconfirmed: the limit decides as written, because this evidence can't tell a change from noise"
            .to_owned();
    if let Some(p) = p {
        text.push_str(&format!(" (chance without a change: {})", chance(p)));
    }
    if let Some(expected) = expected {
        text.push_str(&format!(
            "; identical code would put about {:.1} of {gated} fields above their limits",
            expected.get()
        ));
    }
    if let Some(lift) = lift {
        text.push_str(&format!(". Evidence decides with {lift}"));
    }
    text
}

fn run_wide(
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

fn metric_shift(
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

fn suspicious(
    field: &super::field::FieldId,
    change: Option<&Change>,
    what: Suspicion,
    more: usize,
) -> String {
    let name = format!("{} of {}", field.local(), field.group);
    let more = if more == 0 { String::new() } else { format!(", and {more} more fields like it") };
    match (what, change) {
        (Suspicion::TooGood, Some(change)) => format!(
            "{name} {} {} ({}){more}: suspiciously good. A warm prefix cache, an empty first chunk, truncated answers or an engine that did nothing look like this; blessing it needs --reason",
            change.verb(),
            change.values(),
            change.amount()
        ),
        (Suspicion::SameSamples, _) => {
            format!(
                "{name} has exactly the samples of the blessed baseline{more}: is this the same report again?"
            )
        }
        (Suspicion::NoVariance | Suspicion::TooGood, _) => {
            format!("all samples of {name} are equal{more}: no real server does that")
        }
    }
}

fn standing(old: Finite, new: Finite) -> &'static str {
    match (old.get() > 1.0, new.get() > 1.0) {
        (_, true) => "is still faster than",
        (false, false) => "is slower than",
        (true, false) => "is no longer faster than",
    }
}

fn differs_end(fact: super::fact::Fact, allowed: bool) -> String {
    use super::fact::Severity;
    match (fact.severity(), allowed) {
        (Severity::Refused, true) => format!("; compared all the same because of --allow-different {fact}"),
        (Severity::Refused, false) => {
            format!(
                "; not comparable. Measure the same on both sides, bless anew, or say --allow-different {fact}"
            )
        }
        (Severity::Warned, _) => "; compared all the same".to_owned(),
        (Severity::Changed, _) => String::new(),
    }
}

fn side_words(side: Side) -> &'static str {
    match side {
        Side::Blessed => "in the blessed baseline",
        Side::Candidate => "in this report",
    }
}

fn kinds(failed: &std::collections::BTreeMap<FailureKind, u64>) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = failed.iter().map(|(kind, n)| format!("{n} \u{d7} {kind}")).collect();
    format!("; failures: {}", parts.join(", "))
}

fn rates(old: (u64, u64), new: (u64, u64)) -> String {
    format!("{} of {} \u{2192} {} of {}", old.0, old.1, new.0, new.1)
}

#[expect(clippy::cast_precision_loss, reason = "request counts are far below 2^53")]
fn points(old: (u64, u64), new: (u64, u64)) -> String {
    let rate = |(k, n): (u64, u64)| if n == 0 { 0.0 } else { k as f64 / n as f64 * 100.0 };
    let difference = rate(new) - rate(old);
    let sign = if difference < 0.0 { "\u{2212}" } else { "+" };
    format!("{:.2} % \u{2192} {:.2} %, {sign}{:.2} pp", rate(old), rate(new), difference.abs())
}

fn list(groups: &[super::group::GroupId]) -> String {
    const MOST: usize = 6;
    let mut names: Vec<&str> = groups.iter().take(MOST).map(super::group::GroupId::as_str).collect();
    let more = format!("{} more", groups.len().saturating_sub(MOST));
    if groups.len() > MOST {
        names.push(&more);
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
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

/// A share with its sign: `+18.7 %`.
pub fn plus(share: Finite) -> String {
    let sign = if share.get() < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{} %", trimmed((share.get().abs() * 1000.0).round() / 10.0))
}

/// A probability without false precision.
pub fn chance(p: Finite) -> String {
    match p.get() {
        p if p < 0.0001 => "under 1 in 10,000".to_owned(),
        p if p < 0.01 => format!("{:.2} %", p * 100.0),
        p => format!("{:.0} %", p * 100.0),
    }
}

fn two(value: Finite) -> String {
    format!("{:.2}", value.get())
}

fn ms(value: Finite) -> String {
    Quantity { value, unit: super::quantity::Unit::Millisecond }.to_string()
}

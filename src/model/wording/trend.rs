//! What a series of past jobs shows.

use crate::model::history::Moment;
use crate::model::metric::ChannelClass;
use crate::model::quantity::{Finite, Unit};
use crate::model::sentence::Sentence;
use crate::model::trend::{
    Apart, FieldChange, Meanwhile, Odd, PinnedDrift, Shift, Since, SuccessOdd, SuccessShift, TrendFinding,
};
use crate::model::verdict::Channel;

use super::parts::share;
use super::row::{day, moment, short_commit};

/// The sentence of a finding.
#[must_use]
pub fn finding(finding: &TrendFinding) -> Sentence {
    match finding {
        TrendFinding::SuccessShift(shift) => success_shift(shift),
        TrendFinding::SuccessOdd(odd) => success_odd(odd),
        TrendFinding::Shift(shift) => self::shift(shift),
        TrendFinding::Odd(odd) => self::odd(odd),
    }
}

fn own(text: impl Into<String>) -> Sentence {
    Sentence::default().own(text)
}

/// The commit alone, for tables and commands; `None` where none is known.
#[must_use]
pub fn since_short(moment: &Moment) -> Option<String> {
    moment.commit.as_ref().map(|commit| short_commit(commit))
}

fn percent(rate: Finite) -> String {
    // One failure in a million is not "100 %".
    let most = if rate.get() < 1.0 { 99.99 } else { 100.0 };
    format!("{:.2} %", (rate.get() * 100.0).min(most))
}

/// ` since commit 3f2a9c1 (11 Nov 2026), 6 of 6 jobs since`.
fn when(since: &Since) -> Sentence {
    let s = own(if since.lasts { " since " } else { " with " }).then(moment(&since.first));
    let jobs = format!(", {} of {} jobs", since.held, since.jobs);
    s.own(jobs + if since.lasts { " since" } else { " until the next change" })
}

/// What to look at: the commits in between, or that there are none.
fn between(since: &Since) -> Sentence {
    match (&since.last_before.commit, &since.first.commit) {
        (Some(before), Some(first)) if before == first => {
            own("; the commit did not change, so look at the machine, the endpoint and its load")
        }
        (Some(before), Some(_)) => own("; the last job before it was of ").foreign(short_commit(before)),
        _ => own(format!("; the last job before it was of {}", day(since.last_before.at))),
    }
}

fn success_shift(shift: &SuccessShift) -> Sentence {
    let fell = shift.new < shift.old;
    let verb = if fell { "fell" } else { "rose" };
    let values = format!("success rate {verb} {} \u{2192} {}", percent(shift.old), percent(shift.new));
    let grew = shift.failures.iter().filter(|change| change.new > change.old);
    let kinds: Vec<String> = grew
        .take(3)
        .map(|change| {
            format!("{} {} \u{2192} {} a job", change.failure, a_job(change.old), a_job(change.new))
        })
        .collect();
    let cause = shift.failures.iter().find(|change| change.new > change.old);
    let cause =
        cause.and_then(|change| change.failure.usual_cause()).map(|cause| format!("; usually {cause}"));
    let s = own(values).then(when(&shift.since));
    match (fell, kinds.is_empty()) {
        (false, _) => s.then(between(&shift.since)),
        (true, true) => s.own("; why is not recorded").then(between(&shift.since)),
        (true, false) => {
            s.own(format!(": {}{}", kinds.join(", "), cause.unwrap_or_default())).then(between(&shift.since))
        }
    }
}

fn a_job(n: Finite) -> String {
    if n.get().fract() == 0.0 { format!("{:.0}", n.get()) } else { format!("{:.1}", n.get()) }
}

fn success_odd(odd: &SuccessOdd) -> Sentence {
    let failed: Vec<String> =
        odd.failed.iter().take(3).map(|(kind, n)| format!("{n} \u{d7} {kind}")).collect();
    let failed = if failed.is_empty() { String::new() } else { format!(" ({})", failed.join(", ")) };
    let values = format!(
        "success rate {} where {} is usual{failed}, {}",
        percent(odd.seen),
        percent(odd.usual),
        jobs(&odd.apart)
    );
    own(values).then(moment(&odd.apart.first)).then(told(&odd.apart))
}

/// `in the newest job, ` or `in 2 jobs, from `.
fn jobs(apart: &Apart) -> String {
    match (apart.jobs, apart.more_to_tell > 0) {
        (1, true) => "in the newest job, ".to_owned(),
        (n, true) => format!("in the newest {n} jobs, from "),
        (1, false) => "in one job, ".to_owned(),
        (n, false) => format!("in {n} jobs in a row, from "),
    }
}

/// Blip, or too early to tell.
fn told(apart: &Apart) -> Sentence {
    let jobs = |n: usize| if n == 1 { "1 more job".to_owned() } else { format!("{n} more jobs") };
    own(match apart.more_to_tell {
        0 => " (blip): as usual again after it".to_owned(),
        n => format!(": a blip or a trend, {} of it would tell", jobs(n)),
    })
}

/// `ttft is 18.2 % slower`.
fn moved(what: &[Channel], ratio: Finite, verb: &str) -> String {
    let names: Vec<&str> = what.iter().map(|channel| channel.words()).collect();
    let rates = what.iter().all(|channel| matches!(channel, Channel::Class(ChannelClass::Throughput)));
    let plural = if names.len() > 1 && verb == "is" { "are" } else { verb };
    format!("{} {plural} {}", names.join(" and "), amount(ratio, rates))
}

/// `18.2 % slower`, `12 % faster`; for rates `12 % lower`.
fn amount(ratio: Finite, rates: bool) -> String {
    let change = if rates { 1.0 / ratio.get() - 1.0 } else { ratio.get() - 1.0 };
    let word = match (rates, ratio.get() > 1.0) {
        (true, true) => "lower",
        (true, false) => "higher",
        (false, true) => "slower",
        (false, false) => "faster",
    };
    format!("{} {word}", share(Finite::new(change.abs()).unwrap_or(Finite::ZERO)))
}

/// One metric's ratio in words.
#[must_use]
pub fn class_ratio(class: ChannelClass, ratio: Finite) -> String {
    amount(ratio, class == ChannelClass::Throughput)
}

fn field(change: &Option<FieldChange>) -> String {
    change.as_ref().map_or_else(String::new, |FieldChange { field, change }| {
        let amount =
            if change.unit == Unit::Plain { String::new() } else { format!(", {}", change.amount()) };
        format!(" ({} of {} {}{amount})", field.local(), field.group, change.values())
    })
}

fn shift(shift: &Shift) -> Sentence {
    let along: Vec<&str> = shift.along.iter().map(|class| class.name()).collect();
    let along =
        if along.is_empty() { String::new() } else { format!("; {} moved with it", along.join(" and ")) };
    let better = shift.ratio.get() < 1.0;
    let verb = match (better && shift.success == Meanwhile::Fell, shift.since.lasts) {
        (true, _) => "looks",
        (false, true) => "is",
        (false, false) => "got",
    };
    own(moved(&shift.what, shift.ratio, verb))
        .then(when(&shift.since))
        .own(field(&shift.most))
        .own(along)
        .own(hint(shift, better))
        .then(between(&shift.since))
}

/// Where to look first: success rates before times.
fn hint(shift: &Shift, better: bool) -> &'static str {
    let only = |class| shift.what == [Channel::Class(class)];
    match (shift.success, better) {
        (Meanwhile::Fell, true) => {
            "; fewer requests succeed since, and failing fast is not fast: read the success rate first"
        }
        (Meanwhile::Fell, false) => "; fewer requests succeed since too: mend 429 and time-outs first",
        (Meanwhile::Steady, false) if only(ChannelClass::Ttft) => {
            "; the success rate is unchanged, so look at queueing, routing, the network and prompt encoding"
        }
        (_, false) if only(ChannelClass::Tpot) || only(ChannelClass::Itl) => "; look at decode",
        (_, _) => "",
    }
}

fn odd(odd: &Odd) -> Sentence {
    let verb = if odd.apart.more_to_tell > 0 { "is" } else { "was" };
    let fell = match odd.success {
        Meanwhile::Fell => "; fewer requests succeeded there: read that first",
        _ => "",
    };
    own(format!("{}{} {}", moved(&odd.what, odd.ratio, verb), field(&odd.most), jobs(&odd.apart)))
        .then(moment(&odd.apart.first))
        .then(told(&odd.apart))
        .own(fell)
}

/// The newest level against the pinned first bless.
#[must_use]
pub fn pinned_drift(drift: &PinnedDrift) -> Sentence {
    let classes: Vec<String> = drift
        .classes
        .iter()
        .map(|(class, ratio)| {
            let same = (ratio.get() - 1.0).abs() < 0.0005;
            let words = if same { "the same".to_owned() } else { class_ratio(*class, *ratio) };
            format!("{} {words}", class.name())
        })
        .collect();
    let blesses = match drift.blesses {
        0 => "no bless since".to_owned(),
        1 => "1 bless since".to_owned(),
        n => format!("{n} blesses since"),
    };
    let s = own("against the pinned first bless");
    let s = match &drift.first {
        Some(first) => s.own(", ").then(moment(first)),
        None => s,
    };
    s.own(format!(", {blesses}: {}{}", classes.join(", "), field(&drift.most)))
}

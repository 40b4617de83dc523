//! Faults that have no size: reports that are damaged, empty, of something else, or of requests that failed.

use crate::exit::Exit;
use crate::model::self_test::{Found, Planted, Trial};
use crate::model::{Finite, Metric, Outcome, Report};

use super::bench::{Bench, Ended, trial};
use super::{CheckText, SelfTestError, plant};

/// All of them; what a report has not can't be broken in it.
pub(super) fn broken(bench: &Bench, check: CheckText) -> Result<Vec<Trial>, SelfTestError> {
    let mut trials = vec![trial("nothing planted", Exit::Pass, Ended::from(&bench.clean))];
    trials.extend(missing(bench)?);
    trials.extend(failing(bench)?);
    trials.extend(texts(&bench.candidate, check));
    Ok(trials)
}

fn missing(bench: &Bench) -> Result<Vec<Trial>, SelfTestError> {
    let report = &bench.candidate;
    let mut trials = vec![bench.trial(
        "a report in which nothing was measured",
        Exit::RunFailed,
        &plant::empty(report),
    )?];
    for metric in bench.metrics() {
        let gone = plant::without(report, &metric);
        trials.push(bench.trial(format!("{metric} no longer in the report"), Exit::NoVerdict, &gone)?);
    }
    let times = bench.metrics().into_iter().find(|metric| metric.unit() == crate::model::Unit::Millisecond);
    if let Some(metric) = times {
        let zero = plant::zeroed(report, &metric);
        trials.push(bench.trial(format!("{metric} is 0 everywhere"), Exit::NoVerdict, &zero)?);
        trials.push(zero_baseline(bench, &metric)?);
    }
    if let Some(group) = bench.gated().map(|finding| finding.field.group.clone()).next() {
        let renamed = plant::renamed(report, &group);
        trials.push(bench.trial(format!("group {group} under another name"), Exit::NoVerdict, &renamed)?);
    }
    if let Some(other) = plant::other_model(report) {
        trials.push(bench.trial("another model answered", Exit::NoVerdict, &other)?);
    }
    Ok(trials)
}

fn zero_baseline(bench: &Bench, metric: &Metric) -> Result<Trial, SelfTestError> {
    let mut baseline = bench.baseline().clone();
    for report in &mut baseline.reports {
        *report = plant::zeroed(report, metric);
    }
    let ended = Ended::from(&bench.judge_against(&baseline)?);
    Ok(trial(format!("a baseline in which {metric} is 0"), Exit::NoVerdict, ended))
}

/// Shares of failed requests that are planted, in hundredths: as few as a limit of 1 pp is meant for, then more.
const FAILING: [u64; 11] = [2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50];

/// Only where the report counts its requests, and success is gated.
fn failing(bench: &Bench) -> Result<Vec<Trial>, SelfTestError> {
    let counted = bench.gated().any(|finding| finding.field.metric == Metric::SUCCESS_RATE);
    if !counted {
        return Ok(Vec::new());
    }
    let all = plant::failing(&bench.candidate, 100);
    Ok(vec![some_failed(bench)?, bench.trial("every request failed", Exit::RunFailed, &all)?])
}

/// The smallest share of failed requests that fails the gate.
fn some_failed(bench: &Bench) -> Result<Trial, SelfTestError> {
    let [first, .., last] = FAILING;
    let share = |percent: u64| {
        Finite::new(f64::from(u32::try_from(percent).unwrap_or(u32::MAX)) / 100.0).unwrap_or(Finite::ZERO)
    };
    let fault = format!("{first} % of the requests failed");
    let mut ended = None;
    for percent in FAILING {
        let verdict = bench.judge(&plant::failing(&bench.candidate, percent))?;
        if verdict.outcome == Outcome::Regression {
            let found = match percent == first {
                true => Found::Caught,
                false => Found::CaughtFrom(Planted { missed: share(first), caught: share(percent) }),
            };
            return Ok(Trial { fault, expected: Exit::Regression.code(), found });
        }
        ended.get_or_insert(Ended::from(&verdict));
    }
    let Ended { exit, why } = ended.unwrap_or(Exit::Pass.into());
    let found = Found::Missed { exit: exit.code(), planted: Some(share(last)), why };
    Ok(Trial { fault, expected: Exit::Regression.code(), found })
}

/// Files that are no report.
fn texts(report: &Report, check: CheckText) -> Vec<Trial> {
    let Ok(text) = serde_json::to_string(report) else { return Vec::new() };
    let half: String = text.chars().take(text.chars().count() / 2).collect();
    let faults = [
        ("an empty file", Some(String::new())),
        ("a file that breaks off in the middle", Some(half)),
        ("NaN in place of a number", with_nan(&text)),
    ];
    let tried = faults.into_iter().filter_map(|(fault, text)| Some((fault, text?)));
    tried.map(|(fault, text)| trial(fault, Exit::Usage, check(&text).into())).collect()
}

/// The first number of the first metric, replaced.
fn with_nan(text: &str) -> Option<String> {
    let stats = text.find(r#""stats":{""#)?;
    let start = stats + text[stats + 9..].find(':')? + 10;
    let end = start + text[start..].find([',', '}'])?;
    Some(format!("{}NaN{}", &text[..start], &text[end..]))
}

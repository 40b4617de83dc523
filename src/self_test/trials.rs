//! Faults that have no size: reports that are damaged, empty, of something else, or of requests that failed.

use crate::exit::Exit;
use crate::model::self_test::Trial;
use crate::model::{Metric, Report};

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

/// Only where the report counts its requests, and success is gated.
fn failing(bench: &Bench) -> Result<Vec<Trial>, SelfTestError> {
    const PERCENT: u64 = 30;
    let counted = bench.gated().any(|finding| finding.field.metric == Metric::SUCCESS_RATE);
    if !counted {
        return Ok(Vec::new());
    }
    let some = plant::failing(&bench.candidate, PERCENT);
    let all = plant::failing(&bench.candidate, 100);
    Ok(vec![
        bench.trial(format!("{PERCENT} % of the requests failed"), Exit::Regression, &some)?,
        bench.trial("every request failed", Exit::RunFailed, &all)?,
    ])
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

//! Speed-ups upside down: a strategy that became slower than its reference, and a file that claims the inverse.

use std::collections::BTreeMap;

use crate::exit::Exit;
use crate::model::report::ReportedSpeedup;
use crate::model::self_test::Trial;
use crate::model::{Finding, Finite, GroupId, Judgement, Metric};

use super::bench::{Bench, Ended, trial};
use super::{SelfTestError, plant};

/// A speed-up this close to 1 is none that could be told from its inverse.
const CLEAR: f64 = 1.05;

/// For the clearest speed-up of the baseline, if it has one.
pub(super) fn trials(bench: &Bench) -> Result<Vec<Trial>, SelfTestError> {
    let speedups = bench.gated().filter(|finding| finding.field.metric == Metric::SPEEDUP);
    let clear =
        speedups.filter_map(|finding| Some((finding, finding.old?.get()))).filter(|(_, s)| *s > CLEAR);
    let Some((finding, speedup)) = clear.max_by(|a, b| a.1.total_cmp(&b.1)) else { return Ok(Vec::new()) };
    let mut trials = vec![reversed(bench, finding, speedup)?];
    trials.extend(upside_down(bench, finding, speedup)?);
    Ok(trials)
}

/// The strategy as much slower than the reference strategy as it was faster.
fn reversed(bench: &Bench, finding: &Finding, speedup: f64) -> Result<Trial, SelfTestError> {
    let own = &finding.field.group;
    let slower =
        plant::worse(&bench.candidate, |group, metric| match group == own && *metric == Metric::E2E {
            true => speedup * speedup,
            false => 1.0,
        });
    let verdict = bench.judge(&slower)?;
    let seen = verdict.findings.iter().any(|found| {
        let speedup = found.field.metric == Metric::SPEEDUP && found.field.group == *own;
        speedup && found.judgement == Judgement::Regressed
    });
    let ended = if seen { Ended::from(&verdict) } else { Exit::Pass.into() };
    let fault = format!("{own} as much slower than the reference strategy as it was faster ({speedup:.2}x)");
    Ok(trial(fault, Exit::Regression, ended))
}

/// Numerator and denominator swapped in what the file itself claims.
fn upside_down(bench: &Bench, finding: &Finding, speedup: f64) -> Result<Option<Trial>, SelfTestError> {
    let Ok(value) = Finite::new((100.0 / speedup).round() / 100.0) else { return Ok(None) };
    let statistic = finding.field.statistic;
    let claim = ReportedSpeedup { value, statistic, decimals: 2 };
    let claims: BTreeMap<GroupId, ReportedSpeedup> = [(finding.field.group.clone(), claim)].into();
    let claiming = plant::claiming(&bench.candidate, &claims);
    let fault =
        format!("{} claims {value}x for its {speedup:.2}x: divided the wrong way round", finding.field.group);
    bench.trial(fault, Exit::NoVerdict, &claiming).map(Some)
}

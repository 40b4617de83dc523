//! What is not in the report, and why.

use crate::model::field::local;
use crate::model::sentence::Sentence;
use crate::model::{Metric, Statistic};

use super::pages::Page;
use super::scope::Scope;
use super::view::{Tool, View};

/// Something that is not there.
struct Absence {
    /// Whose absence it is; a field asked for by name is answered with it.
    metric: Metric,
    /// `None`: the whole metric.
    statistic: Option<Statistic>,
    why: &'static str,
}

/// Everything that a reader of this report may look for in vain.
pub fn section(page: &mut Page, view: &View<'_>, scope: &Scope) {
    page.titled("Not there");
    let absences = absences(view);
    for absence in absences.iter().filter(|a| scope.has_metric(&a.metric) && covers(a, scope)) {
        page.own(absence.why);
    }
    if let Some((metric, statistic)) = scope.field() {
        let known: Vec<Statistic> = view.statistics(metric).into_iter().collect();
        let computed = *metric == Metric::SPEEDUP || *metric == Metric::SUCCESS_RATE;
        let there = if known.is_empty() { computed } else { statistic.is_none_or(|s| known.contains(&s)) };
        let said = absences.iter().any(|a| a.metric == *metric && covers(a, scope));
        if !there && !said {
            let name = local(metric, statistic.unwrap_or(Statistic::Value));
            let names: Vec<String> = known.iter().map(|s| local(metric, *s)).collect();
            let has = if names.is_empty() { "nothing of it".to_owned() } else { names.join(", ") };
            page.own(format!("{name} is not in this report; it has {has}"));
        }
    }
    let failed: Vec<String> =
        scope.groups(view).filter(|seen| seen.all_failed()).map(|seen| seen.id.to_string()).collect();
    if !failed.is_empty() && scope.metric_is_latency_or_all() {
        page.say(Sentence::default().own(format!(
            "no latency and no throughput of {}: no request succeeded. Zeros that the file has there are not measurements: 0 ms is not fast, it is absent",
            failed.join(", ")
        )));
    }
}

fn covers(absence: &Absence, scope: &Scope) -> bool {
    match (scope.field(), absence.statistic) {
        (Some((_, Some(asked))), Some(lost)) => asked == lost,
        _ => true,
    }
}

fn absences(view: &View<'_>) -> Vec<Absence> {
    let metrics = view.metrics();
    let lacks = |metric: &Metric| !metrics.contains(metric);
    let lacks_statistic =
        |metric: &Metric, statistic| !lacks(metric) && !view.statistics(metric).contains(&statistic);
    let mut found = Vec::new();
    let mut add = |applies: bool, metric: Metric, statistic, why| {
        if applies {
            found.push(Absence { metric, statistic, why });
        }
    };
    match view.tool {
        Tool::ScriptA => {
            add(
                lacks_statistic(&Metric::TPOT, Statistic::P99),
                Metric::TPOT,
                Some(Statistic::P99),
                "tpot.p99: benchmark.py computes P50 and P95 of tpot only. A gap in its design, not a lost value",
            );
            add(
                view.groups.iter().all(|seen| seen.counts().is_none()),
                Metric::SUCCESS_RATE,
                None,
                "success_rate: the file counts no failures, so a run whose requests failed looks like any other",
            );
            add(
                lacks(&Metric::OUTPUT_THROUGHPUT),
                Metric::OUTPUT_THROUGHPUT,
                None,
                "output_throughput: the file has neither tokens nor wall time",
            );
        }
        Tool::ScriptB => {
            add(
                !lacks(&Metric::ITL),
                Metric::TPOT,
                None,
                "tpot: what the file calls tpot is the gaps between content deltas, here itl; a time per token it has not",
            );
            add(
                !lacks(&Metric::TTFT) && lacks_statistic(&Metric::TTFT, Statistic::P99),
                Metric::TTFT,
                Some(Statistic::P99),
                "p99: benchmark_runner.py goes no further than p95",
            );
            add(
                lacks(&Metric::OUTPUT_THROUGHPUT),
                Metric::OUTPUT_THROUGHPUT,
                None,
                "output_throughput: the file has no wall time; its tokens_per_second is something else",
            );
        }
        Tool::Vllm => vllm(view, &mut add),
        Tool::Embedded | Tool::Load | Tool::Other => {}
    }
    found
}

fn vllm(view: &View<'_>, add: &mut impl FnMut(bool, Metric, Option<Statistic>, &'static str)) {
    let some = view.groups.iter().any(|seen| !seen.all_failed());
    let lacks = |metric: &Metric| some && !view.metrics().contains(metric);
    let has_not = |metric: &Metric, statistic| {
        view.metrics().contains(metric) && !view.statistics(metric).contains(&statistic)
    };
    add(
        lacks(&Metric::E2E),
        Metric::E2E,
        None,
        "e2e: vllm bench serve leaves it out unless asked: --percentile-metrics ttft,tpot,itl,e2el",
    );
    for metric in [Metric::TTFT, Metric::TPOT] {
        add(
            has_not(&metric, Statistic::P95),
            metric,
            Some(Statistic::P95),
            "p95 of ttft and tpot: vllm bench serve writes p99 only unless asked: --metric-percentiles 50,90,95,99",
        );
    }
    let no_samples =
        view.groups.iter().flat_map(|seen| seen.measurements(&Metric::TTFT)).all(|m| m.samples.is_none());
    add(
        some && no_samples && !lacks(&Metric::TTFT),
        Metric::TTFT,
        None,
        "single samples, with which noise could be told from a change: --save-result --save-detailed",
    );
}

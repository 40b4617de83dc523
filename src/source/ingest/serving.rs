//! What `vllm bench serve` and SGLang's `bench_serving`, two branches of one script, write in the same way.

use crate::model::{Metric, Statistic};

use super::draft::Draft;
use super::flat::Flat;
use super::number::Number;

const MS_PER_SECOND: f64 = 1000.0;

/// Takes the `mean_`, `median_`, `std_`, `p99_`, `p99.9_` … `_ms` scalars of these metrics.
pub fn statistics(draft: &mut Draft, flat: &Flat, names: &[(&str, Metric)]) {
    for (key, scalar) in &flat.scalars {
        let Some((statistic, metric)) = statistic(key, names) else { continue };
        // p50 says what median says; either will do.
        if let Some(number) = scalar.number() {
            draft.stat(&metric, statistic, number);
        }
    }
}

fn statistic(key: &str, names: &[(&str, Metric)]) -> Option<(Statistic, Metric)> {
    let (word, rest) = key.strip_suffix("_ms")?.split_once('_')?;
    let (_, metric) = names.iter().find(|(name, _)| *name == rest)?;
    let statistic = match word {
        "mean" => Statistic::Mean,
        "median" => Statistic::P50,
        "std" => Statistic::Std,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        percentile => percentile.parse().ok().filter(|s: &Statistic| s.percent().is_some())?,
    };
    Some((statistic, metric.clone()))
}

/// Raw lists of one run with the failed requests masked, in order of arrival, in ms.
#[derive(Debug, Default)]
pub struct Raw {
    /// To the first token.
    pub ttft: Vec<f64>,
    /// Per output token after the first; replies of one token have none.
    pub tpot: Vec<f64>,
    /// The whole request.
    pub e2e: Vec<f64>,
    /// Requests in the lists.
    pub requests: u64,
    /// Requests in the lists that succeeded.
    pub succeeded: u64,
}

/// Reads the raw lists; `None` where there is none, or where they are of different length.
#[must_use]
pub fn raw(flat: &Flat) -> Option<Raw> {
    let lists = ["latencies", "ttfts", "output_lens", "start_times"].map(|key| flat.list(key));
    let [latencies, ttfts, output, starts] = lists;
    let errors = flat.errors.as_deref().filter(|errors| !errors.is_empty());
    let n = latencies.or(ttfts).map(<[Number]>::len)?;
    let same =
        lists.iter().flatten().all(|list| list.len() == n) && errors.is_none_or(|list| list.len() == n);
    if !same {
        return None;
    }
    let mut order: Vec<usize> = (0..n).collect();
    if let Some(starts) = starts {
        order.sort_by(|a, b| time(starts, *a).total_cmp(&time(starts, *b)));
    }
    let mut raw = Raw { requests: n as u64, ..Raw::default() };
    for i in order {
        let at = |list: Option<&[Number]>| list.and_then(|list| list[i].finite());
        let failed = match errors {
            Some(errors) => !errors[i].is_empty(),
            None => at(latencies.or(ttfts)).is_none_or(|seconds| seconds <= 0.0),
        };
        if failed {
            continue;
        }
        raw.succeeded += 1;
        let (latency, ttft) = (at(latencies), at(ttfts));
        raw.e2e.extend(latency.map(|seconds| seconds * MS_PER_SECOND));
        raw.ttft.extend(ttft.map(|seconds| seconds * MS_PER_SECOND));
        if let (Some(latency), Some(ttft), Some(tokens)) = (latency, ttft, at(output))
            && tokens > 1.0
            && latency >= ttft
        {
            raw.tpot.push((latency - ttft) * MS_PER_SECOND / (tokens - 1.0));
        }
    }
    Some(raw)
}

fn time(starts: &[Number], i: usize) -> f64 {
    starts[i].finite().unwrap_or(f64::INFINITY)
}

/// Failures by what `errors` says of them.
pub fn failures(draft: &mut Draft, flat: &Flat) -> u64 {
    let mut failed = 0;
    for words in flat.errors.iter().flatten().filter(|words| !words.is_empty()) {
        draft.failed(super::failure::kind(words), 1, words);
        failed += 1;
    }
    failed
}

//! A group while it is being read: collects numbers in the canonical units and keeps out what is none.

use std::collections::BTreeMap;

use crate::model::report::{
    Group, Measurement, ReportedSpeedup, Requests, SelfCheck, TokenSource, Tokens, Workload,
};
use crate::model::{
    Dimensions, Fact, Finite, Metric, PercentileDefinition, Quantity, Samples, Statistic, Unit,
};
use crate::stats::percentile::{Definition, Sorted};
use crate::stats::sampling::percentile_inflation;

use super::number::Number;
use super::tree::Tree;

/// Percentiles that are taken from raw samples where a file has no own.
const PERCENTILES: [Statistic; 4] = [Statistic::P50, Statistic::P90, Statistic::P95, Statistic::P99];

/// A file's own percentile and the one of its samples may differ by this share (and 2 µs) through rounding.
const ROUNDING: f64 = 0.002;

/// One value in two units differs by no more than this share.
const CONVERSION: f64 = 1e-9;

/// A group while it is being read.
#[derive(Debug, Default)]
pub struct Draft {
    /// What it is made of.
    pub dimensions: Dimensions,
    /// What must agree for a comparison.
    pub workload: Workload,
    /// How requests ended.
    pub requests: Requests,
    /// Wall time in ms.
    pub wall_ms: Option<f64>,
    /// Tokens of the successes.
    pub tokens: Tokens,
    /// The speed-up that the file claims.
    pub speedup: Option<ReportedSpeedup>,
    /// What a reader of these numbers should know.
    pub notes: Vec<String>,
    /// p99 of how late the client woke up, in ms.
    pub lag_ms: Option<f64>,
    /// The tool's latencies take failed requests in, so they exist even where none succeeded.
    pub pooled: bool,
    metrics: BTreeMap<Metric, Measurement>,
    flaw: Option<String>,
}

impl Draft {
    /// A draft of a tool whose latencies take failed requests in.
    #[must_use]
    pub fn pooled() -> Draft {
        Draft { pooled: true, ..Draft::default() }
    }

    /// Notes a fact of the workload, if it is known.
    pub fn fact(&mut self, fact: Fact, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.workload.insert(fact, value.to_string());
        }
    }

    /// A number of requests or tokens as the file has it. One that is there and is no whole number is a flaw of the file:
    /// read as absent, it would hide failures.
    pub fn counted(&mut self, key: &str, value: Option<Number>) -> Option<u64> {
        let value = value.unwrap_or(Number::Nan);
        if value != Number::Absent && value.count().is_none() {
            self.contradicts(&format!(
                "{key} is no number of requests or tokens: expected a whole number from 0"
            ));
        }
        value.count()
    }

    /// How often an outcome came, of those that a tool lists because they came: none is a flaw here.
    pub fn times(&mut self, key: &str, value: Option<Number>) -> u64 {
        let value = value.filter(|value| *value != Number::Absent);
        self.counted(key, value).unwrap_or_default()
    }

    /// A count at a path of keys in a tree; as [`Draft::counted`], and absent where the key is not there or null.
    pub fn counted_at(&mut self, tree: &Tree, path: &[&str]) -> Option<u64> {
        let leaf = tree.at(path)?;
        self.counted(&path.join("."), leaf.number().or(Some(Number::Nan)))
    }

    /// The requests in flight, a dimension of the group and a fact of its workload; as [`Draft::counted`].
    pub fn concurrency(&mut self, key: &str, value: Option<Number>) {
        let Some(count) = self.counted(key, value) else { return };
        match u32::try_from(count) {
            Ok(level) => self.dimensions.concurrency = Some(level),
            Err(_) => {
                self.contradicts(&format!("{key} is {count}, and so many requests are never in flight"))
            }
        }
        self.fact(Fact::Concurrency, Some(count));
    }

    /// The same of a tool that writes 0, -1 or NaN where no number of requests was to be in flight.
    pub fn concurrency_unless_open(&mut self, key: &str, leaf: &Tree) {
        let value = leaf.number();
        let open = value == Some(Number::Nan) || value.and_then(Number::finite).is_some_and(|n| n <= 0.0);
        if !open {
            self.concurrency(key, value);
        }
    }

    /// The same at a path of keys in a tree; absent where the key is not there.
    pub fn concurrency_at(&mut self, tree: &Tree, path: &[&str]) {
        if let Some(leaf) = tree.at(path) {
            self.concurrency(&path.join("."), leaf.number());
        }
    }

    /// The file's numbers can't all be right. The first such finding is the one told.
    pub fn contradicts(&mut self, what: &str) {
        self.flaw.get_or_insert_with(|| what.to_owned());
    }

    /// The metric's measurement with its definitions set.
    pub fn define(&mut self, metric: &Metric, definition: &str, percentiles: PercentileDefinition) {
        let measurement = self.measurement(metric);
        measurement.definition = Some(definition.to_owned());
        measurement.percentile_definition = Some(percentiles);
    }

    /// How many samples a metric's statistics are of.
    pub fn count(&mut self, metric: &Metric, n: Option<u64>) {
        self.measurement(metric).n = n;
    }

    fn measurement(&mut self, metric: &Metric) -> &mut Measurement {
        self.metrics.entry(metric.clone()).or_insert_with(|| Measurement {
            unit: metric.unit(),
            definition: None,
            n: None,
            percentile_definition: None,
            stats: BTreeMap::new(),
            samples: None,
            vif: BTreeMap::new(),
        })
    }

    /// A statistic in the metric's canonical unit. Absent values are left out; NaN, infinity and negative ones are faults,
    /// and so is a second value that is another.
    pub fn stat(&mut self, metric: &Metric, statistic: Statistic, value: Number) {
        match value {
            Number::Absent => {}
            Number::Finite(value) if value > 1.0 && metric.unit() == Unit::Fraction => {
                let field = crate::model::field::local(metric, statistic);
                self.contradicts(&format!("{field} is {value}; expected a share from 0 to 1"));
            }
            Number::Finite(value) if value >= 0.0 => {
                let Ok(value) = Finite::new(value) else { return };
                let first = *self.measurement(metric).stats.entry(statistic).or_insert(value);
                if (first.get() - value.get()).abs() > CONVERSION * first.get() {
                    let field = crate::model::field::local(metric, statistic);
                    self.contradicts(&format!(
                        "{field} stands twice, with {first} and with {value}, so it is not known which value holds"
                    ));
                }
            }
            Number::Finite(value) => self.fault(metric, statistic, &value.to_string()),
            Number::Infinite => self.fault(metric, statistic, "infinite"),
            Number::Nan => self.fault(metric, statistic, "NaN"),
        }
    }

    /// A statistic given in other units: times `factor`.
    pub fn scaled(&mut self, metric: &Metric, statistic: Statistic, value: Number, factor: f64) {
        let value = value.finite().map_or(value, |v| Number::of(v * factor));
        self.stat(metric, statistic, value);
    }

    /// A statistic from a leaf of a tree, times `factor`. A leaf that is no number is a fault.
    pub fn leaf(&mut self, metric: &Metric, statistic: Statistic, leaf: Option<&Tree>, factor: f64) {
        let Some(leaf) = leaf else { return };
        match leaf.number() {
            Some(number) => self.scaled(metric, statistic, number, factor),
            None => self.fault(metric, statistic, &leaf.kind()),
        }
    }

    /// The only value of a metric.
    pub fn value(&mut self, metric: &Metric, value: Number) {
        self.stat(metric, Statistic::Value, value);
    }

    /// A statistic as a text has it, times `factor`. A text that is no number is a fault.
    pub fn worded(&mut self, metric: &Metric, statistic: Statistic, text: &str, factor: f64) {
        match Number::parse(text) {
            Some(number) => self.scaled(metric, statistic, number, factor),
            None => self.fault(metric, statistic, &format!("the text {text:?}")),
        }
    }

    fn fault(&mut self, metric: &Metric, statistic: Statistic, found: &str) {
        let field = crate::model::field::local(metric, statistic);
        self.contradicts(&format!("{field} is {found}; expected a finite number from 0"));
    }

    /// All samples of a metric in ms and in order of arrival, successes only. Statistics that the file has not are taken from them.
    ///
    /// Samples that contradict the file's own percentiles are left away, and that is said.
    pub fn samples(&mut self, metric: &Metric, arrivals: &[f64]) {
        let measurement = self.measurement(metric);
        debug_assert!(measurement.percentile_definition.is_some(), "define {metric} before its samples");
        let Some(definition) = measurement.percentile_definition else { return };
        if arrivals.is_empty() {
            return;
        }
        let (Ok(sorted), Ok(samples)) = (Sorted::new(arrivals.to_vec()), Samples::from_millis(arrivals))
        else {
            self.fault(metric, Statistic::Min, "not a duration in some request");
            return;
        };
        let picked: BTreeMap<Statistic, f64> =
            PERCENTILES.iter().filter_map(|s| Some((*s, pick(&sorted, *s, definition)?))).collect();
        for (statistic, own) in &picked {
            let Some(told) = measurement.stats.get(statistic) else { continue };
            if (told.get() - own).abs() > ROUNDING * told.get() + 0.002 {
                let shown = Finite::new(*own).map(|own| Quantity::pair(*told, own, Unit::Millisecond));
                self.notes.push(format!(
                    "{metric}: the file's own {statistic} and that of its {} samples differ ({}); the samples are not used",
                    arrivals.len(),
                    shown.unwrap_or_default()
                ));
                return;
            }
        }
        measurement.n = Some(arrivals.len() as u64);
        measurement.samples = Some(samples);
        let all = sorted.as_slice();
        let mean = arrivals.iter().sum::<f64>() / length(arrivals);
        let ends = [(Statistic::Mean, mean), (Statistic::Min, all[0]), (Statistic::Max, all[all.len() - 1])];
        for (statistic, value) in picked.into_iter().chain(ends) {
            if let Ok(value) = Finite::new(value) {
                measurement.stats.entry(statistic).or_insert(value);
            }
        }
        for statistic in PERCENTILES {
            let vif = statistic.percent().and_then(|p| percentile_inflation(arrivals, p).ok());
            if let Some(vif) = vif.and_then(|vif| Finite::new(vif).ok()) {
                measurement.vif.insert(statistic, vif);
            }
        }
    }

    /// Tokens of the successes.
    pub fn tokens(&mut self, input: Option<u64>, output: Option<u64>, from: TokenSource) {
        // No prompt is empty, so 0 is "not counted"; an answer of 0 tokens is news, and the judge wants to hear it.
        self.tokens = Tokens { input: input.filter(|n| *n > 0), output, cached: None, from };
    }

    /// The mean output length, from the totals where the file has no own.
    fn mean_output(&mut self) {
        if let (Some(output), Some(succeeded)) =
            (self.tokens.output, self.requests.succeeded.filter(|n| *n > 0))
        {
            let mean = Finite::new(ratio(output, succeeded));
            let stats = &mut self.measurement(&Metric::OUTPUT_TOKENS).stats;
            if let (Ok(mean), true) = (mean, stats.is_empty()) {
                stats.insert(Statistic::Mean, mean);
            }
        }
    }

    /// The group, its workload and its notes; zeros that are no measurements are gone.
    ///
    /// # Errors
    /// A value that can't be: what it is.
    pub fn finish(mut self) -> Result<(Group, Workload, Vec<String>), String> {
        for (what, time) in [("the run took", self.wall_ms), ("the client was late by", self.lag_ms)] {
            if let Some(ms) = time.filter(|ms| *ms < 0.0) {
                self.contradicts(&format!("{what} {ms} ms; expected a time from 0"));
            }
        }
        if let Some(flaw) = self.flaw {
            return Err(flaw);
        }
        let none_succeeded = self.requests.succeeded == Some(0);
        self.mean_output();
        for (metric, measurement) in &mut self.metrics {
            if none_succeeded && *metric != Metric::GPU_MEMORY && !(self.pooled && *metric == Metric::E2E) {
                measurement.stats.clear();
                measurement.samples = None;
                continue;
            }
            let before = measurement.stats.len();
            measurement
                .stats
                .retain(|statistic, value| value.get() > 0.0 || !zero_is_absence(metric, *statistic));
            if measurement.stats.len() < before {
                self.notes.push(format!(
                    "{metric}: the file says 0, which no request can take; read as not measured"
                ));
            }
            // Only min and spread left: nothing was measured.
            if measurement.stats.keys().all(|s| matches!(s, Statistic::Min | Statistic::Std)) {
                measurement.stats.clear();
            }
        }
        self.metrics.retain(|_, measurement| !measurement.stats.is_empty() || measurement.samples.is_some());
        // Gaps are not requests: how many were pooled, only the tool's own lists tell.
        for measurement in self.metrics.iter_mut().filter(|(m, _)| **m != Metric::ITL).map(|(_, own)| own) {
            if measurement.n.is_none() && measurement.stats.keys().any(|s| s.percent().is_some()) {
                measurement.n = self.requests.succeeded;
            }
        }
        let group = Group {
            requests: self.requests,
            wall_ms: self.wall_ms.filter(|ms| *ms > 0.0).and_then(|ms| Finite::new(ms).ok()),
            tokens: self.tokens,
            metrics: self.metrics,
            speedup_reported: self.speedup,
            self_check: self
                .lag_ms
                .and_then(|ms| Finite::new(ms).ok())
                .map(|lag| SelfCheck { wakeup_lag_p99_ms: Some(lag), ..SelfCheck::default() }),
            ..Group::new(self.dimensions)
        };
        Ok((group, self.workload, self.notes))
    }
}

/// A time of 0 was not measured; 0 gaps between chunks that arrive together were, and so is a spread of 0.
fn zero_is_absence(metric: &Metric, statistic: Statistic) -> bool {
    let rate = matches!(metric.unit(), Unit::TokensPerSecond | Unit::RequestsPerSecond);
    let time = metric.unit() == Unit::Millisecond && *metric != Metric::ITL;
    rate || (time && !matches!(statistic, Statistic::Min | Statistic::Std))
}

/// A percentile of sorted samples by the tool's definition.
fn pick(sorted: &Sorted, statistic: Statistic, definition: PercentileDefinition) -> Option<f64> {
    let percent = statistic.percent()?;
    let definition = match definition {
        PercentileDefinition::FloorRank => Definition::FloorRank,
        PercentileDefinition::MedianAndFloorRank if statistic == Statistic::P50 => Definition::Median,
        PercentileDefinition::MedianAndFloorRank => Definition::FloorRank,
        PercentileDefinition::Linear => Definition::Linear,
        PercentileDefinition::NearestRank => Definition::NearestRank,
        PercentileDefinition::InvertedCdf => Definition::InvertedCdf,
        PercentileDefinition::Exclusive => Definition::Exclusive,
        PercentileDefinition::OfTheTool | PercentileDefinition::Unknown => return None,
    };
    sorted.percentile(percent, definition).ok()
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 tokens")]
fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all as f64
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 requests")]
fn length(samples: &[f64]) -> f64 {
    samples.len() as f64
}

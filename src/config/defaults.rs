//! What holds where the file says nothing, as data: the docs are made from it.

use crate::model::engine::Engine;
use crate::model::policy::{Allowance, FieldPattern, Origin, Rule, trimmed};
use crate::model::profile::{CacheMode, Load, Profile, Prompts, Strategy, Target, Timeouts};
use crate::model::quantity::Unit;
use crate::model::{Direction, Finite, Metric, Statistic};

/// Requests per group and round.
pub const REQUESTS: u32 = 300;
/// Passes over all groups.
pub const ROUNDS: u32 = 3;
/// Requests in flight.
pub const CONCURRENCY: u32 = 8;
/// Traffic model.
pub const TRAFFIC: &str = "chat";
/// Built-in traffic models.
pub const TRAFFICS: [&str; 3] = ["chat", "rag", "code"];
/// Seed.
pub const SEED: u64 = 1;
/// Assumed noise between jobs.
pub const RUN_NOISE: Finite = Finite::thousandths(50);
/// Above this a gate is blind.
pub const BLIND_ABOVE: Finite = Finite::whole(1);

/// A built-in gate rule.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultRule {
    /// The metric.
    pub metric: Metric,
    /// The statistic.
    pub statistic: Statistic,
    /// How much worse it may get.
    pub allowance: Allowance,
    /// A change of no more than this never fails, in the metric's unit.
    pub min_change: Option<Finite>,
    /// Lowest value, in the metric's unit.
    pub min: Option<Finite>,
    /// Whether a reversed speed-up fails whatever the limit.
    pub fail_if_reversed: bool,
}

const TEN_PERCENT: Allowance = Allowance::Relative(Finite::thousandths(100));

const fn time(metric: Metric, statistic: Statistic, min_change: Finite) -> DefaultRule {
    DefaultRule {
        metric,
        statistic,
        allowance: TEN_PERCENT,
        min_change: Some(min_change),
        min: None,
        fail_if_reversed: false,
    }
}

const fn higher(metric: Metric, statistic: Statistic) -> DefaultRule {
    let fail_if_reversed = matches!(statistic, Statistic::Percentile(_));
    DefaultRule { metric, statistic, allowance: TEN_PERCENT, min_change: None, min: None, fail_if_reversed }
}

const TWO_MS: Finite = Finite::whole(2);
const FIFTH_MS: Finite = Finite::thousandths(200);

/// The built-in gate rules. P99 is shown and gated on request.
pub const RULES: &[DefaultRule] = &[
    time(Metric::TTFT, Statistic::P50, TWO_MS),
    time(Metric::TTFT, Statistic::P95, TWO_MS),
    time(Metric::TPOT, Statistic::P50, FIFTH_MS),
    time(Metric::TPOT, Statistic::P95, FIFTH_MS),
    time(Metric::E2E, Statistic::P95, Finite::whole(10)),
    higher(Metric::OUTPUT_THROUGHPUT, Statistic::Value),
    DefaultRule {
        metric: Metric::SUCCESS_RATE,
        statistic: Statistic::Value,
        allowance: Allowance::Points(Finite::thousandths(10)),
        min_change: None,
        min: Some(Finite::thousandths(950)),
        fail_if_reversed: false,
    },
    higher(Metric::SPEEDUP, Statistic::P50),
    higher(Metric::SPEEDUP, Statistic::P95),
];

impl DefaultRule {
    /// As a rule of a policy.
    #[must_use]
    pub fn rule(&self) -> Rule {
        Rule {
            pattern: FieldPattern::everywhere(self.metric.clone(), self.statistic),
            gate: None,
            allowance: Some(self.allowance),
            min_change: self.min_change,
            max: None,
            min: self.min,
            fail_if_reversed: self.fail_if_reversed.then_some(true),
            origin: Origin::Default,
        }
    }

    /// The line that would say the same in `[gate]`.
    #[must_use]
    pub fn written(&self) -> String {
        let unit = self.metric.unit();
        let key = match self.metric.direction() {
            Direction::HigherIsBetter => "max_decrease",
            Direction::LowerIsBetter | Direction::Unknown => "max_increase",
        };
        let mut keys = vec![format!("{key} = \"{}\"", allowance(self.allowance, unit))];
        keys.extend(self.min_change.map(|floor| format!("min_change = \"{}\"", amount(floor, unit))));
        keys.extend(self.min.map(|min| format!("min = \"{}\"", bound(min, unit))));
        keys.extend(self.fail_if_reversed.then(|| "direction = \"fail-if-reversed\"".to_owned()));
        let field = crate::model::field::local(&self.metric, self.statistic);
        format!("\"{field}\" = {{ {} }}", keys.join(", "))
    }
}

/// An allowance as it is written in the file.
pub(super) fn allowance(allowance: Allowance, unit: Unit) -> String {
    match allowance {
        Allowance::Relative(share) => format!("{}%", trimmed(share.get() * 100.0)),
        Allowance::Points(share) => format!("{}pp", trimmed(share.get() * 100.0)),
        Allowance::Absolute(value) => format!("{}{unit}", trimmed(value.get())),
    }
}

/// A difference in a metric's unit as it is written in the file.
pub(super) fn amount(value: Finite, unit: Unit) -> String {
    let kind = if unit == Unit::Fraction { Allowance::Points } else { Allowance::Absolute };
    allowance(kind(value), unit)
}

/// A value in a metric's unit as it is written in the file.
pub(super) fn bound(value: Finite, unit: Unit) -> String {
    let shown = if unit == Unit::Fraction { value.get() * 100.0 } else { value.get() };
    format!("{}{unit}", trimmed(shown))
}

/// A profile with nothing but defaults, on the embedded engine.
pub(super) fn profile(name: &str) -> Profile {
    Profile {
        name: name.to_owned(),
        target: Target::Embedded(Engine::default()),
        server: None,
        strategies: Vec::new(),
        reference: None,
        prompts: Prompts::Traffic(vec![TRAFFIC.to_owned()]),
        prompt_tokens: Vec::new(),
        load: Load::Concurrency(vec![CONCURRENCY]),
        requests: REQUESTS,
        rounds: ROUNDS,
        max_tokens: None,
        warmup: None,
        temperature: Finite::ZERO,
        seed: SEED,
        stream: true,
        cache: CacheMode::SharedPrefix,
        timeouts: Timeouts::default(),
        before_block: None,
    }
}

/// The names of the built-in profiles.
pub const BUILTINS: [&str; 2] = ["smoke", "full"];

/// A built-in profile on the embedded engine.
///
/// `smoke` is script A's default run; `full` adds the prefix cache, all traffic models and script B's levels.
#[must_use]
pub fn builtin(name: &str) -> Option<Profile> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (strategies, traffic, levels): (&[&str], &[&str], &[u32]) = match name {
        "smoke" => (&["baseline", "int8_quant", "speculative_decode"], &[TRAFFIC], &[CONCURRENCY]),
        "full" => (&["baseline", "int8_quant", "speculative_decode", "prefix_cache"], &TRAFFICS, &[1, 8, 32]),
        _ => return None,
    };
    Some(Profile {
        strategies: owned(strategies)
            .into_iter()
            .map(|name| Strategy { name, ..Strategy::default() })
            .collect(),
        reference: Some("baseline".to_owned()),
        prompts: Prompts::Traffic(owned(traffic)),
        load: Load::Concurrency(levels.to_vec()),
        ..profile(name)
    })
}

//! What a team tolerates: gate rules, waivers, and who decides.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::Date;

use super::field::FieldId;
use super::group::GroupId;
use super::metric::{Direction, Metric};
use super::quantity::{Finite, Quantity, Unit};
use super::statistic::Statistic;

/// Everything that decides how findings are judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Built-in rules first, then those of the file.
    pub rules: Vec<Rule>,
    /// Assumed noise between jobs (sd of the logarithm), 0.05 unless the file says so.
    pub run_noise: Finite,
    /// Limits or evidence.
    pub decide: Decide,
    /// What an unresolved channel means.
    pub unresolved: OnUnresolved,
    /// A metric whose smallest visible change is above this (1 = +100 %) makes the gate blind.
    pub blind_above: Finite,
    /// What a change that alters its own baseline or limits means.
    pub self_bless: SelfBless,
    /// Most that all blesses together may have worsened a field since the pinned first one.
    pub max_drift: Option<Finite>,
    /// Exceptions with a date.
    pub waivers: Vec<Waiver>,
}

/// Who decides (statistics.md §1.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decide {
    /// Evidence where noise can be known, limits where it can't.
    #[default]
    Auto,
    /// Always evidence.
    Evidence,
    /// Always limits.
    Limits,
}

/// What an unresolved channel means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnresolved {
    /// Listed, exit 0.
    #[default]
    Pass,
    /// Exit 4.
    Fail,
}

/// What a change that alters its own baseline or limits means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfBless {
    /// Said in the first line; an entry of the ledger with a reason is followed.
    #[default]
    Say,
    /// A regression.
    Fail,
}

/// A line of `[gate]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Which fields.
    pub pattern: FieldPattern,
    /// Off: the field is shown and not gated.
    pub gate: Option<bool>,
    /// How much it may rise (lower is better) or fall (higher is better).
    pub allowance: Option<Allowance>,
    /// A change of no more than this, in the metric's unit, is never a regression.
    pub min_change: Option<Finite>,
    /// The value may not be above this, in the metric's unit.
    pub max: Option<Finite>,
    /// The value may not be below this, in the metric's unit.
    pub min: Option<Finite>,
    /// Speed-up only: fails where faster turned into slower, whatever the limit.
    pub fail_if_reversed: Option<bool>,
    /// Where it is written.
    pub origin: Origin,
}

/// How much worse a value may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allowance {
    /// A share of the old value: 0.1 is 10 %.
    Relative(Finite),
    /// Percentage points, as a fraction: 0.01 is 1 pp. Rates only.
    Points(Finite),
    /// In the metric's unit.
    Absolute(Finite),
}

impl Allowance {
    /// With the sign that makes it worse: `+10 %`, `-1 pp`.
    #[must_use]
    pub fn signed(self, direction: Direction, unit: Unit) -> String {
        let sign = if direction == Direction::HigherIsBetter { "\u{2212}" } else { "+" };
        match self {
            Allowance::Relative(share) => format!("{sign}{} %", trimmed(share.get() * 100.0)),
            Allowance::Points(share) => format!("{sign}{} pp", trimmed(share.get() * 100.0)),
            Allowance::Absolute(value) => format!("{sign}{} {unit}", trimmed(value.get())),
        }
    }
}

/// Up to three decimals, without trailing zeros: limits are shown as people wrote them.
#[must_use]
pub fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Where a rule or waiver is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Built in.
    Default,
    /// In a file, 1-based.
    File {
        /// As the user would name it.
        path: String,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// On the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("built-in default"),
            Origin::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

/// Which fields a rule is for: `ttft.p95`, or `int8_quant/**:ttft.p95`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPattern {
    /// Segments of the group's name; `*` is one segment, `**` any number. `None`: every group.
    pub group: Option<Vec<String>>,
    /// The metric.
    pub metric: Metric,
    /// The statistic.
    pub statistic: Statistic,
}

impl FieldPattern {
    /// A pattern for every group.
    #[must_use]
    pub fn everywhere(metric: Metric, statistic: Statistic) -> FieldPattern {
        FieldPattern { group: None, metric, statistic }
    }

    /// Whether it covers the field.
    #[must_use]
    pub fn matches(&self, field: &FieldId) -> bool {
        self.metric == field.metric
            && self.statistic == field.statistic
            && self.group.as_ref().is_none_or(|glob| glob_matches(glob, &field.group))
    }

    /// How special it is: more literal segments first, then fewer wildcards.
    #[must_use]
    pub fn specificity(&self) -> (usize, usize, usize) {
        let Some(glob) = &self.group else { return (0, 0, 0) };
        let count = |what: &str| glob.iter().filter(|segment| *segment == what).count();
        let (any, one) = (count("**"), count("*"));
        (1 + glob.len() - any - one, usize::MAX - any, usize::MAX - one)
    }
}

impl fmt::Display for FieldPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(glob) = &self.group {
            write!(f, "{}:", glob.join("/"))?;
        }
        f.write_str(&super::field::local(&self.metric, self.statistic))
    }
}

fn glob_matches(glob: &[String], group: &GroupId) -> bool {
    fn from(glob: &[String], segments: &[&str]) -> bool {
        match glob.split_first() {
            None => segments.is_empty(),
            Some((first, rest)) if first == "**" => (0..=segments.len()).any(|k| from(rest, &segments[k..])),
            Some((first, rest)) => segments
                .split_first()
                .is_some_and(|(s, left)| (first == "*" || first == s) && from(rest, left)),
        }
    }
    from(glob, &group.as_str().split('/').collect::<Vec<_>>())
}

/// An exception: this field may be this much worse until that day.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiver {
    /// Which fields.
    pub pattern: FieldPattern,
    /// How much worse it may be, in place of the rule's limit.
    pub allowance: Allowance,
    /// Why.
    pub reason: String,
    /// The last day on which it covers anything.
    pub until: Date,
    /// Where it is written.
    pub origin: Origin,
}

/// The limits in force for one field, merged from all rules that match it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tolerance {
    /// How much worse it may get.
    pub allowance: Option<Allowance>,
    /// Smallest change that counts, in the metric's unit.
    pub min_change: Option<Finite>,
    /// Highest value.
    pub max: Option<Finite>,
    /// Lowest value.
    pub min: Option<Finite>,
    /// Whether a reversed speed-up fails whatever the limit.
    pub fail_if_reversed: bool,
    /// Where the allowance is written.
    pub origin: Origin,
    /// Where the highest and lowest value are written.
    pub bound_origin: Origin,
}

impl Tolerance {
    /// How much worse it may get as a share of the blessed value; `None` without such a limit, and for points.
    #[must_use]
    pub fn share_of(&self, old: Finite) -> Option<Finite> {
        match self.allowance? {
            Allowance::Relative(share) => Some(share),
            Allowance::Absolute(value) => Finite::new(value.get() / old.get()).ok(),
            Allowance::Points(_) => None,
        }
    }

    /// `+10 % and 2 ms, at most 3000 ms`.
    #[must_use]
    pub fn words(&self, direction: Direction, unit: Unit) -> String {
        let floor = self.min_change.filter(|floor| *floor > Finite::ZERO);
        let floor = floor.map(|floor| format!(" and {} {unit}", trimmed(floor.get()))).unwrap_or_default();
        // Without a limit on the change there is nothing that its floor could keep from failing.
        let limit = self.allowance.map(|limit| limit.signed(direction, unit) + &floor);
        let reversed = self.fail_if_reversed.then(|| "never reversed".to_owned());
        let bound =
            |word, bound: Option<Finite>| bound.map(|value| format!("{word} {}", Quantity { value, unit }));
        let parts = [limit, reversed, bound("at most", self.max), bound("at least", self.min)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Two rules of the same rank say different things about one field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{second}: rules \"{first_pattern}\" ({first}) and \"{second_pattern}\" both set {key} for {field} and neither is more specific; make one of them name more of the group"
)]
pub struct RuleTie {
    /// The field.
    pub field: FieldId,
    /// The key that both set.
    pub key: &'static str,
    /// First rule.
    pub first_pattern: String,
    /// Its place.
    pub first: Origin,
    /// Second rule.
    pub second_pattern: String,
    /// Its place.
    pub second: Origin,
}

impl Policy {
    /// The limits in force for a field; `None` where no rule gates it.
    ///
    /// # Errors
    /// Two equally specific rules that disagree.
    pub fn tolerance(&self, field: &FieldId) -> Result<Option<Tolerance>, Box<RuleTie>> {
        let rules: Vec<&Rule> = self.rules.iter().filter(|rule| rule.pattern.matches(field)).collect();
        let gate = pick(field, &rules, "gate", |rule| rule.gate)?;
        if rules.is_empty() || gate.is_some_and(|(on, _)| !on) {
            return Ok(None);
        }
        let allowance = pick(field, &rules, "the limit", |rule| rule.allowance)?;
        let max = pick(field, &rules, "max", |rule| rule.max)?;
        let min = pick(field, &rules, "min", |rule| rule.min)?;
        let origin = allowance.map(|(_, rule)| rule).or(max.map(|(_, r)| r)).or(min.map(|(_, r)| r));
        let bound = max.map(|(_, rule)| rule).or(min.map(|(_, rule)| rule));
        Ok(Some(Tolerance {
            allowance: allowance.map(|(value, _)| value),
            min_change: pick(field, &rules, "min_change", |rule| rule.min_change)?.map(|(value, _)| value),
            max: max.map(|(value, _)| value),
            min: min.map(|(value, _)| value),
            fail_if_reversed: pick(field, &rules, "direction", |rule| rule.fail_if_reversed)?
                .is_some_and(|(on, _)| on),
            origin: origin.map_or(Origin::Default, |rule| rule.origin.clone()),
            bound_origin: bound.map_or(Origin::Default, |rule| rule.origin.clone()),
        }))
    }
}

type Picked<'a, T> = Option<(T, &'a Rule)>;

/// The value of one key from the most specific rule that sets it; a rule of the file beats a built-in one.
fn pick<'a, T: PartialEq + Copy>(
    field: &FieldId,
    rules: &[&'a Rule],
    key: &'static str,
    read: impl Fn(&Rule) -> Option<T>,
) -> Result<Picked<'a, T>, Box<RuleTie>> {
    let rank = |rule: &Rule| (rule.origin != Origin::Default, rule.pattern.specificity());
    let mut best: Picked<'a, T> = None;
    for &rule in rules {
        let Some(value) = read(rule) else { continue };
        match best {
            Some((old, first)) if rank(first) == rank(rule) && old != value => {
                return Err(Box::new(RuleTie {
                    field: field.clone(),
                    key,
                    first_pattern: first.pattern.to_string(),
                    first: first.origin.clone(),
                    second_pattern: rule.pattern.to_string(),
                    second: rule.origin.clone(),
                }));
            }
            Some((_, first)) if rank(first) >= rank(rule) => {}
            _ => best = Some((value, rule)),
        }
    }
    Ok(best)
}

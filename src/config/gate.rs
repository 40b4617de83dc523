//! `[gate]` and `[[waiver]]`.

use toml::de::DeValue;

use crate::model::policy::{Decide, FieldPattern, OnUnresolved, Origin, Rule, SelfBless, Waiver};
use crate::model::quantity::Unit;
use crate::model::{Direction, Finite, Statistic};

use super::amount::{self, Slot};
use super::error::{ConfigError, Problem};
use super::pattern;
use super::table::{Entry, Table};
use super::{keys, nearest::nearest};

/// A setting and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub origin: Origin,
}

/// One `[gate]` table as written, without the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    /// The rules in the order of the file.
    pub rules: Vec<Rule>,
    /// `run_noise`.
    pub run_noise: Option<Setting<Finite>>,
    /// `decide`.
    pub decide: Option<Setting<Decide>>,
    /// `blind_above`.
    pub blind_above: Option<Setting<Finite>>,
    /// `unresolved`.
    pub unresolved: Option<Setting<OnUnresolved>>,
    /// `self_bless`.
    pub self_bless: Option<Setting<SelfBless>>,
    /// `max_drift`.
    pub max_drift: Option<Setting<Finite>>,
}

impl Gate {
    /// This table with another merged over it, key by key.
    #[must_use]
    pub fn under(&self, over: &Gate) -> Gate {
        let rest = self.rules.iter().filter_map(|rule| {
            over.rules.iter().filter(|o| o.pattern == rule.pattern).try_fold(rule.clone(), without)
        });
        fn or<T: Clone>(over: &Option<T>, under: &Option<T>) -> Option<T> {
            over.clone().or_else(|| under.clone())
        }
        Gate {
            rules: rest.chain(over.rules.iter().cloned()).collect(),
            run_noise: or(&over.run_noise, &self.run_noise),
            decide: or(&over.decide, &self.decide),
            blind_above: or(&over.blind_above, &self.blind_above),
            unresolved: or(&over.unresolved, &self.unresolved),
            self_bless: or(&over.self_bless, &self.self_bless),
            max_drift: or(&over.max_drift, &self.max_drift),
        }
    }
}

/// A rule without the keys that another rule sets; nothing if none is left.
///
/// A rule that is turned on again by giving it a limit needs no `gate = true`.
fn without(rule: Rule, over: &Rule) -> Option<Rule> {
    fn keep<T>(own: Option<T>, over: bool) -> Option<T> {
        if over { None } else { own }
    }
    let left = Rule {
        gate: keep(rule.gate, over.gate.is_some() || limits(over)),
        allowance: keep(rule.allowance, over.allowance.is_some()),
        min_change: keep(rule.min_change, over.min_change.is_some()),
        max: keep(rule.max, over.max.is_some()),
        min: keep(rule.min, over.min.is_some()),
        fail_if_reversed: keep(rule.fail_if_reversed, over.fail_if_reversed.is_some()),
        ..rule
    };
    let empty = left.gate.is_none() && left.min_change.is_none() && left.fail_if_reversed.is_none();
    (!empty || limits(&left)).then_some(left)
}

/// Whether a rule can fail a field.
pub(super) fn limits(rule: &Rule) -> bool {
    rule.allowance.is_some()
        || rule.max.is_some()
        || rule.min.is_some()
        || rule.fail_if_reversed == Some(true)
}

/// Reads a `[gate]` table.
pub(super) fn read(table: &Table<'_>) -> Result<Gate, ConfigError> {
    let mut gate = Gate::default();
    for entry in table.entries() {
        let origin = Origin::from(entry.place());
        match entry.key {
            "run_noise" => gate.run_noise = Some(Setting { value: amount::share(entry)?, origin }),
            "blind_above" => gate.blind_above = Some(Setting { value: amount::share(entry)?, origin }),
            "max_drift" => gate.max_drift = Some(Setting { value: amount::share(entry)?, origin }),
            "decide" => {
                let words =
                    [("auto", Decide::Auto), ("evidence", Decide::Evidence), ("limits", Decide::Limits)];
                gate.decide = Some(Setting { value: entry.word("value of decide", &words)?, origin });
            }
            "unresolved" => {
                let words = [("pass", OnUnresolved::Pass), ("fail", OnUnresolved::Fail)];
                gate.unresolved = Some(Setting { value: entry.word("value of unresolved", &words)?, origin });
            }
            "self_bless" => {
                let words = [("say", SelfBless::Say), ("fail", SelfBless::Fail)];
                gate.self_bless = Some(Setting { value: entry.word("value of self_bless", &words)?, origin });
            }
            _ => gate.rules.push(rule(entry)?),
        }
    }
    Ok(gate)
}

fn rule(entry: &Entry<'_>) -> Result<Rule, ConfigError> {
    if let Some(right) = split_by_dots(entry, "gate.FIELD") {
        return Err(entry.key_error(Problem::Unquoted { right }));
    }
    let pattern = pattern::parse(entry.key).map_err(|problem| entry.key_error(or_setting(entry, problem)))?;
    let table = match entry.value.get_ref() {
        DeValue::Table(_) => entry.table(format!("\"{}\"", entry.key))?.known("gate.FIELD")?,
        _ => return Err(entry.wrong("a table such as { max_increase = \"10%\" }")),
    };
    table.exclusive("max_increase", "max_decrease", "one metric gets worse in one direction alone")?;
    let mut rule = Rule {
        gate: None,
        allowance: None,
        min_change: None,
        max: None,
        min: None,
        fail_if_reversed: None,
        origin: entry.place().into(),
        pattern,
    };
    for key in table.entries() {
        set(&mut rule, key)?;
    }
    if table.entries().next().is_none() {
        let (field, forms) = (rule.pattern.to_string(), change_forms(&rule));
        return Err(entry.key_error(Problem::Nothing { field, forms }));
    }
    // A limit for some groups turns them on again where a wider rule turned all of them off.
    if rule.gate.is_none() && limits(&rule) {
        rule.gate = Some(true);
    }
    match table.entries().find(|key| key.key != "gate") {
        Some(other) if rule.gate == Some(false) => Err(other
            .key_error(Problem::OffWithLimit { field: rule.pattern.to_string(), key: other.key.to_owned() })),
        _ => Ok(rule),
    }
}

fn set(rule: &mut Rule, key: &Entry<'_>) -> Result<(), ConfigError> {
    let (field, metric) = (rule.pattern.to_string(), rule.pattern.metric.clone());
    let lower = metric.direction() == Direction::LowerIsBetter;
    let side = |right_for_lower: bool, right: &'static str| match lower == right_for_lower {
        true => Ok(()),
        false => Err(key.key_error(Problem::WrongSide {
            key: key.key.to_owned(),
            metric: metric.to_string(),
            direction: metric.direction().words(),
            right,
        })),
    };
    match key.key {
        "max_increase" => {
            side(true, "max_decrease")?;
            rule.allowance = Some(amount::change(key, &field, &metric)?);
        }
        "max_decrease" => {
            side(false, "max_increase")?;
            rule.allowance = Some(amount::change(key, &field, &metric)?);
        }
        "max" => {
            side(true, "min")?;
            rule.max = Some(amount::value(key, &field, &metric, Slot::Bound)?);
        }
        "min" => {
            side(false, "max")?;
            rule.min = Some(amount::value(key, &field, &metric, Slot::Bound)?);
        }
        "min_change" if matches!(metric.unit(), Unit::Fraction | Unit::Ratio) => {
            let why = format!("{metric} is judged by its limit alone and has no min_change; remove it");
            return Err(key.key_error(Problem::NoEffect { key: key.key.to_owned(), field, why }));
        }
        "min_change" => rule.min_change = Some(amount::value(key, &field, &metric, Slot::Floor)?),
        "direction" if metric.unit() == Unit::Ratio => {
            let words = [("fail-if-reversed", true), ("may-reverse", false)];
            rule.fail_if_reversed = Some(key.word("direction", &words)?);
        }
        "direction" => {
            return Err(key.key_error(Problem::Pattern {
                pattern: field,
                why: format!("direction is for speedup_vs_baseline; {metric} has its direction by itself"),
            }));
        }
        _ => rule.gate = Some(key.boolean()?),
    }
    Ok(())
}

/// `ttft.p95 = { … }` without quotes is a table in a table to TOML.
///
/// `table` has the keys that a field's own table may hold: some are named like statistics, such as `max`.
pub(super) fn split_by_dots(entry: &Entry<'_>, table: &str) -> Option<String> {
    let DeValue::Table(inside) = entry.value.get_ref() else { return None };
    let (inner, _) = inside.iter().find(|(key, _)| key.get_ref().parse::<Statistic>().is_ok())?;
    let is_key = keys::of(table).any(|key| key == inner.get_ref());
    (!is_key).then(|| format!("{}.{}", entry.key, inner.get_ref()))
}

/// A key that is neither a field nor a setting is more often a setting with a slip in it.
fn or_setting(entry: &Entry<'_>, problem: Problem) -> Problem {
    let settings = || keys::of("gate").filter(|key| *key != "\"FIELD\"");
    match problem {
        Problem::UnknownMetric { nearest: None, .. } if !entry.key.contains(['.', ':']) => {
            match nearest(entry.key, settings()) {
                None => problem,
                near => Problem::UnknownKey {
                    key: entry.key.to_owned(),
                    table: "[gate]".to_owned(),
                    nearest: near,
                    known: settings().map(str::to_owned).collect(),
                },
            }
        }
        problem => problem,
    }
}

/// Reads `[[waiver]]`.
pub(super) fn waivers(entry: &Entry<'_>) -> Result<Vec<Waiver>, ConfigError> {
    let DeValue::Array(items) = entry.value.get_ref() else {
        return Err(entry.key_error(Problem::Wrong {
            key: "waiver".to_owned(),
            found: "a single table".to_owned(),
            expected: "[[waiver]] with two brackets".to_owned(),
        }));
    };
    let mut waivers: Vec<Waiver> = Vec::new();
    for item in items.iter() {
        let item = Entry { value: item, at: item.span().start, ..*entry };
        let table = item.table("[[waiver]]".to_owned())?.known("waiver")?;
        let waiver = waiver(&table)?;
        if waivers.iter().any(|other| other.pattern == waiver.pattern) {
            let name = waiver.pattern.to_string();
            return Err(table.error(Problem::Twice { key: "waiver".to_owned(), name }));
        }
        waivers.push(waiver);
    }
    Ok(waivers)
}

fn waiver(table: &Table<'_>) -> Result<Waiver, ConfigError> {
    const FIELD: &str = "say which field may be worse, such as field = \"int8_quant/rag/c32:ttft.p95\"";
    const LIMIT: &str = "say how much worse it may be, such as limit = \"+25%\"";
    const REASON: &str = "say why, such as reason = \"TEAM-123\"";
    const UNTIL: &str = "say until when, such as until = 2026-03-01";
    let field = table.get("field").ok_or_else(|| table.missing("field", FIELD))?;
    let pattern = field_pattern(field)?;
    let limit = table.get("limit").ok_or_else(|| table.missing("limit", LIMIT))?;
    let allowance = amount::change(limit, &pattern.to_string(), &pattern.metric)?;
    let reason = table.get("reason").ok_or_else(|| table.missing("reason", REASON))?;
    let until = table.get("until").ok_or_else(|| table.missing("until", UNTIL))?;
    Ok(Waiver {
        allowance,
        reason: reason.string("why it may be worse, such as \"TEAM-123\"")?.to_owned(),
        until: date(until)?,
        origin: field.source.place(table.at).into(),
        pattern,
    })
}

fn field_pattern(field: &Entry<'_>) -> Result<FieldPattern, ConfigError> {
    let text = field.string("a field such as \"int8_quant/rag/c32:ttft.p95\"")?;
    pattern::parse(text).map_err(|problem| field.value_error(problem))
}

/// A local date. A date-time would say less than it seems to: the hour of which time zone?
fn date(until: &Entry<'_>) -> Result<time::Date, ConfigError> {
    let refuse = |day: &str| until.wrong(format!("a date without quotes and without a time: until = {day}"));
    let DeValue::Datetime(stamp) = until.value.get_ref() else {
        let text = until.written();
        let day = text.trim_matches(['"', '\'']).get(..10).filter(|day| is_day(day)).unwrap_or("2026-03-01");
        return Err(refuse(day));
    };
    let Some(date) = stamp.date else { return Err(refuse("2026-03-01")) };
    if stamp.time.is_some() {
        return Err(refuse(&date.to_string()));
    }
    time::Month::try_from(date.month)
        .and_then(|month| time::Date::from_calendar_date(i32::from(date.year), month, date.day))
        .map_err(|_| refuse("2026-03-01"))
}

fn is_day(text: &str) -> bool {
    let shape =
        text.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    shape && text.len() == 10
}

/// The refusal of a rule for a field that nothing limits.
pub(super) fn no_limit(rule: &Rule) -> ConfigError {
    let place = match &rule.origin {
        Origin::File { path, line, column } => {
            super::Place { path: path.clone(), line: *line, column: *column }
        }
        other => super::Place { path: other.to_string(), line: 1, column: 1 },
    };
    let problem = Problem::NoLimit { field: rule.pattern.to_string(), forms: change_forms(rule) };
    ConfigError { place, problem: Box::new(problem) }
}

/// How a limit of this rule's field is written.
fn change_forms(rule: &Rule) -> String {
    let metric = &rule.pattern.metric;
    let key = match metric.direction() {
        Direction::HigherIsBetter => "max_decrease",
        Direction::LowerIsBetter | Direction::Unknown => "max_increase",
    };
    format!("{key} = {}", amount::forms(Slot::Change, metric.unit()))
}

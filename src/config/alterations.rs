//! What a change alters in its own limits, in lines for the first thing that every output says.

use crate::model::policy::{Decide, FieldPattern, OnUnresolved, Origin, Rule, SelfBless, Waiver, trimmed};
use crate::model::{Direction, Finite};

use super::gate::{Gate, Setting};
use super::{Config, defaults};

/// One line per limit, setting or waiver that `new` has otherwise than `old`; none where both say the same.
///
/// What the built-in rules say counts as written: a first rule for a field shows what it replaces.
#[must_use]
pub fn alterations(old: &Config, new: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    if old.default != new.default {
        let name = |config: &Config| config.default.clone().unwrap_or_else(|| "none".to_owned());
        lines.push(format!("default profile: {} \u{2192} {}", name(old), name(new)));
    }
    gates(&mut lines, "", &with_defaults(&old.gate), &with_defaults(&new.gate));
    let names: std::collections::BTreeSet<&String> = old.profiles.keys().chain(new.profiles.keys()).collect();
    for name in names {
        match (old.profiles.get(name), new.profiles.get(name)) {
            (Some(old), Some(new)) => gates(&mut lines, &format!("{name}: "), &old.gate, &new.gate),
            (Some(_), None) => lines.push(format!("profile {name} is removed")),
            (None, Some(new)) => gates(&mut lines, &format!("{name}: "), &Gate::default(), &new.gate),
            (None, None) => {}
        }
    }
    waivers(&mut lines, &old.waivers, &new.waivers);
    for (name, mapping) in &old.mappings {
        match new.mappings.get(name) {
            None => lines.push(format!("mapping generic.{name} is removed")),
            Some(new) if new != mapping => {
                lines.push(format!("mapping generic.{name} reads other numbers than before"));
            }
            Some(_) => {}
        }
    }
    lines
}

fn with_defaults(gate: &Gate) -> Gate {
    let built_in = defaults::RULES.iter().map(defaults::DefaultRule::rule).collect();
    Gate { rules: built_in, ..Gate::default() }.under(gate)
}

fn gates(lines: &mut Vec<String>, scope: &str, old: &Gate, new: &Gate) {
    let mut patterns: Vec<&FieldPattern> = Vec::new();
    for rule in old.rules.iter().chain(&new.rules) {
        if !patterns.contains(&&rule.pattern) {
            patterns.push(&rule.pattern);
        }
    }
    for pattern in patterns {
        let of = |gate: &Gate, key| key_of(gate, pattern, key);
        for key in RULE_KEYS {
            let what = format!("{scope}{pattern} {}", key_name(pattern, key));
            let absent = if matches!(key, RuleKey::Gate) { "on" } else { "none" };
            line(lines, &what, absent, of(old, key), of(new, key));
        }
    }
    let share = |s: &Option<Setting<Finite>>| shown(s, |v| format!("{} %", trimmed(v.get() * 100.0)));
    let mut setting = |key: &str, old, new| line(lines, &format!("{scope}{key}"), "default", old, new);
    setting("run_noise", share(&old.run_noise), share(&new.run_noise));
    setting("decide", shown(&old.decide, decide), shown(&new.decide, decide));
    setting("blind_above", share(&old.blind_above), share(&new.blind_above));
    setting("unresolved", shown(&old.unresolved, unresolved), shown(&new.unresolved, unresolved));
    setting("self_bless", shown(&old.self_bless, self_bless), shown(&new.self_bless, self_bless));
    setting("max_drift", share(&old.max_drift), share(&new.max_drift));
}

type Shown = Option<(String, Origin)>;

fn shown<T: Copy>(setting: &Option<Setting<T>>, words: impl Fn(T) -> String) -> Shown {
    setting.as_ref().map(|setting| (words(setting.value), setting.origin.clone()))
}

/// `ttft.p95 max_increase: 10 % (built-in default) -> 20 % (pacegate.toml:14:1)`.
fn line(lines: &mut Vec<String>, what: &str, absent: &str, old: Shown, new: Shown) {
    let value = |shown: &Shown| shown.as_ref().map(|(text, _)| text.clone());
    if value(&old) == value(&new) {
        return;
    }
    let text =
        |shown: Shown| shown.map_or_else(|| absent.to_owned(), |(text, origin)| format!("{text} ({origin})"));
    lines.push(format!("{what}: {} \u{2192} {}", text(old), text(new)));
}

fn decide(value: Decide) -> String {
    match value {
        Decide::Auto => "auto",
        Decide::Evidence => "evidence",
        Decide::Limits => "limits",
    }
    .to_owned()
}

fn unresolved(value: OnUnresolved) -> String {
    match value {
        OnUnresolved::Pass => "pass",
        OnUnresolved::Fail => "fail",
    }
    .to_owned()
}

fn self_bless(value: SelfBless) -> String {
    match value {
        SelfBless::Say => "say",
        SelfBless::Fail => "fail",
    }
    .to_owned()
}

/// A key of a rule.
#[derive(Clone, Copy)]
enum RuleKey {
    Gate,
    Limit,
    MinChange,
    Max,
    Min,
    Direction,
}

const RULE_KEYS: [RuleKey; 6] =
    [RuleKey::Gate, RuleKey::Limit, RuleKey::MinChange, RuleKey::Max, RuleKey::Min, RuleKey::Direction];

fn key_name(pattern: &FieldPattern, key: RuleKey) -> &'static str {
    match (key, pattern.metric.direction()) {
        (RuleKey::Gate, _) => "gate",
        (RuleKey::Limit, Direction::HigherIsBetter) => "max_decrease",
        (RuleKey::Limit, _) => "max_increase",
        (RuleKey::MinChange, _) => "min_change",
        (RuleKey::Max, _) => "max",
        (RuleKey::Min, _) => "min",
        (RuleKey::Direction, _) => "direction",
    }
}

fn key_of(gate: &Gate, pattern: &FieldPattern, key: RuleKey) -> Shown {
    let unit = pattern.metric.unit();
    let text = |rule: &Rule| match key {
        RuleKey::Gate => rule.gate.filter(|on| !on).map(|_| "off".to_owned()),
        RuleKey::Limit => rule.allowance.map(|allowance| defaults::allowance(allowance, unit)),
        RuleKey::MinChange => rule.min_change.map(|value| defaults::amount(value, unit)),
        RuleKey::Max => rule.max.map(|value| defaults::bound(value, unit)),
        RuleKey::Min => rule.min.map(|value| defaults::bound(value, unit)),
        RuleKey::Direction => {
            rule.fail_if_reversed.map(|on| if on { "fail-if-reversed" } else { "may-reverse" }.to_owned())
        }
    };
    let rules = gate.rules.iter().filter(|rule| rule.pattern == *pattern);
    rules.filter_map(|rule| text(rule).map(|text| (text, rule.origin.clone()))).next_back()
}

fn waivers(lines: &mut Vec<String>, old: &[Waiver], new: &[Waiver]) {
    let words = |waiver: &Waiver| {
        let limit = waiver.allowance.signed(waiver.pattern.metric.direction(), waiver.pattern.metric.unit());
        format!("{limit} until {}", waiver.until)
    };
    for waiver in new {
        let Waiver { pattern, reason, origin, .. } = waiver;
        match old.iter().find(|old| old.pattern == *pattern) {
            None => lines.push(format!("waiver added: {pattern} {} ({origin}): {reason}", words(waiver))),
            Some(old) if words(old) != words(waiver) => lines.push(format!(
                "waiver changed: {pattern} {} \u{2192} {} ({origin}): {reason}",
                words(old),
                words(waiver)
            )),
            Some(_) => {}
        }
    }
    for waiver in old.iter().filter(|old| !new.iter().any(|new| new.pattern == old.pattern)) {
        lines.push(format!("waiver removed: {} {}", waiver.pattern, words(waiver)));
    }
}

//! A verdict with a stranger's text in every place that one can reach.

use std::collections::BTreeMap;

use pacegate::model::policy::{Allowance, Origin};
use pacegate::model::reason::OwnBaseline;
use pacegate::model::*;

use crate::samples::{self, f, field, finding, group, put};

/// Every string that was meant to break some place.
pub fn attacks() -> Vec<String> {
    let by_place: BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("../data/escapers/attacks.json")).unwrap();
    let attacks: Vec<String> = by_place.into_values().flatten().collect();
    assert!(attacks.len() > 120, "{} attacks", attacks.len());
    attacks
}

/// `attack` in every place of a verdict that text from outside can reach, the profile's name apart.
pub fn poisoned(attack: &str) -> Verdict {
    let mut v = samples::success_dropped();
    let text = || attack.to_owned();
    v.candidate.model = Some(text());
    v.candidate.format = Some(text());
    v.candidate.files = vec![text(), text()];
    v.reproduce = Some(text());
    if let Some(baseline) = &mut v.baseline {
        (baseline.path, baseline.model) = (text(), Some(text()));
        (baseline.commit, baseline.digest) = (Some(text()), text());
    }
    let origin = || Origin::File { path: text(), line: 7, column: 1 };
    v.alterations = vec![
        Reason::BaselineAltered { path: text(), git_ref: text(), own: OwnBaseline::Followed(text()) },
        Reason::LimitsAltered { path: text(), git_ref: text(), lines: vec![text()] },
    ];
    v.problems = vec![
        Reason::NoBaseline { path: text(), bless: text() },
        Reason::RuleMatchesNothing { pattern: text(), origin: origin(), nearest: None },
        Reason::Incomplete { job: text() },
        differs(attack),
    ];
    v.what_changed = vec![Reason::ParameterChanged { name: text(), old: Some(text()), new: Some(text()) }];
    v.notes = vec![
        Reason::SourceSays { text: text() },
        Reason::WaiverExpired {
            pattern: "chat/**:e2e.p95".to_owned(),
            why: text(),
            until: time::macros::date!(2026 - 06 - 01),
            origin: origin(),
        },
        Reason::WaiverUnused { pattern: "chat/c1:ttft.p50".to_owned(), origin: origin(), nearest: None },
    ];
    put(&mut v, waived("chat/c1:e2e.p95", attack));
    let mut over = finding("chat/c8:e2e.p95", Judgement::Regressed, Some(2980.5), Some(3300.0));
    over.reasons = vec![Reason::OverMax {
        field: over.field.clone(),
        value: Quantity { value: f(3300.0), unit: Unit::Millisecond },
        max: f(3000.0),
        origin: origin(),
    }];
    put(&mut v, over);
    let mut limited = finding("chat/c8:tpot.p95", Judgement::Regressed, Some(10.0), Some(12.0));
    if let Some(tolerance) = &mut limited.tolerance {
        tolerance.origin = origin();
    }
    put(&mut v, limited);
    v
}

fn differs(attack: &str) -> Reason {
    Reason::Differs {
        fact: Fact::Model,
        group: Some(group("chat/c1")),
        old: attack.to_owned(),
        new: attack.to_owned(),
        allowed: false,
    }
}

fn waived(name: &str, why: &str) -> Finding {
    let mut waived = finding(name, Judgement::Waived, Some(2980.5), Some(3401.2));
    waived.reasons = vec![Reason::Waived {
        field: field(name),
        change: waived.change().unwrap(),
        allowance: Allowance::Relative(f(0.25)),
        why: why.to_owned(),
        until: time::macros::date!(2026 - 06 - 01),
    }];
    waived
}

/// One verdict that holds all attacks at once, for readers that are not ours.
pub fn hostile() -> Verdict {
    let attacks = attacks();
    let mut v = poisoned(&attacks.concat());
    v.what_changed = attacks
        .iter()
        .map(|attack| Reason::ParameterChanged { name: attack.clone(), old: None, new: Some(attack.clone()) })
        .collect();
    v.notes = attacks.iter().map(|attack| Reason::SourceSays { text: attack.clone() }).collect();
    v.problems.extend(attacks.iter().map(|attack| differs(attack)));
    for (at, attack) in attacks.iter().enumerate() {
        put(&mut v, waived(&format!("chat/c{at}:ttft.p90"), attack));
    }
    v
}

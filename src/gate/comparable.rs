//! Do both sides mean the same? Per group, so that an added level is new and not a refusal.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::reason::Side;
use crate::model::{Baseline, Fact, GroupId, Reason, Report, Severity};

/// How the two sides relate.
#[derive(Debug, Default)]
pub(super) struct Comparability {
    /// Why no group can be compared.
    pub run: Vec<Reason>,
    /// Why a group can't be compared.
    pub groups: BTreeMap<GroupId, Vec<Reason>>,
    /// Differences that the command line allows, and were there.
    pub allowed: BTreeSet<Fact>,
    /// Said, and decides nothing.
    pub notes: Vec<Reason>,
    /// The subject's own differences.
    pub changed: Vec<Reason>,
}

/// Facts of which a report without them is worth a word.
const EXPECTED: [Fact; 2] = [Fact::Model, Fact::Server];

pub(super) fn compare(baseline: &Baseline, candidate: &Report, allowed: &[Fact]) -> Comparability {
    let mut found = Comparability::default();
    let mut seen = BTreeSet::new();
    for blessed in &baseline.reports {
        for fact in [Fact::Model, Fact::Server, Fact::Tool, Fact::ToolVersion, Fact::Client] {
            let (old, new) = (of_report(blessed, fact), of_report(candidate, fact));
            if seen.insert((None, fact, old.clone())) {
                note(&mut found, fact, None, (old, new), allowed);
            }
        }
        for (group, old) in &blessed.profile.workloads {
            let Some(new) = candidate.profile.workloads.get(group) else { continue };
            let facts: BTreeSet<Fact> = old.keys().chain(new.keys()).copied().collect();
            for fact in facts {
                let values = (old.get(&fact).cloned(), new.get(&fact).cloned());
                if seen.insert((Some(group.clone()), fact, values.0.clone())) {
                    note(&mut found, fact, Some(group), values, allowed);
                }
            }
        }
    }
    if let Some(last) = baseline.reports.last() {
        found.changed = changes(last, candidate);
    }
    found
}

/// One fact that both, one or neither side has.
fn note(
    found: &mut Comparability,
    fact: Fact,
    group: Option<&GroupId>,
    values: (Option<String>, Option<String>),
    allowed: &[Fact],
) {
    let (old, new) = match values {
        (Some(old), Some(new)) => (old, new),
        (old, new) => {
            let said = EXPECTED.contains(&fact) || (group.is_some() && fact.severity() == Severity::Refused);
            let side = match (&old, &new) {
                (None, None) => None,
                (None, Some(_)) => Some(Side::Blessed),
                (Some(_), _) => Some(Side::Candidate),
            };
            if said {
                not_recorded(found, fact, side);
            }
            return;
        }
    };
    if old == new {
        return;
    }
    let is_allowed = allowed.contains(&fact);
    let reason = Reason::Differs { fact, group: group.cloned(), old, new, allowed: is_allowed };
    match (fact.severity(), group) {
        (Severity::Refused, _) if is_allowed => {
            found.allowed.insert(fact);
            found.notes.push(reason);
        }
        (Severity::Refused, None) => found.run.push(reason),
        (Severity::Refused, Some(id)) => found.groups.entry(id.clone()).or_default().push(reason),
        (Severity::Warned, _) => found.notes.push(reason),
        (Severity::Changed, _) => found.changed.push(reason),
    }
}

/// One note a side, naming all facts that are not recorded there.
fn not_recorded(found: &mut Comparability, fact: Fact, side: Option<Side>) {
    let same = found.notes.iter_mut().find_map(|note| match note {
        Reason::NotRecorded { facts, side: of } if *of == side => Some(facts),
        _ => None,
    });
    match same {
        Some(facts) if facts.contains(&fact) => {}
        Some(facts) => facts.push(fact),
        None => found.notes.push(Reason::NotRecorded { facts: vec![fact], side }),
    }
}

/// What a report says of a fact that is the same for all its groups.
fn of_report(report: &Report, fact: Fact) -> Option<String> {
    let client = &report.client;
    let embedded = report.source.kind == crate::model::report::SourceKind::Simulate;
    match fact {
        Fact::Model => report.subject.model.clone(),
        // It has none, so nothing is left out of the record.
        Fact::Server if embedded => Some("none".to_owned()),
        Fact::Server => report.subject.server_hardware.clone(),
        Fact::Tool => Some(
            report
                .source
                .format
                .clone()
                .unwrap_or_else(|| if embedded { "the embedded engine" } else { "pacegate" }.to_owned()),
        ),
        Fact::ToolVersion => report.source.format_version.clone(),
        Fact::Client => {
            let cores = client.cores.map(|cores| format!("{cores} cores"));
            let parts: Vec<String> =
                [client.cpu.clone(), cores, client.os.clone()].into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join(", "))
        }
        Fact::Traffic
        | Fact::Prompts
        | Fact::PromptTokens
        | Fact::Concurrency
        | Fact::Rate
        | Fact::OutputLimit
        | Fact::Sampling
        | Fact::CacheMode
        | Fact::Definition
        | Fact::PercentileDefinition
        | Fact::Requests
        | Fact::OutputTokens
        | Fact::Engine => None,
    }
}

/// What is different about the subject: that is what the gate is for.
fn changes(old: &Report, new: &Report) -> Vec<Reason> {
    let mut changes = Vec::new();
    let mut push = |name: &str, old: Option<&String>, new: Option<&String>| {
        if old != new {
            changes.push(Reason::ParameterChanged {
                name: name.to_owned(),
                old: old.cloned(),
                new: new.cloned(),
            });
        }
    };
    // What only one side recorded says nothing about a change; a parameter that went away does.
    for (name, old, new) in [
        ("commit", &old.code.commit, &new.code.commit),
        ("engine", &old.subject.engine, &new.subject.engine),
        ("engine_version", &old.subject.engine_version, &new.subject.engine_version),
    ] {
        if old.is_some() && new.is_some() {
            push(name, old.as_ref(), new.as_ref());
        }
    }
    let names: BTreeSet<&String> =
        old.subject.parameters.keys().chain(new.subject.parameters.keys()).collect();
    for name in names {
        push(name, old.subject.parameters.get(name), new.subject.parameters.get(name));
    }
    changes
}

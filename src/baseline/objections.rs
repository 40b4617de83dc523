//! What a verdict says against blessing the report that it judged.

use std::collections::BTreeSet;

use crate::model::{Fact, GroupId, Judgement, Outcome, Reason, Severity, Verdict};

/// What stands against a bless, by what it takes to get over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objections {
    /// The numbers can't be right, or nothing was measured: never blessed.
    pub invalid: Vec<Reason>,
    /// Both sides do not mean the same: such a job can't be added; replacing begins anew.
    pub incomparable: Vec<Reason>,
    /// The groups that this is about.
    pub incomparable_groups: BTreeSet<GroupId>,
    /// Nothing is comparable, whatever the group.
    pub all_incomparable: bool,
    /// It got worse, or is no longer watched: needs a reason.
    pub worse: Vec<Reason>,
    /// Too good: needs a reason.
    pub suspicious: Vec<Reason>,
}

impl Objections {
    /// Sorts what a verdict says.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Objections {
        let mut found = Objections::default();
        for reason in verdict.problems.iter().chain(&verdict.notes) {
            found.sort(reason);
        }
        for finding in &verdict.findings {
            for reason in finding.reasons.iter().filter(|reason| is_difference(reason)) {
                found.incomparable.push(reason.clone());
                found.incomparable_groups.insert(finding.field.group.clone());
            }
            let first = finding.reasons.first().cloned();
            match finding.judgement {
                Judgement::Regressed if matches!(first, Some(Reason::NoSuccess { .. })) => {
                    found.invalid.extend(first);
                }
                Judgement::Regressed | Judgement::Unresolved | Judgement::Missing | Judgement::Waived
                    if finding.gated =>
                {
                    found.worse.extend(first);
                }
                _ => {}
            }
        }
        let causes = verdict.causes.iter().filter(|cause| cause.regressed);
        found.worse.extend(causes.map(|cause| cause.sentence.clone()));
        if verdict.outcome == Outcome::RunFailed && found.invalid.is_empty() {
            found.invalid.extend(verdict.problems.first().cloned());
        }
        // A group that is invalid says so in each of its fields.
        for reasons in [&mut found.invalid, &mut found.incomparable, &mut found.worse, &mut found.suspicious]
        {
            *reasons = once(reasons.drain(..));
        }
        found
    }

    /// Gated fields of which the numbers can't be right: of a report held against itself, it is the report's fault.
    #[must_use]
    pub fn impossible(sight: &Verdict) -> Vec<Reason> {
        let invalid = sight.with(Judgement::Invalid).filter(|finding| finding.gated);
        let first = invalid.filter_map(|finding| finding.reasons.first().cloned());
        first.filter(|reason| !matches!(reason, Reason::LimitOutOfReach { .. })).collect()
    }

    fn sort(&mut self, reason: &Reason) {
        match reason {
            Reason::CountsDontAddUp { .. }
            | Reason::NoTokens { .. }
            | Reason::AllFailed { .. }
            | Reason::NothingSent
            | Reason::BadLatency { .. }
            | Reason::Incomplete { .. }
            | Reason::NoSuccess { .. }
            | Reason::OutOfOrder { .. }
            | Reason::LostInRound { .. }
            | Reason::SpeedupSwapped { .. }
            | Reason::SpeedupDefault { .. }
            | Reason::ClientBottleneck { .. } => self.invalid.push(reason.clone()),
            Reason::NothingInCommon { .. } => {
                self.incomparable.push(reason.clone());
                self.all_incomparable = true;
            }
            Reason::Differs { group, .. } if is_difference(reason) => {
                self.incomparable.push(reason.clone());
                match group {
                    Some(group) => {
                        self.incomparable_groups.insert(group.clone());
                    }
                    None => self.all_incomparable = true,
                }
            }
            Reason::Suspicious { .. } => self.suspicious.push(reason.clone()),
            _ => {}
        }
    }
}

/// Each reason the first time that it is given.
pub(super) fn once(reasons: impl Iterator<Item = Reason>) -> Vec<Reason> {
    let mut seen: Vec<Reason> = Vec::new();
    for reason in reasons {
        if !seen.contains(&reason) {
            seen.push(reason);
        }
    }
    seen
}

/// Answers of another length make single fields incomparable in one comparison, not the workload.
fn is_difference(reason: &Reason) -> bool {
    matches!(reason, Reason::Differs { fact, allowed: false, .. }
        if fact.severity() == Severity::Refused && *fact != Fact::OutputTokens)
}

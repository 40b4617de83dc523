//! Exceptions with a date. A waiver covers a regression up to its own limit, never a missing or invalid field.

use time::Date;

use crate::model::finding::Change;
use crate::model::policy::{Allowance, Waiver};
use crate::model::{Direction, Finding, Judgement, Reason};

use super::rules;

/// Days before the end in which a waiver is warned about.
const WARN_DAYS: i64 = 7;

/// Applies the waivers to the findings; says which ended, end soon or cover nothing.
pub(super) fn apply(findings: &mut [Finding], waivers: &[Waiver], today: Date) -> Vec<Reason> {
    let mut notes = Vec::new();
    for waiver in waivers {
        let pattern = waiver.pattern.to_string();
        let left = (waiver.until - today).whole_days();
        if left < 0 {
            notes.push(Reason::WaiverExpired {
                pattern,
                why: waiver.reason.clone(),
                until: waiver.until,
                origin: waiver.origin.clone(),
            });
            continue;
        }
        let beyond =
            findings.iter().filter(|f| waiver.pattern.matches(&f.field)).find_map(|f| exceeded(f, waiver));
        let covered = findings.iter_mut().filter(|finding| waiver.pattern.matches(&finding.field));
        let mut used = false;
        for finding in covered {
            used |= cover(finding, waiver);
        }
        if let Some(reason) = beyond {
            notes.push(reason);
        } else if !used {
            notes.push(unused(waiver, findings));
        }
        if left <= WARN_DAYS {
            let why = waiver.reason.clone();
            notes.push(Reason::WaiverExpiresSoon { pattern, why, until: waiver.until, days: left });
        }
    }
    notes
}

fn unused(waiver: &Waiver, findings: &[Finding]) -> Reason {
    let fields = findings.iter().map(|finding| &finding.field);
    let nearest = match fields.clone().any(|field| waiver.pattern.matches(field)) {
        true => None,
        false => rules::nearest(&waiver.pattern, fields),
    };
    Reason::WaiverUnused { pattern: waiver.pattern.to_string(), origin: waiver.origin.clone(), nearest }
}

/// A regression that is worse than its waiver allows.
fn exceeded(finding: &Finding, waiver: &Waiver) -> Option<Reason> {
    let change = finding.change().filter(|change| !within(change, waiver.allowance))?;
    (finding.judgement == Judgement::Regressed).then(|| Reason::WaiverExceeded {
        field: finding.field.clone(),
        change,
        allowance: waiver.allowance,
        origin: waiver.origin.clone(),
    })
}

fn cover(finding: &mut Finding, waiver: &Waiver) -> bool {
    let absolute = |reason: &Reason| matches!(reason, Reason::OverMax { .. } | Reason::UnderMin { .. });
    let worse_than_change = finding.reasons.iter().any(absolute);
    let open =
        matches!(finding.judgement, Judgement::Regressed | Judgement::Unresolved) && !worse_than_change;
    let Some(change) = finding.change().filter(|change| open && within(change, waiver.allowance)) else {
        return false;
    };
    finding.judgement = Judgement::Waived;
    finding.reasons.clear();
    finding.reasons.push(Reason::Waived {
        field: finding.field.clone(),
        change,
        allowance: waiver.allowance,
        why: waiver.reason.clone(),
        until: waiver.until,
    });
    true
}

fn within(change: &Change, allowance: Allowance) -> bool {
    let worse = match change.direction {
        Direction::LowerIsBetter => change.new.get() - change.old.get(),
        Direction::HigherIsBetter => change.old.get() - change.new.get(),
        Direction::Unknown => return false,
    };
    let allowed = match allowance {
        Allowance::Relative(share) => share.get() * change.old.get().abs(),
        Allowance::Points(value) | Allowance::Absolute(value) => value.get(),
    };
    worse <= allowed + crate::stats::constants::EPSILON * change.old.get().abs().max(1.0)
}

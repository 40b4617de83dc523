//! The comparison as a whole.

use crate::model::fact::{Fact, Severity};
use crate::model::field::FieldId;
use crate::model::finding::Change;
use crate::model::group::GroupId;
use crate::model::metric::Metric;
use crate::model::policy::Origin;
use crate::model::quantity::Finite;
use crate::model::reason::{OwnBaseline, Side};
use crate::model::sentence::Sentence;

use super::parts::{plus, side_words};
use super::row;

pub fn no_baseline(path: &str, bless: &str) -> Sentence {
    Sentence::default()
        .own("there is no blessed baseline at ")
        .foreign(path)
        .own(", so nothing was compared. When these numbers are good, bless them: ")
        .foreign(bless)
}

pub fn nothing_in_common(old: &[GroupId], new: &[GroupId]) -> Sentence {
    Sentence::default().own(format!(
        "the blessed baseline and this report have no group in common: blessed {}; now {}",
        list(old),
        list(new)
    ))
}

pub fn one_dimension(what: &str, old: &[String], new: &[String]) -> Sentence {
    Sentence::default().own(format!(
        "no group is on both sides, they differ in {what}: blessed {}, now {}; not comparable. Measure the same, or bless anew",
        old.join(", "),
        new.join(", ")
    ))
}

pub fn old_baseline(days: i64) -> Sentence {
    Sentence::default().own(format!(
        "the baseline was blessed {days} days ago: runners, drivers and traffic have changed since; bless a fresh one when these numbers are good"
    ))
}

pub fn nothing_compared() -> Sentence {
    Sentence::default().own("no gated field could be compared, and that is never a pass")
}

pub fn differs(fact: Fact, group: &Option<GroupId>, old: &str, new: &str, allowed: bool) -> Sentence {
    Sentence::default()
        .own(format!(
            "{} differs{}: blessed ",
            fact.what(),
            group.as_ref().map(|g| format!(" for {g}")).unwrap_or_default()
        ))
        .foreign(old)
        .own(", now ")
        .foreign(new)
        .own(differs_end(fact, allowed))
}

pub fn not_recorded(facts: &[Fact], side: Option<Side>) -> Sentence {
    Sentence::default().own(format!(
        "not recorded {}, so not compared: {}",
        side.map_or("on either side", side_words),
        facts.iter().map(|fact| fact.what()).collect::<Vec<_>>().join(", ")
    ))
}

pub fn parameter_changed(name: &str, old: &Option<String>, new: &Option<String>) -> Sentence {
    let s = Sentence::default();
    let short = |v: &Option<String>| v.as_deref().map(row::short_commit);
    let shorten = name == "commit" && short(old) != short(new);
    let shown = |v: &Option<String>| {
        let value = if shorten { short(v) } else { v.clone() };
        value.unwrap_or_else(|| "not there".to_owned())
    };
    s.foreign(name).own(" changed: ").foreign(shown(old)).own(" \u{2192} ").foreign(shown(new))
}

pub fn rule_matches_nothing(pattern: &str, origin: &Origin, nearest: &Option<String>) -> Sentence {
    Sentence::default()
        .own("the gate rule ")
        .foreign(pattern)
        .own(" at ")
        .foreign(origin.to_string())
        .own(" matches no field, so it can never fail")
        .own(nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default())
}

pub fn not_watched(fields: &[String], hint: &Option<String>) -> Sentence {
    Sentence::default().own(format!(
        "{} {} not in this report, so nothing watches {}{}",
        fields.join(", "),
        if fields.len() == 1 { "is" } else { "are" },
        if fields.len() == 1 { "it" } else { "them" },
        hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default()
    ))
}

pub fn blind(metric: &Metric, resolution: Option<Finite>, above: Finite) -> Sentence {
    Sentence::default().own(format!(
        "the gate is blind for {metric}: in every group {}. Send more requests or rounds, or bless more jobs",
        match resolution {
            Some(share) => format!(
                "the smallest change it could have seen is {}, more than {}",
                plus(share),
                plus(above)
            ),
            None => "no change at all could have failed it".to_owned(),
        }
    ))
}

pub fn drift(field: &FieldId, change: Change, max: Finite, blesses: usize) -> Sentence {
    Sentence::default().own(format!(
            "{} of {} has drifted {} since the pinned first bless ({}, over {blesses} blesses; max_drift is {}): no single bless looked bad, all together do",
            field.local(),
            field.group,
            change.amount(),
            change.values(),
            plus(max)
        ))
}

pub fn baseline_altered(path: &str, git_ref: &str, own: &OwnBaseline) -> Sentence {
    use OwnBaseline::{Copied, Edited, Followed, NoReason, NotAtRef, Removed, Rewritten};
    const BY_REF: &str = "; judged by the copy of that ref, because ";
    let relation = match own {
        Copied | NotAtRef => " is not at ",
        Removed => " was removed and is there at ",
        Followed(_) | NoReason | Edited | Rewritten => " differs from ",
    };
    let s = Sentence::default().own("THIS CHANGE ALTERS ITS OWN BASELINE: ");
    let s = s.foreign(path).own(relation).foreign(git_ref);
    match own {
        Followed(reason) => {
            s.own("; its ledger gives the reason ").foreign(reason).own(", so the new one is judged by")
        }
        NoReason => s.own(BY_REF).own("this change's ledger gives no reason"),
        Edited => s.own(BY_REF).own("this change edited the file and did not bless it"),
        Rewritten => s.own(BY_REF).own("this change rewrote the ledger, which no bless does"),
        Removed => s.own("; judged by the copy of that ref"),
        Copied => s.own(
            "; nothing judges, because its ledger was copied from another baseline of that ref: bless it with --reason TEXT",
        ),
        NotAtRef => s.own(
            "; nothing judges, because its ledger gives no reason: bless it with --reason TEXT, or merge it first",
        ),
    }
}

pub fn limits_altered(path: &str, git_ref: &str, lines: &[String]) -> Sentence {
    Sentence::default()
        .own("THIS CHANGE ALTERS ITS OWN LIMITS: ")
        .foreign(path)
        .own(" differs from ")
        .foreign(git_ref)
        .own(" (judged by the copy of that ref)")
        .own(if lines.is_empty() { "" } else { ": " })
        .foreign(lines.join("; "))
}

pub fn self_bless_refused() -> Sentence {
    Sentence::default().own(
            "self_bless = \"fail\": a change may not alter the baseline or the limits that judge it; merge the new baseline first",
        )
}

fn differs_end(fact: crate::model::fact::Fact, allowed: bool) -> String {
    match (fact.severity(), allowed) {
        (Severity::Refused, true) => format!("; compared all the same because of --allow-different {fact}"),
        (Severity::Refused, false) => {
            format!(
                "; not comparable. Measure the same on both sides, bless anew, or say --allow-different {fact}"
            )
        }
        (Severity::Warned, _) => "; compared all the same".to_owned(),
        (Severity::Changed, _) => String::new(),
    }
}

fn list(groups: &[crate::model::group::GroupId]) -> String {
    const MOST: usize = 6;
    let mut names: Vec<&str> = groups.iter().take(MOST).map(crate::model::group::GroupId::as_str).collect();
    let more = format!("{} more", groups.len().saturating_sub(MOST));
    if groups.len() > MOST {
        names.push(&more);
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

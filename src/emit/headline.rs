//! What stands first in every output: warnings about the verdict itself, then the verdict in one line.

use crate::model::finding::DecidedBy;
use crate::model::reason::Suspicion;
use crate::model::sentence::Sentence;
use crate::model::wording::count;
use crate::model::{Finding, GroupId, Judgement, Metric, Outcome, Reason, Verdict};

/// What every output of the embedded engine says.
pub const SIMULATED: &str = "SIMULATED: no model was measured; these are the embedded engine's numbers";

/// What must be read before the verdict: altered baselines, simulation, a duet, `--report-only`, `--allow-different`.
#[must_use]
pub fn banners(verdict: &Verdict) -> Vec<Sentence> {
    let mut lines: Vec<Sentence> = verdict.alterations.iter().map(|reason| reason.sentence()).collect();
    let mut own = |text: String| lines.push(Sentence::default().own(text));
    if verdict.simulated {
        own(SIMULATED.to_owned());
    }
    if verdict.duet {
        own("DUET: both sides are of this report, measured in turn; \"blessed\" means its other endpoint, and no baseline file was looked at".to_owned());
    }
    if verdict.report_only {
        own("REPORT ONLY: nothing is gated; exit 0 in place of 1, 3 and 4".to_owned());
    }
    if !verdict.allowed.is_empty() {
        let names: Vec<&str> = verdict.allowed.iter().map(|fact| fact.name()).collect();
        own(format!(
            "ALLOWED DIFFERENT: {}; the two sides were compared although they do not measure the same",
            names.join(", ")
        ));
    }
    lines
}

/// The verdict in one line: [`claim`], then the [`chief_reason`].
#[must_use]
pub fn headline(verdict: &Verdict) -> Sentence {
    let start = Sentence::default().own(claim(verdict));
    match chief_reason(verdict) {
        None => start,
        Some(reason) => start.own(": ").then(reason),
    }
}

/// Outcome, counts and tier: `REGRESSION: 2 of 18 required fields got worse; tier single, limits decided`.
#[must_use]
pub fn claim(verdict: &Verdict) -> String {
    let mut parts = vec![counts(verdict)];
    parts.extend(tally(verdict));
    parts.extend(certainty(verdict).filter(|_| judged(verdict)));
    parts.retain(|part| !part.is_empty());
    let parts = parts.join("; ");
    if parts.is_empty() { verdict.outcome.to_string() } else { format!("{}: {parts}", verdict.outcome) }
}

/// Whether anything was compared, so that there is something to be sure or unsure of.
#[must_use]
pub fn judged(verdict: &Verdict) -> bool {
    verdict.counts.compared > 0 && verdict.outcome != Outcome::RunFailed
}

/// What stands in the way, each once: what is said of the whole run is not said of its groups too, and numbers that
/// can't be right are not offered for a bless.
#[must_use]
pub fn problems(verdict: &Verdict) -> Vec<&Reason> {
    let unfit = verdict.problems.iter().any(is_unfit);
    let exact = verdict.problems.iter().any(|reason| matches!(reason, Reason::OneDimension { .. }));
    let shown = |reason: &&Reason| match reason {
        Reason::NoBaseline { .. } => !unfit,
        Reason::NothingInCommon { .. } => !exact,
        _ => true,
    };
    said_of_the_run(&verdict.problems).filter(shown).collect()
}

/// Reasons without those that say of a group what another says of the whole run.
pub fn said_of_the_run(reasons: &[Reason]) -> impl Iterator<Item = &Reason> {
    let of_run = |reason: &Reason| {
        match reason {
        Reason::Differs { fact, group: Some(_), old, new, .. } => reasons.iter().any(|other| {
            matches!(other, Reason::Differs { fact: f, group: None, old: o, new: n, .. } if (f, o, n) == (fact, old, new))
        }),
        _ => false,
    }
    };
    reasons.iter().filter(move |reason| !of_run(reason))
}

/// Numbers that no comparison and no bless can use.
#[must_use]
pub fn is_unfit(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Incomplete { .. }
            | Reason::CountsDontAddUp { .. }
            | Reason::NoTokens { .. }
            | Reason::BadLatency { .. }
            | Reason::OutOfOrder { .. }
            | Reason::ClientBottleneck { .. }
            | Reason::AllFailed { .. }
            | Reason::NothingSent
    )
}

/// Whether the two sides have no group in common, so that every field is missing for one reason.
#[must_use]
pub fn nothing_in_common(verdict: &Verdict) -> bool {
    verdict.problems.iter().any(|reason| matches!(reason, Reason::NothingInCommon { .. }))
}

/// Whether a problem of the whole run already says what this field would.
#[must_use]
pub fn said_by_a_problem(verdict: &Verdict, finding: &Finding) -> bool {
    let everything = |reason: &Reason| match reason {
        Reason::AllFailed { .. } | Reason::NothingSent => true,
        Reason::NothingInCommon { .. } => finding.judgement == Judgement::Missing,
        _ => false,
    };
    verdict.problems.iter().any(|problem| everything(problem) || finding.reasons.first() == Some(problem))
}

/// The causes worth a sentence, those that fail with both values of their worst field.
#[must_use]
pub fn causes(verdict: &Verdict) -> Vec<Sentence> {
    // Below this a shift reads "0.0 % slower".
    const SHOWN: f64 = 1.0005;
    let worth = verdict.causes.iter().filter(|cause| cause.regressed || cause.ratio.get() >= SHOWN);
    worth.map(|cause| cause.with_worst(&verdict.findings)).collect()
}

/// Blessed groups of which this report has nothing, each with the fields that are missing with it.
#[must_use]
pub fn gone(verdict: &Verdict) -> Vec<(&GroupId, Sentence)> {
    let of = |group: &GroupId| -> Vec<&Finding> {
        verdict.findings.iter().filter(|f| f.field.group == *group).collect()
    };
    let mut groups: Vec<&GroupId> = Vec::new();
    for finding in verdict.findings.iter().filter(|f| f.gated && f.judgement == Judgement::Missing) {
        let group = &finding.field.group;
        if !groups.contains(&group) && of(group).iter().all(|f| f.new.is_none()) {
            groups.push(group);
        }
    }
    let sentence = |group: &GroupId| {
        let fields: Vec<String> = of(group).iter().filter(|f| fails(f)).map(|f| f.field.local()).collect();
        let text = match fields.as_slice() {
            [field] => format!("nothing of {group} is in this report: {field} is missing"),
            fields => format!(
                "nothing of {group} is in this report: its {} required fields are missing ({})",
                fields.len(),
                fields.join(", ")
            ),
        };
        Sentence::default().own(text)
    };
    groups.into_iter().map(|group| (group, sentence(group))).collect()
}

/// Whether `--report-only` lets the verdict through, whatever it says.
#[must_use]
pub fn is_let_through(verdict: &Verdict) -> bool {
    verdict.report_only && verdict.outcome != Outcome::RunFailed
}

/// Whether the verdict by itself ends the command with 0; a failed output may still not.
#[must_use]
pub fn is_green(verdict: &Verdict) -> bool {
    verdict.outcome == Outcome::Pass || is_let_through(verdict)
}

/// Whether a gated field stands in the way of a pass.
#[must_use]
pub fn fails(finding: &Finding) -> bool {
    use Judgement::{Invalid, Missing, NotComparable, Regressed};
    finding.gated && matches!(finding.judgement, Regressed | Missing | Invalid | NotComparable)
}

/// `2 of 18 required fields got worse`, or how many were compared.
fn counts(verdict: &Verdict) -> String {
    let required = verdict.counts.required;
    let failing = |judgement| verdict.with(judgement).filter(|f| f.gated).count();
    let parts: Vec<String> = [
        (Judgement::Regressed, worse_words(verdict)),
        (Judgement::Missing, ["is missing", "are missing"]),
        (Judgement::NotComparable, ["is not comparable", "are not comparable"]),
        (Judgement::Invalid, ["is invalid", "are invalid"]),
    ]
    .into_iter()
    .filter_map(|(judgement, words)| match failing(judgement) {
        0 => None,
        n => Some((n, if n == 1 { words[0] } else { words[1] })),
    })
    .enumerate()
    .map(|(at, (n, words))| match at {
        0 => format!("{n} of {} {words}", count(required, "required field")),
        _ => format!("{n} {words}"),
    })
    .collect();
    match (required, verdict.outcome) {
        (0, _) | (_, Outcome::RunFailed) => String::new(),
        _ if !parts.is_empty() => parts.join(", "),
        _ => {
            let compared =
                format!("{} of {} compared", verdict.counts.compared, count(required, "required field"));
            let end = match verdict.outcome {
                Outcome::Pass if clean(verdict) => ", all within their limits",
                Outcome::Pass => ", none regressed",
                _ => "",
            };
            compared + end
        }
    }
}

fn clean(verdict: &Verdict) -> bool {
    use Judgement::{TooFew, Unresolved, Waived};
    !verdict.findings.iter().any(|f| f.gated && matches!(f.judgement, Unresolved | TooFew | Waived))
}

/// A field that is over an absolute limit need not have become worse.
fn worse_words(verdict: &Verdict) -> [&'static str; 2] {
    use Reason::{OverMax, UnderMin};
    let absolute = verdict
        .with(Judgement::Regressed)
        .any(|finding| matches!(finding.reasons.first(), Some(OverMax { .. } | UnderMin { .. })));
    if absolute { ["is over its limit", "are over their limits"] } else { ["got worse", "got worse"] }
}

/// What else a reader of a pass should see at once.
fn tally(verdict: &Verdict) -> Option<String> {
    use Judgement::{Improved, New, TooFew, Unresolved, Waived};
    let mut words: Vec<String> = [
        (Unresolved, "unresolved (over the limit, could be noise)"),
        (TooFew, "with too few samples"),
        (Waived, "waived"),
        (Improved, "improved"),
        (New, "new and not yet watched"),
    ]
    .into_iter()
    .filter_map(|(judgement, words)| {
        let n = verdict.with(judgement).filter(|f| f.gated).count();
        (n > 0).then(|| format!("{n} {words}"))
    })
    .collect();
    for (suspicion, said) in [
        (Suspicion::TooGood, "SUSPICIOUSLY GOOD (see the notes)"),
        (Suspicion::SameSamples, "THE SAME NUMBERS AS THE BASELINE'S (see the notes)"),
    ] {
        let found = |note: &Reason| matches!(note, Reason::Suspicious { what, .. } if *what == suspicion);
        words.extend(verdict.notes.iter().any(found).then(|| said.to_owned()));
    }
    let said = matches!(verdict.outcome, Outcome::Pass | Outcome::Inconclusive) && !words.is_empty();
    said.then(|| words.join(", "))
}

/// `tier single, limits decided, unconfirmed`.
#[must_use]
pub fn certainty(verdict: &Verdict) -> Option<String> {
    let mut parts = vec![format!("tier {}", verdict.tier?)];
    parts.extend(verdict.decided_by.and_then(decided).map(str::to_owned));
    let confirmed: Vec<bool> =
        verdict.with(Judgement::Regressed).filter(|f| f.gated).filter_map(|f| f.confirmed).collect();
    let yes = confirmed.iter().filter(|yes| **yes).count();
    parts.extend(match (confirmed.len(), yes) {
        (0, _) => None,
        (_, 0) => Some("unconfirmed".to_owned()),
        (all, yes) if all == yes => Some("confirmed".to_owned()),
        (all, yes) => Some(format!("{yes} of {all} confirmed")),
    });
    Some(parts.join(", "))
}

fn decided(by: DecidedBy) -> Option<&'static str> {
    match by {
        DecidedBy::Limits => Some("limits decided"),
        DecidedBy::Evidence => Some("evidence decided"),
        DecidedBy::Exact => None,
    }
}

/// The reason that explains the outcome by itself: failures before latency, one cause before its many fields.
#[must_use]
pub fn chief_reason(verdict: &Verdict) -> Option<Sentence> {
    let failing = || verdict.findings.iter().filter(|f| fails(f));
    let field = |finding: &Finding| finding.reasons.first().map(|reason| reason.sentence());
    let problem = || problems(verdict).first().map(|reason| reason.sentence());
    let any_field = || {
        let first = failing().next()?;
        let gone = gone(verdict).into_iter().find(|(group, _)| **group == first.field.group);
        gone.map(|(_, sentence)| sentence).or_else(|| failing().find_map(field))
    };
    match verdict.outcome {
        // Most of a gate over its limits must not read like any other pass.
        Outcome::Pass => verdict.causes.first().map(|cause| cause.sentence.sentence()),
        Outcome::RunFailed => problem().or_else(any_field),
        Outcome::NoVerdict => problem().or_else(any_field),
        Outcome::Inconclusive => problem()
            .or_else(|| verdict.causes.first().map(|cause| cause.sentence.sentence()))
            .or_else(|| verdict.with(Judgement::Unresolved).find_map(field)),
        Outcome::Regression => {
            let regressed = || failing().filter(|f| f.judgement == Judgement::Regressed);
            let success = || regressed().find(|f| f.field.metric == Metric::SUCCESS_RATE).and_then(field);
            let cause = || {
                let regressed = verdict.causes.iter().find(|cause| cause.regressed);
                regressed.map(|cause| cause.with_worst(&verdict.findings))
            };
            success().or_else(cause).or_else(|| regressed().find_map(field)).or_else(problem)
        }
    }
}

//! What to do now.

use crate::model::reason::Suspicion;
use crate::model::report::FailureKind;
use crate::model::sentence::Sentence;
use crate::model::{Judgement, Outcome, Reason, Verdict};

use super::headline::{is_unfit, nothing_in_common};

/// One to three lines: what to do, and the command that gives this verdict again.
#[must_use]
pub fn next_steps(verdict: &Verdict) -> Vec<Sentence> {
    let mut lines = match verdict.outcome {
        Outcome::Pass => after_pass(verdict),
        Outcome::Regression => after_regression(verdict),
        Outcome::NoVerdict => after_no_verdict(verdict),
        Outcome::Inconclusive => {
            let more =
                verdict.lifts.clone().unwrap_or_else(|| "more requests, rounds or blessed jobs".to_owned());
            vec![own(format!("get evidence that can decide: {more}"))]
        }
        Outcome::RunFailed => vec![own(after_failure(verdict))],
    };
    if verdict.outcome >= Outcome::Regression {
        lines.splice(0..0, usual_causes(verdict));
    }
    if let Some(command) = &verdict.reproduce {
        lines.push(own("the same verdict again: ").foreign(command));
    }
    lines
}

/// What a run that could not be judged at all asks for.
fn after_failure(verdict: &Verdict) -> &'static str {
    let bottleneck = |reason: &Reason| matches!(reason, Reason::ClientBottleneck { .. });
    if verdict.problems.iter().any(bottleneck) {
        "run it again on a quieter machine, or with fewer requests in flight"
    } else {
        "mend the endpoint, its address, key or model (pacegate doctor names cause and remedy), then run it again"
    }
}

/// Of the two commonest failures.
fn usual_causes(verdict: &Verdict) -> Vec<Sentence> {
    let mut kinds: Vec<_> = verdict.candidate.requests.failed.iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let line = |kind: FailureKind| Some(own(format!("{kind}, usually: {}", kind.usual_cause()?)));
    kinds.into_iter().take(2).filter_map(|(kind, _)| line(*kind)).collect()
}

fn own(text: impl Into<String>) -> Sentence {
    Sentence::default().own(text)
}

fn after_pass(verdict: &Verdict) -> Vec<Sentence> {
    let any = |judgement| verdict.with(judgement).any(|f| f.gated);
    let mut lines = Vec::new();
    if any(Judgement::Unresolved) {
        let more = verdict.lifts.as_ref().map(|lift| format!("; surer with {lift}")).unwrap_or_default();
        lines.push(own(format!(
            "if an unresolved field is over its limit in the next run too, look into it{more}"
        )));
    }
    let too_good = |reason: &Reason| matches!(reason, Reason::Suspicious { what: Suspicion::TooGood, .. });
    if verdict.notes.iter().any(too_good) {
        lines.push(own("find out why it is so much better before you believe or bless it; the notes name the likely causes"));
    }
    if any(Judgement::New) {
        lines.push(bless(verdict, "have the new fields watched by blessing them: "));
    } else if any(Judgement::Improved) {
        lines.push(bless(verdict, "bless what was gained, so that losing it again fails: "));
    }
    lines
}

fn after_regression(verdict: &Verdict) -> Vec<Sentence> {
    let mut lines = Vec::new();
    let unconfirmed = verdict.with(Judgement::Regressed).any(|f| f.confirmed == Some(false));
    if let (true, Some(lift)) = (unconfirmed, &verdict.lifts) {
        lines.push(own(format!("change or noise? Find out with {lift}")));
    }
    lines.push(bless(verdict, "mend it, or, if it is meant, bless it: "));
    lines.push(own("or let one field be worse until a date with a [[waiver]] in pacegate.toml"));
    lines
}

fn after_no_verdict(verdict: &Verdict) -> Vec<Sentence> {
    let problem = |is: fn(&Reason) -> bool| verdict.problems.iter().any(is);
    if problem(|reason| matches!(reason, Reason::Incomplete { .. })) {
        return vec![own("run it again to the end: part of a run is neither compared nor blessed")];
    }
    if problem(is_unfit) {
        return vec![own(
            "mend what the problem above names, then measure again; such numbers are never blessed",
        )];
    }
    if problem(|reason| matches!(reason, Reason::SpeedupDefault { .. })) {
        return vec![own(
            "mend the script that wrote the file, so that it divides and never falls back to a default, then run it again",
        )];
    }
    if problem(|reason| matches!(reason, Reason::SpeedupSwapped { .. })) {
        return vec![own(
            "mend the division in the script that wrote the file, then run it again: speedup_vs_baseline = e2e of the reference strategy / e2e of this strategy",
        )];
    }
    if problem(|reason| matches!(reason, Reason::NoBaseline { .. })) {
        return vec![own("look at the numbers above, bless them if they are good, and commit the file")];
    }
    if problem(|reason| matches!(reason, Reason::RuleMatchesNothing { .. })) {
        return vec![own("mend or remove the rule in pacegate.toml, then compare again")];
    }
    if nothing_in_common(verdict) {
        return vec![bless(
            verdict,
            "compare a report of the same groups, or, if the workload changed on purpose, bless the new one: ",
        )];
    }
    if verdict.with(Judgement::Missing).any(|f| f.gated) {
        return vec![bless(
            verdict,
            "measure what is missing, or, if it is gone for good, bless without it: ",
        )];
    }
    vec![own("make both sides measure the same, then compare again")]
}

/// What makes a command bless; the reason is what the ledger and a reviewer ask for.
const BLESSING: &str = "--bless --reason \"why\"";

/// The same command, blessing. The flags follow the subcommand, for after a `--` they would be reports.
#[must_use]
pub fn blessing(command: &str) -> String {
    match command.match_indices(' ').nth(1) {
        Some((at, _)) => format!("{} {BLESSING}{}", &command[..at], &command[at..]),
        None => format!("{command} {BLESSING}"),
    }
}

/// The bless command, if the command line is known.
fn bless(verdict: &Verdict, why: &str) -> Sentence {
    match &verdict.reproduce {
        Some(command) => own(why).foreign(blessing(command)),
        None => own(format!("{why}the same command with {BLESSING}")),
    }
}

//! What to do now.

use crate::model::report::FailureKind;
use crate::model::sentence::Sentence;
use crate::model::{Judgement, Outcome, Reason, Verdict};

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
        Outcome::RunFailed => {
            vec![own(
                "mend the endpoint or the client first; `pacegate doctor` looks at address, key, model and stream",
            )]
        }
    };
    if verdict.outcome >= Outcome::Regression {
        lines.splice(0..0, usual_causes(verdict));
    }
    if let Some(command) = &verdict.reproduce {
        lines.push(own("the same verdict again: ").foreign(command));
    }
    lines
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
    if any(Judgement::New) {
        lines.push(bless(verdict, "have the new fields watched by blessing them: "));
    } else if any(Judgement::Improved) {
        lines.push(bless(verdict, "keep what was gained by blessing it: "));
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
    let says_so = |reason: &Reason| matches!(reason, Reason::NoBaseline { .. });
    if verdict.problems.iter().any(says_so) {
        return vec![own("look at the numbers above, bless them if they are good, and commit the file")];
    }
    if verdict.with(Judgement::Missing).any(|f| f.gated) {
        return vec![bless(
            verdict,
            "measure what is missing, or, if it is gone for good, bless without it: ",
        )];
    }
    vec![own("make both sides measure the same, then compare again")]
}

/// The bless command, if the command line is known.
fn bless(verdict: &Verdict, why: &str) -> Sentence {
    let flags = " --bless --reason \"why\"";
    match &verdict.reproduce {
        Some(command) => own(why).foreign(format!("{command}{flags}")),
        None => own(format!("{why}the same command with{flags}")),
    }
}

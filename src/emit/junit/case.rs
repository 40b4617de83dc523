//! What a case says and how it ends.

use crate::emit::headline::{banners, headline, is_let_through};
use crate::emit::remarks::{self, plain};
use crate::model::wording::count;
use crate::model::{Finding, Judgement, Outcome, Reason, Verdict};

/// The case of what concerns the whole run, so that no file is ever empty.
pub(super) const RUN: &str = "pacegate.run";

/// How a case ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Skipped,
    Failure,
    Error,
}

pub(super) struct Case {
    pub name: String,
    pub end: End,
    /// One of our own words.
    pub kind: &'static str,
    /// The sentence.
    pub message: String,
    /// The sentence again and what else there is to say: some readers show only this, some only the message.
    pub text: String,
}

impl Case {
    /// What stands in the way of any verdict, or fails without a field that shows it.
    pub fn of_run(verdict: &Verdict) -> Case {
        let shown = verdict
            .findings
            .iter()
            .any(|f| is_tested(f) && matches!(end_of(verdict, f).0, End::Failure | End::Error));
        let fails = !verdict.problems.is_empty() || (verdict.outcome != Outcome::Pass && !shown);
        let mut lines: Vec<String> = verdict.problems.iter().map(|p| plain(&p.sentence())).collect();
        if lines.is_empty() {
            lines.push(plain(&headline(verdict)));
        }
        let message = lines[0].clone();
        lines.extend(banners(verdict).iter().map(plain));
        lines.extend(verdict.causes.iter().map(|cause| plain(&cause.sentence.sentence())));
        let case = Case {
            name: RUN.to_owned(),
            end: if fails { End::Error } else { End::Passed },
            kind: kind_of(verdict.outcome),
            message,
            text: lines.join("\n"),
        };
        case.under(verdict)
    }

    /// One field.
    pub fn of_field(verdict: &Verdict, finding: &Finding) -> Case {
        let (end, kind) = end_of(verdict, finding);
        let blind = verdict.problems.iter().find(
            |p| matches!(p, Reason::Blind { metric, .. } if kind == BLIND && *metric == finding.field.metric),
        );
        let sentence = plain(&blind.map_or_else(|| remarks::sentence(finding), Reason::sentence));
        let mut lines = vec![sentence.clone()];
        if end == End::Failure {
            let causes = verdict.causes.iter().filter(|cause| cause.explains(finding));
            lines.extend(causes.map(|cause| format!("cause: {}", plain(&cause.sentence.sentence()))));
        }
        lines.extend(remarks::rest(finding).map(|more| plain(&more)));
        lines.extend(crate::emit::evidence::of_field(finding));
        let name = finding.field.to_string();
        Case { name, end, kind, message: sentence, text: lines.join("\n") }.under(verdict)
    }

    /// What was not judged, a case for each reason why.
    pub fn together(verdict: &Verdict) -> Vec<Case> {
        [
            (Judgement::TooFew, "too_few_samples", "too few samples to be judged, so send more requests"),
            (Judgement::New, "new", "no blessed value, so bless to have them watched"),
        ]
        .into_iter()
        .filter_map(|(judgement, kind, why)| {
            let fields: Vec<&Finding> = verdict.with(judgement).filter(|finding| finding.gated).collect();
            let lines: Vec<String> =
                fields.iter().map(|finding| plain(&remarks::sentence(finding))).collect();
            let message = match lines.as_slice() {
                [] => return None,
                [one] => one.clone(),
                several => format!("{} with {why}", count(several.len(), "gated field")),
            };
            let text =
                if lines.len() == 1 { message.clone() } else { format!("{message}\n{}", lines.join("\n")) };
            Some(Case { name: format!("pacegate.{kind}"), end: End::Skipped, kind, message, text })
        })
        .collect()
    }

    /// The fields that the file has no room for.
    pub fn left_out(verdict: &Verdict, rest: &[&Finding]) -> Case {
        let ends = || rest.iter().map(|finding| end_of(verdict, finding).0);
        let failing = ends().filter(|end| matches!(end, End::Failure | End::Error)).count();
        let message = format!(
            "not in this file: {}, {failing} of them failing or errors",
            count(rest.len(), "more field")
        );
        let end = if failing > 0 { End::Failure } else { End::Skipped };
        Case { name: "pacegate.more".to_owned(), end, kind: "left_out", text: message.clone(), message }
            .under(verdict)
    }

    /// With `--report-only` nothing fails, and the words still say what would have.
    fn under(mut self, verdict: &Verdict) -> Case {
        if is_let_through(verdict) && matches!(self.end, End::Failure | End::Error) {
            self.end = End::Skipped;
            self.message = format!("report only, would fail: {}", self.message);
            self.text = format!("report only, would fail: {}", self.text);
        }
        self
    }

    /// About as many bytes as it takes in the file; tags and quotes included, the class name not.
    pub fn bytes(&self) -> usize {
        let said = match self.end {
            End::Passed => 0,
            _ => self.message.len() + self.text.len() + self.kind.len() + 60,
        };
        self.name.len() + said + 60
    }
}

const BLIND: &str = "blind";

/// Whether a field is a test of its own.
pub(super) fn is_tested(finding: &Finding) -> bool {
    use Judgement::{New, NotGated, TooFew};
    finding.gated && !matches!(finding.judgement, TooFew | New | NotGated)
}

fn end_of(verdict: &Verdict, finding: &Finding) -> (End, &'static str) {
    let judgement = finding.judgement;
    let blind = verdict.resolution.blind.contains(&finding.field.metric);
    match judgement {
        Judgement::Unchanged | Judgement::Improved | Judgement::Unresolved if blind => (End::Error, BLIND),
        Judgement::Regressed => (End::Failure, "regression"),
        Judgement::Missing => (End::Failure, "missing"),
        Judgement::Invalid => (End::Error, "invalid"),
        Judgement::NotComparable => (End::Error, "not_comparable"),
        Judgement::Unresolved if verdict.outcome == Outcome::Inconclusive => (End::Error, "inconclusive"),
        Judgement::Unresolved => (End::Skipped, "unresolved"),
        Judgement::Waived => (End::Skipped, "waived"),
        Judgement::TooFew | Judgement::New | Judgement::NotGated => (End::Skipped, "not_judged"),
        Judgement::Unchanged | Judgement::Improved => (End::Passed, ""),
    }
}

fn kind_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Inconclusive => "inconclusive",
        Outcome::NoVerdict => "no_verdict",
        Outcome::Regression => "regression",
        Outcome::RunFailed => "run_failed",
    }
}

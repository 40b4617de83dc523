//! The facts of a verdict that stand above its cases.

use crate::emit::remarks::plain;
use crate::emit::summary::summary;
use crate::model::Verdict;
use crate::model::finding::DecidedBy;

/// Names of ours with values that may be foreign; nothing is escaped yet.
pub(super) fn of(verdict: &Verdict) -> Vec<(String, String)> {
    let mut all = Properties(Vec::new());
    all.add("pacegate.version", &verdict.tool.version);
    all.add("profile", &verdict.profile);
    all.add("outcome", verdict.outcome.word());
    all.add("exit_code", &verdict.exit_code.to_string());
    all.add("report_only", &verdict.report_only.to_string());
    all.add("simulated", &verdict.simulated.to_string());
    all.add("tier", verdict.tier.map_or("none", |tier| tier.name()));
    all.add("decided_by", decided_by(verdict));
    all.add("required", &verdict.counts.required.to_string());
    all.add("compared", &verdict.counts.compared.to_string());
    all.maybe("model", verdict.candidate.model.as_ref());
    all.maybe("format", verdict.candidate.format.as_ref());
    for file in verdict.candidate.files.iter().take(MOST) {
        all.add("report", file);
    }
    if let Some(baseline) = &verdict.baseline {
        all.add("baseline", &baseline.path);
        all.add("baseline.digest", &baseline.digest);
        all.add("baseline.jobs", &baseline.jobs.to_string());
        all.maybe("baseline.commit", baseline.commit.as_ref());
        all.maybe("baseline.blessed", baseline.blessed.map(|at| at.to_string()).as_ref());
        all.maybe("baseline.model", baseline.model.as_ref());
    }
    for cause in verdict.causes.iter().take(MOST) {
        all.add("cause", &plain(&cause.sentence.sentence()));
    }
    for change in verdict.what_changed.iter().take(MOST) {
        all.add("changed", &plain(&change.sentence()));
    }
    for (word, sentence) in summary(verdict) {
        all.add(word, &plain(&sentence));
    }
    all.maybe("reproduce", verdict.reproduce.as_ref());
    all.0
}

/// So many of a kind; the summary has the rest.
const MOST: usize = 20;

struct Properties(Vec<(String, String)>);

impl Properties {
    fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    fn maybe(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}

fn decided_by(verdict: &Verdict) -> &'static str {
    match verdict.decided_by {
        None => "nobody",
        Some(DecidedBy::Limits) => "limits",
        Some(DecidedBy::Evidence) => "evidence",
        Some(DecidedBy::Exact) => "exact",
    }
}

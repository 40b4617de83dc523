//! One past job, whatever file tells of it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::history::{HistoryEntry, Moment};
use crate::model::report::Requests;
use crate::model::verdict::{Outcome, SCHEMA};
use crate::model::{Fact, FieldId, Finite, GroupId, Metric, Statistic, Timestamp};

/// One past job. Two that agree in everything but job, moment and numbers can stand in one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// A file, or a file and its line.
    pub source: String,
    /// The profile.
    pub profile: String,
    /// The model that answered, where known.
    pub model: Option<String>,
    /// The tool that measured, where known.
    pub format: Option<String>,
    /// The baseline that it was held against; absent for a report.
    pub baseline: Option<String>,
    /// Differences to that baseline that were allowed.
    pub allowed: Vec<Fact>,
    /// Per group a hash of its workload, where known.
    pub workloads: BTreeMap<GroupId, String>,
    /// Its name: the CI run and leg, or what the report says.
    pub job: String,
    /// Which commit, and when.
    pub moment: Moment,
    /// How its requests ended.
    pub requests: Requests,
    /// The gated fields.
    pub fields: BTreeMap<FieldId, Finite>,
}

impl Point {
    /// A line of the history.
    #[must_use]
    pub fn of_entry(source: String, entry: HistoryEntry) -> Point {
        Point {
            source,
            fields: fields(&entry.fields, compared(entry.outcome, &entry.requests)),
            profile: entry.profile,
            model: entry.model,
            format: None,
            baseline: Some(entry.baseline.digest),
            allowed: entry.allowed,
            workloads: BTreeMap::new(),
            job: entry.job,
            moment: Moment { commit: entry.commit, at: entry.at },
            requests: entry.requests,
        }
    }
}

/// Of a run without any success no time means anything.
fn compared(outcome: Outcome, requests: &Requests) -> bool {
    outcome != Outcome::RunFailed && requests.succeeded != Some(0)
}

fn fields(named: &BTreeMap<String, Finite>, valid: bool) -> BTreeMap<FieldId, Finite> {
    let all = named.iter().filter(|_| valid);
    all.filter_map(|(name, value)| Some((field(name)?, *value))).collect()
}

/// `chat/c8:ttft.p95`; nothing for what is no field's name.
fn field(name: &str) -> Option<FieldId> {
    let (group, local) = name.split_once(':')?;
    let (metric, statistic) = match local.split_once('.') {
        Some((metric, statistic)) => (metric, statistic.parse().ok()?),
        None => (local, Statistic::Value),
    };
    let metric = Metric::named(metric);
    metric.def()?;
    Some(FieldId::new(GroupId::try_from(group.to_owned()).ok()?, metric, statistic))
}

/// The part of a verdict's JSON that a series needs.
#[derive(Debug, Deserialize)]
struct VerdictFile {
    schema: String,
    profile: String,
    outcome: Outcome,
    #[serde(default)]
    allowed: Vec<Fact>,
    baseline: Option<BaselineFile>,
    candidate: CandidateFile,
    findings: Vec<FindingFile>,
}

#[derive(Debug, Deserialize)]
struct BaselineFile {
    digest: String,
}

#[derive(Debug, Deserialize)]
struct CandidateFile {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    started: Option<Timestamp>,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    job_ids: Vec<String>,
    requests: Requests,
}

#[derive(Debug, Deserialize)]
struct FindingFile {
    field: FieldId,
    gated: bool,
    new: Option<Finite>,
}

/// What a JSON document is.
#[derive(Debug)]
pub enum Document {
    /// A job that can stand in a series.
    Point(Box<Point>),
    /// One that can't, and why.
    Unfit(&'static str),
    /// Neither a verdict nor a line of a history; perhaps a report.
    Other,
}

/// Reads a verdict or a line of a history.
///
/// # Errors
/// What is wrong with a document that says it is one of the two.
pub fn document(source: &str, text: &str) -> Result<Document, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Result<Head, _> = serde_json::from_str(text);
    match head {
        Ok(head) if head.schema.starts_with("pacegate.history/") => {
            let entry = super::lines::read(text)?;
            Ok(Document::Point(Box::new(Point::of_entry(source.to_owned(), entry))))
        }
        Ok(head) if head.schema.starts_with("pacegate.verdict/") => verdict(source, text),
        Ok(_) | Err(_) => Ok(Document::Other),
    }
}

fn verdict(source: &str, text: &str) -> Result<Document, String> {
    let verdict: VerdictFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if verdict.schema != SCHEMA {
        return Err(format!("its schema is {:?}, and this pacegate reads {SCHEMA}", verdict.schema));
    }
    let Some(baseline) = verdict.baseline else {
        return Ok(Document::Unfit("it was held against no baseline; give its report instead"));
    };
    let candidate = verdict.candidate;
    let Some(at) = candidate.started else {
        return Ok(Document::Unfit("it does not say when its job was measured; give its report instead"));
    };
    let valid = compared(verdict.outcome, &candidate.requests);
    let measured = verdict.findings.into_iter().filter(|finding| finding.gated && valid);
    Ok(Document::Point(Box::new(Point {
        source: source.to_owned(),
        profile: verdict.profile,
        model: candidate.model,
        format: candidate.format,
        baseline: Some(baseline.digest),
        allowed: verdict.allowed,
        workloads: BTreeMap::new(),
        job: candidate.job_ids.join("+"),
        moment: Moment { commit: candidate.commit, at },
        requests: candidate.requests,
        fields: measured.filter_map(|finding| Some((finding.field, finding.new?))).collect(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_are_read_back() {
        let p999 = "p99.9".parse().unwrap();
        let group = GroupId("int8_quant/rag/c8/r2.5".to_owned());
        for wanted in [
            FieldId::new(group.clone(), Metric::TTFT, p999),
            FieldId::new(group.clone(), Metric::OUTPUT_THROUGHPUT, Statistic::Value),
        ] {
            assert_eq!(field(&wanted.to_string()), Some(wanted));
        }
        for bad in ["ttft.p95", "a b:ttft.p95", "chat:ttft.p9x", "chat:vibes.p95", ""] {
            assert_eq!(field(bad), None, "{bad}");
        }
    }
}

//! Several files to one report: rounds of one job, groups of one round, or jobs.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::digest;
use crate::model::fact::Severity;
use crate::model::group::name_part;
use crate::model::report::{
    Group, Job, ProfileRef, Report, Round, SCHEMA, Source, SourceKind, Subject, Tool, Workload,
};
use crate::model::{Fact, GroupId};

use super::error::IngestError;
use super::reading::{Reading, Run};
use super::{Options, def};

/// The strategy that is the reference where a file or command names it so.
const REFERENCE: &str = "baseline";

/// One file that was read.
#[derive(Debug)]
pub struct FileRead {
    /// The path as it was given.
    pub path: String,
    /// SHA-256 of its content.
    pub digest: String,
    /// The strategy that the command names for it.
    pub strategy: Option<String>,
    /// What it says.
    pub reading: Reading,
}

/// One job while it grows.
#[derive(Debug, Default)]
struct Grown {
    digests: Vec<String>,
    runs: Vec<Run>,
    rounds: Vec<Round>,
}

/// Joins what the files say.
///
/// # Errors
/// Two tools, a strategy name that does not fit, groups of one name with different workloads, nothing in any file.
pub fn join(mut files: Vec<FileRead>, options: &Options) -> Result<Report, IngestError> {
    let Some(first) = files.first() else { return Err(IngestError::NoInput) };
    let format = first.reading.format;
    if let Some(other) = files.iter().find(|file| file.reading.format != format) {
        return Err(IngestError::MixedFormats {
            first: first.path.clone(),
            first_format: format.to_string(),
            second: other.path.clone(),
            second_format: other.reading.format.to_string(),
        });
    }
    for file in &mut files {
        name_strategy(file)?;
    }
    let workloads = workloads(&files)?;
    let mut warnings = warnings(&files);
    let subject = subject(&files, &mut warnings);
    let reference = reference(&files);
    let jobs = jobs(&mut files, options.separate_jobs);
    let first = &files[0].reading;
    Ok(Report {
        schema: SCHEMA.to_owned(),
        tool: Tool::pacegate(),
        source: Source {
            kind: SourceKind::Ingest,
            format: Some(format.name().to_owned()),
            format_version: first.version.clone(),
            files: files.iter().map(|file| file.path.clone()).collect(),
            digests: files.iter().map(|file| file.digest.clone()).collect(),
            warnings,
        },
        subject,
        client: first.client.clone(),
        code: first.code.clone(),
        profile: ProfileRef {
            name: options.profile.clone().unwrap_or_else(|| format.name().to_owned()),
            reference,
            fingerprints: workloads.iter().map(|(id, facts)| (id.clone(), fingerprint(facts))).collect(),
            workloads,
        },
        jobs,
    })
}

/// The name that the command gives to a file's strategy, as a part of a group's name.
///
/// # Errors
/// It can't be one, or the file names its strategies itself.
pub fn strategy_given<'a>(
    given: Option<&str>,
    path: &str,
    groups: impl Iterator<Item = &'a Group>,
) -> Result<Option<String>, IngestError> {
    let Some(given) = given else { return Ok(None) };
    let name = name_part(given).ok_or_else(|| IngestError::BadStrategy { name: given.to_owned() })?;
    let inside: BTreeSet<String> = groups.filter_map(|group| group.dimensions.strategy.clone()).collect();
    if inside.is_empty() {
        return Ok(Some(name));
    }
    let inside = inside.into_iter().collect::<Vec<_>>().join(", ");
    Err(IngestError::StrategyInside { path: path.to_owned(), name, inside })
}

fn name_strategy(file: &mut FileRead) -> Result<(), IngestError> {
    let groups = file.reading.runs.iter().flat_map(|run| &run.groups).map(|(group, _)| group);
    let Some(name) = strategy_given(file.strategy.as_deref(), &file.path, groups)? else { return Ok(()) };
    for (group, _) in file.reading.runs.iter_mut().flat_map(|run| &mut run.groups) {
        group.dimensions.strategy = Some(name.clone());
        group.id = group.dimensions.id();
    }
    Ok(())
}

fn workloads(files: &[FileRead]) -> Result<BTreeMap<GroupId, Workload>, IngestError> {
    let mut all: BTreeMap<GroupId, (Workload, &str)> = BTreeMap::new();
    for file in files {
        for (group, facts) in file.reading.runs.iter().flat_map(|run| &run.groups) {
            let (known, from) = all.entry(group.id.clone()).or_insert_with(|| (facts.clone(), &file.path));
            let differs = facts.iter().find(|(fact, value)| {
                fact.severity() == Severity::Refused && known.get(fact).is_some_and(|old| old != *value)
            });
            if let Some((fact, value)) = differs {
                let old = known.get(fact).cloned().unwrap_or_default();
                return Err(IngestError::Contradiction {
                    first: (*from).to_owned(),
                    second: file.path.clone(),
                    what: format!(
                        "{} of group {} is {old} in one and {value} in the other, so they are not rounds of the same thing; give each its own strategy name (NAME=REPORT), or check them one by one",
                        fact.what(),
                        group.id
                    ),
                });
            }
        }
    }
    Ok(all.into_iter().map(|(id, (facts, _))| (id, facts)).collect())
}

fn warnings(files: &[FileRead]) -> Vec<String> {
    let mut all: Vec<String> =
        def(files[0].reading.format).approximate.iter().map(ToString::to_string).collect();
    for file in files {
        for warning in &file.reading.warnings {
            let line = if files.len() == 1 { warning.clone() } else { format!("{}: {warning}", file.path) };
            if !all.contains(&line) {
                all.push(line);
            }
        }
    }
    let version = &files[0].reading.version;
    if let Some(other) = files.iter().find(|file| file.reading.version != *version) {
        let said = |version: &Option<String>| version.clone().unwrap_or_else(|| "not recorded".to_owned());
        all.push(format!(
            "{} is of tool version {} and {} of {}: what differs between them may be the tool",
            files[0].path,
            said(version),
            other.path,
            said(&other.reading.version)
        ));
    }
    all
}

/// What was measured; where the files name several models, all of them.
fn subject(files: &[FileRead], warnings: &mut Vec<String>) -> Subject {
    let mut subject = files[0].reading.subject.clone();
    let mut models: Vec<String> =
        files.iter().filter_map(|file| file.reading.subject.model.clone()).collect();
    models.sort();
    models.dedup();
    if models.len() > 1 {
        warnings.push(format!("the files name several models: {}", models.join(", ")));
        subject.model = Some(models.join(" + "));
    } else if subject.model.is_none() {
        subject.model = models.pop();
    }
    for file in &files[1..] {
        for (key, value) in &file.reading.subject.parameters {
            subject.parameters.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    subject
}

fn reference(files: &[FileRead]) -> Option<String> {
    let told = files.iter().find_map(|file| file.reading.reference.clone());
    told.or_else(|| {
        let mut groups = files.iter().flat_map(|file| &file.reading.runs).flat_map(|run| &run.groups);
        let found = groups.any(|(group, _)| group.dimensions.strategy.as_deref() == Some(REFERENCE));
        found.then(|| REFERENCE.to_owned())
    })
}

fn jobs(files: &mut [FileRead], separate: bool) -> Vec<Job> {
    let named = files.iter().any(|file| file.strategy.is_some());
    let mut grown: Vec<Grown> = Vec::new();
    for file in files {
        let runs = std::mem::take(&mut file.reading.runs);
        // With strategy names the n-th file of each strategy belongs to the n-th job: a speed-up needs both legs in one.
        let at = match (separate, named) {
            (false, _) => 0,
            (true, false) => grown.len(),
            (true, true) => grown
                .iter()
                .position(|job| !job.runs.iter().any(|old| overlaps(old, &runs)))
                .unwrap_or(grown.len()),
        };
        if at == grown.len() {
            grown.push(Grown::default());
        }
        let job = &mut grown[at];
        job.digests.push(file.digest.clone());
        for run in runs {
            place(&mut job.rounds, &run);
            job.runs.push(run);
        }
    }
    grown.into_iter().map(finished).collect()
}

fn overlaps(old: &Run, new: &[Run]) -> bool {
    new.iter().flat_map(|run| &run.groups).any(|(group, _)| old.groups.iter().any(|(o, _)| o.id == group.id))
}

/// Into the first round that has none of its groups: the same group again is the next round.
fn place(rounds: &mut Vec<Round>, run: &Run) {
    let groups = run.groups.iter().map(|(group, _)| group.clone());
    let has =
        |round: &&mut Round| round.groups.iter().any(|old| run.groups.iter().any(|(g, _)| g.id == old.id));
    match rounds.iter_mut().find(|round| !has(round)) {
        Some(round) => round.groups.extend(groups),
        None => rounds.push(Round { seed: run.seed, groups: groups.collect(), against: Vec::new() }),
    }
}

fn finished(job: Grown) -> Job {
    let warmups: Vec<_> = job.runs.iter().filter_map(|run| run.warmup.clone()).collect();
    let warmup = warmups.into_iter().reduce(|mut all, one| {
        all.sent += one.sent;
        for (kind, times) in one.failed {
            *all.failed.entry(kind).or_default() += times;
        }
        all
    });
    Job {
        id: short(&job.digests.join("")),
        started: job.runs.iter().filter_map(|run| run.started).min(),
        complete: !job.runs.iter().any(|run| run.broken_off),
        warmup,
        rounds: job.rounds,
    }
}

/// A short hash of a workload's facts; what counts as a mere warning when it differs is not in it.
fn fingerprint(facts: &Workload) -> String {
    let refused = facts.iter().filter(|(fact, _)| fact.severity() == Severity::Refused);
    let text: Vec<String> = refused.map(|(fact, value): (&Fact, _)| format!("{fact}={value}\n")).collect();
    short(&text.concat())
}

/// The first twelve hexadecimal digits of a text's SHA-256.
pub fn short(text: &str) -> String {
    digest::hex(text, 12)
}

//! pacegate's own report: passes through as it is; several are joined.

use crate::model::baseline;
use crate::model::report::{Job, Report, Round, SCHEMA};

use super::content::Content;
use super::detect::{Miss, Sniff, need};
use super::error::IngestError;
use super::join::{short, strategy_given};
use super::{Format, Options, parse};

/// Whether it is ours.
pub fn detect(sniff: &Sniff<'_>) -> Result<(), Miss> {
    sniff.object()?;
    need(sniff, &["schema"])?;
    need(sniff, &["jobs"])?;
    need(sniff, &["profile"])
}

/// Reads one.
///
/// # Errors
/// Another schema version, a baseline, anything that is not a report.
pub fn read(content: &Content) -> Result<Report, IngestError> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Head = parse::json(content, Format::Pacegate)?;
    if head.schema == baseline::SCHEMA {
        return Err(IngestError::Baseline { path: content.name.clone() });
    }
    if head.schema != SCHEMA {
        return Err(IngestError::Schema { path: content.name.clone(), schema: head.schema, known: SCHEMA });
    }
    parse::json(content, Format::Pacegate)
}

/// One report with its path and digest.
#[derive(Debug)]
pub struct OwnRead {
    /// The path as it was given.
    pub path: String,
    /// SHA-256 of its content.
    pub digest: String,
    /// The strategy that the command names for it.
    pub strategy: Option<String>,
    /// The report.
    pub report: Report,
}

/// Joins reports of our own: as rounds of one job, or with `--job` as the jobs that they are.
///
/// # Errors
/// Different profiles, models or kinds of measurement; the same job twice.
pub fn join(mut reads: Vec<OwnRead>, options: &Options) -> Result<Report, IngestError> {
    for read in &mut reads {
        name_strategy(read)?;
    }
    let mut rest = reads.into_iter();
    let Some(first) = rest.next() else { return Err(IngestError::NoInput) };
    let (first_path, mut joined) = (first.path, first.report);
    let mut digests = vec![first.digest];
    for other in rest {
        let against = |what: String| IngestError::Contradiction {
            first: first_path.clone(),
            second: other.path.clone(),
            what,
        };
        if let Some(what) = difference(&joined, &other.report) {
            return Err(against(what));
        }
        let twice = other.report.jobs.iter().find(|job| joined.jobs.iter().any(|old| old.id == job.id));
        if let (Some(job), true) = (twice, options.separate_jobs) {
            return Err(against(format!("both hold the job {}, so they are not two measurements", job.id)));
        }
        joined.source.files.extend(other.report.source.files);
        joined.source.warnings.extend(other.report.source.warnings);
        joined.source.warnings.dedup();
        joined.profile.workloads.extend(other.report.profile.workloads);
        joined.profile.fingerprints.extend(other.report.profile.fingerprints);
        joined.profile.reference = joined.profile.reference.or(other.report.profile.reference);
        joined.jobs.extend(other.report.jobs);
        digests.push(other.digest);
    }
    if digests.len() > 1 {
        joined.source.digests = digests;
        if !options.separate_jobs {
            joined.jobs = vec![one_job(joined.jobs, &joined.source.digests)];
        }
    }
    Ok(joined)
}

fn difference(first: &Report, second: &Report) -> Option<String> {
    let said = |text: &Option<String>| text.clone().unwrap_or_else(|| "not recorded".to_owned());
    if first.source.kind != second.source.kind || first.source.format != second.source.format {
        return Some("they were measured in different ways".to_owned());
    }
    if first.profile.name != second.profile.name {
        return Some(format!("their profiles are {} and {}", first.profile.name, second.profile.name));
    }
    if first.subject.model != second.subject.model {
        return Some(format!(
            "their models are {} and {}",
            said(&first.subject.model),
            said(&second.subject.model)
        ));
    }
    let shared = second.profile.fingerprints.iter().find(|(group, fingerprint)| {
        first.profile.fingerprints.get(*group).is_some_and(|known| known != *fingerprint)
    });
    shared.map(|(group, _)| format!("their workloads of group {group} differ"))
}

/// The groups of a round that is not there yet go into it; the same group again, and every block of a duet, is a new round.
fn one_job(jobs: Vec<Job>, digests: &[String]) -> Job {
    let mut rounds: Vec<Round> = Vec::new();
    let started = jobs.iter().filter_map(|job| job.started).min();
    let complete = jobs.iter().all(|job| job.complete);
    let warmup = jobs.iter().find_map(|job| job.warmup.clone());
    for round in jobs.into_iter().flat_map(|job| job.rounds) {
        let fits = |old: &&mut Round| {
            let apart = |id| old.groups.iter().all(|group| group.id != id);
            old.against.is_empty()
                && round.against.is_empty()
                && round.groups.iter().all(|g| apart(g.id.clone()))
        };
        match rounds.iter_mut().find(fits) {
            Some(old) => old.groups.extend(round.groups),
            None => rounds.push(round),
        }
    }
    Job { id: short(&digests.join("")), started, complete, warmup, rounds }
}

fn name_strategy(read: &mut OwnRead) -> Result<(), IngestError> {
    let rounds = read.report.jobs.iter().flat_map(|job| &job.rounds);
    let groups = rounds.flat_map(|round| round.groups.iter().chain(&round.against));
    let Some(name) = strategy_given(read.strategy.as_deref(), &read.path, groups)? else { return Ok(()) };
    let mut renamed = Vec::new();
    for round in read.report.jobs.iter_mut().flat_map(|job| &mut job.rounds) {
        for group in round.groups.iter_mut().chain(&mut round.against) {
            let old = group.id.clone();
            group.dimensions.strategy = Some(name.clone());
            group.id = group.dimensions.id();
            renamed.push((old, group.id.clone()));
        }
    }
    for (old, new) in renamed {
        if let Some(facts) = read.report.profile.workloads.remove(&old) {
            read.report.profile.workloads.insert(new.clone(), facts);
        }
        if let Some(print) = read.report.profile.fingerprints.remove(&old) {
            read.report.profile.fingerprints.insert(new, print);
        }
    }
    Ok(())
}

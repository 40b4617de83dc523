//! What a report is held against: the baseline and the rules of this checkout, or those of a git ref.

use std::path::{Path, PathBuf};

use crate::baseline::{self, BaselineError, LedgerStep, git};
use crate::cli::GateArgs;
use crate::config::{self, Config};
use crate::model::baseline::{Ledger, LedgerEntry};
use crate::model::policy::{Policy, SelfBless};
use crate::model::reason::OwnBaseline;
use crate::model::verdict::BaselineRef;
use crate::model::{Baseline, Reason, digest};

use super::apart::Named;
use super::fail::ExitWith;
use super::workspace::Workspace;
use crate::exit::Exit;

/// Both copies of the baseline, and which one judges.
pub struct Against {
    /// Where this checkout keeps it.
    pub path: PathBuf,
    /// This checkout's copy.
    pub own: Option<Baseline>,
    /// The copy that judges, and what outputs call it.
    pub baseline: Option<(Baseline, BaselineRef)>,
    /// The rules that judge.
    pub policy: Policy,
    /// What this change alters in its own baseline or limits.
    pub alterations: Vec<Reason>,
}

/// A copy of the baseline with the bytes that it was read from.
struct Copy {
    baseline: Baseline,
    bytes: Vec<u8>,
    name: String,
}

impl Against {
    /// Where the baseline is kept, for what must not be written over it.
    pub fn file(&self) -> Named<'_> {
        ("the baseline ", &self.path)
    }

    /// Reads what a report of `profile` is held against; a profile chosen by the user outranks the report's own.
    pub fn find(profile: &str, workspace: &Workspace, args: &GateArgs) -> anyhow::Result<Against> {
        let profile = workspace.chosen_profile().unwrap_or(profile).to_owned();
        let path = workspace.baseline_path(&profile);
        let own = own_copy(&path)?;
        let Some(git_ref) = &args.base_ref else {
            return Ok(Against {
                policy: workspace.policy(&profile),
                baseline: own.as_ref().map(Copy::judging),
                own: own.map(|copy| copy.baseline),
                path,
                alterations: Vec::new(),
            });
        };
        at_ref(git_ref, own, path, workspace, &profile)
            .map_err(|error| ExitWith::error(Exit::NoVerdict, error))
    }
}

/// What is blessed in a file of this checkout, and what outputs call it; `None` where there is no such file.
pub fn blessed(path: &Path) -> anyhow::Result<Option<(Baseline, BaselineRef)>> {
    Ok(own_copy(path)?.as_ref().map(Copy::judging))
}

/// The ref's copies judge, unless this change's own ledger gives a reason for what it alters.
fn at_ref(
    git_ref: &str,
    own: Option<Copy>,
    path: PathBuf,
    workspace: &Workspace,
    profile: &str,
) -> anyhow::Result<Against> {
    let base = copy_at(git_ref, &path)?;
    let config = config_at(git_ref, workspace)?;
    let altered = match (&own, &base) {
        (None, None) => None,
        (None, Some(_)) => Some(OwnBaseline::Removed),
        (Some(own), Some(base)) => (own.bytes != base.bytes).then(|| step_of(own, base)),
        (Some(own), None) => Some(first_of(own, &known_entries(git_ref, &path)?)),
    };
    let followed = matches!(altered, Some(OwnBaseline::Followed(_)));
    let named =
        |own| Reason::BaselineAltered { path: path.display().to_string(), git_ref: git_ref.to_owned(), own };
    let mut alterations: Vec<Reason> = altered.into_iter().map(named).collect();
    let lines = config::alterations(&config, &workspace.config);
    if !lines.is_empty() {
        let path =
            workspace.config_path.as_deref().unwrap_or(Path::new(config::FILE_NAME)).display().to_string();
        alterations.push(Reason::LimitsAltered { path, git_ref: git_ref.to_owned(), lines });
    }
    let base_policy = config.policy(Some(profile));
    if !alterations.is_empty() && base_policy.self_bless == SelfBless::Fail {
        alterations.push(Reason::SelfBlessRefused);
    }
    let judging = if followed { own.as_ref() } else { base.as_ref() };
    Ok(Against {
        baseline: judging.map(Copy::judging),
        // A reason for new numbers says nothing about new limits: those hold once they are merged.
        policy: base_policy,
        own: own.map(|copy| copy.baseline),
        path,
        alterations,
    })
}

/// What a change did to a baseline that the ref has.
fn step_of(own: &Copy, base: &Copy) -> OwnBaseline {
    match baseline::step(&base.baseline.ledger, &own.baseline.ledger) {
        LedgerStep::Blessed(reason) => given(reason).map_or(OwnBaseline::NoReason, OwnBaseline::Followed),
        LedgerStep::Same => OwnBaseline::Edited,
        LedgerStep::Rewritten => OwnBaseline::Rewritten,
    }
}

/// What a baseline is that the ref does not have. An entry that any other baseline of the ref has was copied, not blessed.
fn first_of(own: &Copy, known: &[LedgerEntry]) -> OwnBaseline {
    let ledger = &own.baseline.ledger;
    if ledger.entries.iter().any(|entry| known.contains(entry)) {
        return OwnBaseline::Copied;
    }
    match baseline::step(&Ledger::default(), ledger) {
        LedgerStep::Blessed(reason) => given(reason).map_or(OwnBaseline::NotAtRef, OwnBaseline::Followed),
        LedgerStep::Same | LedgerStep::Rewritten => OwnBaseline::NotAtRef,
    }
}

fn given(reason: Option<String>) -> Option<String> {
    reason.filter(|reason| !reason.trim().is_empty())
}

/// Every bless that the ref's baselines beside this one know of.
fn known_entries(git_ref: &str, path: &Path) -> anyhow::Result<Vec<LedgerEntry>> {
    let mut entries = Vec::new();
    for file in git::beside(git_ref, path)? {
        let copy = copy_at(git_ref, &file).ok().flatten();
        entries.extend(copy.into_iter().flat_map(|copy| copy.baseline.ledger.entries));
    }
    Ok(entries)
}

fn own_copy(path: &Path) -> anyhow::Result<Option<Copy>> {
    // A device or pipe is a place to write a blessed baseline to, never one to read it from: it may never end.
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        return Ok(None);
    }
    let bytes = match baseline::read(path) {
        Ok(bytes) => bytes,
        Err(BaselineError::Absent(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let name = path.display().to_string();
    Ok(Some(Copy { baseline: baseline::parse(&name, &bytes)?, bytes, name }))
}

fn copy_at(git_ref: &str, path: &Path) -> anyhow::Result<Option<Copy>> {
    let Some(bytes) = git::read_at(git_ref, path)? else { return Ok(None) };
    let name = format!("{git_ref}:{}", path.display());
    Ok(Some(Copy { baseline: baseline::parse(&name, &bytes)?, bytes, name }))
}

fn config_at(git_ref: &str, workspace: &Workspace) -> anyhow::Result<Config> {
    let path = workspace.config_path.clone().unwrap_or_else(|| PathBuf::from(config::FILE_NAME));
    let Some(bytes) = git::read_at(git_ref, &path)? else { return Ok(Config::default()) };
    let name = format!("{git_ref}:{}", path.display());
    Ok(config::load(Path::new(&name), &String::from_utf8_lossy(&bytes))?)
}

impl Copy {
    fn judging(&self) -> (Baseline, BaselineRef) {
        let last = self.baseline.ledger.entries.last();
        let reference = BaselineRef {
            path: self.name.clone(),
            blessed: last.map(|entry| entry.at),
            commit: last.and_then(|entry| entry.code.commit.clone()),
            jobs: self.baseline.jobs().count(),
            model: self.baseline.reports.last().and_then(|report| report.subject.model.clone()),
            digest: digest::hex(&self.bytes, 12),
        };
        (self.baseline.clone(), reference)
    }
}

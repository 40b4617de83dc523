//! The history file of `run` and `check`: read before anything is measured twice, one line added after the verdict.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::cli::GateArgs;
use crate::exit::Exit;
use crate::files;
use crate::gate;
use crate::history::{self, Job};
use crate::model::Verdict;
use crate::model::history::{HistoryEntry, Moment};

use super::apart::Named;
use super::fail::ExitWith;
use super::provenance;

/// A history that was read.
pub struct History {
    path: PathBuf,
    entries: Vec<HistoryEntry>,
    /// Whether this job is one of the main branch.
    counts: bool,
}

impl History {
    /// Reads the file; one that is not there yet is an empty history.
    pub fn open(args: &GateArgs) -> anyhow::Result<Option<History>> {
        let Some(path) = &args.history else {
            if args.history_only_read {
                anyhow::bail!("--history-only-read says how --history FILE is used; name the file");
            }
            return Ok(None);
        };
        if path.as_os_str() == "-" {
            anyhow::bail!("--history is read and added to, so it can't be standard output; name a file");
        }
        let counts = !(args.history_only_read || args.base_ref.is_some() || provenance::of_a_change());
        let entries = history::entries(&path.display().to_string(), &text(path)?)?;
        if counts {
            files::check(path).map_err(|error| ExitWith::error(Exit::OutputFailed, error))?;
        }
        Ok(Some(History { path: path.clone(), entries, counts }))
    }

    /// The file, for what must not be written over it.
    pub fn file(&self) -> Named<'_> {
        ("the history ", &self.path)
    }

    /// The verdict with its history. The job is added where it is one of the main branch.
    pub fn judge(&self, verdict: Verdict, baseline: &Path) -> (Verdict, anyhow::Result<()>) {
        let job = job(&verdict, baseline);
        let Some(this) = history::entry(&verdict, &job) else { return (verdict, Ok(())) };
        let file = self.path.display().to_string();
        let verdict = gate::with_history(verdict, &history::before(&file, &self.entries, &this, self.counts));
        let added =
            if self.counts { self.add(&HistoryEntry { outcome: verdict.outcome, ..this }) } else { Ok(()) };
        (verdict, added)
    }

    fn add(&self, entry: &HistoryEntry) -> anyhow::Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        append(&self.path, &line).map_err(|error| {
            let what = format!(
                "{} did not take this job: {error}; it holds what it held before",
                self.path.display()
            );
            ExitWith::error(Exit::OutputFailed, anyhow::anyhow!(what))
        })
    }
}

/// What is in the file. A pipe or device may never end, and can't be added to whole lines.
fn text(path: &Path) -> anyhow::Result<String> {
    let unreadable =
        |error: io::Error| anyhow::anyhow!("{} could not be read as a history: {error}", path.display());
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(unreadable(error)),
        Ok(data) if !data.is_file() => {
            anyhow::bail!("{} is no file; a history is a file of one line a job", path.display())
        }
        Ok(_) => {}
    }
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    // Not while another job is at its line. Some network file systems have no locks.
    let _ = file.lock_shared();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(history::text(&path.display().to_string(), &bytes)?.to_owned())
}

/// Which job this is. A report that names its commit or its time knows better than the machine that judges it.
fn job(verdict: &Verdict, baseline: &Path) -> Job {
    let candidate = &verdict.candidate;
    let of_report =
        || candidate.job_ids.iter().map(|id| provenance::without_attempt(id)).collect::<Vec<_>>().join("+");
    Job {
        name: provenance::ci_run().unwrap_or_else(of_report),
        moment: Moment {
            commit: candidate.commit.clone().or_else(|| provenance::commit(baseline)),
            at: candidate.started.unwrap_or_else(provenance::now),
        },
    }
}

/// Adds a whole line or nothing. Writers take turns; a last line without an end is ended first, so that it stays one line.
fn append(path: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    // Some network file systems have no locks; one write of one line is whole there too.
    let _ = file.lock();
    let length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let gap = if last == [b'\n'] { "" } else { "\n" };
    let added = file.write_all(format!("{gap}{line}").as_bytes()).and_then(|()| file.sync_all());
    if added.is_err() {
        let _ = file.set_len(length);
    }
    added
}

//! `pacegate trend`: past reports, verdicts and histories as series.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::baseline;
use crate::cli::TrendArgs;
use crate::emit::{self, Style};
use crate::exit::Exit;
use crate::history::{self, Document, Pinned, Point};
use crate::model::history::Moment;
use crate::model::report::Requests;
use crate::model::trend::LeftOut;
use crate::model::{Baseline, FieldId, Finite, Job, Report};
use crate::source::ingest;

use super::apart::{self, Named};
use super::workspace::Workspace;
use super::{Done, outputs, provenance};

pub fn trend(args: &TrendArgs) -> Done {
    outputs::check(args.json.as_deref())?;
    let workspace = Workspace::at(args.place.chosen.config.as_deref(), args.place.chosen.profile.as_deref())?;
    let profile = workspace.chosen_profile().map(str::to_owned);
    let options = ingest::Options { profile, ..ingest::Options::default() };
    let mut found =
        Found { workspace: &workspace, options, points: Vec::new(), left_out: Vec::new(), read: Vec::new() };
    for path in &args.paths {
        found.path(path)?;
    }
    found.some(&args.paths)?;
    let baselines = pinned(args, &workspace, &found.points)?;
    let outputs: Vec<Named<'_>> = args.json.iter().map(|path| ("--json", path.as_path())).collect();
    let inputs = found.read.iter().map(|path| ("", path.as_path()));
    let inputs: Vec<Named<'_>> = inputs.chain(baselines.keys().map(|file| ("", Path::new(file)))).collect();
    apart::from_inputs(&outputs, &inputs)?;
    apart::from_inputs(&outputs, &workspace.files())?;
    let pinned: Vec<Pinned> = baselines.iter().map(|(file, baseline)| Pinned { file, baseline }).collect();
    let trend = history::trend(found.points, found.left_out, &pinned)?;
    let table = emit::trend(&trend, Style { width: outputs::width(), ..outputs::plain(args.quiet) });
    outputs::page(&table, args.json.as_deref(), || Ok(emit::trend_json(&trend)))?;
    Ok(Exit::Pass)
}

/// The baselines of the profiles that were found, or the one that was named.
fn pinned(
    args: &TrendArgs,
    workspace: &Workspace,
    points: &[Point],
) -> anyhow::Result<BTreeMap<String, Baseline>> {
    let named = args.place.baseline.iter().cloned();
    let usual =
        points.iter().map(|point| workspace.baseline_path(&point.profile)).filter(|path| path.is_file());
    let paths: Vec<PathBuf> = if args.place.baseline.is_some() { named.collect() } else { usual.collect() };
    let mut read = BTreeMap::new();
    for path in paths {
        if let Entry::Vacant(place) = read.entry(path.display().to_string()) {
            place.insert(baseline::parse(&path.display().to_string(), &baseline::read(&path)?)?);
        }
    }
    Ok(read)
}

/// What was found so far.
struct Found<'a> {
    workspace: &'a Workspace,
    options: ingest::Options,
    points: Vec<Point>,
    left_out: Vec<LeftOut>,
    /// Every file that was opened.
    read: Vec<PathBuf>,
}

impl Found<'_> {
    /// A path that was named must be readable.
    fn path(&mut self, path: &Path) -> anyhow::Result<()> {
        let data =
            std::fs::metadata(path).with_context(|| format!("{} could not be read", path.display()))?;
        if data.is_dir() { self.folder(path) } else { self.file(path) }
    }

    /// Everything in a folder, in the order of names. What is no report is said, since a folder may hold anything.
    fn folder(&mut self, folder: &Path) -> anyhow::Result<()> {
        let unreadable = || format!("{} could not be read", folder.display());
        let entries = std::fs::read_dir(folder).with_context(unreadable)?;
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(entry.with_context(unreadable)?.path());
        }
        paths.sort();
        for path in paths {
            if is_hidden(&path) {
                continue;
            }
            // A link to a folder may lead in a circle.
            let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
            if is_folder {
                self.folder(&path)?;
            } else if path.is_file() {
                self.file_in_folder(&path)?;
            }
        }
        Ok(())
    }

    fn file_in_folder(&mut self, path: &Path) -> anyhow::Result<()> {
        match self.file(path) {
            Ok(()) => Ok(()),
            // A damaged line or file of ours is an error wherever it lies; another tool's file may be no report at all.
            Err(error) if error.is::<Damaged>() => Err(error),
            Err(error) => {
                self.leave_out(path.display().to_string(), &format!("{error:#}"));
                Ok(())
            }
        }
    }

    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let name = path.display().to_string();
        self.read.push(path.to_path_buf());
        let bytes = std::fs::read(path).with_context(|| format!("{name} could not be read"))?;
        match std::str::from_utf8(&bytes) {
            Ok(text) if is_lines(path, text) => self.lines(&name, text),
            Ok(text) => match history::document(&name, text.trim_start_matches('\u{feff}')) {
                Ok(Document::Other) => self.report(path),
                Ok(document) => {
                    self.document(name, document);
                    Ok(())
                }
                Err(what) => Err(Damaged(format!("{name}: {what}")).into()),
            },
            Err(_) if memchr::memmem::find(&bytes, HISTORY.as_bytes()).is_some() => {
                let damaged = |line: history::DamagedLine| Damaged(line.to_string());
                Ok(history::text(&name, &bytes).map(drop).map_err(damaged)?)
            }
            // Compressed, perhaps.
            Err(_) => self.report(path),
        }
    }

    /// A history, or any mix of histories, verdicts and reports, a line each.
    fn lines(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        for (number, line) in history::lines(text) {
            let source = format!("{name}:{number}");
            let damaged = |what: String| {
                let file = name.to_owned();
                Damaged(history::DamagedLine { file, line: number, what }.to_string())
            };
            match history::document(&source, line).map_err(damaged)? {
                Document::Other => {
                    let report: Report = serde_json::from_str(line).map_err(|error| {
                        damaged(format!(
                            "neither a line of a history, nor a verdict, nor a report of pacegate ({error})"
                        ))
                    })?;
                    self.jobs(&source, &report);
                }
                document => self.document(source, document),
            }
        }
        Ok(())
    }

    fn document(&mut self, source: String, document: Document) {
        match document {
            Document::Point(point) => {
                let job = provenance::without_attempt(&point.job);
                self.points.push(Point { job, ..*point });
            }
            Document::Unfit(why) => self.leave_out(source, why),
            Document::Other => self.leave_out(source, "it is no verdict"),
        }
    }

    /// A report, of pacegate or of another tool.
    fn report(&mut self, path: &Path) -> anyhow::Result<()> {
        let input = ingest::Input { strategy: None, path: path.to_path_buf() };
        let report = ingest::read(&[input], &self.options)?;
        self.jobs(&path.display().to_string(), &report);
        Ok(())
    }

    fn jobs(&mut self, source: &str, report: &Report) {
        for job in &report.jobs {
            match (job.complete, job.started) {
                (false, _) => self.leave_out(source.to_owned(), "it was interrupted, and part of a run is no job"),
                (true, None) => self.leave_out(
                    source.to_owned(),
                    "it does not say when it was measured, so it has no place in a series; check --history FILE notes the time",
                ),
                (true, Some(at)) => {
                    let moment = Moment { commit: report.code.commit.clone(), at };
                    let point = self.point(source, report, job, moment);
                    self.points.push(point);
                }
            }
        }
    }

    fn point(&self, source: &str, report: &Report, job: &Job, moment: Moment) -> Point {
        let alone = Report { jobs: vec![job.clone()], ..report.clone() };
        let policy = self.workspace.policy(&report.profile.name);
        let gated = |field: &FieldId| policy.tolerance(field).ok().flatten().is_some();
        let requests = crate::gate::requests(&alone);
        let none = requests.succeeded == Some(0);
        let values = baseline::values(std::slice::from_ref(&alone)).into_iter();
        let fields: BTreeMap<FieldId, Finite> = values
            .filter(|(field, _)| !none && gated(field))
            .map(|(field, quantity)| (field, quantity.value))
            .collect();
        Point {
            source: source.to_owned(),
            profile: report.profile.name.clone(),
            model: report.subject.model.clone(),
            format: report.source.format.clone(),
            baseline: None,
            allowed: Vec::new(),
            workloads: report.profile.fingerprints.clone(),
            job: provenance::without_attempt(&job.id),
            moment,
            requests: Requests { error_samples: BTreeMap::new(), ..requests },
            fields,
        }
    }

    fn leave_out(&mut self, source: String, why: &str) {
        self.left_out.push(LeftOut { source, why: why.to_owned() });
    }

    /// Nothing found is never "steady".
    fn some(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        if !self.points.is_empty() {
            return Ok(());
        }
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let first = self.left_out.first();
        let why = first.map_or_else(
            || "; name reports, verdicts (--json FILE) or a history (--history FILE) of past jobs".to_owned(),
            |left| format!("; {} files were left out, {}: {}", self.left_out.len(), left.source, left.why),
        );
        anyhow::bail!("no past job was found in {}{why}", paths.join(", "))
    }
}

/// A file or line that says it is ours, and is not whole.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Damaged(String);

/// What every line of a history has.
const HISTORY: &str = "\"pacegate.history/";

/// A history under any name, even one with the marks of a merge in it; JSON Lines of other kinds by their ending. Other tools write those too, ours say whose they are.
fn is_lines(path: &Path, text: &str) -> bool {
    let history = text.lines().any(|line| line.starts_with('{') && line.contains(HISTORY));
    let ending = path.extension().is_some_and(|own| own.eq_ignore_ascii_case("jsonl"));
    history || ending && text.contains("\"pacegate.")
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

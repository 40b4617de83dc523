//! Where a command writes: standard output, the log, and the files asked for. Targets are tried before measuring.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::OutputArgs;
use crate::emit::{self, Detail, Style};
use crate::exit::Exit;
use crate::files;
use crate::model::report::SourceKind;
use crate::model::{Report, Timestamp, Verdict};

use super::fail::ExitWith;
use super::{on_github, provenance};

/// All targets of one invocation.
pub struct Outputs {
    report: Option<PathBuf>,
    json: Option<PathBuf>,
    markdown: Option<PathBuf>,
    junit: Option<PathBuf>,
    metrics: Option<PathBuf>,
    log: Option<PathBuf>,
    style: Style,
    started: Timestamp,
    clock: Instant,
}

impl Outputs {
    /// Takes the targets and tries each, so that a bad path fails in the first second and not after the run.
    pub fn open(args: &OutputArgs) -> anyhow::Result<Outputs> {
        let files = [&args.report, &args.json, &args.markdown, &args.junit, &args.metrics, &args.log];
        for path in files.into_iter().flatten() {
            files::check(path).map_err(|error| ExitWith::error(Exit::OutputFailed, error))?;
        }
        Ok(Outputs {
            report: args.report.clone(),
            json: args.json.clone(),
            markdown: args.markdown.clone(),
            junit: args.junit.clone(),
            metrics: args.metrics.clone(),
            log: args.log.clone(),
            style: style(args),
            started: provenance::now(),
            clock: Instant::now(),
        })
    }

    /// Refuses to write over what is read: a verdict in the place of the blessed baseline would be lost data.
    pub fn spare(&self, inputs: &[&Path]) -> anyhow::Result<()> {
        let place = |path: &Path| std::fs::canonicalize(path).ok().filter(|real| real.is_file());
        let files = [&self.report, &self.json, &self.markdown, &self.junit, &self.metrics, &self.log];
        for target in files.into_iter().flatten() {
            if let Some(input) =
                inputs.iter().find(|input| place(input).is_some_and(|p| Some(p) == place(target)))
            {
                anyhow::bail!(
                    "{} is read here, so nothing may be written to it; name another file",
                    input.display()
                );
            }
        }
        Ok(())
    }

    /// Writes the measured report, if it was asked for.
    pub fn write_report(&self, report: &Report) -> Vec<anyhow::Error> {
        let text = || Ok(serde_json::to_string_pretty(report)? + "\n");
        write(self.report.as_deref(), text).err().into_iter().collect()
    }

    /// Keeps what an interrupted run has: in the file asked for, else beside the user.
    pub fn write_partial(&self, report: &Report) -> (PathBuf, Vec<anyhow::Error>) {
        const PARTIAL: &str = "pacegate-partial.json";
        let path = self.report.clone().unwrap_or_else(|| PathBuf::from(PARTIAL));
        let text = || Ok(serde_json::to_string_pretty(report)? + "\n");
        let failed = write(Some(&path), text).err().into_iter().collect();
        (path, failed)
    }

    /// Prints the verdict and writes every file, whatever fails on the way.
    ///
    /// `kind` says whether the numbers were measured here, `own` is this checkout's baseline.
    pub fn emit(&self, verdict: &Verdict, kind: SourceKind, own: &Path) -> Vec<anyhow::Error> {
        let mut failed = Vec::new();
        let plain = || Ok(emit::terminal(verdict, Style { colour: false, ..self.style }));
        failed.extend(write(self.log.as_deref(), plain).err());
        failed.extend(write(self.json.as_deref(), || Ok(emit::json(verdict))).err());
        failed.extend(write(self.markdown.as_deref(), || Ok(emit::markdown(verdict))).err());
        failed.extend(write(self.junit.as_deref(), || Ok(emit::junit(verdict, &self.run(kind)))).err());
        failed.extend(write(self.metrics.as_deref(), || Ok(emit::openmetrics(verdict))).err());
        // Printed last: the exit that the text tells is the one that comes.
        let told = if failed.is_empty() { verdict.clone() } else { with_failed_output(verdict) };
        failed.extend(print(&emit::terminal(&told, self.style)).err());
        on_github::tell(verdict, own);
        failed
    }

    fn run(&self, kind: SourceKind) -> emit::Run {
        let took = if kind == SourceKind::Ingest { Duration::ZERO } else { self.clock.elapsed() };
        emit::Run { started: self.started, took }
    }
}

/// The verdict with the exit that comes when something could not be written.
pub fn with_failed_output(verdict: &Verdict) -> Verdict {
    let exit_code = match verdict.exit_code {
        0 => Exit::OutputFailed.code(),
        code => code,
    };
    Verdict { exit_code, ..verdict.clone() }
}

/// What failed to be written is said, and replaces only a pass.
pub fn settle(exit: Exit, failed: Vec<anyhow::Error>) -> Exit {
    let any = !failed.is_empty();
    for error in failed {
        super::fail::report(&error);
    }
    if any { exit.with_failed_output() } else { exit }
}

fn write(path: Option<&Path>, text: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    Ok(files::write(path, text()?.as_bytes())?)
}

/// Prints on standard output. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("failed to write to standard output"))
        }
        _ => Ok(()),
    }
}

/// The terminal's columns, where standard output is one.
pub fn width() -> Option<u16> {
    let terminal = std::io::stdout().is_terminal();
    terminal.then(|| terminal_size::terminal_size().map(|(width, _)| width.0)).flatten()
}

/// Without colours.
pub fn plain(quiet: bool) -> Style {
    let detail = if quiet { Detail::Quiet } else { Detail::Usual };
    Style { colour: false, width: None, detail }
}

fn style(args: &OutputArgs) -> Style {
    let terminal = std::io::stdout().is_terminal();
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let detail = match (args.quiet, args.verbose) {
        (true, _) => Detail::Quiet,
        (false, 0) => Detail::Usual,
        (false, _) => Detail::Verbose,
    };
    Style { colour: terminal && !no_colour, width: width(), detail }
}

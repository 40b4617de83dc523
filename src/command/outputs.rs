//! Where a command writes: standard output, the log, and the files asked for. Targets are tried before measuring.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::OutputArgs;
use crate::emit::{self, Detail, Style};
use crate::exit::Exit;
use crate::files;
use crate::model::report::SourceKind;
use crate::model::{Report, Timestamp, Verdict};

use super::apart::{self, Named};
use super::fail::ExitWith;
use super::{on_github, provenance};

/// All targets of one invocation.
pub struct Outputs<'a> {
    args: &'a OutputArgs,
    style: Style,
    started: Timestamp,
    clock: Instant,
}

impl<'a> Outputs<'a> {
    /// Takes the targets and tries each, so that a bad path fails in the first second and not after the run.
    pub fn open(args: &'a OutputArgs) -> anyhow::Result<Outputs<'a>> {
        let outputs = Outputs { args, style: style(args), started: provenance::now(), clock: Instant::now() };
        for (_, path) in outputs.targets() {
            files::check(path).map_err(|error| ExitWith::error(Exit::OutputFailed, error))?;
        }
        apart::from_each_other(&outputs.targets())?;
        Ok(outputs)
    }

    /// Every file that will be written, by its flag.
    fn targets(&self) -> Vec<Named<'a>> {
        let OutputArgs { report, markdown, junit, metrics, json, log, verbose: _, quiet: _ } = self.args;
        let all = [
            ("--report", report),
            ("--json", json),
            ("--markdown", markdown),
            ("--junit", junit),
            ("--metrics", metrics),
            ("--log", log),
        ];
        all.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?))).collect()
    }

    /// Refuses to write over what is read.
    pub fn spare(&self, inputs: &[Named<'_>]) -> anyhow::Result<()> {
        apart::from_inputs(&self.targets(), inputs)
    }

    /// Writes the measured report, if it was asked for.
    pub fn write_report(&self, report: &Report) -> Vec<anyhow::Error> {
        self.args.report.as_deref().and_then(|path| write_report(path, report).err()).into_iter().collect()
    }

    /// Keeps what an interrupted run has: in the file asked for, else beside the user.
    pub fn write_partial(&self, report: &Report) -> (PathBuf, Vec<anyhow::Error>) {
        const PARTIAL: &str = "pacegate-partial.json";
        let path = self.args.report.clone().unwrap_or_else(|| PathBuf::from(PARTIAL));
        let failed = write_report(&path, report).err().into_iter().collect();
        (path, failed)
    }

    /// Prints the verdict and writes every file, whatever fails on the way, and adds to `failed` what does.
    ///
    /// Each tells the exit that comes: that of a pass is another one once anything failed. So what can't be written twice
    /// comes after the files, standard output last, and files are written again where the exit became another one.
    ///
    /// `kind` says whether the numbers were measured here, `own` is this checkout's baseline.
    pub fn emit(&self, verdict: &Verdict, kind: SourceKind, own: &Path, failed: &mut Vec<anyhow::Error>) {
        let first = telling(verdict, failed);
        let device = |path: &Path| !files::is_replaced(path) && !files::is_stdout(path);
        for which in [files::is_replaced, device, files::is_stdout] {
            let now = telling(verdict, failed);
            failed.extend(self.write(&now, kind, which));
        }
        let printed = telling(verdict, failed);
        failed.extend(self.print(&emit::terminal(&printed, self.style)).err());
        let last = telling(verdict, failed);
        if last.exit_code != first.exit_code {
            // What failed fails again and is reported already; a pipe has had its text.
            let _again = self.write(&last, kind, files::is_replaced);
        }
        let markdown = self.args.markdown.as_deref();
        on_github::tell(&last, own, markdown);
    }

    /// Writes the verdict's files that `which` picks.
    fn write(&self, verdict: &Verdict, kind: SourceKind, which: fn(&Path) -> bool) -> Vec<anyhow::Error> {
        let OutputArgs { markdown, junit, metrics, json, log, .. } = self.args;
        let text: [(&Option<PathBuf>, &dyn Fn() -> String); 5] = [
            (json, &|| emit::json(verdict)),
            (markdown, &|| emit::markdown(verdict)),
            (junit, &|| emit::junit(verdict, &self.run(kind))),
            (metrics, &|| emit::openmetrics(verdict)),
            (log, &|| emit::terminal(verdict, Style { colour: false, ..self.style })),
        ];
        let text = text.into_iter().filter_map(|(path, text)| Some((path.as_deref()?, text)));
        let text = text.filter(|(path, _)| which(path));
        let write = |(path, text): (&Path, &dyn Fn() -> String)| files::write(path, text().as_bytes()).err();
        text.filter_map(write).map(anyhow::Error::new).collect()
    }

    /// On standard output, or beside it where that is a file's.
    fn print(&self, text: &str) -> anyhow::Result<()> {
        if self.targets().iter().any(|(_, path)| files::is_stdout(path)) {
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
            return Ok(());
        }
        print(text)
    }

    fn run(&self, kind: SourceKind) -> emit::Run {
        let took = if kind == SourceKind::Ingest { Duration::ZERO } else { self.clock.elapsed() };
        emit::Run { started: self.started, took }
    }
}

/// The verdict with the exit that comes of it after these failures.
fn telling<'v>(verdict: &'v Verdict, failed: &[anyhow::Error]) -> Cow<'v, Verdict> {
    let pass = verdict.exit_code == Exit::Pass.code();
    if pass && !failed.is_empty() {
        Cow::Owned(Verdict { exit_code: Exit::OutputFailed.code(), ..verdict.clone() })
    } else {
        Cow::Borrowed(verdict)
    }
}

/// What failed to be written is said, and replaces only a pass.
pub fn settle(exit: Exit, failed: Vec<anyhow::Error>) -> Exit {
    let any = !failed.is_empty();
    for error in failed {
        super::fail::report(&error);
    }
    if any { exit.with_failed_output() } else { exit }
}

fn write_report(path: &Path, report: &Report) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(report)? + "\n";
    Ok(files::write(path, text.as_bytes())?)
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

/// Tries the one file that a command writes beside its page.
pub fn check(json: Option<&Path>) -> anyhow::Result<()> {
    let tried = json.map_or(Ok(()), files::check);
    tried.map_err(|error| ExitWith::error(Exit::OutputFailed, error))
}

/// Prints a page and writes the same for programs; on standard output that takes its place.
pub fn page(
    page: &str,
    json: Option<&Path>,
    text: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    if !json.is_some_and(files::is_stdout) {
        print(page)?;
    }
    let Some(path) = json else { return Ok(()) };
    files::write(path, text()?.as_bytes()).map_err(|error| ExitWith::error(Exit::OutputFailed, error))
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

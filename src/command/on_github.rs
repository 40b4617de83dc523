//! What a job of GitHub Actions is told without being asked: annotations and its summary. Neither changes a verdict.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::emit;
use crate::emit::text::{self, Annotation, AnnotationLevel};
use crate::files;
use crate::model::Verdict;

/// Whether this process is a step of GitHub Actions, whose runner reads workflow commands from what is printed.
fn is_step() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// The verdict in the step's summary and as annotations. `own` is this checkout's baseline, where values have lines;
/// `markdown` is the file that has the Markdown already, which may be the summary.
pub fn tell(verdict: &Verdict, own: &Path, markdown: Option<&Path>) {
    let written = |path: &PathBuf| markdown.is_some_and(|markdown| files::same(markdown, path));
    if let Some(path) = summary().filter(|path| !written(path))
        && let Err(error) = append(&path, &emit::markdown(verdict))
    {
        warn(&format!(
            "the step's summary {} could not be written: {error}; the verdict stands all the same",
            path.display()
        ));
    }
    if is_step() {
        let own = std::fs::read_to_string(own).ok();
        print(&emit::github(verdict, own.as_deref()));
    }
}

/// An error that left no verdict, as an annotation.
pub fn tell_error(message: &str) {
    if is_step() {
        let error = Annotation {
            level: AnnotationLevel::Error,
            message,
            title: Some("pacegate"),
            file: None,
            line: None,
        };
        print(&(text::workflow_command(&error) + "\n"));
    }
}

fn warn(message: &str) {
    print(&format!("pacegate: {}\n", text::terminal(message)));
}

/// On standard error, so that standard output stays the table; the runner reads both.
fn print(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn summary() -> Option<PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Adds to what earlier commands of the step wrote, as a block of its own.
fn append(path: &Path, markdown: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let before = file.seek(SeekFrom::End(0)).unwrap_or(0);
    let gap = if before > 0 { "\n" } else { "" };
    file.write_all(format!("{gap}{markdown}").as_bytes())
}

//! A command that could not do its work: the message, and which exit it is.

use std::fmt;
use std::io::Write;

use crate::emit::text;
use crate::exit::Exit;

/// An error whose exit is not 2.
#[derive(Debug)]
pub struct ExitWith {
    exit: Exit,
    source: anyhow::Error,
}

impl ExitWith {
    /// `error`, ending the process with `exit`.
    pub fn error(exit: Exit, error: impl Into<anyhow::Error>) -> anyhow::Error {
        anyhow::Error::new(ExitWith { exit, source: error.into() })
    }
}

impl fmt::Display for ExitWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(&self.source))
    }
}

impl std::error::Error for ExitWith {}

/// Prints an error on standard error and says which exit it is: 2 unless it knows better.
pub fn report(error: &anyhow::Error) -> Exit {
    let whole = chain(error);
    let message: String = whole.lines().map(|line| format!("{}\n", text::terminal(line))).collect();
    let _ = write!(std::io::stderr(), "pacegate: {message}");
    super::on_github::tell_error(&whole);
    error.downcast_ref::<ExitWith>().map_or(Exit::Usage, |with| with.exit)
}

/// The error and its causes; a cause that the sentence before it already holds is not said again.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let words = cause.to_string();
        if !text.contains(&words) {
            let colon = if text.is_empty() { "" } else { ": " };
            text.push_str(&format!("{colon}{words}"));
        }
    }
    text
}

//! Exit codes: the only place where their numbers stand. `docs/exit-codes.md` is made from [`CODES`].

use crate::model::Outcome;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every required field compared and within the rules.
    Pass,
    /// A gated field regressed.
    Regression,
    /// Bad flag, configuration or file.
    Usage,
    /// Nothing can be said.
    NoVerdict,
    /// The evidence can't decide and the policy makes that block.
    Inconclusive,
    /// The measurement itself failed.
    RunFailed,
    /// A requested file could not be written.
    OutputFailed,
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

/// One row of the table: code, name, when.
pub const CODES: &[(Exit, &str, &str)] = &[
    (
        Exit::Pass,
        "pass",
        "every required field was compared and is within the rules (improvements, waivers and unresolved fields are listed)",
    ),
    (
        Exit::Regression,
        "regression",
        "a gated field or channel regressed, an absolute limit is broken, or a group has no success",
    ),
    (
        Exit::Usage,
        "usage",
        "bad flag or configuration, unreadable or unparsable file, a number in it that is none",
    ),
    (
        Exit::NoVerdict,
        "no verdict",
        "no blessed baseline, nothing in common, a required field missing, not comparable, a report that parses but is invalid, or a gate rule that matches nothing",
    ),
    (
        Exit::Inconclusive,
        "inconclusive",
        "the evidence can't decide and the policy makes that block, or the gate is blind for a required metric",
    ),
    (
        Exit::RunFailed,
        "run failed",
        "the endpoint was unreachable, there was no success or no token in the whole run, or the client was the bottleneck",
    ),
    (Exit::OutputFailed, "output failed", "a requested file could not be written; replaces only 0"),
    (Exit::Interrupted, "interrupted", "Ctrl-C; a partial report is kept and marked"),
    (Exit::Terminated, "terminated", "SIGTERM; a partial report is kept and marked"),
];

impl Exit {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Exit::Pass => 0,
            Exit::Regression => 1,
            Exit::Usage => 2,
            Exit::NoVerdict => 3,
            Exit::Inconclusive => 4,
            Exit::RunFailed => 5,
            Exit::OutputFailed => 6,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }

    /// The exit of a verdict. `--report-only` turns 1, 3 and 4 into 0; a failed run stays a failed run.
    #[must_use]
    pub const fn of(outcome: Outcome, report_only: bool) -> Exit {
        match (outcome, report_only) {
            (Outcome::Pass, _) | (Outcome::Regression | Outcome::NoVerdict | Outcome::Inconclusive, true) => {
                Exit::Pass
            }
            (Outcome::Regression, false) => Exit::Regression,
            (Outcome::NoVerdict, false) => Exit::NoVerdict,
            (Outcome::Inconclusive, false) => Exit::Inconclusive,
            (Outcome::RunFailed, _) => Exit::RunFailed,
        }
    }

    /// An output that could not be written replaces only a pass.
    #[must_use]
    pub const fn with_failed_output(self) -> Exit {
        match self {
            Exit::Pass => Exit::OutputFailed,
            other => other,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit.code())
    }
}

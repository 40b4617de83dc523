//! The commands. Each reads as a list of stages; all words about results come from `emit`.

mod against;
mod apart;
mod blessed;
mod check;
mod convert;
mod doctor;
mod endpoint;
mod explain;
mod fail;
mod formats;
mod gate;
mod history;
mod init;
mod interrupt;
mod manual;
mod mock;
mod on_github;
mod outputs;
mod plan;
mod progress;
mod provenance;
mod run;
mod schema;
mod self_test;
mod trend;
mod typed;
mod workspace;

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

/// Runs a command. Errors are printed here, once, with what to do next.
#[must_use]
pub fn dispatch(cli: Cli) -> ExitCode {
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Convert(args) => convert::convert(&args),
        Command::Trend(args) => trend::trend(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::SelfTest(args) => self_test::self_test(&args),
        Command::Mock(args) => mock::mock(&args),
        Command::Formats => formats::formats(),
        Command::Schema(args) => schema::schema(&args),
        Command::Init(args) => init::init(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    done.unwrap_or_else(|error| fail::report(&error)).into()
}

type Done = anyhow::Result<Exit>;

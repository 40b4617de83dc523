//! The `pacegate` binary: parse, call, exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    pacegate::command::dispatch(pacegate::cli::Cli::parse())
}

//! `pacegate completions` and `pacegate man`: both made from the command line's own structs.

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::exit::Exit;

use super::{Done, outputs};

pub fn completions(args: &CompletionsArgs) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pacegate", &mut script);
    print(script)
}

pub fn man(args: &ManArgs) -> Done {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let command = match &args.command {
        None => whole,
        Some(name) => whole.find_subcommand(name).cloned().with_context(|| {
            let known: Vec<_> = whole.get_subcommands().map(clap::Command::get_name).collect();
            format!("{name} is no command; there are {}", known.join(", "))
        })?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .source(concat!("pacegate ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)?;
    print(page)
}

fn print(bytes: Vec<u8>) -> Done {
    outputs::print(&String::from_utf8(bytes)?)?;
    Ok(Exit::Pass)
}

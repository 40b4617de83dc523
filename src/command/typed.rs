//! The command line as it was typed, for people to run again: what gives the same verdict, and nothing secret.

use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{Args, CommandFactory};

use crate::cli::{Cli, OutputArgs};

/// The environment variable's own flag stays out: it names the key, and who mistakes it puts the key itself there.
const KEY_NAME: &str = "api_key_env";

/// The command that gives this verdict again, quoted for a shell.
pub fn this_command() -> String {
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut typed = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut command = vec!["pacegate".to_owned()];
    command.extend(typed.next());
    command.extend(from_environment(&words));
    command.extend(without_outputs(typed));
    // Who looks at a verdict again does not add a job to the history.
    let given = |flag: &str| command.iter().any(|word| word.split('=').next() == Some(flag));
    if given("--history") && !given("--history-only-read") {
        command.insert(2, "--history-only-read".to_owned());
    }
    command.iter().map(|word| quoted(without_query(word))).collect::<Vec<_>>().join(" ")
}

/// The flags that say where a verdict is written to, which never changes it.
fn outputs() -> Vec<clap::Arg> {
    let all = OutputArgs::augment_args(clap::Command::new("outputs"));
    all.get_arguments().filter(|arg| arg.get_action().takes_values()).cloned().collect()
}

/// What the environment set, as flags: without them the command would give another verdict.
fn from_environment(words: &[OsString]) -> Vec<String> {
    let mut cli = Cli::command();
    let Ok(matches) = cli.try_get_matches_from_mut(words) else { return Vec::new() };
    let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
    let Some(command) = cli.find_subcommand(name) else { return Vec::new() };
    let outputs = outputs();
    let set = command.get_arguments().filter(|arg| {
        let id = arg.get_id();
        let known = outputs.iter().any(|output| output.get_id() == id);
        !known && id != KEY_NAME && matches.value_source(id.as_str()) == Some(ValueSource::EnvVariable)
    });
    let flag = |arg: &clap::Arg| {
        let values = matches.get_raw(arg.get_id().as_str())?.map(OsStr::to_string_lossy);
        Some(format!("--{}={}", arg.get_long()?, values.collect::<Vec<_>>().join(",")))
    };
    set.filter_map(flag).collect()
}

/// The words without the output flags and their values; after `--` there are no flags.
fn without_outputs(words: impl Iterator<Item = String>) -> Vec<String> {
    let outputs = outputs();
    // Somebody may have typed the key in the place of its name.
    let names = outputs.iter().filter_map(clap::Arg::get_long).chain(["api-key-env"]);
    let flags: Vec<String> = names.map(|name| format!("--{name}")).collect();
    let (mut kept, mut words) = (Vec::new(), words);
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        match word.split_once('=') {
            Some((flag, _)) if flags.iter().any(|known| known == flag) => {}
            _ if flags.contains(&word) => drop(words.next()),
            _ => kept.push(word),
        }
    }
    kept
}

/// A URL's query may hold a secret.
fn without_query(word: &str) -> &str {
    let scheme = word.find("://").unwrap_or(word.len());
    word[scheme..].find('?').map_or(word, |query| &word[..scheme + query])
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

//! `pacegate convert`: any report as canonical JSON.

use std::path::Path;

use crate::cli::ConvertArgs;
use crate::exit::Exit;
use crate::files;
use crate::source::ingest;

use super::fail::ExitWith;
use super::{Done, outputs};

pub fn convert(args: &ConvertArgs) -> Done {
    let to_stdout = args.output == Path::new("-");
    if !to_stdout {
        files::check(&args.output).map_err(|error| ExitWith::error(Exit::OutputFailed, error))?;
    }
    let inputs: Vec<_> = args.reports.iter().map(|text| ingest::Input::parse(text)).collect();
    let report = ingest::read(&inputs, &super::check::options(&args.ingest, None))?;
    let text = serde_json::to_string_pretty(&report)? + "\n";
    match to_stdout {
        true => outputs::print(&text)?,
        false => {
            files::write(&args.output, text.as_bytes())
                .map_err(|error| ExitWith::error(Exit::OutputFailed, error))?;
        }
    }
    Ok(Exit::Pass)
}

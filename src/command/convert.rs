//! `pacegate convert`: any report as canonical JSON.

use std::path::Path;

use crate::cli::ConvertArgs;
use crate::exit::Exit;
use crate::files;
use crate::source::ingest;

use super::Done;
use super::apart;
use super::fail::ExitWith;

pub fn convert(args: &ConvertArgs) -> Done {
    let failed = |error| ExitWith::error(Exit::OutputFailed, error);
    files::check(&args.output).map_err(failed)?;
    let inputs: Vec<_> = args.reports.iter().map(|text| ingest::Input::parse(text)).collect();
    apart::from_inputs(&[("--output", &args.output)], &super::check::reports(&inputs))?;
    let report = ingest::read(&inputs, &super::check::reading(&args.ingest, args.config.as_deref())?)?;
    let found: Vec<_> = report.source.files.iter().map(|file| ("the report ", Path::new(file))).collect();
    apart::from_inputs(&[("--output", &args.output)], &found)?;
    let text = serde_json::to_string_pretty(&report)? + "\n";
    files::write(&args.output, text.as_bytes()).map_err(failed)?;
    Ok(Exit::Pass)
}

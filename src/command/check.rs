//! `pacegate check`: reports that exist, held against the blessed baseline.

use crate::cli::{CheckArgs, IngestArgs};
use crate::source::ingest;

use super::against::Against;
use super::apart::Named;
use super::outputs::Outputs;
use super::workspace::Workspace;
use super::{Done, gate};

pub fn check(args: &CheckArgs) -> Done {
    let outputs = Outputs::open(&args.gate.output)?;
    let workspace = Workspace::open(&args.gate)?;
    let inputs: Vec<_> = args.reports.iter().map(|text| ingest::Input::parse(text)).collect();
    outputs.spare(&reports(&inputs))?;
    outputs.spare(&workspace.files())?;
    let report = ingest::read(&inputs, &options(&args.ingest, workspace.chosen_profile()))?;
    let against = Against::find(&report.profile.name, &workspace, &args.gate)?;
    outputs.spare(&[against.file()])?;
    gate::conclude(report, &against, &args.gate, &outputs)
}

/// The files of a command line, for what must not be written over them.
pub fn reports(inputs: &[ingest::Input]) -> Vec<Named<'_>> {
    inputs.iter().map(|input| ("the report ", input.path.as_path())).collect()
}

pub fn options(args: &IngestArgs, profile: Option<&str>) -> ingest::Options {
    ingest::Options {
        format: args.format,
        separate_jobs: args.job,
        profile: profile.map(str::to_owned),
        mapping: None,
    }
}

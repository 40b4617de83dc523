//! `pacegate check`: reports that exist, held against the blessed baseline.

use crate::cli::{CheckArgs, IngestArgs};
use crate::source::ingest;

use super::against::Against;
use super::outputs::Outputs;
use super::workspace::Workspace;
use super::{Done, gate};

pub fn check(args: &CheckArgs) -> Done {
    let outputs = Outputs::open(&args.gate.output)?;
    let workspace = Workspace::open(&args.gate)?;
    let inputs: Vec<_> = args.reports.iter().map(|text| ingest::Input::parse(text)).collect();
    let read: Vec<&std::path::Path> = inputs.iter().map(|input| input.path.as_path()).collect();
    outputs.spare(&read)?;
    let report = ingest::read(&inputs, &options(&args.ingest, workspace.chosen_profile()))?;
    let against = Against::find(&report.profile.name, &workspace, &args.gate)?;
    outputs.spare(&[&against.path])?;
    gate::conclude(report, &against, &args.gate, &outputs)
}

/// Files as they are, without any flag about them.
pub fn no_options(profile: Option<&str>) -> ingest::Options {
    options(&IngestArgs { format: None, job: false }, profile)
}

pub fn options(args: &IngestArgs, profile: Option<&str>) -> ingest::Options {
    ingest::Options {
        format: args.format,
        separate_jobs: args.job,
        profile: profile.map(str::to_owned),
        mapping: None,
    }
}

//! `pacegate check`: reports that exist, held against the blessed baseline.

use std::path::Path;

use crate::cli::{CheckArgs, IngestArgs};
use crate::source::ingest::{self, Asked, Format};

use super::against::Against;
use super::apart::Named;
use super::outputs::Outputs;
use super::workspace::Workspace;
use super::{Done, gate};

pub fn check(args: &CheckArgs) -> Done {
    let outputs = Outputs::open(&args.gate.output)?;
    let workspace = Workspace::open(&args.gate.place)?;
    let inputs: Vec<_> = args.reports.iter().map(|text| ingest::Input::parse(text)).collect();
    outputs.spare(&reports(&inputs))?;
    outputs.spare(&workspace.files())?;
    let report = ingest::read(&inputs, &options(&args.ingest, &workspace)?)?;
    let found: Vec<Named<'_>> =
        report.source.files.iter().map(|file| ("the report ", Path::new(file))).collect();
    outputs.spare(&found)?;
    let against = Against::find(&report.profile.name, &workspace, &args.gate)?;
    outputs.spare(&[against.file()])?;
    gate::conclude(report, &against, &args.gate, &outputs)
}

/// The files of a command line, for what must not be written over them.
pub fn reports(inputs: &[ingest::Input]) -> Vec<Named<'_>> {
    inputs.iter().map(|input| ("the report ", input.path.as_path())).collect()
}

/// How files are read; pacegate.toml has the mapping of a tool that is not known.
pub fn options(args: &IngestArgs, workspace: &Workspace) -> anyhow::Result<ingest::Options> {
    let mapping = match &args.format {
        Some(Asked { format: Format::Generic, mapping }) => Some(workspace.mapping(mapping.as_deref())?),
        _ => None,
    };
    let profile = workspace.chosen_profile().map(str::to_owned);
    Ok(ingest::Options {
        format: args.format.as_ref().map(|asked| asked.format),
        separate_jobs: args.job,
        profile: profile.or_else(|| mapping.map(|mapping| mapping.tool.clone())),
        mapping: mapping.cloned(),
    })
}

/// The same for a command that judges nothing: it needs no pacegate.toml but for a mapping.
pub fn reading(args: &IngestArgs, config: Option<&Path>) -> anyhow::Result<ingest::Options> {
    if args.format.as_ref().is_some_and(|asked| asked.format == Format::Generic) {
        let options = options(args, &Workspace::at(config, None)?)?;
        return Ok(ingest::Options {
            profile: options.mapping.as_ref().map(|own| own.tool.clone()),
            ..options
        });
    }
    Ok(ingest::Options {
        format: args.format.as_ref().map(|asked| asked.format),
        separate_jobs: args.job,
        ..ingest::Options::default()
    })
}

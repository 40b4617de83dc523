//! `pacegate run`: measure a profile, then judge or bless what came out.

use anyhow::{Context, bail};

use crate::cli::RunArgs;
use crate::config::Choice;
use crate::exit::Exit;
use crate::model::Report;
use crate::model::engine::Engine;
use crate::model::profile::{Profile, Prompts, Target};
use crate::model::wording::count;
use crate::source::load::endpoint::EndpointError;
use crate::source::load::{self, LoadError};
use crate::source::simulate;

use super::against::Against;
use super::fail::ExitWith;
use super::history::History;
use super::interrupt::Interrupt;
use super::outputs::{self, Outputs};
use super::progress::View;
use super::workspace::Workspace;
use super::{Done, endpoint, gate, provenance};

pub fn run(args: &RunArgs) -> Done {
    let outputs = Outputs::open(&args.gate.output)?;
    let workspace = Workspace::open(&args.gate.place)?;
    // A damaged history is said now, not after an hour of measuring; what counts is what is in it then.
    let history = History::open(&args.gate)?;
    if history.is_some() && args.against.is_some() {
        bail!(
            "--against holds two endpoints against each other at the same time, --history one job against those before it; take one of them out (PACEGATE_HISTORY sets --history too)"
        );
    }
    outputs.spare(&history.iter().map(History::file).collect::<Vec<_>>())?;
    let mut choice = workspace.choice(args.gate.place.chosen.profile.as_deref())?;
    if let Some(seed) = args.seed {
        choice.profile.seed = seed;
    }
    // Before anything is measured: hours must not end in a bad ref, and a partial report must not replace a baseline.
    let against = Against::find(&choice.profile.name, &workspace, &args.gate)?;
    outputs.spare(&[against.file()])?;
    outputs.spare(&workspace.files())?;
    gate::before_blessing(&args.gate.bless, &against)?;
    spare_what_is_read(&outputs, &choice.profile, args, &workspace)?;
    let interrupt = Interrupt::listen()?;
    let report = measure(&choice, args, &workspace, &against, &interrupt)?;
    if let Some(exit) = interrupt.exit() {
        let (kept, failed) = outputs.write_partial(&report);
        super::fail::report(&anyhow::anyhow!(
            "interrupted after {}: the partial report is in {}, marked, and is never judged",
            count(crate::gate::requests(&report).sent.unwrap_or(0), "request"),
            kept.display()
        ));
        return Ok(outputs::settle(exit, failed));
    }
    gate::conclude(report, &against, &args.gate, &outputs)
}

/// What the profile and the flags have the load generator read.
fn spare_what_is_read(
    outputs: &Outputs<'_>,
    profile: &Profile,
    args: &RunArgs,
    workspace: &Workspace,
) -> anyhow::Result<()> {
    if let Prompts::File(file) = &profile.prompts {
        outputs.spare(&[("the prompts ", &workspace.root().join(file))])?;
    }
    match &args.endpoint.ca_file {
        Some(file) => outputs.spare(&[("the certificates ", file)]),
        None => Ok(()),
    }
}

fn measure(
    choice: &Choice,
    args: &RunArgs,
    workspace: &Workspace,
    against: &Against,
    interrupt: &Interrupt,
) -> anyhow::Result<Report> {
    let profile = &choice.profile;
    let embedded = matches!(profile.target, Target::Embedded(_));
    if embedded && provenance::in_ci() && !choice.embedded_named {
        bail!(
            "in CI the embedded engine must be named, so that nobody takes its numbers for an endpoint's: say --profile smoke, or add a [profile.NAME] with base_url and model to pacegate.toml"
        );
    }
    if embedded && (args.endpoint.base_url.is_some() || args.against.is_some()) {
        bail!(
            "the profile {} measures the embedded engine, so no endpoint can be named; add a [profile.NAME] with model = \"…\" to pacegate.toml and say --profile NAME",
            profile.name
        );
    }
    let (client, code) = (provenance::client(), provenance::code(&against.path));
    let started = provenance::now();
    let report = match &profile.target {
        Target::Embedded(engine) => simulated(profile, engine, args, interrupt),
        Target::Endpoint { .. } => answered(profile, args, workspace, interrupt),
    };
    let mut report = report.with_context(|| format!("profile {}", profile.name))?;
    for job in &mut report.jobs {
        job.id = provenance::job_id(&client);
        job.started = Some(started);
    }
    (report.client, report.code) = (client, code);
    Ok(report)
}

fn simulated(
    profile: &Profile,
    engine: &Engine,
    args: &RunArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<Report> {
    let mut view = View::open(profile, &[], args.gate.output.quiet);
    Ok(simulate::measure(profile, engine, &mut |progress| view.see(progress), &interrupt.cancel)?)
}

fn answered(
    profile: &Profile,
    args: &RunArgs,
    workspace: &Workspace,
    interrupt: &Interrupt,
) -> anyhow::Result<Report> {
    let options = endpoint::options(&args.endpoint, args.against.clone(), workspace)?;
    let mut view = View::open(profile, &load::addresses(profile, &options)?, args.gate.output.quiet);
    load::measure(profile, &options, &mut |progress| view.see(progress), &interrupt.cancel)
        .map_err(unmeasured)
}

/// What the network or the system refused is a failed run; everything else is a slip in the profile or the flags.
fn unmeasured(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::Endpoint(EndpointError::NoAddress { .. })
        | LoadError::System(_)
        | LoadError::BeforeBlock { .. } => ExitWith::error(Exit::RunFailed, error),
        other => anyhow::Error::new(other),
    }
}

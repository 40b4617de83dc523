//! `pacegate run`: measure a profile, then judge or bless what came out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::cli::RunArgs;
use crate::config::Choice;
use crate::exit::Exit;
use crate::model::Report;
use crate::model::profile::Target;
use crate::source::simulate;

use super::outputs::{self, Outputs};
use super::progress::View;
use super::workspace::Workspace;
use super::{Done, gate, provenance};

pub fn run(args: &RunArgs) -> Done {
    let outputs = Outputs::open(&args.gate.output)?;
    let workspace = Workspace::open(&args.gate)?;
    let mut choice = workspace.choice(args.gate.profile.as_deref())?;
    if let Some(seed) = args.seed {
        choice.profile.seed = seed;
    }
    let interrupt = Interrupt::listen()?;
    let report = measure(&choice, args.gate.output.quiet, &interrupt)?;
    if let Some(exit) = interrupt.exit() {
        let (kept, failed) = outputs.write_partial(&report);
        super::fail::report(&anyhow::anyhow!(
            "interrupted after {} requests: the partial report is in {}, marked, and is never judged",
            crate::gate::requests(&report).sent.unwrap_or(0),
            kept.display()
        ));
        return Ok(outputs::settle(exit, failed));
    }
    gate::conclude(report, &workspace, &args.gate, &outputs)
}

fn measure(choice: &Choice, quiet: bool, interrupt: &Interrupt) -> anyhow::Result<Report> {
    let profile = &choice.profile;
    let engine = match &profile.target {
        Target::Embedded(engine) => engine,
        Target::Endpoint { .. } => bail!(
            "the profile {} measures an endpoint, which this version can't do yet; measure it with another tool and use pacegate check",
            profile.name
        ),
    };
    if provenance::in_ci() && !choice.embedded_named {
        bail!(
            "in CI the embedded engine must be named, so that nobody takes its numbers for an endpoint's: say --profile smoke, or add a [profile.NAME] with base_url and model to pacegate.toml"
        );
    }
    let client = provenance::client();
    let mut view = View::open(profile, quiet);
    let started = provenance::now();
    let report = simulate::measure(profile, engine, &mut |progress| view.see(progress), &interrupt.cancel);
    view.close();
    let mut report = report.with_context(|| format!("profile {}", profile.name))?;
    for job in &mut report.jobs {
        job.id = provenance::job_id(&client);
        job.started = Some(started);
    }
    report.client = client;
    Ok(report)
}

/// Ctrl-C and SIGTERM: the first asks the run to stop and keep what it has, the second ends the process.
struct Interrupt {
    cancel: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupt {
    fn listen() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt { cancel: Arc::default(), terminated: Arc::default() };
        let cancel = || Arc::clone(&interrupt.cancel);
        let listen = || -> std::io::Result<()> {
            flag::register_conditional_default(SIGINT, cancel())?;
            flag::register_conditional_default(SIGTERM, cancel())?;
            flag::register(SIGTERM, Arc::clone(&interrupt.terminated))?;
            flag::register(SIGTERM, cancel())?;
            flag::register(SIGINT, cancel())?;
            Ok(())
        };
        listen().context("failed to listen for Ctrl-C")?;
        Ok(interrupt)
    }

    fn exit(&self) -> Option<Exit> {
        match (self.cancel.load(Ordering::Relaxed), self.terminated.load(Ordering::Relaxed)) {
            (false, _) => None,
            (true, false) => Some(Exit::Interrupted),
            (true, true) => Some(Exit::Terminated),
        }
    }
}

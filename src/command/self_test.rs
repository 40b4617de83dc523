//! `pacegate self-test`: the user's own gate, tried out on its own baseline.

use crate::cli::SelfTestArgs;
use crate::emit;
use crate::exit::Exit;
use crate::files;
use crate::gate::{self, Input};
use crate::model::Report;
use crate::self_test::{self, Replay, Subject};
use crate::source::ingest;

use super::blessed::Blessed;
use super::fail::ExitWith;
use super::{Done, outputs, provenance};

pub fn self_test(args: &SelfTestArgs) -> Done {
    let failed = |error| ExitWith::error(Exit::OutputFailed, error);
    if let Some(path) = &args.json {
        files::check(path).map_err(failed)?;
    }
    let blessed = Blessed::open(&args.place)?;
    blessed.spare(args.json.as_deref())?;
    let today = provenance::today();
    let subject = Subject {
        baseline: &blessed.baseline,
        reference: &blessed.reference,
        policy: &blessed.policy,
        today,
    };
    let exit_of = |report: &Report| {
        let against = Some((&blessed.baseline, blessed.reference.clone()));
        let verdict = gate::judge(Input::new(report, against, &blessed.policy, today));
        verdict.map_or(Exit::Usage, |verdict| Exit::of(verdict.outcome, false))
    };
    let check = |text: &str| match ingest::read_bytes(
        "report.json",
        text.as_bytes().to_vec(),
        &ingest::Options::default(),
    ) {
        Ok(report) => exit_of(&report),
        Err(_) => Exit::Usage,
    };
    let found = self_test::run(&subject, &check, Replay { runs: args.replays, seed: args.seed })?;
    outputs::print(&emit::self_test(&found))?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&found)? + "\n";
        files::write(path, text.as_bytes()).map_err(failed)?;
    }
    Ok(if found.missed().next().is_none() { Exit::Pass } else { Exit::Regression })
}

//! `pacegate self-test`: the user's own gate, tried out on its own baseline.

use crate::cli::SelfTestArgs;
use crate::emit;
use crate::exit::Exit;
use crate::gate::{self, Input};
use crate::model::Report;
use crate::self_test::{self, Replay, Subject};
use crate::source::ingest;

use super::blessed::Blessed;
use super::{Done, outputs, provenance};

pub fn self_test(args: &SelfTestArgs) -> Done {
    outputs::check(args.json.as_deref())?;
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
    let json = || Ok(serde_json::to_string_pretty(&found)? + "\n");
    outputs::page(&emit::self_test(&found), args.json.as_deref(), json)?;
    Ok(if found.missed().next().is_none() { Exit::Pass } else { Exit::Regression })
}

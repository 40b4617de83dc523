//! What `run` and `check` share once there is a report: judge it or bless it, and say so everywhere.

use crate::baseline::{self, BlessRefused, BlessRequest};
use crate::cli::{BlessArgs, GateArgs};
use crate::emit;
use crate::exit::Exit;
use crate::files;
use crate::gate;
use crate::model::verdict::BaselineRef;
use crate::model::{Baseline, Fact, Outcome, Reason, Report, Verdict};
use crate::source::ingest;

use super::against::Against;
use super::fail::ExitWith;
use super::history::History;
use super::outputs::{self, Outputs};
use super::{Done, provenance, typed};

/// Judges the report, or blesses it, writes every output and says which exit it is.
pub fn conclude(report: Report, against: &Against, args: &GateArgs, outputs: &Outputs<'_>) -> Done {
    // A measured report is kept even where the history can no longer be read.
    let history = History::open(args);
    let file = history.iter().flatten().map(History::file);
    outputs.spare(&file.collect::<Vec<_>>())?;
    let mut failed = outputs.write_report(&report);
    let judged =
        history.and_then(|history| judge(report, against, args, history.as_ref(), outputs, &mut failed));
    match judged {
        Ok(exit) => Ok(outputs::settle(exit, failed)),
        Err(error) => {
            outputs::settle(Exit::Usage, failed);
            Err(error)
        }
    }
}

/// What can be known of a bless before anything is measured for it.
pub fn before_blessing(args: &BlessArgs, against: &Against) -> anyhow::Result<()> {
    if !args.bless {
        return Ok(());
    }
    if provenance::in_ci() && !args.allow_ci {
        return Err(BlessRefused::InCi.into());
    }
    files::check(&against.path).map_err(|error| ExitWith::error(Exit::OutputFailed, error))
}

fn judge(
    report: Report,
    against: &Against,
    args: &GateArgs,
    history: Option<&History>,
    outputs: &Outputs<'_>,
    failed: &mut Vec<anyhow::Error>,
) -> Done {
    if args.bless.bless {
        return bless(alone(report), against, args);
    }
    let verdict = gate::judge(input(&report, against, &args.allow_different, args.report_only))?;
    let verdict = match history {
        Some(history) => {
            let (verdict, added) = history.judge(verdict, &against.path);
            failed.extend(added.err());
            verdict
        }
        None => verdict,
    };
    outputs.emit(&verdict, report.source.kind, &against.path, failed);
    Ok(Exit::of(verdict.outcome, verdict.report_only))
}

fn input<'a>(
    report: &'a Report,
    against: &'a Against,
    allowed: &'a [Fact],
    report_only: bool,
) -> gate::Input<'a> {
    let command = typed::this_command();
    gate::Input {
        candidate: report,
        baseline: against.baseline.as_ref().map(|(baseline, reference)| (baseline, reference.clone())),
        policy: &against.policy,
        allowed,
        alterations: against.alterations.clone(),
        missing_baseline: (against.path.display().to_string(), emit::blessing(&command)),
        report_only,
        today: provenance::today(),
        reproduce: Some(command),
    }
}

/// What gets blessed is held against what was blessed, not against the other endpoint of a duet.
fn alone(mut report: Report) -> Report {
    for round in report.jobs.iter_mut().flat_map(|job| &mut job.rounds) {
        round.against.clear();
    }
    report
}

/// Renews the baseline: refused, or written whole.
fn bless(report: Report, against: &Against, args: &GateArgs) -> anyhow::Result<Exit> {
    let verdict = &gate::judge(input(&report, against, &args.allow_different, args.report_only))?;
    let alone = sight(&report, &baseline::fresh(&report), against)?;
    let request = BlessRequest {
        add: args.bless.add,
        reason: args.bless.reason.clone(),
        allow_ci: args.bless.allow_ci,
        in_ci: provenance::in_ci(),
        now: provenance::now(),
        code: provenance::code(&against.path),
        verdict,
        sight: Some(&alone),
        max_drift: against.policy.max_drift,
    };
    let blessed = baseline::bless(against.own.as_ref(), &report, &request)
        .map_err(|refused| ExitWith::error(exit_of(&refused, verdict.outcome), refused))?;
    // A device is only written to.
    let old = against.own.as_ref().and_then(|_| std::fs::read_to_string(&against.path).ok());
    let text = baseline::render(&blessed.baseline)?;
    if !blessed.unchanged {
        files::write(&against.path, text.as_bytes())
            .map_err(|error| ExitWith::error(Exit::OutputFailed, error))?;
    }
    let path = against.path.display().to_string();
    let sight = sight(&report, &blessed.baseline, against)?;
    outputs::print(&emit::blessed(&emit::BlessPage {
        blessed: &blessed,
        path: &path,
        bytes: text.len(),
        sight: &sight,
        unwatched: &unwatched(&report, against),
        diff: &baseline::diff(&path, old.as_deref(), &text),
        quiet: args.output.quiet,
    }))?;
    Ok(Exit::Pass)
}

/// A refusal that another command line would lift is a usage error; the others say what the numbers are.
fn exit_of(refused: &BlessRefused, outcome: Outcome) -> Exit {
    match refused {
        BlessRefused::InCi
        | BlessRefused::NeedsReason(_)
        | BlessRefused::SameContent(_)
        | BlessRefused::OneJob { .. }
        | BlessRefused::OtherProfile { .. } => Exit::Usage,
        BlessRefused::Invalid(_) if outcome == Outcome::RunFailed => Exit::RunFailed,
        BlessRefused::Invalid(_) | BlessRefused::NotComparable(_) | BlessRefused::NothingGated => {
            Exit::NoVerdict
        }
        BlessRefused::Blind(_) => Exit::Inconclusive,
        BlessRefused::Drift(_) => Exit::Regression,
    }
}

/// The report held against a baseline that has it: what a gate against that baseline could see.
fn sight(report: &Report, baseline: &Baseline, against: &Against) -> anyhow::Result<Verdict> {
    let reference = BaselineRef {
        path: against.path.display().to_string(),
        blessed: None,
        commit: None,
        jobs: baseline.jobs().count(),
        model: report.subject.model.clone(),
        digest: String::new(),
    };
    // What is to be seen is one more run, however many jobs are blessed at once.
    let mut one = report.clone();
    one.jobs.truncate(1);
    let mut input = input(&one, against, &[], false);
    input.baseline = Some((baseline, reference));
    Ok(gate::judge(input)?)
}

/// What the rules ask for and this report does not have, with the measuring tool's flag that would add it.
fn unwatched(report: &Report, against: &Against) -> Vec<Reason> {
    let fields = gate::unwatched(&against.policy, report);
    let format = report.source.format.as_deref().and_then(|name| name.parse::<ingest::Format>().ok());
    let hint = format.map(|format| ingest::def(format).flag.to_owned()).filter(|flag| !flag.is_empty());
    if fields.is_empty() { Vec::new() } else { vec![Reason::NotWatched { fields, hint }] }
}

//! A gate that was tried out, for the terminal.

use std::fmt::Write;

use crate::model::finding::DecidedBy;
use crate::model::self_test::{Found, ReplayNoise, Replays, SelfTest, Trial};
use crate::model::wording::{count, share};

use super::text;

/// Whether the gate can fail, what it takes, and how often it would have cried wolf.
#[must_use]
pub fn self_test(found: &SelfTest) -> String {
    let mut page = format!("{}\n{}\n", headline(found), subject(found));
    table(&mut page, &found.trials);
    noise(&mut page, found);
    replays(&mut page, found);
    page
}

fn headline(found: &SelfTest) -> String {
    let (all, missed, hidden) = (found.trials.len(), found.missed().count(), hidden(found));
    let noise = format!("; {} first seen at more than 1.5 times the limit", count(hidden, "fault"));
    let often = |replays: &&Replays| replays.failed * 20 > replays.runs;
    let wolf = found.replays.iter().find(often).map_or_else(String::new, |replays| {
        format!("; IT CRIES WOLF: {} of {} unchanged runs fail", replays.failed, replays.runs)
    });
    let noise = noise + &wolf;
    match (missed, hidden) {
        (0, 0) => format!("SELF-TEST PASSED: this gate can fail; all {all} trials ended as they must{wolf}"),
        (0, _) => format!("SELF-TEST PASSED: this gate can fail; {all} trials ended as they must{noise}"),
        _ => format!(
            "SELF-TEST FAILED: {missed} of {all} trials did not end as they must; do not rely on this gate"
        ),
    }
}

/// Faults of 1.5 times the limit that this evidence does not tell from noise.
fn hidden(found: &SelfTest) -> usize {
    found.trials.iter().filter(|trial| matches!(trial.found, Found::CaughtFrom(_))).count()
}

fn subject(found: &SelfTest) -> String {
    let jobs =
        if found.jobs == 1 { "1 blessed job".to_owned() } else { format!("{} blessed jobs", found.jobs) };
    let tier =
        found.tier.map_or_else(|| "no tier: nothing was compared".to_owned(), |tier| format!("tier {tier}"));
    let decided = match found.decided_by {
        Some(DecidedBy::Limits) => ", limits decide",
        Some(DecidedBy::Evidence) => ", evidence decides",
        Some(DecidedBy::Exact) | None => "",
    };
    let (path, profile) = (text::terminal(&found.baseline), text::terminal(&found.profile));
    format!("{path} (profile {profile}): {jobs}, {tier}{decided}")
}

fn table(page: &mut String, trials: &[Trial]) {
    let widest = trials.iter().map(|trial| trial.fault.chars().count()).max().unwrap_or(0);
    let head = "planted";
    let _ = write!(page, "\n  {head:widest$}  must end  ended\n");
    for trial in trials {
        let mark = if matches!(trial.found, Found::Missed { .. }) { '!' } else { ' ' };
        let (fault, expected, ended) = (&trial.fault, trial.expected, ended(trial));
        let _ = writeln!(page, "{mark} {fault:widest$}  exit {expected}    {ended}");
        if let Found::Missed { why: Some(why), .. } = &trial.found {
            let _ = writeln!(page, "    the gate said: {}", why.sentence().render(text::terminal));
        }
    }
}

fn ended(trial: &Trial) -> String {
    match &trial.found {
        Found::Caught => format!("exit {}", trial.expected),
        Found::CaughtFrom(planted) => {
            format!("within the noise; exit {} from {} on", trial.expected, share(planted.caught))
        }
        Found::Missed { exit, planted, .. } => {
            let size = planted.map(|planted| format!(" up to {}", share(planted))).unwrap_or_default();
            format!("exit {exit}: missed{size}")
        }
    }
}

fn noise(page: &mut String, found: &SelfTest) {
    if hidden(found) > 0 {
        page.push_str(
            "\nWhat is within the noise at 1.5 times the limit passes, and is caught from the size that stands beside it; \
             pacegate plan says what would show it.\n",
        );
    }
}

fn replays(page: &mut String, found: &SelfTest) {
    if found.replays.is_empty() {
        page.push_str("\nUnchanged runs: none replayed");
        let exact = found.decided_by == Some(DecidedBy::Exact);
        page.push_str(if exact { " (the embedded engine repeats its numbers exactly)\n" } else { "\n" });
        return;
    }
    page.push_str("\nUnchanged runs, each judged by this gate:\n");
    for replays in &found.replays {
        let _ = writeln!(page, "  {}", line(replays));
    }
}

fn line(replays: &Replays) -> String {
    let how = match replays.noise {
        ReplayNoise::Requests => "drawn from the blessed samples: the same machine and hour".to_owned(),
        ReplayNoise::Jobs { run } => format!(
            "drawn likewise, jobs {} apart and single fields 1 %: another machine or hour",
            share(run)
        ),
        ReplayNoise::LeaveOneOut => "each blessed job as it was measured, against the others".to_owned(),
    };
    let blocked = match replays.blocked {
        0 => String::new(),
        n => format!(", {n} gave no verdict"),
    };
    let (failed, runs) = (replays.failed, replays.runs);
    format!(
        "{failed} of {runs} failed{blocked} (the true share is likely below {}): {how}",
        share(replays.at_most)
    )
}

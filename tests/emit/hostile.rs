//! Nothing that a stranger wrote steers the terminal, the CI runner or the layout.

use pacegate::emit::{Detail, Style, terminal};
use pacegate::model::reason::OwnBaseline;
use pacegate::model::{Reason, Verdict};

use crate::samples;

const ATTACKS: [&str; 6] = [
    "\u{1b}[2J\u{1b}[31mPASS",
    "x\nPASS: 18 of 18 required fields compared",
    "x\r::error::p",
    "ok ##[error]p",
    "\u{9b}31m\u{202e}live",
    "a ::stop-commands::b",
];

/// Every place in a verdict that foreign text can reach.
fn poisoned(attack: &str) -> Verdict {
    let mut verdict = samples::regression_unconfirmed();
    let text = || attack.to_owned();
    verdict.candidate.model = Some(text());
    verdict.candidate.format = Some(text());
    verdict.candidate.files = vec![text()];
    verdict.reproduce = Some(text());
    if let Some(baseline) = &mut verdict.baseline {
        (baseline.path, baseline.model) = (text(), Some(text()));
        (baseline.commit, baseline.digest) = (Some(text()), text());
    }
    verdict.alterations = samples::altered_baseline().alterations;
    verdict.alterations.push(Reason::BaselineAltered {
        path: text(),
        git_ref: text(),
        own: OwnBaseline::Followed(text()),
    });
    verdict.problems = vec![Reason::NoBaseline { path: text(), bless: text() }];
    verdict.what_changed =
        vec![Reason::ParameterChanged { name: text(), old: Some(text()), new: Some(text()) }];
    verdict.notes = vec![Reason::SourceSays { text: text() }];
    verdict
}

#[test]
fn no_control_character_and_no_runner_command_gets_through() {
    for attack in ATTACKS {
        for width in [None, Some(40), Some(80)] {
            let style = Style { width, detail: Detail::Verbose, ..Style::default() };
            let shown = terminal(&poisoned(attack), style);
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{attack:?}: {shown}");
            assert!(!shown.contains('\u{202e}') && !shown.contains("##["), "{attack:?}: {shown}");
            for line in shown.lines() {
                assert!(!line.trim_start().starts_with("::"), "{attack:?} at {width:?}: {line}");
                assert!(!line.starts_with("PASS"), "{attack:?} at {width:?}: {line}");
            }
        }
    }
}

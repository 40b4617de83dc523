//! Whole outputs as committed files, so that every change of a word is seen in review.

use pacegate::emit::{Detail, Style, terminal};

use crate::{golden, samples};

#[test]
fn every_ending_reads_as_its_snapshot() {
    for (name, verdict) in samples::all() {
        let shown = terminal(&verdict, Style::default());
        golden::assert_same(&format!("tests/snapshots/terminal/{name}.txt"), &shown);
    }
}

#[test]
fn a_narrow_terminal_wraps_under_its_own_text() {
    let style = Style { width: Some(80), ..Style::default() };
    let shown = terminal(&samples::regression_unconfirmed(), style);
    let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest} columns");
    golden::assert_same("tests/snapshots/terminal/80-columns.txt", &shown);
}

#[test]
fn verbose_shows_every_field_and_reason() {
    let style = Style { detail: Detail::Verbose, ..Style::default() };
    let shown = terminal(&samples::regression_unconfirmed(), style);
    golden::assert_same("tests/snapshots/terminal/verbose.txt", &shown);
}

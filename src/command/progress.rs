//! What is said while measuring: a bar on a terminal, one line a round elsewhere.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use crate::model::profile::{Load, Profile, Target};
use crate::source::simulate::Progress;

/// The view of a run's progress on standard error.
pub struct View {
    bar: Option<ProgressBar>,
    quiet: bool,
    round: u32,
    rounds: u32,
    failed: u64,
    done: u64,
    ttft: Vec<u64>,
}

impl View {
    /// Says what is about to be measured, before it begins.
    pub fn open(profile: &Profile, quiet: bool) -> View {
        let groups = groups(profile);
        let total = groups * u64::from(profile.requests) * u64::from(profile.rounds);
        let view = View {
            bar: bar(total, quiet),
            quiet,
            round: 0,
            rounds: profile.rounds,
            failed: 0,
            done: 0,
            ttft: Vec::new(),
        };
        view.line(&announcement(profile, groups, total));
        view
    }

    /// Takes in one event.
    pub fn see(&mut self, progress: Progress) {
        match progress {
            Progress::Group { round, id, .. } => {
                self.ttft.clear();
                match &self.bar {
                    Some(bar) => bar.set_message(format!("round {round}  {id}")),
                    None if round != self.round => self.line(&format!("round {round} of {}", self.rounds)),
                    None => {}
                }
                self.round = round;
            }
            Progress::Request { failed, ttft_us } => {
                self.done += 1;
                self.failed += u64::from(failed.is_some());
                self.ttft.extend(ttft_us);
                self.redraw();
            }
        }
    }

    /// The bar is moved every so many requests: it must cost nothing beside them.
    fn redraw(&mut self) {
        const EVERY: u64 = 64;
        let Some(bar) = self.bar.as_ref().filter(|_| self.done.is_multiple_of(EVERY)) else { return };
        self.ttft.sort_unstable();
        let at = |percent: usize| {
            self.ttft.get((self.ttft.len() * percent / 100).min(self.ttft.len().saturating_sub(1)))
        };
        let ms = |value: Option<&u64>| {
            value.map_or_else(|| "-".to_owned(), |us| format!("{:.0}", *us as f64 / 1000.0))
        };
        bar.set_prefix(format!("{} failed, ttft p50 {} p95 {} ms", self.failed, ms(at(50)), ms(at(95))));
        bar.set_position(self.done);
    }

    /// Takes the bar away.
    pub fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "pacegate: {text}");
        }
    }
}

fn bar(total: u64, quiet: bool) -> Option<ProgressBar> {
    if quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}  {prefix}  {eta} left").ok()?;
    Some(ProgressBar::new(total).with_style(style))
}

/// How many groups a round has.
fn groups(profile: &Profile) -> u64 {
    let levels = match &profile.load {
        Load::Concurrency(levels) => levels.len(),
        Load::Rate { rates, .. } => rates.len(),
    };
    let traffic = match &profile.prompts {
        crate::model::profile::Prompts::Traffic(names) => names.len(),
        crate::model::profile::Prompts::File(_) => 1,
    };
    let all = profile.strategies.len().max(1) * traffic.max(1) * levels * profile.prompt_tokens.len().max(1);
    all as u64
}

fn announcement(profile: &Profile, groups: u64, total: u64) -> String {
    let what = match &profile.target {
        Target::Embedded(_) => "the embedded engine (virtual time: well under a second)".to_owned(),
        Target::Endpoint { base_url, model, .. } => {
            format!("{model} at {}", base_url.as_deref().unwrap_or("the given URL"))
        }
    };
    format!(
        "measuring {what}: profile {}, {groups} groups \u{d7} {} requests \u{d7} {} rounds = {total} requests",
        profile.name, profile.requests, profile.rounds
    )
}

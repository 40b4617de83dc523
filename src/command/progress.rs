//! What is said while measuring: a bar on a terminal, one line a round elsewhere.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use crate::emit::text;
use crate::model::profile::{Load, Profile, Target};
use crate::model::wording::count;
use crate::source::simulate::Progress;

/// How many answers the live percentiles are of.
const LIVE: usize = 512;

/// The view of a run's progress on standard error.
pub struct View {
    bar: Option<ProgressBar>,
    quiet: bool,
    round: u32,
    rounds: u32,
    failed: u64,
    done: u64,
    /// The last answers' times to first token, in microseconds: enough for a live p50 and p95, whatever the run's size.
    ttft: VecDeque<u64>,
}

impl View {
    /// Says what is about to be measured, before it begins. `addresses` are those that requests go to.
    pub fn open(profile: &Profile, addresses: &[String], quiet: bool) -> View {
        let groups = groups(profile);
        let total = groups * u64::from(profile.requests) * u64::from(profile.rounds);
        let view = View {
            bar: bar(total, quiet),
            quiet,
            round: 0,
            rounds: profile.rounds,
            failed: 0,
            done: 0,
            ttft: VecDeque::new(),
        };
        view.line(&announcement(profile, addresses, groups, total));
        view
    }

    /// Takes in one event.
    pub fn see(&mut self, progress: Progress) {
        match progress {
            Progress::Group { round, id, .. } => {
                self.ttft.clear();
                match &self.bar {
                    Some(bar) => bar.set_message(text::terminal(&format!("round {round}  {id}"))),
                    None if round != self.round => self.line(&format!("round {round} of {}", self.rounds)),
                    None => {}
                }
                self.round = round;
            }
            Progress::Request { failed, ttft_us } => {
                self.done += 1;
                self.failed += u64::from(failed.is_some());
                if self.ttft.len() == LIVE {
                    self.ttft.pop_front();
                }
                self.ttft.extend(ttft_us);
                self.redraw();
            }
        }
    }

    /// The bar is moved every so many requests: it must cost nothing beside them.
    fn redraw(&mut self) {
        const EVERY: u64 = 256;
        let Some(bar) = self.bar.as_ref().filter(|_| self.done.is_multiple_of(EVERY)) else { return };
        let mut sorted: Vec<u64> = self.ttft.iter().copied().collect();
        sorted.sort_unstable();
        let at =
            |percent: usize| sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)));
        let ms = |value: Option<&u64>| {
            value.map_or_else(|| "-".to_owned(), |us| format!("{:.0}", *us as f64 / 1000.0))
        };
        bar.set_prefix(format!("{} failed, ttft p50 {} p95 {} ms", self.failed, ms(at(50)), ms(at(95))));
        bar.set_position(self.done);
    }

    fn line(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "pacegate: {text}");
        }
    }
}

/// However the measuring ended, its bar is taken away.
impl Drop for View {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
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

/// Requests of the embedded engine in a second, as the bench of this repository sees it on two shared cores; only for
/// what is announced.
const SIMULATED_PER_SECOND: u64 = 500_000;

fn announcement(profile: &Profile, addresses: &[String], groups: u64, total: u64) -> String {
    let what = match &profile.target {
        Target::Embedded(_) => match total / SIMULATED_PER_SECOND {
            0 => "the embedded engine in virtual time, under a second of real time".to_owned(),
            seconds => format!("the embedded engine in virtual time, about {} s of real time", seconds + 1),
        },
        Target::Endpoint { model, .. } => {
            format!("{} at {}", text::terminal(model), text::terminal(&addresses.join(" and ")))
        }
    };
    format!(
        "measuring {what}: profile {}, {} \u{d7} {} \u{d7} {} = {}",
        text::terminal(&profile.name),
        count(groups, "group"),
        count(u64::from(profile.requests), "request"),
        count(u64::from(profile.rounds), "round"),
        count(total, "request")
    )
}

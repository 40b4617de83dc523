//! Past jobs for a person in a hurry: each series in a word, what it shows, then its jobs.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, Table, presets};

use crate::model::Finite;
use crate::model::metric::ChannelClass;
use crate::model::sentence::Sentence;
use crate::model::trend::{JobMark, Trend, TrendJob, TrendSeries, TrendState};
use crate::model::wording::{day, pinned_drift, plus, since_short, trend_finding};

use super::terminal::{Detail, Style, wrap};
use super::text;

/// So many files that were left out are named.
const MOST: usize = 8;

/// All series as lines of text, that with the newest job first.
#[must_use]
pub fn trend(trend: &Trend, style: Style) -> String {
    let mut page = Page { style, text: String::new() };
    for series in &trend.series {
        page.series(series);
    }
    if !trend.left_out.is_empty() {
        page.line(
            &own(format!("{} left out", count(trend.left_out.len(), "file or line", "files or lines"))),
            "",
        );
        for left in trend.left_out.iter().take(MOST) {
            page.line(&Sentence::default().foreign(&left.source).own(": ").foreign(&left.why), "  - ");
        }
        if trend.left_out.len() > MOST {
            page.line(&own(format!("and {} more", trend.left_out.len() - MOST)), "  - ");
        }
    }
    page.text.trim_end().to_owned() + "\n"
}

/// The trend as pretty JSON that `schemas/trend.schema.json` describes, with a line break at its end.
#[must_use]
pub fn trend_json(trend: &Trend) -> String {
    match serde_json::to_string_pretty(trend) {
        Ok(text) => text + "\n",
        // Finite numbers and text keys only, so this can't be; a consumer's schema check would refuse it.
        Err(error) => serde_json::json!({ "error": error.to_string() }).to_string(),
    }
}

fn own(text: impl Into<String>) -> Sentence {
    Sentence::default().own(text)
}

fn count(n: usize, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

struct Page {
    style: Style,
    text: String,
}

impl Page {
    fn line(&mut self, sentence: &Sentence, prefix: &str) {
        for line in wrap(&sentence.render(text::terminal), prefix, self.style.width) {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    fn series(&mut self, series: &TrendSeries) {
        self.line(&head(series), "");
        if !series.apart.is_empty() {
            let words = series.apart.join(" and ");
            self.line(
                &own(format!("not one series with the other jobs of this profile: they differ in {words}")),
                "  ",
            );
        }
        for told in &series.findings {
            self.line(&trend_finding(&told.finding), "  - ");
        }
        self.line(&own(sight(series)), "  ");
        if let Some(drift) = &series.drift {
            self.line(&pinned_drift(drift), "  ");
        }
        for note in &series.notes {
            self.line(&own(note.clone()), "  note: ");
        }
        if let Some(next) = next(series) {
            self.line(&next, "  next: ");
        }
        if self.style.detail != Detail::Quiet {
            self.text.push('\n');
            self.text.push_str(&table(series));
        }
        self.text.push('\n');
    }
}

/// `TREND, WORSE: chat, my-model, against baseline a1b2c3d4e5f6: 23 jobs from 3 Mar 2026 to 11 Nov 2026`.
fn head(series: &TrendSeries) -> Sentence {
    let s = own(format!("{}: ", series.state.word())).foreign(&series.profile).own(", ");
    let s = match &series.model {
        Some(model) => s.foreign(model),
        None => s.own("model not recorded"),
    };
    let s = match &series.baseline {
        Some(digest) => s.own(", against baseline ").foreign(digest),
        None => s,
    };
    let all = series.jobs.len() + series.older;
    let span = match (series.jobs.first(), series.jobs.last()) {
        (Some(first), Some(last)) if series.jobs.len() > 1 => {
            format!(" from {} to {}", day(first.moment.at), day(last.moment.at))
        }
        (Some(only), _) => format!(" of {}", day(only.moment.at)),
        (None, _) => String::new(),
    };
    let older = match series.older {
        0 => String::new(),
        n => format!(" (the last {} of {all}; {n} older ones are not looked at)", series.jobs.len()),
    };
    s.own(format!(": {}{span}{older}", count(series.jobs.len(), "job", "jobs")))
}

/// What could have been seen.
fn sight(series: &TrendSeries) -> String {
    if series.jobs.iter().all(|job| job.everything.is_none() && job.sent.is_none()) {
        return "no job tells its times or how many of its requests succeeded, so there is nothing to look at".to_owned();
    }
    if series.jobs_missing > 0 {
        return format!(
            "{} needed before a lasting change can be told from a blip: 4 on each side of it",
            count(series.jobs_missing, "more job is", "more jobs are")
        );
    }
    let nothing = series.state == TrendState::Steady;
    let begin = if nothing { "no change that lasts; " } else { "" };
    match series.smallest_step {
        Some(step) => format!(
            "{begin}a lasting change of everything by {} would show by its fourth job, 9 times out of 10",
            plus(step)
        ),
        None => format!("{begin}only a lasting change of the success rate by 1 pp or more could be seen"),
    }
}

/// The commits to look at.
fn next(series: &TrendSeries) -> Option<Sentence> {
    use crate::model::trend::TrendFinding::{Shift, SuccessShift};
    let since = series.findings.iter().find_map(|told| match &told.finding {
        SuccessShift(shift) if shift.since.lasts && shift.new < shift.old => Some(&shift.since),
        Shift(shift) if shift.since.lasts && shift.ratio.get() > 1.0 => Some(&shift.since),
        _ => None,
    })?;
    let (before, first) = (since_short(&since.last_before)?, since_short(&since.first)?);
    let safe = |commit: &str| !commit.is_empty() && commit.bytes().all(|b| b.is_ascii_hexdigit());
    let differ = before != first && safe(&before) && safe(&first);
    differ.then(|| own("git log --oneline ").foreign(format!("{before}..{first}")))
}

/// A row a job, the newest first.
fn table(series: &TrendSeries) -> String {
    let classes: BTreeSet<ChannelClass> =
        series.jobs.iter().flat_map(|job| job.metrics.keys().copied()).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec![".".to_owned(), "measured".to_owned(), "commit".to_owned(), "succeeded".to_owned()];
    let times = series.jobs.iter().any(|job| job.everything.is_some());
    header.extend(times.then(|| "everything".to_owned()));
    header.extend(classes.iter().map(|class| class.name().to_owned()));
    let columns = header.len();
    table.set_header(header);
    for job in series.jobs.iter().rev() {
        table.add_row(row(job, times, &classes));
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if (3..columns).contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = String::new();
    for line in table.lines() {
        let line = line.trim_end();
        text.push_str("  ");
        text.push_str(&line.replacen('.', " ", usize::from(line.starts_with('.'))));
        text.push('\n');
    }
    let marked = series.jobs.iter().any(|job| job.mark != JobMark::None);
    let legend: Vec<&str> =
        [(times, "+ is worse, against the oldest level"), (marked, "> a new level begins, ! a job apart")]
            .into_iter()
            .filter_map(|(shown, words)| shown.then_some(words))
            .collect();
    if !legend.is_empty() {
        text.push_str(&format!("  ({})\n", legend.join("; ")));
    }
    text
}

fn row(job: &TrendJob, times: bool, classes: &BTreeSet<ChannelClass>) -> Vec<String> {
    let mark = match job.mark {
        JobMark::None => ".",
        JobMark::NewLevel => ">",
        JobMark::Apart => "!",
    };
    let commit = since_short(&job.moment).map_or_else(|| "not recorded".to_owned(), |c| text::terminal(&c));
    let succeeded = match (job.succeeded, job.sent) {
        (Some(succeeded), Some(sent)) => format!("{succeeded}/{sent}"),
        _ => "not recorded".to_owned(),
    };
    let at = job.moment.at.to_string().replacen('T', " ", 1);
    let measured = at.get(..16).unwrap_or(&at).to_owned();
    let ratio = |ratio: Option<&Finite>| match ratio.map(|r| Finite::new(r.get() - 1.0)) {
        Some(Ok(share)) => plus(share),
        _ => "none".to_owned(),
    };
    let mut cells = vec![mark.to_owned(), measured, commit, succeeded];
    cells.extend(times.then(|| ratio(job.everything.as_ref())));
    cells.extend(classes.iter().map(|class| ratio(job.metrics.get(class))));
    cells
}

//! The verdict as GitHub-flavoured Markdown: for a step summary, a comment, or a file in a CI system's page.

use std::collections::BTreeSet;

use crate::model::quantity::SYMBOLS;
use crate::model::sentence::Sentence;
use crate::model::{Finding, Judgement, Metric, Outcome, Reason, Tier, Verdict};

use super::headline::{self, banners, chief_reason, claim, fails};
use super::rows::{Mark, row};
use super::{evidence, next_step, remarks, summary};
use page::{Page, Table};
use prose::prose;

mod page;
mod prose;

/// The most that a summary takes, in bytes: as much as still fits a comment on a pull request and a check run, both of
/// which refuse 65,536 characters.
pub const MARKDOWN_LIMIT: usize = 60_000;

/// So many rows and sentences of a kind stand in the open; the folded table has the rest.
const MOST: usize = 12;

/// The verdict as Markdown of at most [`MARKDOWN_LIMIT`] bytes, worst first.
///
/// Warnings about the verdict come before it, then outcome, reason, and what failed; what a reader may want after that
/// is folded. The last line is a marker that no reader shows, `<!-- pacegate:PROFILE -->`, by which a comment is found
/// again.
#[must_use]
pub fn markdown(verdict: &Verdict) -> String {
    let mut page = Page::new(format!("<!-- pacegate:{} -->\n", marker(&verdict.profile)));
    for banner in banners(verdict) {
        page.add(&format!("> \u{26a0}\u{fe0f} **{}**\n\n", prose(&banner)));
    }
    let claim = Sentence::default().own(claim(verdict));
    page.add(&format!("### {} {}\n\n", sign(verdict.outcome), prose(&claim)));
    let chief = chief_reason(verdict);
    if let Some(reason) = &chief {
        page.add(&format!("**{}**\n\n", prose(reason)));
    }
    what_happened(&mut page, verdict);
    what_fails(&mut page, verdict, chief.as_ref());
    let nothing_blessed = verdict.baseline.is_none() && !verdict.duet;
    if nothing_blessed {
        all_fields(&mut page, verdict, true);
    }
    what_now(&mut page, verdict);
    if !nothing_blessed {
        all_fields(&mut page, verdict, false);
    }
    folded(&mut page, verdict);
    page.finish()
}

const fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "\u{2705}",
        Outcome::Inconclusive | Outcome::NoVerdict => "\u{26a0}\u{fe0f}",
        Outcome::Regression | Outcome::RunFailed => "\u{274c}",
    }
}

/// Of the profile only what can't end a comment.
fn marker(profile: &str) -> String {
    let safe =
        |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c.to_ascii_lowercase() } else { '_' };
    profile.chars().take(100).map(safe).collect::<String>().replace("--", "-_")
}

/// What changed, and whether the requests succeeded, before anything is said of their times.
fn what_happened(page: &mut Page, verdict: &Verdict) {
    let changed: Vec<String> = verdict.what_changed.iter().map(|reason| prose(&reason.sentence())).collect();
    page.list("What changed between the two sides", &changed, MOST);
    if let Some((_, reliability)) = summary::summary(verdict).iter().find(|(word, _)| *word == "reliability")
    {
        page.add(&format!("**Reliability:** {}\n\n", prose(reliability)));
    }
}

/// The sentences that have not been said yet, each once.
fn fresh(said: Option<&Sentence>, more: impl Iterator<Item = Sentence>) -> Vec<String> {
    let mut seen: BTreeSet<String> = said.map(prose).into_iter().collect();
    more.map(|sentence| prose(&sentence)).filter(|text| seen.insert(text.clone())).collect()
}

fn what_fails(page: &mut Page, verdict: &Verdict, chief: Option<&Sentence>) {
    let problems = headline::problems(verdict).into_iter().map(Reason::sentence);
    page.list("Problems", &fresh(chief, problems), MOST);
    page.list("Causes", &fresh(chief, headline::causes(verdict).into_iter()), MOST);
    // A run that failed has no values; a table would only repeat that.
    if verdict.outcome == Outcome::RunFailed {
        return;
    }
    // What the problems above refuse as a whole has nothing of its own to say.
    let refused = |f: &Finding| {
        !verdict.problems.is_empty() && matches!(f.judgement, Judgement::NotComparable | Judgement::Invalid)
    };
    let failing = || verdict.findings.iter().filter(|f| fails(f));
    let mut shown: Vec<&Finding> = failing().filter(|f| !refused(f)).collect();
    shown.sort_by_key(|f| f.field.metric != Metric::SUCCESS_RATE);
    if !shown.is_empty() {
        let mut table = table(verdict, &shown, Columns::Few);
        table.rows.truncate(MOST);
        table.left_out = shown.len() - table.rows.len();
        page.table(&table);
    }
    // The row of a field says all that "over its limit" says.
    let told = |f: &&Finding| !matches!(f.reasons.first(), Some(Reason::OverLimit { .. }) | None);
    let first = failing().filter(told).map(remarks::sentence);
    page.list("Why", &fresh(chief, first.chain(failing().flat_map(remarks::rest))), MOST);
    let looked_at: Vec<&Finding> = verdict.findings.iter().filter(|f| f.gated && !fails(f)).collect();
    let (looked_at, few) = remarks::few_samples(&looked_at);
    let looked_at = looked_at.into_iter().flat_map(remarks::remarks).chain(few);
    page.list("Worth a look", &fresh(chief, looked_at), MOST);
}

/// Columns that a table may do without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// What decides.
    Few,
    /// The interval too.
    All,
}

fn table(verdict: &Verdict, findings: &[&Finding], columns: Columns) -> Table {
    let rows: Vec<_> = findings.iter().map(|f| row(f)).collect();
    let interval = columns == Columns::All && rows.iter().any(|row| row.interval.is_some());
    let visible: Vec<Option<String>> = findings.iter().map(|f| evidence::visible_in(verdict, f)).collect();
    let resolved = verdict.tier != Some(Tier::Exact) && visible.iter().any(Option::is_some);
    let compared = findings.iter().any(|f| f.old.is_some());
    let mut header = vec!["field"];
    header.extend(compared.then_some("blessed"));
    header.push("now");
    header.extend(compared.then_some("change"));
    header.push("limit");
    header.extend(interval.then_some("95 % interval"));
    header.extend(resolved.then_some("smallest visible"));
    header.push("judgement");
    let cells = rows.into_iter().zip(visible).map(|(row, visible)| {
        let sign = match row.mark {
            Mark::Fails => "\u{274c}\u{a0}",
            Mark::Look => "\u{26a0}\u{fe0f}\u{a0}",
            Mark::Better => "\u{2705}\u{a0}",
            Mark::Quiet => "",
        };
        let field = super::text::markdown_code_cell(&row.field);
        let mut cells = vec![field];
        cells.extend(compared.then(|| joined(&row.blessed)));
        cells.push(joined(&row.now));
        cells.extend(compared.then(|| joined(&row.change)));
        cells.push(joined(&row.limit));
        cells.extend(interval.then(|| joined(&row.interval.unwrap_or_default())));
        cells.extend(resolved.then(|| joined(&visible.unwrap_or_default())));
        cells.push(format!("{sign}{}", row.judgement));
        cells
    });
    Table { header, rows: cells.collect(), left_out: 0 }
}

/// A number and its unit stay in one line of a narrow cell.
fn joined(text: &str) -> String {
    SYMBOLS
        .iter()
        .fold(text.to_owned(), |text, unit| text.replace(&format!(" {unit}"), &format!("\u{a0}{unit}")))
}

fn what_now(page: &mut Page, verdict: &Verdict) {
    let profile = Sentence::default().own("Profile ").foreign(&verdict.profile).own("; ");
    page.add(&format!("{}\n\n", prose(&profile.then(evidence::standing(verdict)))));
    let mut steps: Vec<String> = next_step::next_steps(verdict).iter().map(prose).collect();
    if verdict.reproduce.is_some() {
        // Its last line is the command, which has a place of its own here.
        steps.pop();
    }
    page.list("Next", &steps, MOST);
    let command = match &verdict.reproduce {
        Some(command) => Sentence::default().foreign(command),
        None => Sentence::default().own("the same command on the same report"),
    };
    page.add(&format!("**Reproduce this locally:** {}\n\n", prose(&command)));
}

fn all_fields(page: &mut Page, verdict: &Verdict, open: bool) {
    let (mut gated, mut others): (Vec<&Finding>, Vec<&Finding>) =
        verdict.findings.iter().partition(|f| f.gated);
    let title = format!("All fields: {} gated, {} not", gated.len(), others.len());
    gated.append(&mut others);
    if !gated.is_empty() && verdict.outcome != Outcome::RunFailed {
        page.fold(&title, open, |page| page.table(&table(verdict, &gated, Columns::All)));
    }
}

fn folded(page: &mut Page, verdict: &Verdict) {
    let measured: Vec<String> = summary::summary(verdict)
        .iter()
        .map(|(word, sentence)| format!("{word}: {}", prose(sentence)))
        .collect();
    page.fold("Measured: reliability, latency, throughput", false, |page| page.list("", &measured, MOST));
    let sure: Vec<String> = evidence::evidence(verdict).iter().map(prose).collect();
    if !sure.is_empty() {
        page.fold("How sure this is", false, |page| page.list("", &sure, MOST));
    }
    let notes = fresh(None, verdict.notes.iter().map(Reason::sentence));
    if !notes.is_empty() {
        page.fold(&format!("Notes ({})", notes.len()), false, |page| page.list("", &notes, MOST));
    }
}

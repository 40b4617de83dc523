//! The verdict for a person in a hurry: what, why, what now, then the numbers.

mod grid;

use crate::model::quantity::SYMBOLS;
use crate::model::sentence::Sentence;
use crate::model::wording::count;
use crate::model::{Finding, GroupId, Metric, Outcome, Reason, Verdict};

use super::headline::{
    banners, causes, chief_reason, fails, gone, headline, nothing_in_common, problems, said_by_a_problem,
    said_of_the_run,
};
use super::remarks::{few_samples, is_said_once, remarks};
use super::rows::{Row, row};
use super::{evidence, next_step, summary, text};

use grid::grid;

/// How it is shown. The command decides: it knows whether stdout is a terminal and whether `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub colour: bool,
    /// Columns of the terminal; `None` leaves lines as long as they are.
    pub width: Option<u16>,
    /// How much is said.
    pub detail: Detail,
}

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The verdict and how sure it is.
    Quiet,
    /// What a person at a red check needs.
    #[default]
    Usual,
    /// Every field and every reason.
    Verbose,
}

/// So many sentences of a kind are printed unless all are asked for; the table has the rest.
const MOST_SENTENCES: usize = 8;

/// The verdict as lines of text, worst first. Foreign text is made harmless for a terminal and for CI logs.
#[must_use]
pub fn terminal(verdict: &Verdict, style: Style) -> String {
    let mut page = Page { style, text: String::new() };
    for banner in banners(verdict) {
        page.paint(&banner, YELLOW);
    }
    page.paint(&headline(verdict), colour_of(verdict.outcome));
    page.line(&evidence::standing(verdict), "");
    if style.detail != Detail::Quiet {
        body(&mut page, verdict);
    }
    page.text
}

fn body(page: &mut Page, verdict: &Verdict) {
    let sentences = |reasons: &[Reason]| once(said_of_the_run(reasons).map(Reason::sentence));
    let chief = chief_reason(verdict);
    let fresh = |sentences: Vec<Sentence>| -> Vec<Sentence> {
        once(sentences.into_iter()).into_iter().filter(|sentence| Some(sentence) != chief.as_ref()).collect()
    };
    page.list("Problems", fresh(problems(verdict).into_iter().map(Reason::sentence).collect()));
    page.list("Causes", fresh(causes(verdict)));
    failing(page, verdict);
    let looked_at: Vec<&Finding> = verdict.findings.iter().filter(|f| f.gated && !fails(f)).collect();
    let verbose = page.style.detail == Detail::Verbose;
    let (looked_at, few) = if verbose { (looked_at, None) } else { few_samples(&looked_at) };
    let mut lines = capped(&looked_at, page.style, remarks);
    lines.extend(few);
    page.list("Worth a look", lines);
    page.table(verdict);
    page.list("What changed between the two sides", sentences(&verdict.what_changed));
    page.list("Notes", sentences(&verdict.notes));
    page.list("How sure this is", evidence::evidence(verdict));
    page.heading("Measured");
    for (word, sentence) in summary::summary(verdict) {
        page.line(&sentence, &format!("  {word:<13} "));
    }
    page.list("Next", next_step::next_steps(verdict));
}

/// What fails, success rates first; what a problem, a cause or a missing group explains is not said again field by field.
fn failing(page: &mut Page, verdict: &Verdict) {
    let verbose = page.style.detail == Detail::Verbose;
    let success = |f: &&Finding| f.field.metric == Metric::SUCCESS_RATE;
    let said = |f: &Finding| !verbose && said_by_a_problem(verdict, f);
    let mut gone = gone(verdict);
    let news =
        |group: &GroupId| verdict.findings.iter().any(|f| f.field.group == *group && fails(f) && !said(f));
    gone.retain(|(group, _)| !verbose && news(group));
    let of_gone = |f: &Finding| gone.iter().any(|(group, _)| **group == f.field.group);
    let failing = || verdict.findings.iter().filter(|f| fails(f) && !said(f) && !of_gone(f));
    page.list("Success rate", failing().filter(success).flat_map(|f| field_lines(f, page.style)).collect());
    let (explained, others): (Vec<&Finding>, Vec<&Finding>) =
        failing().filter(|f| !success(f)).partition(|f| !verbose && verdict.explained(f));
    let mut lines: Vec<Sentence> =
        gone.iter().map(|(_, sentence)| sentence.clone()).take(MOST_SENTENCES).collect();
    lines.extend(capped(&others, page.style, |f| field_lines(f, page.style)));
    let alone = lines.is_empty();
    page.list("Failing fields", lines);
    match explained.iter().max_by_key(|finding| finding.badness()).filter(|_| alone) {
        Some(worst) => {
            page.list("The worst field", field_lines(worst, page.style));
            page.fold(explained.len() - 1);
        }
        None => page.fold(explained.len()),
    }
}

/// Each sentence once, in order.
fn once(sentences: impl Iterator<Item = Sentence>) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = Vec::new();
    for sentence in sentences {
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    all
}

/// A failing field: its main sentence with the evidence beside it, then what else there is to say.
fn field_lines(finding: &Finding, style: Style) -> Vec<Sentence> {
    let verbose = style.detail == Detail::Verbose;
    let mut reasons = finding.reasons.iter().filter(|reason| verbose || !is_said_once(reason));
    let Some(first) = reasons.next() else { return Vec::new() };
    let evidence = evidence::of_field(finding).map(|text| format!(" [{text}]")).unwrap_or_default();
    let mut lines = vec![first.sentence().own(evidence)];
    lines.extend(reasons.map(Reason::sentence));
    lines
}

/// The sentences of the first findings that have any, each sentence once.
fn capped(findings: &[&Finding], style: Style, lines: impl Fn(&Finding) -> Vec<Sentence>) -> Vec<Sentence> {
    let said: Vec<Vec<Sentence>> = findings.iter().map(|f| lines(f)).filter(|l| !l.is_empty()).collect();
    let most = if style.detail == Detail::Verbose { said.len() } else { MOST_SENTENCES };
    let more = said.len().saturating_sub(most);
    let mut all = once(said.into_iter().take(most).flatten());
    if more > 0 {
        all.push(Sentence::default().own(format!("and {more} more, see the table")));
    }
    all
}

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const BOLD: &str = "1";

const fn colour_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "1;32",
        Outcome::Inconclusive | Outcome::NoVerdict => "1;33",
        Outcome::Regression | Outcome::RunFailed => "1;31",
    }
}

/// Text being laid out.
struct Page {
    style: Style,
    text: String,
}

impl Page {
    fn push(&mut self, line: &str, colour: Option<&str>) {
        match colour.filter(|_| self.style.colour) {
            Some(code) => self.text.push_str(&format!("\u{1b}[{code}m{line}\u{1b}[0m")),
            None => self.text.push_str(line),
        }
        self.text.push('\n');
    }

    fn paint(&mut self, sentence: &Sentence, colour: &str) {
        for line in wrap(&sentence.render(text::terminal), "", self.style.width) {
            self.push(&line, Some(colour));
        }
    }

    /// A sentence behind a prefix, wrapped under itself.
    fn line(&mut self, sentence: &Sentence, prefix: &str) {
        for line in wrap(&sentence.render(text::terminal), prefix, self.style.width) {
            self.push(&line, None);
        }
    }

    fn heading(&mut self, title: &str) {
        self.text.push('\n');
        self.push(title, Some(BOLD));
    }

    /// A heading with its sentences; nothing where there is none.
    fn list(&mut self, title: &str, sentences: Vec<Sentence>) {
        if !sentences.is_empty() {
            self.heading(title);
        }
        for sentence in sentences {
            self.line(&sentence, "  - ");
        }
    }

    /// How many failing fields a cause already speaks for.
    fn fold(&mut self, fields: usize) {
        if fields > 0 {
            let text =
                format!("explained by the shift named above: {}, in the table", count(fields, "more field"));
            self.line(&Sentence::default().own(text), "  ");
        }
    }

    fn table(&mut self, verdict: &Verdict) {
        let verbose = self.style.detail == Detail::Verbose;
        // Where nothing was measured, or nothing of both sides, a table would only repeat that.
        let empty = verdict.outcome == Outcome::RunFailed || nothing_in_common(verdict);
        let shown = |f: &&Finding| verbose || f.gated && !empty;
        let rows: Vec<Row> = verdict.findings.iter().filter(shown).map(row).collect();
        let folded = verdict.findings.len() - rows.len();
        if !rows.is_empty() {
            self.heading("Fields, worst first");
            let mut colour = None;
            for line in grid(&rows, self.style.width).lines() {
                let line = line.trim_end();
                colour = match line.chars().next() {
                    Some('\u{2717}') => Some(RED),
                    Some('?') => Some(YELLOW),
                    Some('+') => Some(GREEN),
                    Some('.') => None,
                    _ => colour,
                };
                self.push(&line.replacen('.', " ", usize::from(line.starts_with('.'))), colour);
            }
        }
        if folded > 0 {
            let fields = count(folded, "field");
            if rows.is_empty() {
                self.heading(&format!("{fields} without a comparison, shown with -v"));
            } else {
                self.push(&format!("  {fields} not gated, shown with -v"), None);
            }
        }
    }
}

/// The words of a text; a number and its unit stay together.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let unit = SYMBOLS.contains(&word.trim_end_matches([',', ';', ':', '.', ')', ']']));
        match words.last_mut().filter(|last| unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Breaks a line at spaces so that it fits; the lines after the first stand under its text.
pub(super) fn wrap(text: &str, prefix: &str, width: Option<u16>) -> Vec<String> {
    let indent = " ".repeat(prefix.chars().count());
    let width = width.map_or(usize::MAX, usize::from).max(indent.len() + 20);
    let mut lines = vec![prefix.to_owned()];
    let mut used = indent.len();
    let mut fresh = true;
    for word in unbroken(text) {
        let size = word.chars().count();
        // A CI runner takes a line that begins with `::` for a command.
        if !fresh && used + 1 + size > width && !word.starts_with("::") {
            lines.push(indent.clone());
            (used, fresh) = (indent.len(), true);
        }
        if let Some(line) = lines.last_mut() {
            if !fresh {
                line.push(' ');
                used += 1;
            }
            line.push_str(&word);
        }
        used += size;
        fresh = false;
    }
    lines
}

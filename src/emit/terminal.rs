//! The verdict for a person in a hurry: what, why, what now, then the numbers.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::model::sentence::Sentence;
use crate::model::{Finding, Metric, Outcome, Reason, Verdict};

use super::headline::{banners, fails, headline};
use super::remarks::{is_said_once, remarks};
use super::rows::{Mark, Row, row};
use super::{evidence, next_step, summary, text};

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
    let sentences = |reasons: &[Reason]| reasons.iter().map(Reason::sentence).collect::<Vec<_>>();
    let said_first = !verdict.problems.is_empty() && verdict.outcome != Outcome::Regression;
    page.list("Problems", sentences(&verdict.problems[usize::from(said_first)..]));
    let success = |f: &&Finding| f.field.metric == Metric::SUCCESS_RATE;
    let failing = || verdict.findings.iter().filter(|f| fails(f));
    page.list("Success rate", failing().filter(success).flat_map(|f| field_lines(f, page.style)).collect());
    page.list("Causes", verdict.causes.iter().map(|cause| cause.sentence.sentence()).collect());
    let verbose = page.style.detail == Detail::Verbose;
    let (explained, others): (Vec<&Finding>, Vec<&Finding>) =
        failing().filter(|f| !success(f)).partition(|f| !verbose && verdict.explained(f));
    page.list("Failing fields", capped(&others, page.style, |f| field_lines(f, page.style)));
    if let ([first, rest @ ..], true) = (explained.as_slice(), others.is_empty()) {
        page.list("Failing fields, worst first", field_lines(first, page.style));
        page.fold(rest.len());
    } else {
        page.fold(explained.len());
    }
    let looked_at: Vec<&Finding> = verdict.findings.iter().filter(|f| f.gated && !fails(f)).collect();
    page.list("Worth a look", capped(&looked_at, page.style, remarks));
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
    let mut all: Vec<Sentence> = Vec::new();
    for sentence in said.into_iter().take(most).flatten() {
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }
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
            let text = match fields {
                1 => "1 more field follows from the cause above; the table has it".to_owned(),
                n => format!("{n} more fields follow from the cause above; the table has them"),
            };
            self.push(&format!("  {text}"), None);
        }
    }

    fn table(&mut self, verdict: &Verdict) {
        let verbose = self.style.detail == Detail::Verbose;
        // A run that failed has no values; its table would only repeat that.
        let shown = |f: &&Finding| verbose || f.gated && verdict.outcome != Outcome::RunFailed;
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
            let what = if rows.is_empty() { "" } else { " not gated," };
            let fields = if folded == 1 { "field" } else { "fields" };
            self.push(&format!("  {folded} {fields}{what} shown with -v"), None);
        }
    }
}

/// The columns that a narrow terminal does without; the sentences above the table say the same of what fails.
#[derive(Clone, Copy)]
struct Columns {
    interval: bool,
    limit: bool,
}

/// The rows as an aligned table; each row's first line begins with its mark, `.` for none.
fn grid(rows: &[Row], width: Option<u16>) -> Table {
    let interval = rows.iter().any(|row| row.interval.is_some());
    let full = columns(rows, Columns { interval, limit: true });
    let Some(width) = width else { return full };
    let fits =
        |table: &Table| table.lines().all(|line| line.trim_end().chars().count() <= usize::from(width));
    let narrower = [Columns { interval: false, limit: true }, Columns { interval: false, limit: false }];
    let mut tables = std::iter::once(full).chain(narrower.map(|some| columns(rows, some)));
    let mut last = Table::new();
    for table in tables.by_ref() {
        last = table;
        if fits(&last) {
            return last;
        }
    }
    last.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    last
}

fn columns(rows: &[Row], shown: Columns) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec![".", "field", "blessed", "now", "change"];
    header.extend(shown.interval.then_some("95 %"));
    header.extend(shown.limit.then_some("limit"));
    header.push("judgement");
    table.set_header(header);
    for row in rows {
        let mark = match row.mark {
            Mark::Fails => "\u{2717}",
            Mark::Look => "?",
            Mark::Better => "+",
            Mark::Quiet => ".",
        };
        let mut cells = vec![mark, &row.field, &row.blessed, &row.now, &row.change];
        cells.extend(shown.interval.then(|| row.interval.as_deref().unwrap_or_default()));
        cells.extend(shown.limit.then_some(row.limit.as_str()));
        cells.push(&row.judgement);
        table.add_row(cells);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if at == 1 {
            column.set_delimiter(':');
        } else if (2..5).contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Breaks a line at spaces so that it fits; the lines after the first stand under its text.
fn wrap(text: &str, prefix: &str, width: Option<u16>) -> Vec<String> {
    let indent = " ".repeat(prefix.chars().count());
    let width = width.map_or(usize::MAX, usize::from).max(indent.len() + 20);
    let mut lines = vec![prefix.to_owned()];
    let mut used = indent.len();
    let mut fresh = true;
    for word in text.split(' ') {
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
            line.push_str(word);
        }
        used += size;
        fresh = false;
    }
    lines
}

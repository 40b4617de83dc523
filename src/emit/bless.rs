//! What a bless did, for the person who commits it.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::model::baseline::{BlessAction, Blessed, FieldRow};
use crate::model::wording::count;
use crate::model::{Judgement, Quantity, Reason, Verdict};

use super::evidence;
use super::headline::SIMULATED;
use super::remarks;
use super::text;

/// Everything that is said of a bless.
pub struct BlessPage<'a> {
    /// What was done.
    pub blessed: &'a Blessed,
    /// The file.
    pub path: &'a str,
    /// Its size.
    pub bytes: usize,
    /// The new baseline judged by itself: what a gate against it can see.
    pub sight: &'a Verdict,
    /// What no number of this report lets the gate watch.
    pub unwatched: &'a [Reason],
    /// The text diff against the file until now.
    pub diff: &'a str,
    /// The first lines only.
    pub quiet: bool,
}

/// So many rows of the table and lines of the diff are printed; git has the rest.
const MOST_LINES: usize = 60;

/// The page as lines of text.
#[must_use]
pub fn blessed(page: &BlessPage<'_>) -> String {
    let mut lines: Vec<String> = page.sight.simulated.then(|| SIMULATED.to_owned()).into_iter().collect();
    lines.push(headline(page));
    if page.blessed.unchanged {
        return lines.join("\n") + "\n";
    }
    lines.extend(page.sight.tier.map(|tier| format!("a gate against it is of tier {tier}")));
    lines.extend(page.sight.lifts.iter().map(|lifts| format!("surer with: {lifts}")));
    lines.extend(evidence::visible(page.sight));
    lines.extend(too_few(page.sight));
    if page.quiet {
        return lines.join("\n") + "\n";
    }
    lines.push(String::new());
    lines.push(table(&page.blessed.rows));
    list(
        &mut lines,
        "Not watched",
        page.unwatched.iter().map(|reason| remarks::plain(&reason.sentence())).collect(),
    );
    list(&mut lines, "Since the pinned first bless", drift(page.blessed));
    if page.blessed.action != BlessAction::First {
        list(&mut lines, "Difference in the file", diff(page.diff));
    }
    lines.push(format!(
        "\nNext\n  - look at the table, then commit it: git add {0} && git commit {0}",
        text::terminal(page.path)
    ));
    lines.join("\n") + "\n"
}

/// `not judged at this number of samples: ttft.p95 (60, needs 72)`.
fn too_few(sight: &Verdict) -> Option<String> {
    let mut fields: Vec<String> = Vec::new();
    let reasons = sight.with(Judgement::TooFew).filter(|f| f.gated).flat_map(|f| &f.reasons);
    for reason in reasons {
        let Reason::TooFewSamples { field, n, needed, .. } = reason else { continue };
        let text = format!("{} ({n}, needs {needed})", field.local());
        if !fields.contains(&text) {
            fields.push(text);
        }
    }
    (!fields.is_empty()).then(|| format!("not judged at this number of samples: {}", fields.join(", ")))
}

fn headline(page: &BlessPage<'_>) -> String {
    let path = text::terminal(page.path);
    if page.blessed.unchanged {
        return format!("UNCHANGED {path}: these very numbers are blessed already, nothing was written");
    }
    let what = match page.blessed.action {
        BlessAction::First => "the first baseline".to_owned(),
        BlessAction::Replace => "all earlier jobs were replaced".to_owned(),
        BlessAction::Add if page.blessed.dropped > 0 => {
            format!("a job was added and the {} oldest dropped", page.blessed.dropped)
        }
        BlessAction::Add => "a job was added".to_owned(),
    };
    let jobs = page.blessed.baseline.jobs().count();
    let kilobytes = page.bytes.div_ceil(1000);
    format!("BLESSED {path}: {what}; {} in {kilobytes} kB", count(jobs, "job"))
}

fn table(rows: &[FieldRow]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let first = rows.iter().all(|row| row.old.is_none());
    let header = ["field", "until now", "from now on", "change", "which is"];
    // A first baseline has nothing to be held against.
    table.set_header(if first { vec!["field", "from now on"] } else { header.to_vec() });
    for row in rows.iter().take(MOST_LINES) {
        let value = |value| {
            Option::map_or(value, "none".to_owned(), |value| Quantity { value, unit: row.unit }.to_string())
        };
        let change = row.change().map(|change| change.amount()).unwrap_or_default();
        let field = row.field.to_string();
        table.add_row(if first {
            vec![field, value(row.new)]
        } else {
            vec![field, value(row.old), value(row.new), change, row.word().to_owned()]
        });
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if (1..=3).contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    if rows.len() > MOST_LINES {
        text.push_str(&format!(
            "\n… {}: the file's summary has all",
            count(rows.len() - MOST_LINES, "more field")
        ));
    }
    text
}

fn drift(blessed: &Blessed) -> Vec<String> {
    const MOST: usize = 5;
    let moved = blessed.drift.iter().filter(|drift| drift.change.old != drift.change.new);
    moved
        .take(MOST)
        .map(|drift| format!("{} {} ({})", drift.field, drift.change.values(), drift.change.amount()))
        .collect()
}

fn diff(diff: &str) -> Vec<String> {
    let all: Vec<&str> = diff.lines().collect();
    let mut lines: Vec<String> = all.iter().take(MOST_LINES).map(|line| text::terminal(line)).collect();
    if all.len() > MOST_LINES {
        lines.push(format!("… {}: git diff shows all", count(all.len() - MOST_LINES, "more line")));
    }
    lines
}

fn list(lines: &mut Vec<String>, title: &str, items: Vec<String>) {
    if !items.is_empty() {
        lines.push(format!("\n{title}"));
        lines.extend(items.into_iter().map(|item| format!("  {item}")));
    }
}

//! The table of fields, as wide as the terminal allows.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::emit::rows::{Mark, NONE, Row};

/// The columns that a narrow terminal does without; the sentences above the table say the same of what fails.
#[derive(Clone, Copy)]
struct Columns {
    /// Blessed value and change; nothing is lost where nothing is blessed.
    compared: bool,
    interval: bool,
    limit: bool,
    /// To which side the value went; the sign of the change says it too.
    side: bool,
    /// The longest name of a field; the middle of a longer one is left out.
    field: usize,
}

/// Names are not cut below this while another column can be narrowed,
const READABLE: usize = 28;
/// nor ever below this.
const SHORTEST: usize = 18;

/// The rows as an aligned table; each row's first line begins with its mark, `.` for none.
///
/// A narrow terminal first loses the interval, then the limit, then the middle of long names, then the side after the
/// judgement. Values are never cut.
pub(super) fn grid(rows: &[Row], width: Option<u16>) -> Table {
    let widest = rows.iter().map(|row| row.field.chars().count()).max().unwrap_or(0);
    let interval = rows.iter().any(|row| row.interval.is_some());
    let compared = rows.iter().any(|row| row.blessed != NONE);
    let full = Columns { compared, interval, limit: true, side: true, field: widest };
    let Some(width) = width.map(usize::from) else { return table(rows, full) };
    let few = Columns { interval: false, limit: false, ..full };
    for columns in [full, Columns { interval: false, ..full }, few] {
        let table = table(rows, columns);
        if reach(&table) <= width {
            return table;
        }
    }
    let cut = |columns: Columns, shortest: usize| {
        let over = reach(&table(rows, columns)).saturating_sub(width);
        table(rows, Columns { field: widest.saturating_sub(over).max(shortest.min(widest)), ..columns })
    };
    let readable = cut(few, READABLE);
    if reach(&readable) <= width {
        return readable;
    }
    let mut last = cut(Columns { side: false, ..few }, SHORTEST);
    if reach(&last) > width {
        let columns = u16::try_from(width).unwrap_or(u16::MAX);
        last.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    }
    last
}

/// Columns that the widest line takes.
fn reach(table: &Table) -> usize {
    table.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0)
}

fn table(rows: &[Row], shown: Columns) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec![".", "field"];
    header.extend(shown.compared.then_some("blessed"));
    header.push("now");
    header.extend(shown.compared.then_some("change"));
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
        let field = cut(&row.field, shown.field);
        let mut cells = vec![mark, &field];
        cells.extend(shown.compared.then_some(row.blessed.as_str()));
        cells.push(&row.now);
        cells.extend(shown.compared.then_some(row.change.as_str()));
        cells.extend(shown.interval.then(|| row.interval.as_deref().unwrap_or_default()));
        cells.extend(shown.limit.then_some(row.limit.as_str()));
        let word = row.judgement.split(',').next().unwrap_or_default();
        cells.push(if shown.side { &row.judgement } else { word });
        table.add_row(cells);
    }
    let numbers = if shown.compared { 3 } else { 1 };
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if at == 1 {
            column.set_delimiter(':');
        } else if (2..2 + numbers).contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// `int8_quant/…aseline.p95`: the beginning says whose it is, the end which field.
fn cut(name: &str, most: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    if all.len() <= most {
        return name.to_owned();
    }
    let kept = most.saturating_sub(1);
    let end = kept - kept * 2 / 5;
    let start: String = all[..kept - end].iter().collect();
    let rest: String = all[all.len() - end..].iter().collect();
    format!("{start}\u{2026}{rest}")
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_name_keeps_both_its_ends() {
        let name = "speculative_decode/chat/c8:speedup_vs_baseline.p95";
        assert_eq!(cut(name, 50), name);
        assert_eq!(cut(name, 26), "speculativ\u{2026}vs_baseline.p95");
        assert_eq!(cut(name, 26).chars().count(), 26);
        assert_eq!(cut("c8:ttft.p95", 18), "c8:ttft.p95");
    }
}

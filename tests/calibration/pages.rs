use std::path::Path;

use super::published::{Figure, figures};
use super::simulate::{Effort, fill};
use super::tables::Table;
use super::{page, rules, small, tables};

fn calibration() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/calibration.md")).unwrap()
}

/// Cells of a block by row and column, as they are printed.
fn cells(page: &str, table: &str) -> Vec<(String, String, f64)> {
    let (_, block, _) = page::parts(page, table).unwrap();
    let parts =
        |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = block.lines().filter(|line| line.starts_with('|')).map(parts);
    let head = lines.next().unwrap();
    let mut cells = Vec::new();
    for row in lines.skip(1) {
        for (column, cell) in head.iter().zip(&row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
            let percent = cell.split(" ± ").next().unwrap().parse().unwrap();
            cells.push((row[0].clone(), column.clone(), percent));
        }
    }
    cells
}

#[test]
fn the_small_table_is_what_the_rule_gives() {
    let page = calibration();
    let (_, block, _) = page::parts(&page, small::SMALL).unwrap();
    assert_eq!(
        block,
        small::small().unwrap(),
        "cargo run --release --example calibrate -- --compare --write docs/calibration.md"
    );
}

#[test]
fn every_table_of_the_program_stands_whole_in_the_page() {
    let page = calibration();
    for table in tables::all(2000) {
        let rows: std::collections::BTreeSet<String> =
            cells(&page, table.name).into_iter().map(|(row, ..)| row).collect();
        let wanted = rows_of(&table);
        assert_eq!(rows, wanted, "rows of {}", table.name);
    }
}

fn rows_of(table: &Table) -> std::collections::BTreeSet<String> {
    let rows = |task: &tables::Task| match &task.what {
        tables::What::Gates { row, .. } => vec![row.clone()],
        tables::What::Rules { .. } => rules::WAYS.iter().map(|way| way.name()).collect(),
    };
    table.tasks.iter().flat_map(rows).collect()
}

/// Twice the standard error of the difference, at the gates that the page says.
fn tolerated(percent: f64, figure: &Figure) -> f64 {
    let p = ((percent + figure.percent) / 200.0).clamp(0.0005, 0.9995);
    200.0 * (p * (1.0 - p) * 2.0 / figure.runs.min(1000.0)).sqrt() + 10_f64.powi(-(figure.decimals as i32))
}

#[test]
fn the_committed_tables_agree_with_the_accepted_figures() {
    let (page, figures) = (calibration(), figures().unwrap());
    let (mut seen, mut far) = (0, Vec::new());
    for table in tables::all(2000) {
        let cells = cells(&page, table.name);
        for figure in figures.iter().filter(|figure| figure.table == table.name) {
            let found = cells.iter().find(|(row, column, _)| *row == figure.row && *column == figure.column);
            let (.., percent) = found.unwrap_or_else(|| panic!("the page lacks {figure:?}"));
            seen += 1;
            let beyond = (percent - figure.percent).abs() / tolerated(*percent, figure);
            if beyond > 1.0 {
                far.push((beyond, figure.clone(), *percent));
            }
        }
    }
    assert_eq!(seen, figures.len());
    assert!(far.len() * 20 < seen, "{} of {seen} beyond two standard errors: {far:#?}", far.len());
    assert!(far.iter().all(|(beyond, ..)| *beyond < 2.5), "{far:#?}");
}

#[test]
fn what_is_drawn_depends_on_the_seed_alone() {
    let tiny = || {
        let mut table = tables::small();
        table.tasks.truncate(2);
        table
    };
    let with = |seed: u64| {
        let filled = fill(&[tiny()], Effort { seed, pool: 40 }, &|_| ()).unwrap();
        filled.iter().map(|table| table.markdown()).collect::<String>()
    };
    assert_eq!(with(3), with(3));
    assert_ne!(with(3), with(4));
}

#[test]
fn a_block_is_replaced_and_nothing_else() {
    let old = "a\n<!-- calibrate: x -->\nold\n<!-- end -->\nb\n<!-- calibrate: y -->\ny\n<!-- end -->\n";
    let new = page::replaced(old, "x", "new\n").unwrap();
    assert_eq!(new, old.replace("old", "new"));
    assert!(page::replaced(old, "z", "new\n").is_err());
}

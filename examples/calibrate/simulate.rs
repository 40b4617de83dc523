//! Fills tables: pools first, then every task on every core.

use std::collections::BTreeMap;

use super::data::Model;
use super::pool::Pool;
use super::rules::{self, WAYS};
use super::share::Share;
use super::tables::{Table, Task, What};
use super::work;

/// How much is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Seed of everything.
    pub seed: u64,
    /// Rounds in a pool.
    pub pool: usize,
}

/// A filled table.
pub struct Filled {
    /// What the rows are.
    pub heading: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows in order, each with a share where the table has one.
    pub rows: Vec<(String, Vec<Option<Share>>)>,
    /// Decimals of its percentages.
    pub decimals: usize,
}

struct Cell {
    row: String,
    column: String,
    share: Share,
}

/// Simulates tables; pools are shared between them, one at a time in memory.
pub fn fill(tables: &[Table], effort: Effort, note: &dyn Fn(&str)) -> anyhow::Result<Vec<Filled>> {
    let mut wanted: BTreeMap<(Model, usize), Vec<(usize, usize)>> = BTreeMap::new();
    for (at, table) in tables.iter().enumerate() {
        for (place, task) in table.tasks.iter().enumerate() {
            wanted.entry((task.model, task.n)).or_default().push((at, place));
        }
    }
    let mut cells: BTreeMap<(usize, usize), Vec<Cell>> = BTreeMap::new();
    for ((model, n), places) in wanted {
        note(&format!("{}, n = {n}: {} kinds of gate", model.name(), places.len()));
        let is_rules =
            |(at, place): &(usize, usize)| matches!(tables[*at].tasks[*place].what, What::Rules { .. });
        let samples = places.iter().any(is_rules);
        let pool = Pool::draw(model, n, effort.pool, effort.seed, samples)?;
        let done =
            work::parallel(&places, |(at, place)| run(&tables[*at].tasks[*place], &pool, effort.seed))?;
        cells.extend(places.into_iter().zip(done));
    }
    let filled = |(at, table): (usize, &Table)| {
        let of_table = cells.range((at, 0)..(at + 1, 0)).flat_map(|(_, cells)| cells);
        assembled(table, of_table)
    };
    Ok(tables.iter().enumerate().map(filled).collect())
}

fn assembled<'a>(table: &Table, cells: impl Iterator<Item = &'a Cell>) -> Filled {
    let mut rows: Vec<(String, Vec<Option<Share>>)> = Vec::new();
    for cell in cells {
        let row = match rows.iter().position(|(name, _)| *name == cell.row) {
            Some(row) => row,
            None => {
                rows.push((cell.row.clone(), vec![None; table.columns.len()]));
                rows.len() - 1
            }
        };
        if let Some(column) = table.columns.iter().position(|name| *name == cell.column) {
            rows[row].1[column] = Some(cell.share);
        }
    }
    let (heading, columns) = (table.heading.to_owned(), table.columns.clone());
    Filled { heading, columns, rows, decimals: table.decimals }
}

fn run(task: &Task, pool: &Pool, seed: u64) -> anyhow::Result<Vec<Cell>> {
    let runs = task.runs;
    match &task.what {
        What::Gates { settings, row, cells } => {
            let effects: Vec<_> = cells.iter().map(|(_, effect)| *effect).collect();
            let mut worst = vec![0; effects.len()];
            for setting in settings {
                let mut rng = work::stream(seed, &format!("gates {} {setting:?}", task.model.name()));
                let failures = setting.failures(pool, &effects, runs, &mut rng)?;
                worst = worst.into_iter().zip(failures).map(|(a, b)| a.max(b)).collect();
            }
            let cell = |((column, _), failed): (&(String, _), usize)| Cell {
                row: row.clone(),
                column: column.clone(),
                share: Share { failed, runs },
            };
            Ok(cells.iter().zip(worst).map(cell).collect())
        }
        What::Rules { groups, noise, cells } => {
            let effects: Vec<_> = cells.iter().map(|(_, effect)| *effect).collect();
            let mut rng = work::stream(seed, &format!("rules {} {groups} {noise:?}", task.model.name()));
            let counts = rules::failures(pool, (*groups, task.n), noise, &effects, runs, &mut rng)?;
            let mut filled = Vec::new();
            for (way, counts) in WAYS.iter().zip(counts) {
                for ((column, _), failed) in cells.iter().zip(counts) {
                    let share = Share { failed, runs };
                    filled.push(Cell { row: way.name(), column: column.clone(), share });
                }
            }
            Ok(filled)
        }
    }
}

impl Filled {
    /// As Markdown, every percentage with its standard error.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let head = std::iter::once(self.heading.clone()).chain(self.columns.iter().cloned()).collect();
        let mut text = line(head) + &format!("|---|{}\n", "---:|".repeat(self.columns.len()));
        for (name, shares) in &self.rows {
            let cell = |share: &Option<Share>| share.map_or(String::new(), |share| share.text(self.decimals));
            text += &line(std::iter::once(name.clone()).chain(shares.iter().map(cell)).collect());
        }
        text
    }
}

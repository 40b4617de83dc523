//! How often does the gate fail when nothing changed, and how often when something did?
//!
//! Simulates gates with known noise and known changes, judges them with pacegate's own rule and with the rules that
//! others use, and prints the tables of `docs/calibration.md`. The same seed gives the same tables on any number of
//! cores: `cargo run --release --example calibrate -- --help`.

mod data;
mod gate;
mod noise;
mod page;
mod pool;
mod published;
mod rules;
mod share;
mod simulate;
mod small;
mod tables;
mod work;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Parser;

use simulate::Effort;
use small::{COMMAND, SMALL, small};
use tables::Table;

/// Simulated gates: false failures and power, beside other rules
#[derive(Parser)]
#[command(name = "calibrate")]
struct Options {
    /// Gates in a cell where nothing changed; half as many where something did
    #[arg(long, default_value_t = 2000)]
    runs: usize,
    /// Rounds of one group that jobs are drawn from
    #[arg(long, default_value_t = 24_000)]
    pool: usize,
    /// Seed of every random number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A table alone; may be given several times
    #[arg(long = "table", value_name = "NAME")]
    only: Vec<String>,
    /// A tenth of the gates from a tenth of the rounds
    #[arg(long)]
    quick: bool,
    /// Also hold every cell against the figure that the rule was accepted with
    #[arg(long)]
    compare: bool,
    /// Replace the tables in this page in place of printing them
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

impl Options {
    fn wants(&self, table: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == table)
    }

    fn tables(&self) -> anyhow::Result<Vec<Table>> {
        let all = tables::all(self.runs);
        let names: Vec<&str> = all.iter().map(|table| table.name).chain([SMALL]).collect();
        if let Some(unknown) = self.only.iter().find(|name| !names.contains(&name.as_str())) {
            anyhow::bail!("there is no table `{unknown}`; there are {}", names.join(", "));
        }
        Ok(all.into_iter().filter(|table| self.wants(table.name)).collect())
    }
}

fn main() -> anyhow::Result<()> {
    let mut options = Options::parse();
    if options.quick {
        options.runs = (options.runs / 10).max(2);
        options.pool = (options.pool / 10).max(1);
    }
    let blocks = blocks(&options)?;
    match &options.write {
        Some(path) => {
            let mut page = std::fs::read_to_string(path)?;
            for (name, block) in blocks {
                page = page::replaced(&page, name, &block)?;
            }
            std::fs::write(path, page)?;
        }
        None => {
            let mut out = std::io::stdout().lock();
            for (name, block) in blocks {
                writeln!(out, "## {name}\n\n{block}")?;
            }
        }
    }
    Ok(())
}

/// What the page shows, by the names of its blocks.
fn blocks(options: &Options) -> anyhow::Result<Vec<(&'static str, String)>> {
    let tables = options.tables()?;
    let Options { runs, pool, seed, .. } = *options;
    let note = |line: &str| {
        let _ = writeln!(std::io::stderr(), "{line}");
    };
    let filled = simulate::fill(&tables, Effort { seed, pool }, &note)?;

    let mut blocks = Vec::new();
    let (figures, mut agreement) = (published::figures()?, published::summary_head());
    for (table, filled) in tables.iter().zip(&filled) {
        let how = format!("{COMMAND} --table {} --runs {runs} --pool {pool} --seed {seed}`", table.name);
        blocks.push((table.name, format!("{how}\n\n{}", filled.markdown())));
        let compared = published::compare(table.name, filled, &figures);
        if !compared.is_empty() {
            agreement += &published::summary(table.name, &compared);
        }
    }
    if options.wants(SMALL) {
        blocks.push((SMALL, small()?));
    }
    if options.compare {
        blocks.push(("agreement", agreement));
    }
    Ok(blocks)
}

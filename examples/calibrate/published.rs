//! The figures that the rule was accepted with, and how far our own are from them.
//!
//! They were made by another implementation (NumPy, vectorised over gates), with another generator of random numbers,
//! 2,000 gates a cell where nothing changed (1,000 where 12 groups have other data) and 1,000 where something did.

use std::fmt::Write as _;

use super::share::Share;
use super::simulate::Filled;

/// Table, row, column, percent; tab-separated.
const FIGURES: &str = include_str!("published.tsv");

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its table.
    pub table: String,
    /// Its row.
    pub row: String,
    /// Its column.
    pub column: String,
    /// In percent.
    pub percent: f64,
    /// To so many decimals.
    pub decimals: usize,
    /// From so many gates.
    pub runs: f64,
}

/// All figures.
pub fn figures() -> anyhow::Result<Vec<Figure>> {
    let lines = FIGURES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| figure(line).ok_or_else(|| anyhow::anyhow!("no figure: {line}"))).collect()
}

fn figure(line: &str) -> Option<Figure> {
    let mut parts = line.split('\t');
    let (table, row, column) = (parts.next()?, parts.next()?, parts.next()?);
    let (percent, runs) = (parts.next()?, parts.next()?);
    Some(Figure {
        table: table.to_owned(),
        row: row.to_owned(),
        column: column.to_owned(),
        percent: percent.parse().ok()?,
        decimals: percent.split_once('.').map_or(0, |(_, after)| after.len()),
        runs: runs.parse().ok()?,
    })
}

/// One cell beside its figure.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The figure.
    pub figure: Figure,
    /// What was simulated.
    pub ours: Share,
    /// Difference in standard errors of it, rounding of the figure included.
    pub z: f64,
}

/// Every cell that has a figure.
pub fn compare(table: &str, filled: &Filled, figures: &[Figure]) -> Vec<Compared> {
    let mut compared = Vec::new();
    for (row, shares) in &filled.rows {
        for (column, share) in filled.columns.iter().zip(shares) {
            let same =
                |figure: &&Figure| figure.table == table && figure.row == *row && figure.column == *column;
            if let (Some(ours), Some(figure)) = (*share, figures.iter().find(same)) {
                compared.push(Compared { z: z(ours, figure), figure: figure.clone(), ours });
            }
        }
    }
    compared
}

fn z(ours: Share, figure: &Figure) -> f64 {
    let runs = ours.runs as f64;
    let theirs = figure.percent / 100.0;
    let both = (ours.failed as f64 + theirs * figure.runs + 1.0) / (runs + figure.runs + 2.0);
    let rounding = 10_f64.powi(-(figure.decimals as i32)) / 100.0;
    let variance = both * (1.0 - both) * (1.0 / runs + 1.0 / figure.runs) + rounding.powi(2) / 12.0;
    (ours.value() - theirs) / variance.sqrt()
}

/// How a table agrees.
pub fn summary(table: &str, compared: &[Compared]) -> String {
    let beyond = |z: f64| compared.iter().filter(|cell| cell.z.abs() > z).count();
    let squares = compared.iter().map(|cell| cell.z * cell.z).sum::<f64>() / compared.len() as f64;
    let largest = compared.iter().max_by(|a, b| a.z.abs().total_cmp(&b.z.abs()));
    let mean = compared.iter().map(|cell| cell.z).sum::<f64>() / compared.len() as f64;
    largest.map_or(String::new(), |largest| {
        let Compared { figure, ours, z } = largest;
        format!(
            "| {table} | {} | {} | {} | {squares:.2} | {mean:+.2} | {} v {}, {} / {}: {z:+.1} |\n",
            compared.len(),
            beyond(2.0),
            beyond(3.0),
            ours.text(figure.decimals),
            figure.percent,
            figure.row,
            figure.column,
        )
    })
}

/// Head of a table of [`summary`] rows.
pub fn summary_head() -> String {
    let mut head = String::new();
    let _ = writeln!(
        head,
        "| table | cells | beyond 2 se | beyond 3 se | mean z² | mean z | farthest cell: ours v figure, z |"
    );
    head + "|---|---:|---:|---:|---:|---:|---|\n"
}

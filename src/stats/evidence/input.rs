use super::super::check::{StatsError, mean, not_negative, same_length, within};
use super::super::constants::Rule;
use super::field::Field;

/// One job (or one round pair of a duet): per field its value and the sampling variance of it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// Sign-aligned natural logarithms, + = worse; in a duet candidate minus baseline.
    pub x: Vec<f64>,
    /// Their sampling variances; in a duet of both rounds together.
    pub w: Vec<f64>,
}

/// What there is to judge by.
#[derive(Debug, Clone, Copy)]
pub enum Evidence<'a> {
    /// Separate jobs on both sides.
    Jobs {
        /// Blessed jobs.
        baseline: &'a [JobRow],
        /// Jobs of the change.
        candidate: &'a [JobRow],
        /// Smallest number of rounds of any job on either side.
        fewest_rounds: usize,
    },
    /// Both sides alternated in one job, at least three times.
    Pairs {
        /// One row per round pair.
        pairs: &'a [JobRow],
        /// Per field the mean over the baseline's rounds, to apply absolute floors to.
        baseline: &'a [f64],
    },
}

/// How much is known about the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Fewer than three baseline jobs: run noise is assumed.
    Single,
    /// Three baseline jobs and more: run noise is measured.
    Replicated,
    /// Both sides alternated in one job: run noise cancels.
    Duet,
}

/// Natural logarithms of positive finite numbers lie within these.
const LOG_RANGE: std::ops::RangeInclusive<f64> = -745.0..=710.0;

/// The evidence as movements against the baseline: per side, per job, per field.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    pub tier: Tier,
    pub moved: Vec<Vec<Vec<f64>>>,
    /// Per side and field the mean sampling variance of a job.
    pub variance: Vec<Vec<f64>>,
    /// Per field the baseline's level.
    pub level: Vec<f64>,
    /// Smallest number of rounds of a job; `None` in a duet, where it doesn't matter.
    pub fewest_rounds: Option<usize>,
}

impl Sides {
    pub fn new(rule: &Rule, fields: &[Field], evidence: &Evidence) -> Result<Self, StatsError> {
        check_fields(fields)?;
        match *evidence {
            Evidence::Jobs { baseline, candidate, fewest_rounds } => {
                check_rows("baseline jobs", fields, baseline)?;
                check_rows("candidate jobs", fields, candidate)?;
                if fewest_rounds == 0 {
                    return Err(StatsError::Empty("rounds"));
                }
                let level: Vec<f64> = (0..fields.len()).map(|f| mean(&column(baseline, f))).collect();
                let replicated = baseline.len() >= rule.replicated_jobs;
                Ok(Self {
                    tier: if replicated { Tier::Replicated } else { Tier::Single },
                    moved: vec![against(baseline, &level), against(candidate, &level)],
                    variance: vec![mean_variance(baseline), mean_variance(candidate)],
                    level,
                    fewest_rounds: Some(fewest_rounds),
                })
            }
            Evidence::Pairs { pairs, baseline } => {
                check_rows("round pairs", fields, pairs)?;
                if pairs.len() < rule.duet_pairs {
                    return Err(StatsError::Length {
                        what: "round pairs of a duet",
                        expected: rule.duet_pairs,
                        found: pairs.len(),
                    });
                }
                check_logs("baseline levels", fields.len(), baseline)?;
                Ok(Self {
                    tier: Tier::Duet,
                    moved: vec![pairs.iter().map(|row| row.x.clone()).collect()],
                    variance: vec![mean_variance(pairs)],
                    level: baseline.to_vec(),
                    fewest_rounds: None,
                })
            }
        }
    }

    /// The same evidence with better and worse exchanged.
    pub fn mirrored(&self) -> Self {
        let mut mirrored = self.clone();
        mirrored.moved.iter_mut().flatten().flatten().for_each(|x| *x = -*x);
        mirrored
    }
}

/// Refuses rows that don't match the fields or hold numbers that no measurement gives.
pub(super) fn check_rows(what: &'static str, fields: &[Field], rows: &[JobRow]) -> Result<(), StatsError> {
    if rows.is_empty() {
        return Err(StatsError::Empty(what));
    }
    for row in rows {
        check_logs(what, fields.len(), &row.x)?;
        same_length(what, fields.len(), row.w.len())?;
        not_negative("sampling variances", &row.w)?;
        for w in &row.w {
            within("sampling variance of a logarithm", *w, 0.0..=1e6, "at most a million")?;
        }
    }
    Ok(())
}

pub(super) fn check_logs(what: &'static str, fields: usize, logs: &[f64]) -> Result<(), StatsError> {
    same_length(what, fields, logs.len())?;
    super::super::check::finite(what, logs)?;
    for x in logs {
        within("logarithm of a measurement", *x, LOG_RANGE, "the logarithm of a positive number")?;
    }
    Ok(())
}

pub(super) fn check_fields(fields: &[Field]) -> Result<(), StatsError> {
    if !fields.iter().any(|field| field.gated) {
        return Err(StatsError::Empty("gated fields"));
    }
    for field in fields {
        within("logarithmic limit", field.log_limit, 0.0..=100.0, "0 to 100")?;
        within("absolute floor", field.floor, 0.0..=f64::MAX, "0 or more and finite")?;
    }
    Ok(())
}

fn column(rows: &[JobRow], field: usize) -> Vec<f64> {
    rows.iter().map(|row| row.x[field]).collect()
}

fn against(rows: &[JobRow], level: &[f64]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.x.iter().zip(level).map(|(x, b)| x - b).collect()).collect()
}

pub(super) fn mean_variance(rows: &[JobRow]) -> Vec<f64> {
    let fields = rows.first().map_or(0, |row| row.w.len());
    (0..fields).map(|f| mean(&rows.iter().map(|row| row.w[f]).collect::<Vec<_>>())).collect()
}

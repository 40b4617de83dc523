//! One simulated gate: jobs drawn from a pool, judged by pacegate's own evidence rule.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Uniform};

use pacegate::stats::constants::Rule;
use pacegate::stats::evidence::{Class, Evidence, Field, JobRow, judge, limit_of_increase};
use pacegate::stats::sampling::{JobValue, Summary, round_inflation, summary_variance};

use super::noise::{CLASS_OF, Effect, Noise};
use super::pool::{FIELDS, Pool, Reduced};

/// How a gate is measured. The candidate is always one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// This many blessed jobs, and rounds of every job on either side.
    Jobs(usize, usize),
    /// This many blessed jobs, rounds of each of them, and rounds of the candidate.
    Unequal(usize, usize, usize),
    /// One job of one round a side, of which only summaries are known.
    Summaries,
    /// This many round pairs of both sides alternated in one job.
    Duet(usize),
}

impl Design {
    /// As the tables name it.
    pub fn name(self) -> String {
        match self {
            Design::Jobs(1, 1) => "single, 1 round".to_owned(),
            Design::Jobs(1, rounds) => format!("single, {rounds} rounds"),
            Design::Jobs(jobs, 1) => format!("{jobs} jobs × 1 round"),
            Design::Jobs(jobs, rounds) => format!("{jobs} jobs × {rounds}"),
            Design::Unequal(jobs, blessed, candidate) => {
                format!("{jobs} job{} × {blessed} v {candidate} rounds", if jobs == 1 { "" } else { "s" })
            }
            Design::Summaries => "single, summaries".to_owned(),
            Design::Duet(pairs) => format!("duet {pairs}"),
        }
    }
}

/// Fields of every group that the gate has; the others were never measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// All six.
    All,
    /// TTFT P95, with P50 as its companion that is never judged.
    TailWithCompanion,
    /// TTFT P95 alone.
    Tail,
}

impl Watched {
    /// Whether a field is there, and whether it is judged.
    fn field(self, field: usize) -> Option<bool> {
        match (self, field) {
            (Watched::All, _) | (Watched::TailWithCompanion | Watched::Tail, 1) => Some(true),
            (Watched::TailWithCompanion, 0) => Some(false),
            (Watched::TailWithCompanion | Watched::Tail, _) => None,
        }
    }
}

/// A kind of gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// How it is measured.
    pub design: Design,
    /// Groups of the profile.
    pub groups: usize,
    /// Requests of a group in a round.
    pub n: usize,
    /// Noise of a job; in a duet of a pair.
    pub noise: Noise,
    /// What is gated.
    pub watched: Watched,
}

/// One round of one job: what was drawn for every group.
pub type Round<'a> = Vec<&'a Reduced>;

/// One job: its rounds, and the noise that all of them share.
pub struct Job<'a> {
    /// Rounds, each one draw a group.
    pub rounds: Vec<Round<'a>>,
    /// Shift of every field.
    pub shift: Vec<f64>,
}

impl<'a> Job<'a> {
    /// Draws a job.
    pub fn draw(
        pool: &'a Pool,
        rounds: usize,
        groups: usize,
        noise: &Noise,
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<Self> {
        let any = Uniform::new(0, pool.rounds.len())?;
        let mut round = || (0..groups).map(|_| &pool.rounds[any.sample(rng)]).collect::<Round<'a>>();
        let rounds = (0..rounds).map(|_| round()).collect();
        Ok(Self { rounds, shift: noise.draw(groups, rng)? })
    }

    /// Logarithm of a field in a round.
    pub fn x(&self, round: usize, at: usize) -> f64 {
        self.rounds[round][at / FIELDS].x[at % FIELDS] + self.shift[at]
    }

    /// Every field over the job's first `rounds` rounds.
    pub fn values(&self, rounds: usize) -> anyhow::Result<Vec<JobValue>> {
        let field = |at: usize| {
            let x: Vec<f64> = (0..rounds).map(|round| self.x(round, at)).collect();
            let w: Vec<f64> = self.rounds[..rounds].iter().map(|r| r[at / FIELDS].w[at % FIELDS]).collect();
            Ok(JobValue::of_rounds(&x, &w)?)
        };
        (0..self.shift.len()).map(field).collect()
    }
}

impl Setting {
    /// Fields of the gate with their places among all.
    pub fn fields(&self) -> anyhow::Result<(Vec<usize>, Vec<Field>)> {
        const CLASSES: [Class; 4] = [Class::Ttft, Class::Tpot, Class::E2e, Class::Throughput];
        let log_limit = limit_of_increase(0.1)?;
        let all = (0..self.groups * FIELDS).filter_map(|at| {
            let gated = self.watched.field(at % FIELDS)?;
            let class = CLASSES[CLASS_OF[at % FIELDS]];
            let summary = self.design == Design::Summaries;
            Some((at, Field { class, group: at / FIELDS, log_limit, floor: 0.0, gated, summary }))
        });
        Ok(all.unzip())
    }

    /// How many of `runs` gates fail under each effect; all effects meet the same draws.
    pub fn failures(
        &self,
        pool: &Pool,
        effects: &[Effect],
        runs: usize,
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<Vec<usize>> {
        let (places, fields) = self.fields()?;
        let effect_of = |effect: &Effect| -> Vec<f64> {
            places.iter().map(|at| effect.of(at / FIELDS, self.groups, at % FIELDS)).collect()
        };
        let moved: Vec<Vec<f64>> = effects.iter().map(effect_of).collect();
        let mut failures = vec![0; effects.len()];
        for _ in 0..runs {
            let drawn = self.draw(pool, &places, rng)?;
            for (count, moved) in failures.iter_mut().zip(&moved) {
                *count += usize::from(drawn.fails(&fields, moved)?);
            }
        }
        Ok(failures)
    }

    fn draw(&self, pool: &Pool, places: &[usize], rng: &mut ChaCha8Rng) -> anyhow::Result<Drawn> {
        match self.design {
            Design::Jobs(jobs, rounds) => self.jobs(pool, jobs, (rounds, rounds), places, rng),
            Design::Unequal(jobs, old, new) => self.jobs(pool, jobs, (old, new), places, rng),
            Design::Summaries => self.jobs(pool, 1, (1, 1), places, rng),
            Design::Duet(pairs) => self.pairs(pool, pairs, places, rng),
        }
    }

    fn jobs(
        &self,
        pool: &Pool,
        jobs: usize,
        (old, new): (usize, usize),
        places: &[usize],
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<Drawn> {
        let draw = |job| {
            let rounds = if job < jobs { old } else { new };
            Job::draw(pool, rounds, self.groups, &self.noise, rng)?.values(rounds)
        };
        let values: Vec<Vec<JobValue>> = (0..=jobs).map(draw).collect::<anyhow::Result<_>>()?;
        let mut rows = self.rows(&values, places)?;
        let candidate = rows.split_off(jobs);
        Ok(Drawn::Jobs { baseline: rows, candidate, rounds: old.min(new) })
    }

    /// Rows for the rule; the inflation is pooled over every field that was measured.
    pub fn rows(&self, values: &[Vec<JobValue>], places: &[usize]) -> anyhow::Result<Vec<JobRow>> {
        let inflation = round_inflation(values.iter().flatten());
        let row = |values: &Vec<JobValue>| {
            let w = |at: &usize| match self.design {
                Design::Summaries => of_summary(*at, self.n),
                Design::Jobs(..) | Design::Unequal(..) | Design::Duet(_) => {
                    Ok(values[*at].variance(inflation))
                }
            };
            let x = places.iter().map(|at| values[*at].x).collect();
            Ok(JobRow { x, w: places.iter().map(w).collect::<anyhow::Result<_>>()? })
        };
        values.iter().map(row).collect()
    }

    /// Run noise cancels; what is left is how the two sides of a pair drift apart.
    fn pairs(
        &self,
        pool: &Pool,
        pairs: usize,
        places: &[usize],
        rng: &mut ChaCha8Rng,
    ) -> anyhow::Result<Drawn> {
        let pair = |_| {
            let none = Noise { run: 0.0, group: 0.0, field: 0.0, class: 0.0, slow: None };
            let old = Job::draw(pool, 1, self.groups, &none, rng)?.values(1)?;
            let new = Job::draw(pool, 1, self.groups, &none, rng)?.values(1)?;
            let drift = self.noise.draw(self.groups, rng)?;
            Ok(JobRow {
                x: places.iter().map(|at| new[*at].x - old[*at].x + drift[*at]).collect(),
                w: places.iter().map(|at| new[*at].estimated + old[*at].estimated).collect(),
            })
        };
        Ok(Drawn::Pairs((0..pairs).map(pair).collect::<anyhow::Result<_>>()?))
    }
}

fn of_summary(at: usize, n: usize) -> anyhow::Result<f64> {
    const WHAT: [Summary; FIELDS] = [
        Summary::TtftPercentile(50.0),
        Summary::TtftPercentile(95.0),
        Summary::Percentile(50.0),
        Summary::Percentile(95.0),
        Summary::Percentile(95.0),
        Summary::Throughput,
    ];
    Ok(summary_variance(WHAT[at % FIELDS], Some(n))?)
}

/// Both sides of one gate.
pub enum Drawn {
    /// Separate jobs, and the rounds of each.
    Jobs { baseline: Vec<JobRow>, candidate: Vec<JobRow>, rounds: usize },
    /// Round pairs of one job.
    Pairs(Vec<JobRow>),
}

impl Drawn {
    /// Whether the gate fails once every candidate field is moved by this much.
    pub fn fails(&self, fields: &[Field], moved: &[f64]) -> anyhow::Result<bool> {
        let shifted = |rows: &[JobRow]| -> Vec<JobRow> {
            let shift = |row: &JobRow| JobRow {
                x: row.x.iter().zip(moved).map(|(x, by)| x + by).collect(),
                w: row.w.clone(),
            };
            rows.iter().map(shift).collect()
        };
        let outcome = match self {
            Drawn::Jobs { baseline, candidate, rounds } => {
                let candidate = shifted(candidate);
                let evidence = Evidence::Jobs { baseline, candidate: &candidate, fewest_rounds: *rounds };
                judge(&Rule::STANDARD, fields, &evidence, 1.0)?
            }
            Drawn::Pairs(pairs) => {
                let (pairs, level) = (shifted(pairs), vec![0.0; fields.len()]);
                judge(&Rule::STANDARD, fields, &Evidence::Pairs { pairs: &pairs, baseline: &level }, 1.0)?
            }
        };
        Ok(outcome.failed)
    }
}

//! What other rules make of the same data. Each fails a gate as soon as one of its fields alarms.

use rand_chacha::ChaCha8Rng;

use pacegate::stats::tail::Tail;

use super::gate::{Design, Drawn, Job, Setting, Watched};
use super::noise::{Effect, Noise};
use super::pool::{FIELDS, METRICS, Pool};

/// A way to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Any field of one round a side more than 10 % worse. `decide = "auto"` does this in *single* with few rounds.
    AnyField,
    /// The same with percentiles 95 alone.
    AnyP95,
    /// Mann-Whitney on the requests of one round a side, p < 0.05, any metric of any group.
    RankTest,
    /// And the median more than 10 % worse.
    RankTestAndLimit,
    /// Welch on three rounds of one job a side, p < 0.05.
    WelchRounds,
    /// Welch on the means of three jobs a side, p < 0.05.
    WelchJobs,
    /// 90 % Welch interval over three jobs a side wholly beyond +10 %.
    WelchBeyond,
    /// Above mean + t(0.99) standard deviations of the last ten jobs.
    Boundary,
    /// The evidence rule on one candidate job.
    Evidence(Design),
    /// The same on three.
    EvidenceOfJobs(Design),
}

/// Jobs that every way may look at.
const BLESSED: usize = 10;
const CANDIDATES: usize = 3;
const ROUNDS: usize = 3;

/// All of them.
pub const WAYS: [Way; 13] = [
    Way::AnyField,
    Way::AnyP95,
    Way::RankTest,
    Way::RankTestAndLimit,
    Way::WelchRounds,
    Way::WelchJobs,
    Way::WelchBeyond,
    Way::Boundary,
    Way::Evidence(Design::Jobs(1, 1)),
    Way::Evidence(Design::Jobs(1, 3)),
    Way::Evidence(Design::Jobs(3, 3)),
    Way::Evidence(Design::Jobs(10, 3)),
    Way::EvidenceOfJobs(Design::Jobs(3, 3)),
];

impl Way {
    /// As the tables name it.
    pub fn name(self) -> String {
        let words = match self {
            Way::AnyField => "any field +10 %, one round a side",
            Way::AnyP95 => "any P95 +10 %, one round a side",
            Way::RankTest => "Mann-Whitney on requests, p < 0.05",
            Way::RankTestAndLimit => "Mann-Whitney and median +10 %",
            Way::WelchRounds => "Welch on 3 rounds of one job a side, p < 0.05",
            Way::WelchJobs => "Welch on the means of 3 jobs a side, p < 0.05",
            Way::WelchBeyond => "Welch, 3 jobs a side, 90 % interval beyond +10 %",
            Way::Boundary => "above t(0.99) of the last 10 jobs",
            Way::Evidence(design) => return format!("**pacegate**, {}", design.name()),
            Way::EvidenceOfJobs(design) => {
                return format!("**pacegate**, {} v {CANDIDATES} candidate jobs", design.name());
            }
        };
        words.to_owned()
    }
}

/// Per way and effect, how many of `runs` gates fail.
pub fn failures(
    pool: &Pool,
    (groups, n): (usize, usize),
    noise: &Noise,
    effects: &[Effect],
    runs: usize,
    rng: &mut ChaCha8Rng,
) -> anyhow::Result<Vec<Vec<usize>>> {
    let mut counts = vec![vec![0; effects.len()]; WAYS.len()];
    for _ in 0..runs {
        let mut draw = |_| Job::draw(pool, ROUNDS, groups, noise, rng);
        let blessed: Vec<Job> = (0..BLESSED).map(&mut draw).collect::<anyhow::Result<_>>()?;
        let mut candidate: Vec<Job> = (0..CANDIDATES).map(&mut draw).collect::<anyhow::Result<_>>()?;
        let unchanged: Vec<Vec<f64>> = candidate.iter().map(|job| job.shift.clone()).collect();
        for (at, effect) in effects.iter().enumerate() {
            for (job, unchanged) in candidate.iter_mut().zip(&unchanged) {
                let moved =
                    |(field, shift): (usize, &f64)| shift + effect.of(field / FIELDS, groups, field % FIELDS);
                job.shift = unchanged.iter().enumerate().map(moved).collect();
            }
            let seen = Seen { blessed: &blessed, candidate: &candidate, groups, n, noise };
            for (count, way) in counts.iter_mut().zip(WAYS) {
                count[at] += usize::from(seen.fails(way)?);
            }
        }
    }
    Ok(counts)
}

struct Seen<'a> {
    blessed: &'a [Job<'a>],
    candidate: &'a [Job<'a>],
    groups: usize,
    n: usize,
    noise: &'a Noise,
}

impl Seen<'_> {
    fn fails(&self, way: Way) -> anyhow::Result<bool> {
        let limit = 0.1_f64.ln_1p();
        let (last, new) = (&self.blessed[BLESSED - 1], &self.candidate[0]);
        let mut fields = 0..self.groups * FIELDS;
        let over = |at: usize| new.x(0, at) - last.x(0, at) > limit;
        Ok(match way {
            Way::AnyField => fields.any(over),
            Way::AnyP95 => fields.filter(|at| [1, 3, 4].contains(&(at % FIELDS))).any(over),
            Way::RankTest => self.any_metric(|group, metric| rank_z(last, new, group, metric) > 1.96),
            Way::RankTestAndLimit => self.any_metric(|group, metric| {
                let median = |job: &Job| median(job, group, metric);
                median(new) - median(last) > limit && rank_z(last, new, group, metric) > 1.96
            }),
            Way::WelchRounds => {
                let rounds = |job: &Job, at: usize| (0..ROUNDS).map(|r| job.x(r, at)).collect::<Vec<_>>();
                any(fields, |at| Ok(welch(&rounds(last, at), &rounds(new, at))?.p < 0.025))?
            }
            Way::WelchJobs => any(fields, |at| Ok(self.welch_jobs(at)?.p < 0.025))?,
            Way::WelchBeyond => any(fields, |at| {
                let test = self.welch_jobs(at)?;
                Ok(test.difference - test.tail.exceeded_with(0.05)? * test.se > limit)
            })?,
            Way::Boundary => {
                let reach = Tail::Student((BLESSED - 1) as f64).exceeded_with(0.01)?;
                fields.any(|at| {
                    let old: Vec<f64> = self.blessed.iter().map(|job| job.x(0, at).exp()).collect();
                    let (mean, variance) = moments(&old);
                    let population = variance * (BLESSED - 1) as f64 / BLESSED as f64;
                    new.x(0, at).exp() > mean + reach * population.sqrt()
                })
            }
            Way::Evidence(design) => self.evidence(design, 1)?,
            Way::EvidenceOfJobs(design) => self.evidence(design, CANDIDATES)?,
        })
    }

    fn any_metric(&self, alarms: impl Fn(usize, usize) -> bool) -> bool {
        (0..self.groups).any(|group| (0..METRICS).any(|metric| alarms(group, metric)))
    }

    fn welch_jobs(&self, at: usize) -> anyhow::Result<Welch> {
        let means = |jobs: &[Job]| -> Vec<f64> {
            jobs.iter().map(|job| (0..ROUNDS).map(|r| job.x(r, at)).sum::<f64>() / ROUNDS as f64).collect()
        };
        welch(&means(&self.blessed[BLESSED - CANDIDATES..]), &means(self.candidate))
    }

    fn evidence(&self, design: Design, candidates: usize) -> anyhow::Result<bool> {
        let Design::Jobs(jobs, rounds) = design else { anyhow::bail!("{design:?} needs data of its own") };
        let setting =
            Setting { design, groups: self.groups, n: self.n, noise: *self.noise, watched: Watched::All };
        let (places, fields) = setting.fields()?;
        let looked_at = self.blessed[BLESSED - jobs..].iter().chain(&self.candidate[..candidates]);
        let values = looked_at.map(|job| job.values(rounds)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut baseline = setting.rows(&values, &places)?;
        let candidate = baseline.split_off(jobs);
        Drawn::Jobs { baseline, candidate, rounds }.fails(&fields, &vec![0.0; fields.len()])
    }
}

fn any(
    mut fields: std::ops::Range<usize>,
    alarms: impl Fn(usize) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    fields.try_fold(false, |found, at| Ok(found || alarms(at)?))
}

/// Samples of a metric in the first round, and by how much the job shifts them.
fn samples<'a>(job: &'a Job, group: usize, metric: usize) -> (&'a [f32], f64) {
    let kept = job.rounds[0][group].samples.as_deref();
    (kept.map_or(&[], |metrics| metrics[metric].as_slice()), job.shift[group * FIELDS + 2 * metric])
}

fn median(job: &Job, group: usize, metric: usize) -> f64 {
    let (samples, shift) = samples(job, group, metric);
    samples.get(samples.len() / 2).map_or(0.0, |x| f64::from(*x)) + shift
}

/// Mann-Whitney's U as a normal deviate with the correction for ties, + = slower.
fn rank_z(old: &Job, new: &Job, group: usize, metric: usize) -> f64 {
    let ((old, old_shift), (new, new_shift)) = (samples(old, group, metric), samples(new, group, metric));
    // Ties within a side stay ties under its shift; ties across sides are those of the shifted values.
    let a: Vec<f32> = old.iter().map(|x| (f64::from(*x) + old_shift) as f32).collect();
    let b: Vec<f32> = new.iter().map(|x| (f64::from(*x) + new_shift) as f32).collect();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut i, mut j, mut rank_sum, mut ties) = (0, 0, 0.0, 0.0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.min(*y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => break,
        };
        let before = (i + j) as f64;
        let of_a = a[i..].iter().take_while(|x| **x == next).count();
        let of_b = b[j..].iter().take_while(|x| **x == next).count();
        let tied = (of_a + of_b) as f64;
        rank_sum += of_b as f64 * (before + (tied + 1.0) / 2.0);
        ties += tied.powi(3) - tied;
        (i, j) = (i + of_a, j + of_b);
    }
    let u = rank_sum - m * (m + 1.0) / 2.0;
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    (u - n * m / 2.0) / variance.sqrt()
}

struct Welch {
    difference: f64,
    se: f64,
    tail: Tail,
    /// One-sided.
    p: f64,
}

fn welch(old: &[f64], new: &[f64]) -> anyhow::Result<Welch> {
    let ((old_mean, old_variance), (new_mean, new_variance)) = (moments(old), moments(new));
    let (a, b) = (old_variance / old.len() as f64, new_variance / new.len() as f64);
    let difference = new_mean - old_mean;
    if a + b == 0.0 {
        // A coarse clock: all rounds equal. Any difference is then beyond doubt, as the test has it.
        let p = if difference > 0.0 { 0.0 } else { 1.0 };
        return Ok(Welch { difference, se: 0.0, tail: Tail::Normal, p });
    }
    let freedom = (a + b).powi(2) / (a.powi(2) / (old.len() - 1) as f64 + b.powi(2) / (new.len() - 1) as f64);
    let (se, tail) = ((a + b).sqrt(), Tail::Student(freedom));
    Ok(Welch { difference, se, tail, p: tail.upper(difference / se)? })
}

/// Mean and sample variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (mean, squares / (values.len() - 1) as f64)
}

use super::super::check::{StatsError, mean, real, squares, within};
use super::super::constants::{Rule, Spread};
use super::super::tail::Tail;
use super::input::Tier;
use super::layout::Layout;

/// How many jobs there are, and what that makes of the prior: everything that does not depend on the measured values.
#[derive(Debug, Clone)]
pub(super) struct Design {
    pub tier: Tier,
    /// Jobs per side: baseline and candidate, or the pairs of a duet.
    pub jobs: Vec<usize>,
    /// Degrees of freedom in the measured spread between jobs that count; 0 in single.
    pub freedom: f64,
    /// What standardised estimates are held against.
    pub tail: Tail,
    /// Assumed variances of one job, or of one pair.
    pub prior: Spread,
    prior_weight: f64,
}

impl Design {
    pub fn new(rule: &Rule, tier: Tier, jobs: Vec<usize>) -> Result<Self, StatsError> {
        let (assumed, sides_in_row) = match tier {
            Tier::Duet => (rule.rounds, 2.0),
            Tier::Single | Tier::Replicated => (rule.jobs, 1.0),
        };
        for spread in [assumed.run, assumed.class, assumed.field] {
            within("assumed noise", spread, 1e-6..=10.0, "above 0 and at most 10")?;
        }
        let freedom = match tier {
            Tier::Single => 0.0,
            Tier::Replicated | Tier::Duet => real(jobs.iter().sum::<usize>() - jobs.len()),
        };
        Ok(Self {
            tier,
            freedom,
            tail: match tier {
                Tier::Single => Tail::Normal,
                Tier::Replicated | Tier::Duet => Tail::Student(rule.prior_weight + freedom),
            },
            prior: Spread {
                run: sides_in_row * assumed.run.powi(2),
                class: sides_in_row * assumed.class.powi(2),
                field: sides_in_row * assumed.field.powi(2),
            },
            prior_weight: rule.prior_weight,
            jobs,
        })
    }

    /// Candidate mean minus baseline mean; the mean in a duet, whose pairs are differences already.
    pub fn estimate(&self, values: &[Vec<f64>]) -> f64 {
        match values {
            [baseline, candidate] => mean(candidate) - mean(baseline),
            pairs => pairs.iter().map(|rows| mean(rows)).sum(),
        }
    }

    /// Variance of the estimate when one job of each side has this variance.
    pub fn of_estimate(&self, per_job: &[f64]) -> f64 {
        per_job.iter().zip(&self.jobs).map(|(v, k)| v / real(*k)).sum()
    }

    /// Squares around the sides' own means, in units of the prior variances.
    pub fn scatter(&self, values: &[Vec<f64>], per_job: &[f64]) -> f64 {
        if self.freedom == 0.0 {
            return 0.0;
        }
        values.iter().zip(per_job).map(|(side, v)| squares(side) / v).sum()
    }

    /// Factor on the prior variance once the measured scatter is weighed in (Smyth's moderated variance).
    pub fn moderated(&self, scatter: f64, kappa: f64) -> f64 {
        match self.tier {
            Tier::Single => kappa,
            Tier::Replicated | Tier::Duet => {
                (self.prior_weight * kappa + scatter) / (self.prior_weight + self.freedom)
            }
        }
    }

    /// Whether a field must not be trusted below its prior: some job has too few rounds to show its own noise.
    pub fn few_rounds(&self, rule: &Rule, fewest_rounds: Option<usize>, summary: bool) -> bool {
        fewest_rounds.is_some_and(|rounds| summary || rounds < rule.enough_rounds)
    }
}

/// Prior variances of one job per side, for each channel.
pub(super) struct Priors<'a> {
    rule: &'a Rule,
    layout: &'a Layout,
    prior: Spread,
    /// Per side and field.
    variance: &'a [Vec<f64>],
    /// Per side and class the sampling variance of the class median.
    class_median: Vec<Vec<f64>>,
}

impl<'a> Priors<'a> {
    pub fn new(rule: &'a Rule, layout: &'a Layout, design: &Design, variance: &'a [Vec<f64>]) -> Self {
        let class_median = variance
            .iter()
            .map(|w| {
                (0..layout.classes.len())
                    .map(|m| {
                        let of_class: Vec<f64> = layout.members[m].iter().map(|f| w[*f]).collect();
                        rule.median_variance * mean(&of_class) / real(layout.groups_of[m])
                    })
                    .collect()
            })
            .collect();
        Self { rule, layout, prior: design.prior, variance, class_median }
    }

    pub fn run(&self) -> Vec<f64> {
        let groups = real(self.layout.groups);
        self.variance.iter().map(|w| self.prior.run + self.rule.median_variance * mean(w) / groups).collect()
    }

    pub fn class(&self, m: usize, reference: usize) -> Vec<f64> {
        self.class_median.iter().map(|a| 2.0 * self.prior.class + a[m] + a[reference]).collect()
    }

    pub fn field(&self, f: usize, reference: usize) -> Vec<f64> {
        let own = self.layout.own_centre[self.layout.class_of[f]];
        let centre = |a: &[f64]| if own { 0.0 } else { 2.0 * self.prior.class + a[reference] };
        self.variance
            .iter()
            .zip(&self.class_median)
            .map(|(w, a)| self.prior.field + w[f] + centre(a))
            .collect()
    }

    /// The sampling variance of one job of each side alone.
    pub fn sampling(&self, f: usize) -> Vec<f64> {
        self.variance.iter().map(|w| w[f]).collect()
    }
}

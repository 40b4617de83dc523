use super::super::check::{StatsError, mean, median};
use super::super::constants::Rule;
use super::design::{Design, Priors};
use super::field::Field;
use super::input::Sides;
use super::layout::{Layout, median_of};

/// Scales a median absolute deviation to a standard deviation for normal data.
const MAD_TO_SD: f64 = 1.4826;

/// An estimate with its moderated standard error and one-sided p.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tested {
    pub estimate: f64,
    /// Factor that the measured spread puts on the assumed variance.
    pub factor: f64,
    pub se: f64,
    pub p: f64,
}

/// The three channels before any limit is looked at.
pub(super) struct Channels {
    pub run: Tested,
    /// Index of the reference class.
    pub reference: usize,
    /// Per class against the reference; `None` for the reference.
    pub classes: Vec<Option<Tested>>,
    /// Per field against its class or the reference.
    pub fields: Vec<Tested>,
    /// Per field the change against the baseline.
    pub changes: Vec<f64>,
    pub kappa: f64,
}

pub(super) struct Instrument<'a> {
    pub rule: &'a Rule,
    pub fields: &'a [Field],
    pub layout: &'a Layout,
    pub design: &'a Design,
}

impl Instrument<'_> {
    pub fn measure(&self, sides: &Sides) -> Result<Channels, StatsError> {
        let (layout, design) = (self.layout, self.design);
        let priors = Priors::new(self.rule, layout, design, &sides.variance);
        let everything: Vec<usize> = (0..self.fields.len()).collect();
        let run = self.channel(&per_job(sides, |row| median_of(row, &everything)), &priors.run())?;

        let centres: Vec<Vec<Vec<f64>>> = (0..layout.classes.len())
            .map(|m| per_job(sides, |row| median_of(row, &layout.members[m])))
            .collect();
        let reference = self.reference(&centres);
        let mut classes = Vec::with_capacity(centres.len());
        for (m, centre) in centres.iter().enumerate() {
            let test = (m != reference)
                .then(|| self.channel(&minus(centre, &centres[reference]), &priors.class(m, reference)));
            classes.push(test.transpose()?);
        }
        let (fields, kappa) = self.fields(sides, &priors, &centres, reference)?;
        let changes = everything.iter().map(|f| design.estimate(&per_job(sides, |row| row[*f]))).collect();
        Ok(Channels { run, reference, classes, fields, changes, kappa })
    }

    fn channel(&self, values: &[Vec<f64>], per_job: &[f64]) -> Result<Tested, StatsError> {
        let factor = self.design.moderated(self.design.scatter(values, per_job), 1.0);
        self.tested(self.design.estimate(values), factor, factor * self.design.of_estimate(per_job))
    }

    fn tested(&self, estimate: f64, factor: f64, variance: f64) -> Result<Tested, StatsError> {
        let se = variance.sqrt();
        Ok(Tested { estimate, factor, se, p: self.design.tail.upper(estimate / se)? })
    }

    /// The class that moved least towards worse: what moved with it is not the class's own doing.
    fn reference(&self, centres: &[Vec<Vec<f64>>]) -> usize {
        let mut best = None;
        for m in self.layout.reference_pool() {
            let moved = self.design.estimate(&centres[m]);
            if best.is_none_or(|(_, least)| moved < least) {
                best = Some((m, moved));
            }
        }
        best.map_or(0, |(m, _)| m)
    }

    fn fields(
        &self,
        sides: &Sides,
        priors: &Priors,
        centres: &[Vec<Vec<f64>>],
        reference: usize,
    ) -> Result<(Vec<Tested>, f64), StatsError> {
        let (layout, design) = (self.layout, self.design);
        let mut residuals = Vec::with_capacity(self.fields.len());
        for f in 0..self.fields.len() {
            let m = layout.class_of[f];
            let centre = &centres[if layout.own_centre[m] { m } else { reference }];
            let values = minus(&per_job(sides, |row| row[f]), centre);
            let per_job = priors.field(f, reference);
            residuals.push(Residual {
                estimate: design.estimate(&values),
                variance: design.of_estimate(&per_job),
                scatter: design.scatter(&values, &per_job),
            });
        }
        let kappa = self.kappa(&residuals);
        let mut tested = Vec::with_capacity(residuals.len());
        for (f, residual) in residuals.iter().enumerate() {
            let factor = design.moderated(residual.scatter, kappa);
            let few = design.few_rounds(self.rule, sides.fewest_rounds, self.fields[f].summary);
            let trusted = if few { factor.max(1.0) } else { factor };
            let sampling = design.of_estimate(&priors.sampling(f));
            let variance = (trusted * residual.variance).max(sampling);
            tested.push(self.tested(residual.estimate, factor, variance)?);
        }
        Ok((tested, kappa))
    }

    /// How much wider or narrower than assumed the fields spread, from the spread between jobs and, where enough
    /// fields are centred on their class, from the spread of their estimates (Efron's empirical null).
    fn kappa(&self, residuals: &[Residual]) -> f64 {
        let freedom = self.design.freedom;
        let (mut kappa, mut lowest) = (0.0, 1.0);
        if freedom * super::super::check::real(residuals.len()) >= self.rule.kappa_freedom {
            kappa = mean(&residuals.iter().map(|r| r.scatter / freedom).collect::<Vec<_>>());
            lowest = self.rule.kappa_lowest;
        }
        let mut centred: Vec<f64> = residuals
            .iter()
            .zip(&self.layout.class_of)
            .filter(|(_, m)| self.layout.own_centre[**m])
            .map(|(r, _)| (r.estimate / r.variance.sqrt()).abs())
            .collect();
        if centred.len() >= self.rule.kappa_fields {
            kappa = f64::max(kappa, (MAD_TO_SD * median(&mut centred)).powi(2));
        }
        kappa.clamp(lowest, self.rule.kappa_highest)
    }
}

struct Residual {
    estimate: f64,
    variance: f64,
    scatter: f64,
}

fn per_job(sides: &Sides, value: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
    sides.moved.iter().map(|jobs| jobs.iter().map(|row| value(row)).collect()).collect()
}

fn minus(values: &[Vec<f64>], centre: &[Vec<f64>]) -> Vec<Vec<f64>> {
    values.iter().zip(centre).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect()).collect()
}

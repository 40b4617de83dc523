use super::super::check::{StatsError, not_negative, real, same_length, within};
use super::super::constants::{MOST_JOBS, MOST_REQUESTS, MOST_ROUNDS, Rule};
use super::channels::Instrument;
use super::design::{Design, Priors};
use super::field::{Class, Field};
use super::input::{Evidence, JobRow, Sides, Tier, check_fields, check_rows, mean_variance};
use super::layout::Layout;
use super::resolution::{Errors, Resolution};

/// What a candidate measured like the baseline (one job, the same rounds and requests) could show: the formulas of
/// [`super::judge`] with the candidate's sampling variance set to the baseline's.
///
/// # Errors
/// As [`super::judge`].
pub fn resolution_ahead(
    rule: &Rule,
    fields: &[Field],
    baseline: &[JobRow],
    fewest_rounds: usize,
) -> Result<Resolution, StatsError> {
    let layout = Layout::new(rule, fields);
    Plan::of_jobs(rule, fields, &layout, baseline, fewest_rounds)?.resolution(
        1.0,
        baseline.len(),
        fewest_rounds,
    )
}

/// What a duet of `pairs` alternated rounds could show, from the sampling variance of one round per field, when its
/// rounds drift as much as the rule assumes.
///
/// # Errors
/// When no field is gated, a variance is negative, NaN or infinite, or there are fewer than three pairs.
pub fn duet_resolution_ahead(
    rule: &Rule,
    fields: &[Field],
    round_variance: &[f64],
    pairs: usize,
) -> Result<Resolution, StatsError> {
    let layout = Layout::new(rule, fields);
    Plan::of_duet(rule, fields, &layout, round_variance)?.of_pairs(pairs)
}

/// How many round pairs of a duet bring the smallest visible change of `target` down to `share`; `None` where no number
/// up to [`MOST_ROUNDS`] does. `round_variance`: the sampling variance of one round, per field.
///
/// # Errors
/// As [`duet_resolution_ahead`]; also when `share` is not positive.
pub fn pairs_needed(
    rule: &Rule,
    fields: &[Field],
    round_variance: &[f64],
    target: Target,
    share: f64,
) -> Result<Option<usize>, StatsError> {
    within("change to be shown", share, f64::MIN_POSITIVE..=1e6, "above 0")?;
    let layout = Layout::new(rule, fields);
    let plan = Plan::of_duet(rule, fields, &layout, round_variance)?;
    for pairs in rule.duet_pairs..=MOST_ROUNDS {
        if plan.of_target(&plan.of_pairs(pairs)?, target).is_some_and(|found| found <= share) {
            return Ok(Some(pairs));
        }
    }
    Ok(None)
}

/// How the baseline was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Requests per group and round.
    pub requests: usize,
    /// Rounds per job; the fewest of any job.
    pub rounds: usize,
}

/// What is to be made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A change of everything.
    Run,
    /// A change of one metric against the rest; for the reference class a change of everything.
    Class(Class),
    /// A change of one field, by index.
    Field(usize),
}

/// The smallest change of `target` that a candidate measured like the baseline shows with 90 % power; `None`: none.
///
/// # Errors
/// As [`resolution_ahead`].
pub fn visible_ahead(
    rule: &Rule,
    fields: &[Field],
    baseline: &[JobRow],
    fewest_rounds: usize,
    target: Target,
) -> Result<Option<f64>, StatsError> {
    let layout = Layout::new(rule, fields);
    let plan = Plan::of_jobs(rule, fields, &layout, baseline, fewest_rounds)?;
    Ok(plan.of_target(&plan.resolution(1.0, baseline.len(), fewest_rounds)?, target))
}

/// How much of one thing, with all else as it was, shows a change of the wanted size; `None` where no amount does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Requests per group and round.
    pub requests: Option<usize>,
    /// Rounds per job.
    pub rounds: Option<usize>,
    /// Baseline jobs.
    pub jobs: Option<usize>,
}

/// How many requests, rounds or baseline jobs bring the smallest visible change of `target` down to `share` (0.2 is
/// 20 %), if each job is as noisy as the baseline's were. Sampling variance falls with 1/requests and 1/rounds. That a
/// percentile needs its smallest sample is not looked at here.
///
/// # Errors
/// As [`super::judge`]; also when `share` is not positive, or the workload holds a zero.
pub fn needed(
    rule: &Rule,
    fields: &[Field],
    baseline: &[JobRow],
    workload: Workload,
    target: Target,
    share: f64,
) -> Result<Needed, StatsError> {
    within("change to be shown", share, f64::MIN_POSITIVE..=1e6, "above 0")?;
    if workload.requests == 0 {
        return Err(StatsError::Empty("requests per round"));
    }
    let layout = Layout::new(rule, fields);
    let plan = Plan::of_jobs(rule, fields, &layout, baseline, workload.rounds)?;
    let shows = |scale: f64, jobs: usize, rounds: usize| -> Result<bool, StatsError> {
        Ok(plan.of_target(&plan.resolution(scale, jobs, rounds)?, target).is_some_and(|found| found <= share))
    };
    let (jobs, rounds) = (baseline.len(), workload.rounds);
    let with_requests = |n: usize| shows(real(workload.requests) / real(n), jobs, rounds);
    let with_rounds = |m: usize| shows(real(rounds) / real(m), jobs, m);
    Ok(Needed {
        requests: smallest(MOST_REQUESTS, with_requests)?,
        rounds: first(MOST_ROUNDS, with_rounds)?,
        jobs: first(MOST_JOBS, |k| shows(1.0, k, rounds))?,
    })
}

/// Smallest number up to `most` for which something holds that holds for every larger one.
fn smallest(
    most: usize,
    holds: impl Fn(usize) -> Result<bool, StatsError>,
) -> Result<Option<usize>, StatsError> {
    if !holds(most)? {
        return Ok(None);
    }
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(Some(low))
}

/// Smallest number up to `most` for which something holds at all.
fn first(
    most: usize,
    holds: impl Fn(usize) -> Result<bool, StatsError>,
) -> Result<Option<usize>, StatsError> {
    for n in 1..=most {
        if holds(n)? {
            return Ok(Some(n));
        }
    }
    Ok(None)
}

/// A baseline's noise, ready to be asked what other amounts of measuring would show.
struct Plan<'a> {
    rule: &'a Rule,
    fields: &'a [Field],
    layout: &'a Layout,
    /// `None`: by the number of baseline jobs.
    tier: Option<Tier>,
    /// Per field the sampling variance of one job, or of one pair.
    variance: Vec<f64>,
    reference: usize,
    /// Factors that the spread measured so far puts on the assumed variances.
    run: f64,
    classes: Vec<f64>,
    of_fields: Vec<f64>,
}

impl<'a> Plan<'a> {
    fn of_jobs(
        rule: &'a Rule,
        fields: &'a [Field],
        layout: &'a Layout,
        baseline: &[JobRow],
        fewest_rounds: usize,
    ) -> Result<Self, StatsError> {
        check_rows("baseline jobs", fields, baseline)?;
        let variance = mean_variance(baseline);
        let unmoved =
            Sides::new(rule, fields, &Evidence::Jobs { baseline, candidate: &baseline[..1], fewest_rounds })?;
        let sides = Sides {
            moved: vec![unmoved.moved[0].clone(), vec![vec![0.0; fields.len()]]],
            variance: vec![variance.clone(); 2],
            ..unmoved
        };
        let design = Design::new(rule, sides.tier, vec![baseline.len(), 1])?;
        let channels = Instrument { rule, fields, layout, design: &design }.measure(&sides)?;
        Ok(Self {
            rule,
            fields,
            layout,
            tier: None,
            variance,
            reference: channels.reference,
            run: channels.run.factor,
            classes: channels.classes.iter().map(|test| test.map_or(1.0, |test| test.factor)).collect(),
            of_fields: channels.fields.iter().map(|test| test.factor).collect(),
        })
    }

    fn of_duet(
        rule: &'a Rule,
        fields: &'a [Field],
        layout: &'a Layout,
        round_variance: &[f64],
    ) -> Result<Self, StatsError> {
        check_fields(fields)?;
        same_length("round variances", fields.len(), round_variance.len())?;
        not_negative("round variances", round_variance)?;
        Ok(Self {
            rule,
            fields,
            layout,
            tier: Some(Tier::Duet),
            variance: round_variance.iter().map(|w| 2.0 * w).collect(),
            reference: layout.reference_pool().first().copied().unwrap_or(0),
            run: 1.0,
            classes: vec![1.0; layout.classes.len()],
            of_fields: vec![1.0; fields.len()],
        })
    }

    fn of_pairs(&self, pairs: usize) -> Result<Resolution, StatsError> {
        within("round pairs of a duet", real(pairs), real(self.rule.duet_pairs)..=1e6, "3 or more")?;
        self.resolution(1.0, pairs, self.rule.enough_rounds)
    }

    /// With the sampling variance times `scale`, this many baseline jobs (or pairs) and rounds.
    fn resolution(&self, scale: f64, jobs: usize, rounds: usize) -> Result<Resolution, StatsError> {
        let replicated = jobs >= self.rule.replicated_jobs;
        let (tier, per_side) = match self.tier {
            Some(Tier::Duet) => (Tier::Duet, vec![jobs]),
            _ if replicated => (Tier::Replicated, vec![jobs, 1]),
            _ => (Tier::Single, vec![jobs, 1]),
        };
        let variance: Vec<f64> = self.variance.iter().map(|w| w * scale).collect();
        let per_side_variance = vec![variance; per_side.len()];
        let design = Design::new(self.rule, tier, per_side)?;
        let priors = Priors::new(self.rule, self.layout, &design, &per_side_variance);
        let fewest_rounds = (tier != Tier::Duet).then_some(rounds);
        let field_error = |f: usize| {
            let few = design.few_rounds(self.rule, fewest_rounds, self.fields[f].summary);
            let factor = if few { self.of_fields[f].max(1.0) } else { self.of_fields[f] };
            let moderated = factor * design.of_estimate(&priors.field(f, self.reference));
            moderated.max(design.of_estimate(&priors.sampling(f))).sqrt()
        };
        let class_error = |m: usize| {
            let variance = design.of_estimate(&priors.class(m, self.reference));
            (m != self.reference).then(|| (self.classes[m] * variance).sqrt())
        };
        let errors = Errors {
            run: (self.run * design.of_estimate(&priors.run())).sqrt(),
            classes: (0..self.layout.classes.len()).map(class_error).collect(),
            fields: (0..self.fields.len()).map(field_error).collect(),
        };
        Instrument { rule: self.rule, fields: self.fields, layout: self.layout, design: &design }
            .resolve(&errors, fewest_rounds)
    }

    fn of_target(&self, resolution: &Resolution, target: Target) -> Option<f64> {
        match target {
            Target::Run => Some(resolution.run),
            Target::Field(f) => resolution.fields.get(f).copied().flatten(),
            Target::Class(class) => {
                let m = self.layout.classes.iter().position(|known| *known == class)?;
                if m == self.reference { Some(resolution.run) } else { resolution.classes[m] }
            }
        }
    }
}

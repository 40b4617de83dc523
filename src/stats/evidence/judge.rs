use super::super::check::{StatsError, within};
use super::super::constants::{EPSILON, Rule};
use super::super::multiplicity::holm;
use super::super::tail::Tail;
use super::channels::{Channels, Instrument, Tested};
use super::design::Design;
use super::field::{Class, Field, over_limit};
use super::input::{Evidence, Sides, Tier, check_fields, check_logs};
use super::layout::{Layout, median_of};
use super::outcome::{ClassOutcome, FieldOutcome, FieldWord, Outcome, Test};
use super::resolution::{Errors, Resolution, far};

/// Judges one gate. `alpha_scale` is 1, or this look's share of the false-alarm budget when rounds are added until the
/// answer is clear.
///
/// # Errors
/// When no field is gated; a side has no job; a row doesn't have one value and one variance per field; a number is NaN,
/// infinite, or impossible as the logarithm of a measurement, as a variance, limit or floor; a duet has fewer than three
/// pairs; or the assumed noise is not positive.
pub fn judge(
    rule: &Rule,
    fields: &[Field],
    evidence: &Evidence,
    alpha_scale: f64,
) -> Result<Outcome, StatsError> {
    within("share of the false-alarm budget", alpha_scale, f64::MIN_POSITIVE..=1.0, "above 0 and at most 1")?;
    let sides = Sides::new(rule, fields, evidence)?;
    let layout = Layout::new(rule, fields);
    let design = Design::new(rule, sides.tier, sides.moved.iter().map(Vec::len).collect())?;
    let instrument = Instrument { rule, fields, layout: &layout, design: &design };

    let channels = instrument.measure(&sides)?;
    let over = |change: &[f64]| -> Vec<bool> {
        let is_over = |f: usize| fields[f].gated && over_limit(&fields[f], sides.level[f], change[f]);
        (0..fields.len()).map(is_over).collect()
    };
    let worse = instrument.decide(&channels, over(&channels.changes), &sides, alpha_scale)?;

    let mirrored = sides.mirrored();
    let mirror = instrument.measure(&mirrored)?;
    // A floor only ever excuses a regression.
    let better_over = (0..fields.len())
        .map(|f| fields[f].gated && mirror.changes[f] - fields[f].log_limit > EPSILON)
        .collect();
    let better = instrument.decide(&mirror, better_over, &mirrored, alpha_scale)?;

    let errors = Errors::of(&channels);
    let resolution = instrument.resolve(&errors, sides.fewest_rounds)?;
    instrument.outcome(&sides, &channels, &worse, &better, &errors, &resolution)
}

/// What significance and limits together make of the channels.
struct Decided {
    over: Vec<bool>,
    run_over: bool,
    class_over: Vec<bool>,
    run_regressed: bool,
    class_regressed: Vec<bool>,
    field_regressed: Vec<bool>,
    class_adjusted: Vec<f64>,
    field_adjusted: Vec<f64>,
}

impl Instrument<'_> {
    fn decide(
        &self,
        channels: &Channels,
        over: Vec<bool>,
        sides: &Sides,
        alpha_scale: f64,
    ) -> Result<Decided, StatsError> {
        let (rule, layout) = (self.rule, self.layout);
        let beyond: Vec<f64> = self.beyond(&channels.changes);
        let run_over = over_limits(&beyond, &over, &layout.gated);
        let class_over: Vec<bool> =
            layout.gated_members.iter().map(|members| over_limits(&beyond, &over, members)).collect();

        let tested: Vec<usize> =
            (0..layout.classes.len()).filter(|m| channels.classes[*m].is_some()).collect();
        let class_p: Vec<f64> = channels.classes.iter().map(|test| test.map_or(1.0, |test| test.p)).collect();
        let class_adjusted = adjusted(&class_p, &tested)?;
        let field_p: Vec<f64> = channels.fields.iter().map(|test| test.p).collect();
        let field_adjusted = adjusted(&field_p, &layout.gated)?;

        let class_regressed = (0..layout.classes.len())
            .map(|m| {
                channels.classes[m].is_some()
                    && class_over[m]
                    && class_adjusted[m] <= alpha_scale * rule.alpha_class
            })
            .collect();
        let field_regressed = (0..self.fields.len())
            .map(|f| {
                over[f]
                    && field_adjusted[f] <= alpha_scale * rule.alpha_field
                    && self.can_convict(f, channels.fields[f].estimate, sides)
            })
            .collect();
        Ok(Decided {
            run_regressed: run_over && channels.run.p <= alpha_scale * rule.alpha_run,
            class_regressed,
            field_regressed,
            over,
            run_over,
            class_over,
            class_adjusted,
            field_adjusted,
        })
    }

    fn beyond(&self, changes: &[f64]) -> Vec<f64> {
        changes.iter().zip(self.fields).map(|(change, field)| change - field.log_limit).collect()
    }

    /// A single job can't convict one field by a summary, and with few rounds only by a very large change.
    fn can_convict(&self, f: usize, residual: f64, sides: &Sides) -> bool {
        let field = &self.fields[f];
        match self.design.tier {
            Tier::Replicated | Tier::Duet => true,
            Tier::Single if field.summary => false,
            Tier::Single if self.design.few_rounds(self.rule, sides.fewest_rounds, false) => {
                residual > far(self.rule, field)
            }
            Tier::Single => true,
        }
    }

    fn outcome(
        &self,
        sides: &Sides,
        channels: &Channels,
        worse: &Decided,
        better: &Decided,
        errors: &Errors,
        resolution: &Resolution,
    ) -> Result<Outcome, StatsError> {
        let layout = self.layout;
        let run = test(&channels.run, channels.run.p, worse.run_regressed, Some(resolution.run));
        let classes: Vec<ClassOutcome> = (0..layout.classes.len())
            .map(|m| ClassOutcome {
                class: layout.classes[m],
                over_limits: worse.class_over[m],
                test: channels.classes[m].map(|tested| {
                    let p_adjusted = worse.class_adjusted[m];
                    test(&tested, p_adjusted, worse.class_regressed[m], resolution.classes[m])
                }),
            })
            .collect();
        let shown = self.design.tail.exceeded_with((1.0 - self.rule.shown_confidence) / 2.0)?;
        let mut fields = Vec::with_capacity(self.fields.len());
        let mut over_expected = 0.0;
        for (f, field) in self.fields.iter().enumerate() {
            let word = self.word(f, worse, better);
            let tested = &channels.fields[f];
            let se = errors.of_change(f);
            if field.gated {
                over_expected += Tail::Normal.upper(field.log_limit / se)?;
            }
            let ratio = |change: f64| (field.class.sign() * change).exp();
            let change = channels.changes[f];
            let ends = [ratio(change - shown * se), ratio(change + shown * se)];
            fields.push(FieldOutcome {
                word,
                baseline: sides.level[f],
                change,
                ratio: ratio(change),
                interval: (ends[0].min(ends[1]), ends[0].max(ends[1])),
                over_limit: worse.over[f],
                test: test(tested, worse.field_adjusted[f], worse.field_regressed[f], resolution.fields[f]),
                warned: word == Some(FieldWord::Unresolved) && tested.p < self.rule.warn_below,
            });
        }
        Ok(Outcome {
            tier: self.design.tier,
            failed: worse.run_regressed
                || worse.class_regressed.contains(&true)
                || worse.field_regressed.contains(&true),
            run,
            run_over_limits: worse.run_over,
            reference: layout.classes[channels.reference],
            classes,
            kappa: channels.kappa,
            interval_reach: shown,
            fields,
            over_count: worse.over.iter().filter(|over| **over).count(),
            over_expected,
        })
    }

    fn word(&self, f: usize, worse: &Decided, better: &Decided) -> Option<FieldWord> {
        let m = self.layout.class_of[f];
        let found = |way: &Decided| {
            way.over[f] && (way.field_regressed[f] || way.class_regressed[m] || way.run_regressed)
        };
        self.fields[f].gated.then(|| match (found(worse), found(better), worse.over[f]) {
            (true, _, _) => FieldWord::Regressed,
            (false, true, _) => FieldWord::Improved,
            (false, false, true) => FieldWord::Unresolved,
            (false, false, false) => FieldWord::Unchanged,
        })
    }
}

/// Whether the middle of some gated fields lies over their limits, and at least one of them is over limit and floor.
pub(super) fn over_limits(beyond: &[f64], over: &[bool], members: &[usize]) -> bool {
    !members.is_empty() && median_of(beyond, members) > EPSILON && members.iter().any(|f| over[*f])
}

/// Whether everything and which classes are over their limits, whatever the chance: for measurements without noise, of
/// which no test is made. `levels` are sign-aligned logarithms of the baseline, `changes` what is on top of them.
///
/// # Errors
/// When no field is gated, or a side doesn't have one value a field.
pub fn over_their_limits(
    fields: &[Field],
    levels: &[f64],
    changes: &[f64],
) -> Result<(bool, Vec<Class>), StatsError> {
    check_fields(fields)?;
    check_logs("baseline", fields.len(), levels)?;
    check_logs("changes", fields.len(), changes)?;
    let layout = Layout::new(&Rule::STANDARD, fields);
    let beyond: Vec<f64> =
        changes.iter().zip(fields).map(|(change, field)| change - field.log_limit).collect();
    let is_over = |f: usize| fields[f].gated && over_limit(&fields[f], levels[f], changes[f]);
    let over: Vec<bool> = (0..fields.len()).map(is_over).collect();
    let of_class = |m: &usize| over_limits(&beyond, &over, &layout.gated_members[*m]);
    let classes = (0..layout.classes.len()).filter(of_class).map(|m| layout.classes[m]).collect();
    Ok((over_limits(&beyond, &over, &layout.gated), classes))
}

/// Holm over some entries; the others keep their p.
fn adjusted(p: &[f64], of: &[usize]) -> Result<Vec<f64>, StatsError> {
    let some: Vec<f64> = of.iter().map(|i| p[*i]).collect();
    let mut all = p.to_vec();
    for (i, value) in of.iter().zip(holm(&some)?) {
        all[*i] = value;
    }
    Ok(all)
}

fn test(tested: &Tested, p_adjusted: f64, regressed: bool, smallest_found: Option<f64>) -> Test {
    Test { estimate: tested.estimate, se: tested.se, p: tested.p, p_adjusted, regressed, smallest_found }
}

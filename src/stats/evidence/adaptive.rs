use super::super::check::{StatsError, real};
use super::super::constants::{Clear, LOOKS, Rule};
use super::field::Field;
use super::input::{Evidence, JobRow};
use super::judge::judge;
use super::layout::{Layout, median_of};
use super::outcome::Outcome;

/// What a look at a growing duet decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// A channel regressed: no further rounds are needed.
    Fail,
    /// Clearly nothing: no further rounds are needed.
    Clear,
    /// Measure on, until this many pairs.
    Next(usize),
    /// That was the last look: the verdict stands as it is.
    End,
}

/// One look.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Round pairs looked at.
    pub pairs: usize,
    /// This look's share of every false-alarm budget.
    pub alpha_scale: f64,
    /// Smallest unadjusted p of a class; `None` where there is only one class.
    pub smallest_class_p: Option<f64>,
    /// Smallest unadjusted p of a field.
    pub smallest_field_p: f64,
    /// What to do.
    pub decision: Decision,
    /// The judgement at this look's share of the budget.
    pub outcome: Outcome,
}

/// Looks at a duet after all its pairs so far; `None` when their number (3, 5, 8 and 10) is none to look at.
///
/// # Errors
/// As [`judge`].
pub fn look(
    rule: &Rule,
    fields: &[Field],
    pairs: &[JobRow],
    baseline: &[f64],
) -> Result<Option<Look>, StatsError> {
    let Some(number) = LOOKS.iter().position(|(count, _)| *count == pairs.len()) else {
        return Ok(None);
    };
    let alpha_scale = LOOKS[number].1;
    let outcome = judge(rule, fields, &Evidence::Pairs { pairs, baseline }, alpha_scale)?;
    let classes = outcome.classes.iter().filter_map(|class| class.test.map(|test| test.p));
    let smallest_class_p = classes.min_by(f64::total_cmp);
    let smallest_field_p = outcome.fields.iter().map(|field| field.test.p).fold(1.0, f64::min);

    let clear = Clear::STANDARD;
    let limits: Vec<f64> = fields.iter().map(|field| field.log_limit).collect();
    let middle_limit = median_of(&limits, &Layout::new(rule, fields).gated);
    let nothing = outcome.run.p > clear.p_run
        && outcome.run.estimate < clear.of_limit * middle_limit
        && smallest_class_p.is_none_or(|p| p > clear.p_class)
        && real(fields.len()) * smallest_field_p > clear.p_fields;
    let decision = match LOOKS.get(number + 1) {
        _ if outcome.failed => Decision::Fail,
        _ if nothing => Decision::Clear,
        Some((next, _)) => Decision::Next(*next),
        None => Decision::End,
    };
    Ok(Some(Look { pairs: pairs.len(), alpha_scale, smallest_class_p, smallest_field_p, decision, outcome }))
}

use super::super::check::{StatsError, real};
use super::super::constants::Rule;
use super::channels::{Channels, Instrument};
use super::field::Field;
use super::input::Tier;
use super::layout::median_of;

/// Smallest true changes that are found with 90 % power, as shares (0.32 = 32 % worse).
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// Of everything.
    pub run: f64,
    /// Per class that occurs, in fixed order; `None` for the reference class and for a class without gated fields.
    pub classes: Vec<Option<f64>>,
    /// Per field; `None` where this evidence can't fail the field.
    pub fields: Vec<Option<f64>>,
}

/// Standard errors from which a resolution follows.
pub(super) struct Errors {
    pub run: f64,
    /// `None` for the reference class.
    pub classes: Vec<Option<f64>>,
    pub fields: Vec<f64>,
}

impl Errors {
    pub fn of(channels: &Channels) -> Self {
        Self {
            run: channels.run.se,
            classes: channels.classes.iter().map(|test| test.map(|test| test.se)).collect(),
            fields: channels.fields.iter().map(|test| test.se).collect(),
        }
    }

    /// Standard error of a field's change against the baseline: run noise and its own.
    pub fn of_change(&self, f: usize) -> f64 {
        self.run.hypot(self.fields[f])
    }
}

impl Instrument<'_> {
    pub fn resolve(&self, errors: &Errors, fewest_rounds: Option<usize>) -> Result<Resolution, StatsError> {
        let (rule, layout, tail) = (self.rule, self.layout, self.design.tail);
        let power = super::super::tail::Tail::Normal.exceeded_with(1.0 - rule.power)?;
        let limits: Vec<f64> = self.fields.iter().map(|field| field.log_limit).collect();
        let run_needed = tail.exceeded_with(rule.alpha_run)? * errors.run;
        let run = run_needed.max(median_of(&limits, &layout.gated)) + power * errors.run;

        let others = real(layout.classes.len().saturating_sub(1).max(1));
        let class_critical = tail.exceeded_with(rule.alpha_class / others)?;
        let class = |m: usize| {
            let se = errors.classes[m]?;
            let gated = &layout.gated_members[m];
            if gated.is_empty() {
                return None;
            }
            let limit = median_of(&limits, gated) + power * errors.run;
            Some(((class_critical + power) * se).max(limit).exp_m1())
        };

        let field_critical = tail.exceeded_with(rule.alpha_field / real(layout.gated.len()))?;
        let field = |f: usize| {
            let se = errors.fields[f];
            let mut needed = (field_critical + power) * se;
            if self.design.tier == Tier::Single {
                if self.fields[f].summary {
                    return None;
                }
                if self.design.few_rounds(rule, fewest_rounds, false) {
                    needed = needed.max(far(rule, &self.fields[f]) + power * se);
                }
            }
            Some(needed.max(limits[f] + power * errors.of_change(f)).exp_m1())
        };
        Ok(Resolution {
            run: run.exp_m1(),
            classes: (0..layout.classes.len()).map(class).collect(),
            fields: (0..self.fields.len()).map(field).collect(),
        })
    }
}

/// What a single field must exceed on the logarithmic scale when few rounds of one job are all there is.
pub(super) fn far(rule: &Rule, field: &Field) -> f64 {
    (rule.far * field.log_limit.exp_m1()).ln_1p()
}

//! One field on its way from alignment to a finding.

use crate::model::finding::{DecidedBy, Evidence};
use crate::model::policy::{Allowance, Tolerance};
use crate::model::{Direction, FieldId, Finding, Finite, Judgement, Metric, Quantity, Reason};
use crate::stats::evidence::{Class, Field, limit_of_decrease, limit_of_increase};

use super::reading::Series;

/// One field of the union of both sides.
pub(super) struct Case {
    pub id: FieldId,
    pub tolerance: Option<Tolerance>,
    /// Its P95 or so can't be judged, and this one is judged in its place.
    pub stand_in: bool,
    /// Steadies its class's median and is never judged.
    pub companion: bool,
    pub blessed: Series,
    pub candidate: Series,
    pub old: Option<Finite>,
    pub new: Option<Finite>,
    /// `None` while it is still open.
    pub judgement: Option<Judgement>,
    pub reasons: Vec<Reason>,
    pub evidence: Option<Evidence>,
    pub decided_by: Option<DecidedBy>,
    pub confirmed: Option<bool>,
}

impl Case {
    /// A case whose values are computed and not read from one metric.
    pub fn computed(
        id: FieldId,
        tolerance: Option<Tolerance>,
        old: Option<Finite>,
        new: Option<Finite>,
    ) -> Case {
        Case {
            id,
            tolerance,
            stand_in: false,
            companion: false,
            blessed: Series::default(),
            candidate: Series::default(),
            old,
            new,
            judgement: None,
            reasons: Vec::new(),
            evidence: None,
            decided_by: None,
            confirmed: None,
        }
    }

    pub fn gated(&self) -> bool {
        self.tolerance.is_some() && !self.companion
    }

    /// Gated, and the blessed baseline has it.
    pub fn required(&self) -> bool {
        self.gated() && !self.stand_in && self.old.is_some()
    }

    pub fn settle(&mut self, judgement: Judgement, reason: Reason) {
        self.judgement = Some(judgement);
        self.reasons.insert(0, reason);
    }

    pub fn summary(&self) -> bool {
        self.blessed.summary() || self.candidate.summary()
    }

    /// Both sides have it in every round, as numbers that evidence can be computed of.
    pub fn evident(&self) -> bool {
        self.blessed.evident() && self.candidate.evident()
    }

    /// Gated by nothing but a limit that is as large as the value: it could never fail.
    pub fn cannot_fail(&self) -> bool {
        let Some((tolerance, old)) = self.tolerance.as_ref().zip(self.old).filter(|_| self.gated()) else {
            return false;
        };
        let direction = tolerance.fail_if_reversed && self.id.metric == Metric::SPEEDUP;
        let other = tolerance.max.is_some() || tolerance.min.is_some() || direction;
        let limit = match tolerance.allowance {
            Some(Allowance::Absolute(value)) => value,
            Some(Allowance::Relative(_) | Allowance::Points(_)) | None => Finite::ZERO,
        };
        let needed = limit.max(tolerance.min_change.unwrap_or(Finite::ZERO));
        self.id.metric.direction() == Direction::HigherIsBetter && !other && needed >= old
    }

    pub fn finding(mut self) -> Finding {
        let gated = self.gated();
        if self.judgement == Some(Judgement::Unchanged) && self.cannot_fail() {
            self.out_of_reach();
        }
        if gated && self.judgement.is_none() {
            self.settle(Judgement::Invalid, Reason::NotJudged { field: self.id.clone() });
        }
        let summary = self.summary();
        Finding {
            unit: self.id.metric.unit(),
            direction: self.id.metric.direction(),
            judgement: self.judgement.unwrap_or(Judgement::NotGated),
            gated,
            old: self.old,
            new: self.new,
            tolerance: self.tolerance,
            evidence: self.evidence,
            decided_by: self.decided_by,
            confirmed: self.confirmed,
            summary,
            reasons: self.reasons,
            field: self.id,
        }
    }

    fn out_of_reach(&mut self) {
        let Some((tolerance, value)) = self.tolerance.clone().zip(self.old) else { return };
        let old = Quantity { value, unit: self.id.metric.unit() };
        let field = self.id.clone();
        self.settle(Judgement::Invalid, Reason::LimitOutOfReach { field, old, tolerance });
    }

    /// The field as the statistics see it; `None` where it belongs to no channel or has no limit on its change.
    pub fn statistical(&self, group: usize) -> Option<Field> {
        let class = class_of(&self.id)?;
        let old = self.old?;
        let allowance = self.tolerance.as_ref().and_then(|tolerance| tolerance.allowance);
        let log_limit = match allowance {
            Some(allowance) => log_limit(allowance, old, self.id.metric.direction())?,
            None if self.companion => 0.0,
            None => return None,
        };
        let floor = self.tolerance.as_ref().and_then(|t| t.min_change).unwrap_or(Finite::ZERO).get();
        Some(Field { class, group, log_limit, floor, gated: self.gated(), summary: self.summary() })
    }
}

/// The channel class of a field whose logarithm is judged.
pub(super) fn class_of(field: &FieldId) -> Option<Class> {
    use crate::model::ChannelClass;
    field.metric.class().map(|class| match class {
        ChannelClass::Ttft => Class::Ttft,
        ChannelClass::Tpot => Class::Tpot,
        ChannelClass::Itl => Class::Itl,
        ChannelClass::E2e => Class::E2e,
        ChannelClass::Throughput => Class::Throughput,
    })
}

/// The limit on the logarithmic scale; an absolute one is a share of the old value.
pub(super) fn log_limit(allowance: Allowance, old: Finite, direction: Direction) -> Option<f64> {
    let share = match allowance {
        Allowance::Relative(share) => share.get(),
        Allowance::Absolute(value) => value.get() / old.get(),
        Allowance::Points(_) => return None,
    };
    match direction {
        Direction::LowerIsBetter => limit_of_increase(share).ok(),
        Direction::HigherIsBetter => limit_of_decrease(share).ok(),
        Direction::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::policy::Origin;
    use crate::model::{GroupId, Statistic};

    #[test]
    fn a_gated_field_that_nothing_judged_is_no_pass() {
        let id = FieldId::new(GroupId("c8".into()), Metric::TTFT, Statistic::P95);
        let tolerance = Tolerance {
            allowance: None,
            min_change: None,
            max: None,
            min: None,
            fail_if_reversed: false,
            origin: Origin::Default,
            bound_origin: Origin::Default,
        };
        let finding = |tolerance| Case::computed(id.clone(), tolerance, None, None).finding();
        let gated = finding(Some(tolerance));
        assert_eq!(gated.judgement, Judgement::Invalid);
        assert!(gated.reasons[0].to_string().contains("is gated and was not judged"));
        assert_eq!((finding(None).judgement, finding(None).reasons.len()), (Judgement::NotGated, 0));
    }
}

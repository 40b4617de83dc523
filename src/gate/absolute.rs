//! Absolute limits: the value itself, whatever it was before.

use crate::model::policy::Tolerance;
use crate::model::{Judgement, Quantity, Reason};

use super::case::Case;

/// `max` and `min` are inclusive and need no baseline.
///
/// Numbers that can't be right, or are not there, break no limit: they have a judgement that says more.
pub(super) fn check(case: &mut Case, tolerance: &Tolerance) {
    use Judgement::{Invalid, Missing, NotComparable};
    let Some(value) = case.new else { return };
    if matches!(case.judgement, Some(Invalid | NotComparable | Missing)) {
        return;
    }
    let quantity = Quantity { value, unit: case.id.metric.unit() };
    let slack = crate::stats::constants::EPSILON * value.get().abs().max(1.0);
    let (field, origin) = (case.id.clone(), tolerance.bound_origin.clone());
    if let Some(max) = tolerance.max.filter(|max| value.get() - max.get() > slack) {
        regress(case, Reason::OverMax { field: field.clone(), value: quantity, max, origin: origin.clone() });
    }
    if let Some(min) = tolerance.min.filter(|min| min.get() - value.get() > slack) {
        regress(case, Reason::UnderMin { field, value: quantity, min, origin });
    }
}

fn regress(case: &mut Case, reason: Reason) {
    if case.judgement == Some(Judgement::Regressed) {
        case.reasons.push(reason);
    } else {
        case.judgement = Some(Judgement::Regressed);
        case.reasons.insert(0, reason);
    }
}

//! The words of every [`Reason`]: one place, so that no two outputs say it differently.

mod comparison;
mod fields;
mod parts;
mod row;
mod shifts;
mod speedup;
mod success;
mod trend;
mod validity;

use super::reason::Reason;
use super::sentence::Sentence;

pub use parts::{chance, count, part_of, plus, share};
pub use row::{day, moment, short_commit};
pub use shifts::with_worst;
pub use trend::{class_ratio, finding as trend_finding, pinned_drift, since_short};

/// The sentence of a reason.
#[must_use]
pub fn sentence(reason: &Reason) -> Sentence {
    match reason {
        Reason::OverLimit { field, change, tolerance } => fields::over_limit(field, *change, tolerance),
        Reason::UnderMinChange { field, change, tolerance } => {
            fields::under_min_change(field, *change, tolerance)
        }
        Reason::OverMax { field, value, max, origin } => fields::over_max(field, *value, *max, origin),
        Reason::UnderMin { field, value, min, origin } => fields::under_min(field, *value, *min, origin),
        Reason::Better { field, change } => fields::better(field, *change),
        Reason::Unconfirmed { p, expected, gated, lift } => fields::unconfirmed(*p, *expected, *gated, lift),
        Reason::Confirmed { by, p } => fields::confirmed(by, *p),
        Reason::CouldBeNoise { field, change, tolerance, p } => {
            fields::could_be_noise(field, *change, tolerance, *p)
        }
        Reason::TooFewSamples { field, n, needed, instead } => {
            fields::too_few_samples(field, *n, *needed, *instead)
        }
        Reason::UnequalSamples { field, smaller, larger, instead } => {
            fields::unequal_samples(field, *smaller, *larger, *instead)
        }
        Reason::ZeroValue { field, side, in_a_round } => fields::zero_value(field, *side, *in_a_round),
        Reason::Missing { field, old, hint } => fields::missing(field, *old, hint),
        Reason::NoLatencyLeft { group } => fields::no_latency_left(group),
        Reason::New { field } => fields::new(field),
        Reason::NotJudged { field } => fields::not_judged(field),
        Reason::LimitOutOfReach { field, old, tolerance } => {
            fields::limit_out_of_reach(field, *old, tolerance)
        }
        Reason::Withdrawn { group } => fields::withdrawn(group),
        Reason::Waived { field, change, allowance, why, until } => {
            fields::waived(field, *change, *allowance, why, *until)
        }
        Reason::WaiverExpired { pattern, why, until, origin } => {
            fields::waiver_expired(pattern, why, *until, origin)
        }
        Reason::WaiverExpiresSoon { pattern, why, until, days } => {
            fields::waiver_expires_soon(pattern, why, *until, *days)
        }
        Reason::WaiverExceeded { field, change, allowance, origin } => {
            fields::waiver_exceeded(field, *change, *allowance, origin)
        }
        Reason::WaiverUnused { pattern, origin, nearest } => fields::waiver_unused(pattern, origin, nearest),
        Reason::SuccessDropped { group, old, new, limit, failed } => {
            success::success_dropped(group, *old, *new, limit, failed)
        }
        Reason::SuccessCouldBeNoise { group, old, new, limit } => {
            success::success_could_be_noise(group, *old, *new, limit)
        }
        Reason::SuccessUnknown { side } => success::success_unknown(*side),
        Reason::NoSuccess { group, requests } => success::no_success(group, requests),
        Reason::SpeedupReversed { group, reference, statistic, old, new, legs } => {
            speedup::speedup_reversed(group, reference, *statistic, *old, *new, *legs)
        }
        Reason::SpeedupFell { group, reference, statistic, change, tolerance } => {
            speedup::speedup_fell(group, reference, *statistic, *change, tolerance)
        }
        Reason::SpeedupUnclear { group, reference, statistic, old, new, interval } => {
            speedup::speedup_unclear(group, reference, *statistic, *old, *new, *interval)
        }
        Reason::SpeedupSwapped { group, reference, reported, recomputed, statistic, legs } => {
            speedup::speedup_swapped(group, reference, *reported, *recomputed, *statistic, *legs)
        }
        Reason::SpeedupContradicted { group, reference, reported, recomputed, statistic } => {
            speedup::speedup_contradicted(group, reference, *reported, *recomputed, *statistic)
        }
        Reason::SpeedupDefault { group, reference, reported, recomputed, statistic } => {
            speedup::speedup_default(group, reference, *reported, *recomputed, *statistic)
        }
        Reason::SpeedupNotRecomputable { group, reported, why } => {
            speedup::speedup_not_recomputable(group, *reported, why)
        }
        Reason::NoReference { wanted, strategies } => speedup::no_reference(wanted, strategies),
        Reason::RunWide { ratio, interval, p, regressed, reach } => {
            shifts::run_wide(*ratio, *interval, *p, *regressed, *reach)
        }
        Reason::ClassShift { class, ratio, interval, p, regressed } => {
            shifts::class_shift(*class, *ratio, *interval, *p, *regressed)
        }
        Reason::MetricShift { metric, groups, of, strategies, smallest, largest, with } => {
            shifts::metric_shift(metric, *groups, *of, strategies, *smallest, *largest, with)
        }
        Reason::InARow(row) => row::in_a_row(row),
        Reason::NextInARowFails(row) => row::next_fails(row),
        Reason::OverBeforeThisChange(row) => row::before_this_change(row),
        Reason::NoBaseline { path, bless } => comparison::no_baseline(path, bless),
        Reason::NothingInCommon { old, new } => comparison::nothing_in_common(old, new),
        Reason::OneDimension { what, old, new } => comparison::one_dimension(what, old, new),
        Reason::OldBaseline { days } => comparison::old_baseline(*days),
        Reason::NothingCompared => comparison::nothing_compared(),
        Reason::Differs { fact, group, old, new, allowed } => {
            comparison::differs(*fact, group, old, new, *allowed)
        }
        Reason::NotRecorded { facts, side } => comparison::not_recorded(facts, *side),
        Reason::ParameterChanged { name, old, new } => comparison::parameter_changed(name, old, new),
        Reason::RuleMatchesNothing { pattern, origin, nearest } => {
            comparison::rule_matches_nothing(pattern, origin, nearest)
        }
        Reason::NotWatched { fields, hint } => comparison::not_watched(fields, hint),
        Reason::Blind { metric, resolution, above } => comparison::blind(metric, *resolution, *above),
        Reason::Drift { field, change, max, blesses } => comparison::drift(field, *change, *max, *blesses),
        Reason::BaselineAltered { path, git_ref, own } => comparison::baseline_altered(path, git_ref, own),
        Reason::LimitsAltered { path, git_ref, lines } => comparison::limits_altered(path, git_ref, lines),
        Reason::SelfBlessRefused => comparison::self_bless_refused(),
        Reason::CountsDontAddUp { group, sent, succeeded, failed } => {
            validity::counts_dont_add_up(group, *sent, *succeeded, *failed)
        }
        Reason::NoTokens { group } => validity::no_tokens(group),
        Reason::AllFailed { sent, failed } => validity::all_failed(*sent, failed),
        Reason::NothingSent => validity::nothing_sent(),
        Reason::BadLatency { field, value, side, in_a_round } => {
            validity::bad_latency(field, *value, *side, *in_a_round)
        }
        Reason::OutOfOrder { field, value, above, above_value } => {
            validity::out_of_order(field, *value, above, *above_value)
        }
        Reason::LostInRound { group, round } => validity::lost_in_round(group, *round),
        Reason::RoundTooGood { field, value, others } => validity::round_too_good(field, *value, *others),
        Reason::FieldLostInRound { field, job, round } => validity::field_lost_in_round(field, *job, *round),
        Reason::BlessedInvalid { why } => validity::blessed_invalid(why),
        Reason::Incomplete { job } => validity::incomplete(job),
        Reason::ClientBottleneck { group, lag, limit, cpu_share } => {
            validity::client_bottleneck(group, *lag, *limit, *cpu_share)
        }
        Reason::Suspicious { field, change, what, more } => {
            validity::suspicious(field, *change, *what, *more)
        }
        Reason::SourceSays { text } => validity::source_says(text),
    }
}

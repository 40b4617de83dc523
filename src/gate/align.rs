//! The union of both sides' fields: on both, only blessed (missing), only candidate (new).

use std::collections::BTreeSet;

use crate::model::metric::Metric;
use crate::model::policy::{Policy, RuleTie};
use crate::model::reason::Side;
use crate::model::report::SourceKind;
use crate::model::{Direction, Fact, FieldId, Finite, GroupId, Judgement, Quantity, Reason, Statistic};

use super::case::Case;
use super::comparable::Comparability;
use super::reading::{self, How};
use super::sides::Sides;
use super::validity::{Validity, bad_value};

/// Metrics that have a judgement of their own.
const ELSEWHERE: [Metric; 2] = [Metric::SUCCESS_RATE, Metric::SPEEDUP];

/// Every field of both sides, settled as far as alignment can.
pub(super) fn cases(
    sides: &Sides,
    policy: &Policy,
    comparability: &Comparability,
    validity: &Validity,
    allowed: &[Fact],
) -> Result<Vec<Case>, Box<RuleTie>> {
    let groups: BTreeSet<&GroupId> =
        sides.blessed.groups().into_iter().chain(sides.candidate.groups()).collect();
    let mut cases = Vec::new();
    for group in groups {
        let mut fields = sides.blessed.fields(group);
        fields.extend(sides.candidate.fields(group));
        for (metric, statistic) in fields.into_iter().filter(|(metric, _)| !ELSEWHERE.contains(metric)) {
            let mut case = case(sides, policy, FieldId::new(group.clone(), metric, statistic), allowed)?;
            settle(&mut case, sides, comparability, validity, allowed);
            cases.push(case);
        }
    }
    Ok(cases)
}

/// A field with its values on both sides.
pub(super) fn case(
    sides: &Sides,
    policy: &Policy,
    id: FieldId,
    allowed: &[Fact],
) -> Result<Case, Box<RuleTie>> {
    let tolerance = policy.tolerance(&id)?.filter(|_| id.metric.direction() != Direction::Unknown);
    let (how, mixed) = match reading::how(sides, &id) {
        Ok(how) => (how, None),
        Err(mixed) => (How::By(mixed.candidate), Some(mixed)),
    };
    let blessed = reading::series(&sides.blessed, &id, how);
    let candidate = reading::series(&sides.candidate, &id, how);
    let (old, new) = (blessed.point(), candidate.point());
    let mut case = Case::computed(id, tolerance, old, new);
    (case.blessed, case.candidate) = (blessed, candidate);
    let fact = Fact::PercentileDefinition;
    if let Some(mixed) = mixed.filter(|_| case.old.is_some() && case.new.is_some()) {
        let is_allowed = allowed.contains(&fact);
        let reason = Reason::Differs {
            fact,
            group: Some(case.id.group.clone()),
            old: mixed.blessed.to_string(),
            new: mixed.candidate.to_string(),
            allowed: is_allowed,
        };
        match is_allowed {
            true => case.reasons.push(reason),
            false => case.settle(Judgement::NotComparable, reason),
        }
    }
    Ok(case)
}

fn settle(
    case: &mut Case,
    sides: &Sides,
    comparability: &Comparability,
    validity: &Validity,
    allowed: &[Fact],
) {
    if case.judgement.is_some() && case.gated() {
        return;
    }
    let group = case.id.group.clone();
    let unit = case.id.metric.unit();
    if let Some(reason) = validity.invalid.get(&group) {
        return case.settle(Judgement::Invalid, reason.clone());
    }
    match (case.old, case.new) {
        (None, None) => {}
        (None, Some(_)) => case.settle(Judgement::New, Reason::New { field: case.id.clone() }),
        (Some(old), None) => {
            let hint = hint(&case.id, sides);
            let reason = Reason::Missing { field: case.id.clone(), old: Quantity { value: old, unit }, hint };
            case.settle(Judgement::Missing, reason);
        }
        (Some(old), Some(new)) => {
            if let Some(reason) = refusal(case, sides, comparability, allowed) {
                return case.settle(Judgement::NotComparable, reason);
            }
            if let Some(reason) = hidden(case, sides) {
                return case.settle(Judgement::Invalid, reason);
            }
            // Gaps between chunks that arrive together are truly 0; no other time is.
            if case.id.metric == Metric::ITL && (old == Finite::ZERO || new == Finite::ZERO) {
                let side = if old == Finite::ZERO { Side::Blessed } else { Side::Candidate };
                let reason = Reason::ZeroValue { field: case.id.clone(), side, in_a_round: false };
                return case.settle(Judgement::Unresolved, reason);
            }
        }
    }
    if case.tolerance.is_none() && !matches!(case.judgement, Some(Judgement::New | Judgement::Missing)) {
        case.judgement = Some(Judgement::NotGated);
    }
}

/// What a mean over rounds would hide: a round without the field, or one with a value that can't be.
///
/// A blessed side may have gaps, for jobs can be added to it; the sides of a duet were measured together.
fn hidden(case: &Case, sides: &Sides) -> Option<Reason> {
    let gap = case.candidate.gap.or(case.blessed.gap.filter(|_| sides.duet));
    if let Some(gap) = gap.filter(|_| case.gated()) {
        return Some(Reason::FieldLostInRound { field: case.id.clone(), job: gap.job, round: gap.round });
    }
    let both = [(&case.candidate, Side::Candidate), (&case.blessed, Side::Blessed)];
    let bad = both.into_iter().find_map(|(series, side)| {
        let in_a_round = series.readings().nth(1).is_some();
        bad_value(&case.id, series.smallest()?, side, in_a_round)
    });
    bad.or_else(|| too_good(case).filter(|_| case.gated()))
}

/// A round so much better than the middle one, and than what is blessed, that no noise explains it: a mean of logarithms
/// would hide the others. A round like the blessed ones accuses the others: they stalled.
fn too_good(case: &Case) -> Option<Reason> {
    const FAR: f64 = 20.0;
    const BETTER: f64 = 2.0;
    let unit = case.id.metric.unit();
    // Gaps between chunks may be next to nothing.
    if case.id.metric.class().is_none() || case.id.metric == Metric::ITL {
        return None;
    }
    let mut values: Vec<Finite> =
        case.candidate.readings().filter_map(|reading| Finite::new(reading.value).ok()).collect();
    values.sort();
    let higher = case.id.metric.direction() == Direction::HigherIsBetter;
    if higher {
        values.reverse();
    }
    let (best, middle) = (*values.first()?, *values.get(values.len() / 2)?);
    let apart = (middle.get() / best.get()).max(best.get() / middle.get());
    let usual = case.old.is_some_and(|old| {
        let ratio = if higher { best.get() / old.get() } else { old.get() / best.get() };
        ratio < BETTER
    });
    let of = |value| Quantity { value, unit };
    let field = case.id.clone();
    (apart > FAR && !usual).then(|| Reason::RoundTooGood { field, value: of(best), others: of(middle) })
}

/// Why this field of two comparable-looking groups can't be compared.
fn refusal(
    case: &mut Case,
    sides: &Sides,
    comparability: &Comparability,
    allowed: &[Fact],
) -> Option<Reason> {
    let of_group = comparability.groups.get(&case.id.group).and_then(|reasons| reasons.first());
    if let Some(reason) = comparability.run.first().or(of_group) {
        return Some(reason.clone());
    }
    for (fact, values) in [
        (Fact::Definition, definitions(case, sides)),
        (Fact::PromptTokens, prompts(case, sides)),
        (Fact::OutputTokens, lengths(case, sides)),
    ] {
        let Some((old, new)) = values else { continue };
        let is_allowed = allowed.contains(&fact);
        let reason =
            Reason::Differs { fact, group: Some(case.id.group.clone()), old, new, allowed: is_allowed };
        if !is_allowed {
            return Some(reason);
        }
        case.reasons.push(reason);
    }
    None
}

/// What each side means by the metric, where they differ.
fn definitions(case: &Case, sides: &Sides) -> Option<(String, String)> {
    let of = |side: &super::sides::SideView| {
        let all = side.of_group(&case.id.group);
        all.filter_map(|m| m.group.metrics.get(&case.id.metric)?.definition.clone())
            .collect::<BTreeSet<String>>()
    };
    let (old, new) = (of(&sides.blessed), of(&sides.candidate));
    let differ = !old.is_empty() && !new.is_empty() && old != new;
    let join = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" and ");
    differ.then(|| (join(old), join(new)))
}

/// Prompts of another length are another question. Only of foreign reports: our own sources name their prompts.
fn prompts(case: &Case, sides: &Sides) -> Option<(String, String)> {
    const MOST_APART: f64 = 0.02;
    const TOKENS_APART: f64 = 4.0;
    let all = || sides.blessed.jobs.iter().chain(&sides.candidate.jobs);
    if !all().all(|job| job.report.source.kind == SourceKind::Ingest) {
        return None;
    }
    let of = |side| reading::mean_tokens(side, &case.id.group, |tokens| tokens.input);
    let (old, new) = (of(&sides.blessed)?, of(&sides.candidate)?);
    let apart = (new - old).abs() > (MOST_APART * old).max(TOKENS_APART);
    apart.then(|| (format!("{old:.1} tokens"), format!("{new:.1} tokens")))
}

/// Answers of other lengths make e2e and the rates of requests another question.
fn lengths(case: &Case, sides: &Sides) -> Option<(String, String)> {
    const MOST_APART: f64 = 0.02;
    if ![Metric::E2E, Metric::REQUEST_THROUGHPUT].contains(&case.id.metric) {
        return None;
    }
    let old = reading::mean_tokens(&sides.blessed, &case.id.group, |tokens| tokens.output)?;
    let new = reading::mean_tokens(&sides.candidate, &case.id.group, |tokens| tokens.output)?;
    ((new - old).abs() > MOST_APART * old).then(|| (format!("{old:.1} tokens"), format!("{new:.1} tokens")))
}

/// What would bring a missing field back.
fn hint(field: &FieldId, sides: &Sides) -> Option<String> {
    let format = sides.candidate.jobs.first()?.report.source.format.clone()?;
    let percentile = matches!(field.statistic, Statistic::Percentile(_));
    match (format.as_str(), field.metric.id(), percentile) {
        ("vllm-bench-serve", "e2e", _) => {
            Some("vllm bench serve writes it with --percentile-metrics ttft,tpot,itl,e2el".to_owned())
        }
        ("vllm-bench-serve", _, true) => Some(format!(
            "vllm bench serve writes it with --metric-percentiles 50,95,99 (here {}), or with --save-detailed",
            field.statistic
        )),
        _ => None,
    }
}

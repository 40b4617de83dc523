//! The judged fields through the statistics: words for fields, causes for shifts, and what could have been seen.

use std::collections::BTreeMap;

use crate::model::finding::{DecidedBy, Evidence};
use crate::model::metric::ChannelClass;
use crate::model::policy::{OnUnresolved, Policy};
use crate::model::reason::Reach;
use crate::model::verdict::{Cause, Channel, Resolution, Tier};
use crate::model::{Direction, Finite, GroupId, Judgement, Metric, Reason};
use crate::stats::evidence::{self, Class, Field, FieldOutcome, FieldWord, JobRow, Outcome, over_limit};
use crate::stats::sampling::{JobValue, round_inflation};

use super::case::Case;
use super::row;
use super::sides::Sides;
use super::tiers::{Setting, rule};

/// What the channels say of the whole gate.
#[derive(Debug, Default)]
pub(super) struct Channels {
    pub causes: Vec<Cause>,
    pub resolution: Resolution,
    pub over_expected: Option<Finite>,
    /// The channels over their limits without significance, where evidence decides.
    pub unresolved: Vec<Channel>,
    /// Channels over their limits, whatever the chance.
    pub over_limits: Vec<Channel>,
}

/// The cases that carry the statistics, with their places in the list of all cases.
pub(super) struct Family {
    pub places: Vec<usize>,
    pub fields: Vec<Field>,
    pub groups: Vec<GroupId>,
}

/// Judges every case that is still open.
pub(super) fn judge(cases: &mut [Case], sides: &Sides, setting: &Setting, policy: &Policy) -> Channels {
    let family = family(cases);
    let outcome =
        (setting.tier != Tier::Exact).then(|| outcome(cases, &family, sides, setting, policy)).flatten();
    let lifts = setting.lifts();
    let gated = family.fields.iter().filter(|field| field.gated).count();
    for (at, &place) in family.places.iter().enumerate() {
        let said = outcome.as_ref().map(|outcome| &outcome.fields[at]);
        let case = &mut cases[place];
        if case.companion {
            continue;
        }
        case.evidence = said.and_then(|said| evidence_of(&case.id.metric, said));
        match (setting.decides(case.summary()), said) {
            (DecidedBy::Evidence, Some(said)) => {
                case.decided_by = Some(DecidedBy::Evidence);
                by_evidence(case, said, outcome.as_ref());
            }
            // Evidence is wanted and there is none: the limit decides.
            (decides, said) => {
                let exact = decides == DecidedBy::Exact;
                case.decided_by = Some(if exact { DecidedBy::Exact } else { DecidedBy::Limits });
                by_limits(case, &family.fields[at]);
                if case.judgement == Some(Judgement::Regressed) && !exact {
                    confirm(case, said, outcome.as_ref(), gated, lifts.clone());
                }
            }
        }
    }
    by_limits_alone(cases, setting, outcome.as_ref(), gated);
    by_absolute_limits(cases, setting);
    let mut channels = Channels::default();
    if setting.tier == Tier::Exact {
        channels.over_limits = row::exactly_over(cases, &family);
    }
    if let Some(outcome) = &outcome {
        channels.over_limits = row::over_limits(outcome);
        let blocks = policy.unresolved == OnUnresolved::Fail;
        channels.causes = causes(outcome, reach(cases, &family, outcome), blocks);
        channels.resolution = super::resolution::resolution(cases, &family, outcome);
        channels.over_expected = Finite::new(outcome.over_expected).ok();
        if setting.decides == DecidedBy::Evidence {
            channels.unresolved = row::warned(outcome);
        }
    }
    channels
}

/// The cases that are still open and belong to a channel.
pub(super) fn family(cases: &[Case]) -> Family {
    let mut family = Family { places: Vec::new(), fields: Vec::new(), groups: Vec::new() };
    let mut numbers: BTreeMap<&GroupId, usize> = BTreeMap::new();
    for (place, case) in cases.iter().enumerate() {
        let open =
            case.judgement.is_none() || (case.companion && case.judgement == Some(Judgement::NotGated));
        if !open || !case.evident() {
            continue;
        }
        let next = numbers.len();
        let number = numbers.get(&case.id.group).copied().unwrap_or(next);
        let Some(field) = case.statistical(number) else { continue };
        numbers.entry(&case.id.group).or_insert(next);
        family.places.push(place);
        family.fields.push(field);
        family.groups.push(case.id.group.clone());
    }
    family
}

/// The evidence rule over the family; `None` where it can't be applied, as where nothing is gated.
fn outcome(
    cases: &[Case],
    family: &Family,
    sides: &Sides,
    setting: &Setting,
    policy: &Policy,
) -> Option<Outcome> {
    if !family.fields.iter().any(|field| field.gated) {
        return None;
    }
    let rule = rule(policy);
    if sides.duet && setting.tier == Tier::Duet {
        let (pairs, baseline) = pairs(cases, family)?;
        return evidence::judge(
            &rule,
            &family.fields,
            &evidence::Evidence::Pairs { pairs: &pairs, baseline: &baseline },
            1.0,
        )
        .ok();
    }
    let (baseline, candidate) = rows(cases, family)?;
    let evidence = evidence::Evidence::Jobs {
        baseline: &baseline,
        candidate: &candidate,
        fewest_rounds: setting.rounds,
    };
    evidence::judge(&rule, &family.fields, &evidence, 1.0).ok()
}

/// Every field of the family per job of the baseline and of the candidate; `None` where a value has no logarithm.
pub(super) fn rows(cases: &[Case], family: &Family) -> Option<(Vec<JobRow>, Vec<JobRow>)> {
    let values = |of: fn(&Case) -> &super::reading::Series| -> Option<Vec<Vec<JobValue>>> {
        let fields = family.places.iter().zip(&family.fields);
        fields.map(|(&place, field)| of(&cases[place]).job_values(field.class.sign())).collect()
    };
    let (blessed, candidate) = (values(|case| &case.blessed)?, values(|case| &case.candidate)?);
    let inflation = round_inflation(blessed.iter().chain(&candidate).flatten());
    let rows = |fields: &[Vec<JobValue>]| -> Vec<JobRow> {
        let jobs = fields.first().map_or(0, Vec::len);
        (0..jobs)
            .map(|job| JobRow {
                x: fields.iter().map(|values| values[job].x).collect(),
                w: fields.iter().map(|values| values[job].variance(inflation)).collect(),
            })
            .collect()
    };
    Some((rows(&blessed), rows(&candidate)))
}

/// The round pairs of a duet: differences and both rounds' variances.
fn pairs(cases: &[Case], family: &Family) -> Option<(Vec<JobRow>, Vec<f64>)> {
    let first = cases.get(*family.places.first()?)?;
    let count = first.candidate.readings().count();
    let mut rows = vec![JobRow { x: Vec::new(), w: Vec::new() }; count];
    let mut baseline = Vec::new();
    for (&place, field) in family.places.iter().zip(&family.fields) {
        let sign = field.class.sign();
        let old: Vec<_> = cases[place].blessed.readings().collect();
        let new: Vec<_> = cases[place].candidate.readings().collect();
        if old.len() != count || new.len() != count {
            return None;
        }
        for (row, (old, new)) in rows.iter_mut().zip(old.iter().zip(&new)) {
            row.x.push(sign * (new.value.ln() - old.value.ln()));
            row.w.push(old.variance + new.variance);
        }
        baseline.push(old.iter().map(|reading| sign * reading.value.ln()).sum::<f64>() / count as f64);
    }
    Some((rows, baseline))
}

fn evidence_of(metric: &Metric, said: &FieldOutcome) -> Option<Evidence> {
    let finite = |value: f64| Finite::new(value).ok();
    let found = said.test.smallest_found.and_then(finite).map(|worse| metric.direction().as_change(worse));
    Some(Evidence {
        interval: finite(said.interval.0).zip(finite(said.interval.1)),
        p: finite(said.test.p)?,
        p_holm: finite(said.test.p_adjusted)?,
        resolution: found,
    })
}

/// Level and change on the logarithmic scale, + = worse.
pub(super) fn moved(case: &Case, field: &Field) -> Option<(f64, f64)> {
    let (old, new) = (case.old?.get(), case.new?.get());
    let sign = field.class.sign();
    (old > 0.0 && new > 0.0).then(|| (sign * old.ln(), sign * (new.ln() - old.ln())))
}

fn by_evidence(case: &mut Case, said: &FieldOutcome, outcome: Option<&Outcome>) {
    let Some(change) = case_change(case) else { return };
    let Some(tolerance) = case.tolerance.clone() else { return };
    let field = case.id.clone();
    match said.word {
        Some(FieldWord::Regressed) => {
            case.settle(Judgement::Regressed, Reason::OverLimit { field, change, tolerance });
            if let Some(reason) = outcome.and_then(|outcome| confirmation(said, outcome, case)) {
                case.reasons.push(reason);
            }
        }
        Some(FieldWord::Improved) => case.settle(Judgement::Improved, Reason::Better { field, change }),
        Some(FieldWord::Unresolved) => {
            let p = Finite::new(said.test.p).ok();
            case.settle(Judgement::Unresolved, Reason::CouldBeNoise { field, change, tolerance, p });
        }
        Some(FieldWord::Unchanged) | None => case.judgement = Some(Judgement::Unchanged),
    }
}

fn by_limits(case: &mut Case, limit: &Field) {
    let Some(change) = case_change(case) else { return };
    let Some(tolerance) = case.tolerance.clone() else { return };
    let Some((level, moved)) = moved(case, limit) else { return };
    let field = case.id.clone();
    let without_floor = Field { floor: 0.0, ..*limit };
    if over_limit(limit, level, moved) {
        case.settle(Judgement::Regressed, Reason::OverLimit { field, change, tolerance });
    } else if over_limit(&without_floor, level, moved) {
        case.settle(Judgement::Unchanged, Reason::UnderMinChange { field, change, tolerance });
    } else if over_limit(&without_floor, level, -moved) {
        case.settle(Judgement::Improved, Reason::Better { field, change });
    } else {
        case.judgement = Some(Judgement::Unchanged);
    }
}

/// Fields that some job or round lacks carry no evidence; their limits decide, and the evidence is left to the others.
fn by_limits_alone(cases: &mut [Case], setting: &Setting, outcome: Option<&Outcome>, gated: usize) {
    for case in cases.iter_mut().filter(|case| case.gated() && case.judgement.is_none() && !case.evident()) {
        let Some(limit) = case.statistical(0) else { continue };
        let exact = setting.tier == Tier::Exact;
        case.decided_by = Some(if exact { DecidedBy::Exact } else { DecidedBy::Limits });
        by_limits(case, &limit);
        if case.judgement == Some(Judgement::Regressed) && !exact {
            confirm(case, None, outcome, gated, None);
        }
    }
}

/// Beside a limit's verdict stands what the evidence says.
fn confirm(
    case: &mut Case,
    said: Option<&FieldOutcome>,
    outcome: Option<&Outcome>,
    gated: usize,
    lift: Option<String>,
) {
    let by = said.zip(outcome).and_then(|(said, outcome)| {
        (said.word == Some(FieldWord::Regressed)).then(|| confirmation(said, outcome, case)).flatten()
    });
    case.confirmed = Some(by.is_some());
    case.reasons.push(by.unwrap_or_else(|| Reason::Unconfirmed {
        p: said.and_then(|said| Finite::new(said.test.p).ok()),
        expected: outcome.and_then(|outcome| Finite::new(outcome.over_expected).ok()),
        gated,
        lift,
    }));
}

/// Which test convicts the field: its own, its class's, or that of everything.
fn confirmation(said: &FieldOutcome, outcome: &Outcome, case: &Case) -> Option<Reason> {
    let class = super::case::class_of(&case.id).and_then(|class| outcome.class(class)).and_then(|c| c.test);
    let tests = [
        ("its own test", Some(said.test)),
        ("the shift of its whole metric", class),
        ("the shift of everything", Some(outcome.run)),
    ];
    let (by, test) =
        tests.into_iter().find_map(|(by, test)| Some((by, test.filter(|test| test.regressed)?)))?;
    Finite::new(test.p_adjusted).ok().map(|p| Reason::Confirmed { by, p })
}

fn case_change(case: &Case) -> Option<crate::model::Change> {
    let (unit, direction) = (case.id.metric.unit(), case.id.metric.direction());
    Some(crate::model::Change { old: case.old?, new: case.new?, unit, direction })
}

/// Gated fields outside the channels (GPU memory), and `max` and `min` of every field: plain numbers, no statistics.
fn by_absolute_limits(cases: &mut [Case], setting: &Setting) {
    for case in cases.iter_mut().filter(|case| case.gated()) {
        let Some(tolerance) = case.tolerance.clone() else { continue };
        if case.judgement.is_none() {
            case.decided_by =
                Some(if setting.tier == Tier::Exact { DecidedBy::Exact } else { DecidedBy::Limits });
            outside_channels(case, &tolerance);
        }
        super::absolute::check(case, &tolerance);
    }
}

/// A limit on the change of a field that belongs to no channel.
fn outside_channels(case: &mut Case, tolerance: &crate::model::policy::Tolerance) {
    let Some(change) = case_change(case) else { return };
    let worse = match change.direction {
        Direction::LowerIsBetter => change.new.get() - change.old.get(),
        Direction::HigherIsBetter => change.old.get() - change.new.get(),
        Direction::Unknown => return,
    };
    let allowed = match tolerance.allowance {
        Some(crate::model::policy::Allowance::Relative(share)) => share.get() * change.old.get().abs(),
        Some(
            crate::model::policy::Allowance::Points(value) | crate::model::policy::Allowance::Absolute(value),
        ) => value.get(),
        None => f64::INFINITY,
    };
    let slack = crate::stats::constants::EPSILON * change.old.get().abs().max(1.0);
    let floor = tolerance.min_change.map_or(0.0, Finite::get);
    let field = case.id.clone();
    if worse - allowed > slack && worse > floor + slack {
        case.settle(Judgement::Regressed, Reason::OverLimit { field, change, tolerance: tolerance.clone() });
    } else if -worse - allowed > slack {
        case.settle(Judgement::Improved, Reason::Better { field, change });
    } else {
        case.judgement = Some(Judgement::Unchanged);
    }
}

/// A shift that chance alone makes this often is no hint of a cause.
const WARN_BELOW: f64 = 0.2;

/// Whether a shift of the middle of all gated fields is one of everything.
fn reach(cases: &[Case], family: &Family, outcome: &Outcome) -> Reach {
    let fields = family.places.iter().zip(&family.fields).filter(|(_, field)| field.gated);
    let mut moved =
        fields.filter_map(|(&place, field)| moved(&cases[place], field)).map(|(_, change)| change);
    let over = |class| outcome.class(class).is_some_and(|class| class.over_limits);
    if !moved.all(|change| change >= 0.5 * outcome.run.estimate) {
        Reach::NotAll
    } else if over(Class::Tpot) && !over(Class::Ttft) {
        Reach::Decode
    } else {
        Reach::Everything
    }
}

/// Run-wide first, then classes; those over their limits without significance only warn, unless what is unresolved blocks:
/// then each has to be named, however likely chance makes it.
fn causes(outcome: &Outcome, reach: Reach, unresolved_blocks: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    let tail = |estimate: f64, se: f64| {
        let half = outcome.interval_reach * se;
        Finite::new((estimate - half).exp()).ok().zip(Finite::new((estimate + half).exp()).ok())
    };
    let worth_a_word =
        |test: &crate::stats::evidence::Test| test.regressed || unresolved_blocks || test.p <= WARN_BELOW;
    if outcome.run_over_limits && worth_a_word(&outcome.run) {
        let (test, ratio) = (outcome.run, outcome.run.estimate.exp());
        let (ratio, p) = (Finite::new(ratio).unwrap_or(Finite::ZERO), Finite::new(test.p).ok());
        let (interval, regressed) = (tail(test.estimate, test.se), test.regressed);
        let sentence = Reason::RunWide { ratio, interval, p, regressed, reach };
        causes.push(Cause { channel: Channel::RunWide, regressed, ratio, interval, p, sentence });
    }
    for class in outcome.classes.iter().filter(|class| class.over_limits) {
        let Some(test) = class.test.filter(worth_a_word) else { continue };
        let ratio = Finite::new(test.estimate.exp()).unwrap_or(Finite::ZERO);
        let (p, regressed) = (Finite::new(test.p_adjusted).ok(), test.regressed);
        let (interval, name) = (tail(test.estimate, test.se), channel_class(class.class));
        let sentence = Reason::ClassShift { class: name, ratio, interval, p, regressed };
        causes.push(Cause { channel: Channel::Class(name), regressed, ratio, interval, p, sentence });
    }
    causes
}

pub(super) fn channel_class(class: Class) -> ChannelClass {
    match class {
        Class::Ttft => ChannelClass::Ttft,
        Class::Tpot => ChannelClass::Tpot,
        Class::Itl => ChannelClass::Itl,
        Class::E2e => ChannelClass::E2e,
        Class::Throughput => ChannelClass::Throughput,
    }
}

//! The lattice join: findings and problems become one outcome, and everything an output may say becomes one verdict.

use std::collections::BTreeSet;

use crate::model::finding::DecidedBy;
use crate::model::policy::{OnUnresolved, Policy};
use crate::model::reason::Side;
use crate::model::report::Tool;
use crate::model::requests::total;
use crate::model::verdict::{CandidateRef, Cause, Channel, Counts, Resolution, SCHEMA, Tier};
use crate::model::{
    Dimensions, Fact, Finding, Finite, GroupId, Judgement, Metric, Outcome, Reason, Report, Verdict,
};

use super::Input;
use super::case::Case;
use super::channels::Channels;
use super::comparable::Comparability;
use super::sides::Sides;
use super::tiers::Setting;
use super::validity::{self, Validity};
use super::{family, reported_speedup, row, rules, suspicion};

/// Everything beside the findings.
pub(super) struct Joined {
    setting: Setting,
    pub problems: Vec<(Outcome, Reason)>,
    pub causes: Vec<Cause>,
    pub notes: Vec<Reason>,
    changed: Vec<Reason>,
    allowed: BTreeSet<Fact>,
    resolution: Resolution,
    over_expected: Option<Finite>,
    unresolved: Vec<Channel>,
    over_limits: Vec<Channel>,
}

impl Joined {
    pub fn new(
        validity: Validity,
        comparability: Comparability,
        channels: Channels,
        setting: Setting,
    ) -> Joined {
        let mut problems = validity.problems;
        let refused = comparability.run.into_iter().chain(comparability.groups.into_values().flatten());
        problems.extend(refused.map(|reason| (Outcome::NoVerdict, reason)));
        Joined {
            setting,
            problems,
            causes: channels.causes,
            notes: comparability.notes,
            changed: comparability.changed,
            allowed: comparability.allowed,
            resolution: channels.resolution,
            over_expected: channels.over_expected,
            unresolved: channels.unresolved,
            over_limits: channels.over_limits,
        }
    }

    /// What the aligned fields say as a whole.
    pub fn look_at(&mut self, sides: &Sides, cases: &[Case], input: &Input) {
        let (candidate, policy) = (input.candidate, input.policy);
        let (old, new) = (sides.blessed.groups(), sides.candidate.groups());
        if input.baseline.is_none() && !sides.duet {
            let (path, bless) = input.missing_baseline.clone();
            self.problems.push((Outcome::NoVerdict, Reason::NoBaseline { path, bless }));
        } else if old.is_disjoint(&new) {
            let ids = |set: BTreeSet<&GroupId>| set.into_iter().cloned().collect();
            self.problems
                .push((Outcome::NoVerdict, Reason::NothingInCommon { old: ids(old), new: ids(new) }));
        }
        let (old, new) = (blessed_reference(sides), candidate.profile.reference.as_deref());
        if let Some((old, new)) = old.zip(new).filter(|(old, new)| old != new) {
            let (old, new) = (vec![old.to_owned()], vec![new.to_owned()]);
            let what = "the reference strategy that speed-ups divide by";
            self.problems.push((Outcome::NoVerdict, Reason::OneDimension { what, old, new }));
        }
        if let Some(reason) = only_difference(sides).filter(|_| input.baseline.is_some()) {
            self.problems.push((Outcome::NoVerdict, reason));
        }
        self.old_baseline(input);
        for (outcome, reason) in reported_speedup::check(candidate) {
            match outcome {
                Some(outcome) => self.problems.push((outcome, reason)),
                None => self.notes.push(reason),
            }
        }
        for group in family::groups_without_latency(cases) {
            self.problems.push((Outcome::Inconclusive, Reason::NoLatencyLeft { group }));
        }
        for (side, which) in [(&sides.blessed, Side::Blessed), (&sides.candidate, Side::Candidate)] {
            let unknown = |id: &GroupId| {
                validity::group_total(side, id).counts().is_none()
                    && !side.of_group(id).any(|m| m.group.metrics.contains_key(&Metric::SUCCESS_RATE))
            };
            let judged = !side.jobs.is_empty();
            if judged && side.groups().into_iter().any(unknown) {
                self.notes.push(Reason::SuccessUnknown { side: which });
            }
        }
        if self.setting.tier != Tier::Exact {
            self.notes.extend(suspicion::look(cases, sides));
        }
        self.blindness(cases, policy);
        let said = candidate.source.warnings.iter().map(|text| Reason::SourceSays { text: text.clone() });
        self.notes.extend(said);
    }

    /// Shifts that the evidence has not named already: one cause, one sentence.
    pub fn add_shifts(&mut self, shifts: Vec<Cause>) {
        let named: Vec<Channel> =
            self.causes.iter().filter(|cause| cause.regressed).map(|cause| cause.channel).collect();
        self.causes.extend(shifts.into_iter().filter(|shift| !named.contains(&shift.channel)));
    }

    /// A baseline that nobody has looked at for a season.
    fn old_baseline(&mut self, input: &Input) {
        const DAYS: i64 = 90;
        let blessed = input.baseline.as_ref().and_then(|(_, reference)| reference.blessed);
        let days = blessed.map_or(0, |blessed| (input.today - blessed.get().date()).whole_days());
        if days > DAYS {
            self.notes.push(Reason::OldBaseline { days });
        }
    }

    /// A required metric that could not have failed in any group, where evidence decides it.
    fn blindness(&mut self, cases: &[Case], policy: &Policy) {
        let judged = |metric: &Metric| {
            let mut of = cases.iter().filter(|case| case.id.metric == *metric && case.required());
            of.any(|case| case.decided_by == Some(DecidedBy::Evidence))
                && !cases
                    .iter()
                    .any(|case| case.id.metric == *metric && case.decided_by == Some(DecidedBy::Limits))
        };
        let mut blind = Vec::new();
        for (metric, groups) in &self.resolution.metrics {
            let best = groups.values().flatten().min().copied();
            if judged(metric) && best.is_none_or(|best| best > policy.blind_above) {
                let reason =
                    Reason::Blind { metric: metric.clone(), resolution: best, above: policy.blind_above };
                self.problems.push((Outcome::Inconclusive, reason));
                blind.push(metric.clone());
            }
        }
        self.resolution.blind = blind;
    }

    /// The verdict.
    pub fn verdict(mut self, input: Input, mut counts: Counts, mut findings: Vec<Finding>) -> Verdict {
        let over = |f: &&Finding| {
            matches!(f.judgement, Judgement::Regressed | Judgement::Unresolved | Judgement::Waived)
        };
        counts.over_limit = findings.iter().filter(|f| f.gated).filter(over).count();
        counts.over_expected = self.over_expected;
        let explained = !self.problems.is_empty();
        if counts.compared == 0 && !explained {
            self.problems.push((Outcome::NoVerdict, Reason::NothingCompared));
        }
        let unmatched = rules::unmatched(input.policy, findings.iter().map(|finding| &finding.field));
        self.problems.extend(unmatched.into_iter().map(|reason| (Outcome::NoVerdict, reason)));
        if input.alterations.iter().any(|reason| matches!(reason, Reason::SelfBlessRefused)) {
            self.problems.push((Outcome::Regression, Reason::SelfBlessRefused));
        }
        let mut outcome = super::outcome(findings.iter(), &self.problems);
        let open = row::still_over(self.unresolved, &findings);
        if !open.is_empty() && input.policy.unresolved == OnUnresolved::Fail {
            outcome = outcome.join(Outcome::Inconclusive);
        }
        sort(&mut findings);
        dedup(&mut self.notes);
        let mut problems: Vec<(Outcome, Reason)> = self.problems;
        problems.sort_by_key(|(outcome, _)| std::cmp::Reverse(*outcome));
        let mut problems: Vec<Reason> = problems.into_iter().map(|(_, reason)| reason).collect();
        dedup(&mut problems);
        let compared = counts.compared > 0;
        let over_limits = row::still_over(self.over_limits, &findings);
        let promise = self.setting.promise(input.policy, &findings);
        Verdict {
            tier: compared.then_some(self.setting.tier),
            decided_by: compared.then_some(self.setting.decides_most(&findings)),
            lifts: self.setting.lifts().filter(|_| compared),
            promise: promise.filter(|_| compared),
            allowed: self.allowed.into_iter().collect(),
            counts,
            problems,
            causes: self.causes,
            over_limits,
            what_changed: self.changed,
            notes: self.notes,
            resolution: self.resolution,
            findings,
            ..empty(input, outcome)
        }
    }
}

/// The reference strategy of the last blessed report that names one.
fn blessed_reference<'a>(sides: &Sides<'a>) -> Option<&'a str> {
    sides.blessed.jobs.iter().rev().find_map(|job| job.report.profile.reference.as_deref())
}

/// Both sides have the same groups but for one dimension: another prompt length, level, traffic, or a renamed strategy.
fn only_difference(sides: &Sides) -> Option<Reason> {
    let dimensions = |side: &super::sides::SideView, other: &super::sides::SideView| -> Vec<Dimensions> {
        let own = side.groups().into_iter().filter(|id| !other.groups().contains(id));
        own.filter_map(|id| Some(side.of_group(id).next()?.group.dimensions.clone())).collect()
    };
    let (old, new) =
        (dimensions(&sides.blessed, &sides.candidate), dimensions(&sides.candidate, &sides.blessed));
    if old.is_empty() || new.is_empty() {
        return None;
    }
    type Part = (&'static str, fn(&Dimensions) -> Option<String>, fn(&mut Dimensions));
    let parts: [Part; 5] = [
        ("the prompt length", |d| d.prompt_tokens.map(|n| format!("{n} tokens")), |d| d.prompt_tokens = None),
        ("the requests in flight", |d| d.concurrency.map(|n| n.to_string()), |d| d.concurrency = None),
        ("the arrival rate", |d| d.rate.map(|r| format!("{r} req/s")), |d| d.rate = None),
        ("the traffic model", |d| d.traffic.clone(), |d| d.traffic = None),
        ("the name of a strategy", |d| d.strategy.clone(), |d| d.strategy = None),
    ];
    parts.into_iter().find_map(|(what, read, clear)| {
        let rest = |all: &[Dimensions]| -> BTreeSet<Dimensions> {
            all.iter().cloned().map(|mut d| (clear(&mut d), d).1).collect()
        };
        let values = |all: &[Dimensions]| -> Vec<String> {
            let words = all.iter().map(|d| read(d).unwrap_or_else(|| "none named".to_owned()));
            words.collect::<BTreeSet<_>>().into_iter().collect()
        };
        (rest(&old) == rest(&new)).then(|| Reason::OneDimension {
            what,
            old: values(&old),
            new: values(&new),
        })
    })
}

impl Setting {
    /// Who decided: the limits where they decided any gated field.
    fn decides_most(&self, findings: &[Finding]) -> DecidedBy {
        let by = |wanted| findings.iter().any(|finding| finding.gated && finding.decided_by == Some(wanted));
        match self.decides {
            DecidedBy::Evidence if by(DecidedBy::Limits) && !by(DecidedBy::Evidence) => DecidedBy::Limits,
            decides => decides,
        }
    }
}

/// A verdict with nothing but both sides' names.
fn empty(input: Input, outcome: Outcome) -> Verdict {
    Verdict {
        schema: SCHEMA,
        tool: Tool::pacegate(),
        profile: input.candidate.profile.name.clone(),
        outcome,
        exit_code: crate::exit::Exit::of(outcome, input.report_only).code(),
        report_only: input.report_only,
        simulated: input.candidate.is_simulated(),
        duet: super::is_duet(input.candidate),
        tier: None,
        decide: input.policy.decide,
        decided_by: None,
        lifts: None,
        promise: None,
        allowed: Vec::new(),
        alterations: input.alterations,
        baseline: input.baseline.map(|(_, reference)| reference),
        candidate: candidate_ref(input.candidate),
        counts: Counts::default(),
        problems: Vec::new(),
        causes: Vec::new(),
        over_limits: Vec::new(),
        history: None,
        findings: Vec::new(),
        what_changed: Vec::new(),
        notes: Vec::new(),
        resolution: Resolution::default(),
        reproduce: input.reproduce,
    }
}

fn candidate_ref(report: &Report) -> CandidateRef {
    let groups = || report.jobs.iter().flat_map(|job| &job.rounds).flat_map(|round| &round.groups);
    let tokens =
        |of: fn(&crate::model::report::Tokens) -> Option<u64>| total(groups().map(|g| of(&g.tokens)));
    CandidateRef {
        files: report.source.files.clone(),
        format: report.source.format.clone(),
        model: report.subject.model.clone(),
        started: report.jobs.iter().filter_map(|job| job.started).min(),
        commit: report.code.commit.clone(),
        job_ids: report.jobs.iter().map(|job| job.id.clone()).collect(),
        jobs: report.jobs.len(),
        rounds: report.jobs.iter().map(|job| job.rounds.len()).min().unwrap_or(0),
        requests: validity::total(report),
        input_tokens: tokens(|tokens| tokens.input),
        output_tokens: tokens(|tokens| tokens.output),
    }
}

/// Findings with how many were required and how many of those compared.
pub(super) fn findings(cases: impl Iterator<Item = Case>) -> (Counts, Vec<Finding>) {
    let mut counts = Counts::default();
    let mut findings = Vec::new();
    for case in cases {
        let (required, both) = (case.required(), case.old.is_some() && case.new.is_some());
        let finding = case.finding();
        let judged = !matches!(
            finding.judgement,
            Judgement::Missing
                | Judgement::New
                | Judgement::Invalid
                | Judgement::NotComparable
                | Judgement::TooFew
                | Judgement::NotGated
        );
        counts.required += usize::from(required);
        counts.compared += usize::from(required && both && judged);
        findings.push(finding);
    }
    (counts, findings)
}

/// What one finding makes of the whole.
pub(super) fn of_finding(finding: &Finding) -> Outcome {
    if !finding.gated {
        return Outcome::Pass;
    }
    match finding.judgement {
        Judgement::Regressed => Outcome::Regression,
        Judgement::Missing | Judgement::Invalid | Judgement::NotComparable => Outcome::NoVerdict,
        Judgement::Unresolved
        | Judgement::TooFew
        | Judgement::Waived
        | Judgement::Improved
        | Judgement::New
        | Judgement::Unchanged
        | Judgement::NotGated => Outcome::Pass,
    }
}

/// Failing fast is not fast: latency of a group whose success rate fell is not called improved.
pub(super) fn withdraw_fast_failures(findings: &mut [Finding]) {
    let worse = |f: &&Finding| f.field.metric == Metric::SUCCESS_RATE && f.judgement == Judgement::Regressed;
    let groups: BTreeSet<GroupId> = findings.iter().filter(worse).map(|f| f.field.group.clone()).collect();
    for finding in findings.iter_mut().filter(|f| groups.contains(&f.field.group)) {
        if finding.judgement == Judgement::Improved && finding.field.metric != Metric::SUCCESS_RATE {
            finding.judgement = Judgement::Unchanged;
            finding.reasons = vec![Reason::Withdrawn { group: finding.field.group.clone() }];
        }
    }
}

/// Worst first; gated before ungated; success before latency within one judgement.
fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let success = |f: &Finding| f.field.metric != Metric::SUCCESS_RATE;
        (!a.gated, a.judgement, success(a))
            .cmp(&(!b.gated, b.judgement, success(b)))
            .then_with(|| b.badness().cmp(&a.badness()))
            .then_with(|| a.field.cmp(&b.field))
    });
}

fn dedup(reasons: &mut Vec<Reason>) {
    let mut seen = BTreeSet::new();
    reasons.retain(|reason| seen.insert(reason.to_string()));
}

//! How strong the evidence can be, who decides, and what would lift it.

use crate::model::finding::DecidedBy;
use crate::model::policy::{Decide, Policy};
use crate::model::report::SourceKind;
use crate::model::verdict::Tier;
use crate::model::wording::count;
use crate::model::{Finding, Metric};
use crate::stats::constants::Rule;

use super::sides::Sides;

/// The tier of one comparison and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub tier: Tier,
    /// Both sides were alternated in one job.
    duet: bool,
    /// Blessed jobs (round pairs in a duet).
    pub blessed_jobs: usize,
    /// Fewest rounds of any job of either side.
    pub rounds: usize,
    /// Who decides a field that has samples.
    pub decides: DecidedBy,
    /// Who decides a field that only has a summary.
    pub decides_summaries: DecidedBy,
}

/// The rule's constants, with what the policy says of the noise.
pub(super) fn rule(policy: &Policy) -> Rule {
    let mut rule = Rule::STANDARD;
    rule.jobs.run = policy.run_noise.get();
    rule
}

pub(super) fn setting(sides: &Sides, policy: &Policy) -> Setting {
    let rule = Rule::STANDARD;
    let rounds = sides.blessed.fewest_rounds().min(sides.candidate.fewest_rounds());
    let blessed_jobs = sides.blessed.jobs.len();
    let tier = if exact(sides) {
        Tier::Exact
    } else if sides.duet && rounds >= rule.duet_pairs {
        Tier::Duet
    } else if !sides.duet && blessed_jobs >= rule.replicated_jobs {
        Tier::Replicated
    } else {
        Tier::Single
    };
    let auto = |summary: bool| match tier {
        Tier::Exact => DecidedBy::Exact,
        Tier::Duet | Tier::Replicated => DecidedBy::Evidence,
        Tier::Single if rounds >= rule.enough_rounds && !summary => DecidedBy::Evidence,
        Tier::Single => DecidedBy::Limits,
    };
    let decides = |summary| match (tier, policy.decide) {
        (Tier::Exact, _) => DecidedBy::Exact,
        (_, Decide::Auto) => auto(summary),
        (_, Decide::Evidence) => DecidedBy::Evidence,
        (_, Decide::Limits) => DecidedBy::Limits,
    };
    Setting {
        tier,
        duet: sides.duet,
        blessed_jobs,
        rounds,
        decides: decides(false),
        decides_summaries: decides(true),
    }
}

/// Both sides come from the embedded engine with the same workload and seeds.
fn exact(sides: &Sides) -> bool {
    let all = || sides.blessed.jobs.iter().chain(&sides.candidate.jobs);
    let Some(first) = all().next() else { return false };
    let seeded = !first.seeds.is_empty() && first.seeds.iter().all(Option::is_some);
    seeded
        && all().all(|job| job.report.source.kind == SourceKind::Simulate && job.seeds == first.seeds)
        && same_workloads(sides)
}

/// A group that both sides have must be the same workload; added or removed groups don't matter.
fn same_workloads(sides: &Sides) -> bool {
    let jobs = || sides.blessed.jobs.iter().chain(&sides.candidate.jobs);
    let known = |job: &super::sides::JobView| {
        let prints = &job.report.profile.fingerprints;
        job.rounds.iter().flat_map(|round| round.keys()).all(|id| prints.contains_key(*id))
    };
    let mut prints = jobs().map(|job| &job.report.profile.fingerprints);
    let Some(first) = prints.next() else { return false };
    let same = prints.all(|other| other.iter().all(|(id, print)| first.get(id).is_none_or(|p| p == print)));
    same && jobs().all(known)
}

impl Setting {
    /// Who decides a field.
    pub fn decides(&self, summary: bool) -> DecidedBy {
        if summary { self.decides_summaries } else { self.decides }
    }

    /// What would lift the tier, or bring evidence where the limits decide.
    pub fn lifts(&self) -> Option<String> {
        let rule = Rule::STANDARD;
        if self.tier != Tier::Single {
            return None;
        }
        if self.duet {
            let missing = rule.duet_pairs.saturating_sub(self.rounds);
            return Some(format!("{} of both endpoints (tier duet)", count(missing, "more round")));
        }
        let missing = rule.replicated_jobs.saturating_sub(self.blessed_jobs);
        let jobs = format!("{} (tier replicated)", count(missing, "more blessed job"));
        let few_rounds = self.rounds < rule.enough_rounds;
        let decided = self.decides == DecidedBy::Limits || self.decides_summaries == DecidedBy::Limits;
        Some(if few_rounds && decided {
            format!(
                "3 rounds a side (three report files in one command, blessed and checked alike), or {jobs}"
            )
        } else {
            jobs
        })
    }

    /// What is promised of unchanged gates, and under which noise; only of what evidence decided.
    pub fn promise(&self, policy: &Policy, findings: &[Finding]) -> Option<String> {
        // Nothing is noise there, as the tier's own line says.
        if self.tier == Tier::Exact {
            return None;
        }
        let noisy = |f: &&Finding| {
            let own = [Metric::SUCCESS_RATE, Metric::SPEEDUP].contains(&f.field.metric);
            f.gated && (own || f.field.metric.class().is_some())
        };
        let by = |who| findings.iter().filter(noisy).filter(|f| f.decided_by == Some(who)).count();
        if by(DecidedBy::Evidence) == 0 {
            return None;
        }
        let noise = crate::model::policy::trimmed(policy.run_noise.get() * 100.0);
        let promise = match self.tier {
            Tier::Duet => {
                "at most about 1 in 500 unchanged gates fails while both sides drift by no more than 5 % a round pair".to_owned()
            }
            Tier::Exact | Tier::Single | Tier::Replicated => format!(
                "at most about 1 in 100 unchanged gates fails if the noise between jobs is \u{2264} {noise} % for everything and \u{2264} 2 % for single groups and fields"
            ),
        };
        Some(match by(DecidedBy::Limits) {
            0 => promise,
            1 => format!("{promise}; apart from 1 field that its limit decides"),
            n => format!("{promise}; apart from {n} fields that their limits decide"),
        })
    }
}

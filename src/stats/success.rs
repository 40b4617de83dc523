//! Did fewer requests succeed? Per group, and all groups together.
use super::check::{StatsError, real, within};
use super::constants::{EPSILON, Rule, SuccessRule};
use super::multiplicity::holm;
use super::proportion::{Counts, equal_shares_z, newcombe, overdispersion};
use super::tail::Tail;

/// What a success rate must not do; shares, so 0.01 is one percentage point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// Largest permitted drop.
    pub max_decrease: f64,
    /// Smallest permitted rate, if one is set: a plain limit, without statistics.
    pub min: Option<f64>,
}

/// One group: its jobs on both sides and its limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateGroup<'a> {
    /// Blessed jobs.
    pub baseline: &'a [Counts],
    /// Jobs of the change.
    pub candidate: &'a [Counts],
    /// Its limit.
    pub limit: RateLimit,
}

/// Why a success rate regressed; the first that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateCause {
    /// Not one request succeeded.
    NoSuccess,
    /// Below the configured minimum.
    BelowMinimum,
    /// The drop is over the limit and not chance.
    Significant,
    /// A drop of 8 percentage points and more from a clean baseline.
    LargeDrop,
}

/// The judgement of a success rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateVerdict {
    /// It fails.
    Regressed(RateCause),
    /// The drop is over the limit, but bursts of failures do that.
    Unresolved,
    /// Within the limit.
    Unchanged,
}

/// One test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateTest {
    /// Standardised difference, bursts allowed for; negative is worse.
    pub z: f64,
    /// One-sided p.
    pub p: f64,
    /// Holm-adjusted over all tests.
    pub p_adjusted: f64,
    /// Variance inflation from bursts, assumed or measured.
    pub overdispersion: f64,
    /// Pooled baseline rate.
    pub baseline: f64,
    /// Pooled candidate rate.
    pub candidate: f64,
    /// Baseline − candidate.
    pub drop: f64,
    /// Two-sided 95 % interval of `drop` for independent requests, for display.
    pub interval: (f64, f64),
    /// The judgement.
    pub verdict: RateVerdict,
}

/// All success rates of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct RateOutcome {
    /// In the order of the input.
    pub groups: Vec<RateTest>,
    /// All groups together, where there are two and more.
    pub together: Option<RateTest>,
    /// Whether one regressed.
    pub failed: bool,
}

/// One row of the family of tests.
struct Row {
    candidate: Counts,
    baseline: Counts,
    /// Assumed inflation per side.
    candidate_bursts: f64,
    baseline_bursts: f64,
    limit: RateLimit,
}

/// Judges the success rates of a gate; `together` is the limit of all groups together.
///
/// # Errors
/// When there is no group, a side has no job, or a limit is not a share.
pub fn judge_success(
    rule: &SuccessRule,
    groups: &[RateGroup],
    together: RateLimit,
) -> Result<RateOutcome, StatsError> {
    if groups.is_empty() {
        return Err(StatsError::Empty("groups"));
    }
    let mut rows = Vec::with_capacity(groups.len() + 1);
    for group in groups {
        rows.push(Row {
            candidate: Counts::pooled(group.candidate)?,
            baseline: Counts::pooled(group.baseline)?,
            candidate_bursts: bursts(rule, group.candidate),
            baseline_bursts: bursts(rule, group.baseline),
            limit: group.limit,
        });
    }
    if groups.len() > 1 {
        rows.push(all_together(&rows, together)?);
    }
    for row in &rows {
        within("largest permitted drop", row.limit.max_decrease, 0.0..=1.0, "0 to 1")?;
        within("smallest permitted rate", row.limit.min.unwrap_or(0.0), 0.0..=1.0, "0 to 1")?;
    }
    let measured = measured_bursts(rule, groups)?;
    let mut tests = Vec::with_capacity(rows.len());
    for row in &rows {
        tests.push(row.test(measured)?);
    }
    let adjusted = holm(&tests.iter().map(|test| test.p).collect::<Vec<_>>())?;
    for ((test, row), p_adjusted) in tests.iter_mut().zip(&rows).zip(adjusted) {
        test.p_adjusted = p_adjusted;
        test.verdict = verdict(rule, row, test);
    }
    let together = if groups.len() > 1 { tests.pop() } else { None };
    let regressed = |test: &RateTest| matches!(test.verdict, RateVerdict::Regressed(_));
    let failed = tests.iter().chain(&together).any(regressed);
    Ok(RateOutcome { groups: tests, together, failed })
}

/// Whether a plain limit is crossed: the drop is over it, and at least two more requests failed than the baseline's
/// rate gives for as many requests. Used where limits decide instead of evidence.
///
/// # Errors
/// When the limit is not a share.
pub fn rate_over_limit(
    rule: &SuccessRule,
    baseline: Counts,
    candidate: Counts,
    max_decrease: f64,
) -> Result<bool, StatsError> {
    within("largest permitted drop", max_decrease, 0.0..=1.0, "0 to 1")?;
    let usual = real(baseline.failed()) / real(baseline.sent()) * real(candidate.sent());
    let more = real(candidate.failed()) - usual;
    Ok(baseline.share() - candidate.share() > max_decrease + EPSILON && more >= rule.more_failures - EPSILON)
}

fn bursts(rule: &SuccessRule, jobs: &[Counts]) -> f64 {
    let per_job = jobs.iter().map(|job| real(job.sent())).sum::<f64>() / real(jobs.len());
    1.0 + (per_job - 1.0) * rule.correlation
}

fn measured_bursts(rule: &SuccessRule, groups: &[RateGroup]) -> Result<f64, StatsError> {
    let sides: Vec<&[Counts]> = groups.iter().flat_map(|group| [group.baseline, group.candidate]).collect();
    if sides.iter().any(|jobs| jobs.len() >= rule.measured_jobs) { overdispersion(&sides) } else { Ok(1.0) }
}

fn all_together(rows: &[Row], limit: RateLimit) -> Result<Row, StatsError> {
    let mean = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>() / real(rows.len());
    Ok(Row {
        candidate: Counts::pooled(&rows.iter().map(|row| row.candidate).collect::<Vec<_>>())?,
        baseline: Counts::pooled(&rows.iter().map(|row| row.baseline).collect::<Vec<_>>())?,
        candidate_bursts: mean(|row| row.candidate_bursts),
        baseline_bursts: mean(|row| row.baseline_bursts),
        limit,
    })
}

impl Row {
    /// The test without its family: adjusted p and verdict come after.
    fn test(&self, measured: f64) -> Result<RateTest, StatsError> {
        let (c, b) = (1.0 / real(self.candidate.sent()), 1.0 / real(self.baseline.sent()));
        let assumed = (self.candidate_bursts * c + self.baseline_bursts * b) / (c + b);
        let overdispersion = assumed.max(measured);
        let z = equal_shares_z(self.candidate, self.baseline) / overdispersion.sqrt();
        let p = Tail::Normal.upper(-z)?;
        let confidence = Rule::STANDARD.shown_confidence;
        let (lower, upper) = newcombe(self.candidate, self.baseline, confidence)?;
        let (baseline, candidate) = (self.baseline.share(), self.candidate.share());
        Ok(RateTest {
            z,
            p,
            p_adjusted: p,
            overdispersion,
            baseline,
            candidate,
            drop: baseline - candidate,
            interval: (-upper, -lower),
            verdict: RateVerdict::Unchanged,
        })
    }
}

fn verdict(rule: &SuccessRule, row: &Row, test: &RateTest) -> RateVerdict {
    let over = test.drop > row.limit.max_decrease + EPSILON;
    let large = test.drop >= rule.large_drop - EPSILON
        && test.baseline >= rule.clean_baseline - EPSILON
        && test.p <= rule.large_alpha;
    if row.candidate.succeeded() == 0 {
        RateVerdict::Regressed(RateCause::NoSuccess)
    } else if row.limit.min.is_some_and(|min| test.candidate < min - EPSILON) {
        RateVerdict::Regressed(RateCause::BelowMinimum)
    } else if over && test.p_adjusted <= rule.alpha {
        RateVerdict::Regressed(RateCause::Significant)
    } else if large {
        RateVerdict::Regressed(RateCause::LargeDrop)
    } else if over {
        RateVerdict::Unresolved
    } else {
        RateVerdict::Unchanged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(succeeded: usize, sent: usize) -> Counts {
        Counts::new(succeeded, sent).unwrap()
    }

    fn crosses(baseline: Counts, candidate: Counts) -> bool {
        rate_over_limit(&SuccessRule::STANDARD, baseline, candidate, 0.01).unwrap()
    }

    #[test]
    fn a_plain_limit_needs_two_more_failures() {
        assert!(!crosses(counts(50, 50), counts(49, 50)), "2 pp, but one failure");
        assert!(crosses(counts(50, 50), counts(48, 50)));
        assert!(!crosses(counts(300, 300), counts(297, 300)), "exactly the limit");
        assert!(crosses(counts(300, 300), counts(296, 300)));
        assert!(!crosses(counts(90, 100), counts(45, 50)), "the same rate on fewer requests");
    }

    #[test]
    fn causes_are_named_in_order_of_plainness() {
        let judged = |baseline, candidate, min| {
            let limit = RateLimit { max_decrease: 0.01, min };
            let group = RateGroup { baseline: &[baseline], candidate: &[candidate], limit };
            judge_success(&SuccessRule::STANDARD, &[group], limit).unwrap().groups[0].verdict
        };
        let cause = RateVerdict::Regressed;
        assert_eq!(judged(counts(9, 9), counts(0, 9), Some(0.5)), cause(RateCause::NoSuccess));
        assert_eq!(judged(counts(97, 100), counts(96, 100), Some(0.97)), cause(RateCause::BelowMinimum));
        assert_eq!(judged(counts(100, 100), counts(90, 100), None), cause(RateCause::LargeDrop));
        assert_eq!(judged(counts(100, 100), counts(50, 100), None), cause(RateCause::Significant));
        assert_eq!(judged(counts(100, 100), counts(95, 100), None), RateVerdict::Unresolved);
        assert_eq!(judged(counts(95, 100), counts(100, 100), None), RateVerdict::Unchanged);
    }

    #[test]
    fn no_groups_no_jobs_and_limits_that_are_no_shares_are_refused() {
        let rule = SuccessRule::STANDARD;
        let limit = RateLimit { max_decrease: 0.01, min: None };
        let one = [counts(9, 9)];
        assert!(judge_success(&rule, &[], limit).is_err());
        let group = RateGroup { baseline: &[], candidate: &one, limit };
        assert!(judge_success(&rule, &[group], limit).is_err());
        for max_decrease in [f64::NAN, -0.1, 2.0] {
            let limit = RateLimit { max_decrease, min: None };
            let group = RateGroup { baseline: &one, candidate: &one, limit };
            assert!(judge_success(&rule, &[group], limit).is_err(), "{max_decrease}");
        }
    }

    /// Ten jobs of 100 requests on either side.
    fn ten_jobs(baseline: usize, candidate: usize, max_decrease: f64) -> RateVerdict {
        let (baseline, candidate) = ([counts(baseline, 100); 10], [counts(candidate, 100); 10]);
        let limit = RateLimit { max_decrease, min: None };
        let group = RateGroup { baseline: &baseline, candidate: &candidate, limit };
        judge_success(&SuccessRule::STANDARD, &[group], limit).unwrap().groups[0].verdict
    }

    #[test]
    fn a_certain_drop_within_its_limit_is_unchanged() {
        assert_eq!(ten_jobs(90, 75, 0.2), RateVerdict::Unchanged);
        assert_eq!(ten_jobs(90, 75, 0.1), RateVerdict::Regressed(RateCause::Significant));
    }

    #[test]
    fn a_large_drop_counts_only_from_a_clean_baseline() {
        assert_eq!(ten_jobs(95, 86, 0.2), RateVerdict::Regressed(RateCause::LargeDrop));
        assert_eq!(ten_jobs(94, 85, 0.2), RateVerdict::Unchanged);
    }

    #[test]
    fn a_large_drop_of_few_requests_is_unresolved() {
        let limit = RateLimit { max_decrease: 0.01, min: None };
        let group = RateGroup { baseline: &[counts(20, 20)], candidate: &[counts(18, 20)], limit };
        let found = judge_success(&SuccessRule::STANDARD, &[group], limit).unwrap();
        assert_eq!(found.groups[0].verdict, RateVerdict::Unresolved);
        assert!(!found.failed && found.together.is_none());
    }
}

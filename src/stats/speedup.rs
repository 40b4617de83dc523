//! Which of two strategies is faster in the same job, and did that change? `S` is the reference strategy's percentile
//! divided by the other's: above 1 the other is faster.
use super::check::{StatsError, finite, mean, not_negative, real, same_length, within};
use super::constants::{EPSILON, SpeedupRule};
use super::multiplicity::holm;
use super::tail::Tail;

/// A speed-up as the jobs of one side measured it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Legs<'a> {
    /// ln S per job.
    pub logs: &'a [f64],
    /// Per job the sampling variances of both strategies' percentiles added.
    pub variances: &'a [f64],
}

/// Which strategy leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lead {
    /// Demonstrably faster than the reference strategy.
    Faster,
    /// Demonstrably slower.
    Slower,
    /// Can't tell.
    Undetermined,
}

/// A speed-up with what is known about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedupEstimate {
    /// ln S.
    pub log: f64,
    /// Its standard error; 0 where nothing is noise.
    pub se: f64,
    /// S with its interval: the lead is decided when 1 lies outside.
    pub interval: (f64, f64),
    /// The lead.
    pub lead: Lead,
}

impl SpeedupEstimate {
    /// S itself.
    pub fn ratio(&self) -> f64 {
        self.log.exp()
    }
}

/// One speed-up to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedupPair<'a> {
    /// Blessed.
    pub baseline: Legs<'a>,
    /// Of the change.
    pub candidate: Legs<'a>,
    /// −ln(1 − permitted decrease).
    pub log_limit: f64,
    /// Single tier and without samples on some side: may be reversed, but not regressed.
    pub summary_of_one_job: bool,
}

/// The judgement of a speed-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpeedupWord {
    /// Was faster, is slower: fails whatever the limit.
    Reversed,
    /// Lost more than the limit: fails.
    Regressed,
    /// Lost more than the limit, perhaps by chance; or no longer demonstrably faster.
    Unresolved,
    /// Neither.
    Unchanged,
}

/// One speed-up, judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedupOutcome {
    /// Blessed.
    pub baseline: SpeedupEstimate,
    /// Of the change.
    pub candidate: SpeedupEstimate,
    /// One-sided p of the loss; `None` where nothing is noise or limits decide.
    pub p: Option<f64>,
    /// Holm-adjusted over all speed-ups.
    pub p_adjusted: Option<f64>,
    /// Whether the loss is over the limit.
    pub over_limit: bool,
    /// The judgement.
    pub word: SpeedupWord,
}

/// Estimates a speed-up from the jobs of one side.
///
/// # Errors
/// When there is no job, lengths differ, a number is NaN or infinite, or a variance negative.
pub fn estimate_speedup(rule: &SpeedupRule, legs: &Legs) -> Result<SpeedupEstimate, StatsError> {
    finite("speed-ups", legs.logs)?;
    not_negative("sampling variances", legs.variances)?;
    same_length("sampling variances", legs.logs.len(), legs.variances.len())?;
    let log = mean(legs.logs);
    within("logarithm of a speed-up", log, -700.0..=700.0, "the logarithm of a ratio")?;
    let se = ((2.0 * rule.leg.powi(2) + mean(legs.variances)) / real(legs.logs.len())).sqrt();
    let reach = rule.decided_at * se;
    let lead = if log - reach > 0.0 {
        Lead::Faster
    } else if log + reach < 0.0 {
        Lead::Slower
    } else {
        Lead::Undetermined
    };
    Ok(SpeedupEstimate { log, se, interval: ((log - reach).exp(), (log + reach).exp()), lead })
}

/// Judges all speed-ups of a gate by evidence.
///
/// # Errors
/// As [`estimate_speedup`], or when a limit is negative or not finite. No speed-ups give no judgements.
pub fn judge_speedups(rule: &SpeedupRule, pairs: &[SpeedupPair]) -> Result<Vec<SpeedupOutcome>, StatsError> {
    let mut outcomes = Vec::with_capacity(pairs.len());
    let mut all_p = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let baseline = estimate_speedup(rule, &pair.baseline)?;
        let candidate = estimate_speedup(rule, &pair.candidate)?;
        let loss = baseline.log - candidate.log;
        let p = Tail::Normal.upper(loss / baseline.se.hypot(candidate.se))?;
        all_p.push(p);
        outcomes.push(SpeedupOutcome {
            baseline,
            candidate,
            p: Some(p),
            p_adjusted: None,
            over_limit: over(loss, pair.log_limit)?,
            word: SpeedupWord::Unchanged,
        });
    }
    for ((outcome, pair), adjusted) in outcomes.iter_mut().zip(pairs).zip(holm(&all_p)?) {
        outcome.p_adjusted = Some(adjusted);
        let convicted = adjusted <= rule.alpha && !pair.summary_of_one_job;
        outcome.word = word(outcome, convicted);
    }
    Ok(outcomes)
}

/// Judges one speed-up whose measurements repeat exactly: the sign of ln S is the lead, the limit decides.
///
/// # Errors
/// When a logarithm is not finite, or the limit negative or not finite.
pub fn judge_exact_speedup(
    baseline: f64,
    candidate: f64,
    log_limit: f64,
) -> Result<SpeedupOutcome, StatsError> {
    let mut outcome = without_noise(baseline, candidate, log_limit)?;
    outcome.word = word(&outcome, true);
    Ok(outcome)
}

/// Judges one speed-up by its limit alone, where there is no means to know the noise: what crosses 1 within the limit
/// is not called reversed.
///
/// # Errors
/// As [`judge_exact_speedup`].
pub fn judge_speedup_by_limit(
    baseline: f64,
    candidate: f64,
    log_limit: f64,
) -> Result<SpeedupOutcome, StatsError> {
    let mut outcome = without_noise(baseline, candidate, log_limit)?;
    outcome.word = if outcome.over_limit { word(&outcome, true) } else { SpeedupWord::Unchanged };
    Ok(outcome)
}

fn without_noise(baseline: f64, candidate: f64, log_limit: f64) -> Result<SpeedupOutcome, StatsError> {
    let certain = |log: f64| {
        within("logarithm of a speed-up", log, -700.0..=700.0, "the logarithm of a ratio")?;
        let lead = if log > EPSILON {
            Lead::Faster
        } else if log < -EPSILON {
            Lead::Slower
        } else {
            Lead::Undetermined
        };
        Ok(SpeedupEstimate { log, se: 0.0, interval: (log.exp(), log.exp()), lead })
    };
    Ok(SpeedupOutcome {
        baseline: certain(baseline)?,
        candidate: certain(candidate)?,
        p: None,
        p_adjusted: None,
        over_limit: over(baseline - candidate, log_limit)?,
        word: SpeedupWord::Unchanged,
    })
}

fn over(loss: f64, log_limit: f64) -> Result<bool, StatsError> {
    within("logarithmic limit", log_limit, 0.0..=100.0, "0 to 100")?;
    Ok(loss > log_limit + EPSILON)
}

fn word(outcome: &SpeedupOutcome, convicted: bool) -> SpeedupWord {
    let was_faster = outcome.baseline.lead == Lead::Faster;
    let lead_lost = was_faster && outcome.candidate.lead != Lead::Faster && outcome.candidate.log < 0.0;
    match (outcome.over_limit, outcome.candidate.lead) {
        (_, Lead::Slower) if was_faster => SpeedupWord::Reversed,
        (true, _) if convicted => SpeedupWord::Regressed,
        (true, _) => SpeedupWord::Unresolved,
        (false, _) if lead_lost => SpeedupWord::Unresolved,
        (false, _) => SpeedupWord::Unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: f64 = 0.105_360_515_657_826_3;
    const RULE: SpeedupRule = SpeedupRule::STANDARD;

    fn judged(baseline: f64, candidate: f64, summary_of_one_job: bool) -> SpeedupWord {
        let (b, c) = ([baseline.ln()], [candidate.ln()]);
        let legs = |logs| Legs { logs, variances: &[0.001] };
        let pair =
            SpeedupPair { baseline: legs(&b), candidate: legs(&c), log_limit: LIMIT, summary_of_one_job };
        judge_speedups(&RULE, &[pair]).unwrap()[0].word
    }

    #[test]
    fn a_summary_of_one_job_may_reverse_but_not_regress() {
        assert_eq!(judged(1.8, 1.3, false), SpeedupWord::Regressed);
        assert_eq!(judged(1.8, 1.3, true), SpeedupWord::Unresolved);
        assert_eq!(judged(1.8, 0.7, true), SpeedupWord::Reversed);
    }

    #[test]
    fn a_point_estimate_that_crosses_one_never_fails_by_itself() {
        assert_eq!(judged(1.02, 0.98, false), SpeedupWord::Unchanged);
        assert_eq!(judged(1.2, 0.98, false), SpeedupWord::Unresolved);
    }

    #[test]
    fn a_loss_must_stand_out_among_all_speedups_judged() {
        let (before, after) = ([0.5], [0.5 - 0.1924]);
        let pair = |logs| SpeedupPair {
            baseline: Legs { logs: &before, variances: &[0.0] },
            candidate: Legs { logs, variances: &[0.0] },
            log_limit: LIMIT,
            summary_of_one_job: false,
        };
        let alone = judge_speedups(&RULE, &[pair(&after)]).unwrap();
        assert_eq!(alone[0].word, SpeedupWord::Regressed);
        let beside = judge_speedups(&RULE, &[pair(&after), pair(&before)]).unwrap();
        assert_eq!(beside[0].word, SpeedupWord::Unresolved);
        assert_eq!(beside[0].p_adjusted, alone[0].p.map(|p| 2.0 * p));
    }

    #[test]
    fn without_noise_the_sign_is_the_lead() {
        let exact = |b: f64, c: f64| judge_exact_speedup(b.ln(), c.ln(), LIMIT).unwrap().word;
        assert_eq!(exact(1.01, 0.99), SpeedupWord::Reversed);
        assert_eq!(exact(1.5, 1.3), SpeedupWord::Regressed);
        assert_eq!(exact(1.0, 0.9), SpeedupWord::Unchanged);
        assert_eq!(exact(1.01, 1.0), SpeedupWord::Unchanged);
    }

    #[test]
    fn by_limit_a_reversal_must_exceed_the_limit_too() {
        let by_limit = |b: f64, c: f64| judge_speedup_by_limit(b.ln(), c.ln(), LIMIT).unwrap().word;
        assert_eq!(by_limit(1.01, 0.99), SpeedupWord::Unchanged);
        assert_eq!(by_limit(1.2, 0.9), SpeedupWord::Reversed);
        assert_eq!(by_limit(1.5, 1.3), SpeedupWord::Regressed);
        assert_eq!(by_limit(0.9, 0.7), SpeedupWord::Regressed);
    }

    #[test]
    fn nan_and_infinity_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(estimate_speedup(&RULE, &Legs { logs: &[bad], variances: &[0.0] }).is_err());
            assert!(estimate_speedup(&RULE, &Legs { logs: &[0.1], variances: &[bad] }).is_err());
            assert!(judge_exact_speedup(bad, 0.0, LIMIT).is_err());
            assert!(judge_exact_speedup(0.0, 0.0, bad).is_err());
        }
        assert!(estimate_speedup(&RULE, &Legs { logs: &[], variances: &[] }).is_err());
        assert_eq!(judge_speedups(&RULE, &[]), Ok(vec![]));
    }
}

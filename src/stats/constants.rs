//! Every constant of the decision rule, with the reason for its value.
//!
//! The values were chosen by simulating gates in which nothing had changed (how often do they fail?) and gates in
//! which something had (how often do they find it?). "Field" is one statistic of one metric of one group, "class" all
//! fields of one metric, "run-wide" all fields. Standard deviations are of natural logarithms, so 0.05 is 5 %.

/// How far measurements of the same code differ between jobs, as standard deviations of the logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Of everything in a job together.
    pub run: f64,
    /// Of all fields of one metric against the rest.
    pub class: f64,
    /// Of one field against its class.
    pub field: f64,
}

/// The evidence rule's constants. Start from [`Rule::STANDARD`]; `run_noise` of a policy replaces `jobs.run`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Assumed spread between jobs: unchanged gates then fail in at most 2.2 % of runs with a single baseline job at
    /// 5 % run noise with 3 + 3 % group and field noise, or with 3 % class noise. A dedicated host may say 2 %.
    pub jobs: Spread,
    /// Assumed drift between the rounds of one side inside a job in which both sides alternate.
    pub rounds: Spread,
    /// Weight of the assumed spread against the measured one, in degrees of freedom. Three jobs of three rounds, one
    /// group +30 % / +20 %, are found in 72 / 9 % of runs at 5, 97 / 58 % at 10, 99 / 80 % at 20; unchanged gates at
    /// 10 % run noise fail in 1.8 / 3.2 / 4.9 %.
    pub prior_weight: f64,
    /// False-alarm budget of the run-wide channel. At 5 % run noise only this channel spends its share, so all three
    /// together stay below 1.2 %.
    pub alpha_run: f64,
    /// False-alarm budget of all classes together.
    pub alpha_class: f64,
    /// False-alarm budget of all fields together.
    pub alpha_field: f64,
    /// Spread seen between three and more jobs may halve the assumed standard deviation (0.25 of its variance) …
    pub kappa_lowest: f64,
    /// … or raise it tenfold.
    pub kappa_highest: f64,
    /// Jobs × fields from which the spread between jobs is taken from the fields together.
    pub kappa_freedom: f64,
    /// Fields centred on their class from which their spread around it is used: fewer, and the median is too coarse a
    /// centre.
    pub kappa_fields: usize,
    /// Groups a class must span before its own median is the centre for its fields, for the same reason.
    pub centre_groups: usize,
    /// π/2: variance of a median against that of a mean, where the fields of one group count as one.
    pub median_variance: f64,
    /// Fewer rounds than this can't show their own noise: with 32 concurrent clients and 300 requests P95 has a
    /// standard deviation of 0.084 where one round estimates 0.07.
    pub enough_rounds: usize,
    /// A single field of a single job with few rounds must exceed this multiple of its limit. Identical gates (queue
    /// of 32, 100 requests, 12 groups) fail in 6.9 % at 5 × and 1.2 % at 7.5 ×; a doubled group is found in 99.5 %,
    /// at 10 × in only 67 %.
    pub far: f64,
    /// Power at which "the smallest change this could have shown" is stated.
    pub power: f64,
    /// Unadjusted p below which an unresolved field is worth an annotation.
    pub warn_below: f64,
    /// Baseline jobs from which the spread between jobs is measured, not assumed.
    pub replicated_jobs: usize,
    /// Alternated round pairs below which a job is treated as one job a side.
    pub duet_pairs: usize,
    /// Confidence of the intervals that are shown beside ratios.
    pub shown_confidence: f64,
}

impl Rule {
    /// The rule as it was validated.
    pub const STANDARD: Rule = Rule {
        jobs: Spread { run: 0.05, class: 0.025, field: 0.035 },
        rounds: Spread { run: 0.015, class: 0.01, field: 0.015 },
        prior_weight: 10.0,
        alpha_run: 0.004,
        alpha_class: 0.004,
        alpha_field: 0.004,
        kappa_lowest: 0.25,
        kappa_highest: 100.0,
        kappa_freedom: 20.0,
        kappa_fields: 12,
        centre_groups: 3,
        median_variance: 1.57,
        enough_rounds: 3,
        far: 7.5,
        power: 0.9,
        warn_below: 0.01,
        replicated_jobs: 3,
        duet_pairs: 3,
        shown_confidence: 0.95,
    };
}

impl Default for Rule {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// Slack that makes limits inclusive in floating point: a change exactly at the limit passes.
pub const EPSILON: f64 = 1e-9;

/// Confidence for which a percentile needs its smallest number of samples (two-sided).
pub const PERCENTILE_CONFIDENCE: f64 = 0.95;

/// Assumed standard deviation of the logarithm of TTFT within one round, when only a summary is known.
pub const SUMMARY_SPREAD_TTFT: f64 = 1.0;

/// The same for every other metric.
pub const SUMMARY_SPREAD: f64 = 0.5;

/// Requests assumed behind a summary that doesn't say how many there were.
pub const SUMMARY_REQUESTS: usize = 100;

/// √(q(1−q))/φ(z_q): standard deviation of a percentile of normal data, in standard deviations of one value / √n.
pub const NORMAL_PERCENTILE_SPREAD: [(f64, f64); 4] =
    [(50.0, 1.253), (90.0, 1.709), (95.0, 2.114), (99.0, 3.733)];

/// Adaptive rounds of a duet: at which numbers of pairs to look, with which share of every false-alarm budget. The
/// shares add up to 1, so all looks together stay within the budget whatever their dependence (Bonferroni).
pub const LOOKS: [(usize, f64); 4] = [(3, 0.1), (5, 0.2), (8, 0.3), (10, 0.4)];

/// When a look may stop because nothing is wrong. Unchanged duets then need 3.2 pairs on average at 1 % drift, and
/// one group 20 % slower is still found in 99 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clear {
    /// The run-wide p must be above this …
    pub p_run: f64,
    /// … the run-wide estimate below this share of the middle limit …
    pub of_limit: f64,
    /// … every class's p above this …
    pub p_class: f64,
    /// … and the number of fields times the smallest field's p above this.
    pub p_fields: f64,
}

impl Clear {
    /// As it was validated.
    pub const STANDARD: Clear = Clear { p_run: 0.2, of_limit: 0.4, p_class: 0.02, p_fields: 0.5 };
}

/// Success rates. Failures come in bursts, so requests of one job are not independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuccessRule {
    /// Assumed correlation between the outcomes of two requests of one job: unchanged gates of 12 groups at 98 % then
    /// fail in 2 % at 300 requests; without it 16 % would.
    pub correlation: f64,
    /// False-alarm budget of all groups together.
    pub alpha: f64,
    /// A drop this large …
    pub large_drop: f64,
    /// … from a baseline this clean …
    pub clean_baseline: f64,
    /// … fails at this unadjusted p: 100 of 100 to 90 of 100. A rule at 5 pp would fail 5 to 11 % of unchanged gates.
    pub large_alpha: f64,
    /// Jobs on a side from which the scatter of failures between jobs is measured.
    pub measured_jobs: usize,
    /// Further failures, beyond what the baseline's rate gives, without which a plain limit does not count as crossed.
    pub more_failures: f64,
}

impl SuccessRule {
    /// As it was validated.
    pub const STANDARD: SuccessRule = SuccessRule {
        correlation: 0.01,
        alpha: 0.002,
        large_drop: 0.08,
        clean_baseline: 0.95,
        large_alpha: 0.0125,
        measured_jobs: 3,
        more_failures: 2.0,
    };
}

/// `max_decrease` of success rates where no rule says otherwise: one percentage point.
pub const SUCCESS_MARGIN: f64 = 0.01;

/// Which of two strategies is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedupRule {
    /// Standard errors between the estimate and 1 from which a strategy counts as faster or slower (1 % one-sided).
    pub decided_at: f64,
    /// Assumed standard deviation of the logarithm of one leg within a job: unchanged speed-ups of 1.05 to 1.5 then
    /// reverse in at most 0.1 %.
    pub leg: f64,
    /// False-alarm budget of all speed-ups together.
    pub alpha: f64,
}

impl SpeedupRule {
    /// As it was validated.
    pub const STANDARD: SpeedupRule = SpeedupRule { decided_at: 2.326, leg: 0.035, alpha: 0.004 };
}

/// Change points of a nightly series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendRule {
    /// Largest two-sided p of the t-test across a change: 0.31 false alarms in 100 nights at 3 % noise.
    pub p_max: f64,
    /// Fewest nights on either side: an outlier shorter than that is no change.
    pub segment: usize,
    /// Smallest change of the logarithm that counts.
    pub change: f64,
}

impl TrendRule {
    /// As it was validated.
    pub const STANDARD: TrendRule = TrendRule { p_max: 1e-3, segment: 4, change: 0.02 };

    /// The same for a level that came and went, which may lie anywhere: its smaller p keeps what this adds at 0.06 false
    /// alarms in 100 nights (0.1 with outliers), at 3 as at 5 % noise; +10 % for 6 nights is found 98 times out of 100 at 3 %.
    #[must_use]
    pub const fn came_and_went(self) -> TrendRule {
        TrendRule { p_max: self.p_max / 100.0, ..self }
    }
}

/// Single jobs that stand apart from their level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OddRule {
    /// So many robust standard deviations from the level's median: 1 in 16,000 normal values.
    pub deviations: f64,
    /// Smallest distance of the logarithm that counts, however quiet the series is.
    pub distance: f64,
}

impl OddRule {
    /// The rule in use.
    pub const STANDARD: OddRule = OddRule { deviations: 4.0, distance: 0.05 };
}

/// Change points of success rates: shares, so a change is in points.
pub const RATE_TREND: TrendRule = TrendRule { p_max: 1e-3, segment: 4, change: 0.01 };

/// Jobs of the main branch in a row with the same channel over its limits that make a failure.
pub const IN_A_ROW: usize = 3;

/// Most nights a trend looks at.
pub const NIGHTS: usize = 40;

/// Most baseline jobs a baseline keeps.
pub const MOST_JOBS: usize = 10;

/// Most rounds and requests worth planning for.
pub const MOST_ROUNDS: usize = 100;

/// See [`MOST_ROUNDS`].
pub const MOST_REQUESTS: usize = 1_000_000;

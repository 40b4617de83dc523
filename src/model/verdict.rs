//! The join of all findings: the only thing that becomes an exit code.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::finding::{DecidedBy, Finding, Judgement};
use super::group::GroupId;
use super::history::HistoryNote;
use super::metric::{ChannelClass, Metric};
use super::policy::Decide;
use super::quantity::Finite;
use super::reason::Reason;
use super::report::{Requests, Tool};
use super::sentence::Sentence;
use super::timestamp::Timestamp;

/// The schema name that a verdict carries.
pub const SCHEMA: &str = "pacegate.verdict/1";

/// How it ended. The order is the precedence of the join: the later wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every required field compared and within the rules.
    Pass,
    /// The evidence can't decide, and the policy makes that block.
    Inconclusive,
    /// Nothing can be said: no baseline, nothing in common, a required field missing, not comparable, invalid.
    NoVerdict,
    /// Something got worse than the rules allow.
    Regression,
    /// The run itself failed.
    RunFailed,
}

impl Outcome {
    /// The word in capitals that begins every output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "PASS",
            Outcome::Inconclusive => "INCONCLUSIVE",
            Outcome::NoVerdict => "NO VERDICT",
            Outcome::Regression => "REGRESSION",
            Outcome::RunFailed => "RUN FAILED",
        }
    }

    /// The worse of two.
    #[must_use]
    pub fn join(self, other: Outcome) -> Outcome {
        self.max(other)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How strong the evidence can be (statistics.md §1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Both sides from the embedded engine, same workload and seed: deterministic.
    Exact,
    /// Both sides alternated in one job.
    Duet,
    /// Three blessed jobs or more.
    Replicated,
    /// Fewer.
    Single,
}

impl Tier {
    /// The name in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Exact => "exact",
            Tier::Duet => "duet",
            Tier::Replicated => "replicated",
            Tier::Single => "single",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a comparison ended, and everything that an output may say of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Always `pacegate.verdict/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Who judged.
    pub tool: Tool,
    /// The profile judged.
    pub profile: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The exit code that goes with it, `--report-only` included.
    pub exit_code: u8,
    /// `--report-only`: exit 0 in place of 1, 3 and 4.
    pub report_only: bool,
    /// The embedded engine was measured, no endpoint.
    pub simulated: bool,
    /// Both sides are in the report, measured in turn: "blessed" is its other endpoint, and no baseline file judges.
    pub duet: bool,
    /// The tier; absent where nothing was compared.
    pub tier: Option<Tier>,
    /// What the policy asks.
    pub decide: Decide,
    /// Who decided the gated fields.
    pub decided_by: Option<DecidedBy>,
    /// What would lift the tier, or bring evidence.
    pub lifts: Option<String>,
    /// What the chance of a false failure is at this evidence, and under which noise that holds.
    pub promise: Option<String>,
    /// Differences that were allowed on the command line.
    pub allowed: Vec<Fact>,
    /// What this change alters in its own baseline or limits.
    pub alterations: Vec<Reason>,
    /// Against what.
    pub baseline: Option<BaselineRef>,
    /// What was judged.
    pub candidate: CandidateRef,
    /// How many fields.
    pub counts: Counts,
    /// What stands in the way of a verdict, or is wrong with the whole run.
    pub problems: Vec<Reason>,
    /// Shifts of everything or of one metric: one cause, one sentence.
    pub causes: Vec<Cause>,
    /// Channels whose gated fields are in the middle over their limits, whatever the chance; what is waived is not.
    pub over_limits: Vec<Channel>,
    /// What the history says of them, where one was given.
    pub history: Option<HistoryNote>,
    /// One finding a field, worst first.
    pub findings: Vec<Finding>,
    /// What differs between the two sides and is what the gate is for.
    pub what_changed: Vec<Reason>,
    /// What a reader should know and that decides nothing.
    pub notes: Vec<Reason>,
    /// The smallest change that this evidence could have shown.
    pub resolution: Resolution,
    /// The command line that gives this verdict again, quoted for a shell, where it is known.
    pub reproduce: Option<String>,
}

/// The blessed side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BaselineRef {
    /// The file as given, or `REF:path`.
    pub path: String,
    /// When it was last blessed.
    pub blessed: Option<Timestamp>,
    /// Commit of the last bless.
    pub commit: Option<String>,
    /// Jobs in it.
    pub jobs: usize,
    /// Model id.
    pub model: Option<String>,
    /// First 12 digits of its SHA-256.
    pub digest: String,
}

/// The candidate side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CandidateRef {
    /// Files, or empty for an own run.
    pub files: Vec<String>,
    /// The measuring tool's format, such as `vllm-bench-serve`.
    pub format: Option<String>,
    /// The model id that answered.
    pub model: Option<String>,
    /// When its first job began, where known.
    pub started: Option<Timestamp>,
    /// The commit measured, where known.
    pub commit: Option<String>,
    /// The names of its jobs.
    pub job_ids: Vec<String>,
    /// Jobs in it.
    pub jobs: usize,
    /// Fewest rounds of any job.
    pub rounds: usize,
    /// Requests of all groups.
    pub requests: Requests,
    /// Prompt tokens, where recorded.
    pub input_tokens: Option<u64>,
    /// Output tokens, where recorded.
    pub output_tokens: Option<u64>,
}

/// How many fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Gated fields that the blessed baseline has.
    pub required: usize,
    /// Required fields that were compared.
    pub compared: usize,
    /// Gated fields over their limit.
    pub over_limit: usize,
    /// How many of those identical code would be expected to show.
    pub over_expected: Option<Finite>,
}

/// A channel wider than one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// All fields.
    RunWide,
    /// One metric against the rest.
    Class(ChannelClass),
}

impl Channel {
    /// What it is called in a sentence: `everything`, `ttft`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Channel::RunWide => "everything",
            Channel::Class(class) => class.name(),
        }
    }

    /// Whether a metric's fields belong to it.
    #[must_use]
    pub fn holds(self, metric: &Metric) -> bool {
        match self {
            Channel::RunWide => metric.class().is_some(),
            Channel::Class(class) => metric.class() == Some(class),
        }
    }
}

/// A shift of everything or of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    /// Which channel.
    pub channel: Channel,
    /// Whether it fails the gate, or only warns.
    pub regressed: bool,
    /// Worse by this ratio: 1.18 is 18 % worse, whatever the metric's direction.
    pub ratio: Finite,
    /// 95 % interval of the ratio.
    pub interval: Option<(Finite, Finite)>,
    /// Chance without a change, adjusted; absent in the exact tier.
    pub p: Option<Finite>,
    /// The sentence.
    pub sentence: Reason,
}

/// The smallest changes that could have been seen, as shares (0.32 = 32 %).
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Resolution {
    /// A shift of everything.
    pub run_wide: Option<Finite>,
    /// Per metric and group, the sharpest of its class and its gated fields. A `None` in it: nothing could have failed.
    pub metrics: BTreeMap<Metric, BTreeMap<GroupId, Option<Finite>>>,
    /// Rules tighter than what could have been seen.
    pub tighter_rules: Vec<String>,
    /// Required metrics that could not have failed in any group.
    pub blind: Vec<Metric>,
}

impl Cause {
    /// Whether a regressed field follows from this cause, so that one sentence says it all.
    #[must_use]
    pub fn explains(&self, finding: &Finding) -> bool {
        let metric = &finding.field.metric;
        let in_channel = match (&self.channel, &self.sentence) {
            (_, Reason::MetricShift { metric: own, with, .. }) => metric == own || with.contains(metric),
            (Channel::RunWide, _) => metric.class().is_some(),
            (Channel::Class(class), _) => metric.class() == Some(*class),
        };
        // What crosses an absolute limit or turns a speed-up around is news of its own.
        let follows =
            matches!(finding.reasons.first(), Some(Reason::OverLimit { .. } | Reason::SpeedupFell { .. }));
        self.regressed && in_channel && follows && finding.judgement == Judgement::Regressed
    }
}

impl Cause {
    /// Its sentence with both values of the worst field that follows from it:
    /// `… (worst: tpot.p95 of chat/c8 21.03 → 25.23 ms, limit +10 % and 0.2 ms): look at decode`.
    #[must_use]
    pub fn with_worst(&self, findings: &[Finding]) -> Sentence {
        let explained = findings.iter().filter(|finding| finding.gated && self.explains(finding));
        let worst = explained.max_by_key(|finding| finding.badness()).and_then(|finding| {
            let (change, tolerance) = (finding.change()?, finding.tolerance.as_ref()?);
            let field = &finding.field;
            let limit = tolerance.words(finding.direction, finding.unit);
            Some(format!("{} of {} {}, limit {limit}", field.local(), field.group, change.values()))
        });
        let named = worst.and_then(|worst| super::wording::with_worst(&self.sentence, &worst));
        named.unwrap_or_else(|| self.sentence.sentence())
    }
}

impl Verdict {
    /// Whether one of the causes says what this field would repeat.
    #[must_use]
    pub fn explained(&self, finding: &Finding) -> bool {
        self.causes.iter().any(|cause| cause.explains(finding))
    }

    /// The findings with a judgement.
    pub fn with(&self, judgement: Judgement) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.judgement == judgement)
    }
}

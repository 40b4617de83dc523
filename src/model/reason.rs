//! Why: every sentence that more than one output prints. Emitters never word a judgement themselves.
//!
//! The variants are here; their words are in `wording.rs`.

use std::fmt;

use super::group::GroupId;
use super::history::HistoryRow;
use super::metric::{ChannelClass, Metric};
use super::policy::{Allowance, Origin, Tolerance};
use super::quantity::{Finite, Quantity};
use super::report::{FailureKind, Requests};
use super::sentence::Sentence;
use super::statistic::Statistic;
use super::{fact::Fact, field::FieldId, finding::Change};

pub use super::reason_part::{Instead, OwnBaseline, Reach, Side, Suspicion};

/// One reason. `Display` is the sentence; `code` is a stable word for programs.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the sentence of each variant says what it means and what its fields are")]
pub enum Reason {
    // A field against its limit.
    OverLimit {
        field: FieldId,
        change: Change,
        tolerance: Tolerance,
    },
    UnderMinChange {
        field: FieldId,
        change: Change,
        tolerance: Tolerance,
    },
    OverMax {
        field: FieldId,
        value: Quantity,
        max: Finite,
        origin: Origin,
    },
    UnderMin {
        field: FieldId,
        value: Quantity,
        min: Finite,
        origin: Origin,
    },
    Better {
        field: FieldId,
        change: Change,
    },
    Unconfirmed {
        p: Option<Finite>,
        expected: Option<Finite>,
        gated: usize,
        lift: Option<String>,
    },
    Confirmed {
        by: &'static str,
        p: Finite,
    },
    CouldBeNoise {
        field: FieldId,
        change: Change,
        tolerance: Tolerance,
        p: Option<Finite>,
    },
    TooFewSamples {
        field: FieldId,
        n: u64,
        needed: u64,
        instead: Instead,
    },
    UnequalSamples {
        field: FieldId,
        smaller: u64,
        larger: u64,
        instead: Instead,
    },
    ZeroValue {
        field: FieldId,
        side: Side,
        in_a_round: bool,
    },
    Missing {
        field: FieldId,
        old: Quantity,
        hint: Option<String>,
    },
    NoLatencyLeft {
        group: GroupId,
    },
    New {
        field: FieldId,
    },
    NotJudged {
        field: FieldId,
    },
    LimitOutOfReach {
        field: FieldId,
        old: Quantity,
        tolerance: Tolerance,
    },
    Withdrawn {
        group: GroupId,
    },
    Waived {
        field: FieldId,
        change: Change,
        allowance: Allowance,
        why: String,
        until: time::Date,
    },
    WaiverExpired {
        pattern: String,
        why: String,
        until: time::Date,
        origin: Origin,
    },
    WaiverExpiresSoon {
        pattern: String,
        why: String,
        until: time::Date,
        days: i64,
    },
    WaiverExceeded {
        field: FieldId,
        change: Change,
        allowance: Allowance,
        origin: Origin,
    },
    WaiverUnused {
        pattern: String,
        origin: Origin,
        nearest: Option<String>,
    },

    // Success.
    SuccessDropped {
        group: GroupId,
        old: (u64, u64),
        new: (u64, u64),
        limit: String,
        failed: Requests,
    },
    SuccessCouldBeNoise {
        group: GroupId,
        old: (u64, u64),
        new: (u64, u64),
        limit: String,
    },
    SuccessUnknown {
        side: Side,
    },
    NoSuccess {
        group: GroupId,
        requests: Requests,
    },

    // Speed-up.
    SpeedupReversed {
        group: GroupId,
        reference: String,
        statistic: Statistic,
        old: Finite,
        new: Finite,
        legs: (Finite, Finite),
    },
    SpeedupFell {
        group: GroupId,
        reference: String,
        statistic: Statistic,
        change: Change,
        tolerance: Tolerance,
    },
    SpeedupUnclear {
        group: GroupId,
        reference: String,
        statistic: Statistic,
        old: Finite,
        new: Finite,
        interval: Option<(Finite, Finite)>,
    },
    SpeedupSwapped {
        group: GroupId,
        reference: String,
        reported: Finite,
        recomputed: Finite,
        statistic: Statistic,
        legs: (Finite, Finite),
    },
    SpeedupContradicted {
        group: GroupId,
        reference: String,
        reported: Finite,
        recomputed: Finite,
        statistic: Statistic,
    },
    SpeedupDefault {
        group: GroupId,
        reference: String,
        reported: Finite,
        recomputed: Finite,
        statistic: Statistic,
    },
    SpeedupNotRecomputable {
        group: GroupId,
        reported: Option<Finite>,
        why: String,
    },
    NoReference {
        wanted: Option<String>,
        strategies: Vec<String>,
    },

    // Shifts with one cause.
    RunWide {
        ratio: Finite,
        interval: Option<(Finite, Finite)>,
        p: Option<Finite>,
        regressed: bool,
        reach: Reach,
    },
    ClassShift {
        class: ChannelClass,
        ratio: Finite,
        interval: Option<(Finite, Finite)>,
        p: Option<Finite>,
        regressed: bool,
    },
    MetricShift {
        metric: Metric,
        groups: usize,
        of: usize,
        strategies: Vec<String>,
        smallest: Finite,
        largest: Finite,
        with: Vec<Metric>,
    },

    // The whole comparison.
    InARow(HistoryRow),
    NextInARowFails(HistoryRow),
    OverBeforeThisChange(HistoryRow),
    NoBaseline {
        path: String,
        bless: String,
    },
    NothingInCommon {
        old: Vec<GroupId>,
        new: Vec<GroupId>,
    },
    OneDimension {
        what: &'static str,
        old: Vec<String>,
        new: Vec<String>,
    },
    NothingCompared,
    Differs {
        fact: Fact,
        group: Option<GroupId>,
        old: String,
        new: String,
        allowed: bool,
    },
    NotRecorded {
        facts: Vec<Fact>,
        side: Option<Side>,
    },
    ParameterChanged {
        name: String,
        old: Option<String>,
        new: Option<String>,
    },
    RuleMatchesNothing {
        pattern: String,
        origin: Origin,
        nearest: Option<String>,
    },
    /// No number lets these rules see anything.
    NotWatched {
        fields: Vec<String>,
        hint: Option<String>,
    },
    Blind {
        metric: Metric,
        resolution: Option<Finite>,
        above: Finite,
    },
    Drift {
        field: FieldId,
        change: Change,
        max: Finite,
        blesses: usize,
    },
    BaselineAltered {
        path: String,
        git_ref: String,
        own: OwnBaseline,
    },
    LimitsAltered {
        path: String,
        git_ref: String,
        lines: Vec<String>,
    },
    SelfBlessRefused,
    OldBaseline {
        days: i64,
    },

    // Validity.
    CountsDontAddUp {
        group: GroupId,
        sent: u64,
        succeeded: u64,
        failed: u64,
    },
    NoTokens {
        group: GroupId,
    },
    AllFailed {
        sent: Option<u64>,
        failed: Vec<(FailureKind, u64)>,
    },
    NothingSent,
    BadLatency {
        field: FieldId,
        value: Quantity,
        side: Side,
        in_a_round: bool,
    },
    OutOfOrder {
        field: FieldId,
        value: Quantity,
        above: FieldId,
        above_value: Quantity,
    },
    LostInRound {
        group: GroupId,
        round: usize,
    },
    RoundTooGood {
        field: FieldId,
        value: Quantity,
        others: Quantity,
    },
    FieldLostInRound {
        field: FieldId,
        job: Option<usize>,
        round: usize,
    },
    BlessedInvalid {
        why: String,
    },
    Incomplete {
        job: String,
    },
    ClientBottleneck {
        group: GroupId,
        lag: Quantity,
        limit: Quantity,
        /// What the client itself used of all cores, where known.
        cpu_share: Option<Finite>,
    },
    Suspicious {
        field: FieldId,
        change: Option<Change>,
        what: Suspicion,
        more: usize,
    },
    SourceSays {
        text: String,
    },
}

impl Reason {
    /// A stable word for programs: the variant's name in snake case.
    #[must_use]
    pub fn code(&self) -> String {
        let debug = format!("{self:?}");
        let mut code = String::new();
        for c in debug.chars().take_while(char::is_ascii_alphanumeric) {
            if c.is_ascii_uppercase() && !code.is_empty() {
                code.push('_');
            }
            code.push(c.to_ascii_lowercase());
        }
        code
    }

    /// The sentence, with foreign names kept apart.
    #[must_use]
    pub fn sentence(&self) -> Sentence {
        super::wording::sentence(self)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}

//! One verdict for each way in which a comparison ends, made from a pass.

use std::collections::BTreeMap;

use pacegate::model::fact::Fact;
use pacegate::model::finding::{DecidedBy, Evidence};
use pacegate::model::policy::Allowance;
use pacegate::model::reason::{Instead, OwnBaseline};
use pacegate::model::report::{FailureKind, Requests};
use pacegate::model::verdict::{Cause, Channel, Counts, Resolution};
use pacegate::model::*;

use super::{f, field, finding, group, pass, put, with_evidence};

/// One report against one blessed report of another tool: the plain threshold gate.
pub fn regression_unconfirmed() -> Verdict {
    let mut v = pass();
    (v.outcome, v.exit_code) = (Outcome::Regression, 1);
    (v.tier, v.decided_by) = (Some(Tier::Single), Some(DecidedBy::Limits));
    v.lifts = Some("3 rounds a side, or 2 more blessed jobs".to_owned());
    v.promise = None;
    if let Some(baseline) = &mut v.baseline {
        baseline.jobs = 1;
    }
    v.candidate.files = vec!["run.json".to_owned()];
    v.candidate.format = Some("vllm-bench-serve".to_owned());
    v.candidate.rounds = 1;
    v.candidate.requests = Requests { sent: Some(600), succeeded: Some(600), ..Requests::default() };
    v.counts = Counts { required: 14, compared: 14, over_limit: 2, over_expected: Some(f(0.9)) };
    v.reproduce = Some("pacegate check run.json --baseline baselines/chat.json".to_owned());
    let mut worse = |name: &str, old, new, interval, p| {
        let mut finding = with_evidence(
            finding(name, Judgement::Regressed, Some(old), Some(new)),
            interval,
            p,
            0.62,
            false,
        );
        finding.reasons.push(Reason::Unconfirmed {
            p: Some(f(p)),
            expected: Some(f(0.9)),
            gated: 14,
            lift: Some("3 rounds a side, or 2 more blessed jobs".to_owned()),
        });
        put(&mut v, finding);
    };
    worse("chat/c8:ttft.p95", 412.0, 489.06, (0.98, 1.44), 0.04);
    worse("chat/c8:ttft.p50", 201.4, 228.0, (0.96, 1.33), 0.07);
    v
}

/// Decode got slower in every group; three blessed jobs show that it is no noise.
pub fn regression_with_a_cause() -> Verdict {
    let mut v = pass();
    (v.outcome, v.exit_code) = (Outcome::Regression, 1);
    v.counts.over_limit = 4;
    v.counts.over_expected = Some(f(0.4));
    for (name, old, new) in [
        ("chat/c8:tpot.p50", 8.31, 10.22),
        ("chat/c8:tpot.p95", 10.02, 12.53),
        ("chat/c1:tpot.p50", 8.31, 10.14),
        ("chat/c1:tpot.p95", 10.02, 12.39),
    ] {
        let mut finding = with_evidence(
            finding(name, Judgement::Regressed, Some(old), Some(new)),
            (1.13, 1.34),
            0.0004,
            0.24,
            true,
        );
        finding.decided_by = Some(DecidedBy::Evidence);
        finding.reasons.push(Reason::Confirmed { by: "the shift of its whole metric", p: f(0.0004) });
        put(&mut v, finding);
    }
    v.causes = vec![Cause {
        channel: Channel::Class(ChannelClass::Tpot),
        regressed: true,
        ratio: f(1.226),
        interval: Some((f(1.14), f(1.32))),
        p: Some(f(0.0009)),
        sentence: Reason::ClassShift {
            class: ChannelClass::Tpot,
            ratio: f(1.226),
            interval: Some((f(1.14), f(1.32))),
            p: Some(f(0.0009)),
            regressed: true,
        },
    }];
    v
}

pub fn missing_field() -> Verdict {
    let mut v = pass();
    (v.outcome, v.exit_code) = (Outcome::NoVerdict, 3);
    v.counts.compared = 12;
    for of in ["chat/c1", "chat/c8"] {
        put(&mut v, finding(&format!("{of}:e2e.p95"), Judgement::Missing, Some(2980.5), None));
    }
    v
}

pub fn not_comparable() -> Verdict {
    let mut v = pass();
    (v.outcome, v.exit_code, v.tier, v.decided_by) = (Outcome::NoVerdict, 3, None, None);
    v.counts.compared = 0;
    v.counts.over_expected = None;
    v.resolution = Resolution::default();
    v.promise = None;
    v.problems = vec![Reason::Differs {
        fact: Fact::Model,
        group: None,
        old: "my-model".to_owned(),
        new: "my-model-fp8".to_owned(),
        allowed: false,
    }];
    v.candidate.model = Some("my-model-fp8".to_owned());
    for finding in &mut v.findings {
        if finding.gated {
            finding.judgement = Judgement::NotComparable;
            finding.decided_by = None;
        }
    }
    v
}

pub fn no_baseline() -> Verdict {
    let mut v = not_comparable();
    v.baseline = None;
    v.what_changed = Vec::new();
    v.counts = Counts::default();
    v.problems = vec![Reason::NoBaseline {
        path: "baselines/chat.json".to_owned(),
        bless: "pacegate run --profile chat --bless".to_owned(),
    }];
    for finding in &mut v.findings {
        finding.old = None;
        if finding.gated {
            finding.judgement = Judgement::New;
        }
    }
    v
}

pub fn all_failed() -> Verdict {
    let mut v = not_comparable();
    (v.outcome, v.exit_code) = (Outcome::RunFailed, 5);
    v.candidate.model = None;
    let failed = BTreeMap::from([(FailureKind::Http401, 1800)]);
    v.problems = vec![Reason::AllFailed { sent: Some(1800), failed: failed.clone().into_iter().collect() }];
    v.candidate.requests =
        Requests { sent: Some(1800), succeeded: Some(0), failed, error_samples: BTreeMap::new() };
    (v.candidate.input_tokens, v.candidate.output_tokens) = (None, None);
    for finding in &mut v.findings {
        (finding.judgement, finding.new) = (Judgement::Missing, None);
    }
    v
}

pub fn report_only() -> Verdict {
    let mut v = regression_unconfirmed();
    (v.report_only, v.exit_code) = (true, 0);
    v
}

pub fn altered_baseline() -> Verdict {
    let mut v = regression_unconfirmed();
    v.alterations = vec![
        Reason::BaselineAltered {
            path: "baselines/chat.json".to_owned(),
            git_ref: "origin/main".to_owned(),
            own: OwnBaseline::NoReason,
        },
        Reason::LimitsAltered {
            path: "pacegate.toml".to_owned(),
            git_ref: "origin/main".to_owned(),
            lines: vec!["ttft.p95: +10 % and 2 ms \u{2192} +40 %".to_owned()],
        },
    ];
    v
}

/// The embedded engine: int8_quant became slower than the reference strategy.
pub fn speedup_reversed() -> Verdict {
    let mut v = pass();
    (v.outcome, v.exit_code) = (Outcome::Regression, 1);
    (v.simulated, v.tier, v.decided_by) = (true, Some(Tier::Exact), Some(DecidedBy::Exact));
    v.promise = None;
    v.resolution = Resolution::default();
    v.counts.over_limit = 1;
    v.counts.over_expected = None;
    v.candidate.model = Some("embedded".to_owned());
    let mut finding =
        finding("int8_quant/chat/c8:speedup_vs_baseline.p95", Judgement::Regressed, Some(1.44), Some(0.8));
    finding.decided_by = Some(DecidedBy::Exact);
    finding.reasons = vec![Reason::SpeedupReversed {
        group: group("int8_quant/chat/c8"),
        reference: "baseline".to_owned(),
        statistic: Statistic::P95,
        old: f(1.44),
        new: f(0.8),
        legs: (f(13_230.37), f(16_537.96)),
    }];
    put(&mut v, finding);
    v.what_changed = vec![Reason::ParameterChanged {
        name: "int8_quant factor".to_owned(),
        old: Some("1.5".to_owned()),
        new: Some("0.79".to_owned()),
    }];
    v.counts.required = 15;
    v.counts.compared = 15;
    v
}

/// Requests began to fail; those that still answer look faster, and that is no improvement.
pub fn success_dropped() -> Verdict {
    let mut v = regression_unconfirmed();
    let failed = BTreeMap::from([(FailureKind::Http429, 31), (FailureKind::TimeoutFirstToken, 4)]);
    v.candidate.requests = Requests {
        sent: Some(600),
        succeeded: Some(565),
        failed: failed.clone(),
        error_samples: BTreeMap::new(),
    };
    let mut finding = finding("chat/c8:success_rate", Judgement::Regressed, Some(1.0), Some(265.0 / 300.0));
    finding.reasons = vec![Reason::SuccessDropped {
        group: group("chat/c8"),
        old: (300, 300),
        new: (265, 300),
        limit: "\u{2212}1 pp, at least 95 %".to_owned(),
        failed: Requests { failed, ..Requests::default() },
    }];
    put(&mut v, finding);
    for name in ["chat/c8:ttft.p50", "chat/c8:ttft.p95"] {
        let mut fast = super::finding(name, Judgement::Unchanged, Some(412.0), Some(301.0));
        fast.reasons = vec![Reason::Withdrawn { group: group("chat/c8") }];
        put(&mut v, fast);
    }
    v
}

/// Passes, and there is still something to see.
pub fn pass_with_remarks() -> Verdict {
    let mut v = pass();
    v.counts.over_limit = 2;
    v.counts.over_expected = Some(f(1.4));
    let mut unresolved = finding("chat/c8:ttft.p95", Judgement::Unresolved, Some(412.0), Some(470.1));
    unresolved.evidence = Some(Evidence {
        interval: Some((f(0.97), f(1.33))),
        p: f(0.08),
        p_holm: f(0.9),
        resolution: Some(f(0.44)),
    });
    put(&mut v, unresolved);
    let mut waived = finding("chat/c1:e2e.p95", Judgement::Waived, Some(2980.5), Some(3401.2));
    waived.reasons = vec![Reason::Waived {
        field: field("chat/c1:e2e.p95"),
        change: waived.change().unwrap(),
        allowance: Allowance::Relative(f(0.25)),
        why: "TEAM-123".to_owned(),
        until: time::macros::date!(2026 - 06 - 01),
    }];
    put(&mut v, waived);
    put(&mut v, finding("chat/c8:tpot.p50", Judgement::Improved, Some(8.31), Some(6.1)));
    let mut few = finding("chat/c1:tpot.p95", Judgement::TooFew, Some(10.02), Some(10.11));
    few.reasons = vec![Reason::TooFewSamples {
        field: field("chat/c1:tpot.p95"),
        n: 60,
        needed: 72,
        instead: Instead::Percentile(Statistic::P50),
    }];
    put(&mut v, few);
    v.notes = vec![
        Reason::WaiverExpiresSoon {
            pattern: "chat/c1:e2e.p95".to_owned(),
            why: "TEAM-123".to_owned(),
            until: time::macros::date!(2026 - 06 - 01),
            days: 5,
        },
        Reason::NotRecorded {
            facts: vec![Fact::Server],
            side: Some(pacegate::model::reason::Side::Candidate),
        },
    ];
    v
}

pub fn blind() -> Verdict {
    let mut v = pass();
    (v.outcome, v.exit_code) = (Outcome::Inconclusive, 4);
    v.tier = Some(Tier::Single);
    v.lifts = Some("2 more blessed jobs (tier replicated)".to_owned());
    v.problems = vec![Reason::Blind { metric: Metric::TTFT, resolution: Some(f(1.4)), above: f(1.0) }];
    v.resolution.blind = vec![Metric::TTFT];
    v.resolution.tighter_rules = vec!["ttft.p95 +10 % (pacegate.toml:12:1)".to_owned()];
    v
}

pub fn all() -> Vec<(&'static str, Verdict)> {
    vec![
        ("pass", pass()),
        ("pass-with-remarks", pass_with_remarks()),
        ("regression-unconfirmed", regression_unconfirmed()),
        ("regression-with-a-cause", regression_with_a_cause()),
        ("success-dropped", success_dropped()),
        ("missing-field", missing_field()),
        ("not-comparable", not_comparable()),
        ("no-baseline", no_baseline()),
        ("all-failed", all_failed()),
        ("blind", blind()),
        ("report-only", report_only()),
        ("altered-baseline", altered_baseline()),
        ("speedup-reversed", speedup_reversed()),
    ]
}

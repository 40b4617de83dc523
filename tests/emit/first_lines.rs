//! The line that is read when nothing else is.

use pacegate::emit::{Detail, Style, terminal};
use pacegate::model::reason::Reach;
use pacegate::model::{Metric, Reason, Verdict};

use crate::samples;

fn quiet(verdict: &Verdict) -> Vec<String> {
    let style = Style { detail: Detail::Quiet, ..Style::default() };
    terminal(verdict, style).lines().map(str::to_owned).collect()
}

#[test]
fn a_pass_says_how_many_fields_were_compared_and_what_it_could_have_seen() {
    assert_eq!(
        quiet(&samples::pass()),
        [
            "PASS: 14 of 14 required fields compared, all within their limits; tier replicated, evidence decided",
            "smallest visible worsening: everything 19 %, ttft 31 %, tpot 14 %, e2e 22 %, output_throughput 17 %; exit 0",
        ]
    );
}

#[test]
fn a_pass_with_something_open_does_not_say_that_all_is_within_the_limits() {
    assert_eq!(
        quiet(&samples::pass_with_remarks())[0],
        "PASS: 14 of 14 required fields compared, none regressed; 1 unresolved (over the limit, could be noise), 1 with too few samples, 1 waived, 1 improved; tier replicated, evidence decided"
    );
}

#[test]
fn a_regression_says_what_by_how_much_and_how_sure() {
    assert_eq!(
        quiet(&samples::regression_unconfirmed())[0],
        "REGRESSION: 2 of 14 required fields got worse; tier single, limits decided, unconfirmed: ttft.p95 of chat/c8 rose 412.0 \u{2192} 489.1 ms (+18.7 %, limit +10 % and 2 ms): slower"
    );
}

#[test]
fn one_cause_comes_before_its_fields() {
    assert_eq!(
        quiet(&samples::regression_with_a_cause())[0],
        "REGRESSION: 4 of 14 required fields got worse; tier replicated, evidence decided, confirmed: tpot got 22.6 % slower relative to the other metrics (worst: tpot.p95 of chat/c8 10.02 \u{2192} 12.53 ms, limit +10 % and 0.2 ms; 95 %: +14 % to +32 %; chance without a change: 0.09 %): look at decode"
    );
}

#[test]
fn a_cause_says_slower_without_a_sign_and_both_values_of_its_worst_field() {
    let mut verdict = samples::regression_with_a_cause();
    verdict.causes[0].sentence = Reason::MetricShift {
        metric: Metric::TPOT,
        groups: 2,
        of: 2,
        strategies: Vec::new(),
        smallest: samples::f(0.2),
        largest: samples::f(0.2),
        with: Vec::new(),
    };
    let line = quiet(&verdict).remove(0);
    let cause = "tpot is 20 % slower in 2 of 2 groups (worst: tpot.p95 of chat/c8 10.02 \u{2192} 12.53 ms, limit +10 % and 0.2 ms): look at decode";
    assert!(line.ends_with(cause), "{line}");
    let page = terminal(&verdict, Style::default());
    assert_eq!(page.matches("look at decode").count(), 1, "{page}");
}

#[test]
fn a_shift_of_nothing_is_no_cause() {
    let mut verdict = samples::regression_with_a_cause();
    let mut nothing = verdict.causes[0].clone();
    (nothing.regressed, nothing.ratio) = (false, samples::f(1.0002));
    verdict.causes.push(nothing.clone());
    let page = terminal(&verdict, Style::default());
    assert!(!page.contains("Causes"), "{page}");
    nothing.ratio = samples::f(1.08);
    nothing.sentence = Reason::RunWide {
        ratio: samples::f(1.08),
        interval: None,
        p: None,
        regressed: false,
        reach: Reach::Everything,
    };
    verdict.causes.push(nothing);
    let page = terminal(&verdict, Style::default());
    assert!(page.contains("Causes\n  - everything may be 8.0 % slower; not significant"), "{page}");
}

#[test]
fn failures_come_before_latency() {
    let mut verdict = samples::regression_with_a_cause();
    let dropped = samples::success_dropped();
    let success =
        dropped.findings.iter().find(|f| f.field == samples::field("chat/c8:success_rate")).unwrap();
    samples::put(&mut verdict, success.clone());
    assert_eq!(
        quiet(&verdict)[0],
        "REGRESSION: 5 of 14 required fields got worse; tier replicated, evidence decided, confirmed: success_rate of chat/c8 fell 300 of 300 \u{2192} 265 of 300 (100.00 % \u{2192} 88.33 %, \u{2212}11.67 pp, limit \u{2212}1 pp, at least 95 %): less reliable; failures: 31 \u{d7} 429 (too many requests), 4 \u{d7} time-out before the first token"
    );
}

#[test]
fn a_missing_field_is_no_verdict_and_says_how_to_get_it() {
    assert_eq!(
        quiet(&samples::missing_field())[0],
        "NO VERDICT: 2 of 14 required fields are missing; tier replicated, evidence decided: e2e.p95 of chat/c1 is missing: the blessed baseline has 2980.5 ms, this report has none; vllm bench serve writes it with --percentile-metrics ttft,tpot,itl,e2el"
    );
}

#[test]
fn two_sides_that_differ_are_no_verdict() {
    assert_eq!(
        quiet(&samples::not_comparable()),
        [
            "NO VERDICT: 14 of 14 required fields are not comparable: the model differs: blessed my-model, now my-model-fp8; not comparable. Measure the same on both sides, bless anew, or say --allow-different model",
            "exit 3",
        ]
    );
}

#[test]
fn no_baseline_says_what_to_type() {
    assert_eq!(
        quiet(&samples::no_baseline())[0],
        "NO VERDICT: there is no blessed baseline at baselines/chat.json, so nothing was compared. When these numbers are good, bless them: pacegate run --profile chat --bless"
    );
}

#[test]
fn a_run_without_success_is_a_failed_run() {
    assert_eq!(
        quiet(&samples::all_failed()),
        [
            "RUN FAILED: every request failed: 1800 sent, 1800 \u{d7} 401 (key missing or wrong). There is nothing to judge; mend the endpoint first",
            "exit 5",
        ]
    );
}

#[test]
fn a_blind_gate_says_what_would_let_it_see() {
    assert_eq!(
        quiet(&samples::blind())[0],
        "INCONCLUSIVE: 14 of 14 required fields compared; tier single, evidence decided: the gate is blind for ttft: in every group the smallest change it could have seen is +140 %, more than +100 %. Send more requests or rounds, or bless more jobs"
    );
}

#[test]
fn report_only_is_said_before_the_verdict() {
    let lines = quiet(&samples::report_only());
    assert_eq!(lines[0], "REPORT ONLY: nothing is gated; exit 0 in place of 1, 3 and 4");
    assert!(lines[1].starts_with("REGRESSION: "), "{}", lines[1]);
}

#[test]
fn an_altered_baseline_is_the_very_first_line() {
    let lines = quiet(&samples::altered_baseline());
    assert_eq!(
        lines[0],
        "THIS CHANGE ALTERS ITS OWN BASELINE: baselines/chat.json differs from origin/main; judged by the copy of that ref, because this change's ledger gives no reason"
    );
    assert!(lines[1].starts_with("THIS CHANGE ALTERS ITS OWN LIMITS: "), "{}", lines[1]);
    assert!(lines[2].starts_with("REGRESSION: "), "{}", lines[2]);
}

#[test]
fn a_simulated_run_says_so_first_and_a_reversed_speed_up_is_in_words() {
    assert_eq!(
        quiet(&samples::speedup_reversed()),
        [
            "SIMULATED: no model was measured; these are the embedded engine's numbers",
            "REGRESSION: 1 of 15 required fields got worse; tier exact: int8_quant/chat/c8 was faster than the reference strategy baseline and is now SLOWER than it: at p95 of e2e it now takes 16538.0 ms where the reference strategy takes 13230.4 ms (speedup_vs_baseline.p95 1.44x \u{2192} 0.80x; below 1 is slower)",
            "no noise: any change over a limit is real; exit 1",
        ]
    );
}

#[test]
fn allowed_differences_are_said_before_the_verdict() {
    let mut verdict = samples::pass();
    verdict.allowed = vec![pacegate::model::Fact::Model, pacegate::model::Fact::Server];
    assert_eq!(
        quiet(&verdict)[0],
        "ALLOWED DIFFERENT: model, server; the two sides were compared although they do not measure the same"
    );
}

#[test]
fn a_broken_absolute_limit_is_not_called_a_worsening() {
    let mut verdict = samples::regression_unconfirmed();
    for finding in
        verdict.findings.iter_mut().filter(|f| f.judgement == pacegate::model::Judgement::Regressed)
    {
        finding.confirmed = None;
        finding.reasons = vec![pacegate::model::Reason::OverMax {
            field: finding.field.clone(),
            value: pacegate::model::Quantity { value: samples::f(489.06), unit: finding.unit },
            max: samples::f(450.0),
            origin: pacegate::model::policy::Origin::File {
                path: "pacegate.toml".to_owned(),
                line: 12,
                column: 1,
            },
        }];
    }
    assert_eq!(
        quiet(&verdict)[0],
        "REGRESSION: 2 of 14 required fields are over their limits; tier single, limits decided: ttft.p95 of chat/c8 is 489.1 ms, above the absolute limit of 450.0 ms set at pacegate.toml:12:1"
    );
}

#[test]
fn colour_is_only_there_when_asked_for() {
    let codes = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for (name, verdict) in samples::all() {
        let plain = terminal(&verdict, Style::default());
        assert!(!plain.contains('\u{1b}'), "{name}");
        let coloured = terminal(&verdict, Style { colour: true, ..Style::default() });
        assert!(coloured.contains("\u{1b}[1;3"), "{name}");
        assert_eq!(codes.replace_all(&coloured, ""), plain, "{name}");
    }
}

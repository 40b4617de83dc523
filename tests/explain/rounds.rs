//! Reports of several rounds: each round is held against itself, and the worst is not hidden by the last.

use pacegate::model::{Finite, Group, Metric, Report, Statistic};

use crate::reports::{self, CHAT, LEVELS, explain};

/// The report with its round once more, changed.
fn again(name: &str, change: impl Fn(&mut Group)) -> Report {
    let mut report = reports::named(name);
    let mut second = report.jobs[0].rounds[0].clone();
    second.groups.iter_mut().for_each(change);
    report.jobs[0].rounds.push(second);
    report
}

fn times(group: &mut Group, metric: Metric, factor: f64) {
    for value in group.metrics.get_mut(&metric).unwrap().stats.values_mut() {
        *value = Finite::new(value.get() * factor).unwrap();
    }
}

fn quantised(group: &Group) -> bool {
    group.dimensions.strategy.as_deref() == Some("int8_quant")
}

fn claim(group: &mut Group, value: f64) {
    group.speedup_reported.as_mut().unwrap().value = Finite::new(value).unwrap();
}

#[test]
fn a_rounds_claim_is_held_against_its_own_two_times() {
    let report = again(CHAT, |group| {
        if quantised(group) {
            times(group, Metric::E2E, 1.25);
            claim(group, 1.2);
        }
    });
    let text = explain(&report, Some("speedup_vs_baseline")).unwrap();
    assert!(!text.contains("believe the two times") && !text.contains("UPSIDE DOWN"), "{text}");
}

#[test]
fn a_wrong_claim_is_said_with_its_round_and_the_times_of_that_round() {
    let report = again(CHAT, |group| {
        if quantised(group) {
            times(group, Metric::E2E, 1.25);
            claim(group, 0.83);
        }
    });
    let text = explain(&report, Some("speedup_vs_baseline")).unwrap();
    let line = "  round 2: UPSIDE DOWN in the file: it says 0.83 for int8_quant/chat/c8, and that is 11846.6 ms / 14209.0 ms, this strategy / the reference strategy. Numerator and denominator are swapped: right is 1.20, FASTER than the reference strategy\n";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("round 1:") && !text.contains("believe the two times"), "{text}");
}

#[test]
fn the_tail_of_a_load_test_is_that_of_its_worst_round() {
    let mut report = again(LEVELS, |group| times(group, Metric::TTFT, 0.5));
    times(&mut report.jobs[0].rounds[0].groups[0], Metric::TTFT, 0.25);
    let measured = |round: usize, statistic| {
        let group = &report.jobs[0].rounds[round].groups[0];
        group.metrics[&Metric::TTFT].stats[&statistic].get()
    };
    let (middle, tail) = (measured(1, Statistic::P50), measured(1, Statistic::P95));
    let text = explain(&report, None).unwrap();
    for (group, round) in [(0, 1), (1, 0)] {
        let group = |round: usize| &report.jobs[0].rounds[round].groups[group];
        let ttft = &group(round).metrics[&Metric::TTFT].stats;
        let (middle, tail) = (ttft[&Statistic::P50].get(), ttft[&Statistic::P95].get());
        let line = format!(
            "  {}: ttft p50 {middle:.1} ms, p95 {tail:.1} ms in the worst of 2 rounds, {:.1} times as long;",
            group(round).id,
            tail / middle
        );
        assert!(text.contains(&line), "{line}\n{text}");
    }
    assert!(middle > 0.0 && tail > measured(0, Statistic::P95));
}

#[test]
fn rounds_are_not_counted_as_levels() {
    let text = explain(&again(LEVELS, |_| ()), None).unwrap();
    assert!(
        text.contains("about (60 prompts + 1 warm-up) \u{d7} 3 levels \u{d7} 2 rounds = 366 requests"),
        "{text}"
    );
    let mut report = again(LEVELS, |_| ());
    report.jobs[0].rounds[1].groups.pop();
    let text = explain(&report, None).unwrap();
    assert!(text.contains("about 300 measured + 6 warm-up = 306 requests"), "{text}");
}

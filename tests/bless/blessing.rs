//! What is blessed, what is refused, and what is kept.

use pacegate::baseline::BlessRefused;
use pacegate::model::baseline::{BlessAction, MOST_JOBS};
use pacegate::model::report::FailureKind;
use pacegate::model::{Fact, Metric, Reason, Report, Statistic, Timestamp};
use time::macros::datetime;

use crate::build::{ADD, Ask, REASON, bless, finite, first, group, job, latency, report, report_of};

#[test]
fn a_first_report_becomes_the_baseline_with_its_provenance() {
    let blessed = bless(None, &report("job-1", 1.0, 1), &Ask::default()).unwrap();
    assert_eq!((blessed.action, blessed.unchanged, blessed.dropped), (BlessAction::First, false, 0));
    let baseline = blessed.baseline;
    assert_eq!(baseline.profile, "chat");
    let entry = &baseline.ledger.entries[0];
    assert_eq!(entry.at.to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(entry.code.commit.as_deref(), Some("c0ffee"));
    assert_eq!(entry.code.dirty, ["src/main.rs"]);
    assert_eq!((entry.action, entry.reason.as_deref()), (BlessAction::First, None));
    assert!(entry.changes.is_empty());
    // 400 ms x (0.8 + 190 x 0.002), and 0.010 to 0.012 ms of the rounds' seeds: their geometric mean.
    let p95 = baseline.ledger.pinned["baseline/chat/c8:ttft.p95"].get();
    assert!((p95 - 472.011).abs() < 1e-6, "{p95}");
    assert_eq!(baseline.ledger.pinned["baseline/chat/c8:success_rate"], finite(1.0));
    assert!(blessed.rows.iter().all(|row| row.old.is_none() && row.word() == "new"));
}

#[test]
fn a_ci_job_blesses_only_when_told_to() {
    let ci = Ask { in_ci: true, ..REASON };
    let refused = bless(None, &report("job-1", 1.0, 1), &ci).unwrap_err();
    assert_eq!(refused, BlessRefused::InCi);
    assert!(refused.to_string().contains("pacegate check FILE --bless --reason TEXT"));
    assert!(bless(None, &report("job-1", 1.0, 1), &Ask { allow_ci: true, ..ci }).is_ok());
}

#[test]
fn an_invalid_run_is_never_blessed_whatever_the_reason() {
    let mut failed = report("job-1", 1.0, 1);
    for group in failed.jobs.iter_mut().flat_map(|job| &mut job.rounds).flat_map(|round| &mut round.groups) {
        group.requests.succeeded = Some(0);
        group.requests.failed = [(FailureKind::Http429, 200)].into();
        group.tokens.output = Some(0);
        group.metrics.clear();
    }
    let mut cut = report("job-1", 1.0, 1);
    cut.jobs[0].complete = false;
    let mut lost = report("job-1", 1.0, 1);
    lost.jobs[0].rounds[0].groups[0].requests.succeeded = Some(150);
    lost.jobs[0].rounds[0].groups[0].requests.failed = [(FailureKind::Cut, 10)].into();
    let mut tokenless = report("job-1", 1.0, 1);
    for round in &mut tokenless.jobs[0].rounds {
        round.groups[0].tokens.output = Some(0);
    }
    for (what, bad) in [("all failed", failed), ("cut", cut), ("counts", lost), ("tokens", tokenless)] {
        for existing in [None, Some(first())] {
            let done = bless(existing.as_ref(), &bad, &REASON).map(|_| "blessed");
            assert!(matches!(done, Err(BlessRefused::Invalid(_))), "{what}: {done:?}");
        }
    }
}

/// The usual report with another p95 of ttft in its second round, and no samples that would say otherwise.
fn odd_round(value: Option<f64>) -> Report {
    let mut report = report("job-1", 1.0, 1);
    for round in &mut report.jobs[0].rounds {
        let ttft = round.groups[0].metrics.get_mut(&Metric::TTFT).unwrap();
        ttft.samples = None;
        ttft.stats = [(Statistic::P95, finite(400.0))].into();
    }
    let ttft = report.jobs[0].rounds[1].groups[0].metrics.get_mut(&Metric::TTFT).unwrap();
    ttft.stats = value.map(|value| (Statistic::P95, finite(value))).into_iter().collect();
    report
}

#[test]
fn a_first_bless_takes_no_numbers_that_cannot_be() {
    assert!(bless(None, &odd_round(Some(410.0)), &REASON).is_ok());
    for (value, words) in [
        (Some(0.0), "ttft.p95 of baseline/chat/c8 is 0 in a round in this report"),
        (Some(-400.0), "ttft.p95 of baseline/chat/c8 is -400.0 ms in a round in this report"),
        (None, "round 2 of this report lacks ttft.p95 of baseline/chat/c8"),
    ] {
        for existing in [None, Some(first())] {
            let refused = bless(existing.as_ref(), &odd_round(value), &REASON).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("an invalid run is not blessed: {words}")), "{refused}");
        }
    }
}

#[test]
fn a_damaged_baseline_can_be_replaced_by_a_whole_report() {
    let damaged = pacegate::baseline::fresh(&odd_round(Some(0.0)));
    assert!(bless(Some(&damaged), &odd_round(Some(400.0)), &REASON).is_ok());
}

#[test]
fn a_blind_gate_is_not_blessed() {
    // Four requests a group: no percentile has enough samples, whatever happens later.
    let mut few = report("job-1", 1.0, 1);
    for group in few.jobs.iter_mut().flat_map(|job| &mut job.rounds).flat_map(|round| &mut round.groups) {
        group.metrics.remove(&Metric::OUTPUT_THROUGHPUT);
    }
    let sight = crate::build::judge(Some(&pacegate::baseline::fresh(&few)), &few);
    let blind = Reason::Blind { metric: Metric::TTFT, resolution: None, above: finite(1.0) };
    let request = pacegate::baseline::BlessRequest {
        add: false,
        reason: Some("R".to_owned()),
        allow_ci: false,
        in_ci: false,
        now: pacegate::model::Timestamp::EPOCH,
        code: Default::default(),
        verdict: &crate::build::judge(None, &few),
        sight: Some(&pacegate::model::Verdict { problems: vec![blind.clone()], ..sight }),
        max_drift: None,
    };
    let refused = pacegate::baseline::bless(None, &few, &request).unwrap_err();
    assert_eq!(refused, BlessRefused::Blind(vec![blind]));
}

#[test]
fn what_got_worse_needs_a_reason_that_says_something() {
    let slower = report("job-2", 1.5, 2);
    for reason in [None, Some(""), Some("  \n")] {
        let refused = bless(Some(&first()), &slower, &Ask { reason, ..Ask::default() }).unwrap_err();
        assert!(matches!(&refused, BlessRefused::NeedsReason(why) if !why.is_empty()), "{refused:?}");
        let text = refused.to_string();
        assert!(text.starts_with("say why with --reason TEXT, which the ledger keeps: "), "{text}");
        assert!(text.contains("slower"), "{text}");
    }
    let blessed = bless(Some(&first()), &slower, &REASON).unwrap();
    let entry = &blessed.baseline.ledger.entries[1];
    assert_eq!((entry.action, entry.reason.as_deref()), (BlessAction::Replace, Some("TEAM-1")));
    assert_eq!(blessed.baseline.jobs().count(), 1);
}

#[test]
fn what_is_too_good_needs_a_reason() {
    let refused = bless(Some(&first()), &report("job-2", 0.3, 2), &Ask::default()).unwrap_err();
    let BlessRefused::NeedsReason(why) = &refused else { panic!("{refused:?}") };
    assert!(why.iter().any(|reason| matches!(reason, Reason::Suspicious { .. })), "{why:?}");
    assert!(bless(Some(&first()), &report("job-2", 0.3, 2), &REASON).is_ok());
}

#[test]
fn what_is_no_longer_watched_needs_a_reason() {
    let mut without = report("job-2", 1.0, 2);
    for group in without.jobs.iter_mut().flat_map(|job| &mut job.rounds).flat_map(|round| &mut round.groups) {
        group.metrics.remove(&Metric::OUTPUT_THROUGHPUT);
    }
    let refused = bless(Some(&first()), &without, &Ask::default()).unwrap_err();
    let BlessRefused::NeedsReason(why) = &refused else { panic!("{refused:?}") };
    assert!(why.iter().any(|reason| matches!(reason, Reason::Missing { .. })), "{why:?}");
    let rows = bless(Some(&first()), &without, &REASON).unwrap().rows;
    let gone = rows.iter().find(|row| row.field.metric == Metric::OUTPUT_THROUGHPUT).unwrap();
    assert_eq!((gone.new, gone.word()), (None, "no longer watched"));
}

#[test]
fn the_same_again_needs_no_reason_and_the_table_says_so() {
    let blessed = bless(Some(&first()), &report("job-2", 1.01, 2), &Ask::default()).unwrap();
    let word = |metric: Metric, statistic| {
        blessed
            .rows
            .iter()
            .find(|row| row.field.metric == metric && row.field.statistic == statistic)
            .unwrap()
            .word()
    };
    assert_eq!(word(Metric::TTFT, Statistic::P95), "slower");
    assert_eq!(word(Metric::OUTPUT_THROUGHPUT, Statistic::Value), "slower");
    assert_eq!(word(Metric::SUCCESS_RATE, Statistic::Value), "the same");
    let back = bless(Some(&blessed.baseline), &report("job-3", 1.0, 3), &Ask::default()).unwrap();
    assert_eq!(back.rows.iter().find(|row| row.field.metric == Metric::TTFT).unwrap().word(), "faster");
}

#[test]
fn adding_keeps_the_last_ten_jobs() {
    let mut baseline = first();
    for n in 2..=13 {
        let blessed = bless(Some(&baseline), &report(&format!("job-{n}"), 1.0, n), &ADD).unwrap();
        assert_eq!(blessed.action, BlessAction::Add);
        assert_eq!(blessed.dropped, usize::from(n > 10));
        baseline = blessed.baseline;
    }
    let ids: Vec<String> = baseline.jobs().map(|(_, job)| job.id.clone()).collect();
    assert_eq!(ids.len(), MOST_JOBS);
    assert_eq!((ids[0].as_str(), ids[9].as_str()), ("job-4", "job-13"));
    assert_eq!(baseline.ledger.entries.len(), 13);
    assert_eq!(baseline.summary["Jobs"], "10");
    // A report of several jobs pushes out as many, and loses its own oldest where it has more than ten.
    let many = report_of(
        (20..32).map(|n| job(&format!("job-{n}"), n, |s| vec![group("baseline", 1.0, s)])).collect(),
    );
    let blessed = bless(Some(&baseline), &many, &ADD).unwrap();
    let ids: Vec<String> = blessed.baseline.jobs().map(|(_, job)| job.id.clone()).collect();
    assert_eq!(
        (blessed.dropped, ids.len(), ids[0].as_str(), blessed.baseline.reports.len()),
        (12, 10, "job-22", 1)
    );
}

#[test]
fn the_same_content_twice_is_no_second_job() {
    let again = report("another-name", 1.0, 1);
    let refused = bless(Some(&first()), &again, &Ask { reason: Some("R"), ..ADD }).unwrap_err();
    assert_eq!(refused, BlessRefused::SameContent("another-name".to_owned()));
    let usual = |id| job(id, 1, |seed| vec![group("baseline", 1.0, seed)]);
    let refused = bless(None, &report_of(vec![usual("one"), usual("two")]), &REASON).unwrap_err();
    assert_eq!(refused, BlessRefused::SameContent("two".to_owned()));
}

#[test]
fn what_one_machine_measures_within_an_hour_is_one_job() {
    let run = |id: &str, host: &str, started, seed| {
        let mut report = report(id, 1.0, seed);
        report.client.host = Some(host.to_owned());
        report.jobs[0].started = Some(Timestamp::new(started).unwrap());
        report
    };
    let first = bless(None, &run("abc-2026-01-02-14h", "abc", datetime!(2026-01-02 14:59 UTC), 1), &REASON);
    let first = first.unwrap().baseline;
    let add = |report: &Report| bless(Some(&first), report, &Ask { reason: Some("R"), ..ADD });
    // Two minutes later the clock shows another hour.
    let soon = run("abc-2026-01-02-15h", "abc", datetime!(2026-01-02 15:01 UTC), 2);
    let refused = add(&soon).unwrap_err();
    assert!(
        matches!(&refused, BlessRefused::OneJob { why: "the same machine within an hour", .. }),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("Add a run of another day or machine"), "{refused}");
    let later = run("abc-2026-01-02-15h", "abc", datetime!(2026-01-02 15:59 UTC), 2);
    assert_eq!(add(&later).unwrap().baseline.jobs().count(), 2);
    let elsewhere = run("def-2026-01-02-15h", "def", datetime!(2026-01-02 15:01 UTC), 2);
    assert_eq!(add(&elsewhere).unwrap().baseline.jobs().count(), 2);
    // CI says itself which runs are jobs of their own, also on one machine.
    let ci = run("github-7-1-gate", "abc", datetime!(2026-01-02 15:01 UTC), 2);
    assert_eq!(add(&ci).unwrap().baseline.jobs().count(), 2);
    let again = run("abc-2026-01-02-14h", "def", datetime!(2026-01-03 15:01 UTC), 2);
    assert!(matches!(add(&again), Err(BlessRefused::OneJob { .. })));
}

#[test]
fn replacing_a_baseline_by_itself_changes_nothing() {
    let blessed = bless(Some(&first()), &report("another-name", 1.0, 1), &REASON).unwrap();
    assert!(blessed.unchanged);
    assert_eq!(blessed.baseline, first());
}

#[test]
fn a_job_of_another_model_or_workload_is_not_added_and_begins_anew_where_it_replaces() {
    let mut model = report("job-2", 3.0, 2);
    model.subject.model = Some("model-b".to_owned());
    let mut workload = report("job-2", 3.0, 2);
    for facts in workload.profile.workloads.values_mut() {
        facts.insert(Fact::Traffic, "rag".to_owned());
    }
    for other in [model, workload] {
        let refused = bless(Some(&first()), &other, &Ask { reason: Some("R"), ..ADD }).unwrap_err();
        assert!(matches!(refused, BlessRefused::NotComparable(_)), "{refused:?}");
        let refused = bless(Some(&first()), &other, &Ask::default()).unwrap_err();
        assert!(matches!(refused, BlessRefused::NeedsReason(_)), "{refused:?}");
        let blessed = bless(Some(&first()), &other, &REASON).unwrap();
        let ledger = &blessed.baseline.ledger;
        assert_eq!(ledger.entries[1].restarted[0].as_str(), "baseline/chat/c8");
        assert!(ledger.entries[1].changes.is_empty());
        assert!((ledger.pinned["baseline/chat/c8:ttft.p95"].get() - 1416.0).abs() < 0.1);
        assert!(blessed.drift.iter().all(|drift| drift.worsening() == finite(0.0)), "{:?}", blessed.drift);
    }
}

#[test]
fn a_report_of_another_profile_is_refused() {
    let mut other = report("job-2", 1.0, 2);
    other.profile.name = "nightly".to_owned();
    let refused = bless(Some(&first()), &other, &REASON).unwrap_err();
    let expected = BlessRefused::OtherProfile { blessed: "chat".to_owned(), report: "nightly".to_owned() };
    assert_eq!(refused, expected);
}

#[test]
fn inter_token_samples_foreign_text_and_folders_are_not_kept() {
    let mut full = report("job-1", 1.0, 1);
    full.source.files = vec!["/home/somebody/results/run.json".to_owned()];
    for round in &mut full.jobs[0].rounds {
        round.against = round.groups.clone();
        let group = &mut round.groups[0];
        group.metrics.insert(Metric::ITL, latency(&Metric::ITL, 12.0, 1));
        group.requests.error_samples = [(FailureKind::Http5xx, "secret".to_owned())].into();
    }
    // A duet is judged against itself, so its other side has to go before it is blessed.
    let kept = &pacegate::baseline::fresh(&full).reports[0];
    assert_eq!(kept.source.files, ["run.json"]);
    for round in &kept.jobs[0].rounds {
        assert!(round.against.is_empty());
        let group = &round.groups[0];
        assert!(group.requests.error_samples.is_empty());
        assert_eq!(group.metrics[&Metric::ITL].samples, None);
        assert_eq!(group.metrics[&Metric::ITL].stats.len(), 3);
        assert_eq!(group.metrics[&Metric::TTFT].samples.as_ref().unwrap().len(), 200);
    }
}

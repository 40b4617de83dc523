//! Many small worsenings can't hide a large one.

use pacegate::baseline::{BlessRefused, LedgerStep, beyond, drift, step};
use pacegate::model::baseline::{Baseline, BlessAction};
use pacegate::model::{Metric, Reason, Statistic};

use crate::build::{ADD, Ask, REASON, bless, finite, first, group, job, report, report_of};

/// A chain of blesses, each 4 % slower than the one before.
fn creeping(times: i32) -> Baseline {
    let mut baseline = first();
    for n in 1..=times {
        let report = report(&format!("job-{n}"), 1.04f64.powi(n), n as u64 + 1);
        baseline = bless(Some(&baseline), &report, &Ask::default()).unwrap().baseline;
    }
    baseline
}

#[test]
fn ten_blesses_of_four_percent_show_as_forty_eight() {
    let baseline = creeping(10);
    assert_eq!(baseline.ledger.entries.len(), 11);
    for entry in &baseline.ledger.entries[1..] {
        assert_eq!(entry.action, BlessAction::Replace);
        let change = entry.changes[&Metric::TTFT].get();
        assert!((change - 0.04).abs() < 1e-4, "{change}");
        let change = entry.changes[&Metric::OUTPUT_THROUGHPUT].get();
        assert!((change + 0.038_461_538).abs() < 1e-8, "{change}");
        assert_eq!(entry.changes[&Metric::SUCCESS_RATE], finite(0.0));
    }
    let drifts = drift(&baseline);
    let of = |metric: Metric| drifts.iter().find(|drift| drift.field.metric == metric).unwrap();
    let ttft = of(Metric::TTFT);
    assert_eq!((ttft.change.amount().as_str(), ttft.blesses), ("+48.0 %", 10));
    assert!((ttft.worsening().get() - (1.04f64.powi(10) - 1.0)).abs() < 1e-3);
    let throughput = of(Metric::OUTPUT_THROUGHPUT);
    assert_eq!(throughput.change.amount(), "\u{2212}32.4 %");
    assert!((throughput.worsening().get() - (1.0 - 1.04f64.powi(-10))).abs() < 1e-9);
    // The worst first; what did not move last.
    assert!(drifts.windows(2).all(|pair| pair[0].worsening() >= pair[1].worsening()));
    assert_eq!(drifts.last().unwrap().field.metric, Metric::SUCCESS_RATE);
}

#[test]
fn max_drift_refuses_the_bless_that_goes_too_far_and_passes_what_reaches_it_exactly() {
    let baseline = creeping(4);
    let next = report("job-5", 1.04f64.powi(5), 6);
    let limit = |share| Ask { max_drift: Some(finite(share)), ..Ask::default() };
    let refused = bless(Some(&baseline), &next, &limit(0.2)).unwrap_err();
    let BlessRefused::Drift(reasons) = &refused else { panic!("{refused:?}") };
    assert!(matches!(&reasons[0], Reason::Drift { blesses: 5, .. }), "{reasons:?}");
    assert!(refused.to_string().contains("+21.7 %"), "{refused}");
    assert!(bless(Some(&baseline), &next, &limit(0.22)).is_ok());
    let drifts = drift(&baseline);
    let worst = drifts[0].worsening();
    assert!(beyond(&drifts, worst).is_empty());
    assert_eq!(beyond(&drifts, finite(worst.get() - 1e-6)).len(), 1);
}

#[test]
fn pinned_values_stay_and_new_fields_are_pinned_when_they_come() {
    let old = first();
    let two = |seed| vec![group("baseline", 1.02, seed), group("int8_quant", 0.7, seed)];
    let blessed = bless(Some(&old), &report_of(vec![job("job-2", 2, two)]), &Ask::default()).unwrap();
    let pinned = &blessed.baseline.ledger.pinned;
    for (field, value) in &old.ledger.pinned {
        assert_eq!(pinned.get(field), Some(value), "{field}");
    }
    let speedup = pinned["int8_quant/chat/c8:speedup_vs_baseline.p95"].get();
    assert!((speedup - 1.02 / 0.7).abs() < 1e-4, "{speedup}");
    let row = blessed.rows.iter().find(|row| row.field.metric == Metric::SPEEDUP).unwrap();
    assert_eq!((row.field.statistic, row.word()), (Statistic::P50, "new"));
}

#[test]
fn an_added_job_moves_the_value_by_its_share() {
    let added = bless(Some(&first()), &report("job-2", 1.08, 2), &ADD).unwrap();
    let entry = &added.baseline.ledger.entries[1];
    assert_eq!(entry.action, BlessAction::Add);
    // The geometric mean of two jobs: the square root of 1.08.
    assert!((entry.changes[&Metric::E2E].get() - (1.08f64.sqrt() - 1.0)).abs() < 1e-5);
}

#[test]
fn a_change_of_the_ledger_is_told_from_a_bless() {
    let old = first();
    let plain = bless(Some(&old), &report("job-2", 1.01, 2), &Ask::default()).unwrap().baseline.ledger;
    let reasoned = bless(Some(&old), &report("job-2", 1.01, 2), &REASON).unwrap().baseline.ledger;
    assert_eq!(step(&old.ledger, &old.ledger), LedgerStep::Same);
    assert_eq!(step(&old.ledger, &plain), LedgerStep::Blessed(None));
    assert_eq!(step(&old.ledger, &reasoned), LedgerStep::Blessed(Some("TEAM-1".to_owned())));
    // An older ledger, a shortened one, another reason for an old entry, another pinned value.
    assert_eq!(step(&reasoned, &old.ledger), LedgerStep::Rewritten);
    let mut forged = reasoned.clone();
    forged.entries[0].reason = Some("it was always so".to_owned());
    assert_eq!(step(&old.ledger, &forged), LedgerStep::Rewritten);
    let mut forged = reasoned.clone();
    *forged.pinned.get_mut("baseline/chat/c8:ttft.p95").unwrap() = finite(9999.0);
    assert_eq!(step(&old.ledger, &forged), LedgerStep::Rewritten);
    let mut forged = reasoned;
    forged.pinned.remove("baseline/chat/c8:ttft.p95");
    assert_eq!(step(&old.ledger, &forged), LedgerStep::Rewritten);
    // Another model begins anew, and says so.
    let mut other = report("job-2", 3.0, 2);
    other.subject.model = Some("model-b".to_owned());
    let anew = bless(Some(&old), &other, &REASON).unwrap().baseline.ledger;
    assert_eq!(step(&old.ledger, &anew), LedgerStep::Blessed(Some("TEAM-1".to_owned())));
}

use super::*;
use crate::stats::constants::{Rule, Spread};

const RULE: Rule = Rule::STANDARD;

fn fields() -> Vec<Field> {
    let field = |class| Field {
        class,
        group: 0,
        log_limit: limit_of_increase(0.1).unwrap(),
        floor: 0.0,
        gated: true,
        summary: false,
    };
    vec![field(Class::Ttft), field(Class::Tpot), field(Class::E2e)]
}

fn row(x: f64) -> JobRow {
    JobRow { x: vec![x, x + 1.0, x + 2.0], w: vec![1e-4; 3] }
}

fn single<'a>(baseline: &'a [JobRow], candidate: &'a [JobRow]) -> Evidence<'a> {
    Evidence::Jobs { baseline, candidate, fewest_rounds: 3 }
}

#[test]
fn exchanging_the_sides_exchanges_regressed_and_improved() {
    let (fast, slow) = ([row(3.0)], [row(3.5)]);
    let worse = judge(&RULE, &fields(), &single(&fast, &slow), 1.0).unwrap();
    let better = judge(&RULE, &fields(), &single(&slow, &fast), 1.0).unwrap();
    assert!(worse.failed && worse.run.regressed);
    assert!(!better.failed);
    for (worse, better) in worse.fields.iter().zip(&better.fields) {
        assert_eq!(worse.word, Some(FieldWord::Regressed));
        assert_eq!(better.word, Some(FieldWord::Improved));
        assert!((worse.ratio * better.ratio - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_unit_of_the_measurement_does_not_matter() {
    let shifted = |rows: &[JobRow]| -> Vec<JobRow> {
        let shift =
            |row: &JobRow| JobRow { x: row.x.iter().map(|x| x + 1000f64.ln()).collect(), w: row.w.clone() };
        rows.iter().map(shift).collect()
    };
    let (baseline, candidate) = ([row(3.0), row(3.1), row(2.95)], [row(3.3)]);
    let one = judge(&RULE, &fields(), &single(&baseline, &candidate), 1.0).unwrap();
    let (baseline, candidate) = (shifted(&baseline), shifted(&candidate));
    let other = judge(&RULE, &fields(), &single(&baseline, &candidate), 1.0).unwrap();
    assert_eq!(one.tier, Tier::Replicated);
    assert!((one.run.p - other.run.p).abs() < 1e-9);
    assert!((one.fields[0].ratio - other.fields[0].ratio).abs() < 1e-9);
}

#[test]
fn the_shown_interval_covers_run_noise_and_the_fields_own() {
    let outcome = judge(&RULE, &fields(), &single(&[row(3.0)], &[row(3.1)]), 1.0).unwrap();
    let field = &outcome.fields[0];
    // Normal quantile of 97.5 %, single tier.
    let reach = 1.959_963_984_540_054 * outcome.run.se.hypot(field.test.se);
    assert!((field.interval.0 - (0.1 - reach).exp()).abs() < 1e-12);
    assert!((field.interval.1 - (0.1 + reach).exp()).abs() < 1e-12);
}

#[test]
fn a_metric_is_as_sharp_as_the_best_of_its_class_and_its_fields() {
    let outcome = judge(&RULE, &fields(), &single(&[row(3.0)], &[row(3.0)]), 1.0).unwrap();
    assert_eq!(outcome.reference, Class::Ttft);
    let best = |a: Option<f64>, b: Option<f64>| a.unwrap().min(b.unwrap());
    let e2e = outcome.class(Class::E2e).unwrap().test.unwrap().smallest_found;
    assert_eq!(
        outcome.smallest_found(Class::E2e, &[2]),
        Some(best(e2e, outcome.fields[2].test.smallest_found))
    );
    assert_eq!(
        outcome.smallest_found(Class::Ttft, &[0]),
        Some(best(outcome.run.smallest_found, outcome.fields[0].test.smallest_found))
    );
    assert_eq!(outcome.smallest_found(Class::Itl, &[]), None);
}

#[test]
fn numbers_that_no_measurement_gives_are_refused() {
    let good = [row(3.0)];
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let bad = [row(x)];
        assert!(judge(&RULE, &fields(), &single(&good, &bad), 1.0).is_err(), "candidate {x}");
        assert!(judge(&RULE, &fields(), &single(&bad, &good), 1.0).is_err(), "baseline {x}");
    }
    for w in [f64::NAN, f64::INFINITY, -1e-9] {
        let bad = [JobRow { w: vec![1e-4, w, 1e-4], ..row(3.0) }];
        assert!(judge(&RULE, &fields(), &single(&good, &bad), 1.0).is_err(), "variance {w}");
    }
    for limit in [f64::NAN, -0.1, f64::INFINITY] {
        let mut fields = fields();
        fields[1].log_limit = limit;
        assert!(judge(&RULE, &fields, &single(&good, &good), 1.0).is_err(), "limit {limit}");
    }
}

#[test]
fn evidence_that_does_not_fit_is_refused() {
    let good = [row(3.0)];
    let short = [JobRow { x: vec![3.0], w: vec![1e-4] }];
    assert!(judge(&RULE, &fields(), &single(&good, &[]), 1.0).is_err());
    assert!(judge(&RULE, &fields(), &single(&[], &good), 1.0).is_err());
    assert!(judge(&RULE, &fields(), &single(&good, &short), 1.0).is_err());
    assert!(judge(&RULE, &[], &single(&good, &good), 1.0).is_err());
    let no_rounds = Evidence::Jobs { baseline: &good, candidate: &good, fewest_rounds: 0 };
    assert!(judge(&RULE, &fields(), &no_rounds, 1.0).is_err());
    let two = [row(0.0), row(0.1)];
    let pairs = Evidence::Pairs { pairs: &two, baseline: &[3.0, 4.0, 5.0] };
    assert!(judge(&RULE, &fields(), &pairs, 1.0).is_err(), "a duet of two pairs");
    for scale in [0.0, 1.5, f64::NAN] {
        assert!(judge(&RULE, &fields(), &single(&good, &good), scale).is_err());
    }
}

#[test]
fn a_run_noise_of_zero_is_refused() {
    for run in [0.0, -0.05, f64::NAN] {
        let rule = Rule { jobs: Spread { run, ..RULE.jobs }, ..RULE };
        assert!(judge(&rule, &fields(), &single(&[row(3.0)], &[row(3.0)]), 1.0).is_err(), "{run}");
    }
}

#[test]
fn jobs_that_repeat_exactly_still_carry_the_assumed_noise() {
    let same = [row(3.0), row(3.0), row(3.0)];
    let outcome = judge(&RULE, &fields(), &single(&same, &[row(3.12)]), 1.0).unwrap();
    // Three identical jobs leave the prior its weight: √(10/12) of its standard deviation.
    let prior = (0.05f64.powi(2) + 1.57e-4) * (1.0 + 1.0 / 3.0) * 10.0 / 12.0;
    assert!((outcome.run.se - prior.sqrt()).abs() < 1e-12);
    assert!(!outcome.failed);
}

#[test]
fn a_tie_between_references_goes_to_the_first_class() {
    let outcome = judge(&RULE, &fields(), &single(&[row(3.0)], &[row(3.0)]), 1.0).unwrap();
    assert_eq!(outcome.reference, Class::Ttft);
    assert!(outcome.class(Class::Ttft).unwrap().test.is_none());
}

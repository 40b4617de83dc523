use super::*;
use crate::stats::constants::Rule;
use crate::stats::tail::Tail;

const RULE: Rule = Rule::STANDARD;

fn fields() -> Vec<Field> {
    let field = |class, group| Field {
        class,
        group,
        log_limit: limit_of_increase(0.1).unwrap(),
        floor: 0.0,
        gated: true,
        summary: false,
    };
    let classes = [Class::Ttft, Class::Ttft, Class::Tpot, Class::E2e];
    (0..4).flat_map(|group| classes.map(|class| field(class, group))).collect()
}

fn row(shift: f64, w: f64) -> JobRow {
    let x = (0..16u32).map(|f| 3.0 + shift * f64::from(f % 5) + f64::from(f % 7) / 10.0).collect();
    JobRow { x, w: (1..=16u32).map(|f| w * f64::from(f)).collect() }
}

fn scaled(row: &JobRow, factor: f64) -> JobRow {
    JobRow { x: row.x.clone(), w: row.w.iter().map(|w| w * factor).collect() }
}

#[test]
fn what_is_promised_ahead_is_what_an_unmoved_candidate_gets() {
    for jobs in [1, 2, 3, 5] {
        let baseline: Vec<JobRow> = (0..jobs).map(|j| row(0.01 * f64::from(j), 4e-4)).collect();
        let mean = |of: fn(&JobRow) -> &Vec<f64>, f: usize| {
            baseline.iter().map(|row| of(row)[f]).sum::<f64>() / f64::from(jobs)
        };
        let candidate = [JobRow {
            x: (0..16).map(|f| mean(|row| &row.x, f)).collect(),
            w: (0..16).map(|f| mean(|row| &row.w, f)).collect(),
        }];
        for fewest_rounds in [1, 3] {
            let ahead = resolution_ahead(&RULE, &fields(), &baseline, fewest_rounds).unwrap();
            let evidence = Evidence::Jobs { baseline: &baseline, candidate: &candidate, fewest_rounds };
            let outcome = judge(&RULE, &fields(), &evidence, 1.0).unwrap();
            let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(near(Some(ahead.run), outcome.run.smallest_found), "{jobs} jobs");
            for (ahead, class) in ahead.classes.iter().zip(&outcome.classes) {
                assert!(near(*ahead, class.test.and_then(|test| test.smallest_found)), "{jobs} jobs");
            }
            for (ahead, field) in ahead.fields.iter().zip(&outcome.fields) {
                assert!(near(*ahead, field.test.smallest_found), "{jobs} jobs, {fewest_rounds} rounds");
            }
        }
    }
}

#[test]
fn the_requests_needed_are_the_fewest_that_will_do() {
    let baseline = [row(0.0, 4e-4)];
    let workload = Workload { requests: 100, rounds: 3 };
    let found = needed(&RULE, &fields(), &baseline, workload, Target::Field(15), 0.4).unwrap();
    let requests = found.requests.unwrap();
    let with = |n: usize| {
        let rows = [scaled(&baseline[0], 100.0 / n as f64)];
        resolution_ahead(&RULE, &fields(), &rows, 3).unwrap().fields[15].unwrap()
    };
    assert!(with(100) > 0.4, "{}", with(100));
    assert!(with(requests) <= 0.4 && with(requests - 1) > 0.4, "{requests}");
}

#[test]
fn a_third_round_lifts_the_far_threshold_of_one_job() {
    let baseline = [row(0.0, 1e-4)];
    let workload = Workload { requests: 300, rounds: 1 };
    let found = needed(&RULE, &fields(), &baseline, workload, Target::Field(0), 0.5).unwrap();
    assert_eq!(found, Needed { requests: None, rounds: Some(3), jobs: Some(3) });
}

#[test]
fn more_jobs_narrow_what_requests_cannot() {
    let baseline = [row(0.0, 1e-6)];
    let workload = Workload { requests: 1000, rounds: 3 };
    let z90 = Tail::Normal.exceeded_with(0.1).unwrap();
    // Prior variance of one job, nothing measured between them: factor 1 by assumption.
    let shown_by = |k: f64| {
        let w = 1e-6 * 8.5;
        let se = ((0.05f64.powi(2) + 1.57 * w / 4.0) * (1.0 / k + 1.0)).sqrt();
        let critical = Tail::Student(10.0 + k - 1.0).exceeded_with(0.004).unwrap();
        ((critical * se).max(1.1f64.ln()) + z90 * se).exp_m1()
    };
    let share = shown_by(5.0) + 1e-9;
    assert!(shown_by(4.0) > share);
    let found = needed(&RULE, &fields(), &baseline, workload, Target::Run, share).unwrap();
    assert_eq!(found, Needed { requests: None, rounds: None, jobs: Some(5) });
    let of_reference = needed(&RULE, &fields(), &baseline, workload, Target::Class(Class::Ttft), share);
    assert_eq!(of_reference, Ok(found), "the reference class is seen run-wide");
}

#[test]
fn a_duet_sees_what_its_drift_and_pairs_allow() {
    let w: Vec<f64> = vec![1e-3; 16];
    let found = duet_resolution_ahead(&RULE, &fields(), &w, 5).unwrap();
    let se = ((2.0 * 0.015f64.powi(2) + 1.57 * 2e-3 / 4.0) / 5.0).sqrt();
    let critical = Tail::Student(14.0).exceeded_with(0.004).unwrap();
    let z90 = Tail::Normal.exceeded_with(0.1).unwrap();
    let expected = ((critical * se).max(1.1f64.ln()) + z90 * se).exp_m1();
    assert!((found.run - expected).abs() < 1e-12, "{} {expected}", found.run);
    assert!(duet_resolution_ahead(&RULE, &fields(), &w, 2).is_err());
    assert!(duet_resolution_ahead(&RULE, &fields(), &[f64::NAN; 16], 5).is_err());
}

#[test]
fn a_summary_of_one_job_needs_more_jobs_not_more_requests() {
    let mut fields = fields();
    fields[3].summary = true;
    let baseline = [row(0.0, 1e-4)];
    let workload = Workload { requests: 300, rounds: 3 };
    let found = needed(&RULE, &fields, &baseline, workload, Target::Field(3), 0.5).unwrap();
    assert_eq!(found, Needed { requests: None, rounds: None, jobs: Some(3) });
}

#[test]
fn nothing_can_be_planned_from_zero_requests_or_for_no_change() {
    let baseline = [row(0.0, 1e-4)];
    let plan = |workload, share| needed(&RULE, &fields(), &baseline, workload, Target::Run, share).is_err();
    assert!(plan(Workload { requests: 0, rounds: 3 }, 0.2));
    assert!(plan(Workload { requests: 100, rounds: 0 }, 0.2));
    assert!(plan(Workload { requests: 100, rounds: 3 }, 0.0));
    assert!(plan(Workload { requests: 100, rounds: 3 }, f64::NAN));
    assert!(needed(&RULE, &fields(), &[], Workload { requests: 1, rounds: 1 }, Target::Run, 0.2).is_err());
}

#[test]
fn between_the_planned_looks_nothing_is_decided() {
    let pairs: Vec<JobRow> = (0..4).map(|_| scaled(&row(0.0, 1e-4), 1.0)).collect();
    let level = vec![3.0; 16];
    assert_eq!(look(&RULE, &fields(), &pairs[..2], &level), Ok(None));
    assert!(look(&RULE, &fields(), &pairs[..3], &level).unwrap().is_some());
    assert_eq!(look(&RULE, &fields(), &pairs, &level), Ok(None));
}

#[test]
fn the_pairs_needed_are_the_fewest_that_will_do() {
    let round: Vec<f64> = (1..=16).map(|f| 4e-4 * f64::from(f)).collect();
    for (target, share) in [(Target::Run, 0.12), (Target::Class(Class::E2e), 0.15), (Target::Field(3), 0.2)] {
        let pairs = pairs_needed(&RULE, &fields(), &round, target, share).unwrap().unwrap();
        let found = |pairs: usize| {
            let ahead = duet_resolution_ahead(&RULE, &fields(), &round, pairs).unwrap();
            match target {
                Target::Run => ahead.run,
                Target::Class(_) => ahead.classes[2].unwrap(),
                Target::Field(f) => ahead.fields[f].unwrap(),
            }
        };
        assert!(found(pairs) <= share, "{target:?}: {pairs} pairs");
        assert!(pairs == RULE.duet_pairs || found(pairs - 1) > share, "{target:?}: {pairs} pairs");
    }
    // A change at the limit itself is over it half of the time, however much is measured.
    assert_eq!(pairs_needed(&RULE, &fields(), &round, Target::Run, 0.1), Ok(None));
}

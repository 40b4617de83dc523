//! The clauses of the rule, one by one: each test fails when its clause is left out.
use super::*;
use crate::stats::constants::Rule;

const RULE: Rule = Rule::STANDARD;
const GROUPS: usize = 4;
const PER_GROUP: [Class; 4] = [Class::Ttft, Class::Ttft, Class::Tpot, Class::E2e];
const FIELDS: usize = GROUPS * PER_GROUP.len();

fn field(class: Class, group: usize) -> Field {
    let log_limit = limit_of_increase(0.1).unwrap();
    Field { class, group, log_limit, floor: 0.0, gated: true, summary: false }
}

fn fields() -> Vec<Field> {
    (0..GROUPS).flat_map(|group| PER_GROUP.map(|class| field(class, group))).collect()
}

fn row(x: impl Fn(usize) -> f64, w: f64) -> JobRow {
    JobRow { x: (0..FIELDS).map(x).collect(), w: vec![w; FIELDS] }
}

/// One job a side, the candidate moved by `moved`.
fn single(fields: &[Field], moved: impl Fn(usize) -> f64, fewest_rounds: usize, alpha_scale: f64) -> Outcome {
    let (baseline, candidate) = ([row(|_| 3.0, 1e-6)], [row(|f| 3.0 + moved(f), 1e-6)]);
    let evidence = Evidence::Jobs { baseline: &baseline, candidate: &candidate, fewest_rounds };
    judge(&RULE, fields, &evidence, alpha_scale).unwrap()
}

fn only(which: usize, by: f64) -> impl Fn(usize) -> f64 {
    move |f| if f == which { by } else { 0.0 }
}

fn tpot(by: f64) -> impl Fn(usize) -> f64 {
    move |f| if f % PER_GROUP.len() == 2 { by } else { 0.0 }
}

#[test]
fn itl_may_be_the_reference_only_where_there_is_no_tpot() {
    let reference = |second: Class| {
        let fields = [field(Class::Ttft, 0), field(second, 0), field(Class::Itl, 0)];
        let baseline = [JobRow { x: vec![3.0; 3], w: vec![1e-6; 3] }];
        let candidate = [JobRow { x: vec![3.3, 3.2, 3.0], w: vec![1e-6; 3] }];
        let evidence = Evidence::Jobs { baseline: &baseline, candidate: &candidate, fewest_rounds: 3 };
        judge(&RULE, &fields, &evidence, 1.0).unwrap().reference
    };
    assert_eq!(reference(Class::Tpot), Class::Tpot);
    assert_eq!(reference(Class::E2e), Class::Itl);
}

#[test]
fn a_large_change_below_every_floor_is_no_regression() {
    let mut with_floors = fields();
    with_floors.iter_mut().for_each(|field| field.floor = 1e6);
    let outcome = single(&with_floors, |_| 0.5, 3, 1.0);
    assert!(!outcome.failed && !outcome.run_over_limits && outcome.over_count == 0);
    assert!(single(&fields(), |_| 0.5, 3, 1.0).failed);
}

#[test]
fn a_floor_excuses_a_regression_but_hides_no_improvement() {
    let mut with_floors = fields();
    with_floors.iter_mut().for_each(|field| field.floor = 1e6);
    let outcome = single(&with_floors, |_| -0.5, 3, 1.0);
    assert_eq!(outcome.fields[0].word, Some(FieldWord::Improved));
}

#[test]
fn with_few_rounds_one_field_of_one_job_must_exceed_its_limit_by_far() {
    let word = |by: f64, rounds: usize| single(&fields(), only(0, by), rounds, 1.0).fields[0].word;
    assert_eq!(word(1.5f64.ln(), 3), Some(FieldWord::Regressed));
    assert_eq!(word(1.5f64.ln(), 2), Some(FieldWord::Unresolved));
    assert_eq!(word(1.74f64.ln(), 1), Some(FieldWord::Unresolved));
    assert_eq!(word(1.76f64.ln(), 1), Some(FieldWord::Regressed));
}

#[test]
fn a_summary_of_one_job_never_convicts_its_field() {
    let mut fields = fields();
    fields[0].summary = true;
    let outcome = single(&fields, only(0, 3f64.ln()), 3, 1.0);
    assert_eq!(outcome.fields[0].word, Some(FieldWord::Unresolved));
    assert_eq!(outcome.fields[0].test.smallest_found, None);
    assert!(outcome.fields[0].warned && !outcome.failed);
}

#[test]
fn an_unresolved_field_is_warned_of_only_when_chance_rarely_does_that() {
    let at = |by: f64| {
        let field = single(&fields(), only(0, by), 3, 1.0).fields[0];
        (field.word, field.warned)
    };
    // The residual's standard error is √2 · 0.035: 3.0 and 2.0 of them.
    assert_eq!(at(0.15), (Some(FieldWord::Unresolved), true));
    assert_eq!(at(0.10), (Some(FieldWord::Unresolved), false));
}

#[test]
fn a_look_spends_only_its_share_of_every_budget() {
    // Each is significant at the whole budget, and not at a tenth of it.
    let run = |scale: f64| single(&fields(), |_| 0.212, 3, scale);
    assert!(run(1.0).run.regressed && !run(0.1).run.regressed);
    let class = |scale: f64| single(&fields(), tpot(0.155), 3, scale);
    assert!(class(1.0).class(Class::Tpot).unwrap().test.unwrap().regressed);
    assert!(!class(0.1).failed);
    let field = |scale: f64| single(&fields(), only(0, 0.19), 3, scale);
    assert!(field(1.0).fields[0].test.regressed && !field(0.1).failed);
}

/// The decision after three equal pairs.
fn after_three(moved: impl Fn(usize) -> f64, w: f64) -> Decision {
    let pair = row(moved, w);
    let pairs = [pair.clone(), pair.clone(), pair];
    look(&RULE, &fields(), &pairs, &[3.0; FIELDS]).unwrap().unwrap().decision
}

#[test]
fn a_duet_is_clear_only_when_nothing_hints_at_a_change() {
    assert_eq!(after_three(|_| 0.0, 1e-6), Decision::Clear);
    assert_eq!(after_three(|_| 0.03, 1e-6), Decision::Next(5), "run-wide p");
    assert_eq!(after_three(|_| 0.05, 0.05), Decision::Next(5), "run-wide size, though it may be noise");
    assert_eq!(after_three(tpot(0.03), 1e-6), Decision::Next(5), "one class");
    assert_eq!(after_three(only(0, 0.03), 1e-6), Decision::Next(5), "one field");
    assert_eq!(after_three(|_| 0.3, 1e-6), Decision::Fail);
}

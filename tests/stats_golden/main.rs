//! Every vector of `tests/data/stats-golden.json` against `pacegate::stats`.
//!
//! The vectors were computed by independent references (SciPy, NumPy, statsmodels, and a second implementation of the
//! gate); each states its tolerance. A kind of vector that nobody compares fails the run.
#[cfg(test)]
mod compare;
#[cfg(test)]
mod end_to_end;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod primitives;
#[cfg(test)]
mod rates;
#[cfg(test)]
mod trend;

#[cfg(test)]
mod vectors {
    use super::compare::{self, Case};
    use super::{end_to_end, gate, primitives, rates, trend};
    use std::collections::BTreeMap;

    /// Kinds that other parts answer for: the sample codec lives with the model; Harrell-Davis is not offered.
    const ELSEWHERE: [&str; 2] = ["codec", "hd_mj"];

    type Check = fn(&Case);

    const CHECKS: [(&str, usize, Check); 21] = [
        ("percentile", 10, primitives::percentile),
        ("order_ci", 6, primitives::order_interval),
        ("min_n", 1, primitives::smallest_samples),
        ("within_se", 6, primitives::within_round),
        ("ratio_ci", 2, primitives::ratio_interval),
        ("job", 4, primitives::job),
        ("summary_w", 1, primitives::summary_variances),
        ("student_t", 2, primitives::student),
        ("multiplicity", 4, primitives::multiplicity),
        ("reject", 3, primitives::reject),
        ("boundary", 1, gate::boundary),
        ("gate", 21, gate::gate),
        ("end_to_end", 6, end_to_end::end_to_end),
        ("adaptive", 3, gate::adaptive),
        ("wilson", 4, rates::wilson),
        ("proportion_diff", 5, rates::proportion_difference),
        ("phi", 3, rates::overdispersion),
        ("success_rate", 7, rates::success),
        ("speedup", 5, rates::speedup),
        ("history", 4, trend::history),
        ("change_point", 5, trend::change_points),
    ];

    fn cases() -> Vec<Case> {
        compare::load(include_str!("../data/stats-golden.json"))
    }

    #[test]
    fn every_vector_of_every_kind_agrees() {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for case in cases() {
            *seen.entry(case.kind.clone()).or_default() += 1;
            if ELSEWHERE.contains(&case.kind.as_str()) {
                continue;
            }
            match CHECKS.iter().find(|(kind, ..)| *kind == case.kind) {
                Some((_, _, check)) => check(&case),
                None => panic!("{}: vectors of kind {} are compared by nobody", case.id, case.kind),
            }
        }
        for (kind, expected, _) in CHECKS {
            assert_eq!(seen.get(kind), Some(&expected), "number of vectors of kind {kind}");
        }
    }

    #[test]
    fn the_constants_are_those_of_the_vectors() {
        compare::constants(include_str!("../data/stats-golden.json"));
    }
}

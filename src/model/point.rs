//! One value of a field that several rounds and jobs measured.

use super::quantity::Finite;

/// The only value as it stands, else the geometric mean of jobs of rounds; the plain mean where a value is not above 0.
///
/// The judge and the table of a bless take it alike.
#[must_use]
pub fn point(jobs: &[Vec<Finite>]) -> Option<Finite> {
    if let [rounds] = jobs
        && let [value] = rounds.as_slice()
    {
        return Some(*value);
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    if jobs.iter().flatten().any(|value| *value <= Finite::ZERO) {
        return Finite::new(mean(jobs.iter().flatten().map(|value| value.get()).collect())).ok();
    }
    let job = |rounds: &Vec<Finite>| mean(rounds.iter().map(|value| value.get().ln()).collect());
    Finite::new(mean(jobs.iter().map(job).collect()).exp()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(jobs: &[&[f64]]) -> Option<f64> {
        let finite = |values: &&[f64]| values.iter().map(|v| Finite::new(*v).unwrap()).collect();
        point(&jobs.iter().map(finite).collect::<Vec<Vec<Finite>>>()).map(Finite::get)
    }

    #[test]
    fn one_value_stands_as_it_is_and_several_are_a_geometric_mean() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&[0.1]]), Some(0.1));
        let close =
            |found: Option<f64>, wanted: f64| assert!((found.unwrap() - wanted).abs() < 1e-9, "{found:?}");
        close(of(&[&[4.0, 1.0]]), 2.0);
        close(of(&[&[4.0, 1.0], &[8.0]]), 4.0);
        close(of(&[&[4.0, 0.0], &[8.0]]), 4.0);
    }
}

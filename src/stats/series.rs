//! Fields of many jobs as a few series: everything, each class, and each class against the steadiest one.
use super::check::{StatsError, finite, mean, median, same_length};
use super::constants::{OddRule, TrendRule};
use super::evidence::Class;
use super::trend::{best_split, levels};

/// Scales a median absolute deviation to a standard deviation for normal data.
const MAD_TO_SD: f64 = 1.4826;

/// One class, job by job.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSeries {
    /// Which.
    pub class: Class,
    /// Median change of its fields, + = worse.
    pub own: Vec<f64>,
    /// The same against the reference class; `None` for the reference itself.
    pub against: Option<Vec<f64>>,
}

/// What the jobs of one series show together.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSeries {
    /// Median change of all fields, job by job, + = worse.
    pub run: Vec<f64>,
    /// Every class that occurs, in fixed order.
    pub classes: Vec<ClassSeries>,
}

/// Median of finite numbers; `None` where there are none.
#[must_use]
pub fn middle(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median(&mut values.to_vec()))
}

/// Takes sign-aligned logarithms (+ = worse), a row a job and a column a field of the given class. Each field is held
/// against its own mean, so fields of any size count alike.
///
/// # Errors
/// When there is no job or no field, a row has another length, or a number is NaN or infinite.
pub fn run_series(fields: &[Class], jobs: &[Vec<f64>]) -> Result<RunSeries, StatsError> {
    if jobs.is_empty() || fields.is_empty() {
        return Err(StatsError::Empty("jobs with fields"));
    }
    for job in jobs {
        same_length("fields of a job", fields.len(), job.len())?;
        finite("fields of a job", job)?;
    }
    let centre: Vec<f64> =
        (0..fields.len()).map(|f| mean(&jobs.iter().map(|job| job[f]).collect::<Vec<_>>())).collect();
    let middle = |of: &dyn Fn(Class) -> bool| -> Vec<f64> {
        let per_job = jobs.iter().map(|job| {
            let members = (0..fields.len()).filter(|f| of(fields[*f]));
            median(&mut members.map(|f| job[f] - centre[f]).collect::<Vec<_>>())
        });
        per_job.collect()
    };
    let mut classes: Vec<Class> = fields.to_vec();
    classes.sort();
    classes.dedup();
    let own: Vec<(Class, Vec<f64>)> =
        classes.iter().map(|class| (*class, middle(&|other| other == *class))).collect();
    let reference = steadiest(&own);
    let against = |at: usize| -> Option<Vec<f64>> {
        let steady = &own[reference].1;
        (at != reference)
            .then(|| own[at].1.iter().zip(steady).map(|(value, steady)| value - steady).collect())
    };
    Ok(RunSeries {
        run: middle(&|_| true),
        classes: (0..own.len())
            .map(|at| ClassSeries { class: own[at].0, own: own[at].1.clone(), against: against(at) })
            .collect(),
    })
}

/// Of TTFT and decode (ITL where there is no TPOT) the class that changes its level least: what moves against it has
/// moved by itself. Of all classes where there is neither.
fn steadiest(classes: &[(Class, Vec<f64>)]) -> usize {
    let has = |class| classes.iter().any(|(other, _)| *other == class);
    let decode = if has(Class::Tpot) { Class::Tpot } else { Class::Itl };
    let pool = has(Class::Ttft) || has(decode);
    let mut best = (0, f64::INFINITY);
    for (at, (class, own)) in classes.iter().enumerate() {
        let moved = largest_change(own);
        if (!pool || [Class::Ttft, decode].contains(class)) && moved < best.1 {
            best = (at, moved);
        }
    }
    best.0
}

fn largest_change(series: &[f64]) -> f64 {
    let split = best_split(series, TrendRule::STANDARD.segment);
    split.map_or(0.0, |split| (mean(&series[split.index..]) - mean(&series[..split.index])).abs())
}

/// How far each value is from the median of its level, where it stands apart from all others; `None` where it does not.
///
/// # Errors
/// When the series is empty or holds NaN or infinity.
pub fn odd_jobs(rule: &OddRule, series: &[f64], starts: &[usize]) -> Result<Vec<Option<f64>>, StatsError> {
    finite("jobs", series)?;
    let mut apart = Vec::with_capacity(series.len());
    for level in levels(series, starts) {
        let middle = median(&mut level.to_vec());
        apart.extend(level.iter().map(|value| value - middle));
    }
    let spread = median(&mut apart.iter().map(|value| value.abs()).collect::<Vec<_>>());
    let least = f64::max(rule.deviations * MAD_TO_SD * spread, rule.distance);
    Ok(apart.into_iter().map(|value| (value.abs() > least).then_some(value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs with some scatter; `shift` moves each class from the eighth job on.
    fn jobs(shift: impl Fn(Class) -> f64) -> (Vec<Class>, Vec<Vec<f64>>) {
        let fields = vec![Class::Ttft, Class::Ttft, Class::Tpot, Class::Tpot, Class::E2e, Class::Throughput];
        let noise = |job: usize, field: usize| ((job * 7 + field * 3) % 5) as f64 * 0.001;
        let value = |job: usize, (field, class): (usize, &Class)| {
            field as f64 + noise(job, field) + if job < 8 { 0.0 } else { shift(*class) }
        };
        let rows = (0..14).map(|job| fields.iter().enumerate().map(|field| value(job, field)).collect());
        (fields.clone(), rows.collect())
    }

    fn rise(series: &[f64]) -> f64 {
        mean(&series[8..]) - mean(&series[..8])
    }

    #[test]
    fn what_moves_alone_is_seen_against_what_does_not() {
        let (fields, rows) = jobs(|class| if class == Class::Ttft { 0.2 } else { 0.0 });
        let series = run_series(&fields, &rows).unwrap();
        let of = |class| series.classes.iter().find(|series| series.class == class).unwrap();
        assert!(of(Class::Tpot).against.is_none());
        assert!((rise(of(Class::Ttft).against.as_ref().unwrap()) - 0.2).abs() < 0.005);
        assert!(rise(of(Class::E2e).against.as_ref().unwrap()).abs() < 0.005);
        let (fields, rows) = jobs(|class| if class == Class::Tpot { -0.2 } else { 0.0 });
        let series = run_series(&fields, &rows).unwrap();
        assert!(series.classes[0].against.is_none(), "a faster decode leaves TTFT as the reference");
    }

    #[test]
    fn everything_moves_the_run_and_no_class_against_another() {
        let (fields, rows) = jobs(|_| 0.1);
        let series = run_series(&fields, &rows).unwrap();
        assert!((rise(&series.run) - 0.1).abs() < 0.005);
        let against = series.classes.iter().filter_map(|class| class.against.as_ref());
        assert!(against.map(|series| rise(series).abs()).all(|moved| moved < 0.005));
    }

    #[test]
    fn one_job_apart_is_odd_and_a_level_is_not() {
        let mut values = vec![0.0, 0.01, -0.01, 0.0, 0.25, 0.01, 0.0, 0.5, 0.51, 0.49, 0.5];
        let odd = odd_jobs(&OddRule::STANDARD, &values, &[7]).unwrap();
        let places: Vec<usize> = (0..odd.len()).filter(|at| odd[*at].is_some()).collect();
        assert_eq!(places, [4]);
        values[4] = 0.04;
        assert!(odd_jobs(&OddRule::STANDARD, &values, &[7]).unwrap().iter().all(Option::is_none));
    }

    #[test]
    fn rows_of_another_length_and_nan_are_refused() {
        assert!(run_series(&[Class::Ttft], &[vec![1.0, 2.0]]).is_err());
        assert!(run_series(&[Class::Ttft], &[vec![f64::NAN]]).is_err());
        assert!(run_series(&[], &[vec![]]).is_err());
        assert!(odd_jobs(&OddRule::STANDARD, &[], &[]).is_err());
    }
}

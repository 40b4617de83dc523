use super::super::check::StatsError;
use super::super::constants::{EPSILON, Rule};
use super::field::{Class, Field, over_limit};
use super::input::{check_fields, check_logs};
use super::judge::over_limits;
use super::layout::Layout;
use super::outcome::FieldWord;

/// One field where nothing is noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactField {
    /// Regressed, improved or unchanged; `None` for a companion.
    pub word: Option<FieldWord>,
    /// Change against the baseline on the logarithmic scale, + = worse.
    pub change: f64,
    /// Candidate ÷ baseline in the metric's own sign.
    pub ratio: f64,
}

/// A gate whose measurements repeat exactly: limits alone decide.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactOutcome {
    /// Whether the middle of all gated fields is over the limits.
    pub run_over_limits: bool,
    /// The classes of whose gated fields that is so.
    pub classes_over_limits: Vec<Class>,
    /// In the order of the input.
    pub fields: Vec<ExactField>,
    /// Whether a gated field regressed.
    pub failed: bool,
}

/// Judges measurements that repeat exactly (the embedded engine, same workload and seed). Both sides hold sign-aligned
/// natural logarithms, + = worse.
///
/// # Errors
/// When no field is gated, a side doesn't have one value per field, or a number is not the logarithm of a positive one.
pub fn judge_exact(
    fields: &[Field],
    baseline: &[f64],
    candidate: &[f64],
) -> Result<ExactOutcome, StatsError> {
    check_fields(fields)?;
    check_logs("baseline", fields.len(), baseline)?;
    check_logs("candidate", fields.len(), candidate)?;
    let layout = Layout::new(&Rule::STANDARD, fields);
    let changes: Vec<f64> = candidate.iter().zip(baseline).map(|(c, b)| c - b).collect();
    let beyond: Vec<f64> =
        changes.iter().zip(fields).map(|(change, field)| change - field.log_limit).collect();
    let over: Vec<bool> = (0..fields.len())
        .map(|f| fields[f].gated && over_limit(&fields[f], baseline[f], changes[f]))
        .collect();
    let of_class = |m: &usize| over_limits(&beyond, &over, &layout.gated_members[*m]);
    let judged = |f: usize| {
        let word = if over[f] {
            FieldWord::Regressed
        } else if -changes[f] - fields[f].log_limit > EPSILON {
            FieldWord::Improved
        } else {
            FieldWord::Unchanged
        };
        ExactField {
            word: fields[f].gated.then_some(word),
            change: changes[f],
            ratio: (fields[f].class.sign() * changes[f]).exp(),
        }
    };
    Ok(ExactOutcome {
        run_over_limits: over_limits(&beyond, &over, &layout.gated),
        classes_over_limits: (0..layout.classes.len()).filter(of_class).map(|m| layout.classes[m]).collect(),
        fields: (0..fields.len()).map(judged).collect(),
        failed: over.contains(&true),
    })
}

#[cfg(test)]
mod tests {
    use super::super::field::{limit_of_decrease, limit_of_increase};
    use super::*;

    fn field(class: Class, gated: bool) -> Field {
        let log_limit = match class {
            Class::Throughput => limit_of_decrease(0.1).unwrap(),
            _ => limit_of_increase(0.1).unwrap(),
        };
        Field { class, group: 0, log_limit, floor: 0.0, gated, summary: false }
    }

    #[test]
    fn limits_alone_decide_where_nothing_is_noise() {
        let fields = [
            field(Class::Ttft, true),
            field(Class::Tpot, true),
            field(Class::Throughput, true),
            field(Class::E2e, false),
        ];
        let baseline = [100f64.ln(), 20f64.ln(), -(50f64.ln()), 900f64.ln()];
        let candidate = [110f64.ln(), 20.1f64.ln(), -(44.9f64.ln()), 1800f64.ln()];
        let outcome = judge_exact(&fields, &baseline, &candidate).unwrap();
        let words: Vec<_> = outcome.fields.iter().map(|field| field.word).collect();
        assert_eq!(
            words,
            [Some(FieldWord::Unchanged), Some(FieldWord::Unchanged), Some(FieldWord::Regressed), None]
        );
        assert!(outcome.failed);
        assert!(!outcome.run_over_limits);
        assert_eq!(outcome.classes_over_limits, [Class::Throughput]);
        assert!((outcome.fields[2].ratio - 0.898).abs() < 1e-12);

        let back = judge_exact(&fields, &candidate, &baseline).unwrap();
        assert_eq!(back.fields[2].word, Some(FieldWord::Improved));
        assert!(!back.failed);
    }

    #[test]
    fn a_gate_without_gated_fields_is_refused() {
        let fields = [field(Class::Ttft, false)];
        assert_eq!(judge_exact(&fields, &[1.0], &[1.0]), Err(StatsError::Empty("gated fields")));
    }
}

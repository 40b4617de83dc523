//! What is said of one field, the same in every output.

use std::collections::BTreeSet;

use crate::model::reason::Instead;
use crate::model::sentence::Sentence;
use crate::model::{Finding, Judgement, Reason};

use super::rows::row;
use super::text;

/// The sentence of a field: the gate's first reason, or its numbers where the gate gives none.
#[must_use]
pub fn sentence(finding: &Finding) -> Sentence {
    finding.reasons.first().map_or_else(|| numbers(finding), Reason::sentence)
}

/// `ttft.p99 of chat/c8: blessed 590.2 ms, now 611.0 ms (+3.5 %): not gated`.
fn numbers(finding: &Finding) -> Sentence {
    let row = row(finding);
    let mut about: Vec<String> = Vec::new();
    about.extend((!row.change.is_empty()).then_some(row.change));
    about.extend((!row.limit.is_empty()).then(|| format!("limit {}", row.limit)));
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
    Sentence::default().own(format!(
        "{} of {}: blessed {}, now {}{about}: {}",
        finding.field.local(),
        finding.field.group,
        row.blessed,
        row.now,
        row.judgement
    ))
}

/// What else there is to say of a field, without what the whole verdict says once.
pub fn rest(finding: &Finding) -> impl Iterator<Item = Sentence> {
    finding.reasons.iter().skip(1).filter(|reason| !is_said_once(reason)).map(Reason::sentence)
}

/// Said once for the whole verdict, under "How sure this is".
#[must_use]
pub fn is_said_once(reason: &Reason) -> bool {
    matches!(reason, Reason::Unconfirmed { .. } | Reason::Confirmed { .. })
}

/// What is remarkable about a field that does not fail.
#[must_use]
pub fn remarks(finding: &Finding) -> Vec<Sentence> {
    use Judgement::{Improved, TooFew, Unchanged, Unresolved, Waived};
    let remarkable = |reason: &&Reason| match finding.judgement {
        Unresolved | TooFew => !is_said_once(reason),
        Waived => matches!(reason, Reason::Waived { .. }),
        Improved | Unchanged => !matches!(reason, Reason::Better { .. }),
        _ => false,
    };
    finding.reasons.iter().filter(remarkable).map(Reason::sentence).collect()
}

/// Takes out the fields of which nothing is remarkable but too few samples, as one sentence; a single one stays a field.
#[must_use]
pub fn few_samples<'a>(findings: &[&'a Finding]) -> (Vec<&'a Finding>, Option<Sentence>) {
    let few = |f: &Finding| match f.reasons.as_slice() {
        [Reason::TooFewSamples { n, needed, instead, .. }] if *instead != Instead::OwnLimit => {
            Some((*n, *needed, *instead))
        }
        _ => None,
    };
    let (folded, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|f| few(f).is_some());
    if folded.len() < 2 {
        return (findings.to_vec(), None);
    }
    let names: BTreeSet<String> = folded.iter().map(|f| f.field.local()).collect();
    let all: Vec<(u64, u64, Instead)> = folded.iter().filter_map(|f| few(f)).collect();
    let stand_ins = all.iter().filter(|(.., instead)| matches!(instead, Instead::Percentile(_))).count();
    let place = match stand_ins {
        0 => String::new(),
        n if n == all.len() => "; p50 is judged in their place".to_owned(),
        n => format!("; p50 is judged in place of {n} of them"),
    };
    let text = format!(
        "{} fields have too few samples to be judged ({}; {} in the smallest round, {} needed){place}",
        all.len(),
        names.into_iter().collect::<Vec<_>>().join(", "),
        span(all.iter().map(|(n, ..)| *n)),
        span(all.iter().map(|(_, needed, _)| *needed))
    );
    (others, Some(Sentence::default().own(text)))
}

fn span(values: impl Iterator<Item = u64> + Clone) -> String {
    let (low, high) = (values.clone().min().unwrap_or_default(), values.max().unwrap_or_default());
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}

/// A sentence for places that hold plain text and often end in a log: what is foreign in quotes, hidden characters
/// visible, no runner command. The place's own encoding comes on top.
#[must_use]
pub fn plain(sentence: &Sentence) -> String {
    sentence.render(|foreign| format!("\"{}\"", text::terminal(foreign)))
}

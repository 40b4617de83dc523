//! What is said of one field, the same in every output.

use crate::model::sentence::Sentence;
use crate::model::{Finding, Judgement, Reason, Verdict};

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

/// What has too few samples to be judged, in one sentence, for it asks for one thing: more requests.
#[must_use]
pub fn too_few(verdict: &Verdict) -> Option<Sentence> {
    // A field's name, the fewest samples of it in any group, and the rest of what is said of it.
    let mut fields: Vec<(String, u64, String)> = Vec::new();
    let gated = verdict.with(Judgement::TooFew).filter(|finding| finding.gated);
    for reason in gated.flat_map(|finding| &finding.reasons) {
        let Reason::TooFewSamples { field, n, needed, stand_in } = reason else { continue };
        let name = field.local();
        let instead = stand_in.map(|statistic| crate::model::field::local(&field.metric, statistic));
        let instead = instead.map(|name| format!("; {name} is judged")).unwrap_or_default();
        match fields.iter_mut().find(|(seen, ..)| *seen == name) {
            Some((_, fewest, _)) => *fewest = (*fewest).min(*n),
            None => fields.push((name, *n, format!("needs {needed}{instead}"))),
        }
    }
    let words = |(name, n, rest): &(String, u64, String)| format!("{name} ({n}, {rest})");
    let text: Vec<String> = fields.iter().map(words).collect();
    let text = format!("not judged at this number of samples: {}", text.join(", "));
    (!fields.is_empty()).then(|| Sentence::default().own(text))
}

/// What is remarkable about a field that does not fail, without [`too_few`].
#[must_use]
pub fn remarks(finding: &Finding) -> Vec<Sentence> {
    use Judgement::{Improved, TooFew, Unchanged, Unresolved, Waived};
    let remarkable = |reason: &&Reason| match finding.judgement {
        Unresolved => !is_said_once(reason),
        TooFew => !is_said_once(reason) && !matches!(reason, Reason::TooFewSamples { .. }),
        Waived => matches!(reason, Reason::Waived { .. }),
        Improved | Unchanged => !matches!(reason, Reason::Better { .. }),
        _ => false,
    };
    finding.reasons.iter().filter(remarkable).map(Reason::sentence).collect()
}

/// A sentence for places that hold plain text and often end in a log: what is foreign in quotes, hidden characters
/// visible, no runner command. The place's own encoding comes on top.
#[must_use]
pub fn plain(sentence: &Sentence) -> String {
    sentence.render(|foreign| format!("\"{}\"", text::terminal(foreign)))
}

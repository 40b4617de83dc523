//! How sure a verdict is: what it could have seen, and what would make it surer.

use crate::model::finding::DecidedBy;
use crate::model::sentence::Sentence;
use crate::model::wording::{chance, count, plus, share};
use crate::model::{Finding, Finite, Metric, Reason, Tier, Verdict};

use super::headline::{is_green, judged};

/// The line under the headline: the smallest change that could have been seen, and the exit code.
#[must_use]
pub fn standing(verdict: &Verdict) -> Sentence {
    let unwritten = is_green(verdict) && verdict.exit_code != 0;
    let why = if unwritten { ": an output could not be written" } else { "" };
    let exit = format!("exit {}{why}", verdict.exit_code);
    let text = match visible(verdict) {
        Some(visible) => format!("{visible}; {exit}"),
        None => exit,
    };
    Sentence::default().own(text)
}

/// `smallest visible worsening: everything 32 %, ttft 41 %`; nothing where nothing was compared.
#[must_use]
pub fn visible(verdict: &Verdict) -> Option<String> {
    if verdict.tier == Some(Tier::Exact) && judged(verdict) {
        return Some("no noise: any change over a limit is real".to_owned());
    }
    let mut parts: Vec<String> = verdict
        .resolution
        .run_wide
        .iter()
        .map(|smallest| format!("everything {}", share(*smallest)))
        .collect();
    for metric in verdict.resolution.metrics.keys() {
        let sharpest = spread(verdict, metric).sharpest;
        parts.push(match sharpest {
            Some((smallest, _)) => format!("{metric} {}", share(smallest)),
            None => format!("{metric} none at all"),
        });
    }
    (!parts.is_empty()).then(|| format!("smallest visible worsening: {}", parts.join(", ")))
}

/// The groups of one metric, by what could have been seen in them.
struct Spread {
    sharpest: Option<(Finite, String)>,
    bluntest: Option<(Finite, String)>,
    unseeing: usize,
}

fn spread(verdict: &Verdict, metric: &Metric) -> Spread {
    let groups = verdict.resolution.metrics.get(metric);
    let seen =
        || groups.into_iter().flatten().filter_map(|(group, share)| Some(((*share)?, group.to_string())));
    Spread {
        sharpest: seen().min(),
        bluntest: seen().max(),
        unseeing: groups.into_iter().flatten().filter(|(_, share)| share.is_none()).count(),
    }
}

/// Everything there is to say about how sure the verdict is, one sentence a line.
#[must_use]
pub fn evidence(verdict: &Verdict) -> Vec<Sentence> {
    let mut lines = Vec::new();
    if !judged(verdict) {
        return lines;
    }
    let mut own = |text: String| lines.push(Sentence::default().own(text));
    if let Some(tier) = verdict.tier {
        own(format!("tier {tier}: {}", tier_words(tier)));
    }
    if let Some(by) = verdict.decided_by {
        own(decided_words(by).to_owned());
    }
    if let (Some(expected), DecidedBy::Limits | DecidedBy::Evidence) =
        (verdict.counts.over_expected, verdict.decided_by.unwrap_or(DecidedBy::Limits))
    {
        own(format!(
            "{} of {} {}; identical code would put about {:.1} there",
            verdict.counts.over_limit,
            count(verdict.counts.required, "required field"),
            if verdict.counts.over_limit == 1 { "is over its limit" } else { "are over their limits" },
            expected.get()
        ));
    }
    if let Some(text) = resolution_words(verdict) {
        own(text);
    }
    if !verdict.resolution.tighter_rules.is_empty() {
        let rules = verdict.resolution.tighter_rules.join(", ");
        let means = match verdict.decided_by {
            Some(DecidedBy::Limits) => "tighter than the noise here, so what fails by them can be noise",
            _ => "tighter than what could have been seen, so they can pass a real change",
        };
        own(format!("{means}: {rules}"));
    }
    lines.extend(verdict.promise.iter().map(|text| Sentence::default().own(text.clone())));
    lines.extend(verdict.lifts.iter().map(|text| Sentence::default().own(format!("surer with: {text}"))));
    lines
}

fn resolution_words(verdict: &Verdict) -> Option<String> {
    let mut parts: Vec<String> = verdict
        .resolution
        .run_wide
        .iter()
        .map(|smallest| format!("everything {}", share(*smallest)))
        .collect();
    parts.extend(verdict.resolution.metrics.keys().map(|metric| metric_words(verdict, metric)));
    (!parts.is_empty())
        .then(|| format!("smallest worsening that 9 of 10 such runs would show: {}", parts.join("; ")))
}

fn metric_words(verdict: &Verdict, metric: &Metric) -> String {
    let Spread { sharpest, bluntest, unseeing } = spread(verdict, metric);
    let mut text = match (sharpest, bluntest) {
        (Some((low, _)), Some((high, _))) if low == high => format!("{metric} {}", share(low)),
        (Some((low, at)), Some((high, there))) => {
            format!("{metric} {} ({at}) to {} ({there})", share(low), share(high))
        }
        _ => return format!("{metric} none at all"),
    };
    if unseeing > 0 {
        text.push_str(&format!(", and none at all in {unseeing} more"));
    }
    text
}

fn tier_words(tier: Tier) -> &'static str {
    match tier {
        Tier::Exact => {
            "both sides are from the embedded engine with the same workload and seed, so nothing is noise"
        }
        Tier::Duet => "both sides alternated in one job, so what slowed both is not in the difference",
        Tier::Replicated => "three blessed jobs or more show how much jobs differ by themselves",
        Tier::Single => {
            "fewer than three blessed jobs, so how much jobs differ by themselves is assumed, not measured"
        }
    }
}

fn decided_words(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Limits => {
            "the limits decided as they are written: whatever is over its limit fails, noise or not"
        }
        DecidedBy::Evidence => "evidence decided: what fails is over its limit and more than noise explains",
        DecidedBy::Exact => "the limits decided, and every change is real",
    }
}

/// What the statistics say of one field: `95 %: +3.1 % to +36.2 %; chance without a change: 8 %; unconfirmed`.
#[must_use]
pub fn of_field(finding: &Finding) -> Option<String> {
    let mut parts = Vec::new();
    // An absolute limit asks for the value itself, whatever it was before.
    if matches!(finding.reasons.first(), Some(Reason::OverMax { .. } | Reason::UnderMin { .. })) {
        return None;
    }
    let by = finding.reasons.iter().find_map(|reason| match reason {
        Reason::Confirmed { by, .. } => Some(by),
        _ => None,
    });
    if let (Some(_), Some(by)) = (finding.evidence, by) {
        parts.extend(interval(finding).map(|range| format!("95 %: {range}")));
        parts.push(format!("confirmed by {by}"));
        return Some(parts.join("; "));
    }
    if let Some(evidence) = finding.evidence {
        parts.extend(interval(finding).map(|range| format!("95 %: {range}")));
        parts.push(format!("chance without a change: {}", chance(evidence.p)));
        parts.push(match evidence.resolution {
            Some(smallest) => format!("smallest visible worsening {}", share(smallest)),
            None => "noise can hide any change of this field alone".to_owned(),
        });
    }
    parts.extend(finding.confirmed.map(|yes| if yes { "confirmed" } else { "unconfirmed" }.to_owned()));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The smallest worsening that could have been seen in the field's metric and group: `24 %`; `None` where it is not known.
#[must_use]
pub fn visible_in(verdict: &Verdict, finding: &Finding) -> Option<String> {
    let groups = verdict.resolution.metrics.get(&finding.field.metric);
    let of_metric = groups.and_then(|groups| groups.get(&finding.field.group)).copied();
    let of_field = finding.evidence.and_then(|evidence| evidence.resolution);
    match of_field.map(Some).or(of_metric)? {
        Some(smallest) => Some(share(smallest)),
        None => Some("none at all".to_owned()),
    }
}

/// The 95 % interval of the change: `+3.1 % to +36.2 %`.
#[must_use]
pub fn interval(finding: &Finding) -> Option<String> {
    let (low, high) = finding.evidence?.interval?;
    let change = |ratio: Finite| Finite::new(ratio.get() - 1.0).map(plus).unwrap_or_default();
    Some(format!("{} to {}", change(low), change(high)))
}

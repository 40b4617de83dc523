//! What makes a report unfit to be judged.

use crate::model::field::FieldId;
use crate::model::finding::Change;
use crate::model::group::GroupId;
use crate::model::quantity::{Finite, Quantity};
use crate::model::reason::{Side, Suspicion};
use crate::model::requests::FailureKind;
use crate::model::sentence::Sentence;

use super::parts::{count, round_words, side_words};

/// A client that uses less of all cores than this was held up by others.
const OWN_DOING: f64 = 0.4;

pub fn counts_dont_add_up(group: &GroupId, sent: u64, succeeded: u64, failed: u64) -> Sentence {
    Sentence::default().own(format!(
        "the requests of {group} don't add up: {sent} sent, {succeeded} succeeded, {failed} failed"
    ))
}

pub fn no_tokens(group: &GroupId) -> Sentence {
    Sentence::default().own(format!(
        "{group} has successful requests and not one output token: nothing shows that a model answered"
    ))
}

pub fn all_failed(sent: Option<u64>, failed: &[(FailureKind, u64)]) -> Sentence {
    let sent = sent.map_or("how many were sent is not recorded".to_owned(), |n| format!("{n} sent"));
    Sentence::default().own(format!(
        "every request failed: {sent}{}. There is nothing to judge; mend the endpoint first",
        failed.iter().map(|(kind, n)| format!(", {n} \u{d7} {kind}")).collect::<String>()
    ))
}

pub fn nothing_sent() -> Sentence {
    Sentence::default().own("no request was sent: an empty report is never a pass")
}

pub fn bad_latency(field: &FieldId, value: Quantity, side: Side, in_a_round: bool) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is {value}{} {}: {}",
        field.local(),
        field.group,
        round_words(in_a_round),
        side_words(side),
        match value.value < Finite::ZERO {
            true => "nothing measured is negative",
            false => "a rate is no more than 100 %",
        }
    ))
}

pub fn out_of_order(field: &FieldId, value: Quantity, above: &FieldId, above_value: Quantity) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is {value} and {} is {above_value}: a lower percentile can't be above a higher one, so the report is damaged",
        field.local(),
        field.group,
        above.local()
    ))
}

pub fn lost_in_round(group: &GroupId, round: usize) -> Sentence {
    Sentence::default().own(format!(
        "round {round} of this report lacks {group}, which other rounds have: the report is not whole"
    ))
}

pub fn round_too_good(field: &FieldId, value: Quantity, others: Quantity) -> Sentence {
    Sentence::default().own(format!(
        "{} of {} is {value} in a round of this report, and {others} in the middle one: so much better by far can't be the same measurement, and the mean would hide the others behind it. Is it in another unit? Measure again",
        field.local(),
        field.group
    ))
}

pub fn field_lost_in_round(field: &FieldId, job: Option<usize>, round: usize) -> Sentence {
    let job = job.map(|job| format!(" of job {job}")).unwrap_or_default();
    Sentence::default().own(format!(
        "round {round}{job} of this report lacks {} of {}, which other rounds have: the report is not whole",
        field.local(),
        field.group
    ))
}

pub fn blessed_invalid(why: &str) -> Sentence {
    Sentence::default()
        .own("the blessed baseline can't be judged by: ")
        .own(why)
        .own("; bless a good run anew")
}

pub fn incomplete(job: &str) -> Sentence {
    Sentence::default()
        .own("job ")
        .foreign(job)
        .own(" was interrupted: a partial report is kept to look at, never to judge")
}

pub fn client_bottleneck(
    group: &GroupId,
    lag: Quantity,
    limit: Quantity,
    cpu_share: Option<Finite>,
) -> Sentence {
    let cause = match cpu_share {
        Some(share) if share.get() < OWN_DOING => format!(
            "It used {:.0} % of this machine's CPU, so something else held the cores (the server, a build): measure from \
             another machine, or give pacegate a core of its own (taskset)",
            share.get() * 100.0
        ),
        Some(share) => format!(
            "It used {:.0} % of this machine's CPU: lower the concurrency, or measure from a machine with more cores",
            share.get() * 100.0
        ),
        None => "Use a quieter machine or lower the concurrency".to_owned(),
    };
    Sentence::default().own(format!(
        "the client was the bottleneck in {group}: it woke up {lag} late at p99, and {limit} is the most that can be told \
         from the server's time. {cause}"
    ))
}

pub fn suspicious(field: &FieldId, change: Option<Change>, what: Suspicion, more: usize) -> Sentence {
    Sentence::default().own(suspicious_words(field, change.as_ref(), what, more))
}

pub fn source_says(text: &str) -> Sentence {
    Sentence::default().own("the source says: ").foreign(text)
}

fn suspicious_words(
    field: &crate::model::field::FieldId,
    change: Option<&Change>,
    what: Suspicion,
    more: usize,
) -> String {
    let name = format!("{} of {}", field.local(), field.group);
    let more = match more {
        0 => String::new(),
        more => format!(", and {} like it", count(more, "more field")),
    };
    match (what, change) {
        (Suspicion::TooGood, Some(change)) => format!(
            "{name} {} {} ({}){more}: suspiciously good. A warm prefix cache, an empty first chunk, truncated answers or an engine that did nothing look like this; blessing it needs --reason",
            change.verb(),
            change.values(),
            change.amount()
        ),
        (Suspicion::SameSamples, _) => {
            format!(
                "{name} has exactly the samples of the blessed baseline{more}: is this the same report again?"
            )
        }
        (Suspicion::NoVariance | Suspicion::TooGood, _) => {
            format!("all samples of {name} are equal{more}: no real server does that")
        }
    }
}

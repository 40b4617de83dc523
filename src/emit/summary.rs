//! What was measured and what it was held against, under the words reliability, latency, throughput.

use crate::model::history::{HistoryNote, HistoryRow};
use crate::model::report::Requests;
use crate::model::sentence::Sentence;
use crate::model::wording::{count, part_of, short_commit};
use crate::model::{Finite, Metric, Quantity, Statistic, Unit, Verdict};

/// The candidate in a few lines: a word and what is said under it.
#[must_use]
pub fn summary(verdict: &Verdict) -> Vec<(&'static str, Sentence)> {
    let mut lines = vec![("answered by", answered_by(verdict)), ("reliability", reliability(verdict))];
    let latency = values(verdict, Unit::Millisecond, &LATENCY);
    let own = |text: String| Sentence::default().own(text);
    lines.push(("latency", own(if latency.is_empty() { "none".to_owned() } else { latency.join(", ") })));
    let mut throughput: Vec<String> = values(verdict, Unit::TokensPerSecond, &RATES);
    throughput.extend(values(verdict, Unit::RequestsPerSecond, &RATES));
    throughput.push(tokens("in", verdict.candidate.input_tokens));
    throughput.push(tokens("out", verdict.candidate.output_tokens));
    lines.push(("throughput", own(throughput.join(", "))));
    lines.push(("held against", held_against(verdict)));
    lines.extend(verdict.history.as_ref().map(|note| ("history", history(note))));
    lines
}

const LATENCY: [Statistic; 3] = [Statistic::P50, Statistic::P95, Statistic::P99];
const RATES: [Statistic; 2] = [Statistic::Value, Statistic::Mean];

/// `my-model (vllm-bench-serve report run.json, 1 job of 3 rounds)`.
fn answered_by(verdict: &Verdict) -> Sentence {
    let candidate = &verdict.candidate;
    let s = match &candidate.model {
        Some(model) => Sentence::default().foreign(model).own(" ("),
        None => Sentence::default().own("a model that is not recorded ("),
    };
    let s = match &candidate.format {
        Some(format) => s.foreign(format).own(" report "),
        None => s,
    };
    let s = match candidate.files.as_slice() {
        [] => s,
        [file] => s.foreign(file).own(", "),
        [first, rest @ ..] => s.foreign(first).own(format!(" and {} more, ", rest.len())),
    };
    s.own(format!("{} of {})", count(candidate.jobs, "job"), count(candidate.rounds, "round")))
}

fn reliability(verdict: &Verdict) -> Sentence {
    Sentence::default().own(requests(&verdict.candidate.requests))
}

/// `300 requests sent, 298 succeeded (99.33 %), 2 failed: 2 × 429 (too many requests)`.
fn requests(requests: &Requests) -> String {
    let sent = requests
        .sent
        .map_or("requests sent: not recorded".to_owned(), |n| format!("{} sent", count(n, "request")));
    let succeeded = match requests.counts() {
        Some((_, 0)) => String::new(),
        Some((good, all)) => format!(", {good} succeeded ({})", part_of(good, all)),
        None => {
            requests.succeeded.map_or(", successes: not recorded".to_owned(), |n| format!(", {n} succeeded"))
        }
    };
    let failed = match requests.failures() {
        0 => String::new(),
        n => {
            let kinds: Vec<String> =
                requests.failed.iter().map(|(kind, n)| format!("{n} \u{d7} {kind}")).collect();
            format!(", {n} failed: {}", kinds.join(", "))
        }
    };
    format!("{sent}{succeeded}{failed}")
}

fn tokens(way: &str, n: Option<u64>) -> String {
    n.map_or(format!("tokens {way}: not recorded"), |n| format!("{} {way}", count(n, "token")))
}

/// Each metric of a unit, smallest to largest over the groups.
fn values(verdict: &Verdict, unit: Unit, statistics: &[Statistic]) -> Vec<String> {
    let mut fields: Vec<(Metric, Statistic)> = verdict
        .findings
        .iter()
        .filter(|f| f.unit == unit && f.new.is_some() && statistics.contains(&f.field.statistic))
        .map(|f| (f.field.metric.clone(), f.field.statistic))
        .collect();
    fields.sort();
    fields.dedup();
    let line = |(metric, statistic): &(Metric, Statistic)| {
        let of = |f: &&crate::model::Finding| f.field.metric == *metric && f.field.statistic == *statistic;
        let values: Vec<Finite> = verdict.findings.iter().filter(of).filter_map(|f| f.new).collect();
        let name = crate::model::field::local(metric, *statistic);
        Quantity::span(&values, unit).map(|span| format!("{name} {span}"))
    };
    fields.iter().filter_map(line).collect()
}

/// What earlier jobs against the same baseline say.
fn history(note: &HistoryNote) -> Sentence {
    let s = Sentence::default().foreign(&note.file).own(": ").own(match note.jobs {
        0 => "the first job of the main branch against this baseline".to_owned(),
        n => format!("{} of the main branch before this one against this baseline", count(n, "job")),
    });
    let again = if note.again { "; this commit was judged before, so it counts once" } else { "" };
    let rows: Vec<String> = note.rows.iter().map(row).collect();
    let over = match rows.as_slice() {
        [] => "; nothing is over its limits as a whole".to_owned(),
        rows => format!("; over the limits: {}", rows.join(", ")),
    };
    let rule = match (note.counts, note.needs_blessed) {
        (false, _) => {
            "; this job is not one of the main branch: it does not count and is not added".to_owned()
        }
        (true, 0) => "; what is over its limits three jobs in a row fails".to_owned(),
        (true, n) => format!(
            "; once {} more are there, what is over its limits three jobs in a row fails",
            count(n, "blessed job")
        ),
    };
    s.own(format!("{again}{over}{rule}"))
}

fn row(row: &HistoryRow) -> String {
    match row.jobs {
        1 => format!("{} (this job alone)", row.channel.words()),
        n => format!("{} ({n} jobs in a row)", row.channel.words()),
    }
}

fn held_against(verdict: &Verdict) -> Sentence {
    if verdict.duet {
        return Sentence::default().own("the other endpoint, measured in turn in the same report");
    }
    let Some(baseline) = &verdict.baseline else {
        return Sentence::default().own("nothing: there is no blessed baseline");
    };
    let mut s = Sentence::default().foreign(&baseline.path);
    if let Some(at) = baseline.blessed {
        s = s.own(format!(", blessed {at}"));
    }
    if let Some(commit) = &baseline.commit {
        s = s.own(" at commit ").foreign(short_commit(commit));
    }
    if let Some(model) = &baseline.model {
        s = s.own(", model ").foreign(model);
    }
    s.own(format!(", {}, digest ", count(baseline.jobs, "job"))).foreign(&baseline.digest)
}

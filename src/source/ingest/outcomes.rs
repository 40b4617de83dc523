//! How a draft's requests ended, from whatever counts a tool writes.

use crate::model::report::FailureKind;

use super::draft::Draft;
use super::failure;

impl Draft {
    /// The successes as told, else what `sent` less `failed` leaves; a flaw where both are there and differ.
    pub fn agreed(&mut self, sent: Option<u64>, succeeded: Option<u64>, failed: Option<u64>) -> Option<u64> {
        let rest = self.rest(sent, failed);
        if let Some((told, rest)) = succeeded.zip(rest).filter(|(told, rest)| told != rest) {
            self.contradicts(&format!("{told} requests succeeded, and sent less failed gives {rest}"));
        }
        succeeded.or(rest)
    }

    /// Requests by outcome. Failures whose reason is not known are counted as such.
    pub fn outcomes(&mut self, sent: Option<u64>, succeeded: Option<u64>) {
        self.requests.sent = sent;
        self.requests.succeeded = succeeded;
        if sent.is_some_and(|sent| succeeded > Some(sent)) {
            self.contradicts("more requests succeeded than were sent");
        }
        if let (Some(sent), Some(succeeded)) = (sent, succeeded) {
            let (known, failed) = (self.requests.failures(), sent.saturating_sub(succeeded));
            if known > failed {
                self.contradicts(&format!(
                    "it lists {known} failures, and sent less succeeded gives {failed}"
                ));
            }
            self.failed(FailureKind::Unknown, failed.saturating_sub(known), "");
        }
    }

    /// Requests by outcome, where a tool counts those sent and those failed.
    pub fn outcomes_less(&mut self, sent: Option<u64>, failed: Option<u64>) {
        let succeeded = self.rest(sent, failed);
        self.outcomes(sent, succeeded);
    }

    /// Requests by outcome, where a tool counts each outcome and not their sum: the failures are noted already.
    pub fn outcomes_of(&mut self, succeeded: u64) {
        let sent = self.sum(succeeded, self.requests.failures());
        self.outcomes(Some(sent), Some(succeeded));
    }

    /// The successes among the requests sent. More failures than requests contradict each other.
    pub fn rest(&mut self, sent: Option<u64>, failed: Option<u64>) -> Option<u64> {
        let (sent, failed) = sent.zip(failed)?;
        if failed > sent {
            self.contradicts(&format!("more requests failed than were sent: {failed} of {sent}"));
        }
        sent.checked_sub(failed)
    }

    /// Two counts together. A sum that is none would hide failures.
    pub fn sum(&mut self, one: u64, other: u64) -> u64 {
        one.checked_add(other).unwrap_or_else(|| {
            self.contradicts("its counts of requests or tokens add up to more than any run has");
            u64::MAX
        })
    }

    /// Requests that were answered with an HTTP status; the successes among them.
    pub fn answered(&mut self, status: &str, times: u64) -> u64 {
        let code = status.trim().parse().ok();
        if matches!(code, Some(200..300)) {
            return times;
        }
        self.failed(code.map_or(FailureKind::Unknown, failure::status), times, &format!("HTTP {status}"));
        0
    }

    /// Failed requests of one kind, with the tool's words for it.
    pub fn failed(&mut self, kind: FailureKind, times: u64, words: &str) {
        if times == 0 {
            return;
        }
        let before = self.requests.failed.get(&kind).copied().unwrap_or_default();
        let all = self.sum(before, times);
        self.requests.failed.insert(kind, all);
        let sample = failure::sample(words);
        if !sample.is_empty() {
            self.requests.error_samples.entry(kind).or_insert(sample);
        }
    }
}

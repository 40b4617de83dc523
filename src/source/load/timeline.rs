//! From the record of one request to its times, its token counts and whether it succeeded.
//!
//! The first token is the first delta with content, reasoning or a tool call: not the head, a comment, a role or an
//! empty delta. An event came when the socket read returned that completed it. A reply is a success when it has
//! tokens and every choice has its `finish_reason`; whether `[DONE]` came does not matter.

use std::collections::BTreeMap;

use crate::model::report::FailureKind;

use super::ending::ended_badly;
use super::openai::{Carries, Chunk, Usage};
use super::pattern::Pattern;
use super::reply::{self, BodyEnd, Head, Reply};
use super::sse::{Event, Framer, Kind};
use super::transcript::{Nanos, Transcript};

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What the server or the connection said; not yet cleaned.
    pub text: String,
    /// `Retry-After`, where a server gave it.
    pub retry_after: Option<String>,
}

/// What became of one request. Times are since its first byte was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The reply's head.
    pub head: Option<Nanos>,
    /// The first token; `None` where the reply was not streamed.
    pub first_token: Option<Nanos>,
    /// The first token that is not reasoning.
    pub first_output: Option<Nanos>,
    /// The last token.
    pub last_token: Option<Nanos>,
    /// When each event with tokens came.
    pub events: Vec<Nanos>,
    /// Events with tokens in the read that brought the first token.
    pub events_in_first_read: usize,
    /// Reads that brought a token.
    pub token_reads: usize,
    /// Reads that brought more than one event with tokens.
    pub shared_reads: usize,
    /// Output tokens counted by the server when the first token came, where it counts on every event.
    pub tokens_in_first_read: Option<u64>,
    /// The server's token counts.
    pub usage: Option<Usage>,
    /// A count of the server's that no answer has; it was not taken.
    pub absurd_count: Option<u64>,
    /// Whether the server says of itself that no model answers.
    pub simulated: bool,
    /// The model that answered.
    pub model: Option<String>,
    /// All text of the answer, reasoning and tool calls included.
    pub text: String,
    /// Whether a connection stood, so that a request went out.
    pub sent: bool,
    /// HTTP status.
    pub status: Option<u16>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

impl Timeline {
    /// Reads a request's record.
    #[must_use]
    pub fn read(transcript: &Transcript) -> Timeline {
        let decoded = reply::decode(&transcript.raw);
        let mut reading = Reading::new(transcript);
        let verdict = match &decoded {
            Ok(Some(reply)) => {
                reading.timeline.status = Some(reply.head.status);
                reading.timeline.simulated = reply.head.simulated;
                reading.timeline.head = reading.since_sent(reply.head.end).map(|(_, at)| at);
                reading.body(reply);
                reading.judge(reply)
            }
            Ok(None) => None,
            Err(not_http) => Some((FailureKind::Malformed, not_http.to_string())),
        };
        let not_http = decoded.is_err();
        let retry_after = decoded.ok().flatten().and_then(|reply| reply.head.retry_after);
        let ending = ended_badly(&transcript.ending, transcript.raw.is_empty(), reading.done);
        // A refusal explains why the connection was closed; a time limit explains what is missing.
        let failure = match (verdict, ending) {
            (Some(verdict), Some(_)) if not_http || is_refusal(verdict.0) => Some(verdict),
            (_, Some(ending)) => Some(ending),
            (verdict, None) => verdict,
        };
        let mut timeline = reading.timeline;
        timeline.failure = failure.map(|(kind, text)| Failure { kind, text, retry_after });
        timeline
    }

    /// The server's count of output tokens. A count of 0 beside text is no count.
    #[must_use]
    pub fn output_tokens(&self) -> Option<u64> {
        self.usage.and_then(|usage| usage.completion).filter(|tokens| *tokens > 0)
    }

    /// Time per output token after the first read, in nanoseconds, when the answer has so many tokens.
    ///
    /// Where the server does not count on every event, the tokens of the first read are its events, each at the mean
    /// number of tokens an event where that is above 1.05 (speculative decoding).
    #[must_use]
    pub fn time_per_token(&self, tokens: u64) -> Option<f64> {
        let span = self.last_token?.checked_sub(self.first_token?)?;
        let per_event = self.tokens_per_event(tokens)?;
        let mean = if per_event > MOST_TOKENS_A_CHUNK { per_event } else { 1.0 };
        let first = self.tokens_in_first_read.map_or(self.events_in_first_read as f64 * mean, |n| n as f64);
        let after = tokens as f64 - first;
        // Less than half a token after the first read is no gap to measure.
        (after >= 0.5 && span > 0).then(|| span as f64 / after)
    }

    /// Tokens per event with text: above 1.05 an event is no token.
    #[must_use]
    pub fn tokens_per_event(&self, tokens: u64) -> Option<f64> {
        (!self.events.is_empty()).then(|| tokens as f64 / self.events.len() as f64)
    }
}

/// Above so many tokens an event, gaps between events are not gaps between tokens.
pub const MOST_TOKENS_A_CHUNK: f64 = 1.05;

/// Whether a token has come in what was received so far: asked once, when the limit for the first token is reached.
#[must_use]
pub fn token_has_come(raw: &[u8]) -> bool {
    let Ok(Some(reply)) = reply::decode(raw) else { return false };
    let (mut framer, mut found) = (Framer::default(), false);
    for range in &reply.body {
        framer.push(&raw[range.clone()], |event| {
            found |= Chunk::read(event.data).is_ok_and(|chunk| chunk.carries() != Carries::Nothing);
        });
    }
    found
}

struct Reading<'a> {
    transcript: &'a Transcript,
    timeline: Timeline,
    finished: BTreeMap<u64, bool>,
    last_read: Option<usize>,
    events_in_read: usize,
    done: bool,
    error: Option<String>,
    about_the_model: bool,
    broken: Option<String>,
    /// What a 200 says where an answer should be.
    said: Option<String>,
    pattern: Option<Pattern>,
}

impl<'a> Reading<'a> {
    fn new(transcript: &'a Transcript) -> Self {
        Reading {
            transcript,
            timeline: Timeline { sent: transcript.sent.is_some(), ..Timeline::default() },
            finished: BTreeMap::new(),
            last_read: None,
            events_in_read: 0,
            done: false,
            error: None,
            about_the_model: false,
            broken: None,
            said: None,
            pattern: None,
        }
    }

    fn since_sent(&self, bytes: usize) -> Option<(usize, Nanos)> {
        let (read, at) = self.transcript.at(bytes)?;
        Some((read, at.saturating_sub(self.transcript.sent?)))
    }

    fn body(&mut self, reply: &Reply) {
        let start = reply.body.first().map_or(&[][..], |range| &self.transcript.raw[range.clone()]);
        // Some proxies lose the content type on the way; a JSON reply begins otherwise.
        let framed = [&b"data:"[..], b"event:", b":"].iter().any(|field| start.starts_with(field));
        if (reply.head.event_stream || framed) && reply.head.status < 400 {
            self.stream(reply);
        } else {
            self.plain(reply);
        }
    }

    fn stream(&mut self, reply: &Reply) {
        // An event's end counts bytes of the body; reads count bytes of the reply.
        let (mut framer, mut body_bytes) = (Framer::default(), 0);
        for range in &reply.body {
            let offset = range.start - body_bytes;
            framer.push(&self.transcript.raw[range.clone()], |event| self.event(event, offset, true));
            body_bytes += range.len();
        }
        let whole = reply.end != BodyEnd::Short;
        let offset = reply.body.last().map_or(0, |range| range.end - body_bytes);
        framer.finish(|event| self.event(event, offset, whole));
    }

    fn event(&mut self, event: Event<'_>, offset: usize, complete: bool) {
        let data = event.data.trim_ascii();
        if self.done || data.is_empty() {
            return;
        }
        if data == b"[DONE]" {
            self.done = true;
            return;
        }
        let came = self.since_sent(event.end + offset);
        let known = self.pattern.as_ref().filter(|_| event.kind == Kind::Message);
        if let Some((carries, text)) = known.and_then(|pattern| pattern.read(data)) {
            self.timeline.text.push_str(text);
            return self.token(carries, None, came);
        }
        let text = || String::from_utf8_lossy(data).into_owned();
        match Chunk::read(data) {
            Ok(chunk) => {
                if let Some(error) = chunk.error() {
                    self.error.get_or_insert_with(|| error.line().into_owned());
                } else if event.kind == Kind::Error {
                    self.error.get_or_insert_with(text);
                } else if chunk.is_no_answer() {
                    self.said.get_or_insert_with(text);
                }
                self.chunk(&chunk, came);
                self.pattern = Pattern::of(data, &chunk).or(self.pattern.take());
            }
            Err(_) if event.kind == Kind::Error => {
                self.error.get_or_insert_with(text);
            }
            // The piece of an event before a cut is no mistake of the server's.
            Err(_) if !complete => {}
            Err(error) => {
                self.broken.get_or_insert_with(|| format!("an event is no JSON ({error})"));
            }
        }
    }

    fn plain(&mut self, reply: &Reply) {
        let body = reply.text(&self.transcript.raw);
        match Chunk::read(body.trim_ascii()) {
            Err(_) if body.trim_ascii().is_empty() => {}
            Ok(chunk) => {
                let good = (200..300).contains(&reply.head.status);
                if let Some(error) = if good { chunk.error() } else { chunk.refusal() } {
                    self.about_the_model = error.is_about_the_model();
                    self.error = Some(error.line().into_owned());
                } else if chunk.is_no_answer() {
                    self.said = Some(beginning(&body));
                }
                let came = reply.body.last().and_then(|range| self.since_sent(range.end));
                self.chunk(&chunk, came);
                // One piece has no first token of its own.
                (self.timeline.first_token, self.timeline.first_output) = (None, None);
                self.timeline.events.clear();
            }
            Err(error) => {
                let said = beginning(&body);
                self.broken = Some(format!("the reply is no JSON ({error}); it says: {said}"));
                self.said = Some(said);
            }
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, came: Option<(usize, Nanos)>) {
        for (index, ends) in chunk.finishes() {
            *self.finished.entry(index).or_default() |= ends;
        }
        if self.timeline.model.is_none() {
            self.timeline.model = chunk.model().map(str::to_owned);
        }
        let (usage, absurd) = chunk.usage().map(Usage::believable).unzip();
        self.timeline.absurd_count = self.timeline.absurd_count.max(absurd.flatten());
        self.timeline.usage = usage.or(self.timeline.usage);
        let carries = chunk.carries();
        if carries == Carries::Nothing {
            return;
        }
        self.timeline.text.extend(chunk.texts());
        self.token(carries, usage, came);
    }

    fn token(&mut self, carries: Carries, usage: Option<Usage>, came: Option<(usize, Nanos)>) {
        let Some((read, at)) = came else { return };
        self.timeline.first_token.get_or_insert(at);
        if carries == Carries::Output {
            self.timeline.first_output.get_or_insert(at);
        }
        self.timeline.last_token = Some(at);
        self.timeline.events.push(at);
        self.count_read(read);
        if self.timeline.token_reads == 1 {
            self.timeline.events_in_first_read += 1;
            self.timeline.tokens_in_first_read = usage.and_then(|usage| usage.completion);
        }
    }

    fn count_read(&mut self, read: usize) {
        if self.last_read == Some(read) {
            self.events_in_read += 1;
            self.timeline.shared_reads += usize::from(self.events_in_read == 2);
        } else {
            self.last_read = Some(read);
            self.events_in_read = 1;
            self.timeline.token_reads += 1;
        }
    }

    /// What the reply itself says, whatever the connection did.
    fn judge(&mut self, reply: &Reply) -> Option<(FailureKind, String)> {
        let Head { status, location, coding, .. } = &reply.head;
        if !(200..300).contains(status) {
            return Some(self.refused(*status, location.as_deref()));
        }
        if let Some(coding) = coding {
            return Some((
                FailureKind::Malformed,
                format!("the reply is {coding}-coded, which was not asked for and regroups tokens"),
            ));
        }
        if let Some(error) = self.error.take() {
            return Some((FailureKind::ErrorEvent, error));
        }
        let short = reply.end == BodyEnd::Short && !self.done;
        if let Some(broken) = self.broken.take() {
            let kind = if short { FailureKind::Cut } else { FailureKind::Malformed };
            return Some((kind, broken));
        }
        if short {
            return Some((FailureKind::Cut, "the reply broke off".to_owned()));
        }
        if self.timeline.last_token.is_none() {
            return Some((FailureKind::ZeroTokens, self.no_tokens()));
        }
        if !self.finished.values().all(|finished| *finished) {
            return Some((FailureKind::Cut, "the stream ended without a finish_reason".to_owned()));
        }
        None
    }

    fn no_tokens(&self) -> String {
        let events = if self.finished.is_empty() { "no choice at all" } else { "only empty deltas" };
        match (self.timeline.usage.and_then(|usage| usage.completion), &self.said) {
            (Some(claimed), _) if claimed > 0 => {
                format!("the reply has {events}, though usage claims {claimed} output tokens")
            }
            (_, Some(said)) => format!("the reply has {events}; it says: {said}"),
            _ => format!("the reply has {events}"),
        }
    }

    fn refused(&mut self, status: u16, location: Option<&str>) -> (FailureKind, String) {
        let text = self.error.take().or_else(|| self.said.take()).unwrap_or_default();
        // Many servers repeat the status as the code of their error.
        let text = text.trim().trim_start_matches(&format!("{status}: "));
        let text = format!("{status} {text}").trim_end().to_owned();
        let kind = match status {
            300..400 => {
                let to = location.unwrap_or("an unnamed place");
                return (
                    FailureKind::Malformed,
                    format!("{status} redirects to {to}; redirects are not followed"),
                );
            }
            401 => FailureKind::Http401,
            403 => FailureKind::Http403,
            404 if self.about_the_model => FailureKind::Http404Model,
            404 => FailureKind::Http404Path,
            429 => FailureKind::Http429,
            400..500 => FailureKind::Http4xx,
            500..600 => FailureKind::Http5xx,
            _ => FailureKind::Malformed,
        };
        (kind, text)
    }
}

/// As much of a text as anybody reads of an error.
fn beginning(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(400)]).into_owned()
}

fn is_refusal(kind: FailureKind) -> bool {
    !matches!(kind, FailureKind::Cut | FailureKind::ZeroTokens | FailureKind::Malformed)
}

//! What other tools write where a request failed, and which of our kinds that is.

use crate::model::report::FailureKind;

/// The longest sample of an error text that is kept.
const LONGEST_SAMPLE: usize = 160;

/// Words that tell a kind, in the order in which they are looked for: a cut stream's error can quote a status of 400.
const WORDS: &[(&str, FailureKind)] = &[
    ("incomplete", FailureKind::Cut),
    ("transferencoding", FailureKind::Cut),
    ("clientpayload", FailureKind::Cut),
    ("payload is not completed", FailureKind::Cut),
    ("peer closed", FailureKind::Cut),
    ("disconnected", FailureKind::Cut),
    ("connection reset", FailureKind::Cut),
    ("connection closed", FailureKind::Cut),
    ("connection dropped", FailureKind::Cut),
    ("unexpected eof", FailureKind::Cut),
    ("end of file before", FailureKind::Cut),
    ("error decoding response body", FailureKind::Cut),
    ("error reading a body", FailureKind::Cut),
    ("remoteprotocol", FailureKind::Cut),
    ("remote end closed", FailureKind::Cut),
    ("too many requests", FailureKind::Http429),
    ("rate limit", FailureKind::Http429),
    ("unauthorized", FailureKind::Http401),
    ("forbidden", FailureKind::Http403),
    ("model_not_found", FailureKind::Http404Model),
    ("does not exist", FailureKind::Http404Model),
    ("not found", FailureKind::Http404Path),
    ("internal server error", FailureKind::Http5xx),
    ("internalservererror", FailureKind::Http5xx),
    ("service unavailable", FailureKind::Http5xx),
    ("bad gateway", FailureKind::Http5xx),
    ("gateway time-out", FailureKind::Http5xx),
    ("gateway timeout", FailureKind::Http5xx),
    ("bad request", FailureKind::Http4xx),
    ("timeout", FailureKind::TimeoutTotal),
    ("timed out", FailureKind::TimeoutTotal),
    ("deadline", FailureKind::TimeoutTotal),
    ("cannot connect", FailureKind::Connect),
    ("connect call failed", FailureKind::Connect),
    ("connection refused", FailureKind::Connect),
    ("certificate", FailureKind::Tls),
    ("ssl", FailureKind::Tls),
    ("no output", FailureKind::ZeroTokens),
    ("empty response", FailureKind::ZeroTokens),
];

/// The kind that an error text tells of.
#[must_use]
pub fn kind(words: &str) -> FailureKind {
    let last = last_line(words).to_lowercase();
    let by_words = WORDS.iter().find(|(word, _)| last.contains(word)).map(|(_, kind)| *kind);
    by_words
        .or_else(|| numbers(&last).map(status).find(|kind| *kind != FailureKind::Unknown))
        .unwrap_or(FailureKind::Unknown)
}

/// Numbers of three digits that stand alone: a status, not a part of 15000.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 3).filter_map(|word| word.parse().ok())
}

/// The kind of an HTTP status.
#[must_use]
pub fn status(code: u64) -> FailureKind {
    match code {
        401 => FailureKind::Http401,
        403 => FailureKind::Http403,
        404 => FailureKind::Http404Path,
        429 => FailureKind::Http429,
        400..500 => FailureKind::Http4xx,
        500..600 => FailureKind::Http5xx,
        _ => FailureKind::Unknown,
    }
}

/// One line of an error text, short and without control characters. Of a traceback the last line says what happened.
#[must_use]
pub fn sample(words: &str) -> String {
    let shown: String = last_line(words).chars().filter(|c| !c.is_control()).take(LONGEST_SAMPLE).collect();
    shown.trim().to_owned()
}

fn last_line(words: &str) -> &str {
    words.trim_end().lines().next_back().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_real_errors_tell_their_kind() {
        let traceback = "Traceback (most recent call last):\n  File \"a.py\", line 500\naiohttp.client_exceptions.ClientPayloadError: Response payload is not completed";
        for (words, expected) in [
            ("Too Many Requests", FailureKind::Http429),
            ("Internal Server Error", FailureKind::Http5xx),
            (traceback, FailureKind::Cut),
            (
                "peer closed connection without sending complete message body (incomplete chunked read)",
                FailureKind::Cut,
            ),
            ("ClientPayloadError: <TransferEncodingError: 400, message='Not enough data'>", FailureKind::Cut),
            ("Error code: 429 - {'error': {}}", FailureKind::Http429),
            ("gave up after 50000 ms", FailureKind::Unknown),
            ("", FailureKind::Unknown),
        ] {
            assert_eq!(kind(words), expected, "{words}");
        }
        assert_eq!(sample("a\n\u{1b}[31mb\r\n"), "[31mb");
        assert_eq!(status(418), FailureKind::Http4xx);
    }
}

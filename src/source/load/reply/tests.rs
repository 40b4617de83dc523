//! Replies, whole, in pieces and broken.

use super::*;

fn body(raw: &str) -> (String, BodyEnd) {
    let reply = decode(raw.as_bytes()).unwrap().unwrap();
    (reply.body.iter().map(|range| &raw[range.clone()]).collect(), reply.end)
}

#[test]
fn chunks_are_joined_and_their_end_is_seen() {
    let raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n";
    assert_eq!(body(raw), ("abcde".to_owned(), BodyEnd::Whole));
    let head = raw.find("\r\n\r\n").unwrap() + 4;
    for cut in head..raw.len() {
        let (text, end) = body(&raw[..cut]);
        assert!("abcde".starts_with(&text) && end == BodyEnd::Short, "cut at {cut}");
    }
    let trailers = raw.replace("0\r\n\r\n", "0\r\nx: 1\r\n\r\n");
    assert_eq!(body(&trailers), ("abcde".to_owned(), BodyEnd::Whole));
}

#[test]
fn a_length_says_whether_bytes_are_missing_and_a_close_says_nothing() {
    assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"), ("ab".to_owned(), BodyEnd::Whole));
    assert_eq!(body("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"), ("ab".to_owned(), BodyEnd::Short));
    assert_eq!(body("HTTP/1.1 200 OK\r\n\r\nab"), ("ab".to_owned(), BodyEnd::WithConnection));
    assert_eq!(body("HTTP/1.1 204 No Content\r\n\r\n"), (String::new(), BodyEnd::Whole));
}

/// The body of a reply that comes byte by byte, and whether the connection can be used again after it.
fn dripped(raw: &[u8]) -> Result<(String, BodyEnd, bool), NotHttp> {
    let (mut framing, mut body) = (Framing::default(), Vec::new());
    for have in 0..=raw.len() {
        framing.advance(&raw[..have], |piece| body.extend_from_slice(&raw[piece]))?;
    }
    Ok((String::from_utf8(body).unwrap(), framing.end(), framing.leaves_open(raw)))
}

#[test]
fn a_reply_that_comes_byte_by_byte_is_the_same_and_says_whether_the_connection_stays() {
    use BodyEnd::{Short, Whole, WithConnection};
    for (raw, text, end, stays) in [
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n",
            "abcde",
            Whole,
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: 1\r\n\r\n",
            "a",
            Whole,
            true,
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", "abc", Short, false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Close\r\n\r\nab", "ab", Whole, false),
        ("HTTP/1.1 200 OK\r\nConnection: te, close\r\nContent-Length: 2\r\n\r\nab", "ab", Whole, false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab", Whole, true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nab", "ab", Whole, true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", "ab", Whole, false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab", Whole, false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nab", "ab", Whole, true),
        ("HTTP/1.1 200 OK\r\n\r\nab", "ab", WithConnection, false),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "", Whole, true),
    ] {
        assert_eq!(dripped(raw.as_bytes()), Ok((text.to_owned(), end, stays)), "{raw}");
        assert_eq!(body(raw), (text.to_owned(), end), "{raw}");
    }
}

#[test]
fn what_would_never_end_is_refused() {
    let long = "x".repeat(MOST_HEAD);
    for (raw, why) in [
        (format!("HTTP/1.1 200 OK\r\nx: {long}"), "a head of more than 64 kB"),
        (
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;{long}"),
            "a chunk's size line of more than",
        ),
        (
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: {long}"),
            "after the last chunk of more than",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab".to_owned(),
            "a content length of 2, 3",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab".to_owned(), "a content length of -1"),
        ("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab".to_owned(), "a content length of +2"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n\r\n".to_owned(), "bad chunk size"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n;x=1\r\n\r\n".to_owned(),
            "bad chunk size",
        ),
        ("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}F".to_owned(), "this port wants https://"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nab".to_owned(),
            "a content length of 184",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".to_owned(),
            "bad chunk size",
        ),
    ] {
        let error = decode(raw.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_coding_beside_the_chunks_is_told_in_either_header() {
    for (headers, coding) in [
        ("Transfer-Encoding: gzip, chunked", Some("gzip")),
        ("Content-Encoding: BR\r\nContent-Length: 0", Some("br")),
        ("Content-Encoding: identity\r\nTransfer-Encoding: chunked", None),
    ] {
        let raw = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n");
        assert_eq!(decode(raw.as_bytes()).unwrap().unwrap().head.coding.as_deref(), coding, "{headers}");
    }
}

#[test]
fn interim_replies_are_passed_over() {
    let raw =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    let reply = decode(raw.as_bytes()).unwrap().unwrap();
    assert_eq!((reply.head.status, reply.head.retry_after.as_deref()), (429, Some("7")));
    assert_eq!(decode(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap(), None);
}

#[test]
fn what_is_no_reply_is_refused() {
    assert!(decode(b"SSH-2.0-OpenSSH_9.6\r\n").is_err());
    let overlong = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n";
    assert!(decode(overlong.as_bytes()).is_err());
}

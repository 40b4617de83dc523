//! One request against sockets that misbehave.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use pacegate::model::profile::Timeouts;
use pacegate::model::report::FailureKind;
use pacegate::source::load::block::{self, Block};
use pacegate::source::load::clock::Clock;
use pacegate::source::load::control;
use pacegate::source::load::endpoint::Endpoint;
use pacegate::source::load::request::Call;
use pacegate::source::load::schedule::Schedule;
use pacegate::source::load::timeline::{Failure, Timeline};
use pacegate::source::load::transcript::Transcript;
use pacegate::source::load::url::BaseUrl;

use crate::replay::{Capture, ROLE, STOP, content};
use crate::server::{Seen, Server, Then, plain, stream, unfinished};

pub fn endpoint(url: &str) -> Endpoint {
    Endpoint::resolve(BaseUrl::parse(url).unwrap(), None).unwrap()
}

pub fn call() -> Call {
    let body = b"{\"stream\":true}".to_vec();
    Call { path: "/v1/chat/completions".to_owned(), body: Some(body), stream: true }
}

fn ask(then: Then) -> Transcript {
    let server = Server::start(move |_| then.clone());
    control::ask(&endpoint(&server.url), &call(), Timeouts::default()).unwrap()
}

pub fn failure(transcript: &Transcript) -> Option<Failure> {
    Timeline::read(transcript).failure
}

fn kind(then: Then) -> Option<FailureKind> {
    failure(&ask(then)).map(|failure| failure.kind)
}

pub fn whole() -> Vec<u8> {
    stream(&[ROLE.to_owned(), content("a"), content("b"), STOP.to_owned(), "[DONE]".to_owned()])
}

#[test]
fn what_a_socket_brings_in_whatever_pieces_is_what_the_recording_says() {
    for capture in Capture::every_file() {
        let name = &capture.name;
        // Long replies in fewer packets, or this takes minutes.
        let small = if capture.raw.len() > 3300 { 13 } else { 1 };
        for pieces in [capture.raw.len(), small] {
            let transcript = ask(Then::Pieces(capture.raw.clone(), pieces));
            assert!(transcript.raw == capture.raw, "{name}: bytes differ");
            let (live, recorded) = (Timeline::read(&transcript), Timeline::read(&capture.transcript()));
            assert_eq!(
                (live.events.len(), live.usage, live.text, live.model, live.status),
                (recorded.events.len(), recorded.usage, recorded.text, recorded.model, recorded.status),
                "{name} in pieces of {pieces}"
            );
            let kind = |failure: Option<Failure>| failure.map(|failure| failure.kind);
            assert_eq!(kind(live.failure), kind(recorded.failure), "{name} in pieces of {pieces}");
        }
    }
}

#[test]
fn a_server_that_closes_after_every_stream_without_a_word_costs_no_request() {
    // Like llama.cpp: the reply is whole, says nothing of closing, and the close follows it.
    let server = Server::start(|_| Then::Close(whole()));
    let block = Block {
        endpoint: Arc::new(endpoint(&server.url)),
        calls: vec![call(); 300].into(),
        schedule: Schedule::Closed(2),
        timeouts: Timeouts::default(),
        clock: Clock::start(),
    };
    let failures = |calls: usize| {
        let mut failed = 0;
        let block = Block { calls: vec![call(); calls].into(), ..block.clone() };
        block::run(&block, &AtomicBool::new(false), |_, record| {
            failed += usize::from(failure(&record).is_some())
        })
        .unwrap();
        failed
    };
    // The warm-up learns it, whether or not it fails.
    failures(50);
    assert_eq!(failures(300), 0);
    let connections: Vec<usize> = server.requests().iter().map(|seen| seen.connection).collect();
    let distinct: std::collections::BTreeSet<&usize> = connections.iter().collect();
    assert!(connections.len() >= 340 && distinct.len() == connections.len(), "a connection was used again");
}

#[test]
fn times_run_from_the_first_byte_written_and_connecting_is_apart() {
    let transcript = ask(Then::Reply(whole()));
    let opened = transcript.opened.unwrap();
    assert!(opened.tcp > 0 && opened.tls.is_none());
    let sent = transcript.sent.unwrap();
    assert!(transcript.begun + opened.tcp <= sent && sent <= transcript.reads[0].at);
    assert!(transcript.reads.is_sorted_by_key(|read| (read.at, read.end)));
    assert_eq!(transcript.reads.last().unwrap().end, transcript.raw.len());
}

#[test]
fn a_connection_is_used_again_and_a_closed_one_is_not() {
    assert_eq!(connections_of(3, None, |_| Then::Reply(whole())), [0, 0, 0]);
    let server = Server::start(|_| Then::Close(whole()));
    let endpoint = endpoint(&server.url);
    for _ in 0..3 {
        let record = control::ask(&endpoint, &call(), Timeouts::default()).unwrap();
        assert_eq!(failure(&record), None);
    }
    assert_eq!(server.requests().iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 1, 2]);
}

/// The connections over which these requests go, one after the other, from one place.
fn connections_of(
    requests: usize,
    header: Option<(&str, &str)>,
    answer: impl Fn(&Seen) -> Then + Send + Sync + 'static,
) -> Vec<usize> {
    let server = Server::start(answer);
    let mut endpoint = endpoint(&server.url);
    if let Some((name, value)) = header {
        endpoint.header(name, value, false).unwrap();
    }
    let block = Block {
        endpoint: Arc::new(endpoint),
        calls: vec![call(); requests].into(),
        schedule: Schedule::Closed(1),
        timeouts: Timeouts::default(),
        clock: Clock::start(),
    };
    block::run(&block, &AtomicBool::new(false), |_, record| assert_eq!(failure(&record), None)).unwrap();
    server.requests().iter().map(|seen| seen.connection).collect()
}

#[test]
fn a_close_that_the_server_announced_concerns_that_connection_alone() {
    let answer = |seen: &Seen| {
        let last = seen.connection == 0;
        let words = if last { "connection: close\r\n" } else { "" };
        let body = r#"{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}"#;
        let reply = plain("200 OK", &format!("content-type: application/json\r\n{words}"), body);
        if last { Then::Close(reply) } else { Then::Reply(reply) }
    };
    assert_eq!(connections_of(4, None, answer), [0, 1, 1, 1]);
}

#[test]
fn a_request_that_asks_for_a_close_is_the_last_on_its_connection() {
    let header = Some(("connection", "te, Close"));
    assert_eq!(connections_of(3, header, |_| Then::Reply(whole())), [0, 1, 2]);
}

#[test]
fn a_refusal_does_not_wait_for_the_rest_of_a_long_prompt() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        // Reads no more than this of a body that no buffer takes whole, and waits for the client to go.
        socket.read_exact(&mut [0; 1024]).unwrap();
        socket.write_all(&plain("413 Payload Too Large", "", "too long")).unwrap();
        socket
    });
    let body = vec![b' '; 64 << 20];
    let call = Call { path: "/v1/chat/completions".to_owned(), body: Some(body), stream: true };
    let record = control::ask(&endpoint(&url), &call, Timeouts::default()).unwrap();
    let failed = failure(&record).unwrap();
    assert_eq!((failed.kind, failed.text.as_str()), (FailureKind::Http4xx, "413 too long"));
    drop(server.join().unwrap());
}

#[test]
fn m29_a_place_takes_the_next_request_the_moment_it_is_free() {
    let server = Server::start(|_| Then::Reply(whole()));
    let block = Block {
        endpoint: Arc::new(endpoint(&server.url)),
        calls: vec![call(); 5].into(),
        schedule: Schedule::Closed(1),
        timeouts: Timeouts::default(),
        clock: Clock::start(),
    };
    let mut records = Vec::new();
    let ran = block::run(&block, &AtomicBool::new(false), |_, record| records.push(record)).unwrap();
    assert_eq!(records.len(), 5);
    assert_eq!(records[0].intended, ran.began);
    for pair in records.windows(2) {
        assert_eq!(pair[1].intended, pair[0].ended);
    }
    // One connection for all of them: a place keeps its own.
    assert!(server.requests().iter().all(|seen| seen.connection == 0));
}

#[test]
fn m1_an_open_loop_intends_its_moments_whatever_the_server_does() {
    let server = Server::start(|_| Then::Reply(whole()));
    let moments = vec![0, 1_000_000, 1_500_000, 9_000_000];
    let block = Block {
        endpoint: Arc::new(endpoint(&server.url)),
        calls: vec![call(); 4].into(),
        schedule: Schedule::Open(moments.clone()),
        timeouts: Timeouts::default(),
        clock: Clock::start(),
    };
    let mut intended = [0; 4];
    let ran = block::run(&block, &AtomicBool::new(false), |index, record| {
        assert!(record.begun >= record.intended);
        intended[index] = record.intended;
    });
    let ran = ran.unwrap();
    assert_eq!(intended.iter().map(|at| at - ran.began).collect::<Vec<_>>(), moments);
    assert_eq!(ran.dropped, 0);
}

#[test]
fn bytes_that_never_stop_coming_meet_the_limit_of_the_whole_request() {
    let mut flood = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
    flood.resize(1 << 20, b'\n');
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        // More than any reply may have; ends when the client goes.
        while socket.write_all(&flood).is_ok() {}
    });
    let limits = Timeouts { total_ms: 20, ..Timeouts::default() };
    let record = control::ask(&endpoint(&url), &call(), limits).unwrap();
    assert_eq!(failure(&record).unwrap().kind, FailureKind::TimeoutTotal);
    server.join().unwrap();
}

#[test]
fn nothing_is_sent_twice() {
    // The server drops every request without a word: a client that retries would send it again.
    let server = Server::start(|_| Then::Close(Vec::new()));
    let record = control::ask(&endpoint(&server.url), &call(), Timeouts::default()).unwrap();
    assert_eq!(failure(&record).unwrap().kind, FailureKind::Connect);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_closed_port_is_a_connection_failure() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let record = control::ask(&endpoint(&url), &call(), Timeouts::default()).unwrap();
    assert_eq!(failure(&record).unwrap().kind, FailureKind::Connect);
    assert_eq!((record.sent, record.opened), (None, None));
}

#[test]
fn a_stream_cut_before_or_after_tokens_is_cut() {
    let tokens = [ROLE.to_owned(), content("a"), content("b")];
    assert_eq!(kind(Then::Close(unfinished(&tokens))), Some(FailureKind::Cut));
    assert_eq!(kind(Then::Close(unfinished(&tokens[..1]))), Some(FailureKind::Cut));
    // All there but for HTTP's own last chunk: `[DONE]` was the end.
    let done = [content("a"), STOP.to_owned(), "[DONE]".to_owned()];
    assert_eq!(kind(Then::Close(unfinished(&done))), None);
    assert_eq!(kind(Then::Close(unfinished(&done[..2]))), Some(FailureKind::Cut));
}

#[test]
fn what_is_no_http_is_malformed() {
    assert_eq!(kind(Then::Close(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec())), Some(FailureKind::Malformed));
    assert_eq!(kind(Then::Reply(plain("200 OK", "", "<html>"))), Some(FailureKind::Malformed));
}

#[test]
fn a_compressed_reply_is_refused() {
    let reply = plain("200 OK", "content-encoding: gzip\r\n", "{}");
    assert_eq!(kind(Then::Reply(reply)), Some(FailureKind::Malformed));
}

#[test]
fn refusals_have_their_kind_and_their_words() {
    use FailureKind::{Http4xx, Http5xx, Http401, Http403, Http404Model, Http404Path, Http429};
    let model = r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#;
    for (status, body, expected) in [
        ("401 Unauthorized", r#"{"error":{"message":"Invalid API Key"}}"#, Http401),
        ("403 Forbidden", "no", Http403),
        ("404 Not Found", r#"{"detail":"Not Found"}"#, Http404Path),
        ("404 Not Found", model, Http404Model),
        ("429 Too Many Requests", "slow down", Http429),
        ("413 Payload Too Large", "", Http4xx),
        ("503 Service Unavailable", "loading", Http5xx),
    ] {
        let failed = failure(&ask(Then::Reply(plain(status, "retry-after: 7\r\n", body)))).unwrap();
        assert_eq!(failed.kind, expected, "{status} {body}");
        assert!(failed.text.starts_with(&status[..3]), "{}", failed.text);
        assert_eq!(failed.retry_after.as_deref(), Some("7"));
    }
}

/// What becomes of a request whose server sends these bytes and nothing more.
fn stalled(bytes: Vec<u8>, call: &Call, limits: Timeouts) -> Transcript {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        assert!(socket.read(&mut [0; 4096]).unwrap() > 0);
        socket.write_all(&bytes).unwrap();
        // Until the client closes.
        let _closed = socket.read(&mut [0; 1]);
    });
    let record = control::ask(&endpoint(&url), call, limits).unwrap();
    server.join().unwrap();
    record
}

fn stalls_after(bytes: Vec<u8>, limits: Timeouts) -> (FailureKind, String) {
    let failed = failure(&stalled(bytes, &call(), limits)).unwrap();
    (failed.kind, failed.text)
}

/// One limit in each test is short. If another fired instead, the test would take a minute and show it.
pub const LONG: Timeouts =
    Timeouts { connect_ms: 60_000, first_token_ms: 60_000, gap_ms: 60_000, total_ms: 60_000 };

#[test]
fn a_server_that_never_answers_meets_the_limit_of_the_first_token() {
    let limits = Timeouts { first_token_ms: 30, ..LONG };
    let expected = (FailureKind::TimeoutFirstToken, "no token within 30 ms".to_owned());
    assert_eq!(stalls_after(Vec::new(), limits), expected);
    // A role and comments are no token.
    let mut bytes = unfinished(&[ROLE.to_owned()]);
    bytes.extend_from_slice(b"8\r\n: ping\n\n\r\n");
    assert_eq!(stalls_after(bytes, limits), expected);
}

#[test]
fn a_reply_that_stops_meets_the_limit_of_the_gap() {
    let limits = Timeouts { gap_ms: 30, ..LONG };
    let expected = (FailureKind::TimeoutGap, "nothing more within 30 ms".to_owned());
    assert_eq!(stalls_after(unfinished(&[content("a")]), limits), expected);
    let mut bytes = plain("200 OK", "content-type: application/json\r\n", r#"{"choices":[]}"#);
    bytes.truncate(bytes.len() - 3);
    let plain = failure(&stalled(bytes, &Call { stream: false, ..call() }, limits)).unwrap();
    assert_eq!((plain.kind, plain.text), expected);
}

#[test]
fn a_stream_that_said_done_is_whole_though_the_server_never_ends_the_reply() {
    let bytes = unfinished(&[content("a"), STOP.to_owned(), "[DONE]".to_owned()]);
    let limits = Timeouts { gap_ms: 30, ..LONG };
    assert_eq!(failure(&stalled(bytes, &call(), limits)), None);
}

#[test]
fn the_whole_request_has_a_limit_of_its_own() {
    let limits = Timeouts { total_ms: 30, ..LONG };
    let expected = (FailureKind::TimeoutTotal, "not finished within 30 ms".to_owned());
    assert_eq!(stalls_after(unfinished(&[content("a")]), limits), expected);
}

#[test]
fn a_thousand_refused_connections_are_a_thousand_records() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let block = Block {
        endpoint: Arc::new(endpoint(&format!("http://127.0.0.1:{port}"))),
        calls: vec![call(); 1000].into(),
        schedule: Schedule::Closed(2),
        timeouts: Timeouts::default(),
        clock: Clock::start(),
    };
    let mut kinds = Vec::new();
    block::run(&block, &AtomicBool::new(false), |_, record| kinds.push(failure(&record).unwrap().kind))
        .unwrap();
    assert_eq!(kinds, [FailureKind::Connect; 1000]);
}

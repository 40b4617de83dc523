//! Each fault by its exact bytes, made here from a good answer to the same prompt.

use pacegate::server::{Ending, Fault, GARBAGE, Record, Running};
use serde_json::{Value, json};

use crate::client::{Answer, CHAT, Client, End, chat, metric, post, server, until_metric};

/// Output tokens, and so events with text. The one in the middle has number 3.
const TOKENS: u32 = 6;
/// The struck event among the chunks: behind the role and three others.
const STRUCK: usize = 4;

/// A good answer's head and chunks, as the struck request would have had them: with its id.
struct Good {
    head: Vec<u8>,
    chunks: Vec<Vec<u8>>,
}

/// A server whose request 1 is struck, and a good answer from its request 0.
fn struck(fault: &str) -> (Running, Good) {
    let running = server(|settings| settings.faults = vec![format!("{fault}@1").parse().unwrap()]);
    let good = Client::connect(running.addr()).post(CHAT, &chat(TOKENS));
    let text = |chunk: &Vec<u8>| {
        let text = String::from_utf8(chunk.clone()).unwrap();
        text.replace("chatcmpl-0000000000000000", "chatcmpl-0000000000000001").into_bytes()
    };
    let good = Good { head: good.head().into_bytes(), chunks: good.chunks().iter().map(text).collect() };
    assert_eq!(good.chunks.len(), 1 + TOKENS as usize + 3, "role, tokens, finish, usage, [DONE]");
    (running, good)
}

fn framed(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in chunks {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// The whole answer with these chunks.
fn stream(good: &Good, chunks: &[Vec<u8>]) -> Vec<u8> {
    [good.head.as_slice(), &framed(chunks), b"0\r\n\r\n"].concat()
}

/// The answer up to the struck event, and the first half of that event's chunk.
fn half_way(good: &Good) -> Vec<u8> {
    let broken = framed(&good.chunks[STRUCK..=STRUCK]);
    [good.head.as_slice(), &framed(&good.chunks[..STRUCK]), &broken[..broken.len() / 2]].concat()
}

fn ask(running: &Running) -> Answer {
    Client::connect(running.addr()).post(CHAT, &chat(TOKENS))
}

fn assert_bytes(answer: &Answer, expected: &[u8], end: End) {
    let shown = String::from_utf8_lossy;
    assert_eq!(shown(&answer.bytes), shown(expected));
    assert_eq!((answer.bytes.as_slice(), answer.end), (expected, end));
}

fn struck_record(running: &Running) -> Record {
    running.records().into_iter().find(|record| record.index == 1).unwrap()
}

fn assert_noted(running: &Running, fault: Fault, ending: Ending, tokens: u32) {
    let record = struck_record(running);
    assert_eq!((record.fault, record.ending, record.tokens), (Some(fault), ending, tokens));
    let sent: u32 = record.sent.iter().map(|sent| sent.tokens).sum();
    assert_eq!(sent, tokens);
}

#[test]
fn split_utf8_cuts_inside_a_character() {
    let (running, mut good) = struck("split-utf8");
    let mut event: Value = serde_json::from_slice(&good.chunks[STRUCK]["data: ".len()..]).unwrap();
    let word = event["choices"][0]["delta"]["content"].take();
    let text = String::from_utf8(good.chunks[STRUCK].clone()).unwrap();
    let text = text.replace(word.as_str().unwrap(), " 東京");
    // 東 is e6 9d b1: one byte on this side of the cut, two on the other.
    let cut = text.find('東').unwrap() + 1;
    let parts = [text.as_bytes()[..cut].to_vec(), text.as_bytes()[cut..].to_vec()];
    good.chunks.splice(STRUCK..=STRUCK, parts);
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::SplitUtf8, Ending::Complete, TOKENS);
}

#[test]
fn split_crlf_cuts_between_cr_and_lf() {
    let (running, mut good) = struck("split-crlf");
    for chunk in &mut good.chunks {
        *chunk = String::from_utf8(chunk.clone()).unwrap().replace('\n', "\r\n").into_bytes();
    }
    let mut first = good.chunks[STRUCK].clone();
    let second = first.split_off(first.len() - 3);
    assert_eq!((first.last(), second.as_slice()), (Some(&b'\r'), b"\n\r\n".as_slice()));
    good.chunks.splice(STRUCK..=STRUCK, [first, second]);
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::SplitCrlf, Ending::Complete, TOKENS);
}

#[test]
fn truncated_chunk_ends_the_connection_inside_a_chunk() {
    let (running, good) = struck("truncated-chunk");
    assert_bytes(&ask(&running), &half_way(&good), End::Closed);
    assert_noted(&running, Fault::TruncatedChunk, Ending::Broken, 3);
}

#[test]
fn reset_resets_the_connection_inside_a_chunk() {
    let (running, good) = struck("reset");
    assert_bytes(&ask(&running), &half_way(&good), End::Reset);
    assert_noted(&running, Fault::Reset, Ending::Broken, 3);
}

#[test]
fn stall_sends_nothing_more_and_stays_in_flight_until_the_client_hangs_up() {
    for (fault, chunks, tokens) in [("stall", STRUCK, 3), ("stall-first", 0, 0)] {
        let (running, good) = struck(fault);
        let mut client = Client::connect(running.addr());
        client.send(&post(CHAT, "", &chat(TOKENS)));
        let expected = [good.head.as_slice(), &framed(&good.chunks[..chunks])].concat();
        assert_eq!(client.exactly(expected.len()), expected);
        let in_flight = r#"vllm:num_requests_running{engine="0",model_name="embedded"}"#;
        // The server has one thread: it has come past the stalled stream to answer this.
        assert_eq!(metric(&running, in_flight), 1.0);
        client.socket.set_nonblocking(true).unwrap();
        let nothing = std::io::Read::read(&mut client.socket, &mut [0]);
        assert_eq!(nothing.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        assert_eq!(struck_record(&running).tokens, tokens);
        drop(client);
        until_metric(&running, in_flight, 0.0);
    }
}

#[test]
fn drip_changes_no_byte() {
    let (running, good) = struck("drip");
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::Drip, Ending::Complete, TOKENS);
}

#[test]
fn two_events_come_in_one_chunk() {
    let (running, mut good) = struck("two-events");
    let both = good.chunks[STRUCK..STRUCK + 2].concat();
    good.chunks.splice(STRUCK..STRUCK + 2, [both]);
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::TwoEvents, Ending::Complete, TOKENS);
    let sent: Vec<u32> = struck_record(&running).sent.iter().map(|sent| sent.tokens).collect();
    assert_eq!(sent, [1, 1, 1, 2, 1]);
}

#[test]
fn garbage_comes_between_good_events() {
    let (running, mut good) = struck("garbage");
    good.chunks.insert(STRUCK, GARBAGE.to_vec());
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::Garbage, Ending::Complete, TOKENS);
}

#[test]
fn an_error_event_ends_the_answer_in_the_middle_or_before_it_began() {
    for (name, fault, before, code) in
        [("error-event", Fault::ErrorEvent, STRUCK, 500), ("error-first", Fault::ErrorFirst, 0, 503)]
    {
        let (running, good) = struck(name);
        let answer = ask(&running);
        let chunks = answer.chunks();
        assert_eq!(chunks.len(), before + 2);
        assert_eq!(chunks[..before], good.chunks[..before]);
        let error = chunks[before].strip_prefix(b"data: ").unwrap().strip_suffix(b"\n\n").unwrap();
        let error: Value = serde_json::from_slice(error).unwrap();
        assert_eq!(error["error"]["code"], code);
        assert_eq!(chunks[before + 1], b"data: [DONE]\n\n");
        assert_eq!((answer.status(), answer.end), (200, End::Complete));
        assert_noted(&running, fault, Ending::Broken, before.saturating_sub(1) as u32);
        let failed =
            r#"vllm:request_success_total{engine="0",finished_reason="error",model_name="embedded"}"#;
        assert_eq!(metric(&running, failed), 1.0);
    }
}

#[test]
fn no_done_ends_well_without_done() {
    let (running, mut good) = struck("no-done");
    assert_eq!(good.chunks.pop().unwrap(), b"data: [DONE]\n\n");
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::NoDone, Ending::Complete, TOKENS);
}

#[test]
fn wrong_usage_lies_to_the_client_and_not_to_the_counters() {
    let (running, mut good) = struck("wrong-usage");
    let usage = String::from_utf8(good.chunks[8].clone()).unwrap();
    let lie = usage
        .replace(r#""total_tokens":15,"completion_tokens":6"#, r#""total_tokens":22,"completion_tokens":13"#);
    assert_ne!(lie, usage);
    good.chunks[8] = lie.into_bytes();
    assert_bytes(&ask(&running), &stream(&good, &good.chunks), End::Complete);
    assert_noted(&running, Fault::WrongUsage, Ending::Complete, TOKENS);
    let made = r#"vllm:generation_tokens_total{engine="0",model_name="embedded"}"#;
    assert_eq!(metric(&running, made), 12.0);
}

#[test]
fn zero_tokens_is_a_stream_of_everything_but_text() {
    let (running, good) = struck("zero-tokens");
    let usage = String::from_utf8(good.chunks[8].clone()).unwrap();
    let none = usage
        .replace(r#""total_tokens":15,"completion_tokens":6"#, r#""total_tokens":9,"completion_tokens":0"#);
    let chunks = [good.chunks[0].clone(), none.into_bytes(), good.chunks[9].clone()];
    assert_bytes(&ask(&running), &stream(&good, &chunks), End::Complete);
    assert_noted(&running, Fault::ZeroTokens, Ending::Complete, 0);
}

#[test]
fn an_answer_in_one_piece_breaks_in_its_body() {
    let body = |mut body: Value| {
        body["stream"] = json!(false);
        body
    };
    for (rule, end) in
        [("truncated-chunk@1", End::Closed), ("reset@1", End::Reset), ("drip@1", End::Complete)]
    {
        let running = server(|settings| settings.faults = vec![rule.parse().unwrap()]);
        let good = Client::connect(running.addr()).post(CHAT, &body(chat(TOKENS)));
        let text = String::from_utf8(good.bytes.clone()).unwrap();
        let mut expected = text.replace("0000000000000000", "0000000000000001").into_bytes();
        if end != End::Complete {
            expected.truncate(good.head().len() + good.body().len() / 2);
        }
        let answer = Client::connect(running.addr()).post(CHAT, &body(chat(TOKENS)));
        assert_bytes(&answer, &expected, end);
    }
}

#[test]
fn a_fault_that_cannot_strike_is_not_noted() {
    // One event has no second to come with, and no usage was asked for.
    for rule in ["two-events@0", "wrong-usage@0"] {
        let running = server(|settings| settings.faults = vec![rule.parse().unwrap()]);
        let mut body = chat(1);
        body["stream_options"] = Value::Null;
        let answer = Client::connect(running.addr()).post(CHAT, &body);
        assert_eq!(answer.events().len(), 3);
        assert_eq!(running.records()[0].fault, None);
    }
}

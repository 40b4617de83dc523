//! Measurement mistakes that users reported of other load generators, one test each, numbered as in
//! `docs/measurement.md`. Those that need sockets are in `sockets.rs`.

use pacegate::model::report::FailureKind;
use pacegate::source::load::timeline::Timeline;

use crate::replay::{Capture, ROLE, STOP, content, stream, transcript, usage};

const MS: f64 = 1e6;

fn ms(at: Option<u64>) -> Option<f64> {
    at.map(|ns| ns as f64 / MS)
}

fn read(events: &[(f64, &str)]) -> Timeline {
    Timeline::read(&stream(events))
}

fn failure(timeline: &Timeline) -> Option<FailureKind> {
    timeline.failure.as_ref().map(|failure| failure.kind)
}

#[test]
fn m3_a_role_only_delta_is_not_the_first_token() {
    let t = read(&[(5.0, ROLE), (214.0, &content("a")), (224.0, STOP)]);
    assert_eq!((ms(t.first_token), ms(t.last_token)), (Some(214.0), Some(214.0)));
    assert_eq!(failure(&t), None);
}

#[test]
fn m4_the_head_the_role_and_the_first_token_are_three_times() {
    let t = read(&[(5.0, ROLE), (1300.0, &content("a")), (1310.0, &content("b")), (1311.0, STOP)]);
    assert_eq!((ms(t.head), ms(t.first_token)), (Some(0.5), Some(1300.0)));
    assert_eq!(t.events.len(), 2);
}

#[test]
fn m5_thinking_is_tokens_and_ends_in_its_own_time() {
    for name in ["reasoning", "reasoning_content"] {
        let thought = format!(r#"{{"choices":[{{"delta":{{"{name}":"hm"}},"finish_reason":null}}]}}"#);
        let t = read(&[(1.0, ROLE), (20.0, &thought), (900.0, &content("a")), (910.0, STOP)]);
        assert_eq!((ms(t.first_token), ms(t.first_output)), (Some(20.0), Some(900.0)), "{name}");
    }
}

#[test]
fn m6_a_first_token_that_never_came_is_absent_and_not_zero() {
    let t = read(&[(1.0, ROLE), (2.0, STOP), (3.0, "[DONE]")]);
    assert_eq!((t.first_token, t.last_token), (None, None));
    assert_eq!(failure(&t), Some(FailureKind::ZeroTokens));
}

#[test]
fn m7_tokens_that_only_usage_claims_are_no_success() {
    let t = read(&[(1.0, ROLE), (2.0, STOP), (3.0, &usage(10, 300)), (3.0, "[DONE]")]);
    let failed = t.failure.unwrap();
    assert_eq!(failed.kind, FailureKind::ZeroTokens);
    assert!(failed.text.contains("claims 300"), "{}", failed.text);
}

#[test]
fn m8_an_answer_of_reasoning_alone_has_tokens_and_divides_by_nothing() {
    let thought = r#"{"choices":[{"delta":{"reasoning_content":"hm"},"finish_reason":"length"}]}"#;
    let t = read(&[(20.0, thought), (21.0, &usage(5, 1)), (21.0, "[DONE]")]);
    assert_eq!((failure(&t), t.output_tokens(), t.time_per_token(1)), (None, Some(1), None));
    assert_eq!((ms(t.first_token), t.first_output), (Some(20.0), None));
}

#[test]
fn m9_usage_counts_beside_empty_text_too() {
    let text_first =
        r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let last = r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":7}}"#;
    assert_eq!(read(&[(1.0, text_first), (2.0, last)]).output_tokens(), Some(7));
}

#[test]
fn m10_empty_choices_are_normal() {
    let t = read(&[(1.0, r#"{"choices":[]}"#), (2.0, &content("a")), (3.0, STOP), (4.0, &usage(5, 1))]);
    assert_eq!((failure(&t), t.output_tokens()), (None, Some(1)));
}

#[test]
fn m11_several_tokens_an_event_divide_time_by_tokens_and_not_by_events() {
    // 5 events 40 ms apart with 4 tokens each: 10 ms a token.
    let texts: Vec<(f64, String)> =
        (0..5).map(|i| (100.0 + 40.0 * f64::from(i), content("w x y z"))).collect();
    let mut events: Vec<(f64, &str)> = texts.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let counted = usage(5, 20);
    events.extend([(261.0, STOP), (261.0, counted.as_str())]);
    let t = read(&events);
    assert_eq!(t.time_per_token(20), Some(10.0 * MS));
    assert_eq!(t.tokens_per_event(20), Some(4.0));
}

#[test]
fn m12_events_that_a_parser_held_back_do_not_slow_the_tokens() {
    // 8 tokens, but the parser let them out in two lumps.
    let lump = content("several words");
    let t = read(&[(100.0, &content("a")), (180.0, &lump), (180.5, STOP), (181.0, &usage(5, 8))]);
    // 4 tokens an event: 80 ms for the 4 after the first event, where the gap between events says 80 ms.
    assert_eq!(t.time_per_token(8), Some(20.0 * MS));
}

#[test]
fn m13_all_tokens_of_the_first_event_are_taken_off_not_one() {
    let counted = |text: &str, n: u32| {
        format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}],"usage":{{"completion_tokens":{n}}}}}"#)
    };
    let t = read(&[
        (100.0, &counted("a b c d", 4)),
        (110.0, &counted("e", 5)),
        (120.0, &counted("f", 6)),
        (121.0, STOP),
    ]);
    assert_eq!(t.tokens_in_first_read, Some(4));
    assert_eq!(t.time_per_token(6), Some(10.0 * MS));
}

#[test]
fn m13_events_that_share_the_first_read_are_all_before_the_first_gap() {
    let both = format!("data: {}\n\ndata: {}\n\n", content("a"), content("b"));
    let rest = format!("data: {}\n\ndata: {STOP}\n\n", content("c"));
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let t = Timeline::read(&transcript(&[(1.0, head), (100.0, both.as_bytes()), (110.0, rest.as_bytes())]));
    assert_eq!((t.events_in_first_read, t.time_per_token(3)), (2, Some(10.0 * MS)));
}

#[test]
fn m16_the_time_to_the_first_token_is_not_in_the_time_per_token() {
    let t =
        read(&[(1000.0, &content("a")), (1010.0, &content("b")), (1020.0, &content("c")), (1021.0, STOP)]);
    assert_eq!(t.time_per_token(3), Some(10.0 * MS));
}

#[test]
fn m35_an_empty_reply_is_no_success_streamed_or_not() {
    for reply in [
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: [DONE]\n\n",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"\"}}]}",
    ] {
        let t = Timeline::read(&transcript(&[(1.0, reply.as_bytes())]));
        assert_eq!(failure(&t), Some(FailureKind::ZeroTokens), "{reply}");
    }
    for folder in ["llama-cpp-python-0.3.36", "vllm-0.32.0-queue-limit"] {
        for capture in Capture::concurrent(folder) {
            let t = Timeline::read(&transcript(&[(1.0, &capture)]));
            assert!(t.failure.is_some() == t.text.is_empty(), "{folder}: {:?}", t.failure);
        }
    }
}

#[test]
fn m38_events_that_share_a_read_are_counted() {
    let draft = Timeline::read(&Capture::named("llama.cpp-b11549-draft/stream-length").transcript());
    assert!(draft.shared_reads > 0 && draft.token_reads < draft.events.len(), "{draft:?}");
    let alone = read(&[(1.0, &content("a")), (2.0, &content("b")), (3.0, STOP)]);
    assert_eq!((alone.shared_reads, alone.token_reads), (0, 2));
}

#[test]
fn a_stream_without_finish_reason_is_cut_whatever_done_says() {
    let t = read(&[(1.0, &content("a")), (2.0, "[DONE]")]);
    assert_eq!(failure(&t), Some(FailureKind::Cut));
}

#[test]
fn a_stream_without_done_is_whole_when_it_has_its_finish_reason() {
    assert_eq!(failure(&read(&[(1.0, &content("a")), (2.0, STOP)])), None);
}

#[test]
fn an_error_event_after_tokens_is_a_failure_and_keeps_its_words() {
    let t = read(&[(1.0, &content("a")), (2.0, r#"{"error":{"message":"out of memory","code":500}}"#)]);
    let failed = t.failure.unwrap();
    assert_eq!((failed.kind, failed.text.as_str()), (FailureKind::ErrorEvent, "500: out of memory"));
}

#[test]
fn an_event_that_is_no_json_makes_the_reply_malformed() {
    let t = read(&[(1.0, &content("a")), (2.0, "{oops"), (3.0, STOP)]);
    assert_eq!(failure(&t), Some(FailureKind::Malformed));
}

#[test]
fn a_stream_whose_content_type_was_lost_is_read_all_the_same() {
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\ndata: {}\n\ndata: {STOP}\n\n",
        content("a")
    );
    let t = Timeline::read(&transcript(&[(7.0, reply.as_bytes())]));
    assert_eq!((failure(&t), ms(t.first_token)), (None, Some(7.0)));
}

/// What the report says of a plain reply.
fn said(status: &str, body: &str) -> String {
    let reply = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n\r\n{body}");
    Timeline::read(&transcript(&[(1.0, reply.as_bytes())])).failure.unwrap().text
}

#[test]
fn a_refusal_is_said_in_the_servers_own_words_whatever_key_they_stand_under() {
    for (status, body, expected) in [
        ("401 x", r#"{"error":"no such key"}"#, "401 no such key"),
        ("401 x", r#"{"message":"No API key found in request"}"#, "401 No API key found in request"),
        ("429 x", r#"{"message":"slow down","code":"quota"}"#, "429 quota: slow down"),
        ("404 x", r#"{"status":404,"error":"Not Found","message":"no route"}"#, "404 Not Found: no route"),
        ("422 x", r#"{"detail":"bad body"}"#, "422 bad body"),
        ("422 x", r#"{"detail":[{"loc":["body"],"msg":"bad"}]}"#, r#"422 [{"loc":["body"],"msg":"bad"}]"#),
        ("400 x", r#"{"errors":[{"msg":"too long"}]}"#, r#"400 {"errors":[{"msg":"too long"}]}"#),
        ("400 x", r#"{"msg":"too long","retcode":7}"#, r#"400 {"msg":"too long","retcode":7}"#),
        ("400 x", r#"[{"error":{"message":"too long"}}]"#, r#"400 [{"error":{"message":"too long"}}]"#),
        ("502 x", "<html>bad gateway</html>", "502 <html>bad gateway</html>"),
        ("500 x", r#""down""#, r#"500 "down""#),
    ] {
        assert_eq!(said(status, body), expected);
    }
}

#[test]
fn a_200_that_is_no_answer_is_said_in_its_own_words() {
    let text = said("200 OK", r#"{"code":1301,"msg":"content blocked"}"#);
    assert!(
        text.contains("no choice at all; it says: {\"code\":1301,\"msg\":\"content blocked\"}"),
        "{text}"
    );
    let text = said("200 OK", "<html>please log in</html>");
    assert!(text.contains("no JSON") && text.contains("please log in"), "{text}");
    let stream = read(&[(1.0, r#"{"status":"error","msg":"engine died"}"#), (2.0, "[DONE]")]);
    let failed = stream.failure.unwrap();
    assert_eq!(failed.kind, FailureKind::ZeroTokens);
    assert!(failed.text.ends_with(r#"it says: {"status":"error","msg":"engine died"}"#), "{}", failed.text);
    assert_eq!(said("200 OK", r#"{"error":"model crashed","choices":[]}"#), "model crashed");
}

#[test]
fn an_error_that_says_nothing_is_none() {
    for nothing in ["null", "false", "\"\"", "{}", "[]", "0"] {
        let with = content("a").replacen('{', &format!("{{\"error\":{nothing},"), 1);
        assert_eq!(failure(&read(&[(1.0, &with), (2.0, STOP)])), None, "{nothing}");
    }
}

#[test]
fn a_count_that_no_answer_has_is_no_count() {
    for absurd in ["4294967296", "18446744073709551615", "18446744073709551616", "1e300", "4294967296.0"] {
        let usage = format!(r#"{{"choices":[],"usage":{{"prompt_tokens":7,"completion_tokens":{absurd}}}}}"#);
        let t = read(&[(1.0, &content("a")), (2.0, STOP), (3.0, &usage)]);
        let told = t.usage.unwrap();
        assert_eq!((told.prompt, told.completion, t.output_tokens()), (Some(7), None, None), "{absurd}");
        assert!(t.absurd_count.is_some_and(|count| count > u64::from(u32::MAX)), "{absurd}");
    }
    let most = read(&[(1.0, &content("a")), (2.0, STOP), (3.0, &usage(7, 4_294_967_295))]);
    assert_eq!((most.output_tokens(), most.absurd_count), (Some(4_294_967_295), None));
}

#[test]
fn a_redirect_is_not_followed_and_says_where_it_points() {
    let reply = "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://other/v1\r\ncontent-length: 0\r\n\r\n";
    let failed = Timeline::read(&transcript(&[(1.0, reply.as_bytes())])).failure.unwrap();
    assert_eq!(failed.kind, FailureKind::Malformed);
    assert!(failed.text.contains("http://other/v1"), "{}", failed.text);
}

#[test]
fn every_known_mistake_has_a_line_and_every_test_that_it_names_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/measurement.md")).unwrap();
    let mut code = String::new();
    for folder in ["tests/load", "src/source/load/tally", "src/source/load/prompts"] {
        for file in std::fs::read_dir(root.join(folder)).unwrap() {
            code += &std::fs::read_to_string(file.unwrap().path()).unwrap();
        }
    }
    for number in 1..=41 {
        let start = format!("| M{number} |");
        let line = page
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap_or_else(|| panic!("M{number} has no line"));
        for name in
            line.split('`').filter(|part| part.contains('_') && part.len() > 30 && !part.contains('/'))
        {
            assert!(code.contains(&format!("fn {name}()")), "M{number}: no test is called {name}");
        }
    }
}

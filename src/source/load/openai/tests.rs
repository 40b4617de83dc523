use super::*;

fn chunk(text: &str) -> Chunk<'_> {
    Chunk::read(text.as_bytes()).unwrap()
}

fn delta(delta: &str) -> Carries {
    chunk(&format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)).carries()
}

#[test]
fn role_only_empty_and_null_deltas_carry_nothing() {
    for nothing in [
        r#"{}"#,
        r#"null"#,
        r#"{"role":"assistant"}"#,
        r#"{"role":"assistant","content":""}"#,
        r#"{"role":"assistant","content":null,"reasoning_content":null,"tool_calls":null}"#,
        r#"{"content":[]}"#,
        r#"{"content":[{"type":"text","text":""}]}"#,
        r#"{"tool_calls":[]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"","arguments":""}}]}"#,
        r#"{"content":7,"reasoning":false,"refusal":{}}"#,
    ] {
        assert_eq!(delta(nothing), Carries::Nothing, "{nothing}");
    }
    for nothing in [r#"{"choices":[]}"#, r#"{"choices":null}"#, r#"{}"#, r#"{"usage":null}"#] {
        assert_eq!(chunk(nothing).carries(), Carries::Nothing, "{nothing}");
    }
}

#[test]
fn reasoning_under_either_name_content_and_tool_calls_are_tokens() {
    assert_eq!(delta(r#"{"reasoning":"hm","content":null}"#), Carries::Reasoning);
    assert_eq!(delta(r#"{"reasoning_content":"hm","content":""}"#), Carries::Reasoning);
    assert_eq!(delta(r#"{"reasoning_content":"hm","content":"a"}"#), Carries::Output);
    assert_eq!(delta(r#"{"content":" "}"#), Carries::Output);
    assert_eq!(delta(r#"{"content":[{"type":"text","text":"a"}]}"#), Carries::Output);
    assert_eq!(delta(r#"{"tool_calls":[{"index":0,"function":{"name":"f"}}]}"#), Carries::Output);
    assert_eq!(delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#), Carries::Output);
    assert_eq!(delta(r#"{"function_call":{"arguments":"{"}}"#), Carries::Output);
    assert_eq!(chunk(r#"{"choices":[{"text":"a"}]}"#).carries(), Carries::Output);
    let second = chunk(r#"{"choices":[{"index":0,"delta":{}},{"index":1,"delta":{"content":"a"}}]}"#);
    assert_eq!(second.carries(), Carries::Output);
}

#[test]
fn texts_come_in_order_and_doubled_reasoning_counts_once() {
    let both = chunk(r#"{"choices":[{"delta":{"reasoning":"r","reasoning_content":"r","content":"c"}}]}"#);
    assert_eq!(both.texts().collect::<String>(), "rc");
    let call =
        chunk(r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}"#);
    assert_eq!(call.texts().collect::<String>(), "f{}");
    assert_eq!(chunk("{\"choices\":[{\"text\":\"\\u6771\"}]}").texts().collect::<String>(), "東");
}

#[test]
fn usage_is_read_wherever_it_stands_and_however_it_is_written() {
    let usage = |text| chunk(text).usage();
    assert_eq!(
        usage(
            r#"{"choices":[],"usage":{"prompt_tokens":25,"completion_tokens":12.0,"total_tokens":37,"prompt_tokens_details":{"cached_tokens":24}}}"#
        ),
        Some(Usage { prompt: Some(25), completion: Some(12), cached: Some(24) })
    );
    assert_eq!(
        usage(
            r#"{"usage":{"prompt_tokens":5,"completion_tokens":null,"prompt_tokens_details":null,"prompt_cache_hit_tokens":4}}"#
        ),
        Some(Usage { prompt: Some(5), completion: None, cached: Some(4) })
    );
    for none in [r#"{"usage":null}"#, r#"{"usage":{}}"#, r#"{"usage":{"completion_tokens":-1}}"#, r#"{}"#] {
        assert_eq!(usage(none), None, "{none}");
    }
}

#[test]
fn every_shape_of_error_is_read() {
    let error = |text| chunk(text).error();
    let line = |text| error(text).unwrap().line().into_owned();
    assert_eq!(
        line(
            r#"{"error":{"message":"over the limit","type":"ServiceUnavailableError","param":null,"code":503}}"#
        ),
        "503: over the limit"
    );
    assert_eq!(
        line(r#"{"error":{"message":"no","type":"invalid_request_error"}}"#),
        "invalid_request_error: no"
    );
    assert_eq!(line(r#"{"error":"boom"}"#), "boom");
    assert_eq!(line(r#"{"object":"error","message":"bad","code":40001}"#), "40001: bad");
    assert_eq!(line(r#"{"detail":"Not Found"}"#), "Not Found");
    assert_eq!(line(r#"{"error":{"reason":"x"}}"#), r#"{"reason":"x"}"#);
    for none in [r#"{"error":null}"#, r#"{"choices":[],"message":"x"}"#, r#"{}"#] {
        assert_eq!(error(none), None, "{none}");
    }
}

#[test]
fn a_404_about_the_model_is_told_from_one_about_the_path() {
    let about = |text| chunk(text).error().unwrap().is_about_the_model();
    assert!(about(
        r#"{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","code":404}}"#
    ));
    assert!(about(r#"{"error":{"message":"nope","code":"model_not_found"}}"#));
    assert!(about(r#"{"error":{"message":"nope","param":"model"}}"#));
    assert!(!about(r#"{"error":{"message":"File Not Found","type":"not_found_error","code":404}}"#));
    assert!(!about(r#"{"detail":"Not Found"}"#));
}

#[test]
fn finish_reasons_are_kept_per_choice() {
    let ends = |text| chunk(text).finishes().collect::<Vec<_>>();
    assert_eq!(ends(r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#), [(1, true)]);
    assert_eq!(ends(r#"{"choices":[{"delta":{},"finish_reason":null}]}"#), [(0, false)]);
    assert_eq!(ends(r#"{"choices":[{"delta":{},"finish_reason":""}]}"#), [(0, false)]);
}

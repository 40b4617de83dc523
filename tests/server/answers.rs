//! Good answers, streamed and not.

use std::time::Duration;

use pacegate::model::Finite;
use pacegate::server::{Latency, Usage};
use serde_json::{Value, json};

use crate::client::{CHAT, Client, chat, post, server};

fn contents(events: &[Value], key: &str) -> Vec<String> {
    let texts = events.iter().filter_map(|event| event["choices"][0]["delta"][key].as_str());
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_stream_has_a_role_every_token_a_reason_usage_and_done() {
    let running = server(|_| {});
    let answer = Client::connect(running.addr()).post(CHAT, &chat(7));
    assert_eq!(answer.status(), 200);
    assert!(answer.head().contains("content-type: text/event-stream"));
    let events = answer.events();
    assert_eq!(events.len(), 1 + 7 + 1 + 1);
    assert_eq!(events[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    assert_eq!(contents(&events, "content").len(), 7);
    let finishes: Vec<&Value> =
        events[..9].iter().map(|event| &event["choices"][0]["finish_reason"]).collect();
    assert_eq!(finishes[..8], [&Value::Null; 8]);
    assert_eq!(finishes[8], "length");
    assert_eq!(events[9]["choices"], json!([]));
    // The template's 4 and one for each of the five words.
    let usage = json!({"prompt_tokens": 9, "total_tokens": 16, "completion_tokens": 7});
    assert_eq!(events[9]["usage"], usage);
    for event in &events {
        assert_eq!(event["id"], "chatcmpl-0000000000000000");
        assert_eq!(event["object"], "chat.completion.chunk");
        assert_eq!(event["model"], "embedded");
    }
    assert_eq!(answer.chunks().len(), 11, "every event is an HTTP chunk of its own");
}

#[test]
fn the_role_can_come_long_before_the_first_token() {
    let running = server(|settings| {
        settings.role_at_once = true;
        settings.latency = Latency::Fixed { first_token: Duration::from_secs(3_600), gap: Duration::ZERO };
    });
    let mut client = Client::connect(running.addr());
    client.send(&post(CHAT, "", &chat(2)));
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\n\n\r\n") {
        bytes.extend(client.exactly(1));
    }
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(r#""delta":{"role":"assistant","content":""}"#), "{text}");
}

#[test]
fn usage_is_told_only_when_asked_for_or_always_or_never() {
    let tells = |usage, asked: bool, stream: bool| {
        let running = server(|settings| settings.usage = usage);
        let mut body = chat(2);
        body["stream"] = json!(stream);
        body["stream_options"]["include_usage"] = json!(asked);
        let answer = Client::connect(running.addr()).post(CHAT, &body);
        let last = if stream { answer.events().pop().unwrap() } else { answer.json() };
        !last["usage"].is_null()
    };
    let table = [
        (Usage::WhenAsked, true, true, true),
        (Usage::WhenAsked, false, true, false),
        (Usage::WhenAsked, false, false, true),
        (Usage::Always, false, true, true),
        (Usage::Never, true, true, false),
        (Usage::Never, true, false, false),
    ];
    for (usage, asked, stream, told) in table {
        assert_eq!(tells(usage, asked, stream), told, "{usage:?}, asked {asked}, streamed {stream}");
    }
}

#[test]
fn continuous_usage_counts_up_with_the_tokens() {
    let running = server(|_| {});
    let mut body = chat(3);
    body["stream_options"]["continuous_usage_stats"] = json!(true);
    let events = Client::connect(running.addr()).post(CHAT, &body).events();
    let told: Vec<u64> =
        events.iter().map(|event| event["usage"]["completion_tokens"].as_u64().unwrap()).collect();
    assert_eq!(told, [0, 1, 2, 3, 3, 3]);
}

#[test]
fn an_event_can_carry_several_tokens() {
    let running = server(|settings| settings.tokens_per_event = 3);
    let events = Client::connect(running.addr()).post(CHAT, &chat(8)).events();
    let words: Vec<usize> =
        contents(&events, "content").iter().map(|text| text.matches(' ').count()).collect();
    assert_eq!(words, [3, 3, 2]);
    assert_eq!(events.last().unwrap()["usage"]["completion_tokens"], 8);
}

#[test]
fn reasoning_comes_before_the_answer_and_a_tool_call_after_it() {
    let running = server(|settings| {
        settings.reasoning_share = Finite::thousandths(250);
        settings.tool_call_share = Finite::thousandths(500);
    });
    let mut client = Client::connect(running.addr());
    let events = client.post(CHAT, &chat(8)).events();
    assert_eq!(contents(&events, "reasoning_content").len(), 2);
    assert_eq!(contents(&events, "content").len(), 2);
    let calls: Vec<&Value> = events
        .iter()
        .map(|event| &event["choices"][0]["delta"]["tool_calls"][0])
        .filter(|call| !call.is_null())
        .collect();
    assert_eq!(calls.len(), 4);
    assert_eq!((&calls[0]["id"], &calls[0]["function"]["name"]), (&json!("call_0"), &json!("look_up")));
    let arguments: String =
        calls.iter().map(|call| call["function"]["arguments"].as_str().unwrap()).collect();
    let parsed: Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(parsed["words"].as_str().unwrap().matches(' ').count(), 4);
    assert_eq!(events[9]["choices"][0]["finish_reason"], "tool_calls");

    let whole =
        client.post(CHAT, &json!({"messages": chat(8)["messages"], "max_tokens": 8, "ignore_eos": true}));
    let message = &whole.json()["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], contents(&events, "reasoning_content").concat());
    assert_eq!(message["content"], contents(&events, "content").concat());
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], arguments);
}

#[test]
fn the_answer_in_one_piece_is_the_streamed_one() {
    let running = server(|_| {});
    let mut client = Client::connect(running.addr());
    let streamed = client.post(CHAT, &chat(6)).events();
    let mut body = chat(6);
    body["stream"] = json!(false);
    let whole = client.post(CHAT, &body).json();
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["choices"][0]["message"]["content"], contents(&streamed, "content").concat());
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    assert_eq!(whole["usage"], streamed[8]["usage"]);
}

#[test]
fn text_completions_have_text_and_no_role() {
    let running = server(|_| {});
    let mut client = Client::connect(running.addr());
    let mut body = json!({"prompt": "The queue", "max_tokens": 3, "ignore_eos": true, "stream": true,
        "stream_options": {"include_usage": true}});
    let events = client.post("/v1/completions", &body).events();
    let texts: Vec<&str> = events.iter().filter_map(|event| event["choices"][0]["text"].as_str()).collect();
    assert_eq!((texts.len(), texts[3]), (4, ""), "three tokens and the finish");
    assert_eq!(events[0]["id"], "cmpl-0000000000000000");
    assert_eq!(events[4]["usage"]["prompt_tokens"], 2);
    body["stream"] = json!(false);
    let whole = client.post("/v1/completions", &body).json();
    assert_eq!(whole["choices"][0]["text"], texts.concat());
    assert_eq!(whole["object"], "text_completion");
}

#[test]
fn early_stops_come_at_the_set_rate_and_say_so() {
    let running = server(|settings| settings.engine.early_stop = Finite::whole(1));
    let mut body = chat(100);
    body["ignore_eos"] = json!(false);
    let events = Client::connect(running.addr()).post(CHAT, &body).events();
    let finish = &events[events.len() - 2]["choices"][0]["finish_reason"];
    let tokens = events.last().unwrap()["usage"]["completion_tokens"].as_u64().unwrap();
    assert_eq!(finish, "stop");
    assert!((10..100).contains(&tokens), "{tokens}");
    assert_eq!(contents(&events, "content").len() as u64, tokens);
}

#[test]
fn a_repeated_prompt_is_cached_and_usage_says_how_much_of_it() {
    let running = server(|settings| settings.models = vec!["prefix_cache".into(), "plain".into()]);
    let mut client = Client::connect(running.addr());
    let mut cached = |model: &str| {
        let prompt = "word ".repeat(50);
        let body = json!({"model": model, "prompt": prompt, "max_tokens": 1});
        client.post("/v1/completions", &body).json()["usage"]["prompt_tokens_details"].clone()
    };
    assert_eq!(cached("prefix_cache"), json!({"cached_tokens": 0}));
    // Three whole blocks of 16.
    assert_eq!(cached("prefix_cache"), json!({"cached_tokens": 48}));
    assert_eq!(cached("plain"), Value::Null);
}

#[test]
fn models_health_and_tokens_are_told() {
    let running = server(|settings| settings.models = vec!["a".into(), "b".into()]);
    let mut client = Client::connect(running.addr());
    let models = client.get("/v1/models").json();
    let ids: Vec<&Value> = models["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(client.get("/health?full=1").status(), 200);
    let tokens = client.post("/tokenize", &json!({"model": "b", "prompt": "one two one"})).json();
    assert_eq!((&tokens["count"], &tokens["max_model_len"]), (&json!(3), &json!(32_768)));
    assert_eq!(tokens["tokens"].as_array().unwrap().len(), 3);
}

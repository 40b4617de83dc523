use crate::source::simulate::traffic::{Prefix, PromptLength};

use super::*;

fn request(prompt_tokens: u32, prefix: Option<Prefix>) -> Request {
    Request { length: PromptLength::Short, prompt_tokens, prefix, output_limit: 50, output_tokens: 50 }
}

fn made(index: u64, run: u64, block: &str, cache: CacheMode, prefix: Option<Prefix>) -> String {
    let key = StreamKey::new(1, "chat/c1");
    let nonce = Nonce::new(run, block);
    match text(&request(64, prefix), index, &key, Scale::default(), &nonce, cache) {
        Prompt::Text(text) => text,
        Prompt::Messages(_) => unreachable!(),
    }
}

fn nonce(text: &str) -> &str {
    text.split('.').next().unwrap()
}

#[test]
fn m23_no_two_prompts_of_any_runs_begin_alike() {
    let prompts =
        [(0, 1, "a"), (1, 1, "a"), (0, 2, "a")].map(|(i, run, b)| made(i, run, b, CacheMode::Unique, None));
    for (n, one) in prompts.iter().enumerate() {
        assert!(prompts[n + 1..].iter().all(|other| nonce(one) != nonce(other)));
        assert_eq!(nonce(one).split(' ').count(), NONCE_WORDS);
    }
    // What follows the nonce is the same in every run, so that runs stay comparable.
    assert_eq!(prompts[0].split_once('.').unwrap().1, prompts[2].split_once('.').unwrap().1);
}

#[test]
fn m24_every_cell_of_a_sweep_has_its_own_nonce() {
    let of = |block| made(0, 1, block, CacheMode::Unique, None);
    assert_ne!(nonce(&of("1/int8_quant/chat/c1")), nonce(&of("1/int8_quant/chat/c8")));
    assert_ne!(nonce(&of("1/int8_quant/chat/c1")), nonce(&of("2/int8_quant/chat/c1")));
}

#[test]
fn shared_prefixes_begin_alike_within_a_block_and_differ_between_runs() {
    let prefix = Some(Prefix { id: 3, tokens: 40 });
    let of = |index, run| made(index, run, "b", CacheMode::SharedPrefix, prefix);
    let (first, second) = (of(0, 1), of(1, 1));
    let alike = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    // 8 words of nonce, and 38 of the 45 other words (40 / 1.05).
    assert_eq!(first[..alike].split_whitespace().count(), 8 + 38);
    assert_ne!(nonce(&first), nonce(&of(0, 2)));
}

#[test]
fn two_probes_give_the_words_of_every_tier() {
    // 100 words were 150 tokens, 500 words 710: 1.4 tokens a word and 10 around them.
    let scale = Scale::of_probes((100, 150), (500, 710)).unwrap();
    assert_eq!(scale.words(1410), 1000);
    assert_eq!(scale.words(1), 1);
    assert_eq!(Scale::of_probes((100, 150), (500, 150)), None);
    assert_eq!(Scale::of_probes((100, 150), (100, 150)), None);
}

#[test]
fn m36_a_tier_is_met_within_2_percent_or_4_tokens() {
    assert!(meets_tier(64, 60.0) && meets_tier(64, 68.0) && !meets_tier(64, 69.0));
    assert!(meets_tier(4096, 4177.0) && !meets_tier(4096, 4178.0));
}

#[test]
fn every_form_of_prompt_file_is_read() {
    let names = |text: &str| -> Vec<(String, usize)> {
        read("p", text).unwrap().into_iter().map(|set| (set.name, set.prompts.len())).collect()
    };
    assert_eq!(
        names(r#"{"short": "hi", "very_long": ["a", {"prompt": "b"}]}"#),
        [("short".to_owned(), 1), ("very_long".to_owned(), 2)]
    );
    assert_eq!(names("{\"prompt\": \"a\"}\n\n\"b\"\n"), [("prompts".to_owned(), 2)]);
    assert_eq!(names(r#"{"messages": [{"role": "user", "content": "a"}]}"#), [("prompts".to_owned(), 1)]);
    assert_eq!(names(r#"["a", "b", "c"]"#), [("prompts".to_owned(), 3)]);
}

#[test]
fn a_bad_prompt_is_refused_by_its_place() {
    let error = |text: &str| read("p.jsonl", text).unwrap_err().to_string();
    assert!(error("\"a\"\n{oops\n").starts_with("p.jsonl:2:"));
    assert!(error("\"a\"\n7\n").contains("line 2"));
    assert!(error(r#"{"short": ["a", 7]}"#).contains("entry 2 of \"short\""));
    assert!(error("[]").contains("no prompt"));
}

#[test]
fn prompts_become_messages_or_a_text() {
    let nonce = Nonce::new(1, "b");
    let messages = Prompt::Messages(vec![
        serde_json::json!({"role": "system", "content": "s"}),
        serde_json::json!({"role": "user", "content": "u"}),
    ]);
    let (name, value) = field(with_nonce(&messages, 0, &nonce, CacheMode::Unique), Api::Chat);
    assert_eq!((name, value[1]["content"].as_str()), ("messages", Some("u")));
    assert!(value[0]["content"].as_str().unwrap().ends_with(".\ns"));
    assert_eq!(field(messages, Api::Completions), ("prompt", Value::String("s\n\nu".to_owned())));
    let (_, value) = field(Prompt::Text("a".to_owned()), Api::Chat);
    assert_eq!(value, serde_json::json!([{"role": "user", "content": "a"}]));
}

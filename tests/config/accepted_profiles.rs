//! Profiles as they are meant.

use std::collections::BTreeMap;

use pacegate::config::{builtin, keys::KEYS};
use pacegate::model::engine::Engine;
use pacegate::model::profile::{
    Api, Arrival, CacheMode, Load, Profile, Prompts, Strategy, Target, Timeouts, Value,
};

use crate::{EXAMPLE, finite, load};

fn profile(text: &str) -> Profile {
    load(text).profiles["p"].profile.clone()
}

fn names(profile: &Profile) -> Vec<&str> {
    profile.strategies.iter().map(|strategy| strategy.name.as_str()).collect()
}

#[test]
fn the_example_is_read_key_by_key() {
    let config = load(EXAMPLE);
    assert_eq!(config.default.as_deref(), Some("chat"));
    let chat = &config.profiles["chat"];
    assert!(!chat.embedded_named);
    assert_eq!(chat.origin.to_string(), "pacegate.toml:3:10");
    let url = |port: u32| Some(format!("http://127.0.0.1:{port}"));
    let expected = Profile {
        name: "chat".to_owned(),
        target: Target::Endpoint { base_url: url(8000), model: "my-model".to_owned(), api: Api::Chat },
        server: Some("h100x8".to_owned()),
        strategies: vec![
            Strategy { name: "baseline".to_owned(), ..Strategy::default() },
            Strategy {
                name: "int8_quant".to_owned(),
                base_url: url(8001),
                headers: BTreeMap::from([("x-team".to_owned(), Value::Env("TEAM".to_owned()))]),
                ..Strategy::default()
            },
        ],
        reference: Some("baseline".to_owned()),
        prompts: Prompts::Traffic(["chat", "rag", "code"].map(str::to_owned).to_vec()),
        prompt_tokens: vec![64, 256, 1024, 4096],
        load: Load::Concurrency(vec![1, 8, 32]),
        requests: 300,
        rounds: 3,
        max_tokens: Some(256),
        warmup: Some(8),
        temperature: finite(0.0),
        seed: 1,
        stream: true,
        cache: CacheMode::Unique,
        timeouts: Timeouts::default(),
        before_block: None,
    };
    assert_eq!(chat.profile, expected);
}

#[test]
fn an_empty_profile_is_the_embedded_engine_with_the_defaults_of_the_key_table() {
    let config = load("[profile.p]\n");
    assert!(!config.profiles["p"].embedded_named);
    let expected = Profile {
        name: "p".to_owned(),
        target: Target::Embedded(Engine::default()),
        server: None,
        strategies: Vec::new(),
        reference: None,
        prompts: Prompts::Traffic(vec!["chat".to_owned()]),
        prompt_tokens: Vec::new(),
        load: Load::Concurrency(vec![8]),
        requests: 300,
        rounds: 3,
        max_tokens: None,
        warmup: None,
        temperature: finite(0.0),
        seed: 1,
        stream: true,
        cache: CacheMode::SharedPrefix,
        timeouts: Timeouts { connect_ms: 10_000, first_token_ms: 120_000, gap_ms: 60_000, total_ms: 600_000 },
        before_block: None,
    };
    assert_eq!(config.profiles["p"].profile, expected);
    // The defaults that the docs show, written out, give the same profile.
    let written: Vec<String> = KEYS
        .iter()
        .filter(|key| key.table == "profile.NAME" && (key.default.starts_with(['[', '0', '1', '3', 't'])))
        .filter(|key| key.default != "the built-in speeds" && !key.default.starts_with("true without"))
        .map(|key| format!("{} = {}\n", key.key, key.default))
        .collect();
    assert_eq!(written.len(), 7, "{written:?}");
    assert_eq!(load(&format!("[profile.p]\n{}", written.concat())).profiles["p"].profile, expected);
}

#[test]
fn a_time_limit_stands_in_the_key_table_as_it_is() {
    let written: String = KEYS
        .iter()
        .filter(|key| key.table == "profile.NAME.timeouts")
        .map(|key| format!("{} = {}\n", key.key, key.default))
        .collect();
    assert_eq!(profile(&format!("[profile.p.timeouts]\n{written}")).timeouts, Timeouts::default());
    let own =
        profile("[profile.p.timeouts]\ngap = \"1.5s\"\ntotal = \"2min\"\nconnect = \"250 ms\"\n").timeouts;
    let expected = Timeouts { connect_ms: 250, gap_ms: 1500, total_ms: 120_000, ..Timeouts::default() };
    assert_eq!(own, expected);
}

#[test]
fn strategies_keep_their_order_behind_the_reference() {
    let text = "[profile.p]\nstrategies = [\"zeta\", \"alpha\", \"baseline\", \"mid\"]\n";
    assert_eq!(names(&profile(text)), ["baseline", "zeta", "alpha", "mid"]);
    let chosen = profile(&format!("{text}reference = \"mid\"\n"));
    assert_eq!(names(&chosen), ["mid", "zeta", "alpha", "baseline"]);
    assert_eq!(chosen.reference.as_deref(), Some("mid"));
    let tables = "[profile.p.strategies.zeta]\n[profile.p.strategies.alpha]\n";
    assert_eq!(names(&profile(tables)), ["zeta", "alpha"]);
    assert_eq!(profile(tables).reference.as_deref(), Some("zeta"));
}

#[test]
fn one_value_stands_for_a_list_of_one() {
    let one = profile("[profile.p]\ntraffic = \"rag\"\nrate = 2\nprompt_tokens = 64\n");
    assert_eq!(one.prompts, Prompts::Traffic(vec!["rag".to_owned()]));
    assert_eq!(one.prompt_tokens, [64]);
    assert_eq!(one.load, Load::Rate { rates: vec![finite(2.0)], arrival: Arrival::Poisson });
    let constant = profile("[profile.p]\nrate = [0.5, 8]\narrival = \"constant\"\n");
    let rates = vec![finite(0.5), finite(8.0)];
    assert_eq!(constant.load, Load::Rate { rates, arrival: Arrival::Constant });
}

#[test]
fn the_engine_table_sets_speeds_and_names_the_embedded_engine() {
    let config = load(
        "[profile.p]\n[profile.p.engine]\ndecode_ms = 20\nfailures = { http_429 = 0.01 }\n\
         [profile.p.engine.strategies.int8_quant]\ndecode_times = 1.2\n",
    );
    assert!(config.profiles["p"].embedded_named);
    let Target::Embedded(engine) = &config.profiles["p"].profile.target else { panic!("not embedded") };
    assert_eq!(engine.decode_ms, finite(20.0));
    assert_eq!(engine.preprocess_ms, Engine::default().preprocess_ms);
    assert_eq!(engine.strategy("int8_quant").decode_times, finite(1.2));
    assert_eq!(engine.strategy("int8_quant").factor, finite(1.5));
    assert!(load("[profile.p]\nembedded = true\n").profiles["p"].embedded_named);
}

#[test]
fn a_model_of_every_strategy_is_enough() {
    let two = profile(
        "[profile.p]\nbase_url = \"https://h/v2\"\napi = \"completions\"\n\
         [profile.p.strategies.a]\nmodel = \"m-a\"\n[profile.p.strategies.b]\nmodel = \"m-b\"\n",
    );
    let base_url = Some("https://h/v2".to_owned());
    assert_eq!(two.target, Target::Endpoint { base_url, model: "m-a".to_owned(), api: Api::Completions });
    // The endpoint itself may come from a flag.
    let flag = profile("[profile.p]\nmodel = \"m\"\n");
    assert_eq!(flag.target, Target::Endpoint { base_url: None, model: "m".to_owned(), api: Api::Chat });
}

#[test]
fn body_fields_become_json() {
    let strategy = profile(
        "[profile.p]\nmodel = \"m\"\n[profile.p.strategies.a]\n\
         body = { top_k = 1, min_p = 0.5, stop = [\"a\", \"b\"], extra = { on = true, name = \"x\" } }\n\
         headers = { X-Team = \"red\" }\n",
    )
    .strategies[0]
        .clone();
    let body = serde_json::to_value(&strategy.body).unwrap();
    let expected = serde_json::json!({
        "top_k": 1, "min_p": 0.5, "stop": ["a", "b"], "extra": { "on": true, "name": "x" }
    });
    assert_eq!(body, expected);
    assert_eq!(strategy.headers, BTreeMap::from([("x-team".to_owned(), Value::Text("red".to_owned()))]));
}

#[test]
fn the_built_in_profiles_are_script_a_and_all_of_it() {
    let smoke = builtin("smoke").unwrap();
    assert_eq!(names(&smoke), ["baseline", "int8_quant", "speculative_decode"]);
    assert_eq!(smoke.prompts, Prompts::Traffic(vec!["chat".to_owned()]));
    assert_eq!(smoke.load, Load::Concurrency(vec![8]));
    assert_eq!((smoke.requests, smoke.rounds), (300, 3));
    assert_eq!(smoke.reference.as_deref(), Some("baseline"));
    assert_eq!(smoke.target, Target::Embedded(Engine::default()));
    let full = builtin("full").unwrap();
    assert_eq!(names(&full), ["baseline", "int8_quant", "speculative_decode", "prefix_cache"]);
    assert_eq!(full.prompts, Prompts::Traffic(["chat", "rag", "code"].map(str::to_owned).to_vec()));
    assert_eq!(full.load, Load::Concurrency(vec![1, 8, 32]));
    assert_eq!((full.requests, full.rounds), (300, 3));
    assert_eq!(builtin("chat"), None);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    assert_eq!(load(&format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"))).gate.rules.len(), 4);
    assert_eq!(crate::refusal("\u{feff}[gate]\r\nx = 1\r\n").split(' ').next(), Some("pacegate.toml:2:1:"));
}

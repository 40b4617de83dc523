//! Refusals: file:line:column, what was found, what is right.

use crate::refusal;

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    (r"profiles = 1",
     r#"1:1: unknown key "profiles" in the file; did you mean "profile"?"#),
    (r#"default = "smok"
[profile.chat]"#,
     r#"1:11: unknown profile "smok"; did you mean "smoke"? There is chat, smoke, full"#),
    (r"[profile.Chat]",
     r#"1:10: the name is "Chat"; expected 1 to 64 of a-z, 0-9, ".", "_" and "-", such as "chat""#),
    (r"[profile.chat]
concurency = 8",
     r#"2:1: unknown key "concurency" in [profile.chat]; did you mean "concurrency"?"#),
    (r"[profile.chat]
concurrency = [1, 8, 0]",
     r"2:22: concurrency is 0; expected a whole number from 1 to 4294967295"),
    (r"[profile.chat]
concurrency = [1, 8, 8]",
     r#"2:22: concurrency names "8" twice"#),
    (r"[profile.chat]
concurrency = []",
     r"2:15: concurrency is []; expected at least one value"),
    (r"[profile.chat]
concurrency = 1
rate = 2.0",
     r"3:1: rate can't stand beside concurrency; a closed loop has a concurrency, an open loop a rate"),
    (r#"[profile.chat]
arrival = "poisson""#,
     r"2:1: arrival can't stand beside concurrency; it spaces requests that are sent at a rate; add rate = [2.0], or remove it"),
    (r"[profile.chat]
rate = [2.0, 0.0]",
     r"2:14: rate is 0.0; expected requests per second above 0"),
    (r"[profile.chat]
requests = 1.5",
     r"2:12: requests is 1.5; expected a whole number from 1 to 4294967295"),
    (r"[profile.chat]
requests = 99999999999",
     r"2:12: requests is 99999999999; expected a whole number from 1 to 4294967295"),
    (r#"[profile.chat]
traffic = ["chat", "rags"]"#,
     r#"2:20: unknown traffic model "rags"; did you mean "rag"? There is chat, rag, code"#),
    (r#"[profile.chat]
traffic = ["chat"]
prompts = "p.jsonl""#,
     r"3:1: prompts can't stand beside traffic; prompts come from a traffic model or from a file"),
    (r#"[profile.chat]
base_url = "127.0.0.1:8000""#,
     r#"2:12: base_url is "127.0.0.1:8000"; expected a URL such as "http://127.0.0.1:8000""#),
    (r#"[profile.chat]
base_url = "http://user:pw@h"
model = "m""#,
     r"2:12: base_url is a URL with a user or password in it; expected a URL without; a key comes from the environment (--api-key-env)"),
    (r#"[profile.chat]
base_url = "http://127.0.0.1:8000""#,
     r#"1:10: [profile.chat] has no model; name the model id that the endpoint serves, such as model = "my-model""#),
    (r#"[profile.chat]
base_url = "http://127.0.0.1:8000"
model = "m"
embedded = true"#,
     r"4:1: embedded can't stand beside base_url; a profile measures the embedded engine or an endpoint"),
    (r#"[profile.chat]
strategies = ["baseline", "int8"]
reference = "int9""#,
     r#"3:13: unknown strategy "int9"; did you mean "int8"? There is baseline, int8"#),
    (r"[profile.chat.strategies.INT8]",
     r#"1:26: the name is "INT8"; expected 1 to 64 of a-z, 0-9, ".", "_" and "-", such as "int8""#),
    (r#"[profile.chat.strategies.a]
base_uri = "http://h""#,
     r#"2:1: unknown key "base_uri" in [profile.chat.strategies.a]; did you mean "base_url"?"#),
    (r#"[profile.chat]
model = "m"
[profile.chat.strategies.a]
headers = { x-team = { evn = "TEAM" } }"#,
     r#"4:22: x-team is { evn = "TEAM" }; expected a text in quotes, or { env = "NAME" } for a variable of the environment"#),
    (r#"[profile.chat]
model = "m"
[profile.chat.strategies.a]
headers = { x-team = 1 }"#,
     r#"4:22: x-team is 1; expected a text in quotes, or { env = "NAME" } for a variable of the environment"#),
    (r#"[profile.chat]
model = "m"
[profile.chat.strategies.a]
body = { stream = false }"#,
     r#"4:10: body is setting "stream"; expected other fields; this one is set by the profile's own keys"#),
    (r#"[profile.chat]
model = "m"
[profile.chat.strategies.a]
body = { at = 2026-01-01 }"#,
     r"4:15: at is 2026-01-01; expected a value that JSON can hold"),
    (r"[profile.chat.engine]
preproces_ms = 6",
     r"2:1: the embedded engine's speeds: unknown field `preproces_ms`, expected one of `preprocess_ms`, `prompt_encode_ms`, `decode_ms`, `congestion`, `noise`, `early_stop`, `failures`, `strategies`"),
    (r#"[profile.chat.engine]
preprocess_ms = "6""#,
     r#"2:17: the embedded engine's speeds: invalid type: string "6", expected f64"#),
    (r"[profile.chat.engine]
preprocess_ms = nan",
     r"2:17: the embedded engine's speeds: NaN is not a finite number"),
    (r"[profile.chat.engine.strategies.int8_quant]
decode_time = 2",
     r"2:1: the embedded engine's speeds: unknown field `decode_time`, expected one of `factor`, `preprocess_times`, `prompt_encode_times`, `decode_times`, `prefix_cache`, `gpu_memory_mb`, `gpu_memory_peak_mb`"),
    (r"[profile.chat.timeouts]
connect = 10",
     r#"2:11: connect is 10; expected a time of 1 ms or more such as "10s""#),
    (r"[profile.chat]
ä = 1",
     r"2:1: not TOML: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    (r#"x = "ä" y"#,
     r"1:9: not TOML: unexpected key or value, expected newline, `#`"),
    (r"[profile.chat",
     r"1:14: not TOML: unclosed table, expected `]`"),
];

#[test]
fn profiles_are_refused_with_place_and_remedy() {
    for (text, expected) in CASES {
        assert_eq!(refusal(text), format!("pacegate.toml:{expected}"), "{text}");
    }
}

//! `pacegate.toml`, from text to profile and policy.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod accepted_gate;
mod accepted_profiles;
mod altered;
mod found;
mod mappings;
mod refused_profiles;
mod refused_rules;
mod refused_waivers;

use std::path::Path;

use pacegate::config::{self, Config};
use pacegate::model::{FieldId, Finite, GroupId, Metric, Statistic};

fn load(text: &str) -> Config {
    config::load(Path::new("pacegate.toml"), text).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    match config::load(Path::new("pacegate.toml"), text) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn finite(value: f64) -> Finite {
    Finite::new(value).unwrap()
}

fn field(group: &str, metric: Metric, statistic: Statistic) -> FieldId {
    FieldId::new(GroupId(group.to_owned()), metric, statistic)
}

/// The example of the documentation, whole.
const EXAMPLE: &str = r#"default = "chat"

[profile.chat]
base_url = "http://127.0.0.1:8000"
model = "my-model"
server = "h100x8"
traffic = ["chat", "rag", "code"]
prompt_tokens = [64, 256, 1024, 4096]
concurrency = [1, 8, 32]
requests = 300
rounds = 3
max_tokens = 256
warmup = 8
[profile.chat.strategies.baseline]
[profile.chat.strategies.int8_quant]
base_url = "http://127.0.0.1:8001"
headers = { x-team = { env = "TEAM" } }

[gate]
"ttft.p95"                    = { max_increase = "10%", min_change = "2ms", max = "3000ms" }
"success_rate"                = { max_decrease = "1pp", min = "95%" }
"speedup_vs_baseline.p95"     = { max_decrease = "10%", direction = "fail-if-reversed" }
"int8_quant/**:ttft.p95"      = { max_increase = "15%" }
run_noise = "5%"
decide = "auto"

[[waiver]]
field = "int8_quant/rag/c32:ttft.p95"
limit = "+25%"
reason = "TEAM-123"
until = 2026-03-01
"#;

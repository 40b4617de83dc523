//! The reports that are explained.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use pacegate::emit::text;
use pacegate::explain::ExplainError;
use pacegate::model::engine::Engine;
use pacegate::model::profile::{CacheMode, Load, Profile, Prompts, Strategy, Target, Timeouts};
use pacegate::model::report::{FailureKind, SourceKind};
use pacegate::model::{Finite, Metric, PercentileDefinition, Report};
use pacegate::source::ingest::{Input, Options, read};
use pacegate::source::simulate::measure;

/// Files under `tests/data/reports/`.
pub const FILES: [&str; 10] =
    [CHAT, INVERTED, SLOWER, CODE_LIST, RAG_BARE, LEVELS, C32, ALL_FAILED, VLLM, VLLM_ALL_FAILED];

pub const CHAT: &str = "original/benchmark-chat-c8.json";
pub const INVERTED: &str = "original/benchmark-chat-c8-inverted.json";
pub const SLOWER: &str = "original/benchmark-chat-c8-int8-slower.json";
pub const CODE_LIST: &str = "original/benchmark-code-c32-list.json";
pub const RAG_BARE: &str = "original/benchmark-rag-c8-bare.json";
pub const LEVELS: &str = "original/benchmark_runner-levels.json";
pub const C32: &str = "original/benchmark_runner-c32.json";
pub const ALL_FAILED: &str = "original/benchmark_runner-all-failed-c32.json";
pub const VLLM: &str = "vllm/0.33.0/clean-completions-c32-defaults.json";
pub const VLLM_ALL_FAILED: &str = "vllm/0.33.0/allfail-500-c8.json";
pub const EMBEDDED: &str = "embedded";
pub const DILUTED: &str = "diluted";
pub const LOAD: &str = "load";
pub const OTHER: &str = "other";

/// Explains for a terminal, as the command does.
pub fn explain(report: &Report, field: Option<&str>) -> Result<String, ExplainError> {
    pacegate::explain::explain(report, field, text::terminal)
}

/// Reads a file as `pacegate explain` does.
fn file(name: &str) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports").join(name);
    let input = Input { strategy: None, path };
    let mut report = read(&[input], &Options::default()).unwrap();
    report.source.files = vec![name.to_owned()];
    report
}

/// Two strategies of the embedded engine, two traffic models, two levels.
pub fn embedded() -> Report {
    let strategy = |name: &str| Strategy { name: name.to_owned(), ..Strategy::default() };
    let profile = Profile {
        name: "smoke".to_owned(),
        target: Target::Embedded(Engine::default()),
        server: None,
        strategies: ["baseline", "int8_quant"].map(strategy).into(),
        reference: Some("baseline".to_owned()),
        prompts: Prompts::Traffic(vec!["chat".to_owned(), "rag".to_owned()]),
        prompt_tokens: Vec::new(),
        load: Load::Concurrency(vec![8, 32]),
        requests: 300,
        rounds: 1,
        max_tokens: None,
        warmup: None,
        temperature: Finite::ZERO,
        seed: 1,
        stream: true,
        cache: CacheMode::Unique,
        timeouts: Timeouts::default(),
        before_block: None,
    };
    measure(&profile, &Engine::default(), &mut |_| (), &AtomicBool::new(false)).unwrap()
}

/// Script A on a busy machine: 1.2 where the table promises 1.8.
fn diluted() -> Report {
    let mut report = file(CHAT);
    let group = &mut report.jobs[0].rounds[0].groups[2];
    assert_eq!(group.id.as_str(), "speculative_decode/chat/c8");
    for value in group.metrics.get_mut(&Metric::E2E).unwrap().stats.values_mut() {
        *value = Finite::new(value.get() * 1.5).unwrap();
    }
    group.speedup_reported.as_mut().unwrap().value = Finite::new(1.2).unwrap();
    report
}

/// pacegate's own load generator: the embedded numbers under its name, with some failures.
fn load() -> Report {
    let mut report = embedded();
    report.source.kind = SourceKind::Load;
    for group in &mut report.jobs[0].rounds[0].groups {
        group.requests.sent = Some(302);
        group.requests.failed.insert(FailureKind::Http429, 2);
        group.shares.clear();
    }
    report.subject.parameters.clear();
    report
}

/// A tool with words of its own.
fn other() -> Report {
    let mut report = file(VLLM);
    report.source.format = Some("some-tool".to_owned());
    for measured in report.jobs[0].rounds[0].groups[0].metrics.values_mut() {
        measured.percentile_definition = Some(PercentileDefinition::Unknown);
        measured.definition = Some("its-own-word".to_owned());
    }
    report
}

/// Any of them by name.
pub fn named(name: &str) -> Report {
    match name {
        EMBEDDED => embedded(),
        DILUTED => diluted(),
        LOAD => load(),
        OTHER => other(),
        file_name => file(file_name),
    }
}

/// All of them.
pub fn all() -> Vec<(&'static str, Report)> {
    let built = [EMBEDDED, DILUTED, LOAD, OTHER];
    FILES.into_iter().chain(built).map(|name| (name, named(name))).collect()
}

//! Every key of `pacegate.toml`, as data: what may be written is read from here, and so are the docs.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The table it stands in; `NAME` and `FIELD` stand for what the user chooses.
    pub table: &'static str,
    /// The key.
    pub key: &'static str,
    /// What is written behind it.
    pub form: &'static str,
    /// What holds where it is not written.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

const fn key(
    table: &'static str,
    key: &'static str,
    form: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { table, key, form, default, meaning }
}

#[rustfmt::skip]
/// The table of keys.
pub const KEYS: &[Key] = &[
    key("", "default", "\"NAME\"", "the only profile", "the profile that `run` takes when none is named"),
    key("", "profile", "[profile.NAME]", "none", "what to measure"),
    key("", "gate", "[gate]", "the built-in rules", "what is tolerated, for every profile"),
    key("", "waiver", "[[waiver]]", "none", "an exception with a reason and a last day"),
    key("", "generic", "[generic.NAME]", "none", "how to read the reports of a tool that is not known: --format generic:NAME"),

    key("profile.NAME", "base_url", "\"http://HOST:PORT\"", "none", "the endpoint; with a path it is used as given, without one /v1 is added"),
    key("profile.NAME", "model", "\"ID\"", "none", "the model id sent to the endpoint"),
    key("profile.NAME", "api", "\"chat\" or \"completions\"", "\"chat\"", "which API is called"),
    key("profile.NAME", "server", "\"h100x8\"", "not recorded", "declared hardware of the server; two reports that differ in it are not comparable"),
    key("profile.NAME", "embedded", "true or false", "true without base_url and model", "measure the embedded engine in virtual time, no endpoint"),
    key("profile.NAME", "engine", "[profile.NAME.engine]", "the built-in speeds", "speeds of the embedded engine: the subject, not part of the workload"),
    key("profile.NAME", "traffic", "[\"chat\", \"rag\", \"code\"]", "[\"chat\"]", "built-in traffic models"),
    key("profile.NAME", "prompts", "\"prompts.jsonl\"", "none", "prompts from a file in place of traffic"),
    key("profile.NAME", "prompt_tokens", "[64, 256]", "as the traffic has them", "prompt lengths in tokens, one group each"),
    key("profile.NAME", "concurrency", "[1, 8, 32]", "[8]", "requests in flight, one group each"),
    key("profile.NAME", "rate", "[2.0, 8.0]", "none", "requests per second in place of concurrency, one group each"),
    key("profile.NAME", "arrival", "\"poisson\" or \"constant\"", "\"poisson\"", "spacing of requests sent at a rate"),
    key("profile.NAME", "requests", "a whole number", "300", "requests per group and round"),
    key("profile.NAME", "rounds", "a whole number", "3", "passes over all groups; noise can be known from three on"),
    key("profile.NAME", "max_tokens", "a whole number", "as the traffic has it", "output limit in tokens"),
    key("profile.NAME", "warmup", "a whole number", "max(2, concurrency)", "requests per level before measuring"),
    key("profile.NAME", "temperature", "a number from 0", "0", "sampling temperature sent to the endpoint"),
    key("profile.NAME", "seed", "a whole number", "1", "seed of prompts, arrivals and the embedded engine; not part of the workload"),
    key("profile.NAME", "stream", "true or false", "true", "stream the answers; without it there is no TTFT"),
    key("profile.NAME", "cache", "\"unique\" or \"shared-prefix\"", "\"unique\"; \"shared-prefix\" on the embedded engine", "whether prompts share prefixes"),
    key("profile.NAME", "before_block", "\"COMMAND\"", "none", "command run before each block, for servers that don't fit one GPU together"),
    key("profile.NAME", "reference", "\"STRATEGY\"", "baseline, else the first", "the strategy that speed-ups divide by"),
    key("profile.NAME", "strategies", "[profile.NAME.strategies.STRATEGY] or a list of names", "one without a name", "ways to serve, one group each"),
    key("profile.NAME", "timeouts", "[profile.NAME.timeouts]", "see there", "time limits of a request"),
    key("profile.NAME", "gate", "[profile.NAME.gate]", "none", "merged over [gate], key by key"),

    key("profile.NAME.strategies.STRATEGY", "base_url", "\"http://HOST:PORT\"", "the profile's", "its own endpoint"),
    key("profile.NAME.strategies.STRATEGY", "model", "\"ID\"", "the profile's", "its own model id"),
    key("profile.NAME.strategies.STRATEGY", "headers", "{ x-team = { env = \"TEAM\" } }", "none", "extra headers, as text or from the environment"),
    key("profile.NAME.strategies.STRATEGY", "body", "{ top_k = 1 }", "none", "extra fields of the request's body"),

    key("profile.NAME.timeouts", "connect", "\"10s\"", "\"10s\"", "until the connection stands"),
    key("profile.NAME.timeouts", "first_token", "\"120s\"", "\"120s\"", "until the first token"),
    key("profile.NAME.timeouts", "gap", "\"60s\"", "\"60s\"", "between two reads"),
    key("profile.NAME.timeouts", "total", "\"600s\"", "\"600s\"", "for the whole request"),

    key("gate", "\"FIELD\"", "{ max_increase = \"10%\" }", "the built-in rules", "a rule for a field such as \"ttft.p95\" or \"int8_quant/**:ttft.p95\"; the most specific wins, keys merge"),
    key("gate", "run_noise", "\"5%\"", "\"5%\"", "assumed noise between two jobs"),
    key("gate", "decide", "\"auto\", \"evidence\" or \"limits\"", "\"auto\"", "who decides: evidence where noise can be known, the limits as written where it can't"),
    key("gate", "blind_above", "\"100%\"", "\"100%\"", "a gate that could not have seen a change of this size is blind: exit 4"),
    key("gate", "unresolved", "\"pass\" or \"fail\"", "\"pass\"", "what it means when everything together, or a metric in all its groups, is over its limits and noise could explain it; a single such field is listed and passes"),
    key("gate", "self_bless", "\"say\" or \"fail\"", "\"say\"", "what it means when a change alters its own baseline or limits"),
    key("gate", "max_drift", "\"20%\"", "no limit", "the most that all blesses together may have worsened a field since the first"),

    key("gate.FIELD", "max_increase", "\"10%\" or \"20ms\"", "see the rules", "how much it may rise, where lower is better; exactly this much passes"),
    key("gate.FIELD", "max_decrease", "\"10%\", \"1pp\" or \"50tok/s\"", "see the rules", "how much it may fall, where higher is better; exactly this much passes"),
    key("gate.FIELD", "min_change", "\"2ms\"", "see the rules", "a change of no more than this never fails"),
    key("gate.FIELD", "max", "\"3000ms\"", "none", "the value may not be above this, whatever the baseline"),
    key("gate.FIELD", "min", "\"95%\"", "see the rules", "the value may not be below this, whatever the baseline"),
    key("gate.FIELD", "direction", "\"fail-if-reversed\" or \"may-reverse\"", "see the rules", "speed-up alone: faster that became slower fails whatever the limit"),
    key("gate.FIELD", "gate", "true or false", "true", "false: the field is shown and not gated"),

    key("waiver", "field", "\"int8_quant/rag/c32:ttft.p95\"", "required", "which field may be worse"),
    key("waiver", "limit", "\"+25%\"", "required", "how much worse, in place of the rule's limit"),
    key("waiver", "reason", "\"TEAM-123\"", "required", "why"),
    key("waiver", "until", "2026-03-01", "required", "the last day; warned 7 days ahead, then it no longer covers anything"),

    key("generic.NAME", "fields", "[generic.NAME.fields]", "required", "the numbers, and where they stand"),
    key("generic.NAME", "each", "\"/levels\"", "the file is one group", "JSON: the list whose elements are groups, places are then in each; \"/\" where the file itself is the list. In a CSV each row is a group"),
    key("generic.NAME", "percentiles", "\"linear\"", "\"of-the-tool\"", "how the tool picks percentiles"),
    key("generic.NAME", "sent", "\"/requests/total\"", "not recorded", "the requests sent, as a JSON pointer or the heading of a CSV column; so are all that follow"),
    key("generic.NAME", "succeeded", "\"/requests/ok\"", "not recorded", "the requests that succeeded; sent and failed do as well"),
    key("generic.NAME", "failed", "\"/requests/failed\"", "not recorded", "the requests that failed"),
    key("generic.NAME", "input_tokens", "\"/tokens/in\"", "not recorded", "prompt tokens of all successful requests"),
    key("generic.NAME", "output_tokens", "\"/tokens/out\"", "not recorded", "output tokens of all successful requests"),
    key("generic.NAME", "strategy", "\"/config/mode\"", "none", "the way to serve, a part of the group's name"),
    key("generic.NAME", "traffic", "\"/config/dataset\"", "none", "the traffic model or data set, a part of the group's name"),
    key("generic.NAME", "concurrency", "\"/config/users\"", "none", "the requests in flight, a part of the group's name"),
    key("generic.NAME", "rate", "\"/config/qps\"", "none", "the requests per second, a part of the group's name"),
    key("generic.NAME", "prompt_tokens", "\"/config/isl\"", "none", "the prompt length, a part of the group's name"),
    key("generic.NAME", "output_limit", "\"/config/osl\"", "not recorded", "the output limit; two reports that differ in it are not comparable"),
    key("generic.NAME", "model", "\"/config/model\"", "not recorded", "the model; two reports that differ in it are not comparable"),
    key("generic.NAME", "server", "\"/config/gpu\"", "not recorded", "the server's hardware; two reports that differ in it are not comparable"),
    key("generic.NAME", "engine", "\"/config/engine\"", "not recorded", "the engine; a difference is said and judged"),
    key("generic.NAME", "tool_version", "\"/version\"", "not recorded", "the tool's version; a difference is said"),

    key("generic.NAME.fields", "\"FIELD\"", "{ at = \"/latency/p95\", unit = \"s\" }", "required", "a number such as \"ttft.p95\" or \"output_throughput\""),

    key("generic.NAME.fields.FIELD", "at", "\"/latency/p95\"", "required", "where it stands"),
    key("generic.NAME.fields.FIELD", "unit", "\"s\"", "required", "its unit in the file"),
    key("generic.NAME.fields.FIELD", "definition", "\"first-byte\"", "the mapping's name", "what the tool means by the metric, in a word; two words are never compared"),
    key("generic.NAME.fields.FIELD", "better", "\"lower\" or \"higher\"", "the metric's", "which side is better; one that is not the metric's own is refused"),
    key("generic.NAME.fields.FIELD", "shown", "true or false", "false", "true: a metric of the tool's own, shown and never gated"),
];

/// The keys of a table.
pub(super) fn of(table: &str) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(move |key| key.table == table).map(|key| key.key)
}

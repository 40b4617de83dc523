//! `[generic.NAME]`: what is taken and what is refused, with file:line:column.

use pacegate::config::alterations;

use crate::{load, refusal};

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    (r"[generic.Own]",
     r#"1:10: the name is "Own"; expected 1 to 64 of a-z, 0-9, ".", "_" and "-", such as "own""#),
    (r"[generic.own]",
     r#"1:10: [generic.own] has no fields; say where the numbers stand, such as "ttft.p95" = { at = "/ttft/p95", unit = "ms" }"#),
    (r"[generic.own.fields]",
     r"1:14: [generic.own.fields] is empty; expected at least one field"),
    (r#"[generic.own]
concurency = "/users""#,
     r#"2:1: unknown key "concurency" in [generic.own]; did you mean "concurrency"?"#),
    (r#"[generic.own]
percentiles = "nearest""#,
     r#"2:15: unknown percentile definition "nearest"; did you mean "nearest-rank"? There is linear, nearest-rank, floor-rank, median-and-floor-rank, inverted-cdf, exclusive, of-the-tool"#),
    (r#"[generic.own]
succeeded = "/ok""#,
     r"1:10: [generic.own] has no sent; one count tells no success rate: name two of sent, succeeded and failed"),
    (r#"[generic.own]
model = "$.config.model""#,
     r#"2:9: model is "$.config.model"; expected a JSON pointer such as "/latency/p95", or the heading of a CSV column"#),
    (r#"[generic.own]
model = "/a~2b""#,
     r#"2:9: model is "/a~2b"; expected a JSON pointer such as "/latency/p95", or the heading of a CSV column"#),
    (r#"[generic.own]
each = "levels""#,
     r#"2:8: each is "levels"; expected a JSON pointer such as "/levels", or "/" where the file itself is the list"#),
    (r#"[generic.own.fields]
"tftt.p95" = { at = "/p95", unit = "ms" }"#,
     r#"2:1: unknown metric "tftt" in "tftt.p95"; did you mean "ttft"?"#),
    (r#"[generic.own.fields]
"ttft_p95" = { at = "/p95", unit = "ms" }"#,
     r#"2:1: unknown metric "ttft_p95" in "ttft_p95"; did you mean "ttft.p95"?"#),
    (r#"[generic.own.fields]
"ttft" = { at = "/p95", unit = "ms" }"#,
     r#"2:1: "ttft" is no field: ttft has several statistics; write "ttft.p95""#),
    (r#"[generic.own.fields]
ttft.p95 = { at = "/p95", unit = "ms" }"#,
     r#"2:1: a dot splits a key that is not quoted; write "ttft.p95" with its quotes"#),
    (r#"[generic.own.fields]
"ttft.p95" = "/p95""#,
     r#"2:14: ttft.p95 is "/p95"; expected a table such as { at = "/latency/p95", unit = "ms" }"#),
    (r#"[generic.own.fields]
"ttft.p95" = { unit = "ms" }"#,
     r#"2:1: "ttft.p95" has no at; say where it stands, as a JSON pointer or the heading of a CSV column"#),
    (r#"[generic.own.fields]
"ttft.p95" = { at = "/p95" }"#,
     r#"2:1: "ttft.p95" has no unit; say which unit it has in the file, such as unit = "ms""#),
    (r#"[generic.own.fields]
"ttft.p95" = { at = "/p95", unit = "msec" }"#,
     r#"2:36: unknown unit for this metric "msec"; there is ms, s, us, ns, min"#),
    (r#"[generic.own.fields]
"ttft.p95" = { at = "/p95", unit = "GB" }"#,
     r#"2:36: unknown unit for this metric "GB"; there is ms, s, us, ns, min"#),
    (r#"[generic.own.fields]
"gpu_memory.max" = { at = "/mem", unit = "Mb" }"#,
     r#"2:42: unknown unit for this metric "Mb"; did you mean "MB"? There is MB, GB, KB, bytes, MiB, GiB"#),
    (r#"[generic.own.fields]
"ttft.p95" = { at = "/p95", unit = "ms", statistic = "p95" }"#,
     r#"2:42: unknown key "statistic" in "ttft.p95"; there is at, unit, definition, better, shown"#),
    (r#"[generic.own.fields]
"output_throughput" = { at = "/r", unit = "tok/s", better = "lower" }"#,
     r#"2:61: better is "lower"; expected nothing else than what output_throughput is: higher is better"#),
    (r#"[generic.own.fields]
"energy" = { at = "/j", unit = "J", shown = true, better = "lower" }"#,
     r#"2:60: better is "lower"; expected nothing: energy is shown and never gates; remove it"#),
    (r#"[generic.own.fields]
"energy" = { at = "/j", unit = "J" }"#,
     r#"2:1: unknown metric "energy" in "energy"; there is success_rate, ttft, ttfo, tpot, itl, e2e, output_throughput, tokens_per_second, request_throughput, speedup_vs_baseline, gpu_memory"#),
    (r#"[generic.own.fields]
"ttft.p95" = { at = "/j", unit = "ms", shown = true }"#,
     r#"2:1: "ttft.p95" is a metric that is known here; remove shown = true"#),
    (r#"[generic.own.fields]
"en ergy.p95" = { at = "/j", unit = "J", shown = true }"#,
     r#"2:1: "en ergy.p95" is no field; write it like "energy" or "queue_time.p95""#),
    (r#"[generic.own.fields]
"speedup_vs_baseline.p95" = { at = "/s", unit = "x" }"#,
     r#"2:1: "speedup_vs_baseline.p95" is never read from a file: it is recomputed from e2e of both strategies"#),
    (r#"[generic.own.fields]
"ttft.p50" = { at = "/p95", unit = "ms" }
"ttft.p95" = { at = "/p95", unit = "ms" }"#,
     r#"3:1: "ttft.p95" reads the same place as "ttft.p50", /p95; each has its own"#),
    (r#"[generic.own]
sent = "/requests"
succeeded = "/requests"
[generic.own.fields]
"ttft.p95" = { at = "/p95", unit = "ms" }"#,
     r#"3:1: "succeeded" reads the same place as "sent", /requests; each has its own"#),
    (r#"[generic.own.fields]
"ttft.p50" = { at = "/p50", unit = "ms", definition = "first-byte" }
"ttft.p95" = { at = "/p95", unit = "ms", definition = "first-token" }"#,
     r#"3:1: "ttft.p95" has the definition "first-token", and another statistic of ttft has "first-byte"; one metric has one"#),
    (r#"[generic.own.fields]
"ttft.p95" = { at = "/p95", unit = "ms" }
"ttft.p95" = { at = "/q95", unit = "ms" }"#,
     r#"3:1: the key "ttft.p95" stands twice"#),
    (r#"[generic.own]
fields = "all""#,
     r#"2:10: fields is "all"; expected a table"#),
];

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, expected) in CASES {
        assert_eq!(refusal(text), format!("pacegate.toml:{expected}"), "{text}");
    }
}

#[test]
fn a_mapping_is_found_by_its_name_or_because_it_is_the_only_one() {
    let one =
        |name: &str| format!("[generic.{name}.fields]\n\"ttft.p95\" = {{ at = \"/p95\", unit = \"ms\" }}\n");
    let config = load(&one("own"));
    assert_eq!(config.mapping(None, "f").unwrap().tool, "own");
    let both = load(&(one("own") + &one("other")));
    assert_eq!(both.mapping(Some("other"), "f").unwrap().tool, "other");
    let said = |name| both.mapping(name, "f").unwrap_err().to_string();
    assert_eq!(said(None), "there are the mappings other, own; say which with --format generic:NAME");
    assert_eq!(said(Some("othr")), "unknown mapping \"othr\"; did you mean \"other\"? There is other, own");
    let none = load("").mapping(None, "pacegate.toml").unwrap_err().to_string();
    assert!(
        none.starts_with(
            "--format generic needs a mapping, and pacegate.toml has none; write [generic.NAME]"
        ),
        "{none}"
    );
}

#[test]
fn a_change_of_a_mapping_is_said() {
    let text = "[generic.own.fields]\n\"ttft.p95\" = { at = \"/p95\", unit = \"ms\" }\n";
    let (old, other) = (load(text), load(&text.replace("/p95", "/p50")));
    assert_eq!(alterations(&old, &other), ["mapping generic.own reads other numbers than before"]);
    assert_eq!(alterations(&old, &load("")), ["mapping generic.own is removed"]);
    assert_eq!(alterations(&load(""), &old), Vec::<String>::new());
}

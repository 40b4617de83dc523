//! Refusals: file:line:column, what was found, what is right.

use crate::refusal;

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    (r#"[gate]
success_rate = { max_decrease = "1pp", min_change = "2pp" }"#,
     r"2:40: min_change of success_rate would have no effect: success_rate is judged by its limit alone and has no min_change; remove it"),
    (r#"[gate]
"speedup_vs_baseline.p95" = { max_decrease = "10%", min_change = "0.5x" }"#,
     r"2:53: min_change of speedup_vs_baseline.p95 would have no effect: speedup_vs_baseline is judged by its limit alone and has no min_change; remove it"),
    (r#"[gate]
"ttft.p95" = { max_increase = "10" }"#,
     r#"2:31: max_increase of ttft.p95 is "10": a bare number can be a percentage or an amount; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = 10 }"#,
     r#"2:31: max_increase of ttft.p95 is 10: a bare number can be a percentage or an amount; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = 0.1 }"#,
     r#"2:31: max_increase of ttft.p95 is 0.1: a bare number can be a percentage or an amount; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = nan }"#,
     r#"2:31: max_increase of ttft.p95 is nan: that is no number with a unit; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "nan%" }"#,
     r#"2:31: max_increase of ttft.p95 is "nan%": that is no number with a unit; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "inf%" }"#,
     r#"2:31: max_increase of ttft.p95 is "inf%": that is no number with a unit; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "-10%" }"#,
     r#"2:31: max_increase of ttft.p95 is "-10%": a limit can't be negative; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "0%" }"#,
     r#"2:31: max_increase of ttft.p95 is "0%": a limit of 0 fails on noise alone; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "0.0 ms" }"#,
     r#"2:31: max_increase of ttft.p95 is "0.0 ms": a limit of 0 fails on noise alone; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "1e3%" }"#,
     r#"2:31: max_increase of ttft.p95 is "1e3%": "e3%" is no unit; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "10pp" }"#,
     r#"2:31: max_increase of ttft.p95 is "10pp": pp is for rates; ttft is in ms; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "10 mss" }"#,
     r#"2:31: max_increase of ttft.p95 is "10 mss": "mss" is no unit (did you mean "ms"?); write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "10MS" }"#,
     r#"2:31: max_increase of ttft.p95 is "10MS": "MS" is no unit (did you mean "ms"?); write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "10tok/s" }"#,
     r#"2:31: max_increase of ttft.p95 is "10tok/s": ttft is in ms, not in tok/s; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = true }"#,
     r#"2:31: max_increase of ttft.p95 is true: that is no amount; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_increase = "" }"#,
     r#"2:31: max_increase of ttft.p95 is "": that is no number with a unit; write "10%" or "20ms""#),
    (r#"[gate]
"ttft.p95" = { max_decrease = "10%" }"#,
     r"2:16: max_decrease says nothing for ttft, where lower is better; write max_increase"),
    (r#"[gate]
"ttft.p95" = { min = "10ms" }"#,
     r"2:16: min says nothing for ttft, where lower is better; write max"),
    (r#"[gate]
"ttft.p95" = { max = "0ms" }"#,
     r#"2:22: max of ttft.p95 is "0ms": nothing takes no time, so this could never pass; write "3000ms" or "3s""#),
    (r#"[gate]
"ttft.p95" = { max = "10%" }"#,
     r#"2:22: max of ttft.p95 is "10%": a percentage of what? This is an amount; write "3000ms" or "3s""#),
    (r#"[gate]
"ttft.p95" = { min_change = "10%" }"#,
     r#"2:29: min_change of ttft.p95 is "10%": a percentage of what? This is an amount; write "2ms""#),
    (r#"[gate]
"ttft.p95" = { max_incraese = "10%" }"#,
     r#"2:16: unknown key "max_incraese" in "ttft.p95"; did you mean "max_increase"?"#),
    (r#"[gate]
"ttft.p95" = { limit = "10%" }"#,
     r#"2:16: unknown key "limit" in "ttft.p95"; there is max_increase, max_decrease, min_change, max, min, direction, gate"#),
    (r#"[gate]
"ttft.p95" = { direction = "fail-if-reversed" }"#,
     r#"2:16: "ttft.p95" is no field: direction is for speedup_vs_baseline; ttft has its direction by itself"#),
    (r#"[gate]
"ttft.p95" = "10%""#,
     r#"2:14: ttft.p95 is "10%"; expected a table such as { max_increase = "10%" }"#),
    (r#"[gate]
ttft.p95 = { max_increase = "10%" }"#,
     r#"2:1: a dot splits a key that is not quoted; write "ttft.p95" with its quotes"#),
    (r#"[gate.ttft.p95]
max_increase = "10%""#,
     r#"1:7: a dot splits a key that is not quoted; write "ttft.p95" with its quotes"#),
    (r#"[gate]
"output_throughput" = { max_increase = "10%" }"#,
     r"2:25: max_increase says nothing for output_throughput, where higher is better; write max_decrease"),
    (r#"[gate]
"output_throughput" = { max_decrease = "100%" }"#,
     r#"2:40: max_decrease of output_throughput is "100%": nothing falls by more than 100 %, so this could never fail; write "10%" or "50tok/s""#),
    (r#"[gate]
"output_throughput" = { max_decrease = "150%" }"#,
     r#"2:40: max_decrease of output_throughput is "150%": nothing falls by more than 100 %, so this could never fail; write "10%" or "50tok/s""#),
    (r#"[gate]
"output_throughput.p95" = { max_decrease = "10%" }"#,
     r#"2:1: "output_throughput.p95" is no field: output_throughput has one value; write "output_throughput""#),
    (r#"[gate]
"success_rate" = { max_decrease = "1%" }"#,
     r#"2:35: max_decrease of success_rate is "1%": a rate changes by percentage points (pp); write "1pp""#),
    (r#"[gate]
"success_rate" = { max_decrease = "100pp" }"#,
     r#"2:35: max_decrease of success_rate is "100pp": nothing falls by more than 100 %, so this could never fail; write "1pp""#),
    (r#"[gate]
"success_rate" = { min = "95pp" }"#,
     r#"2:26: min of success_rate is "95pp": pp is a difference of two rates; write "95%""#),
    (r#"[gate]
"success_rate" = { min = "101%" }"#,
     r#"2:26: min of success_rate is "101%": no rate is above 100 %; write "95%""#),
    (r#"[gate]
"success_rate" = { min = "0.95" }"#,
     r#"2:26: min of success_rate is "0.95": a bare number can be a percentage or an amount; write "95%""#),
    (r#"[gate]
"speedup_vs_baseline.p95" = { direction = "fail-if-revresed" }"#,
     r#"2:43: unknown direction "fail-if-revresed"; did you mean "fail-if-reversed"? There is fail-if-reversed, may-reverse"#),
    (r#"[gate]
"speedup_vs_baseline.mean" = { max_decrease = "10%" }"#,
     r#"2:1: "speedup_vs_baseline.mean" is no field: speedup_vs_baseline is known at percentiles alone; write "speedup_vs_baseline.p95""#),
    (r#"[gate]
"ttft" = { max_increase = "10%" }"#,
     r#"2:1: "ttft" is no field: ttft has several statistics; write "ttft.p95""#),
    (r#"[gate]
"ttft.p9 5" = { max_increase = "10%" }"#,
     r#"2:1: unknown statistic "p9 5" in "ttft.p9 5" (did you mean "p95"?); expected a percentile such as p95 or p99.9, mean, min or max"#),
    (r#"[gate]
"ttft.P95" = { max_increase = "10%" }"#,
     r#"2:1: unknown statistic "P95" in "ttft.P95" (did you mean "p95"?); expected a percentile such as p95 or p99.9, mean, min or max"#),
    (r#"[gate]
"ttft.std" = { max_increase = "10%" }"#,
     r#"2:1: "ttft.std" is no field: the spread of ttft can be shown and never gates; gate a percentile"#),
    (r#"[gate]
"tftt.p95" = { max_increase = "10%" }"#,
     r#"2:1: unknown metric "tftt" in "tftt.p95"; did you mean "ttft"?"#),
    (r#"[gate]
"ttft_p95" = { max_increase = "10%" }"#,
     r#"2:1: unknown metric "ttft_p95" in "ttft_p95"; did you mean "ttft.p95"?"#),
    (r#"[gate]
"latency.p95" = { max_increase = "10%" }"#,
     r#"2:1: unknown metric "latency" in "latency.p95"; there is success_rate, ttft, ttfo, tpot, itl, e2e, output_throughput, tokens_per_second, request_throughput, speedup_vs_baseline, gpu_memory"#),
    (r#"[gate]
"output_tokens.mean" = { max_increase = "10%" }"#,
     r"2:1: output_tokens can be shown and never gates: neither side of it is better; remove this rule"),
    (r#"[gate]
"int8*/rag:ttft.p95" = { max_increase = "10%" }"#,
     r#"2:1: "int8*/rag:ttft.p95" is no field: "int8*" mixes a * with letters; * is one whole part, ** any number of them"#),
    (r#"[gate]
"int8//rag:ttft.p95" = { max_increase = "10%" }"#,
     r#"2:1: "int8//rag:ttft.p95" is no field: a part of the group is empty; write it like "int8_quant/**:ttft.p95""#),
    (r#"[gate]
"int8 /rag:ttft.p95" = { max_increase = "10%" }"#,
     r#"2:1: "int8 /rag:ttft.p95" is no field: "int8 " can't be a part of a group's name"#),
    (r#"[gate]
"itl.p95" = { min_change = "1ms" }"#,
     r#"2:1: "itl.p95" gates nothing: no rule gives it a limit; add max_increase = "10%" or "20ms", or remove it"#),
    (r#"[gate]
"itl.p95" = { gate = true }"#,
     r#"2:1: "itl.p95" gates nothing: no rule gives it a limit; add max_increase = "10%" or "20ms", or remove it"#),
    (r#"[gate]
"ttft.p95" = { }"#,
     r#"2:1: "ttft.p95" says nothing; give it a limit such as max_increase = "10%" or "20ms", or remove it"#),
    (r#"[gate]
"ttft.p95" = { gate = false, max = "3s" }"#,
     r#"2:30: "ttft.p95" has gate = false beside max; remove one of them"#),
    (r#"[gate]
"ttft.p95" = { max_increase = "10%", max_decrease = "10%" }"#,
     r"2:38: max_decrease can't stand beside max_increase; one metric gets worse in one direction alone"),
    (r#"[gate]
run_noize = "5%""#,
     r#"2:1: unknown key "run_noize" in [gate]; did you mean "run_noise"?"#),
    (r"[gate]
run_noise = 0.05",
     r#"2:13: run_noise is 0.05; expected a percentage above 0 such as "5%""#),
    (r#"[gate]
run_noise = "0%""#,
     r#"2:13: run_noise is "0%"; expected a percentage above 0 such as "5%""#),
    (r#"[gate]
decide = "limit""#,
     r#"2:10: unknown value of decide "limit"; did you mean "limits"? There is auto, evidence, limits"#),
    (r"[gate]
decide = true",
     r#"2:10: decide is true; expected "auto" or "evidence" or "limits""#),
    (r#"[gate]
"ttft.p95" = { max = "3s" }
"ttft.p95" = { max = "4s" }"#,
     r#"3:1: the key "ttft.p95" stands twice"#),
    (r#"[profile.chat.gate]
"ttft.p95" = { max_increase = "10" }"#,
     r#"2:31: max_increase of ttft.p95 is "10": a bare number can be a percentage or an amount; write "10%" or "20ms""#),
    (r#"[gate]
"ä:ttft.p95" = { max_increase = "10" }"#,
     r#"2:1: "ä:ttft.p95" is no field: "ä" can't be a part of a group's name"#),
    (r#"[gate]
"ttft.p95" = { max_increase = "10%", max = "ä" }"#,
     r#"2:44: max of ttft.p95 is "ä": that is no number with a unit; write "3000ms" or "3s""#),
    (r#"[gate]
"ttft.p95" = { }"#,
     r#"2:1: "ttft.p95" says nothing; give it a limit such as max_increase = "10%" or "20ms", or remove it"#),
];

#[test]
fn rules_are_refused_with_place_and_remedy() {
    for (text, expected) in CASES {
        assert_eq!(refusal(text), format!("pacegate.toml:{expected}"), "{text}");
    }
}

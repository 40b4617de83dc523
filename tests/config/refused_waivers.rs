//! Refusals: file:line:column, what was found, what is right.

use crate::refusal;

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    (r#"[gate]

[[waiver]]
field = "ttft.p95"
limit = "+25%"
until = 2026-03-01"#,
     r#"3:1: [[waiver]] has no reason; say why, such as reason = "TEAM-123""#),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = " "
until = 2026-03-01"#,
     r#"4:10: reason is " "; expected why it may be worse, such as "TEAM-123""#),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = "T"
until = "2026-03-01""#,
     r#"5:9: until is "2026-03-01"; expected a date without quotes and without a time: until = 2026-03-01"#),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = "T"
until = "March""#,
     r#"5:9: until is "March"; expected a date without quotes and without a time: until = 2026-03-01"#),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = "T"
until = 2026-03-01T00:00:00Z"#,
     r"5:9: until is 2026-03-01T00:00:00Z; expected a date without quotes and without a time: until = 2026-03-01"),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = "T"
until = 2026-02-30"#,
     r"5:9: not TOML: invalid date, expected day between 01 and 28"),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "-25%"
reason = "T"
until = 2026-02-28"#,
     r#"3:9: limit of ttft.p95 is "-25%": lower is better, so it is worse when it rises (+); write "+25%""#),
    (r#"[[waiver]]
field = "output_throughput"
limit = "+25%"
reason = "T"
until = 2026-02-28"#,
     r#"3:9: limit of output_throughput is "+25%": higher is better, so it is worse when it falls (-); write "-25%""#),
    (r#"[[waiver]]
field = "tftt.p95"
limit = "+25%"
reason = "T"
until = 2026-02-28"#,
     r#"2:9: unknown metric "tftt" in "tftt.p95"; did you mean "ttft"?"#),
    (r#"[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = "T"
until = 2026-02-28
[[waiver]]
field = "ttft.p95"
limit = "+25%"
reason = "T"
until = 2026-02-28"#,
     r#"6:1: waiver names "ttft.p95" twice"#),
    (r#"[waiver]
field = "ttft.p95""#,
     r"1:2: waiver is a single table; expected [[waiver]] with two brackets"),
];

#[test]
fn waivers_are_refused_with_place_and_remedy() {
    for (text, expected) in CASES {
        assert_eq!(refusal(text), format!("pacegate.toml:{expected}"), "{text}");
    }
}

//! What a change alters in its own limits.

use pacegate::config::{Config, alterations};

use crate::{EXAMPLE, load};

fn lines(old: &str, new: &str) -> Vec<String> {
    alterations(&load(old), &load(new))
}

#[test]
fn the_same_limits_elsewhere_in_the_file_are_no_alteration() {
    assert!(lines(EXAMPLE, EXAMPLE).is_empty());
    assert!(lines(EXAMPLE, &format!("# a comment\n\n{EXAMPLE}")).is_empty());
    assert!(lines("", "[gate]\n\"ttft.p95\" = { max_increase = \"10%\" }\n").is_empty());
}

#[test]
fn a_loosened_built_in_limit_shows_what_it_replaces() {
    let new = load("[gate]\n\n\"ttft.p95\" = { max_increase = \"25%\" }\n");
    assert_eq!(
        alterations(&Config::default(), &new),
        ["ttft.p95 max_increase: 10% (built-in default) \u{2192} 25% (pacegate.toml:3:1)"]
    );
}

#[test]
fn every_kind_of_alteration_is_one_line() {
    let old = "default = \"a\"\n[profile.a.gate]\n\"itl.p95\" = { max_increase = \"10%\" }\n[profile.b]\n[gate]\n\
               \"success_rate\" = { min = \"99%\" }\nunresolved = \"fail\"\n\
               [[waiver]]\nfield = \"ttft.p95\"\nlimit = \"+25%\"\nreason = \"R\"\nuntil = 2026-01-01\n\
               [[waiver]]\nfield = \"tpot.p95\"\nlimit = \"+25%\"\nreason = \"R\"\nuntil = 2026-01-01\n";
    let new = "[profile.a]\n[gate]\n\
               \"e2e.p95\" = { gate = false }\nrun_noise = \"9%\"\n\
               \"int8/**:ttft.p95\" = { max_increase = \"40ms\", min_change = \"9ms\", max = \"4s\" }\n\
               \"speedup_vs_baseline.p50\" = { direction = \"may-reverse\" }\n\
               [[waiver]]\nfield = \"ttft.p95\"\nlimit = \"+25%\"\nreason = \"R\"\nuntil = 2027-01-01\n\
               [[waiver]]\nfield = \"e2e.p95\"\nlimit = \"+50%\"\nreason = \"TEAM-9\"\nuntil = 2026-01-01\n";
    assert_eq!(
        lines(old, new),
        [
            "default profile: a \u{2192} none",
            "e2e.p95 gate: on \u{2192} off (pacegate.toml:3:1)",
            "success_rate min: 99% (pacegate.toml:6:1) \u{2192} 95% (built-in default)",
            "speedup_vs_baseline.p50 direction: fail-if-reversed (built-in default) \u{2192} may-reverse (pacegate.toml:6:1)",
            "int8/**:ttft.p95 max_increase: none \u{2192} 40ms (pacegate.toml:5:1)",
            "int8/**:ttft.p95 min_change: none \u{2192} 9ms (pacegate.toml:5:1)",
            "int8/**:ttft.p95 max: none \u{2192} 4000ms (pacegate.toml:5:1)",
            "run_noise: default \u{2192} 9 % (pacegate.toml:4:1)",
            "unresolved: fail (pacegate.toml:7:1) \u{2192} default",
            "a: itl.p95 max_increase: 10% (pacegate.toml:3:1) \u{2192} none",
            "profile b is removed",
            "waiver changed: ttft.p95 +25 % until 2026-01-01 \u{2192} +25 % until 2027-01-01 (pacegate.toml:7:1): R",
            "waiver added: e2e.p95 +50 % until 2026-01-01 (pacegate.toml:12:1): TEAM-9",
            "waiver removed: tpot.p95 +25 % until 2026-01-01",
        ]
    );
}

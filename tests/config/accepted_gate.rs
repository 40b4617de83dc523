//! Rules, settings and waivers as they are meant.

use pacegate::config::defaults::RULES;
use pacegate::model::policy::{Allowance, Decide, OnUnresolved, Origin, SelfBless};
use pacegate::model::{Metric, Statistic};
use time::macros::date;

use crate::{EXAMPLE, field, finite, load};

fn limit(text: &str, profile: Option<&str>, group: &str, metric: Metric, statistic: Statistic) -> String {
    let tolerance = load(text).policy(profile).tolerance(&field(group, metric.clone(), statistic)).unwrap();
    tolerance.map_or_else(
        || "not gated".to_owned(),
        |t| format!("{} ({})", t.words(metric.direction(), metric.unit()), t.origin),
    )
}

fn ttft(text: &str, profile: Option<&str>, group: &str) -> String {
    limit(text, profile, group, Metric::TTFT, Statistic::P95)
}

#[test]
fn the_built_in_rules_are_those_of_the_documentation() {
    let written: Vec<String> = RULES.iter().map(|rule| rule.written()).collect();
    let expected = [
        r#""ttft.p50" = { max_increase = "10%", min_change = "2ms" }"#,
        r#""ttft.p95" = { max_increase = "10%", min_change = "2ms" }"#,
        r#""tpot.p50" = { max_increase = "10%", min_change = "0.2ms" }"#,
        r#""tpot.p95" = { max_increase = "10%", min_change = "0.2ms" }"#,
        r#""e2e.p95" = { max_increase = "10%", min_change = "10ms" }"#,
        r#""output_throughput" = { max_decrease = "10%" }"#,
        r#""success_rate" = { max_decrease = "1pp", min = "95%" }"#,
        r#""speedup_vs_baseline.p50" = { max_decrease = "10%", direction = "fail-if-reversed" }"#,
        r#""speedup_vs_baseline.p95" = { max_decrease = "10%", direction = "fail-if-reversed" }"#,
    ];
    assert_eq!(written, expected);
}

#[test]
fn the_built_in_rules_written_into_a_file_say_the_same() {
    let text =
        format!("[gate]\n{}\n", RULES.iter().map(|rule| rule.written()).collect::<Vec<_>>().join("\n"));
    let read = load(&text).gate.rules;
    assert_eq!(read.len(), RULES.len());
    for (rule, built_in) in read.into_iter().zip(RULES) {
        let expected = built_in.rule();
        assert_eq!(rule.pattern, expected.pattern);
        assert_eq!(rule.allowance, expected.allowance);
        assert_eq!((rule.min_change, rule.max, rule.min), (expected.min_change, expected.max, expected.min));
        assert_eq!(rule.fail_if_reversed, expected.fail_if_reversed);
    }
}

#[test]
fn an_empty_file_tolerates_what_the_built_in_rules_say() {
    let policy = load("").policy(None);
    assert_eq!(policy.rules, RULES.iter().map(|rule| rule.rule()).collect::<Vec<_>>());
    assert_eq!((policy.run_noise, policy.blind_above), (finite(0.05), finite(1.0)));
    assert_eq!((policy.decide, policy.unresolved), (Decide::Auto, OnUnresolved::Pass));
    assert_eq!((policy.self_bless, policy.max_drift), (SelfBless::Say, None));
    assert!(policy.waivers.is_empty());
    assert_eq!(ttft("", None, "baseline/chat/c8"), "+10 % and 2 ms (built-in default)");
    assert_eq!(limit("", None, "a", Metric::TTFT, Statistic::P99), "not gated");
}

#[test]
fn the_example_says_what_it_says() {
    let at = |group| ttft(EXAMPLE, Some("chat"), group);
    assert_eq!(at("baseline/chat/c8"), "+10 % and 2 ms, at most 3000.0 ms (pacegate.toml:20:1)");
    assert_eq!(at("int8_quant/rag/c8/p64"), "+15 % and 2 ms, at most 3000.0 ms (pacegate.toml:23:1)");
    let waiver = &load(EXAMPLE).policy(None).waivers[0];
    assert_eq!(waiver.pattern.to_string(), "int8_quant/rag/c32:ttft.p95");
    assert_eq!(waiver.allowance, Allowance::Relative(finite(0.25)));
    assert_eq!((waiver.reason.as_str(), waiver.until), ("TEAM-123", date!(2026 - 03 - 01)));
    assert_eq!(waiver.origin.to_string(), "pacegate.toml:27:1");
}

#[test]
fn every_unit_is_kept_in_the_unit_of_the_metric() {
    let rules = load(
        "[gate]\n\"e2e.p99\" = { max_increase = \"0.5 s\", max = \"1min\", min_change = \"300us\" }\n\
         \"output_throughput\" = { max_decrease = \"50tok/s\", min = \"0tok/s\" }\n\
         \"request_throughput\" = { max_decrease = \"12.5%\" }\n\
         \"success_rate\" = { max_decrease = \"0.5pp\", min = \"99.9%\" }\n\
         \"speedup_vs_baseline.p99\" = { max_decrease = \"0.1x\", min = \"1.2x\" }\n\
         \"gpu_memory.max\" = { max_increase = \"1.5GB\", max = \"40GB\" }\n",
    )
    .gate
    .rules;
    let row = |i: usize| (rules[i].allowance.unwrap(), rules[i].min_change, rules[i].max, rules[i].min);
    let some = |v| Some(finite(v));
    assert_eq!(row(0), (Allowance::Absolute(finite(500.0)), some(0.3), some(60_000.0), None));
    assert_eq!(row(1), (Allowance::Absolute(finite(50.0)), None, None, some(0.0)));
    assert_eq!(row(2), (Allowance::Relative(finite(0.125)), None, None, None));
    assert_eq!(row(3), (Allowance::Points(finite(0.005)), None, None, some(0.999)));
    assert_eq!(row(4), (Allowance::Absolute(finite(0.1)), None, None, some(1.2)));
    assert_eq!(row(5), (Allowance::Absolute(finite(1500.0)), None, some(40_000.0), None));
}

#[test]
fn settings_are_read_and_a_profile_overrides_them() {
    let text = "[gate]\nrun_noise = \"2%\"\ndecide = \"limits\"\nblind_above = \"50%\"\nunresolved = \"fail\"\n\
                self_bless = \"fail\"\nmax_drift = \"20%\"\n[profile.p.gate]\nrun_noise = \"8%\"\ndecide = \"evidence\"\n";
    let all = load(text).policy(Some("another"));
    assert_eq!(
        (all.run_noise, all.blind_above, all.max_drift),
        (finite(0.02), finite(0.5), Some(finite(0.2)))
    );
    assert_eq!(
        (all.decide, all.unresolved, all.self_bless),
        (Decide::Limits, OnUnresolved::Fail, SelfBless::Fail)
    );
    let own = load(text).policy(Some("p"));
    assert_eq!((own.run_noise, own.decide), (finite(0.08), Decide::Evidence));
    assert_eq!((own.blind_above, own.unresolved), (finite(0.5), OnUnresolved::Fail));
}

const MERGED: &str = "[gate]
\"ttft.p95\" = { max_increase = \"20%\", max = \"3s\" }
\"tpot.p95\" = { gate = false }
[profile.p.gate]
\"ttft.p95\" = { max_increase = \"30%\" }
\"tpot.p95\" = { max_increase = \"30%\" }
";

#[test]
fn a_profiles_rule_replaces_the_keys_it_sets_and_no_others() {
    assert_eq!(ttft(MERGED, None, "g"), "+20 % and 2 ms, at most 3000.0 ms (pacegate.toml:2:1)");
    assert_eq!(ttft(MERGED, Some("p"), "g"), "+30 % and 2 ms, at most 3000.0 ms (pacegate.toml:5:1)");
}

#[test]
fn a_profiles_limit_turns_a_field_on_again() {
    let tpot = |profile| limit(MERGED, profile, "g", Metric::TPOT, Statistic::P95);
    assert_eq!(tpot(None), "not gated");
    assert_eq!(tpot(Some("p")), "+30 % and 0.2 ms (pacegate.toml:6:1)");
}

#[test]
fn a_limit_for_some_groups_holds_where_all_others_are_off() {
    let text = "[gate]\n\"ttft.p95\" = { gate = false }\n\"int8/**:ttft.p95\" = { max_increase = \"30%\" }\n";
    assert_eq!(ttft(text, None, "baseline/chat"), "not gated");
    assert_eq!(ttft(text, None, "int8/chat"), "+30 % and 2 ms (pacegate.toml:3:1)");
}

#[test]
fn two_rules_of_one_rank_are_a_tie_with_both_places() {
    let text = "[gate]\n\"*/rag:ttft.p95\" = { max_increase = \"30%\" }\n\"int8/*:ttft.p95\" = { max_increase = \"20%\" }\n";
    let tie =
        load(text).policy(None).tolerance(&field("int8/rag", Metric::TTFT, Statistic::P95)).unwrap_err();
    assert_eq!(
        (tie.first.to_string(), tie.second.to_string()),
        ("pacegate.toml:2:1".to_owned(), "pacegate.toml:3:1".to_owned())
    );
    assert_eq!(tie.key, "the limit");
}

#[test]
fn a_reversal_may_be_tolerated_in_so_many_words() {
    let text = "[gate]\n\"speedup_vs_baseline.p95\" = { direction = \"may-reverse\" }\n";
    let tolerance = |text| {
        load(text).policy(None).tolerance(&field("g", Metric::SPEEDUP, Statistic::P95)).unwrap().unwrap()
    };
    assert!(tolerance("").fail_if_reversed);
    assert!(!tolerance(text).fail_if_reversed);
    assert_eq!(tolerance(text).origin, Origin::Default);
}

#[test]
fn waivers_are_signed_towards_worse_or_not_at_all() {
    let waiver = |field: &str, limit: &str| {
        let text = format!(
            "[[waiver]]\nfield = \"{field}\"\nlimit = \"{limit}\"\nreason = \"R\"\nuntil = 2026-12-31\n"
        );
        load(&text).waivers[0].allowance
    };
    assert_eq!(waiver("ttft.p95", "25%"), Allowance::Relative(finite(0.25)));
    assert_eq!(waiver("ttft.p95", "+ 40 ms"), Allowance::Absolute(finite(40.0)));
    assert_eq!(waiver("output_throughput", "-25%"), Allowance::Relative(finite(0.25)));
    assert_eq!(waiver("output_throughput", "\u{2212}25%"), Allowance::Relative(finite(0.25)));
    assert_eq!(waiver("*/rag/**:success_rate", "-2pp"), Allowance::Points(finite(0.02)));
}

//! Sentences that must be true.

use pacegate::model::policy::{Allowance, Origin, Tolerance};
use pacegate::model::reason::OwnBaseline;
use pacegate::model::{Direction, GroupId, Reason, Unit};

use crate::build::{self, finite};
use crate::summaries::{group, policy, report};

fn tolerance() -> Tolerance {
    Tolerance {
        allowance: None,
        min_change: None,
        max: None,
        min: None,
        fail_if_reversed: false,
        origin: Origin::Default,
        bound_origin: Origin::Default,
    }
}

#[test]
fn a_limit_is_a_list_of_what_there_is() {
    let words = |tolerance: Tolerance| tolerance.words(Direction::LowerIsBetter, Unit::Millisecond);
    let limit = Some(Allowance::Relative(finite(0.1)));
    let (min_change, max) = (Some(finite(2.0)), Some(finite(3000.0)));
    assert_eq!(
        words(Tolerance { allowance: limit, min_change, max, ..tolerance() }),
        "+10 % and 2 ms, at most 3000.0 ms"
    );
    assert_eq!(words(Tolerance { min_change, max, ..tolerance() }), "at most 3000.0 ms");
    assert_eq!(words(Tolerance { fail_if_reversed: true, ..tolerance() }), "never reversed");
    assert_eq!(words(tolerance()), "");
}

#[test]
fn no_success_without_a_count_says_so() {
    let requests = pacegate::model::report::Requests::default();
    let reason = Reason::NoSuccess { group: GroupId("c8".into()), requests };
    assert_eq!(
        reason.to_string(),
        "no request of c8 succeeded (how many were sent is not recorded): it has no latency to speak of"
    );
}

#[test]
fn a_slip_in_a_rule_comes_with_what_was_meant() {
    let suggestion = |field: &str, glob: Option<&str>| {
        let mut rules = policy();
        let mut rule = build::rule(field, Allowance::Relative(finite(0.1)));
        rule.pattern.group = glob.map(|glob| glob.split('/').map(str::to_owned).collect());
        rule.origin = Origin::Flag("pacegate.toml:2:1".into());
        rules.rules.push(rule);
        let same = report(vec![group(None, 1.0)]);
        let verdict = build::judge(&build::blessed(vec![same.clone()]), &same, &rules, &[]);
        assert_eq!(verdict.exit_code, 3);
        verdict.problems[0].to_string()
    };
    let ends = |text: String, end: &str| assert!(text.ends_with(end), "{text}");
    ends(suggestion("ttft.p59", None), "so it can never fail; did you mean ttft.p95?");
    ends(suggestion("ttft.p98", None), "so it can never fail; did you mean ttft.p99?");
    ends(suggestion("ttft.p59", Some("c8")), "so it can never fail; did you mean c8:ttft.p95?");
    ends(suggestion("ttft.p95", Some("c64")), "so it can never fail; did you mean c8:ttft.p95?");
    ends(suggestion("itl.p95", None), "matches no field, so it can never fail");
}

#[test]
fn an_altered_baseline_says_what_happened_to_it_and_who_judges() {
    let text = |own: OwnBaseline| {
        let (path, git_ref) = ("b.json".to_owned(), "main".to_owned());
        let text = Reason::BaselineAltered { path, git_ref, own }.to_string().replace('"', "");
        text.strip_prefix("THIS CHANGE ALTERS ITS OWN BASELINE: ").unwrap().to_owned()
    };
    let by_ref =
        |why: &str| format!("b.json differs from main; judged by the copy of that ref, because {why}");
    assert_eq!(
        text(OwnBaseline::Followed("TEAM-1".into())),
        "b.json differs from main; its ledger gives the reason TEAM-1, so the new one is judged by"
    );
    assert_eq!(text(OwnBaseline::NoReason), by_ref("this change's ledger gives no reason"));
    assert_eq!(text(OwnBaseline::Edited), by_ref("this change edited the file and did not bless it"));
    assert_eq!(text(OwnBaseline::Rewritten), by_ref("this change rewrote the ledger, which no bless does"));
    assert_eq!(
        text(OwnBaseline::Removed),
        "b.json was removed and is there at main; judged by the copy of that ref"
    );
    assert!(
        text(OwnBaseline::Copied)
            .starts_with("b.json is not at main; nothing judges, because its ledger was copied")
    );
    assert!(
        text(OwnBaseline::NotAtRef)
            .starts_with("b.json is not at main; nothing judges, because its ledger gives no")
    );
}

#[test]
fn a_short_duet_is_lifted_by_more_rounds_and_not_by_blessed_jobs() {
    let mut duet = report(vec![group(None, 1.0)]);
    duet.jobs[0].rounds[0].against = duet.jobs[0].rounds[0].groups.clone();
    let verdict = build::judge(&build::blessed(Vec::new()), &duet, &policy(), &[]);
    assert_eq!(verdict.lifts.as_deref(), Some("2 more rounds of both endpoints (tier duet)"));
    assert!(verdict.duet && verdict.baseline.is_none());
    let text = pacegate::emit::terminal(&verdict, pacegate::emit::Style::default());
    assert!(text.starts_with("DUET: both sides are of this report, measured in turn; "), "{text}");
    assert!(text.contains("held against  the other endpoint, measured in turn in the same report"), "{text}");
}

#[test]
fn a_commit_is_short_unless_that_would_hide_that_it_changed() {
    let changed = |old: &str, new: &str| {
        let (old, new) = (Some(old.to_owned()), Some(new.to_owned()));
        Reason::ParameterChanged { name: "commit".to_owned(), old, new }.to_string()
    };
    assert_eq!(
        changed("0123456789abcdef", "fedcba9876543210"),
        "\"commit\" changed: \"0123456\" \u{2192} \"fedcba9\""
    );
    assert_eq!(
        changed("0123456789", "0123456abc"),
        "\"commit\" changed: \"0123456789\" \u{2192} \"0123456abc\""
    );
}

#[test]
fn many_fields_with_too_few_samples_are_one_line() {
    let few = |groups: Vec<u32>| {
        let groups = groups.into_iter().map(|level| {
            let mut group = group(None, 1.0);
            group.dimensions.concurrency = Some(level);
            group.id = group.dimensions.id();
            group.metrics.values_mut().for_each(|measurement| measurement.n = Some(60));
            group
        });
        let same = report(groups.collect());
        let policy = pacegate::config::Config::default().policy(None);
        build::judge(&build::blessed(vec![same.clone()]), &same, &policy, &[])
    };
    let verdict = few(vec![1, 8]);
    let style = pacegate::emit::Style::default();
    let line = "6 fields have too few samples to be judged (e2e.p95, tpot.p95, ttft.p95; 60 in the smallest round, 72 needed); \
                p50 is judged in their place";
    let text = pacegate::emit::terminal(&verdict, style);
    assert_eq!(text.matches("too few samples to be judged").count(), 1, "{text}");
    assert!(text.contains(&format!("Worth a look\n  - {line}\n")), "{text}");
    assert!(pacegate::emit::markdown(&verdict).contains("6 fields have too few samples to be judged"));
    let verbose = pacegate::emit::Style { detail: pacegate::emit::Detail::Verbose, ..style };
    let text = pacegate::emit::terminal(&verdict, verbose);
    assert_eq!(
        text.matches("60 samples in its smallest round and needs 72 to be judged").count(),
        6,
        "{text}"
    );
}

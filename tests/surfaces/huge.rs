//! Five thousand groups: every limit of every reader holds, and what is left out is counted.

use std::path::Path;

use pacegate::emit::{MARKDOWN_LIMIT, github, junit, markdown, openmetrics};
use pacegate::model::*;

use crate::junit::{cases, run};
use crate::oracle::commands;
use crate::samples::{finding, regression_with_a_cause};

const GROUPS: usize = 5000;

/// Every field of every group regressed, under names as long as names can be.
fn huge() -> Verdict {
    let mut v = regression_with_a_cause();
    v.findings.clear();
    for at in 0..GROUPS {
        let group = format!("{}/c{at:04}", "long-name.".repeat(25));
        assert!(group.len() <= 256);
        for (name, old, new) in
            [("success_rate", 1.0, 0.9), ("ttft.p95", 412.0, 489.1), ("e2e.p95", 2980.5, 3980.5)]
        {
            v.findings.push(finding(&format!("{group}:{name}"), Judgement::Regressed, Some(old), Some(new)));
        }
    }
    v.findings.sort_by_key(|f| f.field.metric != Metric::SUCCESS_RATE);
    let long = |text: &str| text.repeat(20_000);
    v.what_changed = (0..GROUPS)
        .map(|at| Reason::ParameterChanged { name: format!("p{at}"), old: Some(long("a")), new: None })
        .take(40)
        .collect();
    v.notes =
        (0..GROUPS).map(|at| Reason::SourceSays { text: format!("{at} {}", long("`")) }).take(40).collect();
    v.candidate.model = Some(long("m"));
    let strategies = (0..GROUPS).map(|at| format!("strategy_{at}")).collect();
    v.problems = vec![Reason::NoReference { wanted: Some("x".to_owned()), strategies }];
    v.counts.required = v.findings.len();
    v
}

/// For the readers of `scripts/consumers`.
fn keep(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("surfaces");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn the_summary_fits_a_comment_and_counts_what_it_leaves_out() {
    let page = markdown(&huge());
    keep("huge.md", &page);
    assert!(page.len() < MARKDOWN_LIMIT, "{} bytes", page.len());
    assert!(page.starts_with("### \u{274c} REGRESSION: 15000 of 15000 required fields got worse"));
    assert!(page.contains("and 14988 more fields\n"), "the open table");
    assert!(page.ends_with("<!-- pacegate:chat -->\n"));
    assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    assert!(page.contains("**Reproduce this locally:** `pacegate run --profile chat`"));
}

#[test]
fn annotations_are_ten_of_a_kind_at_most() {
    let lines = github(&huge(), None);
    keep("huge.txt", &lines);
    let all = commands(&lines);
    for name in ["error", "warning", "notice"] {
        assert!(all.iter().filter(|c| c.name == name).count() <= 10, "{lines}");
    }
    assert!(all.iter().all(|c| c.data.encode_utf16().count() <= 4096));
    assert!(all.iter().any(|c| c.data == "14993 more in the summary"), "{lines}");
}

#[test]
fn junit_stays_far_below_ten_megabytes_and_fails_for_what_it_leaves_out() {
    let xml = junit(&huge(), &run());
    keep("huge.xml", &xml);
    assert!(xml.len() < 6_000_000, "{} bytes", xml.len());
    let all = cases(&xml);
    let (kind, message, _) = &all["pacegate.more"];
    assert_eq!(kind, "failure");
    assert_eq!(
        *message,
        format!("not in this file: {n} more fields, {n} of them failing or errors", n = 15_002 - all.len())
    );
    assert!(all.values().all(|(_, message, text)| message.len() <= 8192 && text.len() <= 8192));
}

#[test]
fn openmetrics_has_every_series_once() {
    let text = openmetrics(&huge());
    keep("huge.prom", &text);
    let series = crate::openmetrics::read(&text);
    let of = |family: &str| series.keys().filter(|(name, _)| name == family).count();
    assert_eq!(of("pacegate_ttft_seconds"), 2 * GROUPS);
    assert_eq!(of("pacegate_field_fails"), 3 * GROUPS);
}

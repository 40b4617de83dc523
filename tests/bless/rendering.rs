//! The text of the file, and its diff.

use pacegate::baseline::{MOST_BYTES, RenderError, diff, fresh, parse, render};
use pacegate::model::report::SourceKind;
use pacegate::model::{Metric, Samples};

use crate::build::{REASON, bless, first, group, job, report, report_of};

#[test]
fn the_summary_comes_first_with_units_and_one_value_a_line() {
    let two = |seed| vec![group("baseline", 1.0, seed), group("int8_quant", 0.5, seed)];
    let text = render(&fresh(&report_of(vec![job("job-1", 0, two)]))).unwrap();
    let head: Vec<&str> = text.lines().skip(1).take(20).map(str::trim).collect();
    assert_eq!(
        head,
        [
            r#""schema": "pacegate.baseline/1","#,
            r#""tool": {"#,
            r#""name": "pacegate","#,
            &format!(r#""version": "{}""#, env!("CARGO_PKG_VERSION")),
            "},",
            r#""profile": "chat","#,
            r#""summary": {"#,
            r#""Jobs": "1","#,
            r#""Model that answered": "model-a","#,
            r#""Requests sent": "1200","#,
            r#""Requests succeeded": "1200","#,
            r#""Tokens in": "12000","#,
            r#""Tokens out": "120000","#,
            r#""baseline/chat/c8:e2e.p50": "4000.0 ms","#,
            r#""baseline/chat/c8:e2e.p95": "4720.0 ms","#,
            r#""baseline/chat/c8:e2e.p99": "4784.0 ms","#,
            r#""baseline/chat/c8:output_throughput": "1000.0 tok/s","#,
            r#""baseline/chat/c8:success_rate": "100.00 %","#,
            r#""baseline/chat/c8:ttft.p50": "400.0 ms","#,
            r#""baseline/chat/c8:ttft.p95": "472.0 ms","#,
        ]
    );
    assert!(text.contains(r#""int8_quant/chat/c8:speedup_vs_baseline.p95": "2.00x","#));
    assert!(text.ends_with("}\n"));
    for line in text.lines() {
        assert!(line.matches("\": ").count() <= 1, "two values in a line: {line}");
    }
}

#[test]
fn a_simulated_baseline_says_so_at_its_top() {
    let mut simulated = report("job-1", 1.0, 1);
    simulated.source.kind = SourceKind::Simulate;
    assert_eq!(fresh(&simulated).summary["SIMULATED"], "no endpoint was measured");
    assert!(!fresh(&report("job-1", 1.0, 1)).summary.contains_key("SIMULATED"));
}

#[test]
fn what_was_rendered_reads_back_as_it_was_and_renders_the_same() {
    let baseline = bless(Some(&first()), &report("job-2", 1.5, 2), &REASON).unwrap().baseline;
    let text = render(&baseline).unwrap();
    let back = parse("baselines/chat.json", text.as_bytes()).unwrap();
    assert_eq!(back, baseline);
    assert_eq!(render(&back).unwrap(), text);
}

#[test]
fn a_file_too_large_to_commit_is_refused_with_what_makes_it_so() {
    let large = |seed: u64| {
        let mut one = group("baseline", 1.0, seed);
        // Steps of up to a second: three bytes each, four characters in base64.
        let samples: Vec<u64> = (0..700_000u64).map(|i| i * 900_000 + seed).collect();
        one.metrics.get_mut(&Metric::TTFT).unwrap().samples = Some(Samples::from_micros(samples));
        vec![one, group("int8_quant", 0.7, seed)]
    };
    match render(&fresh(&report_of(vec![job("job-1", 1, large)]))) {
        Err(RenderError::TooLarge { bytes, groups, metrics }) => {
            assert!(bytes > MOST_BYTES, "{bytes}");
            assert_eq!((groups[0].0.as_str(), metrics[0].0.as_str()), ("baseline/chat/c8", "ttft"));
            assert!(groups[0].1 > 8_000_000 && groups[1].1 < 100_000, "{groups:?}");
            let text = RenderError::TooLarge { bytes: 7_340_000, groups, metrics }.to_string();
            assert!(text.starts_with("the baseline would have 7.3 MB, and 5.0 MB is the most. Largest groups: baseline/chat/c8 (8.4 MB), int8_quant/chat/c8 (0.0 MB). Largest metrics: ttft (8.4 MB)"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_diff_shows_what_changed_and_shortens_samples() {
    let old = first();
    let new = bless(Some(&old), &report("job-2", 1.02, 2), &REASON).unwrap().baseline;
    let (old, new) = (render(&old).unwrap(), render(&new).unwrap());
    let text = diff("baselines/chat.json", Some(&old), &new);
    assert!(text.starts_with("--- a/baselines/chat.json\n+++ b/baselines/chat.json\n@@ "), "{text}");
    assert!(text.contains("\n-    \"baseline/chat/c8:ttft.p95\": \"472.0 ms\",\n"), "{text}");
    assert!(text.contains("\n+    \"baseline/chat/c8:ttft.p95\": \"481.5 ms\",\n"), "{text}");
    assert!(text.contains("\n+        \"reason\": \"TEAM-1\",\n") || text.contains("\"reason\": \"TEAM-1\""));
    let longest = text.lines().map(str::len).max().unwrap();
    assert!(longest <= 160, "{longest}");
    assert!(text.contains(" characters, hash "), "{text}");
    assert_eq!(diff("f", Some(&new), &new), "");
    let fresh = diff("f", None, "{\n  \"a\": 1\n}\n");
    assert_eq!(fresh, "--- /dev/null\n+++ b/f\n@@ -0,0 +1,3 @@\n+{\n+  \"a\": 1\n+}\n");
}

#[test]
fn a_baseline_is_valid_by_the_committed_schema() {
    let schema = include_str!("../../schemas/baseline.schema.json");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(schema).unwrap()).unwrap();
    let mut other = report("job-2", 3.0, 2);
    other.subject.model = Some("model-b".to_owned());
    for baseline in [first(), bless(Some(&first()), &other, &REASON).unwrap().baseline] {
        let document = serde_json::from_str(&render(&baseline).unwrap()).unwrap();
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

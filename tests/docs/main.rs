//! Pages of `docs/` that are made from tables of the program. `PACEGATE_REGENERATE=1 cargo test --test docs` writes them.

mod adding_a_tool;
#[path = "../emit/golden.rs"]
mod golden;
mod other_tools;

use std::fmt::Write as _;
use std::path::Path;

use pacegate::config::{self, defaults};
use pacegate::exit::CODES;
use pacegate::model::field::local;
use pacegate::model::metric::METRICS;
use pacegate::model::policy::{Policy, trimmed};
use pacegate::model::{FieldId, GroupId, Metric, Quantity};

fn made_from(source: &str) -> String {
    format!("Made from the table in `{source}`; a test holds it fresh.\n\n")
}

/// A row of a Markdown table.
fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn head(cells: &[&str]) -> String {
    row(cells) + &row(&vec!["---"; cells.len()])
}

fn exit_codes() -> String {
    let mut page = "# Exit codes\n\n".to_owned() + &made_from("src/exit.rs");
    page.push_str(&head(&["code", "name", "when"]));
    for (exit, name, when) in CODES {
        page.push_str(&row(&[&exit.code().to_string(), name, when]));
    }
    page.push_str(
        "\nSeveral at once: 2, 5, 1, 3, 4, the first of them wins; 6 replaces only 0. `--report-only` turns 1, 3 and 4 into 0 and says so in every output.\n",
    );
    page
}

fn metrics() -> String {
    let mut page = "# Metrics\n\n".to_owned() + &made_from("src/model/metric.rs");
    page.push_str(
        "Every value is kept in the unit given here; what was not measured is absent, never 0. A metric of unknown direction is shown and never gates.\n\
         Foreign tools mean other things by the same names: `pacegate explain REPORT` says what a report's own numbers are, and two definitions are never compared.\n\n",
    );
    page.push_str(&head(&["metric", "unit", "better", "moves with", "what it is"]));
    for def in METRICS {
        let unit = if def.unit.symbol().is_empty() { "none" } else { def.unit.symbol() };
        let class = def.class.map_or("by itself", |class| class.name());
        let name = format!("`{}`", def.id);
        page.push_str(&row(&[&name, unit, def.direction.words(), class, def.definition]));
    }
    page
}

fn limits() -> String {
    let mut page = "# Default limits\n\n".to_owned() + &made_from("src/config/defaults.rs");
    page.push_str(
        "They hold wherever `[gate]` and `[profile.NAME.gate]` of `pacegate.toml` say nothing else. A field fails when it got worse by more than the limit *and* by more than the\n\
         smallest change that counts; a limit reached exactly passes. `success_rate` also needs at least 2 more failed requests.\n\n",
    );
    page.push_str(&head(&[
        "field",
        "may get worse by",
        "smallest change that counts",
        "never below",
        "better",
    ]));
    for rule in defaults::RULES {
        let (unit, direction) = (rule.metric.unit(), rule.metric.direction());
        let none = || "none".to_owned();
        let reversed = if rule.fail_if_reversed { ", and never from faster to slower" } else { "" };
        page.push_str(&row(&[
            &format!("`{}`", local(&rule.metric, rule.statistic)),
            &(rule.allowance.signed(direction, unit) + reversed),
            &rule.min_change.map_or_else(none, |value| format!("{} {unit}", trimmed(value.get()))),
            &rule.min.map_or_else(none, |value| Quantity { value, unit }.to_string()),
            direction.words(),
        ]));
    }
    page.push_str("\nThe same as lines of `pacegate.toml`:\n\n```toml\n[gate]\n");
    for rule in defaults::RULES {
        let _infallible = writeln!(page, "{}", rule.written());
    }
    let percent = |value: pacegate::model::Finite| trimmed(value.get() * 100.0);
    let _infallible = write!(
        page,
        "run_noise = \"{}%\"\nblind_above = \"{}%\"\n```\n\nEvery other metric is shown and gates only where a rule names it.\n",
        percent(defaults::RUN_NOISE),
        percent(defaults::BLIND_ABOVE)
    );
    page
}

#[test]
fn docs_are_fresh() {
    golden::assert_same("docs/exit-codes.md", &exit_codes());
    golden::assert_same("docs/metrics.md", &metrics());
    golden::assert_same("docs/limits.md", &limits());
}

#[test]
fn docs_hold_every_row_of_their_tables() {
    let (codes, metrics, limits) = (exit_codes(), metrics(), limits());
    for code in [0, 1, 2, 3, 4, 5, 6, 130, 143] {
        assert!(codes.contains(&format!("\n| {code} | ")), "{code}");
    }
    for metric in [Metric::TTFT, Metric::SPEEDUP, Metric::OUTPUT_TOKENS] {
        assert!(metrics.contains(&format!("\n| `{metric}` | ")), "{metric}");
    }
    assert!(limits.contains("| `ttft.p95` | +10 % | 2 ms | none | lower is better |"), "{limits}");
    assert!(
        limits.contains("| `speedup_vs_baseline.p95` | \u{2212}10 %, and never from faster to slower | none | none | higher is better |"),
        "{limits}"
    );
    assert!(
        limits.contains("| `success_rate` | \u{2212}1 pp | none | 95.00 % | higher is better |"),
        "{limits}"
    );
}

#[test]
fn the_lines_of_the_limits_page_mean_what_holds_without_them() {
    let page = limits();
    let lines = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let read = |text| config::load(Path::new("pacegate.toml"), text).map(|config| config.policy(None));
    let (written, without) =
        (read(lines).expect("the lines are accepted"), read("").expect("nothing is accepted"));
    assert_eq!((written.run_noise, written.blind_above), (without.run_noise, without.blind_above));
    for rule in defaults::RULES {
        let field = FieldId::new(GroupId("chat/c8".to_owned()), rule.metric.clone(), rule.statistic);
        let words = |policy: &Policy| {
            let tolerance = policy.tolerance(&field).expect("no tie").expect("gated");
            tolerance.words(rule.metric.direction(), rule.metric.unit())
        };
        assert_eq!(words(&written), words(&without), "{field}");
    }
}

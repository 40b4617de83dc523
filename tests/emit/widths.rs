//! A narrow terminal: what can be wrapped is wrapped, and no value is cut.

use pacegate::emit::{Detail, Style, terminal};
use pacegate::model::Verdict;

use crate::samples;

/// A verdict with names as long as they get, beside all the others.
fn verdicts() -> Vec<(&'static str, Verdict)> {
    let mut long = samples::speedup_reversed();
    let names = ["speculative_decode/chat/c32/p4096", "prefix_cache/chat/c32"];
    for (of, old) in names.into_iter().zip([113_230.4, 13_230.4]) {
        for (statistic, new) in [("p50", old * 1.2), ("p95", old * 1.4)] {
            let field = format!("{of}:e2e.{statistic}");
            let judgement = pacegate::model::Judgement::Regressed;
            let finding = samples::finding(&field, judgement, Some(old), Some(new));
            samples::put(&mut long, samples::with_evidence(finding, (1.1, 1.5), 0.01, 0.2, true));
        }
    }
    let mut all = samples::all();
    all.push(("long-names", long));
    all
}

#[test]
fn no_line_is_wider_than_the_terminal_where_it_can_be_wrapped() {
    for width in [80_u16, 100] {
        for detail in [Detail::Usual, Detail::Verbose] {
            let style = Style { width: Some(width), detail, ..Style::default() };
            for (name, verdict) in verdicts() {
                for line in terminal(&verdict, style).lines() {
                    let columns = line.chars().count();
                    assert!(columns <= usize::from(width), "{name}: {columns} columns of {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn every_value_of_the_table_is_whole_in_a_narrow_terminal() {
    let (_, verdict) = verdicts().pop().unwrap();
    for width in [80_u16, 100] {
        let page = terminal(&verdict, Style { width: Some(width), ..Style::default() });
        let table = page.split_once("Fields, worst first").unwrap().1;
        let row = |values: &str| {
            let mut rows = table.lines().filter(|line| line.contains(values));
            rows.next().unwrap_or_else(|| panic!("{values} at {width}:\n{page}")).to_owned()
        };
        let long = row("113230.4 ms  158522.6 ms   +40.0 %  REGRESSED");
        assert!(long.contains("spec") && long.contains("e2e.p95"), "{long}");
        let reversed = row(" 1.44x ");
        assert!(reversed.contains(" 0.80x ") && reversed.contains("REGRESSED"), "{reversed}");
    }
}

#[test]
fn a_number_and_its_unit_stay_in_one_line() {
    for width in 40..=100 {
        for (name, verdict) in verdicts() {
            let page = terminal(&verdict, Style { width: Some(width), ..Style::default() });
            for line in page.lines().take_while(|line| *line != "Fields, worst first") {
                let first = line.split_whitespace().next().unwrap_or_default();
                let unit = first.trim_end_matches([',', ';', ':', ')', ']']);
                assert!(!["%", "ms", "pp", "tok/s"].contains(&unit), "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn a_wide_terminal_shows_every_column_and_whole_names() {
    let (_, verdict) = verdicts().pop().unwrap();
    let page = terminal(&verdict, Style { width: Some(160), ..Style::default() });
    assert!(page.contains("speculative_decode/chat/c32/p4096:e2e.p95  "), "{page}");
    assert!(page.contains("+10 % to +50 %") && page.contains("+10 % and 10 ms"), "{page}");
}

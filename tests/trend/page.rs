//! `docs/trend.md`: its commands are typed in as they stand, and what it shows of their output is printed.

use std::fs;
use std::path::Path;

use crate::made::{Made, folder, job, pacegate, said};

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trend.md")).unwrap()
}

#[test]
fn every_command_of_the_page_runs_and_prints_what_it_shows() {
    let desk = folder([]);
    fs::create_dir(desk.path().join("nights")).unwrap();
    for day in 0..24 {
        Made { ttft: if day < 18 { 1.0 } else { 1.1 }, ..job(day) }.write(&desk.path().join("nights"));
    }
    fs::copy(desk.path().join("nights/job-003.json"), desk.path().join("run.json")).unwrap();
    let blessed = pacegate(desk.path(), &["check", "nights/job-001.json", "--bless", "--reason", "the test"]);
    assert!(blessed.status.success(), "{}", said(&blessed));
    let page = page();
    let blocks: Vec<&str> =
        page.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let (mut commands, mut printed) = (0, String::new());
    for line in blocks.iter().flat_map(|block| block.lines()) {
        match line.strip_prefix("$ pacegate ") {
            Some(arguments) => {
                let output = pacegate(desk.path(), &arguments.split(' ').collect::<Vec<_>>());
                printed = said(&output);
                assert!(output.status.success(), "{line}: {printed}");
                commands += 1;
            }
            None => assert!(printed.lines().any(|real| real == line), "{line:?} is not in\n{printed}"),
        }
    }
    assert_eq!(commands, 2);
    assert!(desk.path().join("history.jsonl").is_file());
    let example = "6 of 6 jobs since";
    assert!(page.contains(example) && printed.contains(example), "{printed}");
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_rule() {
    use pacegate::stats::constants::{IN_A_ROW, NIGHTS, OddRule, RATE_TREND, TrendRule};
    let page = page();
    let rule = TrendRule::STANDARD;
    assert_eq!((rule.p_max, rule.segment, rule.change, IN_A_ROW, NIGHTS), (0.001, 4, 0.02, 3, 40));
    assert_eq!(
        (RATE_TREND.change, OddRule::STANDARD.deviations, OddRule::STANDARD.distance),
        (0.01, 4.0, 0.05)
    );
    for words in [
        "p \u{2264} 0.001",
        "by 2 % or more",
        "at least 4 jobs on each side",
        "last 40 jobs",
        "from 1 pp on",
        "4 robust standard deviations, and 5 %",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

//! `docs/adding-a-tool.md`: what it names is there.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/adding-a-tool.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All source of the readers.
#[expect(clippy::expect_used, reason = "a test that can't go on says where")]
fn sources() -> String {
    let files = fs::read_dir(root().join("src/source/ingest")).expect("the folder of readers");
    files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("source")).collect()
}

#[test]
fn every_file_that_the_page_names_is_there() {
    let quoted = PAGE.split("```").step_by(2).flat_map(|text| text.split('`').skip(1).step_by(2));
    let paths: Vec<&str> = quoted
        .filter(|word| word.ends_with(".rs") || word.starts_with("tests/") || word.starts_with("src/"))
        .filter(|word| !word.contains("tinybench") && !word.contains("TOOL"))
        .collect();
    assert!(paths.len() > 8, "{paths:?}");
    for path in paths {
        let there =
            [root().join(path), root().join("src/source/ingest").join(path)].iter().any(|p| p.exists());
        assert!(there, "{path}");
    }
}

#[test]
fn every_call_of_the_example_is_one_that_readers_have() {
    let sources = sources();
    let code = PAGE.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let calls: Vec<&str> = ["draft.", "reading.", "tree.", "sniff."]
        .iter()
        .flat_map(|owner| code.split(*owner).skip(1))
        .filter_map(|rest| rest.split_once('(').map(|(name, _)| name))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect();
    assert!(calls.len() > 12, "{calls:?}");
    for call in calls {
        assert!(sources.contains(&format!("pub fn {call}")), "{call}");
    }
    // The row of the page has the fields of a row, in their order.
    let row = PAGE.split("    FormatDef {\n").nth(1).unwrap_or_default();
    let names = |text: &str| -> Vec<String> {
        text.lines()
            .take_while(|line| line.trim() != "}," && line.trim() != "}")
            .filter_map(|line| {
                line.trim().trim_start_matches("pub ").trim_start_matches("pub(super) ").split_once(':')
            })
            .map(|(name, _)| name.to_owned())
            .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
            .collect()
    };
    let table = sources.split("pub struct FormatDef {\n").nth(1).unwrap_or_default();
    assert_eq!(names(row), names(table));
}

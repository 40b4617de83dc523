//! The commands of `docs/self-test.md`, run as they stand there.

use std::path::Path;

use super::{run, said};

const PAGE: &str = include_str!("../../docs/self-test.md");

#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let commands: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("$ pacegate ")).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for (command, first) in
        commands.iter().zip(["SELF-TEST PASSED: this gate can fail", "PLAN docs/example/baseline.json"])
    {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = run(Path::new(env!("CARGO_MANIFEST_DIR")), &arguments);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", said(&output));
        assert!(said(&output).starts_with(first), "{command}: {}", said(&output));
    }
}

//! Completions and man pages.

use crate::world::{BINARY, bare, root, text};

fn pacegate(arguments: &[&str]) -> (i32, String) {
    let output = bare(BINARY, root()).args(arguments).output().unwrap();
    (output.status.code().unwrap(), text(&output))
}

/// Words of the first column under `Commands:`.
fn commands() -> Vec<String> {
    let help = pacegate(&["--help"]).1;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// What bash offers for a half-typed line.
fn offered(line: &str) -> Vec<String> {
    let script = format!(
        "eval \"$({BINARY} completions bash)\"; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         _pacegate pacegate \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = bare("bash", root()).args(["-c", &script]).output().unwrap();
    text(&output).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_and_flags() {
    assert_eq!(offered("pacegate che"), ["check"]);
    assert_eq!(offered("pacegate check --base-"), ["--base-ref"]);
    assert_eq!(offered("pacegate init --ci g"), ["github", "gitlab"]);
}

#[test]
fn every_shell_gets_a_script_that_knows_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, script) = pacegate(&["completions", shell]);
        assert_eq!(code, 0, "{shell}");
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
    assert_eq!(pacegate(&["completions", "cmd"]).0, 2);
}

#[test]
fn every_command_has_a_man_page_with_its_flags() {
    let commands = commands();
    assert!(commands.len() >= 9, "{commands:?}");
    let (code, page) = pacegate(&["man"]);
    assert_eq!(code, 0);
    assert!(page.contains(".TH pacegate 1"), "{page}");
    for command in &commands {
        let escaped = command.replace('-', "\\-");
        assert!(page.contains(&format!("pacegate\\-{escaped}(1)")), "{command}");
        let (code, page) = pacegate(&["man", command]);
        assert_eq!(code, 0, "{command}");
        assert!(page.contains(&format!(".TH pacegate-{command} 1")), "{command}: {page}");
    }
    assert!(pacegate(&["man", "check"]).1.contains("\\-\\-base\\-ref"));
}

#[test]
fn a_man_page_of_no_command_names_those_that_are() {
    let (code, said) = pacegate(&["man", "chekc"]);
    assert_eq!(code, 2);
    assert!(said.contains("chekc") && said.contains("check"), "{said}");
}

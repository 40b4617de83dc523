//! `docs/other-tools.md`: its files, its mappings and its commands, run as they stand there.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PAGE: &str = include_str!("../../docs/other-tools.md");

fn blocks(kind: &str) -> Vec<&'static str> {
    let fence = format!("```{kind}\n");
    PAGE.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// A command line, quoted words in one piece.
#[expect(clippy::expect_used, reason = "a test that can't go on says where")]
fn pacegate(folder: &Path, line: &str) -> Output {
    let parts = line.strip_prefix("pacegate ").expect("a command of ours").split('"').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        _ => vec![part.to_owned()],
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacegate"));
    command.args(words).current_dir(folder).env_remove("CI").env("NO_COLOR", "1").output().expect("it runs")
}

#[test]
fn every_command_of_the_page_does_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("run.json", blocks("json")[0]);
    write("levels.csv", blocks("csv")[0]);
    write("pacegate.toml", &blocks("toml").concat());
    let lines: Vec<&str> = blocks("console")
        .into_iter()
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let outputs: Vec<String> = lines
        .iter()
        .map(|line| {
            let output = pacegate(folder.path(), line);
            let text = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert_eq!(output.status.code(), Some(0), "{line}: {text}");
            text
        })
        .collect();
    for words in ["first-byte", "my-model", "241", "298", "queue_time"] {
        assert!(outputs[0].contains(words), "{words}: {}", outputs[0]);
    }
    assert!(folder.path().join("baselines/own-bench.json").is_file());
    assert!(outputs[2].contains("PASS"), "{}", outputs[2]);
    assert!(outputs[3].contains("\"id\": \"c1\"") && outputs[3].contains("\"id\": \"c8\""), "{}", outputs[3]);

    // A slower run of the same tool fails, and an unknown name says what there is.
    write("run.json", &blocks("json")[0].replace("0.241", "0.341"));
    let slower = pacegate(folder.path(), lines[2]);
    let text = String::from_utf8_lossy(&slower.stdout).into_owned();
    assert_eq!(slower.status.code(), Some(1), "{text}");
    assert!(text.contains("ttft.p95 of c8 rose 241.0 \u{2192} 341.0 ms"), "{text}");
    for (format, words) in [
        ("generic", "there are the mappings levels, own-bench; say which with --format generic:NAME"),
        ("generic:own-bnch", "unknown mapping \"own-bnch\"; did you mean \"own-bench\"?"),
        ("vllm-bench-serve:own-bench", "is no report format"),
    ] {
        let refused = pacegate(folder.path(), &format!("pacegate check run.json --format {format}"));
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(words), "{text}");
    }
    // A report by a mapping that says nothing of counts, model or percentiles is gated; one that gates nothing never passes.
    write("own.json", r#"{"j": 3, "t": 100}"#);
    write(
        "pacegate.toml",
        "[generic.q.fields]\nenergy = { at = \"/j\", unit = \"J\", shown = true }\n[generic.d.fields]\n\"ttft.p95\" = { at = \"/t\", unit = \"ms\" }\n",
    );
    for (report, name, code) in [
        (r#"{"j": 3, "t": 150}"#, "d", 1),
        (r#"{"j": 3, "t": 101}"#, "d", 0),
        (r#"{"j": 3, "t": 101}"#, "q", 3),
    ] {
        write("next.json", report);
        let blessed = pacegate(
            folder.path(),
            &format!("pacegate check own.json --format generic:{name} --bless --reason again"),
        );
        let bless = if name == "q" { 3 } else { 0 };
        assert_eq!(blessed.status.code(), Some(bless), "{}", String::from_utf8_lossy(&blessed.stderr));
        let judged = pacegate(folder.path(), &format!("pacegate check next.json --format generic:{name}"));
        assert_eq!(judged.status.code(), Some(code), "{}", String::from_utf8_lossy(&judged.stdout));
    }
    write("pacegate.toml", "");
    let refused = pacegate(folder.path(), "pacegate explain run.json --format generic");
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(
        text.contains(
            "--format generic needs a mapping, and pacegate.toml has none; write [generic.NAME] there"
        ),
        "{text}"
    );
}

#[test]
fn the_page_names_every_key_and_every_unit() {
    use pacegate::config::keys::KEYS;
    use pacegate::model::{mapping, metric::METRICS};
    for key in KEYS.iter().filter(|key| key.table == "generic.NAME" && !key.key.ends_with("_tokens")) {
        assert!(PAGE.contains(key.key), "{}", key.key);
    }
    for (word, _) in
        METRICS.iter().flat_map(|def| mapping::units(def.unit)).filter(|(word, _)| word.len() > 1)
    {
        let known = PAGE.contains(word) || word == "tokens";
        assert!(known, "{word}");
    }
}

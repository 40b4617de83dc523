//! A kill at any moment, and a full disk, leave the old or the new file.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pacegate::files;

/// Names the file that the child process writes for ever.
const TARGET: &str = "PACEGATE_TEST_WRITES_FOR_EVER";
/// Names the file that the child process writes once, larger than it may.
const TOO_LARGE: &str = "PACEGATE_TEST_WRITES_TOO_MUCH";

fn old() -> Vec<u8> {
    b"{\"old\": true}\n".repeat(9_000)
}

fn new() -> Vec<u8> {
    b"{\"new\": 1}\n".repeat(14_000)
}

/// Not a test by itself: the process that the tests below start, and that one of them kills.
#[test]
#[ignore = "the child process of other tests"]
fn child() {
    if let Some(path) = std::env::var_os(TARGET).map(PathBuf::from) {
        let (old, new) = (old(), new());
        println!("ready");
        loop {
            files::write(&path, &new).unwrap();
            files::write(&path, &old).unwrap();
        }
    }
    if let Some(path) = std::env::var_os(TOO_LARGE).map(PathBuf::from) {
        let error = files::write(&path, &new()).unwrap_err();
        println!("{error}");
    }
}

/// This very test binary, running [`child`] alone.
fn child_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "killed::child", "--ignored", "--nocapture"]).stdout(Stdio::piped());
    command
}

fn ready(child: &mut Child) -> bool {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).any(|line| line.ends_with("ready"))
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    let (old, new) = (old(), new());
    fs::write(&path, &old).unwrap();
    let whole = |what: &str| {
        let found = fs::read(&path).unwrap();
        assert!(found == old || found == new, "{what}: {} bytes of neither", found.len());
        found == new
    };
    let mut chance = 0x9e37_79b9_u32;
    let mut seen_new = 0;
    for round in 0..200 {
        let mut child = child_command(&std::env::current_exe().unwrap()).env(TARGET, &path).spawn().unwrap();
        assert!(ready(&mut child), "the child did not start");
        chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Some reads, then on until it holds what this round wants, so that kills meet both halves of the child's loop.
        let (reads, wants_new) = (chance >> 27, round % 2 == 1);
        let seen = (0..1_000_000).any(|read| whole("while it writes") == wants_new && read >= reads);
        assert!(seen, "the child does not write");
        child.kill().unwrap();
        child.wait().unwrap();
        seen_new += u32::from(whole(&format!("kill {round}")));
    }
    assert!((1..200).contains(&seen_new), "the kills never met both files: {seen_new}");
    // What a kill left behind is told by its name, and a later write works beside it.
    for entry in fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "baseline.json" || name.starts_with(files::TEMPORARY_PREFIX), "{name}");
    }
    files::write(&path, b"after").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"after");
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    fs::write(&path, "old").unwrap();
    // A limit on the size of files fails a write as a full disk does: in the middle.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
    let exe = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(exe)
        .args(["--exact", "killed::child", "--ignored", "--nocapture"])
        .env(TOO_LARGE, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let expected = format!("{} could not be written: ", path.display());
    assert!(said.contains(&expected) && said.contains("what stood there is unchanged"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

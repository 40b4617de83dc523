//! The action's download: a checked release, or a build, or a refusal; never a file that nobody vouched for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::world::{Runner, Step, bare, git, root, text};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn executable(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

struct Releases {
    folder: tempfile::TempDir,
}

impl Releases {
    /// A release made by the project's own packing script, of a program that says its version.
    fn new() -> Releases {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("pacegate");
        executable(&binary, &format!("#!/bin/sh\necho pacegate {VERSION}\n"));
        let releases = Releases { folder };
        fs::create_dir_all(releases.place()).unwrap();
        let packed = bare(root().join("scripts/release-archive"), releases.folder.path())
            .arg(&binary)
            .arg("x86_64-unknown-linux-musl")
            .arg(releases.place())
            .output()
            .unwrap();
        assert!(packed.status.success(), "{}", text(&packed));
        releases.list(&releases.sum());
        fs::create_dir_all(releases.work()).unwrap();
        git(&releases.work(), &["init", "--quiet"]);
        // A cargo that says what it was asked for and "builds" the same program.
        let cargo = "#!/bin/bash\necho \"cargo $*\" >>\"$HOME/cargo.log\"\nwhile [ $# -gt 0 ]; do [ \"$1\" = --root ] && root=$2; shift; done\nmkdir -p \"$root/bin\"\ncp \"$HOME/../pacegate\" \"$root/bin/pacegate\"\n";
        fs::create_dir_all(releases.folder.path().join("bin")).unwrap();
        executable(&releases.folder.path().join("bin/cargo"), cargo);
        releases
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join(format!("releases/v{VERSION}"))
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn archive(&self) -> PathBuf {
        self.place().join(format!("pacegate-{VERSION}-x86_64-unknown-linux-musl.tar.gz"))
    }

    fn sum(&self) -> String {
        Sha256::digest(fs::read(self.archive()).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn list(&self, sum: &str) {
        let name = self.archive();
        let name = name.file_name().unwrap().to_string_lossy();
        fs::write(
            self.place().join("SHA256SUMS"),
            format!("{}  other.tar.gz\n{sum}  {name}\n", "0".repeat(64)),
        )
        .unwrap();
    }

    fn runner(&self) -> Runner {
        let path = std::env::var("PATH").unwrap();
        Runner::new(&self.work())
            .set("PATH", format!("{}:{path}", self.folder.path().join("bin").display()))
            .set("PACEGATE_RELEASES", format!("file://{}/releases", self.folder.path().display()))
    }

    /// What cargo was asked for.
    fn built(&self) -> String {
        fs::read_to_string(self.work().join("cargo.log")).unwrap_or_default()
    }
}

fn says_its_version(step: &Step) {
    assert_eq!(step.code, 0, "{}", step.log);
    let output = bare(step.output("binary"), root()).arg("--version").output().unwrap();
    assert_eq!(text(&output), format!("pacegate {VERSION}\n"));
}

#[test]
fn a_release_with_the_right_sum_is_taken() {
    let releases = Releases::new();
    let step = releases.runner().script("get");
    says_its_version(&step);
    assert_eq!(releases.built(), "");
}

#[test]
fn a_folder_with_a_backslash_in_its_name_changes_no_sum() {
    let releases = Releases::new();
    let temp = releases.folder.path().join("a\\b");
    fs::create_dir(&temp).unwrap();
    says_its_version(&releases.runner().set("RUNNER_TEMP", temp.display().to_string()).script("get"));
    assert_eq!(releases.built(), "");
}

#[test]
fn on_windows_paths_are_those_of_the_shell() {
    let releases = Releases::new();
    let windows = releases.place().join(format!("pacegate-{VERSION}-x86_64-pc-windows-msvc.tar.gz"));
    let binary = releases.folder.path().join("pacegate.exe");
    executable(&binary, &format!("#!/bin/sh\necho pacegate {VERSION}\n"));
    let packed = bare(root().join("scripts/release-archive"), releases.folder.path())
        .arg(&binary)
        .arg("x86_64-pc-windows-msvc")
        .arg(releases.place())
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", text(&packed));
    let sum: String =
        Sha256::digest(fs::read(&windows).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
    let name = windows.file_name().unwrap().to_string_lossy().into_owned();
    fs::write(releases.place().join("SHA256SUMS"), format!("{sum}  {name}\n")).unwrap();
    // Git for Windows has a cygpath, and its tar takes the colon of a drive for the name of a host.
    let temp = releases.folder.path().join("temp");
    fs::create_dir(&temp).unwrap();
    let cygpath = format!("#!/bin/sh\n[ \"$1 $2\" = '-u D:\\a\\_temp' ] && echo '{}'\n", temp.display());
    executable(&releases.folder.path().join("bin/cygpath"), &cygpath);
    let runner = releases.runner().set("RUNNER_OS", "Windows").set("RUNNER_TEMP", "D:\\a\\_temp");
    let step = runner.script("get");
    says_its_version(&step);
    assert!(step.output("binary").starts_with(&temp.display().to_string()), "{}", step.log);
    assert_eq!(releases.built(), "");
}

#[test]
fn a_release_with_another_sum_is_neither_run_nor_built_instead() {
    let releases = Releases::new();
    releases.list(&"ab".repeat(32));
    let step = releases.runner().script("get");
    assert_eq!((step.code, step.output("binary")), (2, ""), "{}", step.log);
    assert!(step.log.contains(&releases.sum()) && step.log.contains(&"ab".repeat(32)), "{}", step.log);
    assert_eq!(releases.built(), "");
}

#[test]
fn a_release_that_its_list_does_not_name_is_refused() {
    let releases = Releases::new();
    fs::write(releases.place().join("SHA256SUMS"), "").unwrap();
    let step = releases.runner().script("get");
    assert_eq!((step.code, releases.built().as_str()), (2, ""), "{}", step.log);
}

#[test]
fn without_a_release_cargo_builds_the_actions_own_source() {
    let releases = Releases::new();
    fs::remove_file(releases.archive()).unwrap();
    let step = releases.runner().script("get");
    says_its_version(&step);
    let built = releases.built();
    assert!(built.starts_with("cargo install --locked --root "), "{built}");
    assert!(built.trim_end().ends_with(&format!("--path {}", root().display())), "{built}");
}

#[test]
fn another_version_is_built_from_the_registry_and_a_machine_without_a_release_builds() {
    let releases = Releases::new();
    let step = releases.runner().set("PACEGATE_ACTION_VERSION", "v9.8.7").script("get");
    assert_eq!(step.code, 0, "{}", step.log);
    assert!(releases.built().trim_end().ends_with("--version =9.8.7 pacegate"), "{}", releases.built());
    let step = releases.runner().set("RUNNER_ARCH", "ARM").script("get");
    assert_eq!(step.code, 0, "{}", step.log);
    assert!(step.log.contains("no release for Linux on ARM"), "{}", step.log);
}

#[test]
fn the_runners_own_pacegate_is_taken_where_the_workflow_says_so() {
    let releases = Releases::new();
    let missing = releases.runner().set("PATH", "/usr/bin:/bin").set("PACEGATE_ACTION_VERSION", "installed");
    assert_eq!(missing.script("get").code, 2);
    executable(
        &releases.folder.path().join("bin/pacegate"),
        &format!("#!/bin/sh\necho pacegate {VERSION}\n"),
    );
    says_its_version(&releases.runner().set("PACEGATE_ACTION_VERSION", "installed").script("get"));
}

#[test]
fn a_version_is_a_version_and_nothing_else() {
    let releases = Releases::new();
    for version in
        ["latest", "0.1", "0.1.0; touch pwned", "../../0.1.0", "0.1.0\n::error::planted", "--path=."]
    {
        let step = releases.runner().set("PACEGATE_ACTION_VERSION", version).script("get");
        assert_eq!((step.code, releases.built().as_str()), (2, ""), "{version}: {}", step.log);
        let lines: Vec<_> = step.log.lines().collect();
        assert_eq!(lines.len(), 1, "{version}: {lines:?}");
        assert!(
            lines[0].starts_with("::error title=pacegate was not installed::version: expected"),
            "{}",
            step.log
        );
    }
}

#[test]
fn a_release_over_plain_http_is_not_asked_for() {
    let releases = Releases::new();
    let step = releases.runner().set("PACEGATE_RELEASES", "http://127.0.0.1:9").script("get");
    assert!(step.log.contains("\"http\""), "{}", step.log);
    assert!(releases.built().contains("--path"), "{}", step.log);
}

#[test]
fn a_sum_that_the_actions_own_commit_knows_outranks_the_releases_list() {
    let releases = Releases::new();
    let action = releases.folder.path().join("action");
    fs::create_dir_all(action.join("scripts/action")).unwrap();
    fs::copy(root().join("Cargo.toml"), action.join("Cargo.toml")).unwrap();
    let script = action.join("scripts/action/get");
    fs::copy(root().join("scripts/action/get"), &script).unwrap();
    let name = releases.archive();
    let pinned = |sum: &str| {
        let line = format!("{sum}  {}\n", name.file_name().unwrap().to_string_lossy());
        fs::write(action.join("scripts/action/SHA256SUMS"), line).unwrap();
    };
    pinned(&releases.sum());
    says_its_version(&releases.runner().script_at(&script));
    // As if archive and list had been exchanged together after the release.
    pinned(&"cd".repeat(32));
    fs::remove_file(releases.work().with_extension("temp").join("output")).unwrap();
    let step = releases.runner().script_at(&script);
    assert_eq!((step.code, step.output("binary")), (2, ""), "{}", step.log);
    assert!(step.log.contains(&"cd".repeat(32)), "{}", step.log);
}

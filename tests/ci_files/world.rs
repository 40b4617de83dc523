//! A repository with a base and a head, a runner's checkout of their merge, and the action's steps.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const BINARY: &str = env!("CARGO_BIN_EXE_pacegate");
/// Two strategies, chat at 8 streams; the second is faster.
pub const REPORT: &str = "reports/original/benchmark-chat-c8.json";
/// The same profile where the second strategy became slower than the reference.
pub const SLOWER: &str = "reports/original/benchmark-chat-c8-int8-slower.json";
/// A round of the same server at the same level.
pub const ANOTHER_VLLM: &str = "reports/vllm/0.33.0/clean-chat-c8-detailed.json";
pub const VLLM: &str = "reports/vllm/0.33.0/clean-chat-c8-append.json";

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

/// A command that sees nothing of this machine's environment but the programs.
pub fn bare(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "someone")
            .env(format!("GIT_{who}_EMAIL"), "someone@example.test");
    }
    command
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = bare("git", folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Standard output and standard error, one after the other.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The upstream repository and the merge commit of a pull request in it.
pub struct World {
    pub folder: tempfile::TempDir,
    /// The base branch's commit.
    pub base: String,
    /// The merge of the head into the base, or the last commit where there is no merge.
    pub merge: String,
}

impl World {
    /// A base whose baseline was blessed from `REPORT`, and a pull request that makes `change` to a work tree with it.
    pub fn with_pull_request(change: impl FnOnce(&Path)) -> World {
        let folder = tempfile::tempdir().unwrap();
        let upstream = folder.path().join("upstream");
        fs::create_dir_all(upstream.join("results")).unwrap();
        git(&upstream, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(upstream.join("pacegate.toml"), "default = \"chat\"\n[profile.chat]\n").unwrap();
        fs::copy(data(REPORT), upstream.join("results/report.json")).unwrap();
        bless(&upstream, "first baseline");
        commit(&upstream, "base");
        let base = git(&upstream, &["rev-parse", "HEAD"]);
        git(&upstream, &["switch", "--quiet", "--create", "head"]);
        fs::write(upstream.join("server.py"), "fast = True\n").unwrap();
        commit(&upstream, "one of several commits");
        change(&upstream);
        fs::write(upstream.join("README"), "a change\n").unwrap();
        commit(&upstream, "another");
        git(&upstream, &["switch", "--quiet", "main"]);
        git(&upstream, &["merge", "--quiet", "--no-ff", "--no-edit", "head"]);
        let merge = git(&upstream, &["rev-parse", "HEAD"]);
        git(&upstream, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        World { folder, base, merge }
    }

    /// What a runner has: the commit, detached, in a clone that goes back `depth` commits.
    pub fn checkout(&self, depth: u32) -> PathBuf {
        let place = self.folder.path().join(format!("work-{depth}"));
        fs::create_dir_all(&place).unwrap();
        git(&place, &["init", "--quiet"]);
        let upstream = format!("file://{}", self.folder.path().join("upstream").display());
        git(&place, &["remote", "add", "origin", &upstream]);
        git(&place, &["fetch", "--quiet", &format!("--depth={depth}"), "origin", &self.merge]);
        git(&place, &["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
        place
    }

    /// The runner's variables of a `pull_request` event.
    pub fn pull_request(&self, checkout: &Path) -> Runner {
        let runner = Runner::new(checkout);
        runner
            .set("GITHUB_EVENT_NAME", "pull_request")
            .set("GITHUB_SHA", &self.merge)
            .set("PACEGATE_ACTION_BASE_SHA", &self.base)
    }
}

pub fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", message]);
}

/// Renews the baseline of the work tree from its report, as a person would at a desk.
pub fn bless(folder: &Path, reason: &str) {
    let output = bare(BINARY, folder)
        .args(["check", "results/report.json", "--bless", "--reason", reason])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

/// A job of a runner: its variables and its files.
pub struct Runner {
    checkout: PathBuf,
    temp: PathBuf,
    variables: BTreeMap<String, String>,
}

/// How a step ended.
pub struct Step {
    pub code: i32,
    pub log: String,
    pub outputs: BTreeMap<String, String>,
    pub summary: String,
}

impl Runner {
    pub fn new(checkout: &Path) -> Runner {
        let temp = checkout.with_extension("temp");
        fs::create_dir_all(&temp).unwrap();
        fs::write(temp.join("summary.md"), "an earlier step's line\n").unwrap();
        let path = |name: &str| temp.join(name).display().to_string();
        let variables = [
            ("CI", "true".to_owned()),
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_WORKSPACE", checkout.display().to_string()),
            ("GITHUB_OUTPUT", path("output")),
            ("GITHUB_STEP_SUMMARY", path("summary.md")),
            ("GITHUB_JOB", "gate".to_owned()),
            ("GITHUB_RUN_ID", "4711".to_owned()),
            ("GITHUB_RUN_ATTEMPT", "1".to_owned()),
            ("RUNNER_TEMP", temp.display().to_string()),
            ("RUNNER_OS", "Linux".to_owned()),
            ("RUNNER_ARCH", "X64".to_owned()),
            ("STRATEGY_JOB_INDEX", "0".to_owned()),
            ("PACEGATE_ACTION_BINARY", BINARY.to_owned()),
            ("PACEGATE_ACTION_COMMAND", "check".to_owned()),
            ("PACEGATE_ACTION_REPORTS", "results/report.json".to_owned()),
            ("PACEGATE_ACTION_REPORT_ONLY", "false".to_owned()),
            // Empty as the runner hands on inputs that are not given and secrets that a fork does not get.
            ("PACEGATE_ACTION_PROFILE", String::new()),
            ("PACEGATE_ACTION_BASE_REF", String::new()),
            ("PACEGATE_ACTION_BASE_SHA", String::new()),
            ("PACEGATE_ACTION_VERSION", String::new()),
            ("OPENAI_API_KEY", String::new()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
        Runner { checkout: checkout.to_path_buf(), temp, variables }
    }

    pub fn set(mut self, name: &str, value: impl Into<String>) -> Runner {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    pub fn temp(&self) -> &Path {
        &self.temp
    }

    /// A script of the action, started as the runner starts it.
    pub fn script(&self, name: &str) -> Step {
        self.script_at(&root().join("scripts/action").join(name))
    }

    /// The same from another place than this repository.
    pub fn script_at(&self, script: &Path) -> Step {
        let run = format!("exec {}", script.display());
        let mut command = bare("bash", &self.checkout);
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &run]).envs(&self.variables);
        let output = command.output().unwrap();
        let file = |name: &str| fs::read_to_string(self.temp.join(name)).unwrap_or_default();
        let pairs = file("output");
        let pairs = pairs.lines().map(|line| line.split_once('=').expect("name=value"));
        Step {
            code: output.status.code().expect("an exit code"),
            log: text(&output),
            outputs: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            summary: file("summary.md"),
        }
    }

    pub fn gate(&self) -> Step {
        self.script("gate")
    }
}

impl Step {
    pub fn output(&self, name: &str) -> &str {
        self.outputs.get(name).map_or("", String::as_str)
    }

    /// The exit code and the verdict, with the log where they are others.
    pub fn ended(&self, code: i32, verdict: &str) {
        assert_eq!((self.code, self.output("verdict")), (code, verdict), "{}", self.log);
        assert_eq!(self.output("exit-code"), code.to_string());
    }
}

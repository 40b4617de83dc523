//! Made jobs: reports of pacegate with known levels and some scatter that is the same in every run of the tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// One job to be made. The factors are on top of the level; 1.2 is 20 % slower.
#[derive(Clone, Debug)]
pub struct Made {
    /// Days since 1 October 2026.
    pub day: u32,
    pub commit: Option<String>,
    pub ttft: f64,
    pub tpot: f64,
    pub failed: Vec<(&'static str, u64)>,
    pub model: &'static str,
    /// Standard deviation of everything's logarithm, about.
    pub noise: f64,
}

pub const SENT: u64 = 300;

/// A usual job: noise of about 2 %.
pub fn job(day: u32) -> Made {
    let commit = Some(commit_of(day));
    Made { day, commit, ttft: 1.0, tpot: 1.0, failed: Vec::new(), model: "my-model", noise: 0.02 }
}

/// Each day has a commit of its own, told by its first digits.
pub fn commit_of(day: u32) -> String {
    format!("{:07x}{:033x}", 0xabc_0000 + day, day)
}

/// Scatter between -1.7 and 1.7 with variance 1, from a counter alone.
fn scatter(seed: u64) -> f64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    for _ in 0..3 {
        x ^= x >> 30;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 27;
    }
    ((x >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 12f64.sqrt()
}

impl Made {
    pub fn at(&self) -> String {
        let (month, day) = if self.day < 31 { (10, self.day + 1) } else { (11, self.day - 30) };
        format!("2026-{month:02}-{day:02}T03:00:00Z")
    }

    /// The canonical report.
    pub fn report(&self) -> Value {
        let failed: u64 = self.failed.iter().map(|(_, n)| n).sum();
        let succeeded = SENT - failed;
        let wobble = |channel: u64, sd: f64| (scatter(u64::from(self.day) * 64 + channel) * sd).exp();
        let all = wobble(0, self.noise);
        let group = |(number, id, traffic, concurrency): (u64, &str, &str, u32)| {
            let scale = number as f64;
            let ms = |channel: u64, value: f64| {
                value * scale * all * wobble(number * 10 + channel, self.noise / 2.0)
            };
            let times = |channel: u64, p50: f64, p95: f64, factor: f64, definition: &str| {
                json!({ "unit": "ms", "definition": definition, "n": succeeded, "percentile_definition": "floor-rank",
                    "stats": { "p50": ms(channel, p50) * factor, "p95": ms(channel + 1, p95) * factor } })
            };
            let e2e = 0.1 * self.ttft + 0.9 * self.tpot;
            let mut metrics = json!({});
            if succeeded > 0 {
                metrics = json!({
                    "ttft": times(1, 200.0, 412.0, self.ttft, "first-token"),
                    "tpot": times(3, 8.0, 10.0, self.tpot, "excludes-first-token"),
                    "e2e": times(5, 2000.0, 3000.0, e2e, "last-token"),
                    "output_throughput": { "unit": "tok/s", "stats": { "value": 400.0 / (scale * all * e2e) } },
                });
            }
            json!({ "id": id, "dimensions": { "traffic": traffic, "concurrency": concurrency },
                "requests": { "sent": SENT, "succeeded": succeeded,
                    "failed": self.failed.iter().map(|(kind, n)| ((*kind).to_owned(), json!(n))).collect::<serde_json::Map<_, _>>() },
                "wall_ms": 8000.0,
                "tokens": { "input": 30000, "output": if succeeded > 0 { 40000 } else { 0 }, "cached": null, "from": "usage" },
                "metrics": metrics })
        };
        json!({
            "schema": "pacegate.report/1",
            "tool": { "name": "pacegate", "version": "0.1.0" },
            "source": { "kind": "load" },
            "subject": { "model": self.model, "engine": "vllm", "engine_version": "1", "server_hardware": "h100" },
            "code": { "commit": self.commit, "dirty": [] },
            "profile": { "name": "chat", "fingerprints": { "chat/c1": "1111", "chat/c8": "8888" } },
            "jobs": [{ "id": format!("runner-{}", self.day), "started": self.at(), "rounds": [
                { "groups": [group((1, "chat/c1", "chat", 1)), group((2, "chat/c8", "chat", 8))] }
            ] }]
        })
    }

    pub fn write(&self, folder: &Path) -> String {
        let name = format!("job-{:03}.json", self.day);
        fs::write(folder.join(&name), self.report().to_string()).unwrap();
        name
    }
}

/// Reports of some jobs in a folder of their own.
pub fn folder(jobs: impl IntoIterator<Item = Made>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for job in jobs {
        job.write(folder.path());
    }
    folder
}

/// As outside of any CI system and any repository.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pacegate"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("GIT_CEILING_DIRECTORIES", "/");
    for (name, _) in std::env::vars() {
        let ci = [
            "CI",
            "GITHUB_",
            "CI_",
            "BUILDKITE",
            "CHANGE_ID",
            "BUILD_",
            "GIT_COMMIT",
            "SYSTEM_",
            "PACEGATE_",
        ];
        if name != "GIT_CEILING_DIRECTORIES" && ci.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

pub fn pacegate(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The trend of a folder: what is printed, and the JSON.
pub fn trend(folder: &Path, arguments: &[&str]) -> (String, Value) {
    let mut all = vec!["trend", "--json", "trend.json.txt"];
    all.extend(arguments);
    let output = pacegate(folder, &all);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let file = folder.join("trend.json.txt");
    let json = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    fs::remove_file(file).unwrap();
    (String::from_utf8(output.stdout).unwrap(), json)
}

pub fn findings(trend: &Value) -> Vec<Value> {
    trend["series"][0]["findings"].as_array().unwrap().clone()
}

//! Where and when something was measured or blessed. Only `run` and `--bless` look; `check` stays fast.

use std::path::Path;

use time::{Date, OffsetDateTime};

use crate::baseline::git;
use crate::model::report::{Client, Code};
use crate::model::{Timestamp, digest};

/// Now, to the second; a clock beyond the year 9999 tells nothing.
pub fn now() -> Timestamp {
    Timestamp::new(OffsetDateTime::now_utc()).unwrap_or(Timestamp::EPOCH)
}

/// The day, in UTC: waivers end at its end.
pub fn today() -> Date {
    OffsetDateTime::now_utc().date()
}

/// Whether this is a CI job: `CI` is set to anything but an empty word, `0` or `false`.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.to_lowercase().as_str()))
}

/// The commit of the working directory, and which files differ from it, the baseline itself apart.
pub fn code(baseline: &Path) -> Code {
    git::code(baseline).unwrap_or_default()
}

/// The machine that measures.
pub fn client() -> Client {
    let cpus = sysinfo::System::new_with_specifics(
        sysinfo::RefreshKind::nothing().with_cpu(sysinfo::CpuRefreshKind::nothing()),
    );
    let brand = cpus
        .as_ref()
        .ok()
        .and_then(|system| system.cpus().first())
        .map(|cpu| cpu.brand().trim().to_owned())
        .filter(|brand| !brand.is_empty());
    Client {
        cpu: brand,
        cores: std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok()),
        os: sysinfo::System::long_os_version().ok(),
        host: sysinfo::System::host_name().ok().map(|name| digest::hex(name, 12)),
    }
}

/// The job's identity: the CI run, attempt and leg, else the host and the hour.
pub fn job_id(client: &Client) -> String {
    ci_job().unwrap_or_else(|| {
        let now = OffsetDateTime::now_utc();
        let host = client.host.clone().unwrap_or_else(|| "host".to_owned());
        format!("{host}-{}-{:02}h", now.date(), now.hour())
    })
}

/// The CI run, attempt and leg, where this is one of a system that is known.
fn ci_job() -> Option<String> {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let github = || {
        let leg = [var("GITHUB_JOB"), var("STRATEGY_JOB_INDEX")]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("-");
        Some(format!("github-{}-{}-{leg}", var("GITHUB_RUN_ID")?, var("GITHUB_RUN_ATTEMPT")?))
    };
    let gitlab = || Some(format!("gitlab-{}", var("CI_JOB_ID")?));
    let buildkite = || Some(format!("buildkite-{}", var("BUILDKITE_JOB_ID")?));
    let jenkins = || Some(format!("jenkins-{}", digest::hex(var("BUILD_TAG")?, 12)));
    github().or_else(gitlab).or_else(buildkite).or_else(jenkins)
}

/// The CI run and its leg, the same for each attempt of a run where the system tells attempts apart.
pub fn ci_run() -> Option<String> {
    ci_job().map(|id| without_attempt(&id))
}

/// `github-RUN-ATTEMPT-leg` without the attempt; any other job as it is.
pub fn without_attempt(job: &str) -> String {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = job.splitn(4, '-').collect();
    match parts.as_slice() {
        ["github", run, attempt, leg] if number(run) && number(attempt) => format!("github-{run}-{leg}"),
        _ => job.to_owned(),
    }
}

/// The commit of this checkout: what the CI system says, else what git says.
pub fn commit(baseline: &Path) -> Option<String> {
    let variables = ["GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "GIT_COMMIT", "BUILD_SOURCEVERSION"];
    let hex = |text: &String| text.len() >= 7 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let told = variables.iter().find_map(|name| std::env::var(name).ok().filter(hex));
    told.or_else(|| code(baseline).commit)
}

/// Whether this is the job of a change that is not merged: a pull request, a merge request, a merge queue.
pub fn of_a_change() -> bool {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let events = ["pull_request", "pull_request_target", "merge_group"];
    var("GITHUB_EVENT_NAME").is_some_and(|event| events.contains(&event.as_str()))
        || var("BUILDKITE_PULL_REQUEST").is_some_and(|number| number != "false")
        || ["CI_MERGE_REQUEST_IID", "CHANGE_ID", "SYSTEM_PULLREQUEST_PULLREQUESTID"]
            .into_iter()
            .any(|name| var(name).is_some())
}

//! Files that a tool writes beside its report: known for what they are, and which file to give instead.

use super::content::Content;
use super::detect::Sniff;
use super::error::IngestError;

/// One kind of file.
struct Companion {
    /// Keys that are all there.
    keys: &'static [&'static str],
    /// How the text begins; empty where it is JSON.
    begins: &'static str,
    what: &'static str,
    instead: &'static str,
}

const COMPANIONS: &[Companion] = &[
    json(
        &["metadata.request_start_ns", "payload"],
        "is AIPerf's record of what was sent and answered, without the times",
        "profile_export_aiperf.json, or profile_export.jsonl of the same run",
    ),
    json(
        &["aiperf_version", "summary", "metrics"],
        "is AIPerf's file of the server's own metrics",
        "profile_export_aiperf.json of the same run",
    ),
    text(
        "Metric,avg,min,max,",
        "is the CSV of AIPerf or genai-perf, which holds no counts of requests",
        "profile_export_aiperf.json or profile_export_genai_perf.json of the same run",
    ),
    json(
        &["experiments"],
        "is perf_analyzer's file, from which genai-perf computes",
        "profile_export_genai_perf.json of the same run",
    ),
    json(
        &["n_requests", "clients", "run_name"],
        "is LLMeter's file of how the run was set up",
        "responses.jsonl or stats.json of the same run, or the folder",
    ),
    json(
        &["api", "parallel", "number", "sla_auto_tune"],
        "is evalscope's file of how the run was set up",
        "benchmark_summary.json of the same run, or the folder",
    ),
    text(
        "SQLite format 3\0",
        "is an SQLite database, as evalscope keeps its requests in, and is not read",
        "benchmark_summary.json of the same run, or the folder",
    ),
    text("level,index,ok,error,", "is servebench's CSV of single requests", "the file of --out"),
    text("run,label,mode,level,", "is servebench's CSV of levels", "the file of --out"),
    json(
        &["metric", "type", "data.name"],
        "holds the single points that k6 writes with --out json, and is not read",
        "the file of --summary-export",
    ),
    text(
        "Method,Name,Error,Occurrences",
        "is locust's CSV of failures",
        "the file of --json-file, or …_stats.csv",
    ),
    text(
        "Timestamp,User Count,",
        "is locust's CSV of the course of the run",
        "the file of --json-file, or …_stats.csv",
    ),
    text(
        "api:\n  type:",
        "is inference-perf's file of how the run was set up",
        "stage_N_lifecycle_metrics.json of the same run, or the folder",
    ),
];

const fn json(keys: &'static [&'static str], what: &'static str, instead: &'static str) -> Companion {
    Companion { keys, begins: "", what, instead }
}

const fn text(begins: &'static str, what: &'static str, instead: &'static str) -> Companion {
    Companion { keys: &[], begins, what, instead }
}

/// What to say of a file of no format that is one of these.
pub fn known(content: &Content, sniff: &Sniff<'_>) -> Option<IngestError> {
    let path = content.name.clone();
    if sniff.outline.has("[].benchmark.extra_info") || path.ends_with(".pytorch.json") {
        let instead = path.replace(".pytorch.json", ".json");
        let what =
            "is the file for the PyTorch benchmark database that vLLM writes beside its report".to_owned();
        return Some(IngestError::Companion { path, what, instead });
    }
    let is = |one: &&Companion| {
        sniff.head.starts_with(one.begins) && one.keys.iter().all(|key| sniff.outline.has(key))
    };
    let Companion { what, instead, .. } = COMPANIONS.iter().find(is)?;
    Some(IngestError::Companion { path, what: (*what).to_owned(), instead: (*instead).to_owned() })
}

//! The one table of formats: detection, readers, help and documentation are made from it.

use std::fmt;
use std::fmt::Write;
use std::str::FromStr;

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::error::IngestError;
use super::reading::Reading;
use super::{own, script_a, script_b, vllm};

/// A report format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "FORMATS says what each is")]
pub enum Format {
    Pacegate,
    BenchmarkPy,
    BenchmarkRunnerPy,
    VllmBenchServe,
}

impl Format {
    /// The name that `--format` takes and reports carry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Format::Pacegate => "pacegate",
            Format::BenchmarkPy => "benchmark-py",
            Format::BenchmarkRunnerPy => "benchmark-runner-py",
            Format::VllmBenchServe => "vllm-bench-serve",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no report format; expected one of {names}", names = names())]
pub struct UnknownFormat(String);

fn names() -> String {
    FORMATS.iter().map(|def| def.format.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        let found = FORMATS.iter().find(|def| def.format.name() == text);
        found.map(|def| def.format).ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// What reads a format.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    /// It is a report of our own.
    Own,
    /// It is another tool's.
    Foreign(fn(&Content) -> Result<Reading, IngestError>),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FormatDef {
    /// The format.
    pub format: Format,
    /// The tool and its command.
    pub tool: &'static str,
    /// The versions whose reports were read.
    pub versions: &'static str,
    /// The files that it takes.
    pub files: &'static str,
    /// What is in them, and what the tool means by it.
    pub inside: &'static str,
    /// What is not in them.
    pub lacking: &'static str,
    /// The tool's flag that would add what is missing; empty where there is none.
    pub flag: &'static str,
    /// The tool writes bare NaN or Infinity.
    pub bare_nonfinite: bool,
    /// What is approximate in every report of this tool.
    pub approximate: &'static [&'static str],
    /// Whether a file is of this format.
    pub(super) detect: fn(&Sniff<'_>) -> Result<(), Miss>,
    /// Its reader.
    pub(super) reader: Reader,
}

/// Every format, in the order of the documentation.
pub const FORMATS: &[FormatDef] = &[
    FormatDef {
        format: Format::Pacegate,
        tool: "pacegate run, pacegate convert",
        versions: "pacegate.report/1",
        files: "the file of --report",
        inside: "everything; it passes through as it is",
        lacking: "",
        flag: "",
        bare_nonfinite: false,
        approximate: &[],
        detect: own::detect,
        reader: Reader::Own,
    },
    FormatDef {
        format: Format::BenchmarkPy,
        tool: "benchmark.py (MockInferenceEngine; script A)",
        versions: "no version in it",
        files: "its JSON: {\"results\": {STRATEGY: summary}}, {STRATEGY: summary}, or a list of summaries",
        inside: "total_latency and ttft P50/P95/P99, tpot P50/P95 in ms (floor rank), gpu_memory in GB, speedup_vs_baseline = P99 of BASELINE / P99 of the strategy, to two decimals",
        lacking: "tpot P99 was never computed; no count of failures, so the success rate is unknown; no raw samples",
        flag: "",
        bare_nonfinite: false,
        approximate: &[],
        detect: script_a::detect,
        reader: Reader::Foreign(script_a::read),
    },
    FormatDef {
        format: Format::BenchmarkRunnerPy,
        tool: "benchmark_runner.py (BenchmarkEngine; script B)",
        versions: "no version in it",
        files: "its JSON: one object a concurrency level, or a list of them",
        inside: "latency: ttft to the first chunk of any kind (p50 the median, p95 floor rank), \"tpot\" the mean gap between chunks (read as itl), e2e p95, all in ms; throughput: the mean of per-request token rates; reliability: successes of all requests, errors by status",
        lacking: "no percentile above p95, no tpot in the sense of the others, no output throughput over wall time, no raw samples",
        flag: "",
        bare_nonfinite: false,
        approximate: &[],
        detect: script_b::detect,
        reader: Reader::Foreign(script_b::read),
    },
    FormatDef {
        format: Format::VllmBenchServe,
        tool: "vllm bench serve, benchmark_serving.py",
        versions: "proven on 0.33.0; older ones by their keys",
        files: "the file of --save-result, or of --append-result (one object a line: rounds); not the .pytorch.json beside it",
        inside: "ttft (first token; role-only deltas excluded), tpot (first token excluded, one value a request), itl (gaps between chunks, pooled), e2e (to the last token) in ms, percentiles linear; output and request throughput; successes and failures; raw samples with --save-detailed",
        lacking: "ttft, tpot and itl p95; e2e in versions before August 2026; failures in versions before October 2025; no data set name and no version",
        flag: "--percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99 --save-detailed",
        bare_nonfinite: false,
        approximate: &[],
        detect: vllm::detect,
        reader: Reader::Foreign(vllm::read),
    },
];

/// The row of a format.
#[must_use]
pub fn def(format: Format) -> &'static FormatDef {
    FORMATS.iter().find(|def| def.format == format).unwrap_or(&FORMATS[0])
}

/// `docs/formats.md`: the table as Markdown.
#[must_use]
pub fn documentation() -> String {
    let mut text = String::from(
        "# Report formats\n\nMade from the table in `src/source/ingest/formats.rs`; a test holds it fresh.\n\n\
         A format is found by the keys that it must have; `--format NAME` says which it is and gives the full reason if it is not.\n\
         Every value is converted to ms, tok/s, req/s or MB. Two tools never mean quite the same by a metric, so a report is only\n\
         compared with a baseline of the same tool. Times without a zone are read as UTC.\n",
    );
    for def in FORMATS {
        let _ = write!(text, "\n## `{}`\n\n{}. Versions: {}.\n\n", def.format, def.tool, def.versions);
        let rows = [
            ("Files", def.files),
            ("In them", def.inside),
            ("Not in them", def.lacking),
            ("What adds it", def.flag),
        ];
        for (name, what) in rows.iter().filter(|(_, what)| !what.is_empty()) {
            let _ = writeln!(text, "- {name}: {what}");
        }
        for note in def.approximate {
            let _ = writeln!(text, "- Approximate: {note}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_row_and_reads_back_from_its_name() {
        for row in FORMATS {
            assert_eq!(row.format.name().parse::<Format>().unwrap(), row.format);
            assert_eq!(def(row.format).tool, row.tool);
        }
        let unknown = "vllm".parse::<Format>().unwrap_err().to_string();
        assert!(unknown.contains("vllm-bench-serve"), "{unknown}");
    }
}

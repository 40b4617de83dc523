//! The one table of formats: detection, readers, help and documentation are made from it.

use std::fmt;
use std::fmt::Write;
use std::str::FromStr;

use super::content::Content;
use super::detect::{Miss, Sniff};
use super::error::IngestError;
use super::outline::Outline;
use super::reading::Reading;
use super::table::FORMATS;

/// A report format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "FORMATS says what each is")]
pub enum Format {
    Pacegate,
    BenchmarkPy,
    BenchmarkRunnerPy,
    VllmBenchServe,
    SglangBenchServing,
    Guidellm,
    Aiperf,
    GenaiPerf,
    InferencePerf,
    Llmeter,
    Evalscope,
    Servebench,
    Infermark,
    LlmLatencyBench,
    BenchMyLlm,
    Oha,
    K6,
    Locust,
    Hey,
    Wrk,
    Generic,
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
            Format::SglangBenchServing => "sglang-bench-serving",
            Format::Guidellm => "guidellm",
            Format::Aiperf => "aiperf",
            Format::GenaiPerf => "genai-perf",
            Format::InferencePerf => "inference-perf",
            Format::Llmeter => "llmeter",
            Format::Evalscope => "evalscope-perf",
            Format::Servebench => "servebench",
            Format::Infermark => "infermark",
            Format::LlmLatencyBench => "llm-latency-bench",
            Format::BenchMyLlm => "bench-my-llm",
            Format::Oha => "oha",
            Format::K6 => "k6",
            Format::Locust => "locust",
            Format::Hey => "hey",
            Format::Wrk => "wrk",
            Format::Generic => "generic",
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

/// What `--format` asks for: a format, or a mapping as `generic:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The format.
    pub format: Format,
    /// The name of the mapping, where one was given.
    pub mapping: Option<String>,
}

impl FromStr for Asked {
    type Err = UnknownFormat;
    fn from_str(text: &str) -> Result<Asked, UnknownFormat> {
        match text.split_once(':') {
            Some(("generic", name)) if !name.is_empty() => {
                Ok(Asked { format: Format::Generic, mapping: Some(name.to_owned()) })
            }
            _ => Ok(Asked { format: text.parse()?, mapping: None }),
        }
    }
}

/// What reads a format.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    /// It is a report of our own.
    Own,
    /// It is read by the user's mapping.
    Mapped,
    /// It is another tool's.
    Foreign(fn(&Content) -> Result<Reading, IngestError>),
    /// It is one of several kinds of file of another tool, told apart by the outline by which it was detected.
    ForeignOfKind(fn(&Content, &Outline) -> Result<Reading, IngestError>),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FormatDef {
    /// The format.
    pub format: Format,
    /// The tool and its command.
    pub tool: &'static str,
    /// The versions whose real reports the reader is proven on.
    pub proven: &'static [&'static str],
    /// What is to be said of versions beyond that; may be empty.
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

impl FormatDef {
    /// What is read, version by version: `proven on 0.3.1 and 0.8.1; 0.2, 0.4 and 0.5 by their sources`.
    #[must_use]
    pub fn versions_read(&self) -> String {
        let proven = (!self.proven.is_empty()).then(|| format!("proven on {}", self.proven.join(" and ")));
        let rest = (!self.versions.is_empty()).then(|| self.versions.to_owned());
        proven.into_iter().chain(rest).collect::<Vec<_>>().join("; ")
    }

    /// What to say of a report of a version of whose minor release none is proven.
    #[must_use]
    pub fn unproven(&self, version: &str) -> Option<String> {
        let minor = |text: &str| text.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
        let known = self.proven.is_empty() || self.proven.iter().any(|known| minor(known) == minor(version));
        (!known).then(|| {
            format!(
                "it is of version {version}, and the reader is {}: read because every key that it needs is there, so look whether they still mean the same",
                self.versions_read()
            )
        })
    }
}

/// The row of a format.
#[must_use]
pub fn def(format: Format) -> &'static FormatDef {
    let row = FORMATS.iter().find(|def| def.format == format);
    row.unwrap_or_else(|| unreachable!("{format} has no row in table.rs"))
}

/// `docs/formats.md`: the table as Markdown.
#[must_use]
pub fn documentation() -> String {
    let mut text = String::from(
        "# Report formats\n\nMade from the table in `src/source/ingest/table.rs`; a test holds it fresh.\n\n\
         A format is found by the keys that it must have; `--format NAME` says which it is and gives the full reason if it is not.\n\
         Every value is converted to ms, tok/s, req/s or MB. Two tools never mean quite the same by a metric, so a report is only\n\
         compared with a baseline of the same tool. Times without a zone are read as UTC.\n",
    );
    for def in FORMATS {
        let _ = write!(text, "\n## `{}`\n\n{}. Versions: {}.\n\n", def.format, def.tool, def.versions_read());
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

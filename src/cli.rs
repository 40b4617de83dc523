//! The command line: clap structs and nothing else.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::model::Fact;
use crate::source::ingest::Asked;

/// A regression gate for LLM serving: measure a benchmark profile or read a report that another tool wrote, compare it
/// field by field with a committed baseline, and fail when it got slower.
#[derive(Debug, Parser)]
#[command(name = "pacegate", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a profile, compare with its baseline, report.
    Run(RunArgs),
    /// Compare reports that exist with the baseline: pacegate's own or another tool's.
    Check(CheckArgs),
    /// Say in words what each number of a report is, what is divided by what, and which way is better.
    Explain(ExplainArgs),
    /// Write any report as canonical JSON.
    Convert(ConvertArgs),
    /// Say whether past reports, verdicts or a history show a trend, a blip or nothing, and since which commit.
    Trend(TrendArgs),
    /// Send one request to each endpoint of a profile, and name cause and remedy of what is wrong.
    Doctor(DoctorArgs),
    /// Say how many requests, rounds or blessed jobs it takes to see a change, from the spread of what is blessed.
    Plan(PlanArgs),
    /// Plant faults into a run like the blessed one, and replay unchanged runs: can this gate fail, and does it cry wolf?
    SelfTest(SelfTestArgs),
    /// Serve the embedded engine behind the OpenAI API on this machine, with faults on demand.
    Mock(MockArgs),
    /// List the tools whose reports can be read, and what is in them.
    Formats,
    /// Print the JSON Schema of a file that pacegate writes.
    Schema(SchemaArgs),
    /// Write a commented pacegate.toml and the workflow of the CI system; never over a file.
    Init(InitArgs),
    /// Print the completion script of a shell.
    Completions(CompletionsArgs),
    /// Print a man page: of a command, or of pacegate.
    Man(ManArgs),
}

/// Which profile of which pacegate.toml.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// The profile; else the default or the only one of pacegate.toml.
    #[arg(long, value_name = "NAME", env = "PACEGATE_PROFILE")]
    pub profile: Option<String>,
    /// pacegate.toml; else it is looked for upwards to the git root.
    #[arg(long, value_name = "FILE", env = "PACEGATE_CONFIG")]
    pub config: Option<PathBuf>,
}

/// Which gate: its rules and its baseline.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// Which profile of which file.
    #[command(flatten)]
    pub chosen: ConfigArgs,
    /// The blessed baseline; else baselines/PROFILE.json beside pacegate.toml.
    #[arg(long, value_name = "FILE", env = "PACEGATE_BASELINE")]
    pub baseline: Option<PathBuf>,
}

/// `pacegate run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// How to judge and what to write.
    #[command(flatten)]
    pub gate: GateArgs,
    /// Where and how an endpoint is reached.
    #[command(flatten)]
    pub endpoint: EndpointArgs,
    /// Measure this endpoint too, both alternating in blocks (duet): it is what the profile's own is held against.
    #[arg(long, value_name = "URL", env = "PACEGATE_AGAINST")]
    pub against: Option<String>,
    /// Seed of prompts, arrivals and the embedded engine; each round adds its number.
    #[arg(long, value_name = "N", env = "PACEGATE_SEED")]
    pub seed: Option<u64>,
}

/// Where and how an endpoint is reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Endpoint")]
pub struct EndpointArgs {
    /// The endpoint, in place of the profile's. A URL with a path is used as given, one without gets /v1.
    #[arg(long, value_name = "URL", env = "PACEGATE_BASE_URL")]
    pub base_url: Option<String>,
    /// The environment variable that holds the API key.
    #[arg(long, value_name = "NAME", env = "PACEGATE_API_KEY_ENV", default_value = "OPENAI_API_KEY")]
    pub api_key_env: String,
    /// A host that may get the key although only a file names it. Repeatable.
    #[arg(long, value_name = "HOST", env = "PACEGATE_KEY_HOST", value_delimiter = ',')]
    pub key_host: Vec<String>,
    /// Certificates of a private authority, PEM.
    #[arg(long, value_name = "FILE", env = "PACEGATE_CA_FILE")]
    pub ca_file: Option<PathBuf>,
}

/// `pacegate doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Which profile of which file.
    #[command(flatten)]
    pub chosen: ConfigArgs,
    /// Where and how the endpoint is reached.
    #[command(flatten)]
    pub endpoint: EndpointArgs,
}

/// `pacegate self-test`.
#[derive(Debug, Args)]
pub struct SelfTestArgs {
    /// Which gate.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Unchanged runs to make of the blessed samples, of each kind; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub replays: u32,
    /// Where they are drawn from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// What was found as JSON; `-` prints it in place of the table.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// `pacegate plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Which gate.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The worsening that is to be seen, such as 15%; else one and a half times each limit.
    #[arg(long, value_name = "PERCENT")]
    pub see: Option<crate::model::plan::See>,
    /// The plan as JSON; `-` prints it in place of the table.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// `pacegate mock`.
#[derive(Debug, Args)]
pub struct MockArgs {
    /// Where to listen; port 0 takes a free one. Only this machine reaches it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    pub listen: std::net::SocketAddr,
    /// A model that is served; one that is named like a strategy has that strategy's speeds. Repeatable.
    #[arg(long, value_name = "NAME", default_value = "embedded")]
    pub model: Vec<String>,
    /// What the times of an answer come from: engine, none, or FIRST/GAP such as 80ms/8ms.
    #[arg(long, value_name = "LATENCY", default_value = "engine")]
    pub latency: crate::server::Latency,
    /// A fault for some requests, such as 429=5% or reset@0,7. Repeatable.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<crate::server::FaultRule>,
    /// Requests answered at once; one more is refused with 429.
    #[arg(long, value_name = "N")]
    pub max_in_flight: Option<u32>,
    /// The environment variable that holds the key that requests have to bring.
    #[arg(long, value_name = "NAME")]
    pub api_key_env: Option<String>,
    /// Where faults, lengths and noise are drawn from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// `pacegate check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Reports; NAME=REPORT names the strategy that it measured. Several without names are rounds of one job. `-` is
    /// standard input.
    #[arg(required = true, value_name = "[NAME=]REPORT")]
    pub reports: Vec<String>,
    /// How the files are read.
    #[command(flatten)]
    pub ingest: IngestArgs,
    /// How to judge and what to write.
    #[command(flatten)]
    pub gate: GateArgs,
}

/// How files of other tools are read.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Read the files as this tool's, and say in full why they are not (`pacegate formats` lists the names). generic:NAME reads
    /// any other tool's by the mapping [generic.NAME] of pacegate.toml.
    #[arg(long, value_name = "NAME")]
    pub format: Option<Asked>,
    /// Each file is a job of its own (another run, another hour), not a round of one job.
    #[arg(long)]
    pub job: bool,
}

/// How to judge and what to write: common to `run` and `check`.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// Which gate.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Judge by the baseline and pacegate.toml of this git ref, and say what the change alters in them.
    #[arg(long, value_name = "REF")]
    pub base_ref: Option<String>,
    /// Compare although this differs (model, server, tool, …). Said in every output. Repeatable.
    #[arg(long, value_name = "FIELD")]
    pub allow_different: Vec<Fact>,
    /// Exit 0 in place of 1, 3 and 4. Said in every output.
    #[arg(long)]
    pub report_only: bool,
    /// The jobs of the main branch before this one, a line each; this one is added. What is over its limits three jobs
    /// in a row fails.
    #[arg(long, value_name = "FILE", env = "PACEGATE_HISTORY")]
    pub history: Option<PathBuf>,
    /// Only read the history: this job is not one of the main branch. Pull requests and --base-ref do so by themselves.
    #[arg(long)]
    pub history_only_read: bool,
    /// Renewing the baseline.
    #[command(flatten)]
    pub bless: BlessArgs,
    /// Files to write.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Renewing the baseline.
#[derive(Debug, Args)]
#[command(next_help_heading = "Blessing")]
pub struct BlessArgs {
    /// Make these numbers the baseline, and print what changes.
    #[arg(long)]
    pub bless: bool,
    /// Keep the blessed jobs and add this one (the last 10 are kept).
    #[arg(long, requires = "bless")]
    pub add: bool,
    /// Why: needed where something got worse or suspiciously better; kept in the baseline's ledger.
    #[arg(long, value_name = "TEXT", requires = "bless")]
    pub reason: Option<String>,
    /// Bless in CI all the same. Nothing commits it for you.
    #[arg(long, requires = "bless")]
    pub allow_ci: bool,
}

/// Files to write. They are tried before anything is measured and written even when the verdict is bad.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The measured report as canonical JSON.
    #[arg(long, value_name = "FILE", env = "PACEGATE_REPORT")]
    pub report: Option<PathBuf>,
    /// The verdict as Markdown. `$GITHUB_STEP_SUMMARY` gets it in any case.
    #[arg(long, value_name = "FILE", env = "PACEGATE_MARKDOWN")]
    pub markdown: Option<PathBuf>,
    /// The verdict as JUnit XML: a test a gated field.
    #[arg(long, value_name = "FILE", env = "PACEGATE_JUNIT")]
    pub junit: Option<PathBuf>,
    /// The numbers as OpenMetrics gauges.
    #[arg(long, value_name = "FILE", env = "PACEGATE_METRICS")]
    pub metrics: Option<PathBuf>,
    /// The verdict as JSON. `-` is standard output, here as above; the table then goes to standard error.
    #[arg(long, value_name = "FILE", env = "PACEGATE_JSON")]
    pub json: Option<PathBuf>,
    /// Everything that was printed, for CI steps that would otherwise need a pipe and lose the exit code.
    #[arg(long, value_name = "FILE", env = "PACEGATE_LOG")]
    pub log: Option<PathBuf>,
    /// More: every field, every note.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Less: the first lines only.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// `pacegate explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The report.
    #[arg(value_name = "[NAME=]REPORT")]
    pub report: String,
    /// Only this field, such as `int8_quant/chat/c8:ttft.p95` or `ttft`.
    #[arg(value_name = "FIELD")]
    pub field: Option<String>,
    /// pacegate.toml with the mapping of a tool that is not known; else it is looked for upwards to the git root.
    #[arg(long, value_name = "FILE", env = "PACEGATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// How the file is read.
    #[command(flatten)]
    pub ingest: IngestArgs,
}

/// `pacegate trend`.
#[derive(Debug, Args)]
pub struct TrendArgs {
    /// Folders (with all that is in them), reports, verdicts (`--json FILE`), or histories (`--history FILE`). Their order
    /// does not matter: each job has its time.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Whose rules say which fields are looked at, and the baseline whose first bless the newest level is held against.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The trend as JSON; `-` prints it in place of the table.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Less: each series in its first lines, without the table.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `pacegate convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The reports.
    #[arg(required = true, value_name = "[NAME=]REPORT")]
    pub reports: Vec<String>,
    /// Where to write; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// pacegate.toml with the mapping of a tool that is not known; else it is looked for upwards to the git root.
    #[arg(long, value_name = "FILE", env = "PACEGATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// How the files are read.
    #[command(flatten)]
    pub ingest: IngestArgs,
}

/// `pacegate schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which file's.
    pub kind: crate::emit::SchemaKind,
}

/// `pacegate init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The reports that the benchmark writes in CI, as paths from the repository's root; else results/vllm.json.
    #[arg(value_name = "[NAME=]REPORT")]
    pub reports: Vec<String>,
    /// Whose workflow to write; else GitLab's where .gitlab-ci.yml stands, and GitHub's.
    #[arg(long, value_name = "SYSTEM")]
    pub ci: Option<CiSystem>,
}

/// A CI system that `pacegate init` writes a workflow for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CiSystem {
    /// .github/workflows/pacegate.yml
    Github,
    /// .gitlab/pacegate.yml
    Gitlab,
    /// pacegate.toml only
    None,
}

/// `pacegate completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `pacegate man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command whose page it is.
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

//! From a profile to a report: rounds over the groups, each with its warm-up, its load and its reconciliation.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::digest;
use crate::model::profile::{Profile, Prompts};
use crate::model::report::{
    self, Client, Code, MOCK_ENGINE, ProfileRef, Source, SourceKind, Subject, TokenSource, Tool, Warmup,
};
use crate::model::{Finite, Group, Job, NotFinite, Report, Round};
use crate::source::simulate::Progress;
use crate::source::simulate::traffic::UnknownTraffic;
use crate::source::workload::{fingerprint, round_seed};
use crate::stats::StatsError;

use super::clock::Clock;
use super::endpoint::EndpointError;
use super::files;
use super::key::{KeyError, Secret, Trusted, clean};
use super::plan::{self, Ask, Planned, Step};
use super::prompts::{Nonce, PromptFileError, Scale};
use super::side::{Side, secrets};
use super::too_many;
use super::url::UrlError;

mod group;

/// What the command line and the environment say beside the profile.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--base-url` or its twin: named by a person, so the key may go there.
    pub base_url: Option<String>,
    /// `--against`: the other endpoint of a duet.
    pub against: Option<String>,
    /// The API key.
    pub key: Option<Secret>,
    /// `--key-host`: hosts that only a file names and that may see the key all the same.
    pub trusted: Trusted,
    /// `--ca-file`.
    pub ca_file: Option<PathBuf>,
    /// The folder of `pacegate.toml`: prompt files and `before_block` are relative to it.
    pub folder: PathBuf,
    /// Reads an environment variable, for header values.
    pub variable: fn(&str) -> Option<String>,
    /// Tells this run's prompts from every other run's; not part of the workload.
    pub run: u64,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant says what it means")]
pub enum LoadError {
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Prompts(#[from] PromptFileError),
    #[error(transparent)]
    Traffic(#[from] UnknownTraffic),
    #[error("the prompt file {file} can't be read ({source})")]
    PromptsUnreadable { file: String, source: io::Error },
    #[error(
        "nothing to measure; expected at least one prompt set, one concurrency or rate, one request and one round"
    )]
    NothingToMeasure,
    #[error("concurrency 0 sends no request; expected 1 or more")]
    NoConcurrency,
    #[error(
        "{concurrency} requests in flight need {needed} open files, and this process may have {allowed}; raise the limit \
         first (ulimit -n {needed}), or lower the concurrency"
    )]
    OpenFiles { concurrency: u32, allowed: u64, needed: u64 },
    #[error("rate {0} requests per second; expected 0.001 to 1e6")]
    Rate(Finite),
    #[error(
        "prompt_tokens needs built-in traffic: prompts of a file are as long as they are; leave prompt_tokens out"
    )]
    TiersWithFile,
    #[error("the profile {0} names no base_url; add one, or pass --base-url")]
    NoEndpoint(String),
    #[error(
        "the profile measures the embedded engine, which no request can be sent to; name an endpoint: base_url under its [profile.NAME], or --base-url URL"
    )]
    Embedded,
    #[error("header \"{header}\" takes its value from {variable}, which is not set")]
    HeaderVariable { header: String, variable: String },
    #[error("before_block \"{command}\" failed ({how}); nothing was measured after it")]
    BeforeBlock { command: String, how: String },
    #[error("measuring needs threads and sockets that this system refused ({0})")]
    System(#[from] io::Error),
    #[error(transparent)]
    Stats(#[from] StatsError),
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
}

/// Everything that one run carries along.
struct Run<'a> {
    profile: &'a Profile,
    options: &'a Options,
    planned: Vec<Planned>,
    /// Per strategy: its own endpoint, and the other one of a duet.
    sides: Vec<[Option<Side>; 2]>,
    scale: Option<Scale>,
    clock: Clock,
    secrets: Vec<Secret>,
    warmup: Warmup,
    warnings: BTreeSet<String>,
    models: BTreeMap<String, u64>,
    /// Whether `pacegate mock` answered.
    simulated: bool,
    cancel: &'a AtomicBool,
}

/// Runs the profile against its endpoints.
///
/// Every endpoint is resolved and every secret's way is checked before the first request. The report is complete but
/// for what this side of the program can't know: the job's id and start, the client and the code. When `cancel` turns
/// true, what was measured so far comes back as an incomplete job.
///
/// # Errors
/// What the profile or the options ask for and can't be done. Requests that fail are no error: they are in the report.
pub fn measure(
    profile: &Profile,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
    cancel: &AtomicBool,
) -> Result<Report, LoadError> {
    let mut run = Run::prepare(profile, options, cancel)?;
    let mut rounds = Vec::new();
    let mut last_side = None;
    for number in 1..=profile.rounds {
        let mut round = Round { seed: Some(round_seed(profile.seed, number)), ..Round::default() };
        for step in plan::order(&run.planned, profile, options.against.is_some(), number) {
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            run.before_block(step, number, &mut last_side)?;
            let measured = run.group(step, number, progress)?;
            if step.against { round.against.push(measured) } else { round.groups.push(measured) }
        }
        if !round.groups.is_empty() {
            rounds.push(round);
        }
    }
    Ok(run.report(rounds))
}

impl<'a> Run<'a> {
    fn prepare(
        profile: &'a Profile,
        options: &'a Options,
        cancel: &'a AtomicBool,
    ) -> Result<Self, LoadError> {
        files::check(&profile.load, profile.requests, files::allowed())?;
        let mut sides = Vec::new();
        let mut all_secrets: Vec<Secret> = options.key.iter().cloned().collect();
        for strategy in &profile.strategies {
            all_secrets.extend(secrets(strategy, options)?.into_iter().map(|(_, secret)| secret));
            let own = Side::resolve(profile, strategy, options, None)?;
            let other = options.against.as_deref();
            let other = other.map(|url| Side::resolve(profile, strategy, options, Some(url))).transpose()?;
            sides.push([Some(own), other]);
        }
        let planned = plan::groups(profile, asks(profile, &options.folder)?)?;
        Ok(Run {
            profile,
            options,
            planned,
            sides,
            scale: None,
            clock: Clock::start(),
            secrets: all_secrets,
            warmup: Warmup::default(),
            warnings: BTreeSet::new(),
            models: BTreeMap::new(),
            simulated: false,
            cancel,
        })
    }

    fn nonce(&self, round: u32, step: Step, part: &str) -> Nonce {
        let id = &self.planned[step.group].id;
        Nonce::new(self.options.run, format!("{round}/{id}/{}/{part}", step.against))
    }

    /// Runs the profile's command when the server that is measured changes.
    fn before_block(
        &self,
        step: Step,
        round: u32,
        last: &mut Option<(usize, bool)>,
    ) -> Result<(), LoadError> {
        let side = (self.planned[step.group].strategy, step.against);
        let Some(command) = &self.profile.before_block else { return Ok(()) };
        if last.replace(side) == Some(side) {
            return Ok(());
        }
        let failed = |how: String| LoadError::BeforeBlock { command: command.clone(), how };
        let status = std::process::Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.options.folder)
            .env("PACEGATE_STRATEGY", &self.profile.strategies[side.0].name)
            .env("PACEGATE_SIDE", if step.against { "against" } else { "candidate" })
            .env("PACEGATE_ROUND", round.to_string())
            .stdin(std::process::Stdio::null())
            // Standard output is the table's alone.
            .stdout(io::stderr())
            .status()
            .map_err(|error| failed(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
    }

    fn report(self, rounds: Vec<Round>) -> Report {
        let profile = self.profile;
        let side = |group: &Planned| self.sides[group.strategy][0].as_ref();
        let workloads: BTreeMap<_, _> = self
            .planned
            .iter()
            .map(|group| {
                let sampling = side(group).map(|side| side.form.sampling()).unwrap_or_default();
                (group.id.clone(), group.facts(profile, &sampling))
            })
            .collect();
        let fingerprints = workloads.iter().map(|(id, facts)| (id.clone(), fingerprint(facts))).collect();
        let measured: usize = rounds.iter().map(|round| round.groups.len() + round.against.len()).sum();
        let sides = 1 + usize::from(self.options.against.is_some());
        let whole = |group: &Group| {
            group.requests.sent.unwrap_or_default() + dropped(group) == u64::from(profile.requests)
        };
        let complete = measured == self.planned.len() * profile.rounds as usize * sides
            && rounds.iter().flat_map(|round| round.groups.iter().chain(&round.against)).all(whole);
        let mut warnings = self.warnings.clone();
        warnings.extend(too_many::began(rounds.iter().flat_map(|round| &round.groups)));
        let seen = self.sides.iter().flatten().flatten().find_map(|side| side.seen.as_ref());
        let engine = if self.simulated { Some(MOCK_ENGINE) } else { seen.and_then(|seen| seen.engine) };
        let model = self.models.iter().max_by_key(|(_, n)| **n).map(|(model, _)| model.clone());
        Report {
            schema: report::SCHEMA.to_owned(),
            tool: Tool::pacegate(),
            source: Source { warnings: warnings.into_iter().collect(), ..Source::of(SourceKind::Load) },
            subject: Subject {
                model,
                engine: engine.map(str::to_owned),
                engine_version: seen.and_then(|seen| Some(clean(seen.version.as_ref()?, &self.secrets))),
                server_hardware: profile.server.clone(),
                parameters: self.parameters(),
            },
            client: Client::default(),
            code: Code::default(),
            profile: ProfileRef {
                name: profile.name.clone(),
                reference: profile.reference.clone(),
                workloads,
                fingerprints,
            },
            jobs: vec![Job {
                id: format!("run-{:016x}", self.options.run),
                started: None,
                complete,
                warmup: Some(self.warmup),
                rounds,
            }],
        }
    }

    /// What a strategy changes in its requests: the subject, not the workload.
    fn parameters(&self) -> BTreeMap<String, String> {
        let mut parameters = BTreeMap::new();
        for (strategy, [side, _]) in self.profile.strategies.iter().zip(&self.sides) {
            if let Some(side) = side {
                parameters.insert(format!("strategies.{}.model", strategy.name), side.form.model.clone());
            }
            for (name, value) in &strategy.body {
                parameters.insert(format!("strategies.{}.body.{name}", strategy.name), value.to_string());
            }
        }
        parameters
    }
}

fn dropped(group: &Group) -> u64 {
    group.arrivals.as_ref().map_or(0, |arrivals| arrivals.dropped)
}

fn asks(profile: &Profile, folder: &Path) -> Result<Vec<(String, Ask)>, LoadError> {
    match &profile.prompts {
        Prompts::Traffic(names) => {
            names.iter().map(|name| Ok((name.clone(), Ask::Traffic(name.parse()?)))).collect()
        }
        Prompts::File(file) => {
            let unreadable = |source| LoadError::PromptsUnreadable { file: file.clone(), source };
            let text = std::fs::read_to_string(folder.join(file)).map_err(unreadable)?;
            let hash = digest::hex(&text, 16);
            let sets = super::prompts::read(file, &text)?;
            Ok(sets.into_iter().map(|set| (set.name.clone(), Ask::Set(set, hash.clone()))).collect())
        }
    }
}

/// Who counted a group's tokens: usage, unless answers without it had to be counted afterwards.
fn source_of(counted_afterwards: bool) -> TokenSource {
    if counted_afterwards { TokenSource::Tokenize } else { TokenSource::Usage }
}

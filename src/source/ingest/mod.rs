//! Reads the reports of other tools into the canonical report.
//!
//! ```text
//! bytes (content) -> outline -> format (detect) -> reading (one file per tool) -> report (join)
//! ```
//!
//! A format is found by the keys that it must have; nothing is guessed. Every number is converted at this door to the one unit
//! of its metric, with what the tool means by it. What was not measured is absent, never 0.

mod aiperf;
mod companion;
mod content;
mod csv;
mod detect;
mod draft;
mod error;
mod evalscope;
mod failure;
mod flat;
mod formats;
mod genai_perf;
mod generic;
mod guidellm;
mod guidellm_csv;
mod guidellm_file;
mod http_json;
mod http_text;
mod inference_perf;
mod infermark;
mod join;
mod layout;
mod llmeter;
mod locate;
mod locust;
mod number;
mod outcomes;
mod outline;
mod own;
mod parse;
mod pointer;
mod reading;
mod rows;
mod script_a;
mod script_b;
mod scripts;
mod servebench;
mod serving;
mod sglang;
mod single_requests;
mod spelling;
mod stamp;
mod table;
mod tree;
mod vllm;

use std::path::{Path, PathBuf};

use crate::model::{Mapping, Report};

pub use error::{IngestError, Place, Refusal};
pub use formats::{Asked, Format, FormatDef, UnknownFormat, def, documentation};
pub use table::FORMATS;

use content::Content;
use join::FileRead;
use outline::Outline;
use own::OwnRead;

/// One report as the command line gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The strategy that it measured, where the command names one (`NAME=REPORT`).
    pub strategy: Option<String>,
    /// The file; `-` is standard input.
    pub path: PathBuf,
}

impl Input {
    /// `REPORT` or `NAME=REPORT`. A file of the very name that was given comes first.
    #[must_use]
    pub fn parse(text: &str) -> Input {
        let whole = || Input { strategy: None, path: PathBuf::from(text) };
        match text.split_once('=') {
            Some((name, path)) if is_name(name) && !path.is_empty() && !Path::new(text).exists() => {
                Input { strategy: Some(name.to_owned()), path: PathBuf::from(path) }
            }
            _ => whole(),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// How files are read and joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The format, where it is not to be found.
    pub format: Option<Format>,
    /// How to read a tool that is not known here; then no format is looked for.
    pub mapping: Option<Mapping>,
    /// Every file is a job of its own; else they are rounds of one job.
    pub separate_jobs: bool,
    /// The profile that the report is of; else the name of the format.
    pub profile: Option<String>,
}

/// What one file turned out to be.
enum Read {
    Own(Box<OwnRead>),
    Foreign(Box<FileRead>),
}

impl Read {
    fn path(&self) -> &str {
        match self {
            Read::Own(read) => &read.path,
            Read::Foreign(read) => &read.path,
        }
    }

    fn format(&self) -> Format {
        match self {
            Read::Own(_) => Format::Pacegate,
            Read::Foreign(read) => read.reading.format,
        }
    }

    fn warn(&mut self, warning: String) {
        match self {
            Read::Own(read) => read.report.source.warnings.push(warning),
            Read::Foreign(read) => read.reading.warn(warning),
        }
    }
}

/// Reads reports and joins them.
///
/// Files without names are rounds of one job, or groups of one round where they measured different groups; names make them
/// strategies. `separate_jobs` makes them jobs.
///
/// # Errors
/// Everything that keeps a file from being read or joined; all of it is exit code 2.
pub fn read(inputs: &[Input], options: &Options) -> Result<Report, IngestError> {
    let mut foreign: Vec<FileRead> = Vec::new();
    let mut own: Vec<OwnRead> = Vec::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for input in inputs {
        let read = read_one(input, options)?;
        let (path, digest) = match &read {
            Read::Own(read) => (&read.path, &read.digest),
            Read::Foreign(read) => (&read.path, &read.digest),
        };
        if let Some((first, _)) = seen.iter().find(|(_, old)| old == digest) {
            return Err(IngestError::SameContent { first: first.clone(), second: path.clone() });
        }
        seen.push((path.clone(), digest.clone()));
        match read {
            Read::Own(read) => own.push(*read),
            Read::Foreign(read) => foreign.push(*read),
        }
    }
    match (own.first(), foreign.first()) {
        (Some(ours), Some(theirs)) => Err(IngestError::MixedFormats {
            first: ours.path.clone(),
            first_format: Format::Pacegate.to_string(),
            second: theirs.path.clone(),
            second_format: theirs.reading.format.to_string(),
        }),
        (Some(_), None) => own::join(own, options),
        (None, _) => join::join(foreign, options),
    }
}

/// Reads what a path leads to: one file, or the parts of a run.
fn read_one(input: &Input, options: &Options) -> Result<Read, IngestError> {
    let (files, known) = if options.mapping.is_some() {
        // Known tools' names mean nothing here: another file beside this one is not what the mapping is of.
        (vec![input.path.clone()], true)
    } else {
        match layout::find(&input.path)? {
            layout::Found::Reports(files) => (files, true),
            layout::Found::Candidates(files) => (files, false),
        }
    };
    let mut read: Option<Read> = None;
    let mut left_out = Vec::new();
    for file in &files {
        let next = match read_content(Content::load(file)?, input.strategy.as_deref(), options) {
            Err(error) if !known && error.is_of_another_kind() => {
                left_out.extend(file.file_name().map(|name| name.to_string_lossy().into_owned()));
                continue;
            }
            next => next?,
        };
        read = Some(match read {
            None => next,
            Some(first) => parts(first, next, &input.path)?,
        });
    }
    let mut read = read
        .ok_or_else(|| IngestError::Folder { path: input.path.clone(), looked_for: layout::looked_for() })?;
    if !left_out.is_empty() {
        read.warn(format!("no report of a known tool, so left out: {}", left_out.join(", ")));
    }
    Ok(read)
}

/// Two files of one folder: levels or stages of one run.
fn parts(first: Read, next: Read, folder: &Path) -> Result<Read, IngestError> {
    match (first, next) {
        (Read::Foreign(mut first), Read::Foreign(next)) if first.reading.format == next.reading.format => {
            first.digest = join::short(&format!("{}{}", first.digest, next.digest));
            first.path = folder.display().to_string();
            first.reading.runs.extend(next.reading.runs);
            for warning in next.reading.warnings {
                first.reading.warn(warning);
            }
            Ok(Read::Foreign(first))
        }
        (first, next) => Err(IngestError::MixedFormats {
            first: first.path().to_owned(),
            first_format: first.format().to_string(),
            second: next.path().to_owned(),
            second_format: next.format().to_string(),
        }),
    }
}

/// Reads one report from bytes that were read elsewhere; files beside it are not known then.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &Options) -> Result<Report, IngestError> {
    let content = Content::of(name.to_owned(), bytes)?;
    match read_content(content, None, options)? {
        Read::Own(read) => own::join(vec![*read], options),
        Read::Foreign(read) => join::join(vec![*read], options),
    }
}

/// Files above this are hashed on a second thread while they are parsed, and known by what stands before it where that is enough.
const LARGE: usize = 1 << 20;

fn read_content(content: Content, strategy: Option<&str>, options: &Options) -> Result<Read, IngestError> {
    if let Some((outline, def)) = known_by_its_head(&content, options)
        && let Ok(read) = parsed_and_hashed(&content, &outline, def, strategy)
    {
        return Ok(read);
    }
    read_carefully(content, strategy, options)
}

/// Whose a large file is, if its first part has every mark: a pass over all of it would take as long as to parse it.
fn known_by_its_head(content: &Content, options: &Options) -> Option<(Outline, &'static FormatDef)> {
    if options.mapping.is_some() || content.bytes.len() <= LARGE {
        return None;
    }
    let outline = Outline::of(&content.bytes[..LARGE]);
    let sound = outline.too_deep.is_none() && outline.nonfinite.is_none();
    let def = detect::detect(content, &outline, options.format).ok()?;
    (sound && !def.bare_nonfinite).then_some((outline, def))
}

/// Looks at every byte first, so that whatever is wrong is told by its cause.
fn read_carefully(
    mut content: Content,
    strategy: Option<&str>,
    options: &Options,
) -> Result<Read, IngestError> {
    let outline = Outline::of(&content.bytes);
    if let Some(offset) = outline.too_deep {
        return Err(IngestError::TooDeep { place: content.place(offset), limit: outline::MOST_DEPTH });
    }
    if let Some(mapping) = &options.mapping {
        refuse_nonfinite(&content, &outline, Format::Generic)?;
        let reading = generic::read(&content, &outline, mapping)?;
        let (path, strategy) = (content.name.clone(), strategy.map(str::to_owned));
        if reading.runs.iter().all(|run| run.groups.is_empty()) {
            return Err(IngestError::NoRun { path, what: "the list of groups is empty".to_owned() });
        }
        let digest = content.digest();
        return Ok(Read::Foreign(Box::new(FileRead { path, digest, strategy, reading })));
    }
    let def = detect::detect(&content, &outline, options.format)?;
    if outline.nonfinite.is_none() {
        return parsed_and_hashed(&content, &outline, def, strategy);
    }
    if !def.bare_nonfinite {
        refuse_nonfinite(&content, &outline, def.format)?;
    }
    let digest = content.digest();
    outline::quote_nonfinite(&mut content.bytes);
    parsed(&content, &outline, def, strategy, || digest)
}

fn parsed_and_hashed(
    content: &Content,
    outline: &Outline,
    def: &FormatDef,
    strategy: Option<&str>,
) -> Result<Read, IngestError> {
    if content.bytes.len() < LARGE {
        return parsed(content, outline, def, strategy, || content.digest());
    }
    std::thread::scope(|scope| {
        let hashing = scope.spawn(|| content.digest());
        parsed(content, outline, def, strategy, || hashing.join().unwrap_or_else(|_| content.digest()))
    })
}

/// Bare NaN and infinity are no JSON, and only few tools write them.
fn refuse_nonfinite(content: &Content, outline: &Outline, format: Format) -> Result<(), IngestError> {
    let Some(offset) = outline.nonfinite else { return Ok(()) };
    let token = if content.bytes[offset..].starts_with(b"NaN") { "NaN" } else { "Infinity" };
    let place = content.place(offset).key(locate::keys_to(content, offset));
    Err(IngestError::NotFinite { place, token: token.to_owned(), format })
}

fn parsed(
    content: &Content,
    outline: &Outline,
    def: &FormatDef,
    strategy: Option<&str>,
    digest: impl FnOnce() -> String,
) -> Result<Read, IngestError> {
    let (path, strategy) = (content.name.clone(), strategy.map(str::to_owned));
    let mut reading = match def.reader {
        formats::Reader::Own => {
            let report = own::read(content)?;
            return Ok(Read::Own(Box::new(OwnRead { path, digest: digest(), strategy, report })));
        }
        formats::Reader::Mapped => {
            let missing = "there is no mapping for it in pacegate.toml".to_owned();
            return Err(IngestError::NotThis { path, format: Format::Generic, missing });
        }
        formats::Reader::Foreign(read) => read(content)?,
        formats::Reader::ForeignOfKind(read) => read(content, outline)?,
    };
    if reading.runs.iter().all(|run| run.groups.is_empty()) {
        return Err(IngestError::NoRun { path, what: def.inside.to_owned() });
    }
    if let Some(warning) = reading.version.as_deref().and_then(|version| def.unproven(version)) {
        reading.warn(warning);
    }
    Ok(Read::Foreign(Box::new(FileRead { path, digest: digest(), strategy, reading })))
}

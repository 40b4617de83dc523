//! What one file says, before files are joined.

use crate::model::Timestamp;
use crate::model::report::{Client, Code, Group, Subject, Warmup, Workload};

use super::Format;
use super::content::Content;
use super::draft::Draft;
use super::error::{IngestError, Place};

/// What one file says.
#[derive(Debug)]
pub struct Reading {
    /// Whose file it is.
    pub format: Format,
    /// The version of the tool or of its schema, where the file tells.
    pub version: Option<String>,
    /// What was measured.
    pub subject: Subject,
    /// The machine that measured, where the file tells.
    pub client: Client,
    /// The code under test, where the file tells.
    pub code: Code,
    /// Passes over groups, in the order of the file.
    pub runs: Vec<Run>,
    /// The strategy that speed-ups divide by, where the file names one.
    pub reference: Option<String>,
    /// What a reader of these numbers should know.
    pub warnings: Vec<String>,
}

impl Reading {
    /// An empty reading.
    #[must_use]
    pub fn new(format: Format) -> Reading {
        Reading {
            format,
            version: None,
            subject: Subject::default(),
            client: Client::default(),
            code: Code::default(),
            runs: Vec::new(),
            reference: None,
            warnings: Vec::new(),
        }
    }

    /// Adds a warning once.
    pub fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Finishes drafts into one run. `keys` says where in the file each stands.
    ///
    /// # Errors
    /// A value that can't be.
    pub fn run(
        &mut self,
        content: &Content,
        run: Run,
        drafts: impl IntoIterator<Item = (String, Draft)>,
    ) -> Result<(), IngestError> {
        let mut run = run;
        let mut again: Vec<Run> = Vec::new();
        for (key, draft) in drafts {
            let (group, workload, notes) = draft.finish().map_err(|what| IngestError::WrongValue {
                place: Place::file(&content.name).key(key),
                what,
                format: self.format,
            })?;
            for note in notes {
                self.warn(format!("{}: {note}", group.id));
            }
            // The same level twice in one file is a further round.
            let is_there = |run: &Run| run.groups.iter().any(|(old, _)| old.id == group.id);
            if !is_there(&run) {
                run.groups.push((group, workload));
            } else if let Some(later) = again.iter_mut().find(|later| !is_there(later)) {
                later.groups.push((group, workload));
            } else {
                again.push(Run { groups: vec![(group, workload)], ..Run::default() });
            }
        }
        self.runs.push(run);
        self.runs.append(&mut again);
        Ok(())
    }
}

/// One pass over groups.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The groups with their workloads.
    pub groups: Vec<(Group, Workload)>,
    /// When it began, where the file tells.
    pub started: Option<Timestamp>,
    /// The file says that it was broken off.
    pub broken_off: bool,
    /// The seed, where the file tells.
    pub seed: Option<u64>,
    /// Warm-up, where the file tells.
    pub warmup: Option<Warmup>,
}

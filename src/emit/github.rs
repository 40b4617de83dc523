//! Annotations for GitHub: the worst of the verdict at the lines that decided it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use crate::model::policy::Origin;
use crate::model::{FieldId, Finding, Judgement, Outcome, Reason, Verdict};

use super::headline::{banners, fails, headline, is_green, is_let_through};
use super::remarks;
use super::text::{Annotation, AnnotationLevel, workflow_command};

/// The runner drops the eleventh annotation of a kind without a word; one place is kept for "N more".
const MOST: usize = 9;

/// The verdict as workflow commands, each a line: at most ten errors, ten warnings and ten notices.
///
/// `baseline` is the text of the file that `verdict.baseline` names: a value without a limit of its own is shown at the
/// line that holds it.
#[must_use]
pub fn github(verdict: &Verdict, baseline: Option<&str>) -> String {
    let spots = Spots { verdict, baseline };
    let (mut errors, mut warnings) = (errors(&spots), warnings(&spots));
    if is_let_through(verdict) {
        // Nothing fails the step, so nothing is red either.
        errors.append(&mut warnings);
        (errors, warnings) = (Vec::new(), errors);
    } else if verdict.outcome != Outcome::Pass && errors.is_empty() {
        errors.push(Note { place: None, text: remarks::plain(&headline(verdict)) });
    }
    let mut lines = String::new();
    for (level, notes) in [
        (AnnotationLevel::Error, errors),
        (AnnotationLevel::Warning, warnings),
        (AnnotationLevel::Notice, notices(verdict)),
    ] {
        write(&mut lines, level, &format!("pacegate {}: {}", verdict.profile, verdict.outcome), notes);
    }
    lines
}

/// The line, from 1, at which a baseline's text has the value of a field.
#[must_use]
pub fn line_of(baseline: &str, field: &FieldId) -> Option<NonZeroU32> {
    let key = format!("\"{field}\":");
    let at = baseline.lines().position(|line| line.trim_start().starts_with(&key))?;
    NonZeroU32::new(u32::try_from(at + 1).ok()?)
}

/// What one annotation says, and where.
struct Note {
    place: Option<Place>,
    text: String,
}

struct Place {
    file: String,
    line: Option<NonZeroU32>,
}

/// Where things are written.
struct Spots<'a> {
    verdict: &'a Verdict,
    baseline: Option<&'a str>,
}

impl Spots<'_> {
    fn of_field(&self, finding: &Finding) -> Option<Place> {
        let reason = finding.reasons.first().and_then(of_reason);
        let limit = || of_origin(&finding.tolerance.as_ref()?.origin);
        reason.or_else(limit).or_else(|| self.in_baseline(&finding.field))
    }

    fn in_baseline(&self, field: &FieldId) -> Option<Place> {
        let path = &self.verdict.baseline.as_ref()?.path;
        let line = self.baseline.and_then(|text| line_of(text, field));
        Some(Place { file: in_work_tree(path), line })
    }

    fn note(&self, finding: &Finding) -> Note {
        let mut text = remarks::plain(&remarks::sentence(finding));
        for more in remarks::rest(finding) {
            text.push('\n');
            text.push_str(&remarks::plain(&more));
        }
        Note { place: self.of_field(finding), text }
    }
}

fn of_reason(reason: &Reason) -> Option<Place> {
    match reason {
        Reason::OverMax { origin, .. }
        | Reason::UnderMin { origin, .. }
        | Reason::WaiverExpired { origin, .. }
        | Reason::WaiverUnused { origin, .. }
        | Reason::RuleMatchesNothing { origin, .. } => of_origin(origin),
        Reason::BaselineAltered { path, .. } | Reason::LimitsAltered { path, .. } => {
            Some(Place { file: in_work_tree(path), line: None })
        }
        _ => None,
    }
}

fn of_origin(origin: &Origin) -> Option<Place> {
    match origin {
        Origin::File { path, line, .. } => {
            Some(Place { file: in_work_tree(path), line: NonZeroU32::new(*line) })
        }
        Origin::Default | Origin::Flag(_) => None,
    }
}

/// A path as annotations want it: without a git ref before it, `/` between folders, no leading `./`.
fn in_work_tree(path: &str) -> String {
    let path = match path.split_once(':') {
        // One letter is a drive of Windows.
        Some((git_ref, path)) if git_ref.chars().count() > 1 => path,
        _ => path,
    };
    let path = path.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

fn plain_note(reason: &Reason) -> Note {
    Note { place: of_reason(reason), text: remarks::plain(&reason.sentence()) }
}

/// What stands in the way of a pass. A cause comes before the fields that it explains, and a run that failed or can't
/// be compared as a whole has no fields to speak of.
fn errors(spots: &Spots) -> Vec<Note> {
    let verdict = spots.verdict;
    let causes = verdict.causes.iter().filter(|cause| cause.regressed).map(|cause| Note {
        place: of_reason(&cause.sentence),
        text: remarks::plain(&cause.with_worst(&verdict.findings)),
    });
    let explained = !verdict.problems.is_empty();
    let of_its_own = |finding: &&Finding| match finding.judgement {
        Judgement::Regressed => true,
        Judgement::Missing => verdict.outcome != Outcome::RunFailed,
        _ => !explained,
    };
    let fields = verdict.findings.iter().filter(|finding| fails(finding)).filter(of_its_own);
    let problems = verdict.problems.iter().map(plain_note);
    unique(problems.chain(causes).chain(fields.map(|finding| spots.note(finding))))
}

/// What a person should look at although it does not fail.
fn warnings(spots: &Spots) -> Vec<Note> {
    use Judgement::{TooFew, Unresolved, Waived};
    let verdict = spots.verdict;
    let look =
        |finding: &&Finding| finding.gated && matches!(finding.judgement, Unresolved | TooFew | Waived);
    let told = |reason: &&Reason| {
        matches!(
            reason,
            Reason::WaiverExpired { .. }
                | Reason::WaiverExpiresSoon { .. }
                | Reason::WaiverUnused { .. }
                | Reason::Suspicious { .. }
        )
    };
    let altered = verdict.alterations.iter().map(plain_note);
    let fields: Vec<&Finding> = verdict.findings.iter().filter(look).collect();
    let (fields, few) = remarks::few_samples(&fields);
    let fields = fields.into_iter().map(|finding| spots.note(finding));
    let few = few.map(|sentence| Note { place: None, text: remarks::plain(&sentence) });
    unique(altered.chain(fields).chain(few).chain(verdict.notes.iter().filter(told).map(plain_note)))
}

/// The verdict itself where it needs no red line, and what must be read before it.
fn notices(verdict: &Verdict) -> Vec<Note> {
    let said = verdict.alterations.len();
    let mut notes: Vec<Note> = banners(verdict)
        .iter()
        .skip(said)
        .map(|banner| Note { place: None, text: remarks::plain(banner) })
        .collect();
    if is_green(verdict) {
        notes.push(Note { place: None, text: remarks::plain(&headline(verdict)) });
    }
    notes
}

fn unique(notes: impl Iterator<Item = Note>) -> Vec<Note> {
    let mut seen = BTreeSet::new();
    notes.filter(|note| seen.insert(note.text.clone())).collect()
}

fn write(lines: &mut String, level: AnnotationLevel, title: &str, notes: Vec<Note>) {
    let all = notes.len();
    let mut line = |note: &Note| {
        let annotation = Annotation {
            level,
            file: note.place.as_ref().map(|place| place.file.as_str()),
            line: note.place.as_ref().and_then(|place| place.line),
            title: Some(title),
            message: &note.text,
        };
        lines.push_str(&workflow_command(&annotation));
        lines.push('\n');
    };
    notes.iter().take(MOST).for_each(&mut line);
    if all > MOST {
        line(&Note { place: None, text: format!("{} more in the summary", all - MOST) });
    }
}

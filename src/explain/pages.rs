//! Lines under headings.

use crate::model::Report;
use crate::model::report::SourceKind;
use crate::model::sentence::Sentence;
use crate::model::wording::count;

use super::scope::Scope;
use super::view::View;

/// Text being put together. A heading appears with its first line.
#[derive(Debug, Default)]
pub struct Page {
    lines: Vec<Sentence>,
    /// Where the section began, so that nothing is said twice in it.
    section: usize,
    heading: Option<Sentence>,
}

impl Page {
    /// Announces a heading.
    pub fn heading(&mut self, title: Sentence) {
        self.heading = Some(title);
    }

    /// A heading of our own words.
    pub fn titled(&mut self, title: impl Into<String>) {
        self.heading(Sentence::default().own(title));
    }

    /// A line under the heading.
    pub fn say(&mut self, line: Sentence) {
        if let Some(heading) = self.heading.take() {
            self.lines.push(Sentence::default());
            self.lines.push(heading);
            self.section = self.lines.len();
        }
        let line = Sentence::default().own("  ").then(line);
        if !self.lines[self.section..].contains(&line) {
            self.lines.push(line);
        }
    }

    /// A line of our own words.
    pub fn own(&mut self, line: impl Into<String>) {
        self.say(Sentence::default().own(line));
    }

    /// Which report this is.
    pub fn title(&mut self, view: &View<'_>) {
        let source = &view.report.source;
        let mut line = match (&source.format, source.kind) {
            (Some(format), _) => Sentence::default().foreign(format).own(" report"),
            (None, SourceKind::Simulate) => Sentence::default()
                .own("SIMULATED: no model was measured. A report of the embedded engine"),
            (None, _) if view.report.is_simulated() => Sentence::default()
                .own("SIMULATED: no model was measured. A report of pacegate's load generator against pacegate mock"),
            (None, _) => Sentence::default().own("a report of pacegate's own load generator"),
        };
        for (at, file) in source.files.iter().enumerate() {
            line = line.own(if at == 0 { " " } else { ", " }).foreign(file);
        }
        line = line.own(format!("; {}", count(view.groups.len(), "group")));
        line = match &view.report.subject.model {
            Some(model) => line.own("; model that answered: ").foreign(model),
            None => line.own("; the model is not recorded"),
        };
        self.lines.push(line);
    }

    /// What the source said of its own numbers.
    pub fn warnings(&mut self, report: &Report, scope: &Scope) {
        self.titled("What the reader of the file noted");
        for warning in report.source.warnings.iter().filter(|_| scope.is_all()) {
            self.say(Sentence::default().foreign(warning));
        }
    }

    /// The text, foreign parts escaped.
    pub fn text(&self, escape: impl Fn(&str) -> String) -> String {
        self.lines.iter().map(|line| line.render(&escape) + "\n").collect()
    }
}

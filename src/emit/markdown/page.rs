//! Markdown that stays under its limit: what does not fit is counted, and its last line always fits.

use crate::model::wording::count;

use super::MARKDOWN_LIMIT;

/// A table of cells that need no escaping any more.
pub(super) struct Table {
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
    /// How many more rows there are than `rows`.
    pub left_out: usize,
}

/// Text being laid out.
pub(super) struct Page {
    text: String,
    last_line: String,
    /// Bytes kept free for what is still open and for the end.
    kept: usize,
    /// Parts that did not fit.
    left_out: usize,
}

/// Room for the closing tags and for the sentence about what is left out.
const END: usize = 300;

/// Room for a row that says how many are missing.
const MORE: usize = 120;

impl Page {
    pub fn new(last_line: String) -> Page {
        let kept = last_line.len() + END;
        Page { text: String::new(), last_line, kept, left_out: 0 }
    }

    fn fits(&self, bytes: usize) -> bool {
        self.text.len() + bytes + self.kept <= MARKDOWN_LIMIT
    }

    /// Adds a part, or counts it as left out.
    pub fn add(&mut self, part: &str) {
        if self.fits(part.len()) {
            self.text.push_str(part);
        } else {
            self.left_out += 1;
        }
    }

    /// A bold line with a list under it, or with the only item behind it; nothing where there is none.
    pub fn list(&mut self, title: &str, items: &[String], most: usize) {
        if let ([item], false) = (items, title.is_empty()) {
            return self.add(&format!("**{title}:** {item}\n\n"));
        }
        let title = if title.is_empty() { String::new() } else { format!("**{title}**\n\n") };
        let fits = |shown: usize| {
            let bytes: usize = items.iter().take(shown).map(|item| item.len() + 3).sum();
            self.fits(title.len() + bytes + MORE)
        };
        let shown = (0..=items.len().min(most)).rev().find(|shown| fits(*shown)).unwrap_or(0);
        if shown == 0 {
            self.left_out += items.len();
            return;
        }
        self.text.push_str(&title);
        for item in &items[..shown] {
            self.text.push_str(&format!("- {item}\n"));
        }
        if shown < items.len() {
            self.text.push_str(&format!("- and {} more\n", items.len() - shown));
        }
        self.text.push('\n');
    }

    /// As many rows as fit, then how many more there are.
    pub fn table(&mut self, table: &Table) {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let numbers = ["blessed", "now", "change"];
        let align = |name: &&str| if numbers.contains(name) { "--:" } else { ":--" };
        let ruler: Vec<String> = table.header.iter().map(|name| align(name).to_owned()).collect();
        let header: Vec<String> = table.header.iter().map(|cell| (*cell).to_owned()).collect();
        let head = line(&header) + &line(&ruler);
        if !self.fits(head.len() + MORE) {
            self.left_out += table.rows.len() + table.left_out;
            return;
        }
        self.text.push_str(&head);
        let mut shown = 0;
        for row in &table.rows {
            let row = line(row);
            if !self.fits(row.len() + MORE) {
                break;
            }
            self.text.push_str(&row);
            shown += 1;
        }
        let more = table.rows.len() - shown + table.left_out;
        self.text.push('\n');
        if more > 0 {
            self.text.push_str(&format!("and {}\n\n", count(more, "more field")));
        }
    }

    /// A part that is closed until a reader opens it.
    pub fn fold(&mut self, title: &str, open: bool, inside: impl FnOnce(&mut Page)) {
        let (open, close) = (if open { " open" } else { "" }, "</details>\n\n");
        let head = format!("<details{open}><summary>{title}</summary>\n\n");
        if !self.fits(head.len() + close.len() + MORE) {
            self.left_out += 1;
            return;
        }
        self.text.push_str(&head);
        self.kept += close.len();
        inside(self);
        self.kept -= close.len();
        self.text.push_str(close);
    }

    pub fn finish(mut self) -> String {
        if self.left_out > 0 {
            self.text.push_str(&format!(
                "{} did not fit; the JSON verdict has everything.\n\n",
                count(self.left_out, "more part")
            ));
        }
        self.text + &self.last_line
    }
}

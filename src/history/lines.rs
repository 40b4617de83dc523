//! JSON Lines: tolerant of how lines end, strict about what they hold.

use crate::model::history::{HistoryEntry, SCHEMA};

/// A line that can't be read. The lines around it are whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}: {what}; a line that can't be read is never left out, since that could hide a job. Delete this line or mend it"
)]
pub struct DamagedLine {
    /// The file as given.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// The bytes of a history as text.
///
/// # Errors
/// The first line that is not UTF-8.
pub fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, DamagedLine> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        damaged(file, before + 1, "not UTF-8".to_owned())
    })
}

/// The lines that hold anything, with their numbers. A byte order mark, CRLF and empty lines are no fault.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split('\n')
        .map(str::trim)
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(at, line)| (at + 1, line))
}

/// The jobs of a history file, in the order of its lines.
///
/// # Errors
/// The first line that is damaged.
pub fn entries(file: &str, text: &str) -> Result<Vec<HistoryEntry>, DamagedLine> {
    lines(text).map(|(number, line)| read(line).map_err(|what| damaged(file, number, what))).collect()
}

fn damaged(file: &str, line: usize, what: String) -> DamagedLine {
    DamagedLine { file: file.to_owned(), line, what }
}

/// One line.
pub(super) fn read(line: &str) -> Result<HistoryEntry, String> {
    let entry: HistoryEntry = serde_json::from_str(line).map_err(|error| fault(line, &error))?;
    match entry.schema == SCHEMA {
        true => Ok(entry),
        false => Err(format!("its schema is {:?}, and this pacegate reads {SCHEMA}", entry.schema)),
    }
}

/// What the parser says, without its line: that is always the first here.
pub(super) fn fault(line: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return format!("the line ends in the middle, after {} characters", line.chars().count());
    }
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or(&said);
    format!("{said}, at column {}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"schema":"pacegate.history/1","at":"2026-11-11T03:00:00Z","commit":"3f2a9c1","job":"1","profile":"chat","baseline":{"digest":"a1b2c3d4e5f6","jobs":3},"outcome":"pass","over":["run_wide",{"class":"ttft"}],"requests":{"sent":3,"succeeded":3,"failed":{}},"fields":{"chat/c8:ttft.p95":412.0},"of_a_later_version":true}"#;

    #[test]
    fn marks_line_ends_and_empty_lines_are_no_fault() {
        let text = format!("\u{feff}{LINE}\r\n\r\n  \n{LINE}");
        let read = entries("h.jsonl", &text).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0], read[1]);
        assert_eq!(lines(&text).map(|(number, _)| number).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(entries("h.jsonl", "").unwrap(), []);
    }

    #[test]
    fn each_kind_of_damage_names_its_line() {
        let cut = &LINE[..100];
        for (damage, words) in [
            (cut.to_owned(), "the line ends in the middle, after 100 characters"),
            (format!("{LINE}{LINE}"), "trailing characters"),
            (LINE.replace("history/1", "history/9"), "its schema is \"pacegate.history/9\""),
            (LINE.replace("412.0", "NaN"), "expected value"),
            (LINE.replace("412.0", "1e999"), "number out of range"),
            (LINE.replace("\"over\"", "\"above\""), "missing field `over`"),
            ("[]".to_owned(), "invalid length 0"),
            ("<<<<<<< HEAD".to_owned(), "expected value"),
        ] {
            let error = entries("h.jsonl", &format!("{LINE}\n\n{damage}\n{LINE}\n")).unwrap_err();
            assert_eq!(error.line, 3, "{damage}");
            assert!(error.to_string().starts_with(&format!("h.jsonl:3: {words}")), "{error}");
        }
    }
}

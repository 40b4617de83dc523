//! Comma-separated values with quoted cells (RFC 4180), which may hold commas, quotes and line ends.

use super::content::Content;
use super::error::IngestError;

/// All rows of a file; empty lines are left out.
///
/// # Errors
/// No UTF-8, or a quoted cell that never ends.
pub fn rows(content: &Content) -> Result<Vec<Vec<String>>, IngestError> {
    let text = content.text()?;
    let mut rows = Vec::new();
    let mut row: Vec<String> = Vec::new();
    let mut cell = String::new();
    let mut opened = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (c, opened) {
            ('"', Some(_)) if chars.peek().is_some_and(|(_, next)| *next == '"') => {
                chars.next();
                cell.push('"');
            }
            ('"', Some(_)) => opened = None,
            (c, Some(_)) => cell.push(c),
            ('"', None) if cell.is_empty() => opened = Some(at),
            (',', None) => row.push(std::mem::take(&mut cell)),
            ('\r', None) => {}
            ('\n', None) => end_row(&mut rows, &mut row, &mut cell),
            (c, None) => cell.push(c),
        }
    }
    if let Some(at) = opened {
        let what = "a quoted cell begins here and never ends".to_owned();
        return Err(IngestError::Truncated { place: content.place(at), what });
    }
    end_row(&mut rows, &mut row, &mut cell);
    Ok(rows)
}

fn end_row(rows: &mut Vec<Vec<String>>, row: &mut Vec<String>, cell: &mut String) {
    row.push(std::mem::take(cell));
    let row = std::mem::take(row);
    if row.iter().any(|cell| !cell.is_empty()) {
        rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_commas_and_line_ends_stay_in_their_cell() {
        let text = "a,\"b,\"\"c\"\"\r\nd\",e\r\n\r\n1,,\"\"\nx";
        let content = Content::of("f.csv".into(), text.into()).unwrap();
        let expected: Vec<Vec<&str>> = vec![vec!["a", "b,\"c\"\r\nd", "e"], vec!["1", "", ""], vec!["x"]];
        assert_eq!(rows(&content).unwrap(), expected);
    }

    #[test]
    fn a_quote_that_never_ends_is_a_truncated_file() {
        let content = Content::of("f.csv".into(), "a\nb,\"c".into()).unwrap();
        assert!(rows(&content).unwrap_err().to_string().starts_with("f.csv:2:3: the file breaks off here"));
    }
}

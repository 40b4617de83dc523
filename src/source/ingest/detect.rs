//! Which tool wrote a file: found by the keys that its reports must have, never guessed.

use super::content::Content;
use super::error::{IngestError, Refusal};
use super::outline::{Outline, Shape};
use super::{FORMATS, Format, FormatDef, companion};

/// What detection may look at: the outline of a file and its first lines.
#[derive(Clone, Copy, Debug)]
pub struct Sniff<'a> {
    /// Keys and shape.
    pub outline: &'a Outline,
    /// The first bytes.
    pub head: &'a str,
}

/// The first thing missing.
pub type Miss = String;

impl Sniff<'_> {
    /// The file must begin with an object.
    ///
    /// # Errors
    /// It does not.
    pub fn object(&self) -> Result<(), Miss> {
        if self.outline.shape == Shape::Object { Ok(()) } else { Err("does not begin with {".to_owned()) }
    }

    /// The file must be no JSON.
    ///
    /// # Errors
    /// It is.
    pub fn no_json(&self) -> Result<(), Miss> {
        if self.outline.shape == Shape::Text { Ok(()) } else { Err("is JSON, not text".to_owned()) }
    }

    /// The first lines must hold these words.
    ///
    /// # Errors
    /// They don't.
    pub fn words(&self, words: &str) -> Result<(), Miss> {
        if self.head.contains(words) { Ok(()) } else { Err(format!("does not hold the words {words:?}")) }
    }
}

/// One of these keys must be there.
///
/// # Errors
/// None is.
pub fn need(sniff: &Sniff<'_>, any: &[&str]) -> Result<(), Miss> {
    if any.iter().any(|key| sniff.outline.has(key)) {
        return Ok(());
    }
    let names: Vec<String> = any.iter().map(|key| format!("\"{key}\"")).collect();
    Err(format!("no key {}", names.join(" or ")))
}

/// A key of another format must not be there.
///
/// # Errors
/// It is.
pub fn lacks(sniff: &Sniff<'_>, key: &str, whose: &str) -> Result<(), Miss> {
    if sniff.outline.has(key) { Err(format!("has the key \"{key}\", which {whose} writes")) } else { Ok(()) }
}

/// The format of a file; `forced` is held to its marks too.
///
/// # Errors
/// None fits, or several do, or the forced one does not.
pub fn detect(
    content: &Content,
    outline: &Outline,
    forced: Option<Format>,
) -> Result<&'static FormatDef, IngestError> {
    let head = head(&content.bytes);
    let sniff = Sniff { outline, head: &head };
    if let Some(format) = forced {
        let def = super::def(format);
        return (def.detect)(&sniff).map(|()| def).map_err(|missing| {
            let path = content.name.clone();
            broken_off(content, outline).unwrap_or(IngestError::NotThis { path, format, missing })
        });
    }
    let mut fits = Vec::new();
    let mut refusals = Vec::new();
    for def in FORMATS {
        match (def.detect)(&sniff) {
            Ok(()) => fits.push(def),
            Err(missing) => refusals.push(Refusal { format: def.format, missing }),
        }
    }
    match fits.as_slice() {
        [one] => Ok(one),
        [] => Err(unknown(content, &sniff, refusals)),
        several => Err(IngestError::Ambiguous {
            path: content.name.clone(),
            formats: several.iter().map(|def| def.format.name()).collect::<Vec<_>>().join(" or "),
        }),
    }
}

/// Enough to see a header line, without cutting a character.
fn head(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(16 * 1024)]).into_owned()
}

fn unknown(content: &Content, sniff: &Sniff<'_>, refusals: Vec<Refusal>) -> IngestError {
    if let Some(error) = companion::known(content, sniff) {
        return error;
    }
    let path = content.name.clone();
    if sniff.outline.has("schema") && sniff.outline.has("ledger") {
        return IngestError::Baseline { path };
    }
    if let Some(error) = broken_off(content, sniff.outline) {
        return error;
    }
    let hint = match sniff.outline.shape {
        Shape::Text => "It is no JSON. ".to_owned(),
        Shape::Object | Shape::Array => {
            let keys: Vec<&str> = sniff.outline.keys.iter().take(8).map(String::as_str).collect();
            if keys.is_empty() {
                "It has no keys. ".to_owned()
            } else {
                format!("Its first keys are {}. ", keys.join(", "))
            }
        }
    };
    IngestError::Unknown { path, refusals, hint }
}

/// A file that ends before its first value does, and so early that nothing tells whose it is.
fn broken_off(content: &Content, outline: &Outline) -> Option<IngestError> {
    let open = outline.documents == 0 && outline.shape != Shape::Text;
    let what = "brackets are still open, and no key before this place tells the format".to_owned();
    open.then(|| IngestError::Truncated { place: content.place(content.bytes.len()), what })
}

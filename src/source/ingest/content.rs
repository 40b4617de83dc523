//! The bytes of a report, whatever way they were kept.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::model::digest;

use super::error::{IngestError, Place};

/// More than this is not read: a report of this size holds the texts of the replies, and memory is not endless.
const MOST_BYTES: u64 = 4 << 30;

/// One file: its bytes without compression and byte order mark.
#[derive(Debug)]
pub struct Content {
    /// The path as it was given; `-` is standard input.
    pub name: String,
    /// Uncompressed, without a UTF-8 byte order mark.
    pub bytes: Vec<u8>,
    /// Where it lies; absent for standard input.
    pub path: Option<PathBuf>,
}

impl Content {
    /// SHA-256 of the bytes in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        digest::hex(&self.bytes, digest::WHOLE)
    }

    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// Unreadable, empty, too large, damaged gzip, UTF-16.
    pub fn load(path: &Path) -> Result<Content, IngestError> {
        let name = path.display().to_string();
        let unreadable = |source| IngestError::Unreadable { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        if name == "-" {
            io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        } else {
            let file = File::open(path).map_err(unreadable)?;
            let size = file.metadata().map_err(unreadable)?.len();
            bytes.reserve_exact(usize::try_from(size.min(MOST_BYTES)).unwrap_or(0) + 1);
            file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        }
        let mut content = Content::of(name, bytes)?;
        content.path = (content.name != "-").then(|| path.to_owned());
        Ok(content)
    }

    /// Takes bytes that were read elsewhere.
    ///
    /// # Errors
    /// Empty, too large, damaged gzip, UTF-16.
    pub fn of(name: String, mut bytes: Vec<u8>) -> Result<Content, IngestError> {
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut unpacked = Vec::new();
            let unpacker = MultiGzDecoder::new(bytes.as_slice());
            unpacker
                .take(MOST_BYTES + 1)
                .read_to_end(&mut unpacked)
                .map_err(|source| IngestError::Gzip { path: name.clone(), source })?;
            bytes = unpacked;
        }
        if bytes.len() as u64 > MOST_BYTES {
            return Err(IngestError::TooLarge { path: name, limit: MOST_BYTES });
        }
        if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            bytes.drain(..3);
        }
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return Err(IngestError::NotText { place: Place::offset(&name, &bytes, 0) });
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(IngestError::Empty { path: name });
        }
        Ok(Content { name, bytes, path: None })
    }

    /// The first file that exists beside this one, named by what this one's name ends in and what theirs ends in instead.
    ///
    /// # Errors
    /// As [`Content::load`].
    pub fn beside(&self, ends: &[(&str, &str)]) -> Result<Option<Content>, IngestError> {
        let Some(path) = &self.path else { return Ok(None) };
        let found =
            ends.iter().find_map(|(end, other)| beside(path, end, other).filter(|path| path.is_file()));
        found.map(|path| Content::load(&path)).transpose()
    }

    /// A place in this file.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        Place::offset(&self.name, &self.bytes, offset)
    }

    /// The file as text.
    ///
    /// # Errors
    /// Bytes that are no UTF-8.
    pub fn text(&self) -> Result<&str, IngestError> {
        std::str::from_utf8(&self.bytes)
            .map_err(|e| IngestError::NotText { place: self.place(e.valid_up_to()) })
    }
}

/// The path with another end of its name; `None` if it does not end so.
#[must_use]
pub fn beside(path: &Path, end: &str, other: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(path.with_file_name(format!("{}{other}", name.strip_suffix(end)?)))
}

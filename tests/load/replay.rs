//! Turns recorded bytes and made-up ones into the record of a request.

use std::fs;
use std::path::{Path, PathBuf};

use pacegate::source::load::transcript::{Ending, Nanos, Read, Transcript};

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire")
}

/// The record of a request whose reply came in these pieces, one read each, at these milliseconds.
pub fn transcript(pieces: &[(f64, &[u8])]) -> Transcript {
    let mut record = Transcript {
        intended: 0,
        begun: 0,
        opened: None,
        sent: Some(0),
        stream: true,
        raw: Vec::new(),
        reads: Vec::new(),
        ending: Ending::Whole,
        ended: 0,
    };
    for (ms, piece) in pieces {
        record.raw.extend_from_slice(piece);
        record.ended = (ms * 1e6) as Nanos;
        record.reads.push(Read { at: record.ended, end: record.raw.len() });
    }
    record
}

/// A reply whose events come one a read, at these milliseconds; each text is the data of one event.
pub fn stream(events: &[(f64, &str)]) -> Transcript {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_owned();
    let texts: Vec<(f64, String)> = std::iter::once((0.5, head))
        .chain(events.iter().map(|(ms, data)| (*ms, format!("data: {data}\n\n"))))
        .collect();
    let pieces: Vec<(f64, &[u8])> = texts.iter().map(|(ms, text)| (*ms, text.as_bytes())).collect();
    transcript(&pieces)
}

fn files_ending_in_raw(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => files_ending_in_raw(&path),
        false => usize::from(path.extension().is_some_and(|e| e == "raw")),
    };
    entries.map(count).sum()
}

pub fn content(text: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}"#)
}

pub const ROLE: &str =
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
pub const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

pub fn usage(prompt: u64, completion: u64) -> String {
    format!(r#"{{"choices":[],"usage":{{"prompt_tokens":{prompt},"completion_tokens":{completion}}}}}"#)
}

/// A recorded case.
pub struct Capture {
    pub name: String,
    pub raw: Vec<u8>,
    pub body: Option<Vec<u8>>,
    /// (ms, bytes) of every read.
    pub arrivals: Vec<(f64, usize)>,
}

impl Capture {
    pub fn load(folder: &Path) -> Capture {
        Capture::of(&folder.join("response.raw"), &folder.join("arrivals.tsv"), folder)
    }

    fn of(raw: &Path, arrivals: &Path, name: &Path) -> Capture {
        let folder = raw.parent().unwrap();
        let raw = fs::read(raw).unwrap();
        // Some short replies were kept without their arrivals: one read.
        let arrivals = fs::read_to_string(arrivals).unwrap_or(format!("1\t{}", raw.len()));
        let read = |line: &str| {
            let (ms, bytes) = line.split_once('\t')?;
            Some((ms.parse().ok()?, bytes.parse().ok()?))
        };
        Capture {
            name: name.strip_prefix(data()).unwrap().to_string_lossy().into_owned(),
            raw,
            body: fs::read(folder.join("body.txt")).ok(),
            arrivals: arrivals.lines().filter_map(read).collect(),
        }
    }

    /// Every case of every engine.
    pub fn all() -> Vec<Capture> {
        let mut found = Vec::new();
        for engine in fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(cases) = fs::read_dir(&engine) else { continue };
            for case in cases.map(|entry| entry.unwrap().path()) {
                if case.join("response.raw").exists() {
                    found.push(Capture::load(&case));
                }
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(found.len() > 60, "only {} captures", found.len());
        found
    }

    /// Every recorded reply, those of streams that ran at the same time too.
    pub fn every_file() -> Vec<Capture> {
        let mut found = Capture::all();
        for engine in fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(streams) = fs::read_dir(engine.join("concurrent")) else { continue };
            for raw in streams
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|e| e == "raw"))
            {
                found.push(Capture::of(&raw, &raw.with_extension("arrivals.tsv"), &raw));
            }
        }
        let files = files_ending_in_raw(&data());
        assert_eq!(found.len(), files, "a recorded reply is not replayed");
        found
    }

    pub fn named(name: &str) -> Capture {
        Capture::load(&data().join(name))
    }

    /// The streams of one engine that ran at the same time.
    pub fn concurrent(engine: &str) -> Vec<Vec<u8>> {
        let files = fs::read_dir(data().join(engine).join("concurrent")).unwrap();
        let paths = files.map(|entry| entry.unwrap().path());
        let raws: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "raw")).collect();
        assert!(!raws.is_empty());
        raws.iter().map(|path| fs::read(path).unwrap()).collect()
    }

    pub fn is_stream(&self) -> bool {
        self.raw.windows(17).any(|window| window == b"text/event-stream")
    }

    /// As it arrived when it was recorded.
    pub fn transcript(&self) -> Transcript {
        let mut start = 0;
        let mut pieces = Vec::new();
        for (ms, bytes) in &self.arrivals {
            let end = (start + bytes).min(self.raw.len());
            pieces.push((*ms, &self.raw[start..end]));
            start = end;
        }
        assert_eq!(start, self.raw.len(), "{}: arrivals.tsv does not add up", self.name);
        transcript(&pieces)
    }

    /// The same bytes in reads that end at these places, one nanosecond apart.
    pub fn in_reads(&self, ends: impl Iterator<Item = usize>) -> Transcript {
        let mut record = transcript(&[]);
        record.raw.clone_from(&self.raw);
        record.reads = ends.enumerate().map(|(at, end)| Read { at: at as Nanos, end }).collect();
        record
    }
}

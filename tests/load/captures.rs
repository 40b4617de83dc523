//! Every recorded reply of a real server, replayed and cut everywhere.

use std::fs;

use pacegate::model::report::FailureKind;
use pacegate::source::load::openai::Usage;
use pacegate::source::load::reply::{self, BodyEnd};
use pacegate::source::load::timeline::Timeline;
use regex::bytes::Regex;

use crate::replay::{Capture, data};

/// Everything but the times.
fn contents(timeline: &Timeline) -> impl PartialEq + std::fmt::Debug + use<> {
    let t = timeline.clone();
    let ttfo = t.first_output.is_some();
    (
        t.first_token.is_some(),
        ttfo,
        t.last_token.is_some(),
        t.events.len(),
        t.usage,
        t.model,
        t.text,
        t.status,
        t.failure,
    )
}

#[test]
fn the_transfer_coding_is_taken_off_as_the_recorder_did() {
    let mut compared = 0;
    for capture in Capture::all() {
        let Some(body) = &capture.body else { continue };
        let reply = reply::decode(&capture.raw).unwrap().unwrap();
        let decoded: Vec<u8> =
            reply.body.iter().flat_map(|range| &capture.raw[range.clone()]).copied().collect();
        assert!(decoded == *body, "{}", capture.name);
        assert_eq!(reply.end, BodyEnd::Whole, "{}", capture.name);
        compared += 1;
    }
    assert!(compared > 50, "only {compared}");
}

#[test]
fn usage_and_events_are_those_that_the_recorder_counted() {
    let mut compared = 0;
    for engine in ["llama.cpp-b11549", "llama.cpp-b11549-draft", "vllm-0.32.0"] {
        let table = fs::read_to_string(data().join(engine).join("usage.tsv")).unwrap();
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let folder = data().join(engine).join(cells[0]);
            if !folder.join("response.raw").exists() {
                continue;
            }
            let timeline = Timeline::read(&Capture::load(&folder).transcript());
            let number = |cell: &str| cell.parse::<u64>().ok();
            let usage =
                Usage { prompt: number(cells[1]), cached: number(cells[2]), completion: number(cells[3]) };
            let expected = (usage != Usage::default()).then_some(usage);
            assert_eq!(timeline.usage, expected, "{engine}/{}", cells[0]);
            assert_eq!(timeline.events.len().to_string(), cells[4], "{engine}/{}", cells[0]);
            assert_eq!(timeline.failure, None, "{engine}/{}", cells[0]);
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared}");
}

#[test]
fn the_first_token_is_the_read_that_completed_the_first_text() {
    // Found without our parser: the first non-empty text in the bytes, then the blank line after it.
    let text = Regex::new(r#""(content|text|reasoning|reasoning_content)": ?"[^"]"#).unwrap();
    let mut compared = 0;
    for capture in Capture::all().into_iter().filter(Capture::is_stream) {
        let timeline = Timeline::read(&capture.transcript());
        let Some(found) = text.find(&capture.raw) else {
            assert_eq!(timeline.first_token, None, "{}", capture.name);
            continue;
        };
        let end = found.end()
            + capture.raw[found.end()..].windows(2).position(|w| w == b"\n\n").map_or(0, |at| at + 2);
        let mut bytes = 0;
        let arrived = capture.arrivals.iter().find(|(_, n)| {
            bytes += n;
            bytes >= end
        });
        let ms = timeline.first_token.unwrap() as f64 / 1e6;
        assert!((ms - arrived.unwrap().0).abs() < 1e-3, "{}: {ms} and {arrived:?}", capture.name);
        compared += 1;
    }
    assert!(compared > 25, "only {compared}");
}

#[test]
fn every_reply_ends_as_it_should() {
    use FailureKind::{Cut, ErrorEvent, Http4xx, Http5xx, Http401, Http404Model, Http404Path, ZeroTokens};
    let expected = |name: &str| {
        let (engine, case) = name.split_once('/').unwrap();
        match (engine, case) {
            (_, "error-rejected-in-stream") => Some(ErrorEvent),
            (_, "error-wrong-key-models" | "error-wrong-key-stream") => Some(Http401),
            (_, "error-loading") => Some(Http5xx),
            (_, "disconnect") => Some(Cut),
            ("vllm-0.32.0", "error-bad-model" | "error-bad-model-stream") => Some(Http404Model),
            // These two answer whatever model is asked for.
            (_, "error-bad-model" | "error-bad-model-stream") => None,
            (_, "error-unknown-path") => Some(Http404Path),
            ("llama.cpp-b11549", "error-wrong-method") => Some(Http404Path),
            ("llama.cpp-b11549" | "llama-cpp-python-0.3.36", "error-max-tokens-0") => None,
            ("llama-cpp-python-0.3.36", "error-wrong-method" | "error-long-prompt") => Some(Http4xx),
            (_, case) if case.starts_with("error-") => Some(Http4xx),
            ("llama-cpp-python-0.3.36", "health") => Some(Http404Path),
            (_, "models" | "health") => Some(ZeroTokens),
            _ => None,
        }
    };
    let mut wrong = Vec::new();
    for capture in Capture::all() {
        let failure = Timeline::read(&capture.transcript()).failure;
        if failure.as_ref().map(|failure| failure.kind) != expected(&capture.name) {
            wrong.push((capture.name.clone(), failure, expected(&capture.name)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_read_that_ends_anywhere_changes_nothing_but_times() {
    for capture in Capture::every_file() {
        let length = capture.raw.len();
        assert!(
            contents(&Timeline::read(&capture.transcript()))
                == contents(&Timeline::read(&capture.in_reads(std::iter::once(length)))),
            "{} as it arrived",
            capture.name
        );
        let whole = contents(&Timeline::read(&capture.in_reads(std::iter::once(length))));
        let bytewise = Timeline::read(&capture.in_reads(1..=length));
        assert!(contents(&bytewise) == whole, "{} byte by byte", capture.name);
        // Stamps of single bytes are their offsets: events end where the blank line does.
        assert!(bytewise.events.is_sorted(), "{}", capture.name);
        if length > 3300 {
            // Each boundary alone would take minutes here; so many at a time, each is one once.
            for first in 1..=97 {
                let many = Timeline::read(&capture.in_reads((first..length).step_by(97).chain([length])));
                assert!(contents(&many) == whole, "{} cut at {first} and every 97 bytes", capture.name);
            }
            continue;
        }
        for cut in 1..length {
            let two = Timeline::read(&capture.in_reads([cut, length].into_iter()));
            assert!(contents(&two) == whole, "{} cut at {cut}", capture.name);
        }
    }
}

#[test]
fn a_reply_that_breaks_off_before_its_finish_is_never_a_success() {
    let ends = Regex::new(r#""finish_reason": ?"(stop|length)"[^\n]*\n\n"#).unwrap();
    let mut cut_streams = 0;
    for capture in Capture::all().into_iter().filter(|c| c.is_stream() && c.raw.len() < 3300) {
        if Timeline::read(&capture.transcript()).failure.is_some() {
            continue;
        }
        let finished = ends.find_iter(&capture.raw).last().unwrap().end();
        for cut in 1..finished {
            let mut record = capture.in_reads(std::iter::once(cut));
            record.raw.truncate(cut);
            let failure = Timeline::read(&record).failure;
            let kind = failure.as_ref().map(|failure| failure.kind);
            // A head that is not complete is not judged here: the connection says how that ended.
            let headless = reply::decode(&record.raw).unwrap().is_none();
            assert!(headless || kind == Some(FailureKind::Cut), "{} cut at {cut}: {failure:?}", capture.name);
        }
        cut_streams += 1;
    }
    assert!(cut_streams > 10, "only {cut_streams}");
}

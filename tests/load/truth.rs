//! Held against a server that knows the truth: every write of tokens with its true time, and faults on demand.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pacegate::model::Finite;
use pacegate::model::profile::Timeouts;
use pacegate::model::report::FailureKind;
use pacegate::server::{self, Fault, FaultRule, Latency, Settings, Strikes};
use pacegate::source::load::block::{self, Block};
use pacegate::source::load::clock::Clock;
use pacegate::source::load::endpoint::Endpoint;
use pacegate::source::load::measure;
use pacegate::source::load::request::Call;
use pacegate::source::load::schedule::Schedule;
use pacegate::source::load::timeline::Timeline;
use pacegate::source::load::transcript::Transcript;
use pacegate::source::load::url::BaseUrl;

use crate::measured::{groups, options, profile};

fn call(max_tokens: u32) -> Call {
    let body = format!(
        r#"{{"model":"embedded","messages":[{{"role":"user","content":"hi there"}}],"max_tokens":{max_tokens},"stream":true,"stream_options":{{"include_usage":true}},"ignore_eos":true}}"#
    );
    Call { path: "/v1/chat/completions".to_owned(), body: Some(body.into()), stream: true }
}

fn run(
    server: &server::Running,
    clock: Clock,
    concurrency: u32,
    requests: usize,
    timeouts: Timeouts,
) -> Vec<Transcript> {
    let url = BaseUrl::parse(&format!("http://{}", server.addr())).unwrap();
    let block = Block {
        endpoint: Arc::new(Endpoint::resolve(url, None).unwrap()),
        calls: vec![call(12); requests].into(),
        schedule: Schedule::Closed(concurrency),
        timeouts,
        clock,
    };
    let mut records = Vec::new();
    block::run(&block, &AtomicBool::new(false), |_, record| records.push(record)).unwrap();
    records
}

fn settings(faults: Vec<FaultRule>) -> Settings {
    let latency = Latency::Fixed { first_token: Duration::from_millis(4), gap: Duration::from_millis(1) };
    Settings { latency, faults, ..Settings::default() }
}

#[test]
fn no_token_is_seen_before_it_was_written_and_none_is_missed() {
    let server = server::start(settings(Vec::new())).unwrap();
    let clock = Clock::start();
    let records = run(&server, clock, 4, 40, Timeouts::default());
    let truth = server.records();
    assert_eq!((records.len(), truth.len()), (40, 40));
    // The server's times count from its own beginning, on the same monotonic clock.
    let offset = clock.moment(0).duration_since(server.epoch()).as_nanos() as u64;
    for record in &records {
        let timeline = Timeline::read(record);
        assert_eq!((timeline.failure.clone(), timeline.output_tokens()), (None, Some(12)));
        let id = String::from_utf8_lossy(&record.raw);
        let truth = truth.iter().find(|truth| id.contains(&truth.id)).unwrap();
        assert_eq!(timeline.events.len(), truth.sent.len());
        let sent = record.sent.unwrap() + offset;
        assert!(sent / 1000 <= truth.received_us, "sent {sent} ns, received {} us", truth.received_us);
        for (seen, written) in timeline.events.iter().zip(&truth.sent) {
            assert!(
                (sent + seen) / 1000 >= written.at_us,
                "seen at {} ns, written at {} us",
                sent + seen,
                written.at_us
            );
        }
    }
    let most = truth.iter().map(|record| record.in_flight).max();
    assert_eq!(most, Some(4));
}

#[test]
fn every_fault_is_the_failure_that_it_is_and_harmless_ones_are_none() {
    use FailureKind::{Connect, Cut, ErrorEvent, Http5xx, Http401, Http404Model, Http404Path, Http429};
    use FailureKind::{Malformed, TimeoutFirstToken, TimeoutGap, ZeroTokens};
    let limits = Timeouts { first_token_ms: 400, gap_ms: 200, ..Timeouts::default() };
    for (fault, expected) in [
        (Fault::Unauthorized, vec![Http401]),
        (Fault::NoPath, vec![Http404Path]),
        (Fault::NoModel, vec![Http404Model]),
        (Fault::TooMany, vec![Http429]),
        (Fault::ServerError, vec![Http5xx]),
        (Fault::ErrorFirst, vec![ErrorEvent]),
        (Fault::ErrorEvent, vec![ErrorEvent]),
        (Fault::TruncatedChunk, vec![Cut]),
        // A reset may overtake the bytes before it.
        (Fault::Reset, vec![Cut, Connect]),
        (Fault::Stall, vec![TimeoutGap]),
        (Fault::StallFirst, vec![TimeoutFirstToken]),
        (Fault::Garbage, vec![Malformed]),
        (Fault::ZeroTokens, vec![ZeroTokens]),
        (Fault::SplitUtf8, vec![]),
        (Fault::SplitCrlf, vec![]),
        (Fault::Drip, vec![]),
        (Fault::TwoEvents, vec![]),
        (Fault::NoDone, vec![]),
        (Fault::WrongUsage, vec![]),
    ] {
        let rule = FaultRule { fault, strikes: Strikes::Share(Finite::from(1)) };
        let server = server::start(settings(vec![rule])).unwrap();
        let records = run(&server, Clock::start(), 1, 1, limits);
        let timeline = Timeline::read(&records[0]);
        let kind = timeline.failure.as_ref().map(|failure| failure.kind);
        assert!(
            kind.map_or(expected.is_empty(), |kind| expected.contains(&kind)),
            "{fault}: {:?}",
            timeline.failure
        );
        if expected.is_empty() {
            let tokens = if fault == Fault::WrongUsage { 25 } else { 12 };
            assert_eq!(timeline.output_tokens(), Some(tokens), "{fault}");
            assert_eq!(timeline.text.split_whitespace().count(), 12, "{fault}: {:?}", timeline.text);
        }
    }
}

#[test]
fn usage_that_claims_more_than_the_server_counted_is_found() {
    let rule = FaultRule { fault: Fault::WrongUsage, strikes: Strikes::Share(Finite::from(1)) };
    let server = server::start(settings(vec![rule])).unwrap();
    let mut profile = profile(&format!("http://{}", server.addr()));
    profile.strategies[0].model = Some("embedded".to_owned());
    let report = measure(&profile, &options(), &mut |_| {}, &AtomicBool::new(false)).unwrap();
    let problems = &groups(&report)[0].self_check.as_ref().unwrap().problems;
    assert!(
        problems.iter().any(|text| text.contains("output tokens")),
        "{problems:?} {:?}",
        report.source.warnings
    );
}

#[test]
fn a_run_against_the_mock_adds_up() {
    let server = server::start(settings(Vec::new())).unwrap();
    let mut profile = profile(&format!("http://{}", server.addr()));
    profile.strategies[0].model = Some("embedded".to_owned());
    profile.prompt_tokens = vec![64, 1024];
    let report = measure(&profile, &options(), &mut |_| {}, &AtomicBool::new(false)).unwrap();
    for group in groups(&report) {
        assert_eq!(group.requests.succeeded, Some(5), "{:?}", group.requests);
        assert_eq!(group.self_check.as_ref().unwrap().problems, Vec::<String>::new());
    }
    assert_eq!(report.source.warnings, Vec::<String>::new());
    // No model answered, and nobody can take it for one.
    assert!(report.is_simulated());
    assert_eq!(report.subject.engine.as_deref(), Some("pacegate mock"));
    assert_eq!(report.subject.model.as_deref(), Some("embedded"));
}

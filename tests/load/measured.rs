//! Whole runs against a model on a loopback socket: what is sent, counted, reconciled and reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use pacegate::model::profile::{Api, Arrival, CacheMode, Load, Profile, Prompts, Strategy, Target, Timeouts};
use pacegate::model::report::{FailureKind, SourceKind, TokenSource};
use pacegate::model::{Fact, Finite, Group, Metric, Report, Statistic};
use pacegate::source::load::key::Trusted;
use pacegate::source::load::{Options, measure};

use crate::server::{Server, Then, model, plain};

pub fn profile(url: &str) -> Profile {
    Profile {
        name: "test".to_owned(),
        target: Target::Endpoint { base_url: Some(url.to_owned()), model: "m".to_owned(), api: Api::Chat },
        server: None,
        strategies: vec![Strategy { name: "baseline".to_owned(), ..Strategy::default() }],
        reference: Some("baseline".to_owned()),
        prompts: Prompts::Traffic(vec!["chat".to_owned()]),
        prompt_tokens: vec![64],
        load: Load::Concurrency(vec![1]),
        requests: 5,
        rounds: 1,
        max_tokens: Some(6),
        warmup: Some(2),
        temperature: Finite::ZERO,
        seed: 7,
        stream: true,
        cache: CacheMode::Unique,
        timeouts: Timeouts { connect_ms: 5_000, first_token_ms: 20_000, gap_ms: 20_000, total_ms: 30_000 },
        before_block: None,
    }
}

pub fn options() -> Options {
    Options {
        base_url: None,
        against: None,
        key: None,
        trusted: Trusted::default(),
        ca_file: None,
        folder: std::env::temp_dir(),
        variable: |_| None,
        run: 1,
    }
}

pub fn run(profile: &Profile, options: &Options) -> Report {
    measure(profile, options, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

pub fn groups(report: &Report) -> Vec<&Group> {
    report.jobs[0].rounds.iter().flat_map(|round| &round.groups).collect()
}

/// The requests of warm-up and load: streams. Probes are plain.
fn streams(server: &Server) -> Vec<serde_json::Value> {
    let bodies = server.requests().into_iter().filter(|seen| seen.head.starts_with("POST"));
    let bodies = bodies.filter_map(|seen| serde_json::from_str::<serde_json::Value>(&seen.body).ok());
    bodies.filter(|body| body["stream"] == true).collect()
}

#[test]
fn requests_are_prompts_and_warm_up_times_levels_times_rounds() {
    let server = Server::start(model);
    // 5 prompts, 2 warm-up, 3 levels: 21, in each of 2 rounds.
    let profile = Profile { load: Load::Concurrency(vec![1, 8, 32]), rounds: 2, ..profile(&server.url) };
    let report = run(&profile, &options());
    assert_eq!(streams(&server).len(), 42);
    let sent: u64 = groups(&report).iter().map(|group| group.requests.sent.unwrap()).sum();
    let warmup = report.jobs[0].warmup.as_ref().unwrap();
    assert_eq!((sent, warmup.sent, warmup.failed.len()), (30, 12, 0));
    assert!(report.jobs[0].complete);
    assert_eq!(report.source.kind, SourceKind::Load);
}

#[test]
fn a_group_says_what_was_measured_from_where_to_where() {
    let server = Server::start(model);
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!(group.id.as_str(), "baseline/chat/c1/p64");
    assert_eq!((group.requests.sent, group.requests.succeeded), (Some(5), Some(5)));
    assert_eq!(
        (group.tokens.input, group.tokens.output, group.tokens.from),
        (Some(5 * 64), Some(30), TokenSource::Usage)
    );
    let definition = |metric: Metric| group.metrics[&metric].definition.clone().unwrap();
    assert_eq!(definition(Metric::TTFT), "first-token");
    assert_eq!(definition(Metric::ITL), "chunk-gaps");
    assert_eq!(definition(Metric::E2E), "to-last-token");
    assert_eq!(group.metrics[&Metric::TTFT].samples.as_ref().unwrap().len(), 5);
    assert!(group.metrics[&Metric::ITL].samples.is_none());
    let (first, last) = (&group.metrics[&Metric::TTFT], &group.metrics[&Metric::E2E]);
    assert!(first.stats[&Statistic::P50] <= last.stats[&Statistic::P50]);
    assert_eq!(group.metrics[&Metric::OUTPUT_TOKENS].stats[&Statistic::Mean], Finite::from(6));
    assert_eq!(report.subject.model.as_deref(), Some("m"));
    let facts = &report.profile.workloads[&group.id];
    assert_eq!(facts[&Fact::OutputLimit], "6-6");
    assert_eq!(facts[&Fact::Sampling], "temperature 0, ignore_eos");
    let check = group.self_check.as_ref().unwrap();
    assert!(check.wakeup_lag_p99_ms.is_none_or(|lag| lag >= Finite::ZERO));
    assert_eq!((check.in_flight_reached, check.problems.len()), (Some(1), 0));
}

#[test]
fn m25_warm_up_is_sent_and_kept_apart() {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&calls);
    let server = Server::start(move |seen| {
        // The first two streams are the warm-up.
        let stream = seen.body.contains("\"stream\":true");
        if stream && counted.fetch_add(1, Ordering::SeqCst) < 2 {
            return Then::Reply(plain("503 Service Unavailable", "", "warming"));
        }
        model(seen)
    });
    let report = run(&profile(&server.url), &options());
    assert_eq!(report.jobs[0].warmup.as_ref().unwrap().failed, BTreeMap::from([(FailureKind::Http5xx, 2)]));
    assert_eq!(groups(&report)[0].requests.succeeded, Some(5));
}

#[test]
fn m26_m27_the_server_sees_as_many_requests_at_once_as_were_asked_for() {
    for concurrency in [1, 8, 130] {
        // Nobody is answered before all are there: a pool of 100 connections would never get past this.
        let barrier = Arc::new(Barrier::new(concurrency as usize));
        let server = Server::start(move |seen| {
            if seen.body.contains("\"stream\":true") {
                barrier.wait();
            }
            model(seen)
        });
        let profile = Profile {
            load: Load::Concurrency(vec![concurrency]),
            requests: concurrency,
            warmup: Some(concurrency),
            ..profile(&server.url)
        };
        let report = run(&profile, &options());
        let group = groups(&report)[0];
        let check = group.self_check.as_ref().unwrap();
        assert_eq!(group.requests.succeeded, Some(concurrency.into()));
        assert_eq!((check.in_flight_reached, check.problems.len()), (Some(concurrency), 0));
    }
}

#[test]
fn m17_m18_m19_when_all_fail_there_is_no_latency_at_all() {
    let server =
        Server::start(|_| Then::Reply(plain("429 Too Many Requests", "retry-after: 30\r\n", "quota spent")));
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!(group.metrics, BTreeMap::new());
    assert_eq!((group.requests.sent, group.requests.succeeded), (Some(5), Some(0)));
    assert_eq!(group.requests.failed, BTreeMap::from([(FailureKind::Http429, 5)]));
    assert_eq!(group.requests.error_samples[&FailureKind::Http429], "429 quota spent (Retry-After: 30)");
}

#[test]
fn m20_m21_m22_failures_are_counted_by_kind_and_enter_no_percentile() {
    let streams = Arc::new(AtomicU64::new(0));
    let server = Server::start(move |seen| {
        let n =
            if seen.body.contains("\"stream\":true") { streams.fetch_add(1, Ordering::SeqCst) } else { 0 };
        match n {
            3 => Then::Close(Vec::new()),
            4 => Then::Reply(plain("500 Internal Server Error", "", "{\"error\":{\"message\":\"boom\"}}")),
            _ => model(seen),
        }
    });
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!((group.requests.sent, group.requests.succeeded), (Some(5), Some(3)));
    assert_eq!(group.requests.failed, BTreeMap::from([(FailureKind::Connect, 1), (FailureKind::Http5xx, 1)]));
    for metric in [Metric::TTFT, Metric::E2E, Metric::TPOT] {
        assert!(group.metrics.get(&metric).is_none_or(|m| m.n == Some(3)), "{metric}");
    }
    assert_eq!(group.tokens.output, Some(18));
}

#[test]
fn m23_m24_every_prompt_of_every_cell_begins_with_words_of_its_own() {
    let server = Server::start(model);
    let mut profile = Profile { load: Load::Concurrency(vec![1, 2]), rounds: 2, ..profile(&server.url) };
    profile.strategies.push(Strategy { name: "other".to_owned(), ..Strategy::default() });
    run(&profile, &options());
    run(&profile, &Options { run: 2, ..options() });
    let prompts: Vec<String> = streams(&server)
        .iter()
        .map(|body| body["messages"][0]["content"].as_str().unwrap().split('.').next().unwrap().to_owned())
        .collect();
    // 2 runs of 2 rounds of 2 levels and 2 strategies, 7 requests each.
    assert_eq!(prompts.len(), 2 * 2 * 2 * 2 * 7);
    assert_eq!(prompts.iter().collect::<BTreeSet<_>>().len(), prompts.len());
}

#[test]
fn m37_a_report_holds_no_prompt_and_no_answer() {
    let server = Server::start(model);
    let report = run(&Profile { requests: 50, ..profile(&server.url) }, &options());
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.len() < 10_000, "{}", json.len());
    assert!(!json.contains("w w w"));
}

#[test]
fn m36_prompts_meet_their_tier_by_the_servers_own_count() {
    let server = Server::start(model);
    let report = run(&Profile { prompt_tokens: vec![64, 1024], ..profile(&server.url) }, &options());
    let input: Vec<_> = groups(&report).iter().map(|group| group.tokens.input.unwrap() / 5).collect();
    assert_eq!(input, [64, 1024]);
    assert_eq!(report.source.warnings, Vec::<String>::new());
}

#[test]
fn prompts_that_miss_their_tier_are_said() {
    let server = Server::start(|seen| {
        let Then::Reply(bytes) = model(seen) else { unreachable!() };
        // Streams count other prompts than plain replies do.
        let text = String::from_utf8(bytes).unwrap().replace("\"prompt_tokens\":64", "\"prompt_tokens\":99");
        Then::Reply(text.into_bytes())
    });
    let report = run(&profile(&server.url), &options());
    assert!(
        report.source.warnings[0].contains("99 tokens on average, not 64"),
        "{:?}",
        report.source.warnings
    );
}

#[test]
fn m1_m30_an_open_loop_is_timed_from_its_schedule() {
    let server = Server::start(model);
    let load = Load::Rate { rates: vec![Finite::from(100)], arrival: Arrival::Poisson };
    let report = run(&Profile { load, requests: 20, ..profile(&server.url) }, &options());
    let group = groups(&report)[0];
    assert_eq!(group.id.as_str(), "baseline/chat/r100/p64");
    assert_eq!((group.requests.succeeded, group.arrivals.as_ref().unwrap().dropped), (Some(20), 0));
    let p50 = |name: &str| group.metrics[&Metric::named(name)].stats[&Statistic::P50];
    assert!(p50("ttft_from_schedule") >= group.metrics[&Metric::TTFT].stats[&Statistic::P50]);
    assert!(p50("e2e_from_schedule") >= group.metrics[&Metric::E2E].stats[&Statistic::P50]);
    assert_eq!(report.profile.workloads[&group.id][&Fact::Rate], "100 req/s poisson");
}

#[test]
fn a_server_that_refuses_ignore_eos_is_asked_without_it() {
    let server = Server::start(|seen| {
        if seen.body.contains("ignore_eos") {
            return Then::Reply(plain("400 Bad Request", "", "{\"error\":{\"message\":\"unknown field\"}}"));
        }
        model(seen)
    });
    let report = run(&profile(&server.url), &options());
    assert_eq!(groups(&report)[0].requests.succeeded, Some(5));
    let facts = report.profile.workloads.values().next().unwrap();
    assert_eq!(facts[&Fact::Sampling], "temperature 0");
}

#[test]
fn a_duet_measures_both_endpoints_in_every_round_and_keeps_the_pairs() {
    let (ours, other) = (Server::start(model), Server::start(model));
    let profile = Profile { rounds: 3, ..profile(&ours.url) };
    let report = run(&profile, &Options { against: Some(other.url.clone()), ..options() });
    let rounds = &report.jobs[0].rounds;
    assert_eq!(rounds.len(), 3);
    for round in rounds {
        assert_eq!((round.groups.len(), round.against.len()), (1, 1));
        assert_eq!(round.groups[0].id, round.against[0].id);
    }
    assert_eq!((streams(&ours).len(), streams(&other).len()), (21, 21));
    assert!(report.jobs[0].complete);
}

#[test]
fn a_cancelled_run_keeps_what_ended_and_is_not_complete() {
    let server = Server::start(model);
    let (cancel, mut ended) = (AtomicBool::new(false), 0);
    let profile = Profile { requests: 5, rounds: 50, ..profile(&server.url) };
    let report = measure(
        &profile,
        &options(),
        &mut |progress| {
            if matches!(progress, pacegate::source::simulate::Progress::Request { .. }) {
                ended += 1;
                cancel.fetch_or(ended == 7, Ordering::Relaxed);
            }
        },
        &cancel,
    )
    .unwrap();
    assert!(!report.jobs[0].complete);
    let rounds = &report.jobs[0].rounds;
    assert!((2..50).contains(&rounds.len()), "{}", rounds.len());
    assert_eq!(rounds[0].groups[0].requests.sent, Some(5));
}

#[test]
fn prompts_of_a_file_make_a_group_a_set() {
    let server = Server::start(model);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("prompts.json"),
        r#"{"short": ["one two", "three"], "long": "four five six"}"#,
    )
    .unwrap();
    let profile = Profile {
        prompts: Prompts::File("prompts.json".to_owned()),
        prompt_tokens: Vec::new(),
        ..profile(&server.url)
    };
    let report = run(&profile, &Options { folder: folder.path().to_owned(), ..options() });
    let ids: BTreeSet<&str> = groups(&report).iter().map(|group| group.id.as_str()).collect();
    assert_eq!(ids, BTreeSet::from(["baseline/long/c1", "baseline/short/c1"]));
    let ends: BTreeSet<String> = streams(&server)
        .iter()
        .map(|body| body["messages"][0]["content"].as_str().unwrap().split_once('\n').unwrap().1.to_owned())
        .collect();
    assert_eq!(ends, BTreeSet::from(["one two".to_owned(), "three".to_owned(), "four five six".to_owned()]));
}

#[test]
fn before_block_runs_once_for_each_server() {
    let server = Server::start(model);
    let folder = tempfile::tempdir().unwrap();
    let mut profile = Profile {
        load: Load::Concurrency(vec![1, 2]),
        before_block: Some("echo $PACEGATE_STRATEGY $PACEGATE_ROUND >> blocks".to_owned()),
        ..profile(&server.url)
    };
    profile.strategies.push(Strategy { name: "other".to_owned(), ..Strategy::default() });
    let options = Options { folder: folder.path().to_owned(), ..options() };
    run(&profile, &options);
    let blocks = std::fs::read_to_string(folder.path().join("blocks")).unwrap();
    assert_eq!(blocks.lines().collect::<BTreeSet<_>>(), BTreeSet::from(["baseline 1", "other 1"]));
    assert_eq!(blocks.lines().count(), 2);
    profile.before_block = Some("exit 3".to_owned());
    let error = measure(&profile, &options, &mut |_| {}, &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.contains("exit 3") && error.contains("nothing was measured"), "{error}");
}

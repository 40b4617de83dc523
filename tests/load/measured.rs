//! Whole runs against a model on a loopback socket: what is sent, counted, reconciled and reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use pacegate::model::profile::{
    Api, Arrival, CacheMode, Load, Profile, Prompts, Strategy, Target, Timeouts, Value,
};
use pacegate::model::report::{FailureKind, SourceKind, TokenSource};
use pacegate::model::{Fact, Finite, Group, Metric, Report, Statistic};
use pacegate::source::load::key::{Secret, Trusted};
use pacegate::source::load::{LoadError, Options, measure};

use crate::server::{Seen, Server, Then, model, plain};

fn profile(url: &str) -> Profile {
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

fn options() -> Options {
    Options {
        base_url: None,
        against: None,
        key: None,
        trusted: Trusted::default(),
        ca_file: None,
        folder: std::env::temp_dir(),
        variable: |_| None,
        fixed_length: true,
        run: 1,
    }
}

fn run(profile: &Profile, options: &Options) -> Report {
    measure(profile, options, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

fn groups(report: &Report) -> Vec<&Group> {
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

fn without_usage(seen: &Seen) -> Then {
    let Then::Reply(bytes) = model(seen) else { unreachable!() };
    Then::Reply(String::from_utf8(bytes).unwrap().replace("\"usage\":", "\"other\":").into_bytes())
}

#[test]
fn m14_m15_without_usage_tokens_are_absent_and_that_is_said() {
    let server = Server::start(without_usage);
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!((group.tokens.output, group.tokens.from), (None, TokenSource::Unknown));
    assert!(
        !group.metrics.contains_key(&Metric::TPOT) && !group.metrics.contains_key(&Metric::OUTPUT_THROUGHPUT)
    );
    assert!(group.metrics.contains_key(&Metric::TTFT));
    let said = report.source.warnings.join("\n");
    assert!(said.contains("nothing shows that a model was called") && said.contains("tpot"), "{said}");
}

#[test]
fn m14_m15_the_servers_tokenizer_counts_whole_answers_only() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let server = Server::start(move |seen| {
        if !seen.head.starts_with("POST /tokenize") {
            return without_usage(seen);
        }
        let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
        kept.lock().unwrap().push(body["prompt"].as_str().unwrap().to_owned());
        Then::Reply(plain("200 OK", "", "{\"count\":6,\"tokens\":[]}"))
    });
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!((group.tokens.output, group.tokens.from), (Some(30), TokenSource::Tokenize));
    assert_eq!(*asked.lock().unwrap(), vec!["w w w w w w ".to_owned(); 5]);
}

/// Counters as vLLM has them, rising by what `claims` makes of the real tokens.
fn counting(claims: fn(u64) -> u64) -> Server {
    let (requests, prompt, output) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    Server::start(move |seen| {
        if seen.head.starts_with("GET /metrics") {
            let value = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
            let text = format!(
                "vllm:request_success_total{{a=\"b\"}} {}.0\nvllm:prompt_tokens_total {}\nvllm:generation_tokens_total {}\n",
                value(&requests),
                value(&prompt),
                claims(value(&output))
            );
            return Then::Reply(plain("200 OK", "", &text));
        }
        if seen.head.starts_with("POST") {
            let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
            let words = body["messages"][0]["content"].as_str().unwrap().split_whitespace().count() as u64;
            requests.fetch_add(1, Ordering::SeqCst);
            prompt.fetch_add(words + 10, Ordering::SeqCst);
            output.fetch_add(body["max_tokens"].as_u64().unwrap(), Ordering::SeqCst);
        }
        model(seen)
    })
}

#[test]
fn three_counts_that_agree_are_no_finding_and_name_the_engine() {
    let report = run(&profile(&counting(|tokens| tokens).url), &options());
    assert_eq!(report.source.warnings, Vec::<String>::new());
    assert_eq!(groups(&report)[0].self_check.as_ref().unwrap().problems, Vec::<String>::new());
    assert_eq!(report.subject.engine.as_deref(), Some("vLLM"));
}

#[test]
fn m7_a_server_whose_counters_do_not_rise_makes_the_run_invalid() {
    let report = run(&profile(&counting(|_| 0).url), &options());
    let problems = &groups(&report)[0].self_check.as_ref().unwrap().problems;
    // 7 streams of 6 tokens.
    assert!(problems[0].contains("42 output tokens") && problems[0].contains("only 0"), "{problems:?}");
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

fn key() -> Secret {
    Secret::new("OPENAI_API_KEY", "sk-abcdefghijklmnop").unwrap().unwrap()
}

#[test]
fn the_key_does_not_go_where_only_a_file_points_and_nothing_is_sent_there() {
    let server = Server::start(model);
    let refused = measure(
        &profile(&server.url),
        &Options { key: Some(key()), ..options() },
        &mut |_| {},
        &AtomicBool::new(false),
    );
    assert!(matches!(refused, Err(LoadError::Key(_))));
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_key_goes_to_a_host_that_a_person_named_and_into_no_report() {
    let server =
        Server::start(|seen| match seen.head.contains("authorization: Bearer sk-abcdefghijklmnop") {
            true if seen.body.contains("\"stream\":true") => Then::Reply(plain(
                "401 Unauthorized",
                "",
                "{\"error\":{\"message\":\"bad key sk-abcdefghijklmnop\"}}",
            )),
            true => model(seen),
            false => Then::Reply(plain("500 Internal Server Error", "", "no key came")),
        });
    let options = Options { base_url: Some(server.url.clone()), key: Some(key()), ..options() };
    let report = run(&profile("http://only-in-the-file.invalid"), &options);
    let group = groups(&report)[0];
    assert_eq!(group.requests.error_samples[&FailureKind::Http401], "401 bad key [key]");
    let everything = format!("{}{report:?}{options:?}", serde_json::to_string(&report).unwrap());
    assert!(!everything.contains("sk-abcdef"));
}

#[test]
fn a_redirect_takes_the_key_nowhere() {
    let other = Server::start(model);
    let to = format!("location: {}/v1/chat/completions\r\n", other.url);
    let server = Server::start(move |_| Then::Reply(plain("307 Temporary Redirect", &to, "")));
    let options = Options { base_url: Some(server.url.clone()), key: Some(key()), ..options() };
    let report = run(&profile("http://unused.invalid"), &options);
    assert_eq!(groups(&report)[0].requests.failed, BTreeMap::from([(FailureKind::Malformed, 5)]));
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn header_values_from_the_environment_follow_the_keys_rule() {
    let server = Server::start(model);
    let mut profile = profile(&server.url);
    profile.strategies[0].headers.insert("x-team".to_owned(), Value::Env("TEAM".to_owned()));
    profile.strategies[0].headers.insert("x-plain".to_owned(), Value::Text("yes".to_owned()));
    let refuse =
        |options: &Options| measure(&profile, options, &mut |_| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(refuse(&options()), LoadError::HeaderVariable { .. }));
    let set = Options { variable: |_| Some("team-secret".to_owned()), ..options() };
    assert!(matches!(refuse(&set), LoadError::Key(_)));
    let trusted = Trusted::hosts([server.url.as_str()]);
    run(&profile, &Options { trusted, ..set });
    let heads: Vec<String> = server.requests().into_iter().map(|seen| seen.head).collect();
    assert!(heads.iter().all(|head| head.contains("x-team: team-secret") && head.contains("x-plain: yes")));
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

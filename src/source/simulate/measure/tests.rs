use crate::model::digest;
use crate::model::engine::StrategySpeeds;
use crate::model::profile::{Arrival, CacheMode, Load, Prompts, Strategy, Target, Timeouts};
use crate::model::{Group, Measurement, Metric, Statistic};

use super::super::engine::tests::{finite, plain};
use super::*;

const ALL: [&str; 4] = ["baseline", "int8_quant", "speculative_decode", "prefix_cache"];

fn profile(traffic: &[&str], strategies: &[&str], concurrency: &[u32]) -> Profile {
    let strategy = |name: &&str| Strategy { name: (*name).to_owned(), ..Strategy::default() };
    Profile {
        name: "test".to_owned(),
        target: Target::Embedded(Engine::default()),
        server: None,
        strategies: strategies.iter().map(strategy).collect(),
        reference: Some("baseline".to_owned()),
        prompts: Prompts::Traffic(traffic.iter().map(|name| (*name).to_owned()).collect()),
        prompt_tokens: Vec::new(),
        load: Load::Concurrency(concurrency.to_vec()),
        requests: 300,
        rounds: 1,
        max_tokens: None,
        warmup: None,
        temperature: Finite::ZERO,
        seed: 1,
        stream: true,
        cache: CacheMode::SharedPrefix,
        timeouts: Timeouts::default(),
        before_block: None,
    }
}

fn measured(profile: &Profile, engine: &Engine) -> Report {
    measure(profile, engine, &mut |_| (), &AtomicBool::new(false)).unwrap()
}

fn group<'a>(report: &'a Report, id: &str) -> &'a Group {
    report.jobs[0].rounds[0].groups.iter().find(|group| group.id.as_str() == id).unwrap()
}

fn stat(report: &Report, id: &str, metric: &Metric, statistic: Statistic) -> f64 {
    group(report, id).metrics[metric].stats[&statistic].get()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let asked = Profile { rounds: 2, ..profile(&["chat"], &ALL, &[8]) };
    let bytes = |seed| {
        let report = measured(&Profile { seed, ..asked.clone() }, &Engine::default());
        serde_json::to_string(&report.jobs[0].rounds).unwrap()
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn measurements_are_the_same_bytes_on_every_platform() {
    let rates = [(FailureKind::Http429, 0.01), (FailureKind::TimeoutTotal, 0.01), (FailureKind::Cut, 0.02)];
    let engine =
        Engine { failures: rates.map(|(kind, rate)| (kind, finite(rate))).into(), ..Engine::default() };
    let closed = Profile { rounds: 2, ..profile(&["chat", "rag", "code"], &ALL, &[1, 8, 32]) };
    let open = Load::Rate { rates: vec![finite(0.5)], arrival: Arrival::Poisson };
    let open = Profile { load: open, ..profile(&["chat"], &ALL, &[]) };
    let digest_of = |profile: &Profile| {
        let jobs = serde_json::to_vec(&measured(profile, &engine).jobs).unwrap();
        digest::hex(jobs, digest::WHOLE)
    };
    assert_eq!(digest_of(&closed), "183cc5f97613dc0ff0af3a2441a5eccec2631a7991c68e6d234047fe27558ee7");
    assert_eq!(digest_of(&open), "b29f4c79716a2c0af2e5993c33a5d047317ae954dc35aec597763b7189f8867d");
}

#[test]
fn alone_and_without_chance_every_number_is_the_formula() {
    let asked = Profile {
        prompt_tokens: vec![1000],
        max_tokens: Some(50),
        ..profile(&["chat"], &["baseline", "int8_quant"], &[1])
    };
    let report = measured(&asked, &plain());
    let id = "baseline/chat/c1/p1000";
    for statistic in [Statistic::Mean, Statistic::P50, Statistic::P95, Statistic::P99] {
        // 6 + 0.13 × 1000; 14; 136 + 14 × 49, for the fiftieth step only finds the end.
        assert_eq!(stat(&report, id, &Metric::TTFT, statistic), 136.0);
        assert_eq!(stat(&report, id, &Metric::TPOT, statistic), 14.0);
        assert_eq!(stat(&report, id, &Metric::E2E, statistic), 822.0);
    }
    // 300 requests of 136 + 14 × 50 ms, one after the other.
    assert_eq!(group(&report, id).wall_ms, Some(finite(300.0 * 836.0)));
    let throughput = stat(&report, id, &Metric::OUTPUT_THROUGHPUT, Statistic::Value);
    assert!((throughput - 50.0 / 0.836).abs() < 1e-9, "{throughput}");
    let requests = stat(&report, id, &Metric::REQUEST_THROUGHPUT, Statistic::Value);
    assert!((requests - 1.0 / 0.836).abs() < 1e-9, "{requests}");
    assert_eq!(stat(&report, id, &Metric::OUTPUT_TOKENS, Statistic::Mean), 50.0);
    // 6 + (130 + 686) / 1.5 = 550: the factor of 1.5 measures as 822 / 550 = 1.4945.
    assert_eq!(stat(&report, "int8_quant/chat/c1/p1000", &Metric::E2E, Statistic::P99), 550.0);
}

#[test]
fn open_loop_groups_are_named_by_their_rate_and_never_late() {
    let load = Load::Rate { rates: vec![finite(0.5)], arrival: Arrival::Constant };
    let report = measured(&Profile { load, ..profile(&["chat"], &["baseline"], &[]) }, &Engine::default());
    let group = group(&report, "baseline/chat/r0.5");
    assert_eq!(group.arrivals, Some(report::Arrivals { late: 0, dropped: 0 }));
    assert_eq!(report.profile.workloads[&group.id][&crate::model::Fact::Rate], "0.5 req/s constant");
    // The last of 300 requests leaves after 299 gaps of 2 s.
    assert!(group.wall_ms > Some(finite(598_000.0)) && group.wall_ms < Some(finite(620_000.0)));
}

#[test]
fn memory_is_the_strategy_s_own() {
    let report = measured(&profile(&["chat"], &ALL, &[1]), &Engine::default());
    let memory = |strategy: &str| {
        let id = format!("{strategy}/chat/c1");
        [Statistic::Mean, Statistic::Max].map(|s| stat(&report, &id, &Metric::GPU_MEMORY, s))
    };
    assert_eq!(memory("baseline"), [28_000.0, 30_200.0]);
    assert_eq!(memory("int8_quant"), [15_500.0, 16_700.0]);
    assert_eq!(memory("speculative_decode"), [31_200.0, 33_700.0]);
    assert_eq!(memory("prefix_cache"), [29_400.0, 31_800.0]);
}

#[test]
fn slower_decode_moves_only_what_depends_on_decode() {
    let asked = profile(&["chat", "rag", "code"], &ALL, &[1, 8, 32]);
    let slowed = StrategySpeeds { decode_times: finite(1.2), ..StrategySpeeds::named("int8_quant") };
    let slower = Engine { strategies: [("int8_quant".to_owned(), slowed)].into(), ..Engine::default() };
    let (before, after) = (measured(&asked, &Engine::default()), measured(&asked, &slower));
    assert_eq!(before.profile, after.profile);
    let pairs = before.jobs[0].rounds[0].groups.iter().zip(&after.jobs[0].rounds[0].groups);
    for (before, after) in pairs {
        if before.dimensions.strategy.as_deref() != Some("int8_quant") {
            assert_eq!(before, after);
            continue;
        }
        let same = |metric| assert_eq!(before.metrics[&metric], after.metrics[&metric], "{metric}");
        [Metric::TTFT, Metric::GPU_MEMORY, Metric::OUTPUT_TOKENS].into_iter().for_each(same);
        assert_eq!((&before.requests, &before.tokens), (&after.requests, &after.tokens));
        let ratio = |metric: &Metric, statistic| {
            after.metrics[metric].stats[&statistic].get() / before.metrics[metric].stats[&statistic].get()
        };
        for statistic in [Statistic::P50, Statistic::P95, Statistic::P99] {
            // Samples are whole microseconds of some 10,000.
            assert!((ratio(&Metric::TPOT, statistic) - 1.2).abs() < 2e-4, "{}", before.id);
            assert!((1.17..1.2).contains(&ratio(&Metric::E2E, statistic)), "{}", before.id);
        }
        for rate in [Metric::OUTPUT_THROUGHPUT, Metric::REQUEST_THROUGHPUT] {
            assert!((1.0 / 1.2..1.0 / 1.15).contains(&ratio(&rate, Statistic::Value)), "{}", before.id);
        }
    }
}

#[test]
fn rag_gains_most_from_the_prefix_cache() {
    let asked = profile(&["chat", "rag", "code"], &["baseline", "prefix_cache"], &[8]);
    let report = measured(&asked, &Engine::default());
    let gain = |traffic: &str| {
        let ttft =
            |strategy| stat(&report, &format!("{strategy}/{traffic}/c8"), &Metric::TTFT, Statistic::Mean);
        ttft("baseline") / ttft("prefix_cache")
    };
    assert!(gain("rag") > gain("code") && gain("code") > gain("chat"));
    let cached = |id: &str| group(&report, id).tokens.cached;
    assert_eq!(cached("baseline/rag/c8"), Some(0));
    assert!(cached("prefix_cache/rag/c8") > cached("prefix_cache/code/c8"));
}

#[test]
fn the_shares_say_why_a_factor_measures_as_less() {
    let report = measured(&profile(&["chat", "rag", "code"], &ALL, &[1, 8, 32]), &Engine::default());
    for traffic in ["chat", "rag", "code"] {
        for (level, congestion) in [("c1", 0.0), ("c8", 1.0 - 1.0 / 2.05), ("c32", 1.0 - 1.0 / 5.65)] {
            let reference = group(&report, &format!("baseline/{traffic}/{level}"));
            let share = |name: &str| reference.shares[name].get();
            assert!((share("preprocess") + share("prompt_encode") + share("decode") - 1.0).abs() < 1e-12);
            // Below the penalty at the full level by the first few requests, which met fewer in flight.
            assert!((congestion - 0.02..=congestion).contains(&share("congestion")), "{}", reference.id);
            assert!((0.05..0.15).contains(&share("spared_by_early_stop")), "{}", reference.id);
            for (strategy, factor) in [("int8_quant", 1.5), ("speculative_decode", 1.8)] {
                let id = format!("{strategy}/{traffic}/{level}");
                let mean = |id: &str| stat(&report, id, &Metric::E2E, Statistic::Mean);
                let speedup = mean(reference.id.as_str()) / mean(&id);
                let explained = 1.0 / (share("preprocess") + (1.0 - share("preprocess")) / factor);
                assert!(
                    speedup < factor && (speedup - explained).abs() < 1e-5,
                    "{id}: {speedup} {explained}"
                );
            }
        }
    }
}

#[test]
fn failures_are_counted_by_kind_and_never_enter_latencies() {
    let rates = [(FailureKind::Http429, 0.2), (FailureKind::TimeoutTotal, 0.1), (FailureKind::Cut, 0.3)];
    let failing =
        Engine { failures: rates.map(|(kind, rate)| (kind, finite(rate))).into(), ..Engine::default() };
    let asked = profile(&["chat"], &["baseline"], &[8]);
    let (well, ill) = (measured(&asked, &Engine::default()), measured(&asked, &failing));
    let (well, ill) = (group(&well, "baseline/chat/c8"), group(&ill, "baseline/chat/c8"));
    let (succeeded, sent) = ill.requests.counts().unwrap();
    assert_eq!(sent, 300);
    assert_eq!(succeeded + ill.requests.failures(), sent);
    assert_eq!(ill.requests.failed.keys().copied().collect::<Vec<_>>(), rates.map(|(kind, _)| kind));
    for metric in [Metric::TTFT, Metric::TPOT, Metric::E2E] {
        let all = well.metrics[&metric].samples.as_ref().unwrap().micros();
        let some = ill.metrics[&metric].samples.as_ref().unwrap().micros();
        assert_eq!(some.len() as u64, succeeded);
        assert!(some.iter().all(|us| all.contains(us)), "{metric} holds a time of a failed request");
    }
}

#[test]
fn a_group_without_success_has_no_latency_and_no_rate() {
    let failures = [(FailureKind::Http429, finite(1.0))].into();
    let asked = profile(&["chat"], &["baseline"], &[8]);
    let report = measured(&asked, &Engine { failures, ..Engine::default() });
    let group = group(&report, "baseline/chat/c8");
    assert_eq!(group.requests.counts(), Some((0, 300)));
    assert_eq!(group.metrics.keys().cloned().collect::<Vec<_>>(), [Metric::GPU_MEMORY]);
    assert!(group.shares.is_empty());
    // 300 refusals of 5 ms, eight at a time.
    assert_eq!(group.wall_ms, Some(finite(190.0)));
}

#[test]
fn rounds_run_every_group_in_the_same_order_with_their_own_seeds() {
    let asked = Profile { rounds: 3, ..profile(&["chat", "code"], &["baseline", "int8_quant"], &[1, 8]) };
    let rounds = measured(&asked, &Engine::default()).jobs.remove(0).rounds;
    let ids = |round: &Round| round.groups.iter().map(|group| group.id.to_string()).collect::<Vec<_>>();
    assert_eq!(
        ids(&rounds[0]),
        [
            "baseline/chat/c1",
            "int8_quant/chat/c1",
            "baseline/chat/c8",
            "int8_quant/chat/c8",
            "baseline/code/c1",
            "int8_quant/code/c1",
            "baseline/code/c8",
            "int8_quant/code/c8",
        ]
    );
    assert!(rounds.iter().all(|round| ids(round) == ids(&rounds[0])));
    let p50 = |round: &Round| round.groups[2].metrics[&Metric::E2E].stats[&Statistic::P50].get();
    let spread = rounds.iter().map(|round| (p50(round) / p50(&rounds[0])).ln().abs()).fold(0.0, f64::max);
    assert!((0.001..0.3).contains(&spread), "rounds should differ as rounds do: {spread}");
}

#[test]
fn neighbouring_seeds_share_no_round() {
    let seeds: std::collections::BTreeSet<u64> =
        (0..20).flat_map(|seed| (1..=5).map(move |round| round_seed(seed, round))).collect();
    assert_eq!(seeds.len(), 100);
    assert!(seeds.iter().all(|seed| *seed < 1 << 53));
}

#[test]
fn stopping_keeps_what_was_measured_as_an_incomplete_job() {
    let asked = Profile { rounds: 2, ..profile(&["chat"], &["baseline", "int8_quant"], &[8]) };
    let cancel = AtomicBool::new(false);
    let (mut groups, mut requests) = (0, 0);
    let report = measure(
        &asked,
        &Engine::default(),
        &mut |progress| {
            match progress {
                Progress::Group { .. } => groups += 1,
                Progress::Request { .. } => requests += 1,
            }
            if requests == 700 {
                cancel.store(true, Ordering::Relaxed);
            }
        },
        &cancel,
    );
    let job = report.unwrap().jobs.remove(0);
    assert_eq!((groups, requests, job.complete), (3, 700, false));
    let sent: Vec<Vec<Option<u64>>> = job
        .rounds
        .iter()
        .map(|round| round.groups.iter().map(|group| group.requests.sent).collect())
        .collect();
    assert_eq!(sent, [vec![Some(300), Some(300)], vec![Some(100)]]);
}

#[test]
fn a_run_that_was_not_stopped_is_complete_and_reads_back() {
    let asked = profile(&["rag"], &ALL, &[8]);
    let report = measured(&asked, &Engine::default());
    assert!(report.jobs[0].complete);
    assert_eq!(report.source.kind, SourceKind::Simulate);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn speeds_are_the_subject_and_not_the_workload() {
    let asked = profile(&["chat"], &["int8_quant"], &[8]);
    let slower = Engine { decode_ms: finite(15.5), ..Engine::default() };
    let (before, after) = (measured(&asked, &Engine::default()), measured(&asked, &slower));
    assert_eq!(before.profile.fingerprints, after.profile.fingerprints);
    let (before, after) = (before.subject.parameters, after.subject.parameters);
    assert_eq!((before["decode_ms"].as_str(), after["decode_ms"].as_str()), ("14", "15.5"));
    assert_eq!(before["strategies.int8_quant.factor"], "1.5");
    let more = Profile { max_tokens: Some(100), ..asked.clone() };
    let (asked, more) = (measured(&asked, &slower).profile, measured(&more, &slower).profile);
    assert_ne!(asked.fingerprints, more.fingerprints);
}

#[test]
fn strategies_share_one_workload_and_differ_in_nothing_else() {
    let report = measured(&profile(&["chat"], &ALL, &[8]), &Engine::default());
    let first = &report.profile.workloads[&report.jobs[0].rounds[0].groups[0].id];
    assert!(report.profile.workloads.values().all(|facts| facts == first));
    let tokens = |measurement: &Measurement| measurement.stats.clone();
    let lengths: Vec<_> =
        report.jobs[0].rounds[0].groups.iter().map(|g| tokens(&g.metrics[&Metric::OUTPUT_TOKENS])).collect();
    assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn what_cannot_be_run_is_refused_in_words() {
    let refused = |profile: &Profile, engine: &Engine| {
        measure(profile, engine, &mut |_| (), &AtomicBool::new(false)).unwrap_err().to_string()
    };
    let good = profile(&["chat"], &["baseline"], &[8]);
    let engine = Engine::default();
    assert_eq!(
        refused(&profile(&["chta"], &[], &[8]), &engine),
        "the embedded engine has no traffic \"chta\"; expected chat, rag or code"
    );
    let file = Profile { prompts: Prompts::File("p.jsonl".to_owned()), ..good.clone() };
    assert!(refused(&file, &engine).starts_with("the embedded engine reads no prompts, so \"p.jsonl\""));
    assert!(refused(&profile(&["chat"], &[], &[0]), &engine).starts_with("concurrency 0"));
    let none = Profile { requests: 0, ..good.clone() };
    assert!(refused(&none, &engine).starts_with("nothing to measure"));
    let negative = Engine { decode_ms: finite(-1.0), ..Engine::default() };
    assert_eq!(refused(&good, &negative), "engine.decode_ms is -1; expected above 0 and at most 1e9");
    let stopped = StrategySpeeds { factor: Finite::ZERO, ..StrategySpeeds::default() };
    let stopped = Engine { strategies: [("int8_quant".to_owned(), stopped)].into(), ..Engine::default() };
    assert!(refused(&good, &stopped).starts_with("engine.strategies.int8_quant.factor is 0;"));
    let failures = [(FailureKind::Http429, finite(0.6)), (FailureKind::Cut, finite(0.6))].into();
    assert!(refused(&good, &Engine { failures, ..Engine::default() }).contains("more than 1"));
}

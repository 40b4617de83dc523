use std::collections::BTreeMap;

use crate::model::engine::{Engine, StrategySpeeds};
use crate::model::profile::{CacheMode, Timeouts};

use super::super::engine::tests::{faster, finite, plain};
use super::super::random::StreamKey;
use super::super::traffic::Traffic;
use super::*;

fn chancy() -> Engine {
    Engine { noise: finite(0.06), early_stop: finite(0.2), ..plain() }
}

fn prefix_cache() -> StrategySpeeds {
    StrategySpeeds { prefix_cache: true, ..faster(1.3) }
}

fn workload(engine: &Engine, traffic: Traffic) -> Workload {
    Workload {
        traffic,
        prompt_tokens: None,
        max_tokens: None,
        cache: CacheMode::SharedPrefix,
        early_stop: engine.early_stop,
        key: StreamKey::new(11, "events"),
    }
}

/// Prompts of 1000 tokens and answers of 50, exactly.
fn fixed() -> Workload {
    Workload { prompt_tokens: Some(1000), max_tokens: Some(50), ..workload(&plain(), Traffic::Chat) }
}

/// 300 requests under the default time limits.
fn records(
    engine: &Engine,
    strategy: &StrategySpeeds,
    workload: &Workload,
    arrivals: Arrivals,
) -> Vec<Record> {
    records_within(engine, strategy, workload, arrivals, Timeouts::default())
}

fn records_within(
    engine: &Engine,
    strategy: &StrategySpeeds,
    workload: &Workload,
    arrivals: Arrivals,
    timeouts: Timeouts,
) -> Vec<Record> {
    let failures = Failures { rates: engine.failures.clone(), timeouts };
    let plan = Run {
        workload,
        arrivals,
        requests: 300,
        speeds: Speeds::new(engine, strategy),
        prefix_cache: strategy.prefix_cache,
        failures: &failures,
    };
    let mut all = Vec::new();
    run(&plan, |record| {
        all.push(*record);
        ControlFlow::Continue(())
    });
    all
}

fn closed(concurrency: u32) -> Arrivals {
    Arrivals::Closed { concurrency }
}

fn ttft(record: &Record) -> Option<u64> {
    match record.outcome {
        Outcome::Answered { first_token_us, .. } => Some(first_token_us - record.sent_us),
        Outcome::Failed(_) => None,
    }
}

fn mean_ttft(records: &[Record]) -> f64 {
    let answered: Vec<u64> = records.iter().filter_map(ttft).collect();
    answered.iter().sum::<u64>() as f64 / answered.len() as f64
}

fn others_in_flight(all: &[Record], record: &Record) -> usize {
    let earlier = &all[..record.index as usize];
    earlier.iter().filter(|other| other.finished_us > record.sent_us).count()
}

#[test]
fn alone_and_without_chance_every_time_is_the_formula() {
    // 6 + 0.13 × 1000 = 136 ms to the first token, 14 ms a token, 136 + 14 × 50 = 836 ms in all.
    let reference = records(&plain(), &faster(1.0), &fixed(), closed(1));
    for (index, record) in reference.iter().enumerate() {
        assert_eq!(record.sent_us, 836_000 * index as u64);
        assert_eq!(record.finished_us - record.sent_us, 836_000);
        let (first, last) = (record.sent_us + 136_000, record.sent_us + 136_000 + 14_000 * 49);
        assert_eq!(record.outcome, Outcome::Answered { first_token_us: first, last_token_us: last });
    }
    // 6 + (130 + 700) / 1.5 = 559.333 ms: a speed-up of 1.4946, not 1.5.
    let int8 = records(&plain(), &faster(1.5), &fixed(), closed(1));
    assert!(int8.iter().all(|record| record.finished_us - record.sent_us == 559_334));
    assert!((836_000.0_f64 / 559_334.0 - 1.4946).abs() < 5e-5);
}

#[test]
fn at_full_level_the_penalty_is_2_05_for_8_and_5_65_for_32() {
    for (level, penalty, total_us) in [(8, 2.05, 1_713_800), (32, 5.65, 4_723_400)] {
        let all = records(&plain(), &faster(1.0), &fixed(), closed(level));
        for (index, record) in all.iter().enumerate() {
            assert_eq!(record.in_flight, level.min(index as u32 + 1));
        }
        for record in &all[level as usize..] {
            assert!((record.stages.penalty - penalty).abs() < 1e-12, "{record:?}");
            assert_eq!(record.finished_us - record.sent_us, total_us);
        }
    }
}

#[test]
fn slower_decode_moves_no_time_to_first_token_in_closed_loop() {
    let rates = [(FailureKind::Http429, 0.02), (FailureKind::TimeoutTotal, 0.01), (FailureKind::Cut, 0.03)];
    let engine = Engine { failures: rates.map(|(kind, rate)| (kind, finite(rate))).into(), ..chancy() };
    let slower = Engine { decode_ms: finite(14.0 * 1.2), ..engine.clone() };
    for strategy in [faster(1.0), faster(1.5), faster(1.8), prefix_cache()] {
        for (traffic, level) in [(Traffic::Chat, 1), (Traffic::Rag, 8), (Traffic::Code, 32)] {
            let asked = workload(&engine, traffic);
            let before = records(&engine, &strategy, &asked, closed(level));
            let after = records(&slower, &strategy, &asked, closed(level));
            let first = |all: &[Record]| all.iter().map(ttft).collect::<Vec<_>>();
            assert_eq!(first(&before), first(&after), "{strategy:?} {traffic} {level}");
            for (a, b) in before.iter().zip(&after) {
                assert_eq!((a.request, a.in_flight), (b.request, b.in_flight));
                assert_eq!(a.cached_tokens, b.cached_tokens);
                let ratio = b.stages.decode_us_per_token / a.stages.decode_us_per_token;
                assert!((ratio - 1.2).abs() < 1e-12, "{ratio}");
            }
        }
    }
}

#[test]
fn no_more_than_the_level_is_ever_in_flight_and_a_freed_slot_is_filled_at_once() {
    let all = records(&chancy(), &faster(1.0), &workload(&chancy(), Traffic::Chat), closed(8));
    for record in &all[8..] {
        assert!(others_in_flight(&all, record) <= 7, "{record:?}");
        assert!(all.iter().any(|other| other.finished_us == record.sent_us), "{record:?}");
    }
}

#[test]
fn poisson_arrivals_count_what_is_really_in_flight() {
    let asked = workload(&chancy(), Traffic::Chat);
    let all = records(&chancy(), &faster(1.0), &asked, Arrivals::Poisson { gap_us: 1e6 });
    for record in &all {
        assert_eq!(record.in_flight as usize, others_in_flight(&all, record) + 1);
    }
    assert!(all.iter().any(|record| record.in_flight > 3), "the rate should make some requests overlap");
    // 300 gaps of mean 1 s: their sum is within four standard errors (4 × √300 s) of 300 s.
    assert!((all[299].sent_us as f64 / 1e6 - 300.0).abs() < 69.3, "{}", all[299].sent_us);
}

#[test]
fn constant_arrivals_come_at_equal_gaps() {
    let all = records(&plain(), &faster(1.0), &fixed(), Arrivals::Constant { gap_us: 400_000.0 });
    assert!(all.iter().enumerate().all(|(i, record)| record.sent_us == 400_000 * i as u64));
    // 836 ms at a penalty of 1, 961.4 at 1.15, 1086.8 at 1.3: three are soon in flight at every arrival.
    assert_eq!(all[..3].iter().map(|record| record.in_flight).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(all.iter().all(|record| record.in_flight as usize == others_in_flight(&all, record) + 1));
}

#[test]
fn every_strategy_meets_the_same_requests_at_the_same_times() {
    let asked = workload(&chancy(), Traffic::Chat);
    let sent = |strategy: &StrategySpeeds| -> Vec<(u64, Request)> {
        let all = records(&chancy(), strategy, &asked, Arrivals::Poisson { gap_us: 2e6 });
        all.iter().map(|record| (record.sent_us, record.request)).collect()
    };
    assert_eq!(sent(&faster(1.0)), sent(&prefix_cache()));
}

#[test]
fn failures_come_at_their_rates_and_never_count_as_answers() {
    let rates = [(FailureKind::Http429, 0.2), (FailureKind::TimeoutTotal, 0.1), (FailureKind::Cut, 0.3)];
    let engine = Engine { failures: rates.map(|(kind, rate)| (kind, finite(rate))).into(), ..chancy() };
    let all = records(&engine, &faster(1.0), &workload(&engine, Traffic::Chat), closed(8));
    let mut counts = BTreeMap::new();
    for record in &all {
        let full = record.stages.first_token_us() + record.stages.decode_us(record.request.output_tokens);
        match record.outcome {
            Outcome::Failed(kind) => *counts.entry(kind).or_insert(0) += 1,
            Outcome::Answered { .. } => assert_eq!(record.finished_us - record.sent_us, full),
        }
    }
    // Binomial with n = 300: the expected count and four standard deviations of it.
    let within =
        [(FailureKind::Http429, 60, 28), (FailureKind::TimeoutTotal, 30, 21), (FailureKind::Cut, 90, 32)];
    assert_eq!(counts.len(), within.len());
    for (kind, expected, deviation) in within {
        assert!(i32::abs(counts[&kind] - expected) <= deviation, "{counts:?}");
    }
}

#[test]
fn a_request_slower_than_the_limit_is_a_timeout() {
    let timeouts = Timeouts { total_ms: 3000, ..Timeouts::default() };
    let asked = workload(&chancy(), Traffic::Chat);
    let all = records_within(&chancy(), &faster(1.0), &asked, closed(1), timeouts);
    assert!(all.iter().any(|record| record.outcome == Outcome::Failed(FailureKind::TimeoutTotal)));
    for record in &all {
        let full = record.stages.first_token_us() + record.stages.decode_us(record.request.output_tokens);
        let timed_out = record.outcome == Outcome::Failed(FailureKind::TimeoutTotal);
        assert_eq!(timed_out, full > 3_000_000, "{record:?}");
        assert_eq!(record.finished_us - record.sent_us, full.min(3_000_000));
    }
}

#[test]
fn rag_gains_most_from_the_prefix_cache() {
    // The same factor on both sides, so that the gain is the cache's alone.
    let gain = |traffic| {
        let asked = workload(&chancy(), traffic);
        let without = mean_ttft(&records(&chancy(), &faster(1.3), &asked, closed(8)));
        without / mean_ttft(&records(&chancy(), &prefix_cache(), &asked, closed(8)))
    };
    let (chat, rag, code) = (gain(Traffic::Chat), gain(Traffic::Rag), gain(Traffic::Code));
    assert!(rag > code && code > chat && chat > 1.0, "chat {chat}, rag {rag}, code {code}");
    assert!(rag > 2.0, "{rag}");
}

#[test]
fn nothing_is_cached_without_a_cache_or_without_shared_prefixes() {
    let saved = |strategy: &StrategySpeeds, cache| -> u64 {
        let asked = Workload { cache, ..workload(&chancy(), Traffic::Rag) };
        let all = records(&chancy(), strategy, &asked, closed(8));
        all.iter().map(|record| u64::from(record.cached_tokens)).sum()
    };
    assert_eq!(saved(&faster(1.3), CacheMode::SharedPrefix), 0);
    assert_eq!(saved(&prefix_cache(), CacheMode::Unique), 0);
    assert!(saved(&prefix_cache(), CacheMode::SharedPrefix) > 0);
}

#[test]
fn stopping_keeps_what_was_measured() {
    let asked = workload(&chancy(), Traffic::Chat);
    let whole = records(&chancy(), &faster(1.0), &asked, closed(8));
    let failures = Failures::default();
    let speeds = Speeds::new(&chancy(), &faster(1.0));
    let plan = Run {
        workload: &asked,
        arrivals: closed(8),
        requests: 300,
        speeds,
        prefix_cache: false,
        failures: &failures,
    };
    let mut some = Vec::new();
    run(&plan, |record| {
        some.push(*record);
        if some.len() == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(some, whole[..40]);
}

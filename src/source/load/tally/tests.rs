use crate::model::Dimensions;
use crate::model::profile::{Arrival, CacheMode};
use crate::source::load::plan::Ask;
use crate::source::load::self_check::{problems, warnings};
use crate::source::load::transcript::Nanos;
use crate::source::simulate::traffic::Traffic;

use super::*;

const MS: Nanos = 1_000_000;

/// A request with a token every so many ms from its first at `first` ms on, sent at `sent` ms.
fn answered(sent: Nanos, first: Nanos, gap: Nanos, tokens: u64) -> Sample {
    let events: Vec<Nanos> = (0..tokens).map(|token| (first + gap * token) * MS).collect();
    let timeline = Timeline {
        first_token: events.first().copied(),
        first_output: events.first().copied(),
        last_token: events.last().copied(),
        events_in_first_read: 1,
        token_reads: events.len(),
        events,
        ..Timeline::default()
    };
    let (sent, ended) = (sent * MS, (sent + first + gap * tokens) * MS);
    Sample {
        intended: sent,
        begun: sent,
        sent: Some(sent),
        ended,
        connect: None,
        tls: None,
        timeline,
        tokens: Some(tokens),
    }
}

fn planned(dimensions: Dimensions) -> Planned {
    let arrival = dimensions.rate.map(|_| Arrival::Constant);
    Planned { id: dimensions.id(), dimensions, strategy: 0, ask: Ask::Traffic(Traffic::Chat), arrival }
}

fn closed(concurrency: u32) -> Planned {
    planned(Dimensions { concurrency: Some(concurrency), ..Dimensions::default() })
}

fn open(rate: u32) -> Planned {
    planned(Dimensions { rate: Some(Finite::from(rate)), ..Dimensions::default() })
}

fn group(planned: &Planned, samples: Vec<Sample>, ran: Ran) -> Group {
    let clean = |text: &str| text.to_owned();
    let tally = Tally { samples, ran, from: TokenSource::Usage, cpu_ms: Some(50), cores: 2, clean: &clean };
    tally.group(planned).unwrap()
}

fn ran(ended_ms: Nanos) -> Ran {
    Ran { began: 0, ended: ended_ms * MS, lags: vec![MS, 2 * MS, 3 * MS], dropped: 0 }
}

fn value(group: &Group, metric: Metric, statistic: Statistic) -> f64 {
    group.metrics[&metric].stats[&statistic].get()
}

#[test]
fn m41_each_latency_is_its_own_number_with_its_own_name() {
    let samples = vec![answered(0, 100, 10, 11), answered(300, 200, 20, 6)];
    let group = group(&closed(1), samples, ran(1000));
    assert_eq!(value(&group, Metric::TTFT, Statistic::Mean), 150.0);
    // 10 gaps of 10 ms, 5 of 20: the mean gap is 13.3 and the mean of the requests' own means is 15.
    assert_eq!(value(&group, Metric::TPOT, Statistic::Mean), 15.0);
    assert!((value(&group, Metric::ITL, Statistic::Mean) - 200.0 / 15.0).abs() < 1e-9);
    assert_eq!(value(&group, Metric::E2E, Statistic::P50), 300.0);
    assert_eq!(group.metrics[&Metric::TPOT].definition.as_deref(), Some("excludes-first-token"));
    assert_eq!(group.metrics[&Metric::ITL].n, Some(15));
}

#[test]
fn rates_divide_by_the_groups_wall_time_and_a_requests_own_rate_by_its_own() {
    let samples = vec![answered(0, 100, 10, 11), answered(0, 200, 60, 6)];
    let group = group(&closed(2), samples, ran(1000));
    assert_eq!(value(&group, Metric::OUTPUT_THROUGHPUT, Statistic::Value), 17.0);
    assert_eq!(value(&group, Metric::REQUEST_THROUGHPUT, Statistic::Value), 2.0);
    // 11 tokens in 200 ms and 6 in 500.
    assert_eq!(value(&group, Metric::TOKENS_PER_SECOND, Statistic::Value), (55.0 + 12.0) / 2.0);
    assert_eq!(group.wall_ms, Some(Finite::from(1000)));
}

#[test]
fn m28_m33_the_client_reports_its_own_lag_and_its_own_cpu() {
    let group = group(&closed(1), vec![answered(0, 1, 1, 2)], ran(100));
    let check = group.self_check.unwrap();
    assert_eq!(check.wakeup_lag_p99_ms, Some(Finite::from(3)));
    // 50 ms of CPU in 100 ms on two cores.
    assert_eq!(check.cpu_share.unwrap().get(), 0.25);
}

#[test]
fn m30_a_rate_that_was_not_kept_is_a_problem_with_both_numbers() {
    let late = |n: u64| -> Vec<Sample> {
        let lag = |i: u64| if i < n { 11 * MS } else { 10 * MS };
        (0..200).map(|i| Sample { intended: 0, begun: lag(i), ..answered(0, 5, 1, 2) }).collect()
    };
    let two = group(&open(4), late(2), ran(100));
    assert_eq!((two.arrivals.as_ref().unwrap().late, problems(&two).len()), (2, 0));
    let three = group(&open(4), late(3), ran(100));
    let said = problems(&three);
    assert!(
        said[0].contains("rate of 4 requests a second was not kept") && said[0].contains("3 were sent"),
        "{said:?}"
    );
}

#[test]
fn m39_arrivals_that_were_dropped_are_counted_and_invalidate_the_group() {
    let dropped = Ran { dropped: 5, ..ran(100) };
    let group = group(&open(4), vec![answered(0, 5, 1, 2)], dropped);
    assert_eq!(group.arrivals.as_ref().unwrap().dropped, 5);
    assert!(problems(&group)[0].contains("5 not at all"));
}

#[test]
fn m26_a_client_that_never_had_so_many_in_flight_says_so() {
    let alone: Vec<Sample> = (0..8).map(|i| answered(i * 1000, 20, 1, 2)).collect();
    let group = group(&closed(8), alone, ran(8000));
    let said = problems(&group);
    assert!(said[0].contains("8 requests were to be in flight, but only 1"), "{said:?}");
}

#[test]
fn a_server_that_answers_at_once_is_not_blamed_on_the_client() {
    let quick: Vec<Sample> = (0..8).map(|i| answered(i * 1000, 18, 1, 2)).collect();
    assert_eq!(problems(&group(&closed(8), quick, ran(8000))), Vec::<String>::new());
}

#[test]
fn m23_a_prefix_cache_that_answers_all_the_same_is_said() {
    let mut group = group(&closed(1), vec![answered(0, 5, 1, 2)], ran(100));
    (group.tokens.input, group.tokens.cached) = (Some(100), Some(21));
    assert!(warnings(&group, None, CacheMode::Unique)[0].contains("21 of 100 prompt tokens"));
    assert_eq!(warnings(&group, None, CacheMode::SharedPrefix), Vec::<String>::new());
    group.tokens.cached = Some(20);
    assert_eq!(warnings(&group, None, CacheMode::Unique), Vec::<String>::new());
}

#[test]
fn m11_events_that_are_no_tokens_are_said() {
    let group = group(&closed(1), vec![answered(0, 5, 1, 2)], ran(100));
    assert_eq!(warnings(&group, Some(1.05), CacheMode::Unique), Vec::<String>::new());
    assert!(warnings(&group, Some(1.06), CacheMode::Unique)[0].contains("1.06 tokens an event"));
}

#[test]
fn in_an_open_loop_the_wait_for_the_clients_own_turn_is_in_the_times_from_schedule() {
    let waited = Sample { intended: 0, begun: 3 * MS, ..answered(4, 100, 10, 2) };
    let group = group(&open(4), vec![waited], ran(200));
    assert_eq!(value(&group, Metric::TTFT, Statistic::P50), 100.0);
    assert_eq!(value(&group, Metric::named("ttft_from_schedule"), Statistic::P50), 104.0);
    assert_eq!(value(&group, Metric::named("e2e_from_schedule"), Statistic::P50), 114.0);
}

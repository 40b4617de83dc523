//! When requests are sent: a closed loop with so many in flight, or an open loop at moments fixed in advance.

use crate::model::Finite;
use crate::model::profile::Arrival;
use crate::source::simulate::random::{Purpose, StreamKey};

use super::transcript::Nanos;

/// When the requests of one block are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// So many in flight; each place takes the next request the moment it is free.
    Closed(u32),
    /// Each at its own moment after the start, whatever became of the others.
    Open(Vec<Nanos>),
}

/// The moments of an open loop after its start. The first gap comes before the first request.
#[must_use]
pub fn moments(rate: Finite, arrival: Arrival, requests: u32, key: &StreamKey) -> Vec<Nanos> {
    let gap = 1e9 / rate.get();
    let mut at = 0.0;
    let mut moment = |index: u64| {
        at += match arrival {
            Arrival::Constant => gap,
            Arrival::Poisson => gap * key.substream(index, Purpose::Arrival).exponential(),
        };
        // A float to u64 cast saturates: a rate close to 0 waits for ever, which the profile's own limits exclude.
        at as Nanos
    };
    (0..u64::from(requests)).map(&mut moment).collect()
}

/// The most requests that were in flight at one moment, from when each was sent and ended.
#[must_use]
pub fn most_in_flight(spans: &[(Nanos, Nanos)]) -> u32 {
    let mut changes: Vec<(Nanos, i32)> =
        spans.iter().flat_map(|&(sent, ended)| [(sent, 1), (ended, -1)]).collect();
    // At one moment ends come first: a refilled place is not two requests.
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_arrivals_have_equal_gaps_and_poisson_ones_the_same_mean() {
        let key = StreamKey::new(7, "chat/r4");
        let rate = Finite::from(4);
        assert_eq!(moments(rate, Arrival::Constant, 3, &key), [250_000_000, 500_000_000, 750_000_000]);
        let poisson = moments(rate, Arrival::Poisson, 10_000, &key);
        assert!(poisson.is_sorted());
        let mean = *poisson.last().unwrap() as f64 / 1e9 / 10_000.0;
        // Five standard errors of the mean of 10,000 exponential gaps.
        assert!((mean - 0.25).abs() < 0.25 * 0.05, "{mean}");
        assert_eq!(moments(rate, Arrival::Poisson, 3, &key), poisson[..3]);
    }

    #[test]
    fn a_place_that_is_refilled_at_once_is_one_request() {
        assert_eq!(most_in_flight(&[(0, 10), (10, 20), (20, 30)]), 1);
        assert_eq!(most_in_flight(&[(0, 10), (5, 20), (9, 30), (30, 31)]), 3);
        assert_eq!(most_in_flight(&[]), 0);
    }
}

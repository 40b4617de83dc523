//! One random substream per workload, request and purpose.
//!
//! Nothing draws from a shared stream, so a change to one stage, strategy or request count moves no other draw.
//! The stream is `ChaCha8`, whose output is documented as stable and portable, and the transcendental functions are
//! pure Rust from `libm`: the same seed gives the same numbers on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// What a substream is drawn for. Draws for one purpose never shift those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Prompt length, shared prefix, output limit and early stop.
    Workload = 1,
    /// The request's own deviation from each stage's nominal speed.
    Speed = 2,
    /// Whether, how and after how many tokens the request fails.
    Failure = 3,
    /// The gap before the request's arrival in open loop.
    Arrival = 4,
}

/// The identity of one round of one workload, from which every substream of its requests is derived.
///
/// It leaves the strategy out on purpose: all strategies answer the same requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamKey([u8; 32]);

impl StreamKey {
    /// Derives the key of a round from its seed and the name of the workload, such as `chat/c8`.
    pub fn new(seed: u64, workload: &str) -> Self {
        let digest =
            Sha256::new().chain_update(seed.to_le_bytes()).chain_update(workload.as_bytes()).finalize();
        Self(digest.into())
    }

    /// The substream of one request for one purpose.
    pub fn substream(&self, request: u64, purpose: Purpose) -> Substream {
        let mut key = self.0;
        key[31] ^= purpose as u8;
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_stream(request);
        Substream(stream)
    }
}

/// A short private sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Substream(ChaCha8Rng);

impl Substream {
    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        const TWO_POW_MINUS_53: f64 = 1.0 / 9_007_199_254_740_992.0;
        (self.0.next_u64() >> 11) as f64 * TWO_POW_MINUS_53
    }

    /// A whole number in `low..=high`, every one equally likely; `low` when the range is empty.
    ///
    /// Lemire, "Fast Random Integer Generation in an Interval" (2019): multiply, and reject the few products that
    /// would favour some values.
    pub fn whole(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high.saturating_sub(low)) + 1;
        let rejected_below = span.wrapping_neg() % span;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(span);
            if product as u64 >= rejected_below {
                return low + (product >> 64) as u32;
            }
        }
    }

    /// A number from the exponential distribution of mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// A number from the standard normal distribution, by Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substreams_are_the_same_numbers_on_every_platform() {
        let key = StreamKey::new(7, "chat/c8");
        let mut stream = key.substream(41, Purpose::Workload);
        let drawn = (stream.whole(50, 500), stream.whole(50, 500), stream.unit(), stream.exponential());
        // Computed apart from this code: SHA-256 and ChaCha8 written from their specifications in another language.
        assert_eq!(drawn, (136, 448, 0.474_330_464_870_822_2, 0.647_633_215_508_916_3));
        let normal = stream.normal();
        assert!((normal - 0.403_465_320_103_346_1).abs() < 1e-15, "{normal}");
        // The last digit is libm's own, and has to stay as it is.
        assert_eq!(normal, 0.403_465_320_103_346_2);
    }

    #[test]
    fn seed_workload_request_and_purpose_each_select_another_substream() {
        let first = |seed, workload, request, purpose| {
            StreamKey::new(seed, workload).substream(request, purpose).0.next_u64()
        };
        let drawn = [
            first(1, "chat/c8", 0, Purpose::Workload),
            first(2, "chat/c8", 0, Purpose::Workload),
            first(1, "chat/c1", 0, Purpose::Workload),
            first(1, "chat/c8", 1, Purpose::Workload),
            first(1, "chat/c8", 0, Purpose::Speed),
        ];
        for (i, a) in drawn.iter().enumerate() {
            assert!(drawn[i + 1..].iter().all(|b| a != b), "draw {i} is repeated: {drawn:?}");
        }
    }

    #[test]
    fn whole_numbers_stay_inside_their_range_and_reach_both_ends() {
        let key = StreamKey::new(1, "range");
        let drawn: Vec<u32> = (0..1000).map(|i| key.substream(i, Purpose::Workload).whole(3, 7)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&7)));
        assert_eq!(key.substream(0, Purpose::Workload).whole(9, 9), 9);
    }

    #[test]
    fn normal_deviations_have_mean_zero_and_variance_one() {
        let key = StreamKey::new(1, "speeds");
        let n = 100_000;
        let drawn: Vec<f64> = (0..n).map(|i| key.substream(i, Purpose::Speed).normal()).collect();
        let mean = drawn.iter().sum::<f64>() / n as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        // Five standard errors: 1/sqrt(n) for the mean and sqrt(2/n) for the variance of a normal.
        assert!(mean.abs() < 0.016, "{mean}");
        assert!((variance - 1.0).abs() < 0.023, "{variance}");
        // 1.96 standard deviations hold 95 % of a normal, and of no other usual shape.
        let inside = drawn.iter().filter(|x| x.abs() < 1.959_964).count() as f64 / n as f64;
        assert!((inside - 0.95).abs() < 0.0035, "{inside}");
    }

    #[test]
    fn exponential_gaps_have_mean_one_and_variance_one() {
        let key = StreamKey::new(1, "arrivals");
        let n = 100_000;
        let drawn: Vec<f64> = (0..n).map(|i| key.substream(i, Purpose::Arrival).exponential()).collect();
        let mean = drawn.iter().sum::<f64>() / n as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        // Five standard errors: 1/sqrt(n) for the mean and sqrt(8/n) for the variance of an exponential.
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
        assert!((variance - 1.0).abs() < 0.045, "{variance}");
    }
}

//! Many simulated rounds of one group, reduced to the fields that a gate sees. Jobs are put together by drawing from
//! them, so that a thousand gates don't need a thousand times twelve fresh groups.

use rand_chacha::ChaCha8Rng;

use pacegate::stats::percentile::{Definition, Sorted};
use pacegate::stats::sampling::{
    percentile_inflation, percentile_variance, throughput_inflation, throughput_variance,
};

use super::data::{self, Latencies, Model};
use super::work;

/// Fields of a group: TTFT P50 and P95, TPOT P50 and P95, E2E P95, throughput.
pub const FIELDS: usize = 6;

/// Metrics whose samples are kept: TTFT, TPOT, E2E.
pub const METRICS: usize = 3;

/// One round of one group.
pub struct Reduced {
    /// Sign-aligned logarithm of every field, + = worse.
    pub x: [f64; FIELDS],
    /// Their sampling variances.
    pub w: [f64; FIELDS],
    /// Logarithms of the samples, sorted, where they are kept.
    pub samples: Option<Box<[Vec<f32>; METRICS]>>,
}

/// The rounds.
pub struct Pool {
    /// As many as asked for.
    pub rounds: Vec<Reduced>,
}

/// Rounds that one random stream draws; fixed, so that the pool doesn't depend on the number of threads.
const CHUNK: usize = 500;

impl Pool {
    /// Draws `size` rounds of `n` requests.
    pub fn draw(model: Model, n: usize, size: usize, seed: u64, samples: bool) -> anyhow::Result<Self> {
        let chunks: Vec<usize> = (0..size.div_ceil(CHUNK)).collect();
        let drawn = work::parallel(&chunks, |chunk| {
            let mut rng = work::stream(seed, &format!("pool {} {n} {chunk}", model.name()));
            let count = CHUNK.min(size - chunk * CHUNK);
            (0..count).map(|_| reduced(model, n, samples, &mut rng)).collect::<anyhow::Result<Vec<_>>>()
        })?;
        Ok(Self { rounds: drawn.into_iter().flatten().collect() })
    }
}

fn reduced(model: Model, n: usize, samples: bool, rng: &mut ChaCha8Rng) -> anyhow::Result<Reduced> {
    let Latencies { ttft, tpot, e2e } = data::round(model, n, rng)?;
    let sorted = [Sorted::new(ttft.clone())?, Sorted::new(tpot.clone())?, Sorted::new(e2e.clone())?];
    let (mut x, mut w) = ([0.0; FIELDS], [0.0; FIELDS]);
    let fields = [(0, &ttft, 50.0), (0, &ttft, 95.0), (1, &tpot, 50.0), (1, &tpot, 95.0), (2, &e2e, 95.0)];
    for (field, (metric, arrivals, p)) in fields.into_iter().enumerate() {
        x[field] = sorted[metric].percentile(p, Definition::FloorRank)?.ln();
        w[field] = percentile_variance(&sorted[metric], p, percentile_inflation(arrivals, p)?)?;
    }
    let mean = e2e.iter().sum::<f64>() / e2e.len() as f64;
    // Answers per second are inverse to it, and x is aligned so that more is worse.
    x[FIELDS - 1] = mean.ln();
    w[FIELDS - 1] = throughput_variance(&sorted[2], throughput_inflation(&e2e)?)?;
    let logs = |values: &Sorted| values.as_slice().iter().map(|v| v.ln() as f32).collect::<Vec<_>>();
    let samples = samples.then(|| Box::new([logs(&sorted[0]), logs(&sorted[1]), logs(&sorted[2])]));
    Ok(Reduced { x, w, samples })
}

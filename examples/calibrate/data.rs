//! Synthetic rounds: the latencies that one group measures in one round, in order of arrival.
//!
//! The scale is arbitrary: only ratios are judged.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, LogNormal, Pareto, StandardNormal, Uniform};

/// How latencies are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    /// Independent, standard deviation of the logarithm 0.5 (TTFT) and 0.2 (TPOT).
    Lognormal,
    /// The same with 1.0 for TTFT.
    LognormalWide,
    /// A queue of 4 slots under 8 closed-loop clients; decode slows with it.
    Queue8,
    /// A queue of 8 slots under 32 clients.
    Queue32,
    /// The same, but TTFT and TPOT from queues of their own.
    Queue32Apart,
    /// Slowly varying load: AR(1) with 0.6.
    Autoregressive,
    /// A prefix cache that is hit by 70 % of the requests and is four times as fast.
    Bimodal,
    /// Hit by half of them, so that P50 lies on the boundary between the modes.
    BimodalAtP50,
    /// Hit by 95 %, so that P95 does.
    BimodalAtP95,
    /// Heavy tail: Pareto with shape 2.5.
    Pareto,
    /// A coarse clock: TTFT in steps of 5 % of its median, and TPOT likewise.
    Ties,
}

impl Model {
    /// As the tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Model::Lognormal => "lognormal s = 0.5",
            Model::LognormalWide => "lognormal s = 1.0",
            Model::Queue8 => "closed loop c = 8",
            Model::Queue32 => "closed loop c = 32, one queue",
            Model::Queue32Apart => "closed loop c = 32, metrics independent",
            Model::Autoregressive => "AR(1) 0.6",
            Model::Bimodal => "bimodal 70:30",
            Model::BimodalAtP50 => "bimodal, mode boundary at P50",
            Model::BimodalAtP95 => "bimodal, mode boundary at P95",
            Model::Pareto => "Pareto 2.5",
            Model::Ties => "ties (clock 5 % of the median)",
        }
    }
}

/// One round of one group.
pub struct Latencies {
    /// Time to first token of every request.
    pub ttft: Vec<f64>,
    /// Time per output token.
    pub tpot: Vec<f64>,
    /// End to end, of an answer of three more tokens.
    pub e2e: Vec<f64>,
}

/// Draws one round of `n` requests.
pub fn round(model: Model, n: usize, rng: &mut ChaCha8Rng) -> anyhow::Result<Latencies> {
    let (ttft, tpot) = match model {
        Model::Lognormal => (lognormal(0.5, n, rng)?, lognormal(0.2, n, rng)?),
        Model::LognormalWide => (lognormal(1.0, n, rng)?, lognormal(0.2, n, rng)?),
        Model::Bimodal => (bimodal(0.7, n, rng)?, lognormal(0.2, n, rng)?),
        Model::BimodalAtP50 => (bimodal(0.5, n, rng)?, lognormal(0.2, n, rng)?),
        Model::BimodalAtP95 => (bimodal(0.95, n, rng)?, lognormal(0.2, n, rng)?),
        Model::Queue8 => one_queue(8, 4, n, rng)?,
        Model::Queue32 => one_queue(32, 8, n, rng)?,
        Model::Queue32Apart => (closed_loop(32, 8, n, rng), decode_of(closed_loop(32, 8, n, rng))),
        Model::Autoregressive => (drifting(0.5, 0.6, n, rng), decode_of(drifting(0.5, 0.6, n, rng))),
        Model::Pareto => (pareto(n, rng)?, decode_of(pareto(n, rng)?)),
        Model::Ties => (ties(n, rng)?, decode_of(ties(n, rng)?)),
    };
    let e2e = ttft.iter().zip(&tpot).map(|(first, next)| first + 3.0 * next).collect();
    Ok(Latencies { ttft, tpot, e2e })
}

/// Decode varies less than the first token.
fn decode_of(latencies: Vec<f64>) -> Vec<f64> {
    latencies.into_iter().map(|x| x.powf(0.4)).collect()
}

fn lognormal(spread: f64, n: usize, rng: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
    let law = LogNormal::new(0.0, spread)?;
    Ok((0..n).map(|_| law.sample(rng)).collect())
}

fn pareto(n: usize, rng: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
    let law = Pareto::new(1.0, 2.5)?;
    Ok((0..n).map(|_| law.sample(rng)).collect())
}

fn bimodal(hit: f64, n: usize, rng: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
    let (law, share) = (LogNormal::new(0.0, 0.25)?, Uniform::new(0.0, 1.0)?);
    let one = |_| {
        let slow: f64 = law.sample(rng);
        if share.sample(rng) < hit { 0.25 * slow } else { slow }
    };
    Ok((0..n).map(one).collect())
}

fn ties(n: usize, rng: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
    const STEP: f64 = 0.05;
    let exact = lognormal(0.5, n, rng)?;
    Ok(exact.into_iter().map(|x| (x / STEP).round_ties_even().max(1.0) * STEP).collect())
}

/// Lognormal margins, each value leaning on the one before.
fn drifting(spread: f64, leaning: f64, n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let fresh = (1.0 - leaning * leaning).sqrt();
    let mut level: Option<f64> = None;
    let one = |_| {
        let step: f64 = StandardNormal.sample(rng);
        let next = level.map_or(step, |before| leaning * before + fresh * step);
        level = Some(next);
        (spread * next).exp()
    };
    (0..n).map(one).collect()
}

fn one_queue(
    clients: usize,
    slots: usize,
    n: usize,
    rng: &mut ChaCha8Rng,
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let first = closed_loop(clients, slots, n, rng);
    let own = lognormal(0.1, n, rng)?;
    let decode = first.iter().zip(own).map(|(x, own)| x.powf(0.4) * own).collect();
    Ok((first, decode))
}

/// Clients that ask again a moment after their answer, served first come, first served, at drifting speed.
fn closed_loop(clients: usize, slots: usize, n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    const PAUSE: f64 = 0.05;
    let warm_up = 2 * clients;
    let service = drifting(0.6, 0.5, n + warm_up, rng);
    let (mut free, mut ready) = (vec![0.0; slots], vec![0.0; clients]);
    let mut answers = Vec::with_capacity(service.len());
    for time in service {
        let (client, asked) = earliest(&ready);
        let (slot, idle) = earliest(&free);
        let end = asked.max(idle) + time;
        free[slot] = end;
        ready[client] = end + PAUSE;
        answers.push(end - asked);
    }
    answers.split_off(warm_up)
}

fn earliest(times: &[f64]) -> (usize, f64) {
    let mut first = (0, f64::INFINITY);
    for (at, time) in times.iter().enumerate() {
        if *time < first.1 {
            first = (at, *time);
        }
    }
    first
}

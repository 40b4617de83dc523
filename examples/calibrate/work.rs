//! Threads and random streams. What is drawn depends on names and the seed alone, never on threads or order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// The random stream of this name (FNV-1a picks its number).
pub fn stream(seed: u64, name: &str) -> ChaCha8Rng {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(hash);
    rng
}

/// Does the same with every item, on all cores; results in the order of the items.
pub fn parallel<T: Sync, R: Send>(
    items: &[T],
    each: impl Fn(&T) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = each(item);
                    let Ok(mut done) = done.lock() else { break };
                    done.push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().map_err(|_| anyhow::anyhow!("a worker thread panicked"))?;
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

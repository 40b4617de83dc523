//! Runs the requests of one group against one endpoint, on one event loop a core.
//!
//! The measuring threads send, stamp and copy. Records go to the calling thread, which reads them while others run.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::model::profile::Timeouts;

use super::clock::Clock;
use super::endpoint::Endpoint;
use super::request::Call;
use super::schedule::Schedule;
use super::transcript::{Nanos, Transcript};
use super::worker::{Message, Shared, Worker};

/// Streams that one core reads without being late: a quarter of what was measured, since machines differ.
const STREAMS_A_CORE: usize = 256;

/// How often the calling thread looks whether the run was cancelled while nothing ends.
const LOOK_FOR_CANCEL: Duration = Duration::from_millis(50);

/// What is run.
#[derive(Clone)]
pub struct Block {
    /// Where.
    pub endpoint: Arc<Endpoint>,
    /// What, in order.
    pub calls: Arc<[Call]>,
    /// When.
    pub schedule: Schedule,
    /// Time limits.
    pub timeouts: Timeouts,
    /// The run's clock.
    pub clock: Clock,
}

/// What is known of a block beside its records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// When it began.
    pub began: Nanos,
    /// When the last request ended.
    pub ended: Nanos,
    /// How late each look at the clock was.
    pub lags: Vec<Nanos>,
    /// Arrivals that were not sent since too many were in flight.
    pub dropped: u64,
}

/// Runs a block. Every record is handed to `record` with the index of its call, in the order in which they end. When
/// `cancel` turns true, requests in flight are dropped and leave no record.
///
/// # Errors
/// When a thread or its event queue can't be made.
pub fn run(block: &Block, cancel: &AtomicBool, mut record: impl FnMut(usize, Transcript)) -> io::Result<Ran> {
    let workers = workers(&block.schedule, block.calls.len());
    let (records, received) = mpsc::channel();
    let mut ran = Ran { began: block.clock.now(), ..Ran::default() };
    let shared = Arc::new(Shared {
        began: ran.began,
        workers,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    });
    let spawn = |number| {
        let worker = Worker::new(block.clone(), Arc::clone(&shared), number, records.clone())?;
        thread::Builder::new().name(format!("load-{number}")).spawn(|| worker.work())
    };
    // Where one can't be made, those before it send no more.
    let spawned = (0..workers).map(spawn).collect::<io::Result<Vec<_>>>();
    let threads = spawned.inspect_err(|_| shared.stop.store(true, Ordering::Relaxed))?;
    drop(records);
    loop {
        match received.recv_timeout(LOOK_FOR_CANCEL) {
            Ok(Message::Record(index, transcript)) => {
                ran.ended = ran.ended.max(transcript.ended);
                record(index, transcript);
            }
            Ok(Message::Dropped) => ran.dropped += 1,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        shared.stop.fetch_or(cancel.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    for thread in threads {
        let lags = thread.join().map_err(|_| io::Error::other("a measuring thread panicked"))??;
        ran.lags.extend(lags);
    }
    Ok(ran)
}

fn workers(schedule: &Schedule, calls: usize) -> usize {
    let streams = match schedule {
        Schedule::Closed(concurrency) => (*concurrency as usize).min(calls),
        Schedule::Open(_) => 1,
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    streams.div_ceil(STREAMS_A_CORE).clamp(1, cores)
}

/// Sends one request and waits for its end.
///
/// # Errors
/// When the system gives no event queue.
pub fn one(endpoint: &Endpoint, call: &Call, timeouts: Timeouts) -> io::Result<Transcript> {
    let clock = Clock::start();
    let (endpoint, calls) = (Arc::new(endpoint.clone()), Arc::from([call.clone()]));
    // An open loop's place is not watched after its request, which would take longer than the request.
    let block = Block { endpoint, calls, schedule: Schedule::Open(vec![0]), timeouts, clock };
    let (records, received) = mpsc::channel();
    let shared =
        Shared { began: clock.now(), workers: 1, next: AtomicUsize::new(0), stop: AtomicBool::new(false) };
    Worker::new(block, Arc::new(shared), 0, records)?.work()?;
    match received.recv() {
        Ok(Message::Record(_, transcript)) => Ok(transcript),
        _ => Err(io::Error::other("a request left no record")),
    }
}

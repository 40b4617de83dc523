//! Runs the requests of one group against one endpoint, on one current-thread runtime a core.
//!
//! The measuring threads send, stamp and copy. Records go to the calling thread, which reads them while others run.

use std::cell::RefCell;
use std::io;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::task::{JoinSet, LocalSet};
use tokio::time::sleep_until;

use crate::model::profile::Timeouts;

use super::clock::Clock;
use super::endpoint::Endpoint;
use super::request::{Call, Slot};
use super::schedule::Schedule;
use super::transcript::{Nanos, Transcript};

/// Streams that one core reads without being late: a quarter of what was measured, since machines differ.
const STREAMS_A_CORE: usize = 256;

/// The most requests in flight in an open loop: most systems allow 1,024 open files.
const MOST_IN_FLIGHT: usize = 900;

/// How often a runtime looks how late it is.
const TICK: Nanos = 10_000_000;

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

enum Message {
    Record(usize, Transcript),
    Dropped,
}

struct Worker {
    block: Block,
    stop: Arc<AtomicBool>,
    began: Nanos,
    number: usize,
    workers: usize,
    next: Arc<AtomicUsize>,
    records: mpsc::Sender<Message>,
    lags: RefCell<Vec<Nanos>>,
}

/// Runs a block. Every record is handed to `record` with the index of its call, in the order in which they end. When
/// `cancel` turns true, requests in flight are dropped and leave no record.
///
/// # Errors
/// When a thread or its runtime can't be made.
pub fn run(block: &Block, cancel: &AtomicBool, mut record: impl FnMut(usize, Transcript)) -> io::Result<Ran> {
    let workers = workers(&block.schedule, block.calls.len());
    let (records, received) = mpsc::channel();
    let next = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let mut ran = Ran { began: block.clock.now(), ..Ran::default() };
    let mut threads = Vec::new();
    for number in 0..workers {
        let (block, next, records, began) = (block.clone(), Arc::clone(&next), records.clone(), ran.began);
        let stop = Arc::clone(&stop);
        let work = move || {
            let lags = RefCell::default();
            Worker { block, stop, began, number, workers, next, records, lags }.work()
        };
        threads.push(thread::Builder::new().name(format!("load-{number}")).spawn(work)?);
    }
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
        stop.fetch_or(cancel.load(Ordering::Relaxed), Ordering::Relaxed);
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

impl Worker {
    fn work(self) -> io::Result<Vec<Nanos>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let worker = Rc::new(self);
        let tasks = LocalSet::new();
        runtime.block_on(tasks.run_until(async {
            tokio::select! {
                biased;
                () = worker.watch() => {}
                () = Rc::clone(&worker).send_all() => {}
            }
        }));
        // Requests in flight end here when the run was cancelled.
        drop(tasks);
        Ok(worker.lags.take())
    }

    /// Notes how late this runtime wakes up; ends when the run is cancelled.
    async fn watch(&self) {
        let clock = self.block.clock;
        while !self.stop.load(Ordering::Relaxed) {
            let due = clock.now() + TICK;
            sleep_until(clock.moment(due)).await;
            self.lags.borrow_mut().push(clock.now().saturating_sub(due));
        }
    }

    async fn send_all(self: Rc<Self>) {
        let mut tasks = JoinSet::new();
        match &self.block.schedule {
            Schedule::Closed(concurrency) => {
                let slots = (*concurrency as usize).min(self.block.calls.len());
                for _ in (self.number..slots).step_by(self.workers) {
                    tasks.spawn_local(Rc::clone(&self).refill());
                }
            }
            Schedule::Open(moments) => self.open_loop(moments, &mut tasks).await,
        }
        while tasks.join_next().await.is_some() {}
    }

    /// One place of a closed loop: takes the next request the moment it is free.
    async fn refill(self: Rc<Self>) {
        let mut slot = Slot::default();
        let mut free = self.began;
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(call) = self.block.calls.get(index) else {
                return slot.rest(&self.block.endpoint).await;
            };
            let record = self.send(&mut slot, call, free).await;
            free = record.ended;
            // Nobody listens any more only when the run is over.
            let _over = self.records.send(Message::Record(index, record));
        }
    }

    async fn open_loop(self: &Rc<Self>, moments: &[Nanos], tasks: &mut JoinSet<()>) {
        let free: Rc<RefCell<Vec<Slot>>> = Rc::default();
        for (index, moment) in moments.iter().enumerate().take(self.block.calls.len()) {
            let intended = self.began + moment;
            sleep_until(self.block.clock.moment(intended)).await;
            while tasks.try_join_next().is_some() {}
            if tasks.len() >= MOST_IN_FLIGHT {
                let _over = self.records.send(Message::Dropped);
                continue;
            }
            let (worker, free) = (Rc::clone(self), Rc::clone(&free));
            tasks.spawn_local(async move {
                let taken = free.borrow_mut().pop();
                let mut slot = taken.unwrap_or_default();
                let record = worker.send(&mut slot, &worker.block.calls[index], intended).await;
                free.borrow_mut().push(slot);
                let _over = worker.records.send(Message::Record(index, record));
            });
        }
    }

    async fn send(&self, slot: &mut Slot, call: &Call, intended: Nanos) -> Transcript {
        slot.send(&self.block.endpoint, call, self.block.timeouts, self.block.clock, intended).await
    }
}

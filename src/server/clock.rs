//! Waiting until a moment, to a fraction of a millisecond.
//!
//! The runtime's own timer counts whole milliseconds and is up to two late. Here a thread sleeps until the next moment
//! that anybody waits for, on the operating system's own clock, and wakes the tasks that are due.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Wakes tasks at the moments they ask for. The thread ends when the clock is dropped.
pub struct Clock {
    epoch: Instant,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    sleepers: BinaryHeap<Sleeper>,
    closed: bool,
}

struct Sleeper {
    until: Instant,
    waker: Waker,
}

impl Clock {
    /// Starts the thread. Times count from `epoch`.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn start(epoch: Instant) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("mock-clock".into()).spawn(move || theirs.wake_when_due())?;
        Ok(Self { epoch, shared, thread: Some(thread) })
    }

    /// Microseconds since the epoch.
    pub fn now_us(&self) -> u64 {
        self.us(Instant::now())
    }

    /// A moment as microseconds since the epoch; moments before it are 0.
    pub fn us(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX)
    }

    /// Resolves at that many microseconds after the epoch, or at once when they are over.
    pub fn until(&self, us: u64) -> Until<'_> {
        let until = self.epoch.checked_add(Duration::from_micros(us));
        Until { shared: &self.shared, until, registered: None }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It runs no code that can panic but the wakers', and nothing is left to wake.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, until: Instant, waker: Waker) {
        let mut queue = self.lock();
        let is_next = queue.sleepers.peek().is_none_or(|next| until < next.until);
        queue.sleepers.push(Sleeper { until, waker });
        drop(queue);
        if is_next {
            self.changed.notify_one();
        }
    }

    fn wake_when_due(&self) {
        let mut due = Vec::new();
        let mut queue = self.lock();
        while !queue.closed {
            let now = Instant::now();
            while let Some(next) = queue.sleepers.peek()
                && next.until <= now
            {
                due.extend(queue.sleepers.pop());
            }
            if !due.is_empty() {
                drop(queue);
                due.drain(..).for_each(|sleeper: Sleeper| sleeper.waker.wake());
                queue = self.lock();
                continue;
            }
            let wait = queue.sleepers.peek().map(|next| next.until.saturating_duration_since(now));
            queue = match wait {
                Some(wait) => {
                    self.changed.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// See [`Clock::until`].
pub struct Until<'a> {
    shared: &'a Shared,
    /// None is further away than the clock can count.
    until: Option<Instant>,
    registered: Option<Waker>,
}

impl Future for Until<'_> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(until) = self.until else { return Poll::Pending };
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        if !self.registered.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.registered = Some(context.waker().clone());
            self.shared.register(until, context.waker().clone());
        }
        Poll::Pending
    }
}

impl Ord for Sleeper {
    /// The earliest is the greatest, for the heap.
    fn cmp(&self, other: &Self) -> Ordering {
        other.until.cmp(&self.until)
    }
}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.until == other.until
    }
}

impl Eq for Sleeper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_in_their_order_whatever_the_order_of_asking() {
        let clock = Clock::start(Instant::now()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let order = Mutex::new(Vec::new());
        let waits = async |us: u64| {
            clock.until(us).await;
            assert!(clock.now_us() >= us, "{us} came early");
            order.lock().unwrap().push(us);
        };
        runtime.block_on(async { tokio::join!(waits(3_000), waits(1_000), waits(0), waits(2_000)) });
        assert_eq!(order.into_inner().unwrap(), [0, 1_000, 2_000, 3_000]);
    }

    #[test]
    fn a_moment_beyond_the_clock_never_comes() {
        let clock = Clock::start(Instant::now()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            tokio::select! {
                () = clock.until(u64::MAX) => panic!("it came"),
                () = clock.until(1_000) => {}
            }
        });
    }
}

//! One thread's event loop: the places it looks after, their sockets, their time limits, and when requests are due.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use mio::{Events, Poll, Token};

use super::block::Block;
use super::request::{Context, Place, Step};
use super::schedule::Schedule;
use super::transcript::{Nanos, Transcript};

/// The most requests in flight in an open loop: most systems allow 1,024 open files.
const MOST_IN_FLIGHT: usize = 900;

/// How often a thread looks how late it is.
const TICK: Nanos = 10_000_000;

/// Events taken at once.
const EVENTS: usize = 1024;

/// What the calling thread learns.
pub(super) enum Message {
    Record(usize, Transcript),
    Dropped,
}

/// What the threads of a block have in common.
pub(super) struct Shared {
    pub began: Nanos,
    pub workers: usize,
    /// The next call of a closed loop.
    pub next: AtomicUsize,
    /// The run was cancelled.
    pub stop: AtomicBool,
}

/// One event loop.
pub(super) struct Worker {
    block: Block,
    shared: Arc<Shared>,
    number: usize,
    records: mpsc::Sender<Message>,
    poll: Poll,
    places: Vec<Place>,
    /// Places of an open loop without a request.
    free: Vec<usize>,
    busy: usize,
    /// Places with more to do, though no event will tell.
    again: BTreeSet<usize>,
    /// Places of a closed loop whose last request met no connection, and since when they are free. They take the next one
    /// after the others had their turn: where every connection is refused at once, one place would take all that is left.
    refused: Vec<(usize, Nanos)>,
    limits: Limits,
    /// The next call of an open loop.
    arrival: usize,
    lags: Vec<Nanos>,
}

/// When the time limits of places are to be looked at.
#[derive(Default)]
struct Limits {
    order: BTreeSet<(Nanos, usize)>,
    of: Vec<Option<Nanos>>,
}

impl Worker {
    pub fn new(
        block: Block,
        shared: Arc<Shared>,
        number: usize,
        records: mpsc::Sender<Message>,
    ) -> io::Result<Worker> {
        Ok(Worker {
            block,
            shared,
            number,
            records,
            poll: Poll::new()?,
            places: Vec::new(),
            free: Vec::new(),
            busy: 0,
            again: BTreeSet::new(),
            refused: Vec::new(),
            limits: Limits::default(),
            arrival: 0,
            lags: Vec::new(),
        })
    }

    /// Runs to the end of the block, or until it is cancelled, and tells how late each look at the clock was. Requests in
    /// flight end here when the run was cancelled.
    pub fn work(mut self) -> io::Result<Vec<Nanos>> {
        let mut events = Events::with_capacity(EVENTS);
        self.fill();
        let mut now = self.block.clock.now();
        let mut tick = now + TICK;
        now = self.send_arrivals(now);
        while self.busy > 0 || self.next_arrival().is_some() {
            self.wait(&mut events, tick, now)?;
            for event in &events {
                self.step(event.token().0, |place, context| place.event(context, event.is_read_closed()));
            }
            for place in std::mem::take(&mut self.again) {
                self.step(place, |place, context| place.event(context, false));
            }
            for (place, free) in std::mem::take(&mut self.refused) {
                let step = self.refill(place, free);
                self.settle(place, step);
            }
            // Asked once a turn: the clock costs as much as half a read.
            now = self.block.clock.now();
            while let Some(place) = self.limits.reached(now) {
                self.step(place, |place, context| place.look(context, now));
            }
            now = self.send_arrivals(now);
            if now >= tick {
                self.lags.push(now - tick);
                if self.shared.stop.load(Ordering::Relaxed) {
                    break;
                }
                tick = now + TICK;
            }
        }
        Ok(self.lags)
    }

    /// Waits for events until the next moment at which something is due.
    fn wait(&mut self, events: &mut Events, tick: Nanos, now: Nanos) -> io::Result<()> {
        let due = [Some(tick), self.limits.first(), self.next_arrival()].into_iter().flatten().min();
        let wait = if self.again.is_empty() && self.refused.is_empty() {
            due.unwrap_or(tick).saturating_sub(now)
        } else {
            0
        };
        match self.poll.poll(events, Some(Duration::from_nanos(wait))) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            done => done,
        }
    }

    /// The first requests of a closed loop.
    fn fill(&mut self) {
        let Schedule::Closed(concurrency) = self.block.schedule else { return };
        let slots = (concurrency as usize).min(self.block.calls.len());
        for _ in (self.number..slots).step_by(self.shared.workers) {
            let place = self.new_place();
            self.busy += 1;
            let step = self.refill(place, self.shared.began);
            self.settle(place, step);
        }
    }

    fn next_arrival(&self) -> Option<Nanos> {
        let Schedule::Open(moments) = &self.block.schedule else { return None };
        let moment = moments.get(self.arrival).filter(|_| self.arrival < self.block.calls.len())?;
        Some(self.shared.began + moment)
    }

    /// Sends what is due, and tells when that was done.
    fn send_arrivals(&mut self, mut now: Nanos) -> Nanos {
        while let Some(intended) = self.next_arrival().filter(|moment| *moment <= now) {
            let index = self.arrival;
            self.arrival += 1;
            if self.busy >= MOST_IN_FLIGHT {
                self.tell(Message::Dropped);
                continue;
            }
            let place = self.free.pop().unwrap_or_else(|| self.new_place());
            self.busy += 1;
            self.step(place, |place, context| place.begin(context, index, intended));
            now = self.block.clock.now();
        }
        now
    }

    fn new_place(&mut self) -> usize {
        self.places.push(Place::default());
        self.places.len() - 1
    }

    fn step(&mut self, number: usize, go: impl FnOnce(&mut Place, &Context<'_>) -> Step) {
        let step = self.go_on(number, go);
        self.settle(number, step);
    }

    /// Does what follows from a step. A place whose request is over takes the next one at once.
    fn settle(&mut self, number: usize, mut step: Step) {
        while let Step::Ended(index, record) = step {
            let (ended, refused) = (record.ended, record.sent.is_none());
            self.tell(Message::Record(index, record));
            step = match self.block.schedule {
                Schedule::Closed(_) if refused => {
                    self.refused.push((number, ended));
                    Step::Waits
                }
                Schedule::Closed(_) => self.refill(number, ended),
                Schedule::Open(_) => {
                    self.free.push(number);
                    Step::Idle
                }
            };
        }
        match step {
            Step::Again => drop(self.again.insert(number)),
            Step::Idle => self.busy -= 1,
            Step::Waits | Step::Ended(..) => {}
        }
    }

    fn go_on(&mut self, number: usize, go: impl FnOnce(&mut Place, &Context<'_>) -> Step) -> Step {
        let place = &mut self.places[number];
        let context = Context { registry: self.poll.registry(), token: Token(number), block: &self.block };
        let step = go(place, &context);
        self.limits.set(number, place.look_at);
        step
    }

    /// A place of a closed loop takes the next request the moment it is free.
    fn refill(&mut self, place: usize, free: Nanos) -> Step {
        let index = self.shared.next.fetch_add(1, Ordering::Relaxed);
        if index < self.block.calls.len() {
            self.go_on(place, |place, context| place.begin(context, index, free))
        } else {
            self.go_on(place, |place, context| place.rest(context))
        }
    }

    fn tell(&self, message: Message) {
        // Nobody listens any more only when the run is over.
        let _over = self.records.send(message);
    }
}

impl Limits {
    fn set(&mut self, place: usize, at: Option<Nanos>) {
        if self.of.len() <= place {
            self.of.resize(place + 1, None);
        }
        let before = std::mem::replace(&mut self.of[place], at);
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&(before, place));
        }
        if let Some(at) = at {
            self.order.insert((at, place));
        }
    }

    fn first(&self) -> Option<Nanos> {
        self.order.first().map(|(at, _)| *at)
    }

    fn reached(&self, now: Nanos) -> Option<usize> {
        self.order.first().filter(|(at, _)| *at <= now).map(|(_, place)| *place)
    }
}

//! One request, from the moment it was meant to be sent to the record of what came back. Nothing is sent twice.

use std::task::Poll;

use mio::{Registry, Token};

use super::block::Block;
use super::clock::{Clock, millis};
use super::connection::Connection;
use super::exchange::{Deadlines, Exchange, Progress};
use super::keep_alive::WATCH;
use super::opening::{OpenError, Opening};
use super::transcript::{Ending, Nanos, Opened, Phase, Transcript};

/// What is sent.
#[derive(Clone, Debug)]
pub struct Call {
    /// Path and query.
    pub path: String,
    /// A JSON body: a POST. None: a GET.
    pub body: Option<Vec<u8>>,
    /// Whether the body asks for a stream.
    pub stream: bool,
}

/// What a place needs of its thread.
pub(super) struct Context<'a> {
    pub registry: &'a Registry,
    pub token: Token,
    pub block: &'a Block,
}

impl Context<'_> {
    pub fn clock(&self) -> Clock {
        self.block.clock
    }
}

/// The place of one request in flight: it keeps a connection open between requests.
#[derive(Default)]
pub(super) struct Place {
    state: State,
    /// When its time limits are to be looked at.
    pub look_at: Option<Nanos>,
}

#[derive(Default)]
enum State {
    #[default]
    Empty,
    /// An open connection, unused.
    Kept(Connection),
    Opening(Box<Opening>, UnderWay),
    Sent(Box<Exchange>, UnderWay),
    /// No request follows: learns from the open connection, once, whether the server keeps it.
    Watched(Connection),
}

struct UnderWay {
    index: usize,
    intended: Nanos,
    begun: Nanos,
    /// None where an open connection was used.
    opened: Option<Opened>,
}

/// What became of a place.
pub(super) enum Step {
    /// It waits for an event or a limit.
    Waits,
    /// It has more to do, after the others.
    Again,
    /// The request with this index is over.
    Ended(usize, Transcript),
    /// It has no request, and takes no more.
    Idle,
}

impl Place {
    /// Takes up a request, on the open connection or on a new one.
    pub fn begin(&mut self, context: &Context<'_>, index: usize, intended: Nanos) -> Step {
        let begun = context.clock().now();
        let under_way = UnderWay { index, intended, begun, opened: None };
        if let State::Kept(mut connection) = std::mem::take(&mut self.state)
            && connection.is_usable(begun, &context.block.endpoint.keep_alive)
        {
            return self.exchange(context, connection, under_way);
        }
        self.state = State::Opening(Box::new(Opening::begin(context)), under_way);
        self.look_at = Some(begun + millis(context.block.timeouts.connect_ms));
        self.event(context, false)
    }

    /// The socket has news; `closing`: the server's end is among it.
    pub fn event(&mut self, context: &Context<'_>, closing: bool) -> Step {
        match std::mem::take(&mut self.state) {
            State::Opening(mut opening, mut under_way) => match opening.poll(context) {
                Poll::Pending => {
                    self.state = State::Opening(opening, under_way);
                    Step::Waits
                }
                Poll::Ready(Ok((mut connection, opened))) => {
                    connection.closing = closing;
                    under_way.opened = Some(opened);
                    self.exchange(context, connection, under_way)
                }
                Poll::Ready(Err(OpenError::Tcp(error))) => {
                    self.unopened(context, under_way, Ending::NotConnected(error.to_string()))
                }
                Poll::Ready(Err(OpenError::Tls(error))) => {
                    self.unopened(context, under_way, Ending::NoTls(error.to_string()))
                }
            },
            State::Sent(mut exchange, under_way) => {
                if closing {
                    exchange.connection.closing = true;
                }
                self.go_on(context, exchange, under_way)
            }
            State::Watched(mut connection) => {
                if connection.is_silent() {
                    self.state = State::Watched(connection);
                    return Step::Waits;
                }
                context.block.endpoint.keep_alive.closed();
                self.empty()
            }
            // Whether it is still open is asked when it is used.
            kept @ (State::Kept(_) | State::Empty) => {
                self.state = kept;
                Step::Waits
            }
        }
    }

    /// The moment of `look_at` has come.
    pub fn look(&mut self, context: &Context<'_>, now: Nanos) -> Step {
        match std::mem::take(&mut self.state) {
            State::Opening(_, under_way) => {
                let limit_ms = context.block.timeouts.connect_ms;
                self.unopened(context, under_way, Ending::Timeout { phase: Phase::Connect, limit_ms })
            }
            State::Sent(mut exchange, under_way) => match exchange.look(now) {
                Some(ending) => self.ended(context, *exchange, under_way, ending),
                None => {
                    self.look_at = Some(exchange.next_look(now));
                    self.state = State::Sent(exchange, under_way);
                    Step::Waits
                }
            },
            State::Watched(_) => {
                context.block.endpoint.keep_alive.kept();
                self.empty()
            }
            State::Kept(_) | State::Empty => {
                self.look_at = None;
                Step::Waits
            }
        }
    }

    /// No request follows.
    pub fn rest(&mut self, context: &Context<'_>) -> Step {
        match std::mem::take(&mut self.state) {
            State::Kept(connection) if context.block.endpoint.keep_alive.is_unknown() => {
                self.look_at = Some(context.clock().now() + WATCH);
                self.state = State::Watched(connection);
                // What came before this is no event any more.
                self.event(context, false)
            }
            _ => self.empty(),
        }
    }

    fn exchange(&mut self, context: &Context<'_>, connection: Connection, under_way: UnderWay) -> Step {
        let block = context.block;
        let now = context.clock().now();
        let deadlines = Deadlines::of(block.timeouts, under_way.begun, now);
        let exchange = Exchange::new(connection, &block.endpoint, &block.calls[under_way.index], deadlines);
        self.look_at = Some(exchange.next_look(now));
        self.go_on(context, Box::new(exchange), under_way)
    }

    fn go_on(&mut self, context: &Context<'_>, mut exchange: Box<Exchange>, under_way: UnderWay) -> Step {
        let step = match exchange.poll() {
            Progress::Ended(ending) => return self.ended(context, *exchange, under_way, ending),
            Progress::Waits => Step::Waits,
            Progress::Again => Step::Again,
        };
        self.state = State::Sent(exchange, under_way);
        step
    }

    fn ended(
        &mut self,
        context: &Context<'_>,
        exchange: Exchange,
        under_way: UnderWay,
        ending: Ending,
    ) -> Step {
        let ended = context.clock().now();
        let leaves_open = ending == Ending::Whole && exchange.leaves_open();
        let reused = under_way.opened.is_none();
        let index = under_way.index;
        let Exchange { mut connection, raw, reads, sent, .. } = exchange;
        let record = Transcript { raw, reads, sent, ..under_way.record(context, ending, ended) };
        self.look_at = None;
        if leaves_open {
            connection.rests(ended, record.raw.len());
            self.state = State::Kept(connection);
        } else if reused && record.raw.is_empty() && matches!(record.ending, Ending::Broken(_)) {
            context.block.endpoint.keep_alive.closed();
        }
        Step::Ended(index, record)
    }

    fn unopened(&mut self, context: &Context<'_>, under_way: UnderWay, ending: Ending) -> Step {
        self.look_at = None;
        let index = under_way.index;
        Step::Ended(index, under_way.record(context, ending, context.clock().now()))
    }

    fn empty(&mut self) -> Step {
        *self = Place::default();
        Step::Idle
    }
}

impl UnderWay {
    fn record(self, context: &Context<'_>, ending: Ending, ended: Nanos) -> Transcript {
        Transcript {
            intended: self.intended,
            begun: self.begun,
            opened: self.opened,
            sent: None,
            stream: context.block.calls[self.index].stream,
            raw: Vec::new(),
            reads: Vec::new(),
            ending,
            ended,
        }
    }
}

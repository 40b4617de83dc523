//! One request, from the moment it was meant to be sent to the record of what came back. Nothing is sent twice.

use std::time::Duration;

use tokio::time::timeout;

use crate::model::profile::Timeouts;

use super::clock::Clock;
use super::connection::{Connection, OpenError};
use super::endpoint::Endpoint;
use super::exchange::{Deadlines, Exchange};
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

/// The place of one request in flight: it keeps a connection open between requests.
#[derive(Default)]
pub struct Slot(Option<Connection>);

impl Slot {
    /// Sends one request, on the open connection or on a new one, and records what comes back.
    pub async fn send(
        &mut self,
        endpoint: &Endpoint,
        call: &Call,
        timeouts: Timeouts,
        clock: Clock,
        intended: Nanos,
    ) -> Transcript {
        let begun = clock.now();
        let mut transcript = Transcript {
            intended,
            begun,
            opened: None,
            sent: None,
            stream: call.stream,
            raw: Vec::new(),
            reads: Vec::new(),
            ending: Ending::Whole,
            ended: begun,
        };
        let mut kept = self.0.take();
        let usable =
            kept.as_mut().is_some_and(|connection| connection.is_usable(begun, &endpoint.keep_alive));
        let mut connection = match kept.filter(|_| usable) {
            Some(connection) => connection,
            None => match connect(endpoint, timeouts, clock).await {
                Ok((connection, opened)) => {
                    transcript.opened = Some(opened);
                    connection
                }
                Err(ending) => {
                    (transcript.ending, transcript.ended) = (ending, clock.now());
                    return transcript;
                }
            },
        };
        let deadlines = Deadlines::of(timeouts, begun, clock.now());
        let mut exchange = Exchange::new(&mut connection, endpoint, call, deadlines);
        transcript.ending = exchange.run(call, clock).await;
        transcript.ended = clock.now();
        let leaves_open = transcript.ending == Ending::Whole && exchange.leaves_open();
        (transcript.raw, transcript.reads, transcript.sent) = (exchange.raw, exchange.reads, exchange.sent);
        if leaves_open {
            connection.rests(transcript.ended, transcript.raw.len());
            self.0 = Some(connection);
        } else if usable && transcript.raw.is_empty() && matches!(transcript.ending, Ending::Broken(_)) {
            endpoint.keep_alive.closed();
        }
        transcript
    }

    /// No request follows: learns from the open connection, once, whether the server keeps it.
    pub async fn rest(&mut self, endpoint: &Endpoint) {
        if let Some(connection) = &mut self.0 {
            connection.watch(&endpoint.keep_alive).await;
        }
    }
}

async fn connect(
    endpoint: &Endpoint,
    timeouts: Timeouts,
    clock: Clock,
) -> Result<(Connection, Opened), Ending> {
    let limit = Duration::from_millis(timeouts.connect_ms.into());
    match timeout(limit, Connection::open(endpoint, clock)).await {
        Ok(Ok(opened)) => Ok(opened),
        Ok(Err(OpenError::Tcp(error))) => Err(Ending::NotConnected(error.to_string())),
        Ok(Err(OpenError::Tls(error))) => Err(Ending::NoTls(error.to_string())),
        Err(_) => Err(Ending::Timeout { phase: Phase::Connect, limit_ms: timeouts.connect_ms }),
    }
}

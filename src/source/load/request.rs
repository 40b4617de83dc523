//! One request, from the moment it was meant to be sent to the record of what came back. Nothing is sent twice.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::http::{HeaderValue, Method, header};
use tokio::time::{sleep_until, timeout};

use crate::model::profile::Timeouts;

use super::clock::Clock;
use super::connection::{Connection, Deadlines, OpenError};
use super::endpoint::Endpoint;
use super::timeline::token_has_come;
use super::transcript::{Ending, Nanos, Opened, Phase, Transcript};

/// What is sent.
#[derive(Clone, Debug)]
pub struct Call {
    /// Path and query.
    pub path: String,
    /// A JSON body: a POST. None: a GET.
    pub body: Option<Bytes>,
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
        transcript.ending = exchange(&mut connection, endpoint, call, deadlines, timeouts, clock).await;
        transcript.ended = clock.now();
        let recording = std::mem::take(&mut *connection.recording.borrow_mut());
        transcript.raw = recording.raw;
        transcript.reads = recording.reads;
        transcript.sent = recording.sent;
        if recording.too_large {
            transcript.ending = Ending::TooLarge;
        }
        if transcript.ending == Ending::Whole {
            connection.last_used = transcript.ended;
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
        Ok(Err(OpenError::Http(error))) => Err(Ending::NotConnected(error.to_string())),
        Err(_) => Err(Ending::Timeout { phase: Phase::Connect, limit_ms: timeouts.connect_ms }),
    }
}

fn request(endpoint: &Endpoint, call: &Call) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(call.body.clone().unwrap_or_default()));
    *request.headers_mut() = endpoint.headers.clone();
    // A path that is no URI can't come about: it was made from a parsed one.
    *request.uri_mut() = call.path.parse().unwrap_or_default();
    if call.body.is_some() {
        *request.method_mut() = Method::POST;
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let accept = if call.stream { "text/event-stream" } else { "*/*" };
    request.headers_mut().entry(header::ACCEPT).or_insert(HeaderValue::from_static(accept));
    request
}

async fn exchange(
    connection: &mut Connection,
    endpoint: &Endpoint,
    call: &Call,
    deadlines: Deadlines,
    timeouts: Timeouts,
    clock: Clock,
) -> Ending {
    let Connection { sender, driver, closed, recording, .. } = connection;
    let reply = async {
        let mut body = sender.send_request(request(endpoint, call)).await?.into_body();
        while let Some(frame) = body.frame().await {
            frame?;
        }
        Ok::<(), hyper::Error>(())
    };
    let mut reply = pin!(reply);
    // Connection and reply are driven by one task, so that no byte waits for another task to wake up.
    let mut driven = pin!(poll_fn(|cx| {
        if !*closed && driver.as_mut().poll(cx).is_ready() {
            *closed = true;
        }
        reply.as_mut().poll(cx)
    }));
    let mut token = !call.stream;
    loop {
        let (last_read, now) = (recording.borrow().reads.last().map(|read| read.at), clock.now());
        let gap_ends = last_read.map(|at| at + deadlines.gap).filter(|at| *at > now || token);
        let first_token = (!token).then_some(deadlines.first_token);
        let next = [gap_ends, first_token].into_iter().flatten().fold(deadlines.total, u64::min);
        tokio::select! {
            biased;
            ended = &mut driven => return match ended {
                Ok(()) => Ending::Whole,
                Err(error) => Ending::Broken(words(&error)),
            },
            () = sleep_until(clock.moment(next)) => {}
        }
        let now = clock.now();
        let recording = recording.borrow();
        let idle = recording.reads.last().is_some_and(|read| read.at + deadlines.gap <= now);
        token = token || token_has_come(&recording.raw);
        let fired = if now >= deadlines.total {
            Some((Phase::Total, timeouts.total_ms))
        } else if token && idle {
            Some((Phase::Gap, timeouts.gap_ms))
        } else if !token && now >= deadlines.first_token {
            Some((Phase::FirstToken, timeouts.first_token_ms))
        } else {
            None
        };
        if let Some((phase, limit_ms)) = fired {
            return Ending::Timeout { phase, limit_ms };
        }
    }
}

/// An error with its causes; hyper keeps the interesting part underneath.
fn words(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

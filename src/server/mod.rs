//! The embedded engine in real time behind the OpenAI API, with faults on demand.
//!
//! It exists so that a client's measurements can be held against the truth: every write that carries tokens is kept
//! with its true time. One thread serves all connections, and one wakes them when something is due; regular answers
//! and faults take the same way over the socket, byte for byte.
//!
//! Beside the OpenAI paths it answers `/health`, `/tokenize` and `/metrics` as vLLM does, and `/records`: the true times.

mod ask;
mod clock;
mod connection;
mod deliver;
mod engine;
mod fault;
mod frames;
mod metrics;
mod plan;
mod record;
mod reply;
mod route;
mod script;
mod settings;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;

use engine::Engine;
pub use fault::{Fault, FaultRule, Strikes, UnknownRule};
pub use record::{Ending, Record, Sent};
pub use script::GARBAGE;
pub use settings::{Latency, ServerError, Settings, UnknownLatency, Usage};

/// Connections that may wait to be accepted: a burst of streams must not wait for a repeated SYN.
const BACKLOG: u32 = 4096;
/// How soon [`run_blocking`] sees that it is to stop.
const STOP_POLL: Duration = Duration::from_millis(50);
/// Before accepting again when the process has no more file descriptors, in microseconds.
const ACCEPT_AGAIN_US: u64 = 10_000;

/// A server that is running. It stops when dropped.
pub struct Running {
    addr: SocketAddr,
    epoch: Instant,
    engine: Arc<Engine>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a server in threads of its own.
///
/// # Errors
/// The settings can't be served, or the address can't be had.
pub fn start(settings: Settings) -> Result<Running, ServerError> {
    settings.check()?;
    let epoch = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.map_err(ServerError::Threads)?;
    let address = settings.listen;
    let engine = Arc::new(Engine::new(settings, epoch)?);
    let listening = {
        let _inside = runtime.enter();
        listen(address).and_then(|listener| Ok((listener.local_addr()?, listener)))
    };
    let (addr, listener) = listening.map_err(|error| ServerError::Listen { address, error })?;
    let (stop, stopped) = oneshot::channel();
    let theirs = Arc::clone(&engine);
    let serve = move || {
        runtime.block_on(async {
            tokio::select! {
                _ = stopped => {}
                () = accept(&listener, &theirs) => {}
            }
        });
    };
    let thread = std::thread::Builder::new().name("mock-server".into()).spawn(serve);
    let thread = Some(thread.map_err(ServerError::Threads)?);
    Ok(Running { addr, epoch, engine, stop: Some(stop), thread })
}

/// Runs a server until `stop` is set. `announce` gets the address that clients reach.
///
/// # Errors
/// As [`start`].
pub fn run_blocking(
    settings: Settings,
    stop: &AtomicBool,
    announce: impl FnOnce(SocketAddr),
) -> Result<(), ServerError> {
    let mut running = start(settings)?;
    announce(running.addr());
    while !stop.load(Ordering::Relaxed) {
        std::thread::park_timeout(STOP_POLL);
    }
    running.stop();
    Ok(())
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The moment from which all times of the records count.
    #[must_use]
    pub fn epoch(&self) -> Instant {
        self.epoch
    }

    /// The true times of the latest completion requests that have ended, in the order of their end. A request is there
    /// before its last byte can be read.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.engine.log.all()
    }

    /// Closes every connection and waits for the threads. The records stay.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Fails only when the thread is gone already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn accept(listener: &TcpListener, engine: &Arc<Engine>) {
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                // Without it the kernel would hold small writes back; a socket that refuses is closed already.
                if socket.set_nodelay(true).is_ok() {
                    tokio::spawn(route::serve(Arc::clone(engine), socket));
                }
            }
            Err(_) => engine.clock.until(engine.clock.now_us() + ACCEPT_AGAIN_US).await,
        }
    }
}

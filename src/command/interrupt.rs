//! Ctrl-C and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

/// Ctrl-C and SIGTERM: the first asks the run to stop and keep what it has, the second ends the process.
pub struct Interrupt {
    /// Turns true when the run is to stop.
    pub cancel: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupt {
    /// Begins to listen.
    pub fn listen() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt { cancel: Arc::default(), terminated: Arc::default() };
        let cancel = || Arc::clone(&interrupt.cancel);
        let listen = || -> std::io::Result<()> {
            flag::register_conditional_default(SIGINT, cancel())?;
            flag::register_conditional_default(SIGTERM, cancel())?;
            flag::register(SIGTERM, Arc::clone(&interrupt.terminated))?;
            flag::register(SIGTERM, cancel())?;
            flag::register(SIGINT, cancel())?;
            Ok(())
        };
        listen().context("failed to listen for Ctrl-C")?;
        Ok(interrupt)
    }

    /// The exit that goes with what came; none where nothing came.
    pub fn exit(&self) -> Option<Exit> {
        match (self.cancel.load(Ordering::Relaxed), self.terminated.load(Ordering::Relaxed)) {
            (false, _) => None,
            (true, false) => Some(Exit::Interrupted),
            (true, true) => Some(Exit::Terminated),
        }
    }
}

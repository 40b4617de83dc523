//! `pacegate mock`: the embedded engine behind the OpenAI API.

use std::io::Write;

use anyhow::Context;

use crate::cli::MockArgs;
use crate::exit::Exit;
use crate::server::{Settings, run_blocking};

use super::Done;
use super::interrupt::Interrupt;

pub fn mock(args: &MockArgs) -> Done {
    let key = |name: &String| std::env::var(name).with_context(|| format!("{name} holds no key"));
    let settings = Settings {
        listen: args.listen,
        models: args.model.clone(),
        latency: args.latency,
        faults: args.fault.clone(),
        max_in_flight: args.max_in_flight,
        api_key: args.api_key_env.as_ref().map(key).transpose()?,
        seed: args.seed,
        ..Settings::default()
    };
    let interrupt = Interrupt::listen()?;
    let announce = |address: std::net::SocketAddr| {
        let models = args.model.join(", ");
        let _ = writeln!(
            std::io::stderr(),
            "pacegate: serving {models} at http://{address}/v1 until Ctrl-C; SIMULATED: no model answers here"
        );
    };
    run_blocking(settings, &interrupt.cancel, announce)?;
    Ok(Exit::Pass)
}

//! From the command line to what the load generator needs beside the profile.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::cli::EndpointArgs;
use crate::source::load::Options;
use crate::source::load::key::{Secret, Trusted};

use super::workspace::Workspace;

/// The options of one run. The key comes from the environment alone.
pub fn options(
    args: &EndpointArgs,
    against: Option<String>,
    workspace: &Workspace,
) -> anyhow::Result<Options> {
    let variable = |name: &str| std::env::var(name).ok();
    let key = variable(&args.api_key_env).map(|text| Secret::new(&args.api_key_env, &text)).transpose()?;
    Ok(Options {
        base_url: args.base_url.clone(),
        against,
        key: key.flatten(),
        trusted: Trusted::hosts(args.key_host.iter().map(String::as_str)),
        ca_file: args.ca_file.clone(),
        folder: workspace.root(),
        variable,
        // Only has to differ from every other run's, so that no prompt is in a server's cache already.
        run: RandomState::new().build_hasher().finish(),
    })
}

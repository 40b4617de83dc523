//! `pacegate doctor`: one request to each endpoint, cause and remedy.

use anyhow::Context;

use crate::cli::DoctorArgs;
use crate::emit::text;
use crate::exit::Exit;
use crate::source::load::doctor::examine;

use super::workspace::Workspace;
use super::{Done, endpoint, outputs};

pub fn doctor(args: &DoctorArgs) -> Done {
    let workspace = Workspace::at(args.chosen.config.as_deref(), args.chosen.profile.as_deref())?;
    let choice = workspace.choice(args.chosen.profile.as_deref())?;
    let options = endpoint::options(&args.endpoint, None, &workspace)?;
    let found = examine(&choice.profile, &options, &args.endpoint.api_key_env)
        .with_context(|| format!("profile {}", choice.profile.name))?;
    anyhow::ensure!(
        !found.is_empty(),
        "profile {} names nothing to send a request to; add a [profile.{0}.strategies.baseline]",
        choice.profile.name
    );
    for diagnosis in &found {
        let lines: String =
            diagnosis.to_string().lines().map(|line| format!("{}\n", text::terminal(line))).collect();
        outputs::print(&lines)?;
    }
    let healthy = found.iter().all(|diagnosis| diagnosis.is_healthy());
    Ok(if healthy { Exit::Pass } else { Exit::RunFailed })
}

//! `pacegate plan`: how much measuring shows which change.

use crate::cli::PlanArgs;
use crate::emit;
use crate::exit::Exit;
use crate::gate::{self, PlanError, PlanFor};

use super::blessed::Blessed;
use super::fail::ExitWith;
use super::{Done, outputs};

pub fn plan(args: &PlanArgs) -> Done {
    outputs::check(args.json.as_deref())?;
    let blessed = Blessed::open(&args.place)?;
    blessed.spare(args.json.as_deref())?;
    let ask = PlanFor {
        baseline: &blessed.baseline,
        reference: &blessed.reference,
        policy: &blessed.policy,
        see: args.see.map(|see| see.0),
    };
    let plan = gate::plan(&ask).map_err(|error| match error {
        PlanError::Rules(_) | PlanError::All(_) => anyhow::Error::new(error),
        _ => ExitWith::error(Exit::NoVerdict, error),
    })?;
    let json = || Ok(serde_json::to_string_pretty(&plan)? + "\n");
    outputs::page(&emit::plan(&plan), args.json.as_deref(), json)?;
    Ok(Exit::Pass)
}

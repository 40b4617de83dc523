//! `pacegate explain`: a report in words.

use crate::cli::ExplainArgs;
use crate::emit;
use crate::exit::Exit;
use crate::source::ingest;

use super::{Done, outputs};

pub fn explain(args: &ExplainArgs) -> Done {
    let options = super::check::reading(&args.ingest, args.config.as_deref())?;
    let report = ingest::read(&[ingest::Input::parse(&args.report)], &options)?;
    outputs::print(&crate::explain::explain(&report, args.field.as_deref(), emit::text::terminal)?)?;
    Ok(Exit::Pass)
}

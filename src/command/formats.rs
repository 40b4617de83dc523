//! `pacegate formats`: which tools' reports can be read.

use crate::exit::Exit;
use crate::source::ingest;

use super::{Done, outputs};

pub fn formats() -> Done {
    outputs::print(&ingest::documentation())?;
    Ok(Exit::Pass)
}

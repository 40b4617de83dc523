//! `pacegate schema`: the JSON Schema of what we write.

use crate::cli::SchemaArgs;
use crate::emit;
use crate::exit::Exit;

use super::{Done, outputs};

pub fn schema(args: &SchemaArgs) -> Done {
    outputs::print(&emit::schema(args.kind))?;
    Ok(Exit::Pass)
}

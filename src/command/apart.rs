//! No output takes the place of another one, or of what is read: that would be lost data.

use std::path::Path;

use anyhow::bail;

use crate::files;

/// A file with the words that say what it is: a flag's name, or `the report `.
pub type Named<'a> = (&'static str, &'a Path);

/// Refuses outputs, named by their flags, of which two are one file.
pub fn from_each_other(outputs: &[Named<'_>]) -> anyhow::Result<()> {
    for (at, (flag, path)) in outputs.iter().enumerate() {
        let mixed = |other: &Path| files::is_stdout(path) && files::is_stdout(other);
        let meet = |(_, other): &&Named<'_>| files::same(path, other) || mixed(other);
        if let Some((first, _)) = outputs[..at].iter().find(meet) {
            bail!("{first} and {flag} would both be written to {}; name two files", path.display());
        }
    }
    Ok(())
}

/// Refuses outputs, named by their flags, that are files which are read.
pub fn from_inputs(outputs: &[Named<'_>], inputs: &[Named<'_>]) -> anyhow::Result<()> {
    for (flag, path) in outputs {
        if let Some((what, input)) = inputs.iter().find(|(_, input)| files::same(path, input)) {
            bail!("{flag} would overwrite {what}{}; name another file", input.display());
        }
    }
    Ok(())
}

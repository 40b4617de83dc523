//! Output files: whole or not at all.
//!
//! A regular file is written as a temporary file beside it, synced and renamed over it, so that a kill at any moment
//! leaves the old or the new one. What is no regular file (`/dev/stdout`, a pipe) is written directly.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of every temporary file begins so; a killed run may leave one behind.
pub const TEMPORARY_PREFIX: &str = ".pacegate-";

/// The most links that are followed before they count as a circle, as on Linux.
const MOST_LINKS: usize = 40;

/// A file could not be written. What stood there before is still there, unless the sentence says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path is a folder.
    #[error("{0} is a folder; name a file in it")]
    Folder(PathBuf),
    /// Links lead in a circle.
    #[error("{0} is a link that leads in a circle")]
    Circle(PathBuf),
    /// The folder can't be made, or no file can be made in it.
    #[error("no file can be made in {folder}: {source}; nothing was changed")]
    Parent {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Writing the new content failed: no space, a quota, a broken disk.
    #[error("{path} could not be written: {source}; what stood there is unchanged")]
    Write {
        /// The target.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A pipe or device took only a part, or nothing.
    #[error("{path} did not take the whole output: {source}")]
    Direct {
        /// The target.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The target can't be replaced, and writing into it broke off.
    #[error(
        "{path} is mounted by itself and can't be replaced, and writing into it broke off: {source}; it may be cut. The whole new content is in {copy}: copy it over"
    )]
    InPlace {
        /// The target.
        path: PathBuf,
        /// A whole copy of the new content.
        copy: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The new content is in place, but may not outlive a power cut.
    #[error("{path} is written, but its folder could not be synced to disk: {source}")]
    Sync {
        /// The target.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Where a path leads.
enum Target {
    Stdout,
    Stderr,
    /// A regular file, or none yet.
    File(PathBuf),
    /// A pipe, a device, or an inherited descriptor.
    Direct(PathBuf),
}

/// Writes a file whole, follows links to their target, makes parent folders, keeps permission bits.
///
/// # Errors
/// See [`WriteError`]; in all but `InPlace` and `Direct` the old content is untouched.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let direct = |result: io::Result<()>| {
        result.map_err(|source| WriteError::Direct { path: path.to_path_buf(), source })
    };
    match resolve(path)? {
        Target::Stdout => direct(all(&mut io::stdout().lock(), bytes)),
        Target::Stderr => direct(all(&mut io::stderr().lock(), bytes)),
        Target::Direct(path) => {
            direct(OpenOptions::new().append(true).open(path).and_then(|mut file| all(&mut file, bytes)))
        }
        Target::File(path) => replace(&path, bytes, |from, to| fs::rename(from, to)),
    }
}

/// Tries whether a path could be written, before hours of measuring. Leaves nothing behind but parent folders.
///
/// # Errors
/// See [`WriteError`].
pub fn check(path: &Path) -> Result<(), WriteError> {
    match resolve(path)? {
        Target::Stdout | Target::Stderr | Target::Direct(_) => Ok(()),
        Target::File(path) => temporary(&path, None).map(drop),
    }
}

/// Whether a path is a regular file, or none yet, so that writing replaces it as a whole.
#[must_use]
pub fn is_replaced(path: &Path) -> bool {
    matches!(resolve(path), Ok(Target::File(_)))
}

/// Whether a path is standard output, by whatever name.
#[must_use]
pub fn is_stdout(path: &Path) -> bool {
    matches!(resolve(path), Ok(Target::Stdout))
}

/// Whether writing to one of two paths would replace what lies at the other. Pipes and devices hold nothing to lose.
#[must_use]
pub fn same(one: &Path, other: &Path) -> bool {
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

/// The one name of the file that a path leads to, which need not be there yet.
fn place(path: &Path) -> Option<PathBuf> {
    let Ok(Target::File(file)) = resolve(path) else { return None };
    let new = || Some(fs::canonicalize(folder_of(&file)).ok()?.join(file.file_name()?));
    fs::canonicalize(&file).ok().or_else(new)
}

fn all(sink: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    sink.write_all(bytes)?;
    sink.flush()
}

/// `-` is standard output. Follows links one by one, because `/dev/stdout` leads to whatever file the shell opened and must not be replaced.
fn resolve(path: &Path) -> Result<Target, WriteError> {
    if path == Path::new("-") {
        return Ok(Target::Stdout);
    }
    let mut here = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Some(descriptor) = descriptor(&here) {
            return Ok(match descriptor {
                1 => Target::Stdout,
                2 => Target::Stderr,
                _ => Target::Direct(here),
            });
        }
        match fs::read_link(&here) {
            Ok(link) => here = here.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => {
                return match fs::metadata(&here) {
                    Ok(meta) if meta.is_dir() => Err(WriteError::Folder(path.to_path_buf())),
                    Ok(meta) if !meta.is_file() => Ok(Target::Direct(here)),
                    _ => Ok(Target::File(here)),
                };
            }
        }
    }
    Err(WriteError::Circle(path.to_path_buf()))
}

/// The number of an inherited descriptor that a path stands for.
fn descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        text => {
            let number = text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"))?;
            number.parse().ok()
        }
    }
}

/// An empty temporary file beside the target, with the permission bits that the target has or would get.
fn temporary(path: &Path, old: Option<&Metadata>) -> Result<tempfile::NamedTempFile, WriteError> {
    let folder = folder_of(path);
    let failed = |source| WriteError::Parent { folder: folder.to_path_buf(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).suffix(".tmp");
    #[cfg(unix)]
    if old.is_none() {
        use std::os::unix::fs::PermissionsExt;
        // The process's own mask takes its share, as it does from any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder).map_err(failed)?;
    if let Some(old) = old {
        keep_owner(temporary.as_file(), old);
        temporary.as_file().set_permissions(old.permissions()).map_err(failed)?;
    }
    Ok(temporary)
}

/// A container that runs as root should not take a mounted file away from its owner. Others can't, and need not.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::MetadataExt;
    let same = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()));
    if !same {
        let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(
    path: &Path,
    bytes: &[u8],
    rename: impl Fn(&Path, &Path) -> io::Result<()>,
) -> Result<(), WriteError> {
    let old = fs::metadata(path).ok();
    let mut temporary = temporary(path, old.as_ref())?;
    let failed = |source| WriteError::Write { path: path.to_path_buf(), source };
    temporary.write_all(bytes).and_then(|()| temporary.as_file().sync_all()).map_err(failed)?;
    match rename(temporary.path(), path) {
        Ok(()) => {
            let _ = temporary.into_temp_path().keep();
            sync_folder(path)
        }
        Err(error) if cannot_be_replaced(&error) && old.is_some() => in_place(path, bytes, temporary),
        Err(source) => Err(failed(source)),
    }
}

/// A single file mounted into a container is a mount point: nothing can be renamed over it.
fn cannot_be_replaced(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}

/// Writes into the file itself while the temporary file holds the whole content beside it.
///
/// A kill in between leaves a cut file and the whole copy; there is no way to do better on a mount point.
fn in_place(path: &Path, bytes: &[u8], copy: tempfile::NamedTempFile) -> Result<(), WriteError> {
    let into = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    into().map_err(|source| {
        let kept = copy.path().to_path_buf();
        let _ = copy.into_temp_path().keep();
        WriteError::InPlace { path: path.to_path_buf(), copy: kept, source }
    })
}

/// A rename is on disk when its folder is. Some file systems can't sync a folder, some folders can't be opened.
fn sync_folder(path: &Path) -> Result<(), WriteError> {
    match File::open(folder_of(path)).and_then(|folder| folder.sync_all()) {
        Err(source) if matches!(source.raw_os_error(), Some(EIO | ENOSPC | EDQUOT)) => {
            Err(WriteError::Sync { path: path.to_path_buf(), source })
        }
        _ => Ok(()),
    }
}

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

//! What git knows: a file at another ref, the commit, the files that differ. Arguments are vectors; there is no shell.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::model::report::Code;

/// git could not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No `git` on this machine.
    #[error("git could not be started ({0}); install it, or leave out --base-ref")]
    Missing(std::io::Error),
    /// Not in a repository.
    #[error(
        "{0} is not in a git repository; check the code out with git (actions/checkout), or leave out --base-ref"
    )]
    NotARepository(PathBuf),
    /// The repository belongs to somebody else, as it does in many containers.
    #[error(
        "git does not trust {folder}, because it belongs to another user; run: git config --global --add safe.directory {folder}"
    )]
    NotTrusted {
        /// The repository.
        folder: PathBuf,
    },
    /// A ref that git can't have, or that would be read as an option.
    #[error("{0:?} is no git ref; expected a branch, a tag or a commit such as origin/main or HEAD^")]
    BadRef(String),
    /// This clone does not have the ref.
    #[error("git does not know {git_ref}: {hint}")]
    UnknownRef {
        /// The ref.
        git_ref: String,
        /// The line that mends it.
        hint: String,
    },
    /// Something else.
    #[error("git {what} failed: {message}")]
    Failed {
        /// The subcommand.
        what: String,
        /// What it said.
        message: String,
    },
}

/// The content of a file at a ref; `None` where the ref does not have it.
///
/// The path is that of the file in this checkout; it need not exist there.
///
/// # Errors
/// See [`GitError`].
pub fn read_at(git_ref: &str, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    let (root, relative) = locate(path)?;
    let object = format!("{}:{relative}", resolve(&root, git_ref)?);
    if !git(&root, &["rev-parse", "--verify", "--quiet", &object])?.status.success() {
        return Ok(None);
    }
    Ok(Some(done("show", git(&root, &["show", &object])?)?.stdout))
}

/// The JSON files that the ref has in the folder of `path`, as paths of this checkout.
///
/// # Errors
/// See [`GitError`].
pub fn beside(git_ref: &str, path: &Path) -> Result<Vec<PathBuf>, GitError> {
    let (root, relative) = locate(path)?;
    let folder = relative.rsplit_once('/').map_or("", |(folder, _)| folder);
    let tree = format!("{}:{folder}", resolve(&root, git_ref)?);
    let listed = git(&root, &["ls-tree", "--name-only", "-z", &tree])?;
    if !listed.status.success() {
        return Ok(Vec::new());
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let here = path.parent().unwrap_or(Path::new(""));
    Ok(names.split('\0').filter(|name| name.ends_with(".json")).map(|name| here.join(name)).collect())
}

/// The commit of the folder's repository and the tracked files that differ from it, `except` apart.
///
/// Files that git does not track are left out: they are mostly outputs.
///
/// # Errors
/// See [`GitError`]. A repository without a commit has none, and is no error.
pub fn code(except: &Path) -> Result<Code, GitError> {
    let (root, except) = locate(except)?;
    let head = git(&root, &["rev-parse", "--verify", "--quiet", "HEAD"])?;
    let commit = head.status.success().then(|| line(&head.stdout));
    let status = git(&root, &["status", "--porcelain=v1", "-z", "--untracked-files=no"])?;
    let status = done("status", status)?.stdout;
    let dirty = changed(&String::from_utf8_lossy(&status));
    Ok(Code { commit, dirty: dirty.into_iter().filter(|file| *file != except).collect() })
}

/// The branch that is checked out; none on a detached head, as in most CI jobs.
///
/// # Errors
/// See [`GitError`].
pub fn branch(folder: &Path) -> Result<Option<String>, GitError> {
    let (root, _) = locate(&folder.join("any"))?;
    let head = git(&root, &["symbolic-ref", "--short", "--quiet", "HEAD"])?;
    Ok(head.status.success().then(|| line(&head.stdout)))
}

/// The root of the repository that a file lies in, and the file's path from there with `/` between its parts.
fn locate(path: &Path) -> Result<(PathBuf, String), GitError> {
    let here = |error| GitError::Failed { what: "rev-parse".to_owned(), message: format!("{error}") };
    let absolute = std::path::absolute(path).map_err(here)?;
    let mut rest: Vec<&std::ffi::OsStr> = Vec::new();
    let mut folder = absolute.as_path();
    // The file and its folder may exist at the ref alone.
    while let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
        rest.push(name);
        folder = parent;
        if folder.is_dir() {
            break;
        }
    }
    let output = git(folder, &["rev-parse", "--show-prefix", "--show-toplevel"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("dubious ownership") {
        return Err(GitError::NotTrusted { folder: folder.to_path_buf() });
    }
    if said.contains("not a git repository") {
        return Err(GitError::NotARepository(folder.to_path_buf()));
    }
    let text = String::from_utf8_lossy(&done("rev-parse", output)?.stdout).into_owned();
    let mut lines = text.lines();
    let (prefix, root) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let names = rest.iter().rev().map(|name| name.to_string_lossy().into_owned());
    let relative = format!("{prefix}{}", names.collect::<Vec<_>>().join("/"));
    Ok((PathBuf::from(root), relative))
}

/// The commit that a ref stands for.
fn resolve(root: &Path, git_ref: &str) -> Result<String, GitError> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == ':';
    if git_ref.is_empty() || git_ref.starts_with('-') || git_ref.contains(odd) {
        return Err(GitError::BadRef(git_ref.to_owned()));
    }
    let found = git(root, &["rev-parse", "--verify", "--quiet", &format!("{git_ref}^{{commit}}")])?;
    if found.status.success() {
        return Ok(line(&found.stdout));
    }
    let shallow = git(root, &["rev-parse", "--is-shallow-repository"])?;
    let hint = mend(git_ref, line(&shallow.stdout) == "true");
    Err(GitError::UnknownRef { git_ref: git_ref.to_owned(), hint })
}

/// The line that brings a ref into this clone.
fn mend(git_ref: &str, shallow: bool) -> String {
    let of_head = git_ref.starts_with("HEAD") || git_ref.starts_with('@');
    let remote = git_ref.strip_prefix("origin/").unwrap_or(git_ref);
    let fetch = format!("git fetch --depth=1 origin {remote}:refs/remotes/origin/{remote}");
    match (shallow, of_head) {
        (true, true) => "this clone is shallow; with actions/checkout write fetch-depth: 2, elsewhere run git fetch --deepen=1".to_owned(),
        (true, false) => format!("this clone is shallow; run {fetch}, or with actions/checkout write fetch-depth: 0 (fetch-depth: 2 is enough for HEAD^)"),
        (false, true) => "there is no such commit in this clone".to_owned(),
        (false, false) => format!("this clone does not have it; run {fetch}"),
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<Output, GitError> {
    Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(GitError::Missing)
}

fn done(what: &str, output: Output) -> Result<Output, GitError> {
    if output.status.success() {
        return Ok(output);
    }
    let message = line(&output.stderr);
    Err(GitError::Failed { what: what.to_owned(), message })
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().trim().to_owned()
}

/// The new names in `git status --porcelain=v1 -z`. A rename has its old name behind it.
fn changed(status: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut entries = status.split('\0');
    while let Some(entry) = entries.next() {
        let (Some(code), Some(file)) = (entry.get(..2), entry.get(3..)) else { continue };
        files.push(file.to_owned());
        if code.contains(['R', 'C']) {
            entries.next();
        }
    }
    files
}

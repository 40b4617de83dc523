//! git, on real repositories.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pacegate::baseline::git::{GitError, branch, code, read_at};
use tempfile::TempDir;

/// Runs git with nothing of the user's own configuration.
fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    for (key, value) in [("user.name", "T"), ("user.email", "t@example.org"), ("commit.gpgsign", "false")] {
        command.arg("-c").arg(format!("{key}={value}"));
    }
    let output = command
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Two commits: the baseline is `one`, then `two`.
fn repository() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a repo");
    fs::create_dir_all(root.join("baselines")).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    for content in ["one", "two"] {
        fs::write(root.join("baselines/chat.json"), content).unwrap();
        fs::write(root.join("code.rs"), content).unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", content]);
    }
    (folder, root)
}

fn text(git_ref: &str, path: &Path) -> Option<String> {
    read_at(git_ref, path).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn a_file_is_read_as_the_ref_has_it() {
    let (_folder, root) = repository();
    let path = root.join("baselines/chat.json");
    fs::write(&path, "three, not committed").unwrap();
    assert_eq!(text("HEAD", &path).as_deref(), Some("two"));
    assert_eq!(text("HEAD^", &path).as_deref(), Some("one"));
    assert_eq!(text("main", &path).as_deref(), Some("two"));
    // Gone from this checkout with its folder, there at the ref.
    fs::remove_dir_all(root.join("baselines")).unwrap();
    assert_eq!(text("HEAD", &path).as_deref(), Some("two"));
    assert_eq!(text("HEAD", &root.join("baselines/other.json")), None);
    assert_eq!(text("HEAD", &root.join("no/such/folder/x.json")), None);
}

#[test]
fn a_tag_that_names_a_commit_is_a_ref_and_a_tree_is_none() {
    let (_folder, root) = repository();
    git(&root, &["tag", "-a", "-m", "t", "v1", "HEAD^"]);
    let path = root.join("baselines/chat.json");
    assert_eq!(text("v1", &path).as_deref(), Some("one"));
    assert!(matches!(read_at("HEAD^{tree}", &path), Err(GitError::UnknownRef { .. })));
}

#[test]
fn a_ref_that_would_be_an_option_or_a_path_is_refused_before_git_sees_it() {
    let (_folder, root) = repository();
    let path = root.join("baselines/chat.json");
    for bad in ["", "--output=x", "-n1", "HEAD:code.rs", "a b", "a\nb", "a\0b"] {
        assert!(matches!(read_at(bad, &path), Err(GitError::BadRef(_))), "{bad:?}");
    }
    assert_eq!(
        read_at("-x", &path).unwrap_err().to_string(),
        "\"-x\" is no git ref; expected a branch, a tag or a commit such as origin/main or HEAD^"
    );
    assert!(!root.join("x").exists());
}

#[test]
fn an_unknown_ref_comes_with_the_line_that_mends_it() {
    let (_folder, root) = repository();
    let path = root.join("baselines/chat.json");
    assert_eq!(
        read_at("origin/main", &path).unwrap_err().to_string(),
        "git does not know origin/main: this clone does not have it; run git fetch --depth=1 origin main:refs/remotes/origin/main"
    );
    assert_eq!(
        read_at("HEAD~7", &path).unwrap_err().to_string(),
        "git does not know HEAD~7: there is no such commit in this clone"
    );
}

#[test]
fn a_shallow_clone_says_what_the_checkout_needs() {
    let (folder, root) = repository();
    let clone = folder.path().join("clone");
    let url = format!("file://{}", root.display());
    git(folder.path(), &["clone", "-q", "--depth=1", &url, clone.to_str().unwrap()]);
    let path = clone.join("baselines/chat.json");
    assert_eq!(text("HEAD", &path).as_deref(), Some("two"));
    let refused = read_at("HEAD^", &path).unwrap_err();
    assert!(
        matches!(&refused, GitError::UnknownRef { hint, .. } if hint.contains("fetch-depth: 2")),
        "{refused}"
    );
    let refused = read_at("origin/release", &path).unwrap_err();
    assert!(refused.to_string().contains("fetch-depth: 0"), "{refused}");
    // The line is true.
    git(&clone, &["fetch", "-q", "--deepen=1"]);
    assert_eq!(text("HEAD^", &path).as_deref(), Some("one"));
}

#[test]
fn outside_of_a_repository_there_is_nothing_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.json");
    assert!(matches!(read_at("HEAD", &path), Err(GitError::NotARepository(_))));
    assert!(matches!(code(&path), Err(GitError::NotARepository(_))));
}

#[test]
fn the_commit_and_the_tracked_files_that_differ_are_told_the_baseline_apart() {
    let (_folder, root) = repository();
    let path = root.join("baselines/chat.json");
    let clean = code(&path).unwrap();
    assert_eq!(clean.commit.as_ref().map(String::len), Some(40));
    assert!(clean.dirty.is_empty(), "{:?}", clean.dirty);
    fs::write(&path, "changed").unwrap();
    fs::write(root.join("report.json"), "not tracked").unwrap();
    assert!(code(&path).unwrap().dirty.is_empty());
    fs::write(root.join("code.rs"), "changed").unwrap();
    assert_eq!(code(&path).unwrap().dirty, ["code.rs"]);
    git(&root, &["mv", "code.rs", "new name.rs"]);
    assert_eq!(code(&path).unwrap().dirty, ["new name.rs"]);
    assert_eq!(code(&root.join("elsewhere.json")).unwrap().dirty, ["baselines/chat.json", "new name.rs"]);
}

#[test]
fn the_branch_is_told_unless_the_head_is_detached() {
    let (_folder, root) = repository();
    assert_eq!(branch(&root).unwrap().as_deref(), Some("main"));
    git(&root, &["checkout", "-q", "--detach"]);
    assert_eq!(branch(&root).unwrap(), None);
}

#[test]
fn a_repository_without_a_commit_has_none() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    let path = folder.path().join("b.json");
    assert_eq!(code(&path).unwrap().commit, None);
    assert!(matches!(read_at("HEAD", &path), Err(GitError::UnknownRef { .. })));
}

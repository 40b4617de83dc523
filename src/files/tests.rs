//! Files on a real file system.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_with_its_permission_bits_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    write(&path, b"old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(&path).unwrap().ino();
    write(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let meta = fs::metadata(&path).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o640);
    assert_ne!(meta.ino(), before, "written in place");
    assert_eq!(names(folder.path()), ["baseline.json"]);
}

#[test]
fn a_new_file_gets_the_bits_that_any_new_file_gets() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, usual) = (folder.path().join("a/b/ours"), folder.path().join("usual"));
    write(&ours, b"x").unwrap();
    fs::write(&usual, b"x").unwrap();
    assert_eq!(fs::metadata(ours).unwrap().mode(), fs::metadata(usual).unwrap().mode());
}

#[test]
fn links_stay_and_their_target_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("real")).unwrap();
    fs::write(at("real/file"), "old").unwrap();
    symlink("real/file", at("one")).unwrap();
    symlink("one", at("two")).unwrap();
    symlink("real/later", at("dangling")).unwrap();
    write(&at("two"), b"new").unwrap();
    write(&at("dangling"), b"made").unwrap();
    assert_eq!(fs::read(at("real/file")).unwrap(), b"new");
    assert_eq!(fs::read(at("real/later")).unwrap(), b"made");
    for link in ["one", "two", "dangling"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
    }
    symlink("circle", at("circle")).unwrap();
    assert!(matches!(write(&at("circle"), b"x"), Err(WriteError::Circle(_))));
}

#[test]
fn a_folder_is_named_as_one() {
    let folder = tempfile::tempdir().unwrap();
    for done in [write(folder.path(), b"x"), check(folder.path())] {
        assert!(matches!(done, Err(WriteError::Folder(path)) if path == folder.path()));
    }
}

#[test]
fn an_impossible_folder_fails_before_anything_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "old").unwrap();
    let below = folder.path().join("file/report.json");
    assert!(matches!(write(&below, b"x"), Err(WriteError::Parent { .. })));
    assert!(matches!(check(&below), Err(WriteError::Parent { .. })));
    assert!(matches!(check(Path::new("/proc/report.json")), Err(WriteError::Parent { .. })));
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"old");
}

#[test]
fn trying_a_path_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    check(&folder.path().join("reports/a.json")).unwrap();
    assert_eq!(names(&folder.path().join("reports")), Vec::<String>::new());
    fs::write(folder.path().join("b.json"), "old").unwrap();
    check(&folder.path().join("b.json")).unwrap();
    assert_eq!(fs::read(folder.path().join("b.json")).unwrap(), b"old");
}

#[test]
fn a_full_device_is_an_error() {
    let full = write(Path::new("/dev/full"), b"x");
    assert!(
        matches!(&full, Err(WriteError::Direct { source, .. }) if source.kind() == io::ErrorKind::StorageFull),
        "{full:?}"
    );
    write(Path::new("/dev/null"), b"x").unwrap();
    assert!(fs::metadata("/dev/null").is_ok_and(|meta| !meta.is_file()));
}

#[test]
fn a_named_pipe_is_written_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write(&pipe, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

fn busy(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::ResourceBusy))
}

#[test]
fn a_mounted_file_is_written_in_place_and_the_copy_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mounted");
    fs::write(&path, "a long old content").unwrap();
    let before = fs::metadata(&path).unwrap().ino();
    replace(&path, b"new", busy).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
    assert_eq!(names(folder.path()), ["mounted"]);
}

#[test]
fn a_mounted_file_that_breaks_off_leaves_the_whole_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mounted");
    fs::write(&path, "old").unwrap();
    // The file turns into a folder under our hands: the write into it can't work.
    let vanishes = |_: &Path, to: &Path| {
        fs::remove_file(to)?;
        fs::create_dir(to)?;
        Err(io::Error::from(io::ErrorKind::CrossesDevices))
    };
    match replace(&path, b"new", vanishes) {
        Err(WriteError::InPlace { copy, .. }) => assert_eq!(fs::read(copy).unwrap(), b"new"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rename_that_fails_otherwise_leaves_the_old_file_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    fs::write(&path, "old").unwrap();
    let denied = |_: &Path, _: &Path| Err(io::Error::from(io::ErrorKind::PermissionDenied));
    assert!(matches!(replace(&path, b"new", denied), Err(WriteError::Write { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["f"]);
}

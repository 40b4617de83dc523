//! Committed text files that generated text must equal; `PACEGATE_REGENERATE=1 cargo test` writes them anew.

use std::path::Path;

/// Compares `text` with the file at `path` (relative to the crate), or writes it when asked to.
#[expect(clippy::unwrap_used, reason = "a file that can't be written is a test that fails")]
pub fn assert_same(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("PACEGATE_REGENERATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        kept == text,
        "{path} is not what the code gives now; look at the difference and run PACEGATE_REGENERATE=1 cargo test\n{}",
        similar::TextDiff::from_lines(kept.as_str(), text).unified_diff()
    );
}

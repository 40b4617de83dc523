//! `docs/formats.md` is made from the table.

use std::path::Path;

use pacegate::source::ingest::documentation;

/// `PACEGATE_UPDATE_DOCS=1 cargo test --test ingest docs` writes it anew.
#[test]
fn the_documentation_of_formats_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md");
    if std::env::var_os("PACEGATE_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, documentation()).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == documentation(), "docs/formats.md is stale; PACEGATE_UPDATE_DOCS=1 writes it anew");
}

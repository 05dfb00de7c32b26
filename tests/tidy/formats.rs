//! `corpus/FORMAT.md` states the versions that the code writes.

use crate::source::{package, text_of};

/// The magic and version of each kind of file that a source declares.
fn declared_kinds(code: &str) -> impl Iterator<Item = (&str, &str)> {
    code.split("FileKind { magic: *b\"").skip(1).filter_map(|rest| {
        let (magic, rest) = rest.split_once('"')?;
        let version = rest.strip_prefix(", version: ")?.split(' ').next()?;
        Some((magic.trim_end_matches("\\0"), version))
    })
}

#[test]
fn the_format_document_states_the_versions_of_the_code() {
    let document = text_of("corpus/FORMAT.md");
    let manifest = text_of("corpus/src/manifest.rs");
    let version = manifest.split("pub const FORMAT: u32 = ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    assert!(
        document.starts_with(&format!("# The snapshot format, version {version}\n")),
        "FORMAT.md is of another version"
    );
    let mut kinds = 0;
    for source in package("corpus/src") {
        for (magic, version) in declared_kinds(&source.code) {
            kinds += 1;
            let stated = [format!("`{magic}` {version} |"), format!("`{magic}`, version {version}")];
            let is_stated = stated.iter().any(|stated| document.contains(stated));
            assert!(is_stated, "corpus/FORMAT.md does not state version {version} of {magic} ({})", source.path);
        }
    }
    assert!(kinds > 12, "{kinds} kinds of files were found");
}

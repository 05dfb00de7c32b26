//! A page of the law never has the address of another page: the first part of every other path is reserved.

use std::collections::BTreeSet;

use crate::source::{package, text_of};

/// The first parts of the paths that a source writes down.
fn first_parts(code: &str) -> impl Iterator<Item = &str> {
    let constants = code.split("const ").skip(1).filter_map(|rest| rest.split_once(';')).map(|(constant, _)| constant);
    let of_paths = constants.filter(|constant| {
        let name = constant.split(':').next().unwrap_or_default();
        ["PATH", "PAGES", "FORMS"].iter().any(|word| name.contains(word))
    });
    of_paths.flat_map(|constant| constant.split("\"/").skip(1)).filter_map(|path| path.split(['/', '"']).next())
}

#[test]
fn the_first_part_of_every_path_of_the_server_is_reserved() {
    let links = text_of("src/api/page_links.rs");
    let reserved = links.split_once("const RESERVED").and_then(|(_, list)| list.split_once("];")).unwrap().0;
    let reserved: BTreeSet<&str> = reserved.split('"').skip(1).step_by(2).collect();
    let mut found = BTreeSet::new();
    for root in ["accounts/src", "src"] {
        for source in package(root) {
            for part in first_parts(&source.code) {
                let is_reserved = part.is_empty() || reserved.contains(part);
                assert!(is_reserved, "{}: add \"{part}\" to RESERVED in src/api/page_links.rs", source.path);
                found.insert(part.to_owned());
            }
        }
    }
    assert!(found.len() > 10, "paths that were found: {found:?}");
}

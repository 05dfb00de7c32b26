//! Tests that the fingerprint of the builder covers every package of this workspace that it depends on: a corrected function
//! of any of them must cause a rebuild.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn manifest(folder: &Path) -> toml::Table {
    let path = folder.join("Cargo.toml");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).parse().unwrap()
}

/// The folders of the local packages that a package is compiled with, directly or indirectly, and its own.
fn with_local_dependencies(package: &Path, workspace: &Path) -> BTreeSet<PathBuf> {
    let shared = manifest(workspace);
    let path_of = |folder: &Path, name: &str, dependency: &toml::Value| match dependency.get("path") {
        Some(path) => Some(folder.join(path.as_str().unwrap())),
        None => {
            dependency.get("workspace")?;
            Some(workspace.join(shared["workspace"]["dependencies"][name].get("path")?.as_str().unwrap()))
        }
    };
    let (mut found, mut open) = (BTreeSet::new(), vec![package.canonicalize().unwrap()]);
    while let Some(folder) = open.pop() {
        if !found.insert(folder.clone()) {
            continue;
        }
        let manifest = manifest(&folder);
        let tables =
            ["dependencies", "build-dependencies"].map(|name| manifest.get(name).and_then(toml::Value::as_table));
        for (name, dependency) in tables.into_iter().flatten().flatten() {
            open.extend(path_of(&folder, name, dependency).map(|path| path.canonicalize().unwrap()));
        }
    }
    found
}

#[test]
fn every_local_package_below_the_builder_is_hashed() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = package.parent().unwrap();
    let sources = with_local_dependencies(package, workspace).into_iter().map(|folder| folder.join("src"));
    let sources: BTreeSet<PathBuf> = sources.collect();
    let hashed = env!("HORNBOOK_SOURCE_FOLDERS").split(' ').map(|folder| package.join(folder).canonicalize().unwrap());
    assert_eq!(hashed.collect::<BTreeSet<_>>(), sources);
    assert!(sources.contains(&workspace.canonicalize().unwrap().join("base/src")), "the corpus depends on it");
}

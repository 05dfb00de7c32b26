//! One name, one meaning: a type's name is defined in one top-level module of the workspace.

use std::collections::{BTreeMap, BTreeSet};

use crate::PACKAGES;
use crate::source::{Source, package};

/// Names that several modules define: the sentence encoder of a build, and its stand-in without the feature `encoder`.
const SHARED_NAMES: &[&str] = &["Encoder"];

/// The names of types that a source defines, without associated types.
fn defined(source: &Source) -> impl Iterator<Item = &str> {
    source.code.lines().filter_map(|line| {
        let is_indented = line.starts_with(' ');
        let words = line.split_whitespace();
        // `pub(in crate::places)` is two words.
        let mut words = words.skip_while(|word| *word == "pub" || word.starts_with("pub(") || word.ends_with(')'));
        let keyword = words.next()?;
        let defines = ["struct", "enum", "trait", "union"].contains(&keyword) || keyword == "type" && !is_indented;
        let name = words.next().filter(|_| defines)?;
        name.split(|letter: char| !letter.is_alphanumeric()).next().filter(|name| !name.is_empty())
    })
}

#[test]
fn no_type_name_is_defined_in_two_top_level_modules() {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for root in PACKAGES {
        for source in package(root) {
            let module = format!("{root}/{}", source.top_module().unwrap_or_default());
            for name in defined(&source) {
                modules.entry(name.to_owned()).or_default().insert(module.clone());
            }
        }
    }
    assert!(modules.len() > 1000, "{} names were found", modules.len());
    let repeated: Vec<String> = modules
        .iter()
        .filter(|(name, modules)| modules.len() > 1 && !SHARED_NAMES.contains(&name.as_str()))
        .map(|(name, modules)| format!("{name}: {}", Vec::from_iter(modules.iter().cloned()).join(", ")))
        .collect();
    assert!(repeated.is_empty(), "types of one name in several modules; rename all but one:\n{}", repeated.join("\n"));
    for name in SHARED_NAMES {
        assert!(modules.get(*name).is_some_and(|modules| modules.len() > 1), "{name} is shared no longer; unlist it");
    }
}

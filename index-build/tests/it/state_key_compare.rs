//! Compares the keys of an importer with those from the flat JSON Lines of the same source, because
//! ids must not change.

use std::collections::BTreeSet;
use std::path::Path;

use hornbook_index_build::content::Content;
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::intake::SourceIntake;
use hornbook_index_build::import::provisions_jsonl;
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::Warnings;
use hornbook_index_build::source_files;

use crate::imported::Imported;

/// The provisions that only the flat file contains, and those that only the importer found.
pub(crate) fn keys_that_differ(flat: &Path, imported: &Imported, key: &str) -> (Vec<String>, Vec<String>) {
    let own: BTreeSet<String> = imported.provisions().map(|(key, _, _)| key.clone()).collect();
    let flat = flat_keys(flat, key);
    (flat.difference(&own).cloned().collect(), own.difference(&flat).cloned().collect())
}

fn flat_keys(path: &Path, key: &str) -> BTreeSet<String> {
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    let (jurisdiction, code_body) = first_line(path);
    let options = toml::Table::new();
    let target = ImportTarget {
        jurisdiction: &jurisdiction,
        code_body: &code_body,
        key,
        citation: None,
        source: 0,
        tags: &[],
        options: &options,
    };
    source_files::for_each(path, None, |file| {
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        provisions_jsonl::import(file, target, &mut intake).map(|_| ())
    })
    .unwrap();
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    let spool = gatherer.into_spool();
    let is_provision = |content: &Content| content.text.is_some();
    tree.into_iter().filter(|node| is_provision(&node.content.read(&spool).unwrap())).map(|node| node.key).collect()
}

fn first_line(path: &Path) -> (String, String) {
    let mut line = String::new();
    source_files::for_each(path, None, |file| {
        file.reader.read_line(&mut line).unwrap();
        Ok::<_, source_files::SourceError>(())
    })
    .unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let text = |field: &str| line[field].as_str().unwrap().to_owned();
    (text("jurisdiction"), text("codeBody"))
}

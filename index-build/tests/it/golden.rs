//! Provisions picked at random once and compared with their source by eye, stored as numbers and
//! hashes, never as law.
//!
//! A row contains: key, status, bytes of heading and text, lines, labelled lines, greatest depth,
//! table rows, notes, bytes of the source credit, wordings, and a hash of all texts.
//! `HORNBOOK_RENEW_GOLDEN=1` writes the rows again after a reviewed change of an importer.

use std::fs;
use std::path::Path;

use hornbook_corpus::layout::LineKind;
use hornbook_index_build::content::Content;

use crate::common::SeededRandom;
use crate::imported::Imported;

pub(crate) fn check(name: &str, imported: &Imported) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(name);
    let golden = fs::read_to_string(&path).unwrap_or_else(|_| picked(imported));
    let keys = golden.lines().filter_map(|line| line.split(' ').next());
    let rows: String = keys.map(|key| format!("{key} {}\n", row(imported.node(key)))).collect();
    if std::env::var_os("HORNBOOK_RENEW_GOLDEN").is_some() {
        fs::write(&path, rows).unwrap();
        return;
    }
    for (own, expected) in rows.lines().zip(golden.lines()) {
        assert_eq!(own, expected, "in {name}");
    }
    assert!(golden.lines().count() >= 30, "{name} has {} rows", golden.lines().count());
}

/// Thirty keys, if there are none yet.
fn picked(imported: &Imported) -> String {
    let keys: Vec<&String> = imported.provisions().map(|(key, _, _)| key).collect();
    let mut numbers = SeededRandom(20_261_122);
    let mut picked: Vec<_> = (0..30).map(|_| keys[numbers.below(keys.len() as u64) as usize]).collect();
    picked.sort();
    picked.into_iter().map(|key| format!("{key}\n")).collect()
}

fn row(content: &Content) -> String {
    let text = content.text.as_deref().unwrap_or_default();
    let lines = &content.layout.lines;
    let of_kind = |wanted: fn(LineKind) -> bool| lines.iter().filter(|line| line.kind().is_some_and(wanted)).count();
    let mut hasher = blake3::Hasher::new();
    let notes = content.notes.iter().flat_map(|note| [note.topic.as_str(), note.text.as_str()]);
    let wordings = content.wordings.iter().filter_map(|wording| wording.text.as_deref());
    for part in [content.heading.as_str(), text].into_iter().chain(notes).chain(wordings) {
        hasher.update(part.as_bytes()).update(&[0]);
    }
    format!(
        "{:?} {} {} {} {} {} {} {} {} {} {}",
        content.status.unwrap(),
        content.heading.len(),
        text.len(),
        text.split('\n').count(),
        lines.iter().filter(|line| line.label_bytes() > 0).count(),
        lines.iter().map(|line| line.depth).max().unwrap_or(0),
        of_kind(LineKind::is_in_table),
        content.notes.len(),
        content.source_credit.as_deref().unwrap_or_default().len(),
        content.wordings.len(),
        &hasher.finalize().to_hex()[..12],
    )
}

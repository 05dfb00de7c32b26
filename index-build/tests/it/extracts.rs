//! Tests small extracts of real files, which are in the repository: every word is accounted for,
//! and their statements on effective time are read.

use std::path::Path;

use hornbook_index_build::check::check;

use crate::common::options;
use crate::real_counts::row;

#[test]
fn extracts_keep_their_wordings_and_words() {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extracts/plan.toml");
    let checked = check(&options(&plan, Path::new("not-written"))).unwrap();
    let rows = checked.validity.iter().zip(&checked.words);
    let rows: Vec<String> = rows.map(|((_, counts), words)| row(&words.source, counts, words)).collect();
    let found = rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    let expected = include_str!("extracts.tsv");
    assert_eq!(found, expected, "found:\n{found}");
}

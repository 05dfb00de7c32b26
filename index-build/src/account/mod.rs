//! Accounts for the words of each source: compares the words of the source with those of the finished snapshot.
//!
//! [`source`] counts the words of each file without the importers, so that an importer cannot hide
//! its own fault. [`snapshot`] reads back the words of the snapshot. Every word of the source that
//! is not in the snapshot was set aside for a stated reason, left out by the importer for a stated
//! reason, kept as a number or a name, or lost without a reason: see [`WordsReport`].
//!
//! The account compares how often each word occurs, not where. It does not detect a word that is
//! lost in one place and invented in another.

pub mod form;
mod gathered;
mod json;
mod markup;
mod parts;
mod snapshot;
pub mod source;
pub mod words;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::report::WordsReport;
pub(crate) use form::{CountedLines, TextFormat};
pub use snapshot::ReadBackError;
pub(crate) use snapshot::{CREDIT_LABELS, SnapshotWords};
pub(crate) use source::SourceWords;

/// The number of lost or invented words to show as examples.
const EXAMPLES: usize = 12;
/// Sources that lost the line feeds of their tables join words. Importers divide them.
const JOINED: &str = "words that the source joins without a space and the snapshot separates";
/// The account divides a text where the parts that follow it show word ends. The importer kept it as printed.
const GLUED: &str = "words that the snapshot joins without a space, as the source prints them";

/// Balances every source, given by its number and name, with the snapshot in `dir`.
pub(crate) fn audit_snapshot(
    dir: &Path,
    sources: Vec<(u16, String, SourceWords)>,
) -> Result<Vec<WordsReport>, ReadBackError> {
    Ok(audit_sources(&snapshot::read(dir)?, sources))
}

/// Balances every source, given by its number and name, with the words gathered from it.
pub(crate) fn audit_sources(
    held: &HashMap<u16, SnapshotWords>,
    sources: Vec<(u16, String, SourceWords)>,
) -> Vec<WordsReport> {
    let none = SnapshotWords::default();
    sources
        .into_iter()
        .map(|(number, name, words)| balance_source(name, words, held.get(&number).unwrap_or(&none)))
        .collect()
}

fn balance_source(name: String, source: SourceWords, held: &SnapshotWords) -> WordsReport {
    let words = source.law.total();
    let mut open = source.law.word_difference(&held.words);
    let left_out = source.left_out.iter().map(|(reason, words)| ((*reason).to_owned(), open.settle_left_out(words)));
    let mut left_out: BTreeMap<String, u64> = left_out.filter(|(_, count)| *count > 0).collect();
    let names = open.settle_beyond(&held.names);
    let joined = open.settle_joined(&held.words);
    let glued = open.settle_glued(&source.glued, [&source.law, &source.aside]);
    let found = [(JOINED, joined), (GLUED, glued)].into_iter().filter(|(_, count)| *count > 0);
    left_out.extend(found.map(|(reason, count)| (reason.to_owned(), count)));
    let from_set_aside = open.settle_missing(&source.aside);
    let [unaccounted_examples, added_examples] = open.examples(EXAMPLES);
    WordsReport {
        source: name,
        words,
        set_aside: source.aside_by_reason,
        law: held.law,
        notes: held.notes,
        headings: held.headings,
        credits: held.credits,
        names,
        left_out,
        from_set_aside,
        added: open.missing(),
        added_examples,
        unaccounted: open.surplus_count(),
        unaccounted_examples,
    }
}

#[cfg(test)]
mod tests {
    use super::words::WordMultiset;
    use super::*;

    fn held(law: &str, names: &str) -> SnapshotWords {
        let (words, names) = (WordMultiset::of(law), WordMultiset::of(names));
        SnapshotWords { law: words.total(), words, names, ..SnapshotWords::default() }
    }

    fn source(json: &str) -> SourceWords {
        let mut words = SourceWords::default();
        TextFormat::Json(&["text"]).count(json.as_bytes(), &mut words);
        words
    }

    #[test]
    fn a_lost_word_has_no_reason_unless_it_is_given_one() {
        let mut words = source(r#"{"text": "Sec 1 The owner shall not pay", "path": "Title Debts"}"#);
        words.leave_out("page numbers", "not not");
        let report = balance_source("s".to_owned(), words.clone(), &held("The owner shall pay. Debts (a)", "1"));
        assert_eq!((report.words, report.law, report.names), (7, 6, 1));
        assert_eq!(report.left_out, BTreeMap::from([("page numbers".to_owned(), 1)]));
        assert_eq!((report.unaccounted, report.unaccounted_examples), (1, vec!["Sec ×1".to_owned()]));
        assert_eq!((report.from_set_aside, report.added), (1, 1));
        assert_eq!(report.added_examples, ["a ×1"]);
        let whole = balance_source("s".to_owned(), words, &held("Sec 1 The owner shall not pay", ""));
        assert_eq!((whole.unaccounted, whole.added, whole.left_out.len()), (0, 0, 0));
    }

    #[test]
    fn words_that_a_source_glues_together_are_their_parts() {
        let words = source(r#"{"text": "FEEAmount $5.00Nonresident none"}"#);
        let report = balance_source("s".to_owned(), words, &held("FEE Amount $5.00 Nonresident no", ""));
        assert_eq!(report.left_out, BTreeMap::from([(JOINED.to_owned(), 1)]));
        assert_eq!((report.unaccounted, report.added), (1, 1), "{report:?}");
    }

    #[test]
    fn left_out_words_may_have_spaces_that_the_source_lacks() {
        let mut words = source(r#"{"text": "NAMEADDITIONAL cannot"}"#);
        words.leave_out("written twice", "NAME ADDITIONAL can not");
        let report = balance_source("s".to_owned(), words.clone(), &held("", ""));
        assert_eq!(report.left_out, BTreeMap::from([(JOINED.to_owned(), 2)]));
        words.law.add("cannot");
        let report = balance_source("s".to_owned(), words, &held("cannot", ""));
        assert_eq!(
            (report.unaccounted, report.unaccounted_examples),
            (1, vec!["cannot ×1".to_owned()]),
            "'cannot' is one word"
        );
    }

    #[test]
    fn words_joined_as_printed_are_accounted_for() {
        let json = r#"{"text": "IN AND FORTHE COURT OF\nIN AND FOR\nTHE COURT"}"#;
        let mut words = SourceWords::default();
        TextFormat::JsonInParts(&["text"]).count(json.as_bytes(), &mut words);
        let report = balance_source("s".to_owned(), words.clone(), &held("IN AND FORTHE", ""));
        assert_eq!(report.left_out, BTreeMap::from([(GLUED.to_owned(), 2)]));
        assert_eq!((report.unaccounted, report.added), (2, 0), "{report:?}");
        let importer_glues = balance_source("s".to_owned(), words, &held("INAND FOR THE COURT OF", ""));
        assert_eq!((importer_glues.unaccounted, importer_glues.added), (2, 1), "the source prints IN AND");
    }

    #[test]
    fn words_of_the_snapshot_hide_a_loss_only_as_often_as_they_occur() {
        let words = source(r#"{"text": "pay pay pay"}"#);
        let report = balance_source("s".to_owned(), words, &held("pay", "pay"));
        assert_eq!((report.names, report.unaccounted), (1, 1));
    }
}

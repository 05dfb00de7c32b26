//! The words of a source as its publisher wrote them.

use std::collections::BTreeMap;

use super::parts::{ParagraphPart, pieces_of};
use super::words::WordMultiset;

/// All words of a source. Words that are set aside may or may not be in the snapshot.
#[derive(Clone, Debug, Default)]
pub struct SourceWords {
    pub(super) law: WordMultiset,
    pub(super) aside: WordMultiset,
    pub(super) aside_by_reason: BTreeMap<String, u64>,
    /// The words of divided paragraphs as printed, without blanks between some of them.
    pub(super) glued: WordMultiset,
    /// Words that an importer left out on purpose, by reason.
    pub(super) left_out: BTreeMap<&'static str, WordMultiset>,
}

impl SourceWords {
    pub(super) fn add(&mut self, text: &str) {
        self.law.add(text);
    }

    /// Adds a text without its repeated paragraphs.
    pub(super) fn add_without_parts(&mut self, text: &str) {
        for piece in pieces_of(text) {
            match piece {
                ParagraphPart::Law { divided, printed } => {
                    self.add(&divided);
                    self.glued.add(printed);
                }
                ParagraphPart::Repeated { reason, text } => self.set_aside(reason, &text),
            }
        }
    }

    /// Sets everything aside, for a document that belongs to another source.
    pub(crate) fn set_all_aside(&mut self, reason: &str) {
        let law = std::mem::take(&mut self.law);
        if law.total() > 0 {
            *self.aside_by_reason.entry(reason.to_owned()).or_default() += law.total();
            self.aside.merge(law);
        }
    }

    pub(super) fn set_aside(&mut self, reason: &str, text: &str) {
        let count = self.aside.add(text);
        if count == 0 {
            return;
        }
        match self.aside_by_reason.get_mut(reason) {
            Some(total) => *total += count,
            None => {
                self.aside_by_reason.insert(reason.to_owned(), count);
            }
        }
    }

    pub(super) fn set_aside_field(&mut self, field: &str, text: &str) {
        self.set_aside(&format!("field '{field}', which contains no law"), text);
    }

    /// Records words of the source that are deliberately not in the snapshot.
    pub fn leave_out(&mut self, reason: &'static str, text: &str) {
        self.left_out.entry(reason).or_default().add(text);
    }

    pub fn merge(&mut self, other: Self) {
        self.law.merge(other.law);
        self.aside.merge(other.aside);
        self.glued.merge(other.glued);
        for (reason, count) in other.aside_by_reason {
            *self.aside_by_reason.entry(reason).or_default() += count;
        }
        for (reason, words) in other.left_out {
            self.left_out.entry(reason).or_default().merge(words);
        }
    }
}

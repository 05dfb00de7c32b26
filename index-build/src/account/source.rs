//! The words of a source as its publisher wrote them.

use std::collections::BTreeMap;

use super::words::Words;
use super::{json, markup};

/// How the words of a file are found.
#[derive(Clone, Copy)]
pub enum Form {
    /// The fields that hold words of the law, notes or headings.
    Json(&'static [&'static str]),
    /// The same, and texts have paragraphs as a whole and again in parts.
    JsonInParts(&'static [&'static str]),
    /// The elements that hold none, each with the reason.
    Xml(&'static [(&'static str, &'static str)]),
    Html(&'static [(&'static str, &'static str)]),
    Text,
}

impl Form {
    /// Adds the words of a file, or of one line of it.
    pub(crate) fn count(self, bytes: &[u8], words: &mut SourceWords) {
        let text = String::from_utf8_lossy(bytes);
        match self {
            Self::Json(law) => json::count(&text, law, words, SourceWords::add),
            Self::JsonInParts(law) => json::count(&text, law, words, SourceWords::add_without_parts),
            Self::Xml(set_aside) => markup::count(&text, false, set_aside, words),
            Self::Html(set_aside) => markup::count(&text, true, set_aside, words),
            Self::Text => words.add(&text),
        }
    }
}

/// All words of a source. Those that are set aside need not be in the snapshot, and may be.
#[derive(Clone, Debug, Default)]
pub struct SourceWords {
    pub(super) law: Words,
    pub(super) aside: Words,
    pub(super) aside_by_reason: BTreeMap<String, u64>,
    /// Words that an importer left out on purpose, by its reason.
    pub(super) left_out: BTreeMap<&'static str, Words>,
}

impl SourceWords {
    pub(super) fn add(&mut self, text: &str) {
        self.law.add(text);
    }

    /// Adds a text without the paragraphs that are a part of the one before them. One that is the same as the one before
    /// is no part of it: forms have such lines.
    pub(super) fn add_without_parts(&mut self, text: &str) {
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let mut whole = String::new();
        for paragraph in text.split('\n') {
            let its_letters = letters(paragraph);
            let is_part = its_letters.len() < whole.len() && whole.contains(&its_letters);
            if is_part {
                self.set_aside("paragraphs that repeat a part of the one before", paragraph);
            } else {
                self.add(paragraph);
                whole = its_letters;
            }
        }
    }

    /// Sets everything aside: a document that belongs to another source.
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
        self.set_aside(&format!("field '{field}', no words of the law"), text);
    }

    /// Words that the source has and the snapshot deliberately does not.
    pub fn leave_out(&mut self, reason: &'static str, text: &str) {
        self.left_out.entry(reason).or_default().add(text);
    }

    pub fn merge(&mut self, other: Self) {
        self.law.merge(other.law);
        self.aside.merge(other.aside);
        for (reason, count) in other.aside_by_reason {
            *self.aside_by_reason.entry(reason).or_default() += count;
        }
        for (reason, words) in other.left_out {
            self.left_out.entry(reason).or_default().merge(words);
        }
    }
}

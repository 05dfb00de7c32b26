//! The words of a source as its publisher wrote them.

use std::collections::{BTreeMap, HashSet};

use super::words::{Words, words};

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
        let letters = |text: &&str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let paragraphs: Vec<&str> = text.split('\n').collect();
        let all_letters: Vec<String> = paragraphs.iter().map(letters).collect();
        let mut whole = String::new();
        for (place, (paragraph, its_letters)) in paragraphs.iter().zip(&all_letters).enumerate() {
            // The parts have the blanks between words that the whole lacks.
            if is_all_of(its_letters, &all_letters[place + 1..]) {
                self.set_aside("paragraphs whose parts follow them", paragraph);
                continue;
            }
            let is_part = its_letters.len() < whole.len() && whole.contains(its_letters.as_str());
            if is_part {
                self.set_aside("paragraphs that repeat a part of the one before", paragraph);
            } else {
                let parts = all_letters[place + 1..]
                    .iter()
                    .take_while(|part| part.len() < its_letters.len() && its_letters.contains(part.as_str()));
                let parts = &paragraphs[place + 1..][..parts.count()];
                self.add_divided(paragraph, parts);
                whole.clone_from(its_letters);
            }
        }
    }

    /// Adds a paragraph whose parts follow it. A word that is several words of the parts, without a blank between them, is
    /// those words.
    fn add_divided(&mut self, paragraph: &str, parts: &[&str]) {
        let known: HashSet<&str> = parts.iter().flat_map(|part| words(part)).collect();
        for word in words(paragraph) {
            match divided(word, &known, 0) {
                Some(parts) if !known.contains(word) => parts.iter().for_each(|part| self.add(part)),
                _ => self.add(word),
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

/// A word as known words, the longest first.
fn divided<'w>(word: &'w str, known: &HashSet<&str>, depth: usize) -> Option<Vec<&'w str>> {
    const PARTS_MAX: usize = 12;
    if known.is_empty() || depth == PARTS_MAX {
        return None;
    }
    if known.contains(word) {
        return Some(vec![word]);
    }
    let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).skip(1).collect();
    ends.into_iter().rev().filter(|&end| known.contains(&word[..end])).find_map(|end| {
        let mut rest = divided(&word[end..], known, depth + 1)?;
        rest.insert(0, &word[..end]);
        Some(rest)
    })
}

/// Whether the paragraphs that follow one are its parts from the first word to the last.
fn is_all_of(whole: &str, following: &[String]) -> bool {
    let mut rest = whole;
    for part in following.iter().filter(|part| !part.is_empty()) {
        match rest.strip_prefix(part.as_str()).filter(|_| part.len() < whole.len()) {
            Some("") => return true,
            Some(left) => rest = left,
            None => return false,
        }
    }
    false
}

//! The words of a source as its publisher wrote them.

use std::collections::{BTreeMap, HashSet};

use super::words::Words;

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
        /// What is shorter may be a line of a form.
        const ONCE_MIN: usize = 40;
        let letters = |text: &&str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let paragraphs: Vec<&str> = text.split('\n').collect();
        let all_letters: Vec<String> = paragraphs.iter().map(letters).collect();
        let mut whole = String::new();
        // The last paragraph that was set aside because its parts follow.
        let mut divided_before = "";
        for (place, (paragraph, its_letters)) in paragraphs.iter().zip(&all_letters).enumerate() {
            // The parts have the blanks between words that the whole lacks.
            if is_all_of(its_letters, &all_letters[place + 1..]) {
                self.set_aside("paragraphs whose parts follow them", paragraph);
                divided_before = its_letters;
                continue;
            }
            // An element whose only child has parts was written twice with all of them, and so was one that another has once.
            let is_child = || {
                let next = all_letters[place + 1..].iter().find(|letters| !letters.is_empty());
                let is_once =
                    || its_letters.len() >= ONCE_MIN && divided_before.matches(its_letters.as_str()).count() == 1;
                its_letters.len() == whole.len() && (next.is_some_and(|next| is_part(next, its_letters)) || is_once())
            };
            if whole.contains(its_letters.as_str()) && (its_letters.len() < whole.len() || is_child()) {
                self.set_aside("paragraphs that repeat a part of the one before", paragraph);
                continue;
            }
            let text = divided(paragraph, &ends_of_parts(its_letters, &all_letters[place + 1..]));
            let again = overlap(&whole, its_letters);
            let (again, rest) = text.split_at(place_of(&text, again));
            self.set_aside("paragraphs that begin with the end of the one before", again);
            self.add(rest);
            whole.clone_from(its_letters);
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

fn is_part(part: &str, whole: &str) -> bool {
    part.len() < whole.len() && whole.contains(part)
}

/// Where the parts of a paragraph that follow it begin and end in it, in bytes of letters and digits.
fn ends_of_parts(whole: &str, following: &[String]) -> HashSet<usize> {
    /// A shorter part is found only where the one before it ends.
    const FOUND_MIN: usize = 8;
    let parts: Vec<&String> =
        following.iter().take_while(|part| is_part(part, whole)).filter(|part| !part.is_empty()).collect();
    let (mut ends, mut at) = (HashSet::new(), 0);
    for (place, part) in parts.iter().enumerate() {
        // A part with parts of its own has blanks between their words no more than the whole has.
        if parts.get(place + 1).is_some_and(|next| is_part(next, part)) {
            continue;
        }
        let found = whole[at..].find(part.as_str()).filter(|skipped| *skipped == 0 || part.len() >= FOUND_MIN);
        if let Some(skipped) = found {
            ends.extend([at + skipped, at + skipped + part.len()]);
            at += skipped + part.len();
        }
    }
    ends
}

/// How much of a paragraph is the end of the one before it, in bytes of letters and digits.
fn overlap(before: &str, letters: &str) -> usize {
    /// What is shorter may be said twice.
    const BYTES_MIN: usize = 60;
    let Some(start) = letters.get(..BYTES_MIN) else { return 0 };
    let found = before.match_indices(start).map(|(at, _)| before.len() - at);
    found
        .into_iter()
        .find(|&length| letters.len() > length && letters.get(..length).is_some_and(|start| before.ends_with(start)))
        .unwrap_or_default()
}

/// Where so many bytes of letters and digits of a text end.
fn place_of(text: &str, letters: usize) -> usize {
    let mut passed = 0;
    for (at, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
        if passed >= letters {
            return at;
        }
        passed += letter.len_utf8();
    }
    text.len()
}

/// A paragraph with a blank where a part of it ends in the middle of a word.
fn divided(paragraph: &str, ends: &HashSet<usize>) -> String {
    let (mut text, mut passed) = (String::with_capacity(paragraph.len()), 0);
    for letter in paragraph.chars() {
        if letter.is_alphanumeric() {
            if ends.contains(&passed) {
                text.push(' ');
            }
            passed += letter.len_utf8();
        }
        text.push(letter);
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> SourceWords {
        let mut words = SourceWords::default();
        words.add_without_parts(text);
        words
    }

    /// How often the words of a text must be in the snapshot beyond those of another.
    fn beyond(text: &str, other: &str) -> [Vec<String>; 2] {
        counted(text).law.less(&Words::of(other)).examples(10)
    }

    #[test]
    fn parts_that_follow_show_where_words_end() {
        let text =
            "Fees are as follows:Permit$5.00RCW 88.02.800(2)General fund\nPermit\nRCW 88.02.800(2)\nGeneral fund";
        let divided = "Fees are as follows: Permit $5.00 RCW 88.02.800(2) General fund";
        assert_eq!(beyond(text, divided), [Vec::<String>::new(), Vec::new()]);
        let nested = "FORM.COURTOF THE STATEPLAINTIFF NAMED\nCOURTOF THE STATEPLAINTIFF NAMED\nCOURT\nOF THE STATE\nPLAINTIFF NAMED";
        assert_eq!(beyond(nested, "FORM. COURT OF THE STATE PLAINTIFF NAMED"), [Vec::<String>::new(), Vec::new()]);
    }

    #[test]
    fn a_paragraph_that_begins_with_the_end_of_the_one_before_is_counted_once() {
        let shared = "the cover sheet need not be separately signed or acknowledged by anybody at all who records it";
        let text = format!("(1) Here {shared}\n{shared} and more");
        assert_eq!(beyond(&text, &format!("(1) Here {shared} and more")), [Vec::<String>::new(), Vec::new()]);
    }

    #[test]
    fn an_element_is_written_twice_only_where_its_parts_or_its_parent_show_it() {
        let line = "Effective dates of the act of 1983: See the note that follows section 82.08.010.";
        let shown = format!("Law of ten words. {line}\nLaw of ten words.\n{line}\n{line}");
        assert_eq!(beyond(&shown, &format!("Law of ten words. {line}")), [Vec::<String>::new(), Vec::new()]);
        let of_a_form = format!("{line}\n{line}");
        assert_eq!(counted(&of_a_form).law.total(), 2 * Words::of(line).total());
    }
}

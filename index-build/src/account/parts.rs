//! Removes repetitions from texts that a publisher extracted from nested elements of a page: each
//! element was written with all its words, and then its children again, each with all of its words.
//! This module compares only letters and digits, unlike the importers.
//!
//! Between two children, the text of the whole element has no blank (`$5.00RCW`). The children that
//! follow show where they end.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

/// A paragraph, or a part of one.
#[derive(Debug)]
pub(super) enum ParagraphPart<'t> {
    /// It counts. `divided` has blanks where a child ends within a word; `printed` is the text as
    /// printed, if that differs.
    Law { divided: Cow<'t, str>, printed: &'t str },
    /// It was already written before, or is written again after it.
    Repeated { reason: &'static str, text: Cow<'t, str> },
}

const PARTS_FOLLOW: &str = "paragraphs whose parts follow them";
const IS_PART: &str = "paragraphs that repeat a part of the one before";
const OVERLAPS: &str = "paragraphs that begin with the end of the one before";

/// A shorter text may be a line of a form, which can occur several times.
const LINE_MIN: usize = 40;

/// The paragraphs of a text. A paragraph that equals the one before it also counts, unless its
/// context shows a repetition.
pub(super) fn pieces_of(text: &str) -> Vec<ParagraphPart<'_>> {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let paragraphs =
        text.split('\n').map(|paragraph| ParagraphLetters { text: paragraph, letters: letters(paragraph) });
    let paragraphs: Vec<ParagraphLetters<'_>> = paragraphs.filter(|paragraph| !paragraph.letters.is_empty()).collect();
    let search = PartFinder::over(text);
    let mut pieces = Vec::with_capacity(paragraphs.len());
    // The last paragraph that counts, and the last one that does not count because its parts follow it.
    let (mut whole, mut parent) = ("", "");
    // Whether the parent contains the paragraph that equals `whole` only once.
    let mut is_once = None;
    for (place, ParagraphLetters { text, letters }) in paragraphs.iter().enumerate() {
        let following = &paragraphs[place + 1..];
        if is_all_of(letters, following) {
            pieces.push(ParagraphPart::Repeated { reason: PARTS_FOLLOW, text: Cow::Borrowed(*text) });
            (parent, is_once) = (letters, None);
            continue;
        }
        let is_again = if letters.len() == whole.len() {
            letters == whole && {
                let has_parts = following.first().is_some_and(|next| search.is_part(&next.letters, letters));
                has_parts || *is_once.get_or_insert_with(|| search.is_once(letters, parent))
            }
        } else {
            search.is_part(letters, whole)
        };
        if is_again {
            pieces.push(ParagraphPart::Repeated { reason: IS_PART, text: Cow::Borrowed(*text) });
            continue;
        }
        let ends = search.ends_of_parts(letters, following);
        let divided = divided(text, &ends);
        let printed = if divided.len() == text.len() { "" } else { *text };
        match search.overlap(whole, letters) {
            0 => pieces.push(ParagraphPart::Law { divided, printed }),
            again => {
                let (again, rest) = divided.split_at(place_of(&divided, again));
                pieces.push(ParagraphPart::Repeated { reason: OVERLAPS, text: Cow::Owned(again.to_owned()) });
                pieces.push(ParagraphPart::Law { divided: Cow::Owned(rest.to_owned()), printed });
            }
        }
        (whole, is_once) = (letters, None);
    }
    pieces
}

struct ParagraphLetters<'t> {
    text: &'t str,
    letters: String,
}

/// Searches for paragraphs within others, with a budget. Real texts search each byte about thirty
/// times. If a hostile text exceeds the budget, nothing more is found, so that all of it counts and
/// the time stays linear.
struct PartFinder {
    bytes_left: Cell<usize>,
}

impl PartFinder {
    fn over(text: &str) -> Self {
        const SEARCHES_OF_EACH_BYTE: usize = 300;
        Self { bytes_left: Cell::new(text.len().saturating_mul(SEARCHES_OF_EACH_BYTE)) }
    }

    fn may_read(&self, bytes: usize) -> bool {
        let left = self.bytes_left.get().checked_sub(bytes);
        self.bytes_left.set(left.unwrap_or_default());
        left.is_some()
    }

    fn is_part(&self, part: &str, whole: &str) -> bool {
        part.len() < whole.len() && self.may_read(whole.len()) && whole.contains(part)
    }

    fn is_once(&self, line: &str, parent: &str) -> bool {
        line.len() >= LINE_MIN && self.may_read(parent.len()) && parent.matches(line).count() == 1
    }

    /// Where the following parts of a paragraph begin and end in it, in bytes of letters and digits.
    fn ends_of_parts(&self, whole: &str, following: &[ParagraphLetters<'_>]) -> HashSet<usize> {
        /// A shorter part is found only directly after the part before it.
        const FOUND_MIN: usize = 8;
        let parts = following.iter().map(|paragraph| paragraph.letters.as_str());
        let parts: Vec<&str> = parts.take_while(|part| self.is_part(part, whole)).collect();
        let (mut ends, mut at) = (HashSet::new(), 0);
        for (place, part) in parts.iter().enumerate() {
            // The parts of this part follow and show more.
            if parts.get(place + 1).is_some_and(|next| self.is_part(next, part)) {
                continue;
            }
            let rest = &whole[at..];
            let found = if rest.starts_with(part) {
                Some(0)
            } else {
                Some(())
                    .filter(|()| part.len() >= FOUND_MIN && self.may_read(rest.len()))
                    .and_then(|()| rest.find(part))
            };
            if let Some(skipped) = found {
                ends.extend([at + skipped, at + skipped + part.len()]);
                at += skipped + part.len();
            }
        }
        ends
    }

    /// The length of the overlap between the end of the paragraph before and the start of this one,
    /// in bytes of letters and digits.
    fn overlap(&self, before: &str, letters: &str) -> usize {
        /// A shorter text may occur twice in the law itself.
        const BYTES_MIN: usize = 60;
        const CANDIDATES_MAX: usize = 8;
        let Some(start) = letters.get(..BYTES_MIN).filter(|_| self.may_read(before.len())) else { return 0 };
        let found = before.match_indices(start).map(|(at, _)| before.len() - at).take(CANDIDATES_MAX);
        let is_end = |&length: &usize| {
            let start = letters.get(..length).filter(|start| start.len() < letters.len());
            start.is_some_and(|start| self.may_read(length) && before.ends_with(start))
        };
        found.into_iter().find(is_end).unwrap_or_default()
    }
}

/// Whether the following paragraphs are the parts of this one, from the first word to the last.
fn is_all_of(whole: &str, following: &[ParagraphLetters<'_>]) -> bool {
    let mut rest = whole;
    for part in following {
        match rest.strip_prefix(part.letters.as_str()).filter(|_| part.letters.len() < whole.len()) {
            Some("") => return true,
            Some(left) => rest = left,
            None => return false,
        }
    }
    false
}

/// The place in a text after this many bytes of letters and digits.
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

/// A paragraph with a blank inserted where a part of it begins or ends.
fn divided<'t>(paragraph: &'t str, ends: &HashSet<usize>) -> Cow<'t, str> {
    if ends.is_empty() {
        return Cow::Borrowed(paragraph);
    }
    let (mut text, mut passed) = (String::with_capacity(paragraph.len() + ends.len()), 0);
    for letter in paragraph.chars() {
        if letter.is_alphanumeric() {
            if ends.contains(&passed) {
                text.push(' ');
            }
            passed += letter.len_utf8();
        }
        text.push(letter);
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::super::source::SourceWords;
    use super::super::words::WordMultiset;
    use super::*;

    fn counted(text: &str) -> SourceWords {
        let mut words = SourceWords::default();
        words.add_without_parts(text);
        words
    }

    /// The words of a text that another text lacks, and the words that only the other text has.
    fn beyond(text: &str, other: &str) -> [Vec<String>; 2] {
        counted(text).law.word_difference(&WordMultiset::of(other)).examples(10)
    }

    fn nothing() -> [Vec<String>; 2] {
        [Vec::new(), Vec::new()]
    }

    #[test]
    fn parts_that_follow_show_where_words_end() {
        let text =
            "Fees are as follows:Permit$5.00RCW 88.02.800(2)General fund\n\nPermit\nRCW 88.02.800(2)\nGeneral fund";
        assert_eq!(beyond(text, "Fees are as follows: Permit $5.00 RCW 88.02.800(2) General fund"), nothing());
        let nested = "FORM.COURTOF THE STATEPLAINTIFF NAMED\nCOURTOF THE STATEPLAINTIFF NAMED\nCOURT\nOF THE STATE\nPLAINTIFF NAMED";
        assert_eq!(beyond(nested, "FORM. COURT OF THE STATE PLAINTIFF NAMED"), nothing());
        assert_eq!(counted("whereas\nthe owner\nhas paid").glued.total(), 0, "nothing was divided");
    }

    #[test]
    fn a_paragraph_that_begins_with_the_end_of_the_one_before_is_counted_once() {
        let shared = "the cover sheet need not be separately signed or acknowledged by anybody at all who records it";
        let text = format!("(1) Here {shared}\n{shared} and more");
        assert_eq!(beyond(&text, &format!("(1) Here {shared} and more")), nothing());
    }

    #[test]
    fn an_element_is_written_twice_only_where_its_parts_or_its_parent_show_it() {
        let line = "Effective dates of the act of 1983: See the note that follows section 82.08.010.";
        let shown = format!("Law of ten words. {line}\nLaw of ten words.\n{line}\n{line}");
        assert_eq!(beyond(&shown, &format!("Law of ten words. {line}")), nothing());
        let of_a_form = format!("{line}\n{line}");
        assert_eq!(counted(&of_a_form).law.total(), 2 * WordMultiset::of(line).total());
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        let letters = "a".repeat(100_000);
        let nested: String = (0..300).map(|less| format!("{}b\n", &letters[less..])).collect();
        let lines = format!("{letters}{}", "\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(50_000));
        for text in [nested, lines, "\n".repeat(1_000_000), "é\n".repeat(200_000)] {
            let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
            assert!(pieces_of(&text).len() <= letters + 1);
        }
    }
}

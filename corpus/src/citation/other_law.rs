//! Whether the words after `of` name a law: `of the Tax Law` does, `of an insurer` and `of not less than five` do not.

use super::text::{CitationText, OTHER};

/// Maximum number of words that are read after `of`.
const WORDS_MAX: usize = 6;

/// Words that begin a phrase about something other than a law, unless a word for a law follows: `of any act`.
const ARTICLES: [&str; 20] = [
    "a", "an", "any", "another", "one", "two", "not", "no", "more", "less", "each", "every", "all", "either", "his",
    "her", "its", "their", "at", "up",
];

/// Parts of the text's own code after `this`.
const OWN_PARTS: [&str; 10] =
    ["article", "subarticle", "title", "subtitle", "chapter", "subchapter", "part", "subpart", "division", "code"];

/// Words for a law or a part of one, and words that point back to a law: `of the same`.
const LAW_WORDS: [&str; 54] = [
    "act",
    "acts",
    "agreement",
    "amendment",
    "amendments",
    "appendix",
    "article",
    "articles",
    "bill",
    "bylaws",
    "chapter",
    "chapters",
    "charter",
    "code",
    "codes",
    "compact",
    "constitution",
    "contract",
    "convention",
    "declaration",
    "document",
    "edition",
    "enactment",
    "guidelines",
    "law",
    "laws",
    "lease",
    "legislation",
    "manual",
    "order",
    "ordinance",
    "ordinances",
    "part",
    "parts",
    "plan",
    "policy",
    "regulation",
    "regulations",
    "resolution",
    "rule",
    "rules",
    "said",
    "same",
    "schedule",
    "section",
    "sections",
    "standard",
    "standards",
    "statute",
    "statutes",
    "subtitle",
    "such",
    "title",
    "treaty",
];

/// Words that end the phrase after `of`.
const PHRASE_ENDS: [&str; 22] = [
    "of", "to", "by", "in", "on", "or", "and", "for", "from", "with", "that", "which", "who", "whose", "is", "are",
    "was", "were", "shall", "may", "has", "than",
];

/// Whether the words at `pos`, which follow `of`, name a law. After an article or a similar word only a word for a law shows it;
/// other phrases must be in small letters, because `of the Harbor District` may mean its law.
pub(super) fn is_named(text: CitationText<'_>, pos: usize) -> bool {
    let (first, first_end) = next_word(text, pos);
    if first.eq_ignore_ascii_case("this") {
        return !is_own_part(text, pos);
    }
    let is_indefinite = is_any(&ARTICLES, first);
    let mut end = if is_indefinite || first.eq_ignore_ascii_case("the") { first_end } else { pos };
    for _ in 0..WORDS_MAX {
        let start = text.skip_spaces(end);
        let (word, word_end) = next_word(text, start);
        if word.is_empty() || is_any(&PHRASE_ENDS, word) {
            return false;
        }
        let is_of_police = word.eq_ignore_ascii_case("law")
            && next_word(text, text.skip_spaces(word_end)).0.eq_ignore_ascii_case("enforcement");
        let is_name = !is_indefinite && !word.bytes().all(|sign| sign.is_ascii_lowercase() || sign == b'-');
        if is_name || (is_any(&LAW_WORDS, word) && !is_of_police) {
            return true;
        }
        end = word_end;
    }
    false
}

/// Whether the words at `pos` are `this article` or another part of the text's own code.
pub(super) fn is_own_part(text: CitationText<'_>, pos: usize) -> bool {
    let part = text.word(pos, "this").map(|end| next_word(text, text.skip_spaces(end)).0);
    part.is_some_and(|part| is_any(&OWN_PARTS, part))
}

fn is_any(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The letters and digits at `pos`, with hyphens and apostrophes between them, and their end.
fn next_word<'t>(text: CitationText<'t>, pos: usize) -> (&'t str, usize) {
    let mut end = pos;
    loop {
        let (sign, len) = text.at(end);
        let joins = end > pos && matches!(sign, b'-' | b'\'') && text.folded_at(end + len).is_ascii_alphanumeric();
        let is_letter = sign.is_ascii_alphanumeric() || (sign == OTHER && !text.ends_word(end));
        if !is_letter && !joins {
            return (text.slice(pos, end), end);
        }
        end += len;
    }
}

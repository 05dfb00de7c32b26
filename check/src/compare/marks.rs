//! Reads a quotation: the words that it repeats, and the brackets and ellipses that announce changes.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use super::fold::{FoldedLaw, FoundPassage, folded};

/// At most this many bytes of the law are replaced by words in brackets.
const REPLACED_MAX: usize = 160;

/// The first words of a quotation are searched for at most at this many places of a text.
const STARTS_MAX: usize = 256;

/// At most this many bytes are searched for one quotation with marks.
const SEARCHED_MAX: u64 = 8 << 20;

/// Marks after this number are read as words.
const MARKS_MAX: usize = 64;

/// Ellipses and brackets. A bracket of one to three letters beside a letter changes a part of a word.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[?(?:…|\.\s?\.\s?\.(?:\s?\.)?|\*\s?\*\s?\*)\]?\.?|\[[^\[\]]{0,200}\]")
        .expect("the expression is valid")
});

/// Words in brackets that are a remark, and replace nothing.
const REMARKS: [&str; 9] = [
    "sic",
    "emphasis added",
    "emphasis omitted",
    "emphasis in original",
    "footnote omitted",
    "footnotes omitted",
    "citation omitted",
    "citations omitted",
    "internal quotation marks omitted",
];

/// What may be in the law between two parts of a quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Omission {
    /// Any words: an ellipsis.
    AnyWords,
    /// A few words, or a part of a word: brackets.
    Replaced,
}

/// A part of a quotation that repeats the law.
#[derive(Debug)]
pub(super) struct RepeatedPart {
    /// Its bytes in the quotation.
    pub(super) range: Range<usize>,
    /// Without typography.
    pub(super) folded: Vec<u8>,
    /// What is left out before it.
    pub(super) before: Option<Omission>,
    /// Whether its first and its last word go on in brackets.
    is_open_at: [bool; 2],
}

/// A quotation in its parts.
#[derive(Debug)]
pub(crate) struct MarkedQuotation<'q> {
    pub(super) text: &'q str,
    pub(super) parts: Vec<RepeatedPart>,
    /// The parts if brackets are taken for words of the law, and their content for words that only change their case.
    literal: Vec<RepeatedPart>,
    /// All of it, if its only marks are brackets, which may be those of the law.
    whole: Option<RepeatedPart>,
    is_marked: bool,
}

impl<'q> MarkedQuotation<'q> {
    pub(crate) fn new(text: &'q str) -> Self {
        let parts = parts_of(text, false);
        let literal = parts_of(text, true);
        let is_marked = MARK.is_match(text);
        let has_brackets_alone = is_marked && MARK.find_iter(text).all(|mark| !is_ellipsis(mark.as_str()));
        Self { text, parts, literal, whole: has_brackets_alone.then(|| whole(text)), is_marked }
    }

    /// The passage of the law that the quotation repeats, apart from typography and what its marks announce.
    pub(crate) fn find_in(&self, law: &FoldedLaw<'_>) -> Option<FoundPassage> {
        let verbatim = self.whole.as_ref().and_then(|whole| find_parts(std::slice::from_ref(whole), law));
        if let Some(range) = verbatim {
            return Some(FoundPassage { folded: range, is_marked: false });
        }
        let range = find_parts(&self.literal, law).or_else(|| find_parts(&self.parts, law))?;
        Some(FoundPassage { folded: range, is_marked: self.is_marked })
    }

    /// The longest part that repeats the law.
    pub(crate) fn longest_part(&self) -> &'q str {
        let longest = self.parts.iter().max_by_key(|part| part.range.len());
        longest.map_or("", |part| &self.text[part.range.clone()])
    }
}

fn whole(text: &str) -> RepeatedPart {
    RepeatedPart {
        range: 0..text.len(),
        folded: trimmed(folded(text), true, true),
        before: None,
        is_open_at: [false; 2],
    }
}

/// The words between two marks.
struct QuotedPiece {
    range: Range<usize>,
    /// The words, with those in brackets if they are taken literally.
    content: String,
    before: Option<Omission>,
    is_open_at: [bool; 2],
}

/// The parts of a quotation. If `is_literal`, the words in brackets are parts too, and remarks are left out: `[a]uthor`
/// is `author`.
fn parts_of(text: &str, is_literal: bool) -> Vec<RepeatedPart> {
    let mut pieces: Vec<QuotedPiece> = Vec::new();
    let (mut start, mut before, mut opens) = (0, None, false);
    let mut content = String::new();
    for mark in MARK.find_iter(text).take(MARKS_MAX) {
        content.push_str(&text[start..mark.start()]);
        let end = mark.end();
        let is_ellipsis = is_ellipsis(mark.as_str());
        let inner = mark.as_str().trim_start_matches('[').trim_end_matches(']');
        let is_remark = !is_ellipsis && REMARKS.iter().any(|remark| remark.eq_ignore_ascii_case(inner.trim()));
        if !is_ellipsis && is_literal {
            content.push_str(if is_remark { "" } else { inner });
            start = end;
            continue;
        }
        let joins = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let is_open_before = !is_ellipsis && joins(text[..mark.start()].chars().next_back());
        let is_open_after = !is_ellipsis && joins(text[end..].chars().next());
        let is_open_at = [opens, is_open_before];
        pieces.push(QuotedPiece {
            range: start..mark.start(),
            content: std::mem::take(&mut content),
            before,
            is_open_at,
        });
        before = Some(if is_ellipsis { Omission::AnyWords } else { Omission::Replaced });
        opens = is_open_after;
        start = end;
    }
    content.push_str(&text[start..]);
    pieces.push(QuotedPiece { range: start..text.len(), content, before, is_open_at: [opens, false] });
    let count = pieces.len();
    let mut carried = None;
    let mut parts = Vec::with_capacity(count);
    for (place, QuotedPiece { range, content, before, is_open_at }) in pieces.into_iter().enumerate() {
        let folded = trimmed(folded(&content), place == 0 || before == Some(Omission::AnyWords), place + 1 == count);
        let before = carried.take().or(before);
        if folded.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80) {
            parts.push(RepeatedPart { range, folded, before, is_open_at });
        } else {
            carried = before;
        }
    }
    parts
}

fn is_ellipsis(mark: &str) -> bool {
    mark.strip_prefix('[').unwrap_or(mark).starts_with(['.', '…', '*'])
}

/// Without white space at the ends; at the ends of the quotation also without punctuation, which belongs to the sentence
/// around it.
fn trimmed(mut folded: Vec<u8>, is_start: bool, is_end: bool) -> Vec<u8> {
    let is_cut = |byte: &u8, at_end: bool| *byte == b' ' || at_end && matches!(byte, b',' | b'.' | b';' | b':' | b'\'');
    let end = folded.iter().rposition(|byte| !is_cut(byte, is_end)).map_or(0, |last| last + 1);
    folded.truncate(end);
    let start = folded.iter().position(|byte| !is_cut(byte, is_start)).unwrap_or(0);
    folded.drain(..start);
    folded
}

/// Finds the parts in order.
fn find_parts(parts: &[RepeatedPart], law: &FoldedLaw<'_>) -> Option<Range<usize>> {
    let (first, rest) = parts.split_first()?;
    let finders: Vec<memmem::Finder<'_>> = rest.iter().map(|part| memmem::Finder::new(&part.folded)).collect();
    let finder = memmem::Finder::new(&first.folded);
    let mut from = 0;
    let searched = law.searched();
    for _ in 0..STARTS_MAX {
        if law.searched() - searched > SEARCHED_MAX {
            return None;
        }
        let start = law.find(&finder, from, first.is_open_at)?;
        let mut end = start + first.folded.len();
        let mut is_whole = true;
        for (part, finder) in rest.iter().zip(&finders) {
            let found = law.find(finder, end, part.is_open_at);
            let is_near = |at: &usize| part.before != Some(Omission::Replaced) || at - end <= REPLACED_MAX;
            match found.filter(is_near) {
                Some(at) => end = at + part.folded.len(),
                None => {
                    is_whole = false;
                    break;
                }
            }
        }
        if is_whole {
            return Some(start..end);
        }
        from = start + 1;
    }
    None
}

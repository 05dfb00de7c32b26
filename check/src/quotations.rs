//! Finds the quotations of a document: passages in double quotation marks, and block quotations.

use std::ops::Range;

use crate::brief::{Brief, BriefBlockKind};
use crate::sources::{FoundQuotation, ReadBlock, range_at};

/// A shorter passage may be a term or a nickname; it is not checked.
const WORDS_MIN: usize = 4;

/// The quotations of all paragraphs, in order.
pub(crate) fn quotations(brief: &Brief, blocks: &[ReadBlock]) -> Vec<FoundQuotation> {
    let text = brief.text();
    let mut found = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let content = &text[block.range.clone()];
        let mut push = |range: Range<usize>, is_block: bool| {
            if word_count(&text[range.clone()]) >= WORDS_MIN {
                found.push(FoundQuotation { range, block: number, is_block, sources: Vec::new(), is_weak: false });
            }
        };
        if block.kind == BriefBlockKind::Quote && !content.starts_with(['“', '"']) {
            push(without_citation(text, block), true);
            continue;
        }
        for range in quoted(content) {
            push(range.start + block.range.start..range.end + block.range.start, false);
        }
    }
    found
}

/// The passages of a paragraph that are words of another text. `last` is its last source.
pub(crate) fn quoted_passages(text: &str, kind: BriefBlockKind, last: Option<&Range<usize>>) -> Vec<Range<usize>> {
    let mut passages = quoted(text);
    passages.retain(|range| word_count(&text[range.clone()]) >= WORDS_MIN);
    if kind == BriefBlockKind::Quote && passages.is_empty() {
        let end = last.filter(|last| word_count(&text[last.end..]) <= 3).map_or(text.len(), |last| last.start);
        passages.push(0..end);
    }
    passages
}

/// A block quotation without the citation after it.
fn without_citation(text: &str, block: &ReadBlock) -> Range<usize> {
    let mut end = block.range.end;
    if let Some(source) = block.sources.last() {
        let after = &text[source.range.end..end];
        let sentence = range_at(&block.sentences, source.range.start).map(|place| &block.sentences[place]);
        let start = sentence.map_or(source.range.start, |sentence| sentence.start);
        let before = text[start..source.range.start].trim_matches(|sign: char| !sign.is_alphanumeric());
        let is_alone = word_count(after) <= 3 && word_count(before) <= 2 && start > block.range.start;
        // `— 17 U.S.C. § 107` without a full stop before it.
        let dash = text[block.range.start..source.range.start].trim_end().strip_suffix(['—', '–', '-', '(', '[']);
        match (is_alone, dash) {
            (true, _) => end = start,
            (false, Some(before)) if word_count(after) <= 3 => end = block.range.start + before.len(),
            _ => {}
        }
    }
    let kept = text[block.range.start..end].trim_end();
    block.range.start..block.range.start + kept.len()
}

/// The passages between double quotation marks, without the marks, in order. Marks that do not pair are ignored.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, sign) in text.char_indices() {
        match (sign, open) {
            ('“' | '„', _) | ('"', None) => open = Some((at + sign.len_utf8(), sign)),
            ('”', Some((start, _))) | ('"', Some((start, '"'))) => {
                found.push(start..at);
                open = None;
            }
            _ => {}
        }
    }
    found
}

pub(crate) fn word_count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_stand_between_marks_that_pair() {
        let passages = |text: &str| quoted(text).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>();
        assert_eq!(passages("It is “one” and \"two\", not “three"), ["one", "two"]);
        assert_eq!(passages("“the term ‘author’ means”"), ["the term ‘author’ means"]);
        assert_eq!(passages("5'10\" tall"), Vec::<String>::new());
        assert_eq!(passages("” lost “found”"), ["found"]);
    }
}

//! Finds the quotations of a document: passages in quotation marks, and block quotations.
//!
//! A quotation may have several paragraphs: each begins with an opening mark, and only the last is closed.

use std::ops::Range;

use crate::brief::{Brief, BriefBlock, BriefBlockKind};
use crate::quotation_marks::QuotedPassages;
use crate::sources::{FoundQuotation, QuotedPart, ReadBlock, range_at};

/// A shorter passage may be a term or a nickname; it is not checked.
const WORDS_MIN: usize = 4;

/// Maximum number of paragraphs of one quotation.
const PARAGRAPHS_MAX: usize = 64;

/// What is quoted in a document.
pub(crate) struct MarkedPassages {
    /// The passages in quotation marks that are long enough, each with its parts.
    passages: Vec<Vec<QuotedPart>>,
    /// The parts in each paragraph, as ranges of the paragraph.
    by_block: Vec<Vec<Range<usize>>>,
    /// Whether a paragraph is a block quotation without quotation marks around it.
    is_whole: Vec<bool>,
}

impl MarkedPassages {
    pub(crate) fn of(brief: &Brief) -> Self {
        let blocks = brief.blocks();
        let text = |block: &BriefBlock| &brief.text()[block.range.clone()];
        let read: Vec<QuotedPassages> = blocks.iter().map(|block| QuotedPassages::of(text(block))).collect();
        let mut found = Self {
            passages: Vec::new(),
            by_block: vec![Vec::new(); blocks.len()],
            is_whole: blocks.iter().map(|block| block.kind == BriefBlockKind::Quote).collect(),
        };
        let (mut number, mut from) = (0, 0);
        while let Some(passages) = read.get(number) {
            let unclosed = passages.unclosed.filter(|(start, _)| *start >= from);
            let run = unclosed.and_then(|(start, _)| Some((start, last_paragraph(number, &read, blocks)?)));
            let end = run.map_or(usize::MAX, |(start, _)| start);
            for range in passages.closed.iter().filter(|range| range.start >= from && range.end < end) {
                found.add(&[(number, range.clone())], brief);
            }
            let Some((start, last)) = run else {
                (number, from) = (number + 1, 0);
                continue;
            };
            let mut parts = vec![(number, start..blocks[number].range.len())];
            for inner in number + 1..last {
                parts.push((inner, after_mark(&read[inner])..blocks[inner].range.len()));
            }
            parts.extend(read[last].closed.first().map(|range| (last, range.clone())));
            found.add(&parts, brief);
            // Another passage may begin in the last paragraph.
            (number, from) = (last, parts.last().map_or(0, |(_, range)| range.end));
        }
        found
    }

    fn add(&mut self, parts: &[(usize, Range<usize>)], brief: &Brief) {
        let parts: Vec<(QuotedPart, &Range<usize>)> = parts
            .iter()
            .map(|(block, within)| {
                let offset = brief.blocks()[*block].range.start;
                (QuotedPart { block: *block, range: within.start + offset..within.end + offset }, within)
            })
            .collect();
        let words: usize = parts.iter().map(|(part, _)| word_count(&brief.text()[part.range.clone()])).sum();
        if words < WORDS_MIN {
            return;
        }
        for (part, within) in &parts {
            self.by_block[part.block].push((*within).clone());
            let begins = brief.text()[..part.range.start].chars().next_back().map_or(0, char::len_utf8) == within.start;
            self.is_whole[part.block] &= !begins && parts.len() == 1;
        }
        self.passages.push(parts.into_iter().map(|(part, _)| part).collect());
    }

    /// The passages of a paragraph that are words of another text. `last` is its last source.
    pub(crate) fn in_block(&self, block: usize, text: &str, last: Option<&Range<usize>>) -> Vec<Range<usize>> {
        if !self.is_whole[block] {
            return self.by_block[block].clone();
        }
        let end = last.filter(|last| word_count(&text[last.end..]) <= 3).map_or(text.len(), |last| last.start);
        std::iter::once(0..end).collect()
    }

    /// All quotations, in order.
    pub(crate) fn quotations(self, text: &str, blocks: &[ReadBlock]) -> Vec<FoundQuotation> {
        let found = |parts, is_block| FoundQuotation { parts, is_block, sources: Vec::new(), is_weak: false };
        let is_whole = &self.is_whole;
        let in_marks = self.passages.into_iter().filter(|parts| parts.iter().all(|part| !is_whole[part.block]));
        let mut all: Vec<FoundQuotation> = in_marks.map(|parts| found(parts, false)).collect();
        for (number, block) in blocks.iter().enumerate().filter(|(number, _)| is_whole[*number]) {
            let range = without_citation(text, block);
            if word_count(&text[range.clone()]) >= WORDS_MIN {
                all.push(found(vec![QuotedPart { block: number, range }], true));
            }
        }
        all.sort_by_key(|quotation| quotation.range().start);
        all
    }
}

/// The last paragraph of a quotation that its first paragraph does not close. None if no paragraph closes it.
fn last_paragraph(first: usize, read: &[QuotedPassages], blocks: &[BriefBlock]) -> Option<usize> {
    let (_, mark) = read[first].unclosed?;
    let is_note = |number: usize| blocks[number].kind == BriefBlockKind::Note;
    let following = read.iter().enumerate().take(first + PARAGRAPHS_MAX).skip(first + 1);
    for (number, passages) in following {
        let (start, _) = passages.opening.filter(|(_, own)| *own == mark && is_note(number) == is_note(first))?;
        if passages.closed.first().is_some_and(|range| range.start == start) {
            return Some(number);
        }
        passages.unclosed.filter(|(own, _)| *own == start)?;
    }
    None
}

fn after_mark(passages: &QuotedPassages) -> usize {
    passages.opening.map_or(0, |(start, _)| start)
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

pub(crate) fn word_count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::citation::Grammar;

    use crate::brief::{Brief, BriefFormat};
    use crate::found::Found;

    /// The quotations of a document, each with the text of the citation that it belongs to.
    fn found(text: &str) -> Vec<(String, String)> {
        let brief = Brief::read(text.as_bytes(), BriefFormat::Text).unwrap();
        let found = Found::in_document(&brief, Grammar::built_in()).unwrap();
        let source = |at: &usize| brief.text()[found.citations[*at].range.clone()].to_owned();
        let quotations = found.quotations.iter();
        quotations.map(|found| (found.text(brief.text()).into_owned(), source(&found.sources[0]))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(quoted, source)| ((*quoted).to_owned(), (*source).to_owned())).collect()
    }

    #[test]
    fn a_quotation_of_several_paragraphs_is_one() {
        let paragraphs = "“First, 17 U.S.C. § 106,\n\n“second ‘inner words of it’\n\n“third.”";
        let words = "First, 17 U.S.C. § 106, second ‘inner words of it’ third.";
        let after =
            found(&format!("It says:\n\n{paragraphs} 17 U.S.C. § 107. “But other words here” 17 U.S.C. § 108."));
        assert_eq!(after, pairs(&[(words, "17 U.S.C. § 107"), ("But other words here", "17 U.S.C. § 108")]));
        let before = found(&format!("17 U.S.C. § 107 says: {paragraphs}\n\nNext."));
        assert_eq!(before, pairs(&[(words, "17 U.S.C. § 107")]));
        let straight = found("\"One and two\n\n\"three and four.\" 17 U.S.C. § 107.");
        assert_eq!(straight, pairs(&[("One and two three and four.", "17 U.S.C. § 107")]));
    }

    #[test]
    fn a_mark_that_no_paragraph_closes_begins_no_quotation() {
        let one = found("17 U.S.C. § 107 says “a b c d e.\n\n“One two three four” is 17 U.S.C. § 108.\n\nNext.");
        assert_eq!(one, pairs(&[("a b c d e. One two three four", "17 U.S.C. § 108")]));
        assert_eq!(found("17 U.S.C. § 107 says “a b c d e.\n\nNext “and more."), []);
        assert_eq!(found(&"“a b c d 17 U.S.C. § 107\n\n".repeat(200)), []);
    }

    #[test]
    fn a_block_quotation_that_begins_with_a_defined_term_is_whole() {
        let text = "17 U.S.C. § 101 says:\n\n> “Author” means a person who writes.\n\nNext.";
        assert_eq!(found(text), pairs(&[("“Author” means a person who writes.", "17 U.S.C. § 101")]));
    }
}

//! Decides which citation a quotation belongs to, by where they are.
//!
//! The rules, of which the first that names a source decides:
//!
//! 1. the note that directly follows it
//! 2. the source directly after it, in its sentence or as a sentence of its own: `“…” 17 U.S.C. § 107.`
//! 3. the sources before it in its sentence, the nearest first: `Section 107 of title 17 says that “…”`
//! 4. the first source after it in its sentence
//! 5. the sentence after it, if it is nothing but a citation or says that it is the source
//! 6. the note that its sentence refers to
//! 7. the sources before it in its paragraph, the nearest first
//! 8. for a paragraph that begins with the quotation: the last source of the paragraph before
//!
//! A block quotation belongs to the citation after it, or else to the paragraph before it. A quotation of several
//! paragraphs belongs to what is after its last paragraph, or else to what is before its first one.
//!
//! If the deciding source is a case or another paper, the quotation is not from the law.

use std::ops::Range;

use crate::brief::{Brief, BriefBlockKind};
use crate::quotations::word_count;
use crate::sources::{FoundQuotation, NamedSource, QuotedPart, ReadBlock, range_at};

/// The words that may be between a quotation and the citation directly after it.
const SIGNALS: [&str; 16] = [
    "see",
    "also",
    "e.g",
    "cf",
    "accord",
    "per",
    "citing",
    "quoting",
    "in",
    "under",
    "at",
    "from",
    "of",
    "by",
    "generally",
    "codified",
];

/// The words that say that a source is that of a quotation.
const CREDITS: [&str; 12] = [
    "cite",
    "cites",
    "cited",
    "citing",
    "credit",
    "credits",
    "credited",
    "attribute",
    "attributes",
    "attributed",
    "quotes",
    "source",
];

/// At most this many words are before a source that is credited with the quotation before it.
const CREDIT_WORDS_MAX: usize = 6;

/// A sentence with at most this many words besides its sources and parentheses is nothing but a citation.
const OTHER_WORDS_MAX: usize = 3;

/// The reference to a note is at most this many bytes after a quotation that the note is about.
const NOTE_DISTANCE: usize = 4;

/// A longer sentence is more than a citation.
const CITATION_BYTES_MAX: usize = 600;

/// A quotation that begins a paragraph is at most this many bytes after its beginning.
const OPENING_BYTES_MAX: usize = 16;

/// At most this many sources before a quotation may be meant.
const BEFORE_MAX: usize = 3;

/// The citations that a quotation may belong to, the likeliest first, and whether that is weak: it follows from rule 7
/// or 8 alone.
pub(crate) fn attribute(quotation: &FoundQuotation, blocks: &[ReadBlock], brief: &Brief) -> (Vec<usize>, bool) {
    let text = brief.text();
    let (Some(first), Some(last)) = (quotation.parts.first(), quotation.parts.last()) else {
        return (Vec::new(), true);
    };
    let note = note_after(last.range.end, NOTE_DISTANCE, brief);
    if let Some(source) = note.and_then(|note| blocks[note].sources.first()) {
        return (source.citation.into_iter().collect(), false);
    }
    if quotation.is_block {
        return (attribute_block(first, blocks, text), false);
    }
    let mut near = attribute_near(last, &blocks[last.block], text);
    if near.is_none() && first.block != last.block {
        near = attribute_near(first, &blocks[first.block], text);
    }
    if let Some(sources) = near {
        return (sources, false);
    }
    let sentence_end = sentence_of(last, &blocks[last.block]).end;
    match note_after(last.range.end, sentence_end.saturating_sub(last.range.end) + NOTE_DISTANCE, brief) {
        Some(note) => (nearest_first(&blocks[note].sources).unwrap_or_default(), false),
        None => (attribute_far(first, blocks, text), true),
    }
}

/// The first note that the text refers to within some bytes after a quotation.
fn note_after(end: usize, within: usize, brief: &Brief) -> Option<usize> {
    let next = brief.notes().partition_point(|note| note.at < end);
    let note = brief.notes().get(next).filter(|note| note.at <= end + within)?;
    Some(note.block)
}

fn sentence_at(block: &ReadBlock, at: usize) -> Option<&Range<usize>> {
    range_at(&block.sentences, at).map(|place| &block.sentences[place])
}

fn sentence_of(quotation: &QuotedPart, block: &ReadBlock) -> Range<usize> {
    let start = sentence_at(block, quotation.range.start).map_or(block.range.start, |sentence| sentence.start);
    start..sentence_at(block, quotation.range.end.saturating_sub(1)).map_or(block.range.end, |sentence| sentence.end)
}

/// Rules 2 to 5.
fn attribute_near(quotation: &QuotedPart, block: &ReadBlock, text: &str) -> Option<Vec<usize>> {
    let (start, end) = (quotation.range.start, quotation.range.end);
    let next = block.sources.partition_point(|source| source.range.start < end);
    let after = &block.sources[next..];
    if let Some(first) = after.first()
        && are_signals(&text[end..first.range.start])
    {
        let last = sentence_at(block, end.saturating_sub(1));
        let is_inside = last.is_some_and(|sentence| sentence.contains(&first.range.start));
        let own = sentence_at(block, first.range.start);
        let is_parenthetical = text[end..first.range.start].trim_end().ends_with('(');
        // `17 U.S.C. § 107; see also ...` begins a sentence of citations, `Section 108 says ...` does not.
        let rest = text[first.range.end..block.range.end].trim_start();
        let is_ended = rest.is_empty() || rest.starts_with([';', '.', '(', ')']);
        if is_inside || is_parenthetical || is_ended || own.is_some_and(|own| is_citation_alone(own, block, text)) {
            return Some(first.citation.into_iter().collect());
        }
    }
    let sentence = sentence_of(quotation, block);
    let before = &block.sources[..block.sources.partition_point(|source| source.range.end <= start)];
    let in_sentence = &before[before.partition_point(|source| source.range.start < sentence.start)..];
    let of_sentence = after.first().filter(|source| source.range.start < sentence.end.max(end));
    if let Some(mut found) = nearest_first(in_sentence) {
        // The source after it in the sentence is less likely, but as near.
        found.extend(of_sentence.and_then(|source| source.citation).filter(|_| !found.is_empty()));
        return Some(found);
    }
    if let Some(source) = of_sentence {
        return Some(source.citation.into_iter().collect());
    }
    let following = block.sentences.partition_point(|other| other.start < sentence.end);
    if let Some(following) = block.sentences.get(following)
        && let Some(first) = after.first().filter(|first| following.contains(&first.range.start))
        && (is_citation_alone(following, block, text) || credits(&text[following.start..first.range.start]))
    {
        return Some(first.citation.into_iter().collect());
    }
    None
}

/// Rules 7 and 8.
fn attribute_far(quotation: &QuotedPart, blocks: &[ReadBlock], text: &str) -> Vec<usize> {
    let block = &blocks[quotation.block];
    let start = quotation.range.start;
    let before = &block.sources[..block.sources.partition_point(|source| source.range.end <= start)];
    if let Some(found) = nearest_first(before) {
        return found;
    }
    let begins_paragraph =
        start - block.range.start < OPENING_BYTES_MAX && word_count(&text[block.range.start..start]) == 0;
    if begins_paragraph { before_paragraph(quotation.block, blocks) } else { Vec::new() }
}

fn attribute_block(quotation: &QuotedPart, blocks: &[ReadBlock], text: &str) -> Vec<usize> {
    let block = &blocks[quotation.block];
    let own = block.sources.iter().find(|source| source.range.start >= quotation.range.end);
    if let Some(own) = own {
        return own.citation.into_iter().collect();
    }
    let following = blocks.get(quotation.block + 1).filter(|following| following.kind != BriefBlockKind::Quote);
    if let Some(following) = following
        && let Some(first) = following.sources.first()
        && following.sentences.first().is_some_and(|sentence| is_citation_alone(sentence, following, text))
    {
        return first.citation.into_iter().collect();
    }
    let found = before_paragraph(quotation.block, blocks);
    if !found.is_empty() {
        return found;
    }
    // Below a heading: `That is 17 U.S.C. § 107, as amended.`
    let first = following.and_then(|following| {
        let first = following.sources.first()?;
        following.sentences.first()?.contains(&first.range.start).then_some(first.citation?)
    });
    first.into_iter().collect()
}

/// The sources of the nearest paragraph before that is no block quotation.
fn before_paragraph(number: usize, blocks: &[ReadBlock]) -> Vec<usize> {
    let before = blocks[number].before.map(|before| &blocks[before]);
    before.and_then(|block| nearest_first(&block.sources)).unwrap_or_default()
}

/// The citations among the sources, the nearest first; empty if the nearest is a case. None if there are no sources.
fn nearest_first(sources: &[NamedSource]) -> Option<Vec<usize>> {
    sources.last()?;
    let citations = sources.iter().rev().map_while(|source| source.citation);
    let mut found: Vec<usize> = Vec::new();
    for citation in citations.take(BEFORE_MAX) {
        if !found.contains(&citation) {
            found.push(citation);
        }
    }
    Some(found)
}

/// Whether the words before a source say that it is the source of what was quoted: `They cite`, `It is credited to`.
fn credits(before: &str) -> bool {
    let mut words = before.split_whitespace();
    before.len() <= CITATION_BYTES_MAX
        && word_count(before) <= CREDIT_WORDS_MAX
        && words.any(|word| CREDITS.iter().any(|credit| word.eq_ignore_ascii_case(credit)))
}

/// Whether a sentence contains hardly anything but sources.
fn is_citation_alone(sentence: &Range<usize>, block: &ReadBlock, text: &str) -> bool {
    if sentence.len() > CITATION_BYTES_MAX {
        return false;
    }
    let mut words = 0;
    let mut next = sentence.start;
    let first = block.sources.partition_point(|source| source.range.start < sentence.start);
    for source in block.sources[first..].iter().take_while(|source| source.range.start < sentence.end) {
        words += words_outside_parentheses(&text[next..source.range.start.max(next)]);
        next = source.range.end.clamp(next, sentence.end.max(next));
    }
    words += words_outside_parentheses(&text[next..sentence.end.max(next)]);
    next > sentence.start && words <= OTHER_WORDS_MAX
}

fn words_outside_parentheses(text: &str) -> usize {
    let outside: String = text
        .split('(')
        .enumerate()
        .map(|(place, part)| match place {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, after)| after),
        })
        .collect();
    word_count(&outside)
}

fn are_signals(text: &str) -> bool {
    if text.len() > CITATION_BYTES_MAX {
        return false;
    }
    let words = text.split_whitespace().map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()));
    let mut words = words.filter(|word| !word.is_empty());
    let inner = text.strip_prefix(['”', '"', '’', '\'']).unwrap_or(text);
    !inner.contains(['“', '"', '‘']) && words.all(|word| SIGNALS.iter().any(|signal| signal.eq_ignore_ascii_case(word)))
}

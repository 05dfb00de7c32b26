//! Snippets: the passage of a provision that answers the query, with the positions of the query's words in it.
//!
//! A snippet comes from the best chunk if semantic search found the provision. Otherwise, or if the
//! words are elsewhere, it comes from where the words of the query are closest together; rare words
//! count most (`window`). Then whole sentences around this place are added as far as they fit (`cut`).
//! Short texts are read completely. In long texts, only the surroundings of the rarest words are read,
//! so that a provision of half a megabyte costs no more than a page. `wanted` has the words.

mod cut;
mod query_matcher;
mod window;

#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use hornbook_corpus::analyzer::Analyzer;
use hornbook_corpus::texts::{Span, Texts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine::Engine;
use super::error::SearchError;
use super::hydrate::HydratedHit;
use super::relation::Relation;
use super::request::{Hit, SearchResponse};
use super::stages::{Stage, micros};
use super::understand::{QueryKind, with_analyzer};

pub use cut::SNIPPET_CHARS_MAX;
use cut::{TextWindow, cut};
use query_matcher::QueryMatcher;
use window::{SnippetWindow, best_window, each_wanted_word};

/// Texts of up to this many bytes are read completely to find the words of a query.
const FULL_READ_BYTES_MAX: usize = 4096;

/// In longer texts, this many bytes before and after a rare word are read.
const CONTEXT_BYTES: usize = 320;

/// The maximum number of occurrences of a rare word whose surroundings are read.
const OCCURRENCES_MAX: usize = 12;

/// The maximum number of bytes of a text that are searched for rare words, all words together. The
/// search reads more than 10 GB/s.
const SEARCHED_MAX: usize = 1 << 20;

/// How many bytes before (`start`) and after (`end`) the core are available for cutting: the length of
/// a snippet and some more, for characters beyond ASCII.
const CUT_MARGINS: Range<usize> = 340..420;

/// A passage of a provision's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet<'s> {
    /// The text of the passage, line breaks included. It starts and ends with whole words.
    pub text: &'s str,
    /// The position of the passage in the snapshot's texts.
    pub place: Span,
    /// The words of the query in the passage, in order and without overlap.
    pub highlights: Vec<Highlight>,
    /// Whether the text of the provision continues before the passage.
    pub has_text_before: bool,
    /// Whether the text of the provision continues after the passage.
    pub has_text_after: bool,
}

/// A word of the query in a snippet, as a range of characters (Unicode scalar values). `start` is
/// included, `end` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Highlight {
    pub start: u32,
    pub end: u32,
}

/// A hit as it is shown to a user.
#[derive(Clone, Debug)]
pub struct ShownHit<'s> {
    pub provision: HydratedHit<'s>,
    pub snippet: Snippet<'s>,
}

impl Engine {
    /// Reads the displayed fields and the snippet of each hit of a page, and stores the time of both
    /// stages in the response.
    pub fn show(&self, response: &mut SearchResponse) -> Result<Vec<ShownHit<'_>>, SearchError> {
        let mut hydrating = Duration::ZERO;
        let mut snipping = Duration::ZERO;
        let begun = Instant::now();
        let searched = &response.searched;
        let wanted = QueryMatcher::new(&searched.words, &searched.weights, searched.kind);
        let unwanted = QueryMatcher::nothing(searched.kind);
        snipping += begun.elapsed();
        let mut shown = Vec::with_capacity(response.hits.len());
        for hit in &response.hits {
            let begun = Instant::now();
            let provision = self.hydrate(hit)?;
            let hydrated = Instant::now();
            // For a query that is only a citation, a provision is shown from its beginning, but a
            // provision that cites the named one is shown where it cites it.
            let says_nothing = hit.relation.is_some_and(|relation| relation != Relation::Citing);
            let wanted = if says_nothing { &unwanted } else { &wanted };
            let snippet = self.snippet(hit, provision.text, wanted)?;
            snipping += hydrated.elapsed();
            hydrating += hydrated - begun;
            shown.push(ShownHit { provision, snippet });
        }
        response.stages[Stage::Hydrate] = micros(hydrating);
        response.stages[Stage::Snippet] = micros(snipping);
        Ok(shown)
    }

    fn snippet(&self, hit: &Hit, text: Span, wanted: &QueryMatcher) -> Result<Snippet<'_>, SearchError> {
        let snapshot = self.snapshot();
        let chunk = hit.chunk.and_then(|chunk| snapshot.chunks.chunk(chunk)).map(|chunk| chunk.text);
        with_analyzer(|analyzer| {
            let mut search = SnippetFinder { texts: &snapshot.texts, wanted, analyzer };
            let place = search.place(text, chunk)?;
            search.snippet_at(&place)
        })
    }
}

/// The place to show: a byte range in a text of a provision.
#[derive(Clone, Debug)]
struct Passage {
    text: Span,
    core: Range<usize>,
}

/// Finds the place to show and cuts the snippet there.
struct SnippetFinder<'w, 's> {
    texts: &'s Texts,
    wanted: &'w QueryMatcher,
    analyzer: &'w mut Analyzer,
}

impl<'s> SnippetFinder<'_, 's> {
    /// `text` is the wording to show; `chunk` is the chunk that semantic search found.
    fn place(&mut self, text: Span, chunk: Option<Span>) -> Result<Passage, SearchError> {
        let in_chunk = chunk.filter(|chunk| chunk.length > 0).and_then(|chunk| within(text, chunk));
        let mut best: Option<SnippetWindow> = None;
        if let Some(bytes) = &in_chunk {
            let window = self.window_in(text, bytes.clone())?;
            let is_enough = match (&window, self.wanted.kind) {
                // The meaning of the chunk is the answer, even if the chunk does not contain these words.
                (_, QueryKind::Question) => true,
                (Some(window), QueryKind::Phrase) => window.is_full,
                (found, _) => found.is_some(),
            };
            best = window;
            if is_enough {
                let core = best.map_or(bytes.start..bytes.start, |window| window.bytes);
                return Ok(Passage { text, core });
            }
        }
        let found = self.window_of(text)?;
        let is_better = |found: &SnippetWindow| best.as_ref().is_none_or(|best| found.score > best.score);
        if let Some(window) = found.filter(is_better).or(best) {
            return Ok(Passage { text, core: window.bytes });
        }
        let start = in_chunk.map_or(0, |bytes| bytes.start);
        Ok(Passage { text, core: start..start })
    }

    fn window_in(&mut self, text: Span, bytes: Range<usize>) -> Result<Option<SnippetWindow>, SearchError> {
        let (start, part) = self.texts.part(text, bytes)?;
        Ok(best_window(self.wanted, self.analyzer, part).map(|window| window.moved(start)))
    }

    /// The best window of a whole text, as far as a limited search can find it.
    fn window_of(&mut self, text: Span) -> Result<Option<SnippetWindow>, SearchError> {
        let length = text.length as usize;
        if length <= FULL_READ_BYTES_MAX {
            return self.window_in(text, 0..length);
        }
        let mut left_to_search = SEARCHED_MAX;
        let bytes = self.texts.bytes(text)?;
        for anchor in self.wanted.anchors() {
            let searched = &bytes[..length.min(left_to_search)];
            left_to_search -= searched.len();
            let mut best: Option<SnippetWindow> = None;
            let mut read_until = 0;
            let mut read = 0;
            for place in anchor.places(searched) {
                if place < read_until {
                    continue;
                }
                read_until = place + CONTEXT_BYTES;
                let found = self.window_in(text, place.saturating_sub(CONTEXT_BYTES)..read_until)?;
                best = [best, found].into_iter().flatten().reduce(|a, b| if b.score > a.score { b } else { a });
                read += 1;
                if read == OCCURRENCES_MAX || best.as_ref().is_some_and(|best| best.is_full) {
                    break;
                }
            }
            if best.is_some() || left_to_search == 0 {
                return Ok(best);
            }
        }
        self.window_in(text, 0..FULL_READ_BYTES_MAX)
    }

    fn snippet_at(&mut self, place: &Passage) -> Result<Snippet<'s>, SearchError> {
        let length = place.text.length as usize;
        let Range { start, end } = place.core;
        let at_hand = start.saturating_sub(CUT_MARGINS.start)..end.saturating_add(CUT_MARGINS.end).min(length);
        let (start, text) = self.texts.checked_part(place.text, at_hand)?;
        let around = TextWindow { text, has_start: start == 0, has_end: start + text.len() == length };
        let bytes = cut(around, place.core.start - start..place.core.end - start);
        let passage = &text[bytes.clone()];
        let offset = place.text.offset + (start + bytes.start) as u64;
        Ok(Snippet {
            text: passage,
            place: Span { offset, length: passage.len() as u32 },
            highlights: self.highlights(passage),
            has_text_before: !around.has_start || !text[..bytes.start].trim().is_empty(),
            has_text_after: !around.has_end || !text[bytes.end..].trim().is_empty(),
        })
    }

    fn highlights(&mut self, passage: &str) -> Vec<Highlight> {
        let mut highlights: Vec<Highlight> = Vec::new();
        let (mut chars, mut counted) = (0_u32, 0);
        each_wanted_word(self.wanted, self.analyzer, passage, |_, bytes| {
            // A compound comes before its parts, so its parts are already highlighted.
            if bytes.start >= counted {
                let word = with_closing_period(passage, bytes);
                let start = chars + passage[counted..word.start].chars().count() as u32;
                chars = start + passage[word.clone()].chars().count() as u32;
                counted = word.end;
                highlights.push(Highlight { start, end: chars });
            }
            ControlFlow::Continue(())
        });
        highlights
    }
}

/// Includes the closing period of an abbreviation such as `U.S.C.`.
fn with_closing_period(passage: &str, word: Range<usize>) -> Range<usize> {
    let is_abbreviation = passage[word.clone()].contains('.') && !passage[word.clone()].contains(char::is_numeric);
    let is_followed = passage[word.end..].starts_with('.');
    word.start..word.end + usize::from(is_abbreviation && is_followed)
}

/// The range of a span within a text; `None` if it is not in the text.
fn within(text: Span, span: Span) -> Option<Range<usize>> {
    let start = span.offset.checked_sub(text.offset)?;
    let end = start + u64::from(span.length);
    (end <= u64::from(text.length)).then_some(start as usize..end as usize)
}

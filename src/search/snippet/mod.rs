//! Snippets: the passage of a provision that answers, cut out of the mapped text, with the places of the query's words.
//!
//! A snippet is shown from the best chunk where the semantic leg found the provision, or else from where the query's words
//! stand closest, rare ones counting most (`window`); then whole sentences around that are taken as far as they fit
//! (`cut`). Short texts are read through, in long ones only the neighbourhood of the rarest words is, so that a provision
//! of half a megabyte costs no more than a page. `wanted` knows the words.

mod cut;
mod wanted;
mod window;

#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use hornbook_corpus::analyzer::Analyzer;
use hornbook_corpus::texts::{Span, Texts};
use schemars::JsonSchema;
use serde::Serialize;

use super::engine::Engine;
use super::error::SearchError;
use super::hydrate::HydratedHit;
use super::relation::Relation;
use super::request::{Hit, SearchResponse};
use super::stages::{Stage, micros};
use super::understand::{QueryKind, with_analyzer};

pub use cut::SNIPPET_CHARS_MAX;
use cut::{Neighbourhood, cut};
use wanted::Wanted;
use window::{Window, best_window, each_wanted_word};

/// Texts up to this many bytes are read through for the words of a query.
const READ_THROUGH_MAX: usize = 4096;

/// In longer ones so much around a rare word is read, in bytes each way.
const AROUND: usize = 320;

/// So many places of a rare word are read around.
const PLACES_MAX: usize = 12;

/// So many bytes of a text are searched for rare words, all words together. It goes at more than 10 GB/s.
const SEARCHED_MAX: usize = 1 << 20;

/// What of a text is at hand for cutting, in bytes before its core and behind: a snippet's length and some more, for what
/// is not ASCII.
const AT_HAND: Range<usize> = 340..420;

/// A passage of a provision's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet<'s> {
    /// As it stands in the text, line breaks included; it starts and ends with whole words.
    pub text: &'s str,
    /// Where it stands in the snapshot's texts.
    pub place: Span,
    /// The words of the query in it, in order and apart from each other.
    pub highlights: Vec<Highlight>,
    /// Whether the provision's text goes on before it, and behind it.
    pub goes_on_before: bool,
    pub goes_on_behind: bool,
}

/// A word of the query in a snippet, by the characters (Unicode scalar values) before its first and its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Highlight {
    pub start: u32,
    pub end: u32,
}

/// A hit as a person is shown it.
#[derive(Clone, Debug)]
pub struct ShownHit<'s> {
    pub provision: HydratedHit<'s>,
    pub snippet: Snippet<'s>,
}

impl Engine {
    /// Reads what the hits of a page are called and which passage answers, and notes in the response how long that took.
    pub fn show(&self, response: &mut SearchResponse) -> Result<Vec<ShownHit<'_>>, SearchError> {
        let mut hydrating = Duration::ZERO;
        let mut snipping = Duration::ZERO;
        let begun = Instant::now();
        let searched = &response.searched;
        let wanted = Wanted::new(&searched.words, &searched.weights, searched.kind);
        let unwanted = Wanted::nothing(searched.kind);
        snipping += begun.elapsed();
        let mut shown = Vec::with_capacity(response.hits.len());
        for hit in &response.hits {
            let begun = Instant::now();
            let provision = self.hydrate(hit)?;
            let hydrated = Instant::now();
            // Who cites a section and says no more is shown how it begins, and where others cite it.
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

    fn snippet(&self, hit: &Hit, text: Span, wanted: &Wanted) -> Result<Snippet<'_>, SearchError> {
        let snapshot = self.snapshot();
        let chunk = hit.chunk.and_then(|chunk| snapshot.chunks.chunk(chunk)).map(|chunk| chunk.text);
        with_analyzer(|analyzer| {
            let mut search = PlaceSearch { texts: &snapshot.texts, wanted, analyzer };
            let place = search.place(text, chunk)?;
            search.snippet_at(&place)
        })
    }
}

/// What is shown: bytes of one of a provision's texts.
#[derive(Clone, Debug)]
struct Passage {
    text: Span,
    core: Range<usize>,
}

/// Looks for the place to be shown, and cuts the snippet there.
struct PlaceSearch<'w, 's> {
    texts: &'s Texts,
    wanted: &'w Wanted,
    analyzer: &'w mut Analyzer,
}

impl<'s> PlaceSearch<'_, 's> {
    /// `text` is the provision's on the day; `chunk` is the one that the semantic leg found.
    fn place(&mut self, text: Span, chunk: Option<Span>) -> Result<Passage, SearchError> {
        let in_chunk = chunk.filter(|chunk| chunk.length > 0).and_then(|chunk| within(text, chunk));
        let mut best: Option<Window> = None;
        if let Some(bytes) = &in_chunk {
            let window = self.window_in(text, bytes.clone())?;
            let is_enough = match (&window, self.wanted.kind) {
                // What the chunk means is the answer, whether it says so in these words or not.
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
        let is_better = |found: &Window| best.as_ref().is_none_or(|best| found.score > best.score);
        if let Some(window) = found.filter(is_better).or(best) {
            return Ok(Passage { text, core: window.bytes });
        }
        let start = in_chunk.map_or(0, |bytes| bytes.start);
        Ok(Passage { text, core: start..start })
    }

    fn window_in(&mut self, text: Span, bytes: Range<usize>) -> Result<Option<Window>, SearchError> {
        let (start, part) = self.texts.part(text, bytes)?;
        Ok(best_window(self.wanted, self.analyzer, part).map(|window| window.moved(start)))
    }

    /// The best window of a whole text, as far as a bounded look can tell.
    fn window_of(&mut self, text: Span) -> Result<Option<Window>, SearchError> {
        let length = text.length as usize;
        if length <= READ_THROUGH_MAX {
            return self.window_in(text, 0..length);
        }
        let mut left_to_search = SEARCHED_MAX;
        let bytes = self.texts.bytes(text)?;
        for anchor in self.wanted.anchors() {
            let searched = &bytes[..length.min(left_to_search)];
            left_to_search -= searched.len();
            let mut best: Option<Window> = None;
            let mut read_until = 0;
            let mut read = 0;
            for place in anchor.places(searched) {
                if place < read_until {
                    continue;
                }
                read_until = place + AROUND;
                let found = self.window_in(text, place.saturating_sub(AROUND)..read_until)?;
                best = [best, found].into_iter().flatten().reduce(|a, b| if b.score > a.score { b } else { a });
                read += 1;
                if read == PLACES_MAX || best.as_ref().is_some_and(|best| best.is_full) {
                    break;
                }
            }
            if best.is_some() || left_to_search == 0 {
                return Ok(best);
            }
        }
        self.window_in(text, 0..READ_THROUGH_MAX)
    }

    fn snippet_at(&mut self, place: &Passage) -> Result<Snippet<'s>, SearchError> {
        let length = place.text.length as usize;
        let Range { start, end } = place.core;
        let at_hand = start.saturating_sub(AT_HAND.start)..end.saturating_add(AT_HAND.end).min(length);
        let (start, text) = self.texts.checked_part(place.text, at_hand)?;
        let around = Neighbourhood { text, has_start: start == 0, has_end: start + text.len() == length };
        let bytes = cut(around, place.core.start - start..place.core.end - start);
        let passage = &text[bytes.clone()];
        let offset = place.text.offset + (start + bytes.start) as u64;
        Ok(Snippet {
            text: passage,
            place: Span { offset, length: passage.len() as u32 },
            highlights: self.highlights(passage),
            goes_on_before: !around.has_start || !text[..bytes.start].trim().is_empty(),
            goes_on_behind: !around.has_end || !text[bytes.end..].trim().is_empty(),
        })
    }

    fn highlights(&mut self, passage: &str) -> Vec<Highlight> {
        let mut highlights: Vec<Highlight> = Vec::new();
        let (mut chars, mut counted) = (0_u32, 0);
        each_wanted_word(self.wanted, self.analyzer, passage, |_, bytes| {
            // A whole comes before its parts, which then lie in what is emphasised already.
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

/// `U.S.C.` ends with its period.
fn with_closing_period(passage: &str, word: Range<usize>) -> Range<usize> {
    let is_abbreviation = passage[word.clone()].contains('.') && !passage[word.clone()].contains(char::is_numeric);
    let is_followed = passage[word.end..].starts_with('.');
    word.start..word.end + usize::from(is_abbreviation && is_followed)
}

/// Where a span is in a text, if it is.
fn within(text: Span, span: Span) -> Option<Range<usize>> {
    let start = span.offset.checked_sub(text.offset)?;
    let end = start + u64::from(span.length);
    (end <= u64::from(text.length)).then_some(start as usize..end as usize)
}

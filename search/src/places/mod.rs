//! Finds the place that a query names: `is weed legal in DC` asks for the law of the District of Columbia.
//!
//! The known names (`names`) are those of the snapshot's jurisdictions and codes. The name of a code
//! counts only if no section of the code is cited. The words around a name decide whether it means the
//! place (`surroundings`). If that is certain, the place restricts the search like a filter, and its
//! words are not searched for. If another reading is possible, the law of the place is only preferred.
//! Certain places take precedence over uncertain ones. If several places remain, none is chosen, unless
//! one lies in the others.

mod context;
mod names;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use hornbook_corpus::catalogue::Catalogue;

use context::{NameInContext, PlaceReading, read_place_name};
pub(super) use names::KnownPlace;
use names::{PlaceName, PlaceNames};
use words::{PlaceWord, WORD_BYTES_MAX, key_in, next_word, words_in};

/// The places of a snapshot, with a table for finding them in queries.
#[derive(Debug)]
pub(super) struct Places {
    places: Vec<KnownPlace>,
    names: PlaceNames,
}

/// The place that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedPlace {
    /// The index of the place.
    pub place: usize,
    /// The byte ranges of its name in the query. If the place is certain, they include words that add
    /// nothing: `in DC`, `under Virginia law`.
    pub bytes: Vec<Range<usize>>,
    pub is_certain: bool,
}

/// A name in a query that means a place.
struct PlaceCandidate {
    place: usize,
    bytes: Range<usize>,
    is_certain: bool,
}

impl Places {
    pub(super) fn of(catalogue: &Catalogue) -> Self {
        let (places, names) = PlaceNames::of(catalogue);
        Self { places, names }
    }

    pub(super) fn get(&self, place: usize) -> &KnownPlace {
        &self.places[place]
    }

    /// Finds the place that the plain pieces of a query name.
    pub(super) fn named_in(&self, query: &str, plain: &[Range<usize>]) -> Option<NamedPlace> {
        // Most queries name no place; this check is all they cost.
        if !plain.iter().any(|piece| self.may_name_place(&query[piece.clone()])) {
            return None;
        }
        let mut readings = Vec::new();
        for piece in plain {
            self.read(query, piece, &mut readings);
        }
        self.choose(readings)
    }

    fn may_name_place(&self, text: &str) -> bool {
        let mut at = 0;
        while let Some(word) = next_word(text, at) {
            at = word.end;
            let mut buffer = [0; WORD_BYTES_MAX];
            if key_in(&text[word], &mut buffer).is_some_and(|key| !self.names.beginning_with(key).is_empty()) {
                return true;
            }
        }
        false
    }

    fn read(&self, query: &str, piece: &Range<usize>, readings: &mut Vec<PlaceCandidate>) {
        let words = words_in(query, piece.clone());
        let has_words = |text: &str| text.contains(char::is_alphanumeric);
        let is_first_piece = !has_words(&query[..piece.start]);
        let is_last_piece = !has_words(&query[piece.end..]);
        let mut at = 0;
        while at < words.len() {
            let Some(name) = self.name_at(query, &words[at..]) else {
                at += 1;
                continue;
            };
            let end = at + 1 + name.rest.len();
            let spot = NameInContext { text: query, words: &words, name: at..end, is_first_piece, is_last_piece };
            if let Some(PlaceReading { words: phrase, is_certain }) = read_place_name(&spot, name.form) {
                // The words around a name are included only if the place is certain: only then is the
                // name removed from the query.
                let said = if is_certain { phrase } else { at..end };
                let bytes = words[said.start].bytes.start..words[said.end - 1].bytes.end;
                readings.push(PlaceCandidate { place: name.place, bytes, is_certain });
            }
            at = end;
        }
    }

    /// The longest known name at the start of `words`. It may contain commas: `Washington, D.C.`.
    fn name_at(&self, query: &str, words: &[PlaceWord]) -> Option<&PlaceName> {
        let (first, behind) = words.split_first()?;
        self.names.beginning_with(&first.key).iter().find(|name| {
            let keys = behind.iter().take(name.rest.len()).map(|word| &word.key);
            let last = words.get(name.rest.len()).map_or(first, |word| word);
            let between = &query[first.bytes.start..last.bytes.end];
            keys.eq(&name.rest) && !between.contains(['-', '\'', '’', ';', ':', '('])
        })
    }

    fn choose(&self, mut readings: Vec<PlaceCandidate>) -> Option<NamedPlace> {
        let is_certain = readings.iter().any(|reading| reading.is_certain);
        readings.retain(|reading| reading.is_certain == is_certain);
        let innermost = readings.iter().map(|reading| reading.place).reduce(|chosen, other| {
            if self.places[other].is_within_place(&self.places[chosen]) { other } else { chosen }
        })?;
        let chosen = &self.places[innermost];
        let is_same = |reading: &PlaceCandidate| {
            let other = &self.places[reading.place];
            chosen.is(other) || chosen.is_within_place(other)
        };
        let bytes = readings.iter().map(|reading| reading.bytes.clone());
        readings.iter().all(is_same).then(|| NamedPlace { place: innermost, bytes: bytes.collect(), is_certain })
    }
}

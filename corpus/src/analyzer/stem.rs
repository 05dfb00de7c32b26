//! Stems English words, with a cache: law repeats the same few thousand words, and stemming a word takes ten times
//! as long as looking it up.
//!
//! The stemmer is Porter2 from rust-stemmers, not the one that tantivy can include. Its output is part of the snapshot
//! format and must not change when the search library is upgraded.

use std::fmt;

use rust_stemmers::{Algorithm, Stemmer};

const SLOT_COUNT: usize = 4096;
const CACHED_BYTES_MAX: usize = 24;

/// A word and its stem, zero-padded. Words contain no zero bytes, so equal arrays are equal words.
#[derive(Clone, Copy)]
struct StemSlot {
    word: [u8; CACHED_BYTES_MAX],
    stem: [u8; CACHED_BYTES_MAX],
    stem_len: u8,
}

const EMPTY_SLOT: StemSlot = StemSlot { word: [0; CACHED_BYTES_MAX], stem: [0; CACHED_BYTES_MAX], stem_len: 0 };

pub(super) struct CachedStemmer {
    stemmer: Stemmer,
    /// One slot per hash value: a new word replaces the old one.
    slots: Vec<StemSlot>,
}

impl Default for CachedStemmer {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), slots: vec![EMPTY_SLOT; SLOT_COUNT] }
    }
}

impl Clone for CachedStemmer {
    fn clone(&self) -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), slots: self.slots.clone() }
    }
}

impl fmt::Debug for CachedStemmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedStemmer").finish_non_exhaustive()
    }
}

impl CachedStemmer {
    /// Replaces the word from `start` to the end of the buffer with its stem. The word must be lower-case ASCII
    /// letters.
    pub(super) fn stem_tail(&mut self, buffer: &mut String, start: usize) {
        let word = &buffer[start..];
        debug_assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "'{word}' is not a lower-case ASCII word");
        // Porter2 leaves words of one or two letters alone.
        if word.len() <= 2 {
            return;
        }
        if word.len() > CACHED_BYTES_MAX {
            let stem = self.stemmer.stem(word).into_owned();
            buffer.truncate(start);
            buffer.push_str(&stem);
            return;
        }
        let mut padded = [0; CACHED_BYTES_MAX];
        padded[..word.len()].copy_from_slice(word.as_bytes());
        let slot = &mut self.slots[slot_of(&padded)];
        if slot.word != padded {
            let stem = self.stemmer.stem(word);
            if stem.len() > CACHED_BYTES_MAX {
                let stem = stem.into_owned();
                buffer.truncate(start);
                buffer.push_str(&stem);
                return;
            }
            slot.word = padded;
            slot.stem[..stem.len()].copy_from_slice(stem.as_bytes());
            slot.stem_len = stem.len() as u8;
        }
        let stem = std::str::from_utf8(&slot.stem[..slot.stem_len as usize]);
        buffer.truncate(start);
        buffer.push_str(stem.expect("the stem of an ASCII word is ASCII"));
    }
}

fn slot_of(padded: &[u8; CACHED_BYTES_MAX]) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0_u64;
    for chunk in padded.chunks_exact(8) {
        let value = u64::from_le_bytes(chunk.try_into().expect("chunks of eight"));
        hash = (hash.rotate_left(23) ^ value).wrapping_mul(MULTIPLIER);
    }
    (hash >> 52) as usize % SLOT_COUNT
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stem(stemmer: &mut CachedStemmer, word: &str) -> String {
        let mut buffer = format!("kept{word}");
        stemmer.stem_tail(&mut buffer, 4);
        assert!(buffer.starts_with("kept"));
        buffer[4..].to_owned()
    }

    proptest! {
        #[test]
        fn the_cache_makes_no_difference(words in prop::collection::vec("[a-z]{1,30}|(generat|relat|commun)(e|es|ing|ion|ional)", 1..60)) {
            let plain = Stemmer::create(Algorithm::English);
            let mut cached = CachedStemmer::default();
            for word in words.iter().chain(&words) {
                prop_assert_eq!(stem(&mut cached, word), plain.stem(word).into_owned(), "{}", word);
            }
        }
    }
}

//! The vocabulary as a compiled-in hash map: a lookup hashes the piece, finds a slot with a token, and compares its
//! text.

use super::model::aligned_bytes;
use super::token::{TOKEN_COUNT, TokenId};
use super::word_hash::{
    CONTINUATION_SEED, EMPTY, PIECE_LEN_MAX, SLOT_COUNT, WORD_SEED, extend, first_slot, slot_value,
};

const CONTINUATION_MARK: &[u8] = b"##";

/// The position of a piece in its word: `form` and `##form` are different tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PiecePosition {
    Start,
    Continuation,
}

/// The map from pieces to tokens.
#[derive(Clone, Copy)]
pub(super) struct Vocabulary {
    slots: &'static [u32; SLOT_COUNT],
    ends: &'static [u32],
    text: &'static [u8],
}

impl Vocabulary {
    pub(super) fn compiled_in() -> Self {
        let slots: &[u32] = bytemuck::cast_slice(aligned_bytes!(concat!(env!("OUT_DIR"), "/vocabulary-slots.bin")));
        let ends: &[u32] = bytemuck::cast_slice(aligned_bytes!(concat!(env!("OUT_DIR"), "/vocabulary-ends.bin")));
        assert!(ends.len() == TOKEN_COUNT, "the build script counted the tokens");
        Self {
            slots: slots.try_into().expect("the build script writes every slot"),
            ends,
            text: include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary-text.bin")),
        }
    }

    /// The longest token with which `text` starts, and the length of that token without `##`.
    #[inline]
    pub(super) fn longest(&self, text: &[u8], place: PiecePosition) -> Option<(TokenId, usize)> {
        let mut hashes = [0; PIECE_LEN_MAX];
        let mut hash = if place == PiecePosition::Start { WORD_SEED } else { CONTINUATION_SEED };
        let length_max = text.len().min(PIECE_LEN_MAX);
        for (known, &byte) in hashes.iter_mut().zip(text) {
            hash = extend(hash, byte);
            *known = hash;
        }
        (1..=length_max).rev().find_map(|length| Some((self.find(&text[..length], hashes[length - 1], place)?, length)))
    }

    #[inline]
    fn find(&self, piece: &[u8], hash: u64, place: PiecePosition) -> Option<TokenId> {
        let mut slot = first_slot(hash);
        loop {
            let value = self.slots[slot % SLOT_COUNT];
            if value == EMPTY {
                return None;
            }
            let token = TokenId(value as u16);
            if value == slot_value(hash, token.0) && self.token_is_piece(token, piece, place) {
                return Some(token);
            }
            slot += 1;
        }
    }

    fn token_is_piece(&self, token: TokenId, piece: &[u8], place: PiecePosition) -> bool {
        let text = self.text(token);
        match place {
            PiecePosition::Start => text == piece,
            PiecePosition::Continuation => text.strip_prefix(CONTINUATION_MARK) == Some(piece),
        }
    }

    /// The token as the vocabulary writes it, with `##`. Empty for a number beyond the vocabulary.
    pub(super) fn text(&self, token: TokenId) -> &'static [u8] {
        let Some(&end) = self.ends.get(token.index()) else { return &[] };
        let start = token.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_the_vocabulary_file_is_found_under_its_line_number() {
        let vocabulary = Vocabulary::compiled_in();
        for (line, text) in include_str!("../../model/vocab.txt").lines().enumerate() {
            let token = TokenId(line as u16);
            assert_eq!(vocabulary.text(token), text.as_bytes());
            let special = text.starts_with('[') && text.len() > 1;
            let found = match text.strip_prefix("##") {
                Some(piece) if !piece.is_empty() => vocabulary.longest(piece.as_bytes(), PiecePosition::Continuation),
                _ => vocabulary.longest(text.as_bytes(), PiecePosition::Start),
            };
            assert_eq!(found.map(|(found, _)| found) == Some(token), !special, "{text}");
        }
        assert_eq!(vocabulary.text(TokenId(u16::MAX)), b"");
        let marks = [TokenId::UNKNOWN, TokenId::CLASSIFIER, TokenId::SEPARATOR].map(|mark| vocabulary.text(mark));
        assert_eq!(marks, [&b"[UNK]"[..], b"[CLS]", b"[SEP]"]);
    }

    #[test]
    fn the_longest_prefix_wins() {
        let vocabulary = Vocabulary::compiled_in();
        let (token, length) = vocabulary.longest(b"statutezz", PiecePosition::Start).unwrap();
        assert_eq!((vocabulary.text(token), length), (&b"statute"[..], 7));
        assert_eq!(vocabulary.longest(b"", PiecePosition::Start), None);
    }
}

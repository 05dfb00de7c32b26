//! Text as the grammar reads it. Unusual spaces, dashes and quotes are folded to one character each. The text is
//! read by byte offset, without a copy.
//!
//! Every skip is bounded, so an attempt at one position takes bounded time for any text.

/// The end of the text.
pub(super) const END: u8 = 0;
/// The section sign.
pub(super) const SECTION_SIGN: u8 = 1;
/// An ellipsis character.
pub(super) const ELLIPSIS: u8 = 2;
/// A paragraph sign.
pub(super) const PILCROW: u8 = 3;
/// Any character that the grammar does not use.
pub(super) const OTHER: u8 = 4;

/// Longest run of spaces that still joins two parts of a citation (a wrapped and indented line).
const SPACES_MAX: usize = 24;

#[derive(Clone, Copy)]
pub(super) struct CitationText<'t>(&'t str);

impl<'t> CitationText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self(text)
    }

    pub(super) fn slice(self, start: usize, end: usize) -> &'t str {
        self.0.get(start..end).unwrap_or("")
    }

    /// The text before `pos`, at most `most` bytes of it.
    pub(super) fn before(self, pos: usize, most: usize) -> &'t str {
        let start = (pos.saturating_sub(most)..=pos).find(|&at| self.0.is_char_boundary(at));
        self.slice(start.unwrap_or(pos), pos)
    }

    /// The folded character at a character boundary, and its length in bytes.
    #[inline]
    pub(super) fn at(self, pos: usize) -> (u8, usize) {
        match self.0.as_bytes().get(pos) {
            None => (END, 0),
            Some(&byte) if byte.is_ascii_graphic() || byte == b' ' => (byte, 1),
            Some(b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => (b' ', 1),
            Some(byte) if byte.is_ascii() => (OTHER, 1),
            Some(_) => self.fold_wide(pos),
        }
    }

    fn fold_wide(self, pos: usize) -> (u8, usize) {
        let Some(character) = self.0.get(pos..).and_then(|rest| rest.chars().next()) else {
            return (OTHER, 1);
        };
        let folded = match character {
            '§' => SECTION_SIGN,
            '\u{a0}' | '\u{2000}'..='\u{200d}' | '\u{202f}' | '\u{205f}' | '\u{2060}' | '\u{3000}' | '\u{feff}' => b' ',
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => b'-',
            '\u{2018}' | '\u{2019}' | '\u{2bb}' | '\u{2bc}' => b'\'',
            '…' => ELLIPSIS,
            '¶' => PILCROW,
            _ => OTHER,
        };
        (folded, character.len_utf8())
    }

    #[inline]
    pub(super) fn folded_at(self, pos: usize) -> u8 {
        self.at(pos).0
    }

    /// Whether a word or number could begin at `pos`: there is no letter or digit before it.
    pub(super) fn begins_word(self, pos: usize) -> bool {
        let before = self.0.get(..pos).and_then(|text| text.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
    }

    /// Whether a word or number could end at `pos`.
    pub(super) fn ends_word(self, pos: usize) -> bool {
        match self.folded_at(pos) {
            OTHER => !self.0.get(pos..).and_then(|text| text.chars().next()).is_some_and(char::is_alphanumeric),
            sign => !sign.is_ascii_alphanumeric(),
        }
    }

    /// Skips spaces, but not an empty line, because the text after it belongs to something else.
    pub(super) fn skip_spaces(self, start: usize) -> usize {
        let mut pos = start;
        let mut line_ends = 0;
        for _ in 0..SPACES_MAX {
            let (sign, len) = self.at(pos);
            if sign != b' ' {
                break;
            }
            line_ends += usize::from(self.slice(pos, pos + 1) == "\n");
            pos += len;
        }
        if line_ends > 1 { start } else { pos }
    }

    /// Whether `pos` is at the beginning of a line and the text before it ends with a full stop.
    pub(super) fn begins_paragraph(self, pos: usize) -> bool {
        let before = self.0.get(..pos).unwrap_or("").as_bytes();
        let mut spaces = before.iter().rev().take(SPACES_MAX).take_while(|byte| byte.is_ascii_whitespace());
        let line_ended = spaces.any(|byte| *byte == b'\n');
        let last = before.iter().rev().take(SPACES_MAX).find(|byte| !byte.is_ascii_whitespace());
        line_ended && last == Some(&b'.')
    }

    /// Skips spaces and one comma.
    pub(super) fn skip_comma(self, pos: usize) -> usize {
        let pos = self.skip_spaces(pos);
        if self.folded_at(pos) == b',' { self.skip_spaces(pos + 1) } else { pos }
    }

    /// The end of `word`, with a period after it, if the whole word is at `pos`. `word` must be lower case; the
    /// text may have any case.
    pub(super) fn word(self, pos: usize, word: &str) -> Option<usize> {
        let end = pos + word.len();
        let found = self.0.as_bytes().get(pos..end)?.eq_ignore_ascii_case(word.as_bytes());
        if !found || !self.ends_word(end) {
            return None;
        }
        // In `sec.12` the period belongs to the word, even if no space follows.
        Some(if self.folded_at(end) == b'.' && self.folded_at(end + 1) != b'.' { end + 1 } else { end })
    }

    /// The end of the first of `words` that is at `pos`.
    pub(super) fn any_word(self, pos: usize, words: &[&str]) -> Option<usize> {
        words.iter().find_map(|word| self.word(pos, word))
    }

    /// The end of a sequence of words at `pos`, in any case.
    pub(super) fn words(self, pos: usize, words: &[&str]) -> Option<usize> {
        let (first, rest) = words.split_first()?;
        let end = self.word(pos, first)?;
        rest.iter().try_fold(end, |end, word| self.word(self.skip_spaces(end), word))
    }

    /// Skips at most five digits.
    pub(super) fn digits_end(self, pos: usize) -> usize {
        let bytes = self.0.as_bytes();
        let digits = bytes.get(pos..).unwrap_or(&[]).iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
        pos + digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_dashes_and_signs_fold() {
        for (text, sign) in [
            ("\u{a0}", b' '),
            ("\u{2009}", b' '),
            ("–", b'-'),
            ("−", b'-'),
            ("’", b'\''),
            ("§", SECTION_SIGN),
            ("é", OTHER),
        ] {
            assert_eq!(CitationText::new(text).at(0), (sign, text.len()), "{text:?}");
        }
        assert_eq!(CitationText::new("").at(0), (END, 0));
        assert_eq!(CitationText::new("\0").at(0), (OTHER, 1));
    }

    #[test]
    fn only_whole_words_match() {
        let text = CitationText::new("Sec. sections title.");
        assert_eq!(text.word(0, "sec"), Some(4));
        assert_eq!(text.word(5, "section"), None);
        assert_eq!(text.word(5, "sections"), Some(13));
    }
}

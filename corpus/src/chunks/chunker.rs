//! Splits a provision's text into chunks of about 200 tokens, and tokenises it only once.
//!
//! Paragraphs (lines) are added until there are enough tokens. A paragraph that is too long for one chunk is split
//! into sentences, a sentence that is too long into words, and a word that is too long (a row of dots, binary data)
//! into short slices. Chunks are ranges of the text, in order, without overlap. Only white space is in no chunk.

use std::ops::Range;

use super::sentences::sentence_ends;
use crate::embed::{Embedder, TokenId, embedder};

/// A chunk is closed when it has this many tokens.
pub const CHUNK_TOKENS: usize = 200;

/// The largest number of tokens in a chunk: a full one, plus a short start before it and a short remainder after it.
pub const CHUNK_TOKENS_MAX: usize = CHUNK_TOKENS_FULL + 2 * CHUNK_TOKENS_SHORT;

/// A passage that would make a chunk longer than this starts the next chunk, unless the chunk has fewer than
/// [`CHUNK_TOKENS_SHORT`] tokens.
const CHUNK_TOKENS_FULL: usize = 256;

/// A chunk with fewer tokens has too little meaning alone: the next passage is added to it, or, at the end of the
/// text, it is added to the chunk before.
const CHUNK_TOKENS_SHORT: usize = 64;

/// Length in bytes of the slices of a word that is too long for a chunk. A slice has no more tokens than bytes.
const SLICE_LEN: usize = 64;

/// Splits texts into chunks. It keeps its buffers, so reuse one for many texts.
pub struct Chunker {
    embedder: &'static Embedder,
    tokens: Vec<TokenId>,
    sentences: Vec<TokenizedSpan>,
    chunks: Vec<TokenizedSpan>,
    open: Option<TokenizedSpan>,
}

/// A part of the text and its tokens. Consecutive stretches have consecutive tokens.
#[derive(Clone)]
struct TokenizedSpan {
    text: Range<usize>,
    tokens: Range<usize>,
}

/// The chunks of one text.
#[derive(Clone, Copy)]
pub struct Chunks<'a> {
    tokens: &'a [TokenId],
    stretches: &'a [TokenizedSpan],
}

/// One chunk: its bytes in the text, and its tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextChunk<'a> {
    pub range: Range<usize>,
    pub tokens: &'a [TokenId],
}

impl<'a> Chunks<'a> {
    pub fn len(self) -> usize {
        self.stretches.len()
    }

    /// True if the text contains only white space.
    pub fn is_empty(self) -> bool {
        self.stretches.is_empty()
    }

    pub fn iter(self) -> impl Iterator<Item = TextChunk<'a>> {
        self.stretches
            .iter()
            .map(move |stretch| TextChunk { range: stretch.text.clone(), tokens: &self.tokens[stretch.tokens.clone()] })
    }

    /// The tokens of the whole text.
    pub fn tokens(self) -> &'a [TokenId] {
        self.tokens
    }
}

impl Default for Chunker {
    fn default() -> Self {
        Self::new()
    }
}

impl Chunker {
    pub fn new() -> Self {
        Self { embedder: embedder(), tokens: Vec::new(), sentences: Vec::new(), chunks: Vec::new(), open: None }
    }

    pub fn chunk(&mut self, text: &str) -> Chunks<'_> {
        self.tokens.clear();
        self.chunks.clear();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            self.add_paragraph(text, trimmed(text, start..start + line.len()));
            start += line.len();
        }
        self.close_last();
        Chunks { tokens: &self.tokens, stretches: &self.chunks }
    }

    fn add_paragraph(&mut self, text: &str, paragraph: Range<usize>) {
        // There are no more tokens than bytes, so a short paragraph need not be split into sentences.
        if paragraph.len() <= CHUNK_TOKENS_FULL {
            let stretch = self.tokenized(text, paragraph);
            return self.append_to_chunk(&stretch);
        }
        let mut sentences = std::mem::take(&mut self.sentences);
        let mut start = paragraph.start;
        for end in sentence_ends(&text[paragraph.clone()]) {
            let end = paragraph.start + end;
            let sentence = self.tokenized(text, trimmed(text, start..end));
            sentences.push(sentence);
            start = end;
        }
        self.append_paragraph(text, paragraph, &sentences);
        sentences.clear();
        self.sentences = sentences;
    }

    /// Adds a paragraph as a whole if it fits into a chunk, otherwise sentence by sentence.
    fn append_paragraph(&mut self, text: &str, paragraph: Range<usize>, sentences: &[TokenizedSpan]) {
        let first = sentences.first().map_or(self.tokens.len(), |stretch| stretch.tokens.start);
        if self.tokens.len() - first <= CHUNK_TOKENS_FULL {
            return self.append_to_chunk(&TokenizedSpan { text: paragraph, tokens: first..self.tokens.len() });
        }
        // Slicing a word changes the tokens of an overlong sentence, so the tokens after it move.
        let behind = self.tokens.split_off(first);
        for sentence in sentences {
            if sentence.tokens.len() > CHUNK_TOKENS_FULL {
                self.add_words(text, sentence.text.clone());
                continue;
            }
            let start = self.tokens.len();
            self.tokens.extend_from_slice(&behind[sentence.tokens.start - first..sentence.tokens.end - first]);
            self.append_to_chunk(&TokenizedSpan { text: sentence.text.clone(), tokens: start..self.tokens.len() });
        }
    }

    fn add_words(&mut self, text: &str, sentence: Range<usize>) {
        let mut start = sentence.start;
        for word in text[sentence].split_inclusive(char::is_whitespace) {
            let range = trimmed(text, start..start + word.len());
            start += word.len();
            let stretch = self.tokenized(text, range.clone());
            if stretch.tokens.len() > CHUNK_TOKENS_FULL {
                self.tokens.truncate(stretch.tokens.start);
                self.add_slices(text, range);
            } else {
                self.append_to_chunk(&stretch);
            }
        }
    }

    fn add_slices(&mut self, text: &str, word: Range<usize>) {
        let mut start = word.start;
        while start < word.end {
            let end = text.floor_char_boundary(start + SLICE_LEN).min(word.end);
            let stretch = self.tokenized(text, start..end);
            self.append_to_chunk(&stretch);
            start = end;
        }
    }

    fn tokenized(&mut self, text: &str, range: Range<usize>) -> TokenizedSpan {
        let start = self.tokens.len();
        self.embedder.tokenize(&text[range.clone()], &mut self.tokens);
        TokenizedSpan { text: range, tokens: start..self.tokens.len() }
    }

    /// Adds a stretch to the open chunk, or closes that chunk and opens the next one with it.
    fn append_to_chunk(&mut self, added: &TokenizedSpan) {
        if added.text.is_empty() {
            return;
        }
        let fits = |open: &TokenizedSpan| {
            open.tokens.len() < CHUNK_TOKENS_SHORT || open.tokens.len() + added.tokens.len() <= CHUNK_TOKENS_FULL
        };
        self.chunks.extend(self.open.take_if(|open| !fits(open)));
        let mut chunk =
            self.open.take().unwrap_or(TokenizedSpan { text: added.text.start..0, tokens: added.tokens.start..0 });
        chunk.text.end = added.text.end;
        chunk.tokens.end = added.tokens.end;
        let is_closed = chunk.tokens.len() >= CHUNK_TOKENS;
        if is_closed {
            self.chunks.push(chunk);
        } else {
            self.open = Some(chunk);
        }
    }

    fn close_last(&mut self) {
        let Some(last) = self.open.take() else { return };
        match self.chunks.last_mut() {
            Some(before) if last.tokens.len() < CHUNK_TOKENS_SHORT => {
                before.text.end = last.text.end;
                before.tokens.end = last.tokens.end;
            }
            _ => self.chunks.push(last),
        }
    }
}

/// The range without white space at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let untrimmed = &text[range.clone()];
    let start = range.start + (untrimmed.len() - untrimmed.trim_start().len());
    start..start + untrimmed.trim().len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<(&str, usize)> {
        let mut chunker = Chunker::new();
        chunker.chunk(text).iter().map(|chunk| (&text[chunk.range], chunk.tokens.len())).collect()
    }

    fn words(count: usize) -> String {
        ["lease", "tenant", "owner", "court"].iter().cycle().take(count).copied().collect::<Vec<_>>().join(" ")
    }

    /// Checks what must be true of the chunks of any text.
    fn check(text: &str) -> Result<(), TestCaseError> {
        let mut chunker = Chunker::new();
        let chunks = chunker.chunk(text);
        let (mut text_end, mut token_count) = (0, 0);
        for chunk in chunks.iter() {
            prop_assert!(text.is_char_boundary(chunk.range.start) && text.is_char_boundary(chunk.range.end));
            prop_assert!(text_end <= chunk.range.start && chunk.range.start < chunk.range.end);
            prop_assert!(text[text_end..chunk.range.start].trim().is_empty(), "text between chunks");
            prop_assert!(chunk.tokens.len() <= CHUNK_TOKENS_MAX);
            prop_assert!(
                chunks.len() == 1 || chunk.tokens.len() >= CHUNK_TOKENS_SHORT,
                "a scrap of {}",
                chunk.tokens.len()
            );
            let found = &text[chunk.range.clone()];
            prop_assert_eq!(found.trim(), found);
            text_end = chunk.range.end;
            token_count += chunk.tokens.len();
        }
        prop_assert!(text[text_end..].trim().is_empty(), "text behind the last chunk");
        prop_assert_eq!(token_count, chunks.tokens().len());
        Ok(())
    }

    #[test]
    fn short_texts_are_one_chunk_and_white_space_none() {
        assert_eq!(cut("  A dog shall be fed.\n"), [("A dog shall be fed.", 6)]);
        assert_eq!(cut("(a) One.\n\n(b) Two."), [("(a) One.\n\n(b) Two.", 10)]);
        assert_eq!(cut(" \n\t\n"), []);
        assert_eq!(cut(""), []);
    }

    #[test]
    fn paragraphs_stay_whole_and_small_remainders_join() {
        let (a, b, c) = (words(150), words(120), words(30));
        assert_eq!(cut(&format!("{a}\n{b}\n{c}")), [(a.as_str(), 150), (&format!("{b}\n{c}"), 150)]);
        let full = words(210);
        assert_eq!(cut(&format!("{full}\n{c}")), [(format!("{full}\n{c}").as_str(), 240)]);
    }

    #[test]
    fn overlong_paragraphs_are_cut_at_sentences_and_overlong_sentences_at_words() {
        let sentence = format!("{}.", words(152));
        let paragraph = format!("{sentence} Then {sentence} Then {sentence}");
        let expected = format!("Then {sentence}");
        assert_eq!(cut(&paragraph), [(sentence.as_str(), 153), (&expected, 154), (&expected, 154)]);
        let endless = words(1000);
        let sizes: Vec<usize> = cut(&endless).iter().map(|&(_, tokens)| tokens).collect();
        assert_eq!(sizes, [200; 5]);
        assert!(cut(&endless).iter().all(|(chunk, _)| chunk.starts_with("lease") && chunk.ends_with("court")));
    }

    #[test]
    fn megabytes_without_a_break_are_cut_too() {
        for unit in [".", "a", "中", "é.", "a b\n", "\u{200b}", "1.5;"] {
            check(&unit.repeat(300_000)).unwrap();
        }
    }

    proptest! {
        #[test]
        fn any_text_is_covered_in_order(text in any::<String>()) {
            check(&text)?;
        }

        #[test]
        fn long_texts_are_covered_in_order(
            pieces in prop::collection::vec(("[a-zé中.]{1,9}|[.;] |\n|§ |\\.{300,900}|\u{a0}\u{ad}", 1..60_usize), 0..60)
        ) {
            let text: String = pieces.iter().map(|(piece, times)| piece.repeat(*times)).collect();
            check(&text)?;
        }

        #[test]
        fn cutting_changes_no_token(words in prop::collection::vec("[a-z§]{1,12}[.;,]?( |\n)", 0..900)) {
            let text = words.concat();
            let mut whole = Vec::new();
            embedder().tokenize(&text, &mut whole);
            let mut chunker = Chunker::new();
            let chunks = chunker.chunk(&text);
            prop_assert_eq!(chunks.tokens(), &whole);
            for chunk in chunks.iter() {
                let mut again = Vec::new();
                embedder().tokenize(&text[chunk.range.clone()], &mut again);
                prop_assert_eq!(chunk.tokens, &again);
            }
        }
    }
}

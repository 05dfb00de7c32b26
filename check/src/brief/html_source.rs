//! Where the texts of an HTML file are in it. The tokenizer does not say that. It gets the file in pieces that begin with
//! `<` or `&`, so each text is that of one piece: an entity at its beginning, or what is after an entity or tag.

use std::ops::Range;

/// The pieces of a file that the tokenizer has got last.
pub(super) struct HtmlSource<'s> {
    source: &'s str,
    /// A piece that the tokenizer has not given back yet: it waits for the sign after an entity.
    waiting: HtmlPiece,
    latest: HtmlPiece,
}

/// What is left of a piece.
#[derive(Clone)]
struct HtmlPiece {
    rest: Range<usize>,
    /// Whether nothing of it was given back.
    is_whole: bool,
}

const NOTHING: HtmlPiece = HtmlPiece { rest: 0..0, is_whole: false };

impl<'s> HtmlSource<'s> {
    pub(super) const fn new(source: &'s str) -> Self {
        Self { source, waiting: NOTHING, latest: NOTHING }
    }

    /// The pieces of a file, in order.
    pub(super) fn pieces(source: &str) -> impl Iterator<Item = Range<usize>> + '_ {
        let begins = memchr::memchr2_iter(b'<', b'&', source.as_bytes()).filter(|&at| at > 0);
        let mut start = 0;
        begins.chain(std::iter::once(source.len())).map(move |end| std::mem::replace(&mut start, end)..end)
    }

    /// The tokenizer gets the next piece.
    pub(super) fn begin(&mut self, piece: Range<usize>) {
        self.waiting = std::mem::replace(&mut self.latest, HtmlPiece { rest: piece, is_whole: true });
    }

    /// The tokenizer has read a tag, to its end.
    pub(super) fn skip_tag(&mut self) {
        self.skip_other();
        let piece = &self.source.as_bytes()[self.latest.rest.clone()];
        let begins_with_tag = piece.first() == Some(&b'<');
        let mut quote = None;
        for (at, &byte) in piece.iter().enumerate() {
            match (byte, quote) {
                (b'"' | b'\'', None) if begins_with_tag => quote = Some(byte),
                (b'"' | b'\'', Some(open)) if byte == open => quote = None,
                (b'>', None) => {
                    self.latest.rest.start += at + 1;
                    return;
                }
                _ => {}
            }
        }
    }

    /// The tokenizer has read something else that is no text.
    pub(super) fn skip_other(&mut self) {
        self.waiting = NOTHING;
        self.latest.is_whole = false;
    }

    /// Where a text is. An entity is at its `&`.
    pub(super) fn place_of(&mut self, text: &str) -> Option<usize> {
        if let Some(at) = self.waiting.take(self.source, text) {
            return Some(at);
        }
        self.waiting = NOTHING;
        self.latest.take(self.source, text).or_else(|| {
            // The tokenizer writes all line breaks as line feeds, and divides the text at others.
            let at = memchr::memmem::find(&self.source.as_bytes()[self.latest.rest.clone()], text.as_bytes())?;
            let at = self.latest.rest.start + at;
            self.latest.rest.start = at + text.len();
            Some(at)
        })
    }
}

impl HtmlPiece {
    /// Takes a text away: the beginning of the piece as it is, an entity at its beginning, or its end.
    fn take(&mut self, source: &str, text: &str) -> Option<usize> {
        let rest = &source[self.rest.clone()];
        let is_whole = std::mem::replace(&mut self.is_whole, false);
        let at = self.rest.start;
        if rest.starts_with(text) {
            self.rest.start += text.len();
            return Some(at);
        }
        if let (true, Some(entity)) = (is_whole, rest.strip_prefix('&')) {
            // `&notit;` is an entity and text.
            let name = entity.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
            let is_ended = entity.as_bytes().get(name) == Some(&b';');
            self.rest.start += if is_ended { name + 2 } else { 1 };
            return Some(at);
        }
        let before = rest.strip_suffix(text)?.len();
        self.rest.start = self.rest.end;
        Some(at + before)
    }
}

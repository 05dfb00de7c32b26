//! HTML, read as a browser divides it into tags and text. Scripts, styles and the head but for the title are left out.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use super::html_source::HtmlSource;
use super::{BlockWriter, BriefBlockKind, BriefError};

/// Elements whose text flows on in the paragraph around them.
const INLINE: [&str; 32] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
    "var",
];

/// Elements without text for readers.
const LEFT_OUT: [&str; 8] = ["script", "style", "template", "noscript", "iframe", "svg", "math", "object"];

/// Maximum length of a tag: each attribute is compared with all others.
pub(super) const TAG_BYTES_MAX: usize = 16 << 10;

pub(super) fn read(source: &str, writer: &mut BlockWriter) -> Result<(), BriefError> {
    if has_long_tag(source) {
        return Err(BriefError::LongTag);
    }
    let reader = HtmlReader { source: HtmlSource::new(source), writer, quotes: 0, left_out: None };
    let tokenizer = Tokenizer::new(HtmlSink(RefCell::new(reader)), TokenizerOpts::default());
    let input = BufferQueue::default();
    for piece in HtmlSource::pieces(source) {
        input.push_back(StrTendril::from_slice(&source[piece.clone()]));
        tokenizer.sink.0.borrow_mut().source.begin(piece);
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner().end();
    Ok(())
}

/// Whether a tag is so long that comparing its attributes with each other takes long.
fn has_long_tag(source: &str) -> bool {
    let bytes = source.as_bytes();
    let mut opened = None;
    for at in memchr::memchr2_iter(b'<', b'>', bytes) {
        match (bytes[at], opened) {
            (b'>', Some(start)) if at - start > TAG_BYTES_MAX => return true,
            (b'>', _) => opened = None,
            (_, None) if bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'/') => {
                opened = Some(at);
            }
            _ => {}
        }
    }
    opened.is_some_and(|start| bytes.len() - start > TAG_BYTES_MAX)
}

struct HtmlSink<'r>(RefCell<HtmlReader<'r>>);

struct HtmlReader<'r> {
    source: HtmlSource<'r>,
    writer: &'r mut BlockWriter,
    /// The number of open block quotations.
    quotes: usize,
    /// The element whose text is left out, and the number of elements of its name that are open.
    left_out: Option<(String, usize)>,
}

impl TokenSink for HtmlSink<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut reader = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => reader.text(&text),
            Token::TagToken(tag) => {
                reader.source.skip_tag();
                return reader.tag(&tag);
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) => reader.source.skip_other(),
            Token::NullCharacterToken | Token::EOFToken | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }
}

impl HtmlReader<'_> {
    fn text(&mut self, text: &str) {
        let place = self.source.place_of(text);
        if self.left_out.is_none() {
            self.writer.push(text, place);
        }
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let (name, opens) = (&*tag.name, tag.kind == TagKind::StartTag);
        if let Some((left_out, open)) = &mut self.left_out {
            if **left_out == *name && !tag.self_closing {
                *open = if opens { *open + 1 } else { open.saturating_sub(1) };
            }
            if *open == 0 {
                self.left_out = None;
            }
            return TokenSinkResult::Continue;
        }
        match name {
            "q" => self.writer.push_character(if opens { '“' } else { '”' }, None),
            "br" => self.writer.push_character(' ', None),
            name if INLINE.contains(&name) || LEFT_OUT.contains(&name) => {}
            "blockquote" => {
                self.end();
                self.quotes = if opens { self.quotes + 1 } else { self.quotes.saturating_sub(1) };
            }
            _ => self.end(),
        }
        if opens && !tag.self_closing && LEFT_OUT.contains(&name) {
            self.left_out = Some((name.to_owned(), 1));
        }
        match name {
            "script" if opens => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "noscript" | "iframe" if opens => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" if opens => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }

    fn end(&mut self) {
        self.writer.end(if self.quotes > 0 { BriefBlockKind::Quote } else { BriefBlockKind::Paragraph });
    }
}

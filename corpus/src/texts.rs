//! The law itself: every text, note and source credit end to end in one mapped, uncompressed file.
//!
//! A `Span` says where a text lies; node records and chunks carry spans. Reading one is a slice of the map and a check
//! that it is UTF-8, so a snippet is cut without copying the provision.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "texts.bin";
const KIND: FileKind = FileKind { magic: *b"HBTEXTS\0", version: 1 };

/// A run of bytes in the text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Span {
    pub offset: u64,
    pub length: u32,
}

/// The longest single text: a hundred times the longest section known.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub struct TextWriter {
    out: SectionWriter,
    position: u64,
}

impl TextWriter {
    pub fn create(dir: &Path) -> Result<Self, SectionFileError> {
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 1)?;
        out.begin("texts")?;
        Ok(Self { out, position: 0 })
    }

    /// Where the next text will begin.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn push(&mut self, text: &str) -> Result<Span, SectionFileError> {
        assert!(text.len() <= TEXT_BYTES_MAX, "importers bound the texts they hand over");
        let span = Span { offset: self.position, length: text.len() as u32 };
        self.out.write(text.as_bytes())?;
        self.position += u64::from(span.length);
        Ok(span)
    }

    pub fn finish(self) -> Result<(), SectionFileError> {
        self.out.finish()
    }
}

/// A span that does not lie in the file or does not hold UTF-8: the snapshot is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextDamaged(pub Span);

impl fmt::Display for TextDamaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Span { offset, length } = self.0;
        write!(
            f,
            "{FILE_NAME} holds no text at {offset} of {length} bytes: the snapshot is damaged, run 'hornbook verify'"
        )
    }
}

impl std::error::Error for TextDamaged {}

/// The mapped texts.
#[derive(Clone, Debug)]
pub struct Texts {
    bytes: Column<u8>,
}

impl Texts {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        Ok(Self { bytes: SectionFile::open(&dir.join(FILE_NAME), KIND)?.column("texts")? })
    }

    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn get(&self, span: Span) -> Result<&str, TextDamaged> {
        std::str::from_utf8(self.bytes(span)?).map_err(|_| TextDamaged(span))
    }

    /// The bytes of a text, for whoever looks for the place to read: not yet known to be UTF-8.
    pub fn bytes(&self, span: Span) -> Result<&[u8], TextDamaged> {
        let start = usize::try_from(span.offset).map_err(|_| TextDamaged(span))?;
        let end = start.checked_add(span.length as usize).ok_or(TextDamaged(span))?;
        self.bytes.get(start..end).ok_or(TextDamaged(span))
    }

    /// The whole characters that lie within some bytes of a text, and where in it they start. Costs what the part is
    /// long, not what the text is.
    pub fn part(&self, span: Span, within: Range<usize>) -> Result<(usize, &str), TextDamaged> {
        let bytes = self.bytes(span)?;
        let begins_character = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let end = within.end.min(bytes.len());
        let end = (end.saturating_sub(3)..=end).rev().find(begins_character).ok_or(TextDamaged(span))?;
        let start = (within.start..=within.start.saturating_add(3)).find(begins_character).ok_or(TextDamaged(span))?;
        let start = start.min(end);
        let part = std::str::from_utf8(&bytes[start..end]).map_err(|_| TextDamaged(span))?;
        Ok((start, part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_and_wild_spans_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TextWriter::create(dir.path()).unwrap();
        let first = writer.push("§ 1. Words.").unwrap();
        let empty = writer.push("").unwrap();
        let second = writer.push("— and more").unwrap();
        writer.finish().unwrap();
        let texts = Texts::open(dir.path()).unwrap();
        assert_eq!(texts.get(first), Ok("§ 1. Words."));
        assert_eq!(texts.get(empty), Ok(""));
        assert_eq!(texts.get(second), Ok("— and more"));
        for wild in [
            Span { offset: 1, length: 4 }, // Starts inside a character.
            Span { offset: 0, length: 10_000 },
            Span { offset: u64::MAX, length: 1 },
            Span { offset: u64::MAX - 2, length: u32::MAX },
        ] {
            assert_eq!(texts.get(wild), Err(TextDamaged(wild)));
        }
    }

    #[test]
    fn a_part_is_cut_between_characters() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TextWriter::create(dir.path()).unwrap();
        writer.push("before").unwrap();
        let span = writer.push("§ é北京 end").unwrap();
        writer.push("behind").unwrap();
        writer.finish().unwrap();
        let texts = Texts::open(dir.path()).unwrap();
        let whole = texts.get(span).unwrap();
        for start in 0..=whole.len() + 4 {
            for end in 0..=whole.len() + 4 {
                let (at, part) = texts.part(span, start..end).unwrap();
                assert_eq!(&whole[at..at + part.len()], part, "{start}..{end}");
                let inside = |at: usize| at >= start && at < end && at < whole.len();
                let wanted: String = whole
                    .char_indices()
                    .filter(|&(at, c)| inside(at) && at + c.len_utf8() <= end)
                    .map(|(_, c)| c)
                    .collect();
                assert_eq!(part, wanted, "{start}..{end}");
            }
        }
        assert!(texts.part(Span { offset: 4, length: 100 }, 0..5).is_err());
    }
}

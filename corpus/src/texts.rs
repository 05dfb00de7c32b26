//! The text of the law: all texts, notes and source credits, one after another in one mapped, uncompressed file.
//!
//! A `Span` is the position of a text; node records and chunks contain spans. Reading one takes a slice of the
//! mapped file, without a copy. A text is checked before it is shown: a law text against its SHA-256, everything
//! else against the checksums of its blocks. Therefore a bit that flips while a snapshot is served is never shown
//! as law.

use std::ops::Range;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::damage::Damage;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "texts.bin";
const KIND: FileKind = FileKind { magic: *b"HBTEXTS\0", version: 2 };

/// Size of the blocks that have one CRC-32 each. It is small, because a snippet is checked by hashing every block
/// that it touches.
const BLOCK_BYTES: usize = 1024;

/// A range of bytes in the text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Span {
    pub offset: u64,
    pub length: u32,
}

/// Maximum length of a text: a hundred times the length of the longest known section.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub struct TextWriter {
    out: SectionWriter,
    position: u64,
    /// The checksum of the block that is being filled.
    block: crc32fast::Hasher,
    sums: Vec<u32>,
}

impl TextWriter {
    pub fn create(dir: &Path) -> Result<Self, SectionFileError> {
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 2)?;
        out.begin("texts")?;
        Ok(Self { out, position: 0, block: crc32fast::Hasher::new(), sums: Vec::new() })
    }

    /// The offset at which the next text will begin.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn push(&mut self, text: &str) -> Result<Span, SectionFileError> {
        assert!(text.len() <= TEXT_BYTES_MAX, "importers limit the length of texts");
        let span = Span { offset: self.position, length: text.len() as u32 };
        self.out.write(text.as_bytes())?;
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let left_in_block = BLOCK_BYTES - (self.position % BLOCK_BYTES as u64) as usize;
            let (in_block, behind) = rest.split_at(left_in_block.min(rest.len()));
            self.block.update(in_block);
            self.position += in_block.len() as u64;
            if self.position.is_multiple_of(BLOCK_BYTES as u64) {
                self.end_block();
            }
            rest = behind;
        }
        Ok(span)
    }

    fn end_block(&mut self) {
        self.sums.push(std::mem::take(&mut self.block).finalize());
    }

    pub fn finish(mut self) -> Result<(), SectionFileError> {
        if !self.position.is_multiple_of(BLOCK_BYTES as u64) {
            self.end_block();
        }
        self.out.section("sums", &self.sums)?;
        self.out.finish()
    }
}

/// The error for a text that is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is damaged: the text of {} bytes at offset {} {}; run 'hornbook verify', then copy the snapshot again or \
     rebuild it with 'hornbook build'",
    FILE_NAME,
    .span.length,
    .span.offset,
    .fault.as_str()
)]
pub struct TextDamaged {
    pub span: Span,
    pub fault: TextFault,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// The span is not inside the file.
    OutOfBounds,
    NotUtf8,
    /// Its bytes do not match a checksum in the file.
    Checksum,
    /// Its bytes do not match the SHA-256 in its record.
    Hash,
}

impl TextFault {
    const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfBounds => "is outside the file",
            Self::NotUtf8 => "is not UTF-8",
            Self::Checksum => "does not match its checksum",
            Self::Hash => "does not match its SHA-256",
        }
    }
}

/// The mapped texts.
#[derive(Clone, Debug)]
pub struct Texts {
    bytes: Column<u8>,
    sums: Column<u32>,
    damage: Damage,
}

impl Texts {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        Self::open_reporting(dir, Damage::default())
    }

    /// Opens the texts so that every failed check is also recorded in `damage`.
    pub fn open_reporting(dir: &Path, damage: Damage) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let texts = Self { bytes: file.column("texts")?, sums: file.column("sums")?, damage };
        let blocks = texts.bytes.len().div_ceil(BLOCK_BYTES);
        if texts.sums.len() != blocks {
            let found = texts.sums.len();
            return Err(file.damaged(format!("it has checksums for {found} blocks, but {blocks} blocks of text")));
        }
        Ok(texts)
    }

    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A whole text whose hash is not known, such as a note or a source credit. It is checked block by block.
    pub fn get(&self, span: Span) -> Result<&str, TextDamaged> {
        let bytes = self.bytes(span)?;
        self.check_blocks(span, 0..bytes.len())?;
        self.as_text(span, bytes)
    }

    /// A law text, checked against the SHA-256 in its record.
    pub fn get_verified(&self, span: Span, sha256: &[u8; 32]) -> Result<&str, TextDamaged> {
        let bytes = self.bytes(span)?;
        if Sha256::digest(bytes).as_slice() != sha256 {
            return Err(self.fault(span, TextFault::Hash));
        }
        self.as_text(span, bytes)
    }

    /// The bytes of a text, without any check. Use them only to find out where to read.
    pub fn bytes(&self, span: Span) -> Result<&[u8], TextDamaged> {
        let start = usize::try_from(span.offset).ok();
        let end = start.and_then(|start| start.checked_add(span.length as usize));
        let range = start.zip(end).map(|(start, end)| start..end);
        range.and_then(|range| self.bytes.get(range)).ok_or_else(|| self.fault(span, TextFault::OutOfBounds))
    }

    /// The whole characters within a range of bytes of a text, and the offset in the text at which they start. The
    /// cost depends on the length of the part, not of the text. No checksum is verified: use it only to find out
    /// where to read.
    pub fn part(&self, span: Span, within: Range<usize>) -> Result<(usize, &str), TextDamaged> {
        let bytes = self.bytes(span)?;
        let begins_character = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let not_utf8 = || self.fault(span, TextFault::NotUtf8);
        let end = within.end.min(bytes.len());
        let end = (end.saturating_sub(3)..=end).rev().find(begins_character).ok_or_else(not_utf8)?;
        let start = (within.start..=within.start.saturating_add(3)).find(begins_character).ok_or_else(not_utf8)?;
        let start = start.min(end);
        Ok((start, self.as_text(span, &bytes[start..end])?))
    }

    /// Like [`Self::part`], but with verified checksums, for text that is shown.
    pub fn checked_part(&self, span: Span, within: Range<usize>) -> Result<(usize, &str), TextDamaged> {
        let (start, part) = self.part(span, within)?;
        self.check_blocks(span, start..start + part.len())?;
        Ok((start, part))
    }

    /// Checks every block that contains some of these bytes of a text. The span must be inside the file.
    fn check_blocks(&self, span: Span, within: Range<usize>) -> Result<(), TextDamaged> {
        if within.is_empty() {
            return Ok(());
        }
        let start = span.offset as usize + within.start;
        let end = span.offset as usize + within.end;
        for block in start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let at = block * BLOCK_BYTES;
            let bytes = &self.bytes[at..self.bytes.len().min(at + BLOCK_BYTES)];
            if crc32fast::hash(bytes) != self.sums[block] {
                return Err(self.fault(span, TextFault::Checksum));
            }
        }
        Ok(())
    }

    fn as_text<'t>(&self, span: Span, bytes: &'t [u8]) -> Result<&'t str, TextDamaged> {
        std::str::from_utf8(bytes).map_err(|_| self.fault(span, TextFault::NotUtf8))
    }

    fn fault(&self, span: Span, fault: TextFault) -> TextDamaged {
        let damaged = TextDamaged { span, fault };
        self.damage.record(&damaged);
        damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_and_invalid_spans_are_errors() {
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
            assert_eq!(texts.get(wild).unwrap_err().span, wild);
        }
        assert_eq!(texts.get(Span { offset: 1, length: 4 }).unwrap_err().fault, TextFault::NotUtf8);
        assert_eq!(texts.get(Span { offset: 0, length: 10_000 }).unwrap_err().fault, TextFault::OutOfBounds);
    }

    /// Writes texts with lengths around the block size, then flips one bit at a time. Every read that would show
    /// the damaged byte must fail and record the damage. A read that does not touch its block must succeed.
    #[test]
    fn a_flipped_bit_is_never_shown() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TextWriter::create(dir.path()).unwrap();
        let lengths = [10, BLOCK_BYTES - 10, 1, BLOCK_BYTES, 3 * BLOCK_BYTES + 7, 0, 5];
        let texts: Vec<String> = lengths.iter().map(|&length| "law ".chars().cycle().take(length).collect()).collect();
        let spans: Vec<Span> = texts.iter().map(|text| writer.push(text).unwrap()).collect();
        let hashes: Vec<[u8; 32]> = texts.iter().map(|text| Sha256::digest(text).into()).collect();
        let total = writer.position() as usize;
        writer.finish().unwrap();
        let path = dir.path().join(FILE_NAME);
        let whole = std::fs::read(&path).unwrap();
        let begins = whole.windows(8).position(|window| window == b"law law ").unwrap();
        for at in (0..total).step_by(37).chain([total - 1]) {
            let mut bytes = whole.clone();
            bytes[begins + at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            let opened = Texts::open(dir.path()).unwrap();
            for ((span, text), hash) in spans.iter().zip(&texts).zip(&hashes) {
                let (start, end) = (span.offset as usize, span.offset as usize + span.length as usize);
                let is_hit = (start..end).contains(&at);
                assert_eq!(
                    opened.get_verified(*span, hash),
                    if is_hit { Err(damaged(*span)) } else { Ok(text.as_str()) }
                );
                let first_block = start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
                let shares_block = !text.is_empty() && first_block.contains(&(at / BLOCK_BYTES));
                assert_eq!(opened.get(*span).is_err(), shares_block, "byte {at}, text {span:?}");
                let last = text.len().saturating_sub(1)..text.len();
                let shows = !text.is_empty() && (end - 1) / BLOCK_BYTES == at / BLOCK_BYTES;
                assert_eq!(opened.checked_part(*span, last).is_err(), shows, "byte {at}, end of {span:?}");
            }
            assert!(opened.damage.first().is_some_and(|what| what.contains(FILE_NAME)));
        }
        std::fs::write(&path, &whole).unwrap();
        let opened = Texts::open(dir.path()).unwrap();
        for ((span, text), hash) in spans.iter().zip(&texts).zip(&hashes) {
            assert_eq!((opened.get(*span), opened.get_verified(*span, hash)), (Ok(text.as_str()), Ok(text.as_str())));
        }
        assert_eq!(opened.damage.first(), None);
    }

    fn damaged(span: Span) -> TextDamaged {
        TextDamaged { span, fault: TextFault::Hash }
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

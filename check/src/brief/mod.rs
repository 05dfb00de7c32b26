//! The text of a document, in blocks, with the place of every character in its file.

mod docx;
mod html;
mod html_source;
mod markdown;
mod pdf;
mod plain_text;
mod unreadable;

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use unreadable::UNREADABLE;
pub use unreadable::UnreadableSigns;

/// Maximum length of a document, in bytes.
pub const BRIEF_BYTES_MAX: usize = 1 << 20;

/// Maximum length of the text in a document. A compressed one may have more text than bytes.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Maximum number of findings in a document.
pub(crate) const FINDINGS_MAX: usize = 10_000;

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BriefFormat {
    Text,
    Markdown,
    Html,
    Docx,
    Pdf,
}

impl BriefFormat {
    pub const ALL: [Self; 5] = [Self::Text, Self::Markdown, Self::Html, Self::Docx, Self::Pdf];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Pdf => "pdf",
        }
    }

    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pdf => "application/pdf",
        }
    }

    /// Whether a document of this format is text, and not a file that has to be unpacked.
    pub const fn is_text(self) -> bool {
        !matches!(self, Self::Docx | Self::Pdf)
    }

    pub fn with_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The format of a media type; parameters such as the character set are ignored.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        Self::ALL.into_iter().find(|format| format.media_type().eq_ignore_ascii_case(essence))
    }

    /// The format of a file, by the end of its name.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let end = name.rsplit_once('.')?.1.to_ascii_lowercase();
        match end.as_str() {
            "txt" | "text" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "docx" => Some(Self::Docx),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }
}

/// Why a document cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BriefError {
    #[error("the document has more than {} bytes; check it in parts", BRIEF_BYTES_MAX)]
    TooLong,
    #[error("the document contains more than {} bytes of text; check it in parts", TEXT_BYTES_MAX)]
    TooMuchText,
    #[error("the document has more than {} citations and quotations; check it in parts", FINDINGS_MAX)]
    TooManyFindings,
    #[error("byte {at} of the document is not UTF-8; save it as UTF-8 text")]
    NotUtf8 { at: usize },
    #[error("the document has an HTML tag of more than {} bytes; send a page without it", html::TAG_BYTES_MAX)]
    LongTag,
    #[error("cannot read the document as .docx: {0}; save it again with a word processor")]
    Docx(String),
    #[error("cannot read the document as .pdf: {0}; print it to a new PDF file, or save it as .docx or text")]
    Pdf(String),
    #[error("the PDF file is encrypted and needs a password; save it without a password")]
    EncryptedPdf,
    #[error("the PDF file contains no text, only pictures, like a scan; recognise its text (OCR) and save it again")]
    PdfWithoutText,
    #[error(
        "page {page}: the font {font} does not say which letters its signs mean; recognise the text of the file (OCR), or \
         save the document as .docx or text"
    )]
    PdfFont { page: u32, font: String },
    #[error(
        "most letters, from page {page} on, are written from right to left, which is not read in .pdf; save the document \
         as .docx or text"
    )]
    RightToLeft { page: u32 },
}

/// What a block of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BriefBlockKind {
    Paragraph,
    /// A block quotation.
    Quote,
    /// A footnote or endnote.
    Note,
}

/// A paragraph, heading, list item or table cell of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BriefBlock {
    pub(crate) range: Range<usize>,
    pub(crate) kind: BriefBlockKind,
}

/// Where something is in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BriefPlace {
    /// The page of a .pdf document, from 1. Absent in other documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the file, from 1; in a .pdf document, of the page from its top. Absent in a .docx document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The character within the line, from 1. Absent in a .docx or .pdf document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The paragraph of the document, from 1: headings, list items and notes count too.
    pub paragraph: u32,
}

impl std::fmt::Display for BriefPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.page, self.line, self.column) {
            (Some(page), Some(line), _) => write!(f, "page {page}, line {line}"),
            (None, Some(line), Some(column)) => write!(f, "line {line}, column {column}"),
            _ => write!(f, "paragraph {}", self.paragraph),
        }
    }
}

/// A document as text.
#[derive(Clone, Debug)]
pub struct Brief {
    /// All blocks, each followed by a line feed. Within a block, white space and line breaks of the file are single
    /// spaces.
    text: String,
    blocks: Vec<BriefBlock>,
    /// Ascending pairs of an offset in the text and the offset in the file at which the same characters begin.
    /// Empty if the file is no text.
    source_offsets: Vec<(usize, usize)>,
    /// The file, as far as it is text, for lines and columns.
    source: String,
    line_starts: Vec<usize>,
    /// The latest place that was looked up: the offsets of its line and of itself in the file, and its column.
    latest: Cell<(usize, usize, usize)>,
    notes: Vec<NoteReference>,
    /// Ascending: where in the text a line of a page begins. Empty if the document has no pages.
    page_lines: Vec<PageLine>,
    unreadable: Vec<UnreadableSigns>,
}

/// Where a line of a page begins.
#[derive(Clone, Copy, Debug)]
struct PageLine {
    at: usize,
    page: u32,
    line: u32,
}

/// A reference to a footnote or endnote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoteReference {
    /// Where it is in the text.
    pub(crate) at: usize,
    /// The first paragraph of the note.
    pub(crate) block: usize,
}

impl Brief {
    /// Reads a document. Fails if it is too long, not UTF-8 or not in its format.
    pub fn read(bytes: &[u8], format: BriefFormat) -> Result<Self, BriefError> {
        if bytes.len() > BRIEF_BYTES_MAX {
            return Err(BriefError::TooLong);
        }
        let mut writer = BlockWriter::default();
        if format == BriefFormat::Docx {
            docx::read(bytes, &mut writer)?;
            return writer.finish(String::new());
        }
        if format == BriefFormat::Pdf {
            pdf::read(bytes, &mut writer)?;
            return writer.finish(String::new());
        }
        let source = std::str::from_utf8(bytes).map_err(|error| BriefError::NotUtf8 { at: error.valid_up_to() })?;
        match format {
            BriefFormat::Markdown => markdown::read(source, &mut writer),
            BriefFormat::Html => html::read(source, &mut writer)?,
            BriefFormat::Text | BriefFormat::Docx | BriefFormat::Pdf => plain_text::read(source, &mut writer),
        }
        writer.finish(source.to_owned())
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signs that cannot be read. In their place the text has U+FFFD.
    pub fn unreadable(&self) -> &[UnreadableSigns] {
        &self.unreadable
    }

    pub(crate) fn blocks(&self) -> &[BriefBlock] {
        &self.blocks
    }

    /// The references to notes, in order.
    pub(crate) fn notes(&self) -> &[NoteReference] {
        &self.notes
    }

    /// The ranges of its paragraphs, with whether each is a block quotation.
    pub fn paragraphs(&self) -> impl Iterator<Item = (Range<usize>, bool)> + '_ {
        self.blocks.iter().map(|block| (block.range.clone(), block.kind == BriefBlockKind::Quote))
    }

    /// Where a byte of the text is in the file.
    pub(crate) fn place(&self, offset: usize) -> BriefPlace {
        let paragraph = self.blocks.partition_point(|block| block.range.start <= offset).max(1);
        let paragraph = u32::try_from(paragraph).unwrap_or(u32::MAX);
        let page_line = self.page_lines.partition_point(|line| line.at <= offset).checked_sub(1);
        if let Some(&PageLine { page, line, .. }) = page_line.and_then(|at| self.page_lines.get(at)) {
            return BriefPlace { page: Some(page), line: Some(line), column: None, paragraph };
        }
        let Some(source) = self.source_offset(offset) else {
            return BriefPlace { page: None, line: None, column: None, paragraph };
        };
        let line = self.line_starts.partition_point(|&start| start <= source).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.column(start, source);
        let number = |number: usize| u32::try_from(number).ok();
        BriefPlace { page: None, line: number(line), column: number(column), paragraph }
    }

    /// The characters before a place in its line. Places are mostly looked up in order: a line is counted on from the
    /// latest place, because it may be the whole file.
    fn column(&self, line: usize, at: usize) -> usize {
        let (latest_line, latest, column) = self.latest.get();
        let (from, counted) = if latest_line == line && latest <= at { (latest, column) } else { (line, 1) };
        let column = counted + self.source.get(from..at).map_or(0, |before| before.chars().count());
        self.latest.set((line, at, column));
        column
    }

    /// The byte of the file that a byte of the text was read from.
    fn source_offset(&self, offset: usize) -> Option<usize> {
        let next = self.source_offsets.partition_point(|&(text, _)| text <= offset);
        let &(text, source) = self.source_offsets.get(next.checked_sub(1)?)?;
        let mut source = (source + offset - text).min(self.source.len());
        while !self.source.is_char_boundary(source) {
            source -= 1;
        }
        Some(source)
    }
}

/// Collects the blocks of a document.
#[derive(Default)]
struct BlockWriter {
    text: String,
    blocks: Vec<BriefBlock>,
    source_offsets: Vec<(usize, usize)>,
    start: usize,
    /// The references to notes, each with the label of its note.
    references: Vec<(usize, String)>,
    /// The first paragraph of each note, by its label.
    note_blocks: HashMap<String, usize>,
    page_lines: Vec<PageLine>,
    unreadable: Vec<UnreadableSigns>,
    /// Whether a soft hyphen follows the text: a place where a word may be divided.
    has_soft_hyphen: bool,
}

impl BlockWriter {
    /// Adds characters to the open block, with their offset in the file. White space becomes spaces. Soft hyphens are left
    /// out, but for those beside a digit: some programs write every hyphen as one.
    fn push(&mut self, characters: &str, source: Option<usize>) {
        for (at, character) in characters.char_indices() {
            self.push_character(character, source.map(|source| source + at));
        }
    }

    fn push_character(&mut self, character: char, source: Option<usize>) {
        let is_begun = self.text.len() > self.start;
        if character == '\u{ad}' && !self.text.ends_with(|last: char| last.is_ascii_digit()) {
            self.has_soft_hyphen = is_begun && self.text.ends_with(char::is_alphabetic);
            return;
        }
        if std::mem::take(&mut self.has_soft_hyphen) && character.is_ascii_digit() {
            self.text.push('-');
        }
        let character = if character == '\u{ad}' { '-' } else { character };
        if character.is_whitespace() || character == '\u{feff}' {
            if is_begun && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
            return;
        }
        if let Some(source) = source {
            let follows =
                self.source_offsets.last().is_some_and(|&(text, last)| self.text.len() - text == source - last);
            if !follows {
                self.source_offsets.push((self.text.len(), source));
            }
        }
        self.text.push(character);
    }

    /// What follows is in this line of this page.
    fn begin_page_line(&mut self, page: u32, line: u32) {
        self.page_lines.push(PageLine { at: self.text.len(), page, line });
    }

    /// Adds a reference to a note.
    fn refer_to_note(&mut self, label: &str) {
        if self.references.len() < FINDINGS_MAX {
            self.references.push((self.text.len(), label.to_owned()));
        }
    }

    /// The next block begins a note.
    fn begin_note(&mut self, label: &str) {
        self.note_blocks.entry(label.to_owned()).or_insert(self.blocks.len());
    }

    /// Ends the open block. A block without characters is left out.
    fn end(&mut self, kind: BriefBlockKind) {
        self.has_soft_hyphen = false;
        self.text.truncate(self.text.trim_end_matches(' ').len().max(self.start));
        if self.text.len() > self.start {
            self.blocks.push(BriefBlock { range: self.start..self.text.len(), kind });
            self.text.push('\n');
        }
        self.start = self.text.len();
    }

    fn is_too_long(&self) -> bool {
        self.text.len() > TEXT_BYTES_MAX
    }

    fn finish(mut self, source: String) -> Result<Brief, BriefError> {
        self.end(BriefBlockKind::Paragraph);
        if self.is_too_long() {
            return Err(BriefError::TooMuchText);
        }
        let Self { text, blocks, source_offsets, references, note_blocks, page_lines, unreadable, .. } = self;
        let note = |(at, label): (usize, String)| {
            let block = note_blocks.get(&label).copied().filter(|&block| block < blocks.len())?;
            Some(NoteReference { at, block })
        };
        let notes = references.into_iter().filter_map(note).collect();
        let line_starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', source.as_bytes()).map(|at| at + 1));
        Ok(Brief {
            text,
            blocks,
            source_offsets,
            line_starts: line_starts.collect(),
            latest: Cell::new((usize::MAX, 0, 1)),
            source,
            notes,
            page_lines,
            unreadable,
        })
    }
}

#[cfg(test)]
mod tests;

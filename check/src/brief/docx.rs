//! Documents of word processors, `.docx`: a zip archive with XML. The text of the document and its notes are read.
//! Deleted text that a review still shows is left out, inserted text is read.

use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::{BlockWriter, BriefBlockKind, BriefError, TEXT_BYTES_MAX};

/// Maximum length of one file of the archive, unpacked. Its XML is some times as long as its text.
const XML_BYTES_MAX: u64 = 16 * TEXT_BYTES_MAX as u64;

/// Maximum number of files in the archive.
const FILES_MAX: usize = 4_096;

/// A paragraph indented on both sides by at least this much is a block quotation. The unit is a twentieth of a point.
const QUOTE_INDENT: i32 = 360;

const DOCUMENT: &str = "word/document.xml";
const NOTES: [&str; 2] = ["word/footnotes.xml", "word/endnotes.xml"];

pub(super) fn read(bytes: &[u8], writer: &mut BlockWriter) -> Result<(), BriefError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| BriefError::Docx(error.to_string()))?;
    if archive.len() > FILES_MAX {
        return Err(BriefError::Docx(format!("it contains {} files", archive.len())));
    }
    let text = file(&mut archive, DOCUMENT)?;
    let text = text.ok_or_else(|| BriefError::Docx(format!("it contains no {DOCUMENT}")))?;
    paragraphs(&text, BriefBlockKind::Paragraph, writer)?;
    drop(text);
    for name in NOTES {
        if let Some(notes) = file(&mut archive, name)? {
            paragraphs(&notes, BriefBlockKind::Note, writer)?;
        }
    }
    Ok(())
}

fn file(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Result<Option<Vec<u8>>, BriefError> {
    let Some(index) = archive.index_for_name(name) else { return Ok(None) };
    let broken = |error: &dyn std::fmt::Display| BriefError::Docx(format!("{name}: {error}"));
    let member = archive.by_index(index).map_err(|error| broken(&error))?;
    let mut unpacked = Vec::new();
    member.take(XML_BYTES_MAX + 1).read_to_end(&mut unpacked).map_err(|error| broken(&error))?;
    if unpacked.len() as u64 > XML_BYTES_MAX {
        return Err(BriefError::TooMuchText);
    }
    Ok(Some(unpacked))
}

/// What is known of the open paragraph.
#[derive(Default)]
struct ParagraphStyle {
    is_quote: bool,
    left: i32,
    right: i32,
}

fn paragraphs(xml: &[u8], kind: BriefBlockKind, writer: &mut BlockWriter) -> Result<(), BriefError> {
    let broken = |error: &dyn std::fmt::Display| BriefError::Docx(error.to_string());
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().check_end_names = true;
    let mut style = ParagraphStyle::default();
    let mut is_text = false;
    // Open elements whose text is left out: what was moved away, and what repeats the element before it.
    let mut left_out = 0_usize;
    loop {
        let event = reader.read_event().map_err(|error| broken(&error))?;
        match event {
            Event::Eof => break,
            Event::DocType(_) => return Err(BriefError::Docx("it declares a document type".to_owned())),
            Event::Start(tag) => match tag.local_name().as_ref() {
                b"p" => style = ParagraphStyle::default(),
                b"footnote" | b"endnote" => writer.begin_note(&note_label(kind_of_note(&tag), &tag)),
                b"t" => is_text = true,
                b"tab" | b"br" | b"cr" => writer.push_character(' ', None),
                b"footnoteReference" | b"endnoteReference" => {
                    writer.refer_to_note(&note_label(kind_of_note(&tag), &tag));
                }
                b"moveFrom" | b"Fallback" => left_out += 1,
                _ => style.read(&tag),
            },
            Event::Empty(tag) => match tag.local_name().as_ref() {
                b"tab" | b"br" | b"cr" => writer.push_character(' ', None),
                b"noBreakHyphen" => writer.push_character('-', None),
                b"footnoteReference" | b"endnoteReference" => {
                    writer.refer_to_note(&note_label(kind_of_note(&tag), &tag));
                }
                _ => style.read(&tag),
            },
            Event::Text(text) if is_text && left_out == 0 => {
                writer.push(&text.decode().map_err(|error| broken(&error))?, None);
                if writer.is_too_long() {
                    return Err(BriefError::TooMuchText);
                }
            }
            Event::GeneralRef(name) if is_text && left_out == 0 => {
                let name = name.decode().map_err(|error| broken(&error))?;
                let character = character_of(&name).ok_or_else(|| broken(&format!("it uses the entity &{name};")))?;
                writer.push_character(character, None);
            }
            Event::End(tag) => match tag.local_name().as_ref() {
                b"t" => is_text = false,
                b"moveFrom" | b"Fallback" => left_out = left_out.saturating_sub(1),
                b"p" => writer.end(if style.is_block_quote() { BriefBlockKind::Quote } else { kind }),
                _ => {}
            },
            _ => {}
        }
    }
    writer.end(kind);
    Ok(())
}

impl ParagraphStyle {
    fn read(&mut self, tag: &BytesStart<'_>) {
        match tag.local_name().as_ref() {
            b"pStyle" => {
                let name = attribute(tag, b"val").unwrap_or_default().to_ascii_lowercase();
                self.is_quote |= name.contains("quot") || name.contains("blocktext");
            }
            b"ind" => {
                let indent = |names: [&[u8]; 2]| {
                    let value = names.into_iter().find_map(|name| attribute(tag, name))?;
                    value.parse::<i32>().ok()
                };
                self.left = indent([b"left", b"start"]).unwrap_or(self.left);
                self.right = indent([b"right", b"end"]).unwrap_or(self.right);
            }
            _ => {}
        }
    }

    fn is_block_quote(&self) -> bool {
        self.is_quote || self.left >= QUOTE_INDENT && self.right >= QUOTE_INDENT
    }
}

/// Footnotes and endnotes are numbered apart.
fn kind_of_note(tag: &BytesStart<'_>) -> char {
    if tag.local_name().as_ref().starts_with(b"foot") { 'f' } else { 'e' }
}

fn note_label(kind: char, tag: &BytesStart<'_>) -> String {
    format!("{kind}{}", attribute(tag, b"id").unwrap_or_default())
}

fn attribute(tag: &BytesStart<'_>, name: &[u8]) -> Option<String> {
    let attribute = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    String::from_utf8(attribute.value.into_owned()).ok()
}

/// The character of a predefined entity or a character reference, without `&` and `;`.
fn character_of(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

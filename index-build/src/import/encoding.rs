//! Encodings of text files that are not UTF-8, for formats whose plans can name one.

use std::borrow::Cow;

use serde::Deserialize;

use crate::import::document::{Document, DocumentError};
use crate::import::xml::text_of;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Encoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// The Western European code page of Windows. Each byte is one character.
    #[serde(rename = "windows-1252")]
    Windows1252,
}

/// The characters of the bytes 0x80 to 0x9F in Windows-1252; all other bytes are as in Unicode.
/// Five of these bytes are unused.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

pub(crate) fn decoded(document: &Document, encoding: Encoding) -> Result<Cow<'_, str>, DocumentError> {
    match encoding {
        Encoding::Utf8 => text_of(document).map(Cow::Borrowed),
        Encoding::Windows1252 => {
            let character = |&byte: &u8| match byte {
                0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
                _ => char::from(byte),
            };
            Ok(document.bytes.iter().map(character).collect::<String>().into())
        }
    }
}

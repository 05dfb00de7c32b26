//! A font: what its codes mean and how wide their glyphs are.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object};

use super::cmap::ToUnicode;
use super::encodings::{BaseEncoding, glyph};
use super::objects::{dictionary, is_subtype};

/// Maximum number of widths in a font.
const WIDTHS_MAX: usize = 65_536;

const SYMBOLIC: i64 = 4;

pub(super) struct Font {
    pub(super) name: String,
    to_unicode: Option<ToUnicode>,
    /// The characters of a font with one byte a code.
    table: Vec<Option<char>>,
    widths: HashMap<u32, f64>,
    default_width: f64,
    pub(super) is_composite: bool,
    /// Codes without meaning are pictures, such as bullets.
    is_of_pictures: bool,
}

/// What a code shows.
pub(super) enum Shown<'a> {
    Text(&'a str),
    Character(char),
    Unknown,
}

impl Font {
    /// Reads a font; `unpack` gives the bytes of its ToUnicode map.
    pub(super) fn read(document: &Document, font: &Dictionary, to_unicode: Option<&[u8]>) -> Self {
        let name = font.get_deref(b"BaseFont", document).and_then(Object::as_name).unwrap_or(b"without a name");
        let is_composite = is_subtype(document, font, b"Type0");
        let mut read = Self {
            name: String::from_utf8_lossy(name).chars().filter(|character| !character.is_control()).take(80).collect(),
            to_unicode: to_unicode.map(ToUnicode::read),
            table: Vec::new(),
            widths: HashMap::new(),
            default_width: if is_composite { 1_000.0 } else { 500.0 },
            is_composite,
            is_of_pictures: name.ends_with(b"Symbol")
                || name.ends_with(b"ZapfDingbats")
                || name.ends_with(b"Wingdings"),
        };
        if is_composite {
            read.read_composite_widths(document, font);
        } else {
            read.table = table(document, font, read.is_of_pictures);
            read.read_widths(document, font);
        }
        read
    }

    pub(super) fn shown(&self, code: u32) -> Shown<'_> {
        if let Some(text) = self.to_unicode.as_ref().and_then(|map| map.get(code)) {
            return Shown::Text(text);
        }
        match usize::try_from(code).ok().and_then(|code| self.table.get(code).copied()).flatten() {
            Some(character) => Shown::Character(character),
            None if self.is_of_pictures => Shown::Character('\u{fffd}'),
            None => Shown::Unknown,
        }
    }

    /// The width of a glyph; the size of the font is 1.
    pub(super) fn width(&self, code: u32) -> f64 {
        self.widths.get(&code).copied().unwrap_or(self.default_width) / 1_000.0
    }

    fn read_widths(&mut self, document: &Document, font: &Dictionary) {
        // The matrix of a Type3 font says how large its units are.
        let matrix = font.get_deref(b"FontMatrix", document).and_then(Object::as_array).ok();
        let unit = matrix.and_then(|matrix| matrix.first()).and_then(|unit| unit.as_float().ok());
        let unit = unit.map_or(1.0, |unit| f64::from(unit) * 1_000.0);
        let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
        let Ok(widths) = font.get_deref(b"Widths", document).and_then(Object::as_array) else { return };
        for (code, width) in (first..).zip(widths.iter().take(256)) {
            if let (Ok(code), Ok((_, width))) = (u32::try_from(code), document.dereference(width))
                && let Ok(width) = width.as_float()
            {
                self.widths.insert(code, f64::from(width) * unit);
            }
        }
    }

    fn read_composite_widths(&mut self, document: &Document, font: &Dictionary) {
        let descendants = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array);
        let Some(first) = descendants.ok().and_then(|fonts| fonts.first()) else { return };
        let Ok(descendant) = document.dereference(first).and_then(|(_, font)| font.as_dict()) else { return };
        if let Ok(width) = descendant.get_deref(b"DW", document).and_then(Object::as_float) {
            self.default_width = f64::from(width);
        }
        let Ok(widths) = descendant.get_deref(b"W", document).and_then(Object::as_array) else { return };
        let object = |at: usize| Some(document.dereference(widths.get(at)?).ok()?.1);
        let code = |at: usize| u32::try_from(object(at)?.as_i64().ok()?).ok();
        let mut at = 0;
        while let Some(first) = code(at) {
            if let Some(Object::Array(list)) = object(at + 1) {
                for (code, width) in (first..).zip(list) {
                    self.add_width(code, width);
                }
                at += 2;
                continue;
            }
            let (Some(last), Some(width)) = (code(at + 1), object(at + 2)) else { return };
            for code in (first..=last).take(WIDTHS_MAX) {
                self.add_width(code, width);
                if self.widths.len() >= WIDTHS_MAX {
                    return;
                }
            }
            at += 3;
        }
    }

    fn add_width(&mut self, code: u32, width: &Object) {
        if let Ok(width) = width.as_float()
            && self.widths.len() < WIDTHS_MAX
        {
            self.widths.insert(code, f64::from(width));
        }
    }
}

/// The characters of a simple font. A font with signs of its own and no encoding has none.
fn table(document: &Document, font: &Dictionary, is_of_pictures: bool) -> Vec<Option<char>> {
    let flags = dictionary(document, font, b"FontDescriptor")
        .and_then(|descriptor| descriptor.get_deref(b"Flags", document).and_then(Object::as_i64).ok());
    let is_symbolic = is_of_pictures || flags.is_some_and(|flags| flags & SYMBOLIC != 0);
    let is_type3 = is_subtype(document, font, b"Type3");
    let implied = || match is_symbolic || is_type3 {
        true => vec![None; 256],
        false => BaseEncoding::Standard.table(),
    };
    let named = |name: &[u8]| BaseEncoding::with_name(name).map(BaseEncoding::table);
    match font.get_deref(b"Encoding", document) {
        Ok(Object::Name(name)) => named(name).unwrap_or_else(implied),
        Ok(Object::Dictionary(encoding)) => {
            let base = encoding.get_deref(b"BaseEncoding", document).and_then(Object::as_name).ok();
            let mut table = base.and_then(named).unwrap_or_else(implied);
            let mut code = 0_usize;
            let differences = encoding.get_deref(b"Differences", document).and_then(Object::as_array);
            for difference in differences.map(Vec::as_slice).unwrap_or_default().iter().take(1_024) {
                match difference {
                    Object::Integer(next) => code = usize::try_from(*next).unwrap_or(usize::MAX),
                    Object::Name(name) => {
                        if let Some(entry) = table.get_mut(code) {
                            *entry = glyph(name);
                        }
                        code = code.saturating_add(1);
                    }
                    _ => {}
                }
            }
            table
        }
        _ => implied(),
    }
}

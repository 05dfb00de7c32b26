//! The text that a page shows: its content stream is followed as a viewer does, and every shown string becomes a piece
//! with its place.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Error, Object, Stream};

use super::font::{Font, Shown};
use super::objects::{UNPACKED_BYTES_MAX, dictionary, is_subtype};
use super::tokens::{ContentTokens, Operand};
use crate::brief::unreadable::{UNREADABLE, UnreadableCause, UnreadableCount};
use crate::brief::{BriefError, TEXT_BYTES_MAX};

/// Maximum number of forms within forms.
const FORM_DEPTH_MAX: usize = 16;

/// Maximum number of forms drawn in a document.
const FORMS_MAX: usize = 16_384;

/// Maximum number of saved graphics states.
const STATES_MAX: usize = 256;

/// A gap of this share of the font's size is a space.
const SPACE_GAP: f64 = 0.17;

/// A piece of text on one baseline.
#[derive(Clone, Debug)]
pub(super) struct PrintedPiece {
    pub(super) text: String,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    /// Whether letters in it are written from right to left: each is U+FFFD.
    pub(super) is_right_to_left: bool,
}

/// A transformation `[a b c d e f]` of the plane.
type Matrix = [f64; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

#[derive(Clone)]
struct TextState {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// Reads the pages of a document one after the other, within limits for all of them.
pub(super) struct PageText<'a> {
    document: &'a Document,
    /// The fonts read so far, by the address of their dictionary.
    fonts: HashMap<*const Dictionary, Rc<Font>>,
    unpacked: usize,
    text_bytes: usize,
    forms: usize,
    page: u32,
    pieces: Vec<PrintedPiece>,
    unreadable: UnreadableCount,
}

impl<'a> PageText<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self {
            document,
            fonts: HashMap::new(),
            unpacked: 0,
            text_bytes: 0,
            forms: 0,
            page: 0,
            pieces: Vec::new(),
            unreadable: UnreadableCount::default(),
        }
    }

    /// The signs that could not be read on all pages.
    pub(super) fn into_unreadable(self) -> UnreadableCount {
        self.unreadable
    }

    pub(super) fn read(
        &mut self,
        number: u32,
        page: &'a Dictionary,
        resources: Option<&'a Dictionary>,
    ) -> Result<Vec<PrintedPiece>, BriefError> {
        self.page = number;
        let mut bytes = Vec::new();
        match page.get_deref(b"Contents", self.document) {
            Ok(Object::Stream(stream)) => bytes = self.unpack(stream)?,
            Ok(Object::Array(parts)) => {
                for part in parts {
                    if let Ok((_, Object::Stream(stream))) = self.document.dereference(part) {
                        bytes.extend(self.unpack(stream)?);
                        bytes.push(b'\n');
                    }
                }
            }
            _ => {}
        }
        let start = TextState {
            matrix: IDENTITY,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        self.follow(&bytes, resources, start, 0)?;
        Ok(std::mem::take(&mut self.pieces))
    }

    fn unpack(&mut self, stream: &Stream) -> Result<Vec<u8>, BriefError> {
        let left = UNPACKED_BYTES_MAX - self.unpacked;
        let bytes = stream.get_plain_content_with_limit(left).map_err(|error| match error {
            Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. }) => BriefError::TooMuchText,
            error => BriefError::Pdf(format!("page {}: {error}", self.page)),
        })?;
        // A stream that is not compressed is in the file, but it may be drawn many times.
        self.unpacked += bytes.len();
        if self.unpacked > UNPACKED_BYTES_MAX {
            self.unpacked = UNPACKED_BYTES_MAX;
            return Err(BriefError::TooMuchText);
        }
        Ok(bytes)
    }

    fn font(&mut self, resources: Option<&'a Dictionary>, name: &[u8]) -> Result<Option<Rc<Font>>, BriefError> {
        let fonts = resources.and_then(|resources| dictionary(self.document, resources, b"Font"));
        let Some(font) = fonts.and_then(|fonts| dictionary(self.document, fonts, name)) else { return Ok(None) };
        let key = std::ptr::from_ref(font);
        if let Some(known) = self.fonts.get(&key) {
            return Ok(Some(known.clone()));
        }
        let map = match font.get_deref(b"ToUnicode", self.document) {
            Ok(Object::Stream(stream)) => Some(self.unpack(stream)?),
            _ => None,
        };
        let read = Rc::new(Font::read(self.document, font, map.as_deref()));
        self.fonts.insert(key, read.clone());
        Ok(Some(read))
    }

    fn follow(
        &mut self,
        bytes: &[u8],
        resources: Option<&'a Dictionary>,
        start: TextState,
        depth: usize,
    ) -> Result<(), BriefError> {
        let mut tokens = ContentTokens::new(bytes);
        let mut operands = Vec::new();
        let mut state = start;
        let mut saved: Vec<TextState> = Vec::new();
        let (mut line, mut text) = (IDENTITY, IDENTITY);
        while let Some(operator) = tokens.next_operator(&mut operands) {
            let number = |at: usize| match operands.get(at) {
                Some(Operand::Number(number)) => *number,
                _ => 0.0,
            };
            let next_line = |line: &Matrix, x: f64, y: f64| product(&[1.0, 0.0, 0.0, 1.0, x, y], line);
            match operator {
                b"q" if saved.len() < STATES_MAX => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"cm" => state.matrix = product(&std::array::from_fn(number), &state.matrix),
                b"BT" => (line, text) = (IDENTITY, IDENTITY),
                b"Tf" => {
                    if let Some(Operand::Name(name)) = operands.first() {
                        state.font = self.font(resources, name)?;
                    }
                    state.size = number(1);
                }
                b"Tc" => state.character_space = number(0),
                b"Tw" => state.word_space = number(0),
                b"Tz" => state.scale = number(0) / 100.0,
                b"TL" => state.leading = number(0),
                b"Ts" => state.rise = number(0),
                b"Tm" => {
                    line = std::array::from_fn(number);
                    text = line;
                }
                b"Td" | b"TD" => {
                    if operator == b"TD" {
                        state.leading = -number(1);
                    }
                    line = next_line(&line, number(0), number(1));
                    text = line;
                }
                b"T*" | b"'" | b"\"" => {
                    if operator == b"\"" {
                        (state.word_space, state.character_space) = (number(0), number(1));
                    }
                    line = next_line(&line, 0.0, -state.leading);
                    text = line;
                    if operator != b"T*" {
                        self.show(&operands, &state, &mut text)?;
                    }
                }
                b"Tj" | b"TJ" => self.show(&operands, &state, &mut text)?,
                b"Do" => {
                    if let Some(Operand::Name(name)) = operands.first() {
                        self.draw(name, resources, &state, depth)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Follows a form. Images have no text.
    fn draw(
        &mut self,
        name: &[u8],
        resources: Option<&'a Dictionary>,
        state: &TextState,
        depth: usize,
    ) -> Result<(), BriefError> {
        let objects = resources.and_then(|resources| dictionary(self.document, resources, b"XObject"));
        let Some(Ok(Object::Stream(form))) = objects.map(|objects| objects.get_deref(name, self.document)) else {
            return Ok(());
        };
        if !is_subtype(self.document, &form.dict, b"Form") {
            return Ok(());
        }
        self.forms += 1;
        if depth == FORM_DEPTH_MAX || self.forms > FORMS_MAX {
            return Err(BriefError::Pdf(format!("page {}: its forms are nested too deeply, or too many", self.page)));
        }
        let bytes = self.unpack(form)?;
        let mut start = state.clone();
        if let Ok(matrix) = form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array) {
            let number = |at: usize| matrix.get(at).and_then(|number| number.as_float().ok()).map_or(0.0, f64::from);
            start.matrix = product(&std::array::from_fn(number), &start.matrix);
        }
        let own = dictionary(self.document, &form.dict, b"Resources").or(resources);
        self.follow(&bytes, own, start, depth + 1)
    }

    /// Shows the strings among the operands, and moves the place of the text on.
    fn show(&mut self, operands: &[Operand], state: &TextState, text: &mut Matrix) -> Result<(), BriefError> {
        let Some(font) = &state.font else { return Ok(()) };
        let mut piece: Option<PrintedPiece> = None;
        let mut shown = String::new();
        for operand in operands {
            match operand {
                Operand::Number(number) if matches!(operands.first(), Some(Operand::ArrayStart)) => {
                    let shift = -number / 1_000.0 * state.size * state.scale;
                    *text = product(&[1.0, 0.0, 0.0, 1.0, shift, 0.0], text);
                    let is_gap = -number / 1_000.0 > SPACE_GAP;
                    if is_gap
                        && let Some(piece) = &mut piece
                        && !piece.text.ends_with(' ')
                    {
                        piece.text.push(' ');
                    }
                }
                Operand::Text(bytes) => {
                    let step = if font.is_composite { 2 } else { 1 };
                    for code in bytes.chunks(step) {
                        let is_blank = code == b" ";
                        let code = code.iter().fold(0, |code, &byte| code << 8 | u32::from(byte));
                        shown.clear();
                        let is_right_to_left = self.read_sign(font, code, &mut shown);
                        let (left, y, size) = place(text, state);
                        let space = state.character_space + if is_blank { state.word_space } else { 0.0 };
                        let advance = (font.width(code) * state.size + space) * state.scale;
                        *text = product(&[1.0, 0.0, 0.0, 1.0, advance, 0.0], text);
                        let (right, _, _) = place(text, state);
                        let piece = piece.get_or_insert_with(|| PrintedPiece {
                            text: String::new(),
                            left,
                            right,
                            y,
                            size,
                            is_right_to_left: false,
                        });
                        piece.text.push_str(&shown);
                        piece.right = right;
                        piece.is_right_to_left |= is_right_to_left;
                    }
                }
                _ => {}
            }
        }
        let Some(piece) = piece.filter(|piece| !piece.text.is_empty()) else { return Ok(()) };
        self.text_bytes += piece.text.len();
        if self.text_bytes > TEXT_BYTES_MAX {
            return Err(BriefError::TooMuchText);
        }
        let is_finite = [piece.left, piece.right, piece.y, piece.size].iter().all(|number| number.is_finite());
        if is_finite && !self.repeats(&piece) {
            self.pieces.push(piece);
        }
        Ok(())
    }

    /// Writes what a code shows, and returns whether that is written from right to left.
    fn read_sign(&mut self, font: &Font, code: u32, shown: &mut String) -> bool {
        let mut one = [0; 4];
        let text = match font.shown(code) {
            Shown::Text(known) => known,
            Shown::Character(character) => &*character.encode_utf8(&mut one),
            Shown::Unknown => {
                self.unreadable.add(self.page, UnreadableCause::Font(font.name.clone()));
                shown.push(UNREADABLE);
                return false;
            }
        };
        if text.contains(is_right_to_left) {
            self.unreadable.add(self.page, UnreadableCause::RightToLeft);
            shown.push(UNREADABLE);
            return true;
        }
        text.chars().for_each(|character| spell(character, shown));
        if shown.contains(|character: char| character != ' ') {
            self.unreadable.add_readable();
        }
        false
    }

    /// Some programs print bold text twice, a little apart.
    fn repeats(&self, piece: &PrintedPiece) -> bool {
        self.pieces.last().is_some_and(|last| {
            let near = |a: f64, b: f64| (a - b).abs() < 0.1 * piece.size;
            last.text == piece.text && near(last.left, piece.left) && near(last.y, piece.y)
        })
    }
}

/// The place of the text along its direction, across it, and its size. Pages that are turned read like others.
fn place(text: &Matrix, state: &TextState) -> (f64, f64, f64) {
    let at = product(&[1.0, 0.0, 0.0, 1.0, 0.0, state.rise], text);
    let [a, b, c, d, x, y] = product(&at, &state.matrix);
    let size = (c.hypot(d) * state.size).abs();
    if a.abs() >= b.abs() {
        if a >= 0.0 { (x, y, size) } else { (-x, -y, size) }
    } else if b > 0.0 {
        (y, -x, size)
    } else {
        (-y, x, size)
    }
}

/// Whether a letter is one of a script that is written from right to left, such as Hebrew and Arabic.
fn is_right_to_left(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}')
}

/// Adds a character; a ligature as its letters. What has no width is left out.
fn spell(character: char, out: &mut String) {
    match character {
        'ﬀ' => out.push_str("ff"),
        'ﬁ' => out.push_str("fi"),
        'ﬂ' => out.push_str("fl"),
        'ﬃ' => out.push_str("ffi"),
        'ﬄ' => out.push_str("ffl"),
        'ﬅ' | 'ﬆ' => out.push_str("st"),
        '\u{200b}' | '\u{feff}' => {}
        _ if character.is_whitespace() || character.is_control() => out.push(' '),
        _ => out.push(character),
    }
}

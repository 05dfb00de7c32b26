//! What the codes of a font mean in Unicode, as its ToUnicode map says.

use std::collections::HashMap;

use super::tokens::{ContentTokens, Operand};

/// Maximum number of codes in a map. A font has at most 65,536 glyphs.
const CODES_MAX: usize = 65_536;

#[derive(Default)]
pub(super) struct ToUnicode(HashMap<u32, String>);

impl ToUnicode {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut tokens = ContentTokens::new(bytes);
        let mut operands = Vec::new();
        while let Some(operator) = tokens.next_operator(&mut operands) {
            match operator {
                b"endbfchar" => map.add_characters(&operands),
                b"endbfrange" => map.add_ranges(&operands),
                _ => {}
            }
        }
        map
    }

    pub(super) fn get(&self, code: u32) -> Option<&str> {
        self.0.get(&code).map(String::as_str)
    }

    fn add(&mut self, code: u32, text: String) {
        let is_known = !text.is_empty() && !text.contains(['\0', '\u{fffd}']);
        if is_known && self.0.len() < CODES_MAX {
            self.0.insert(code, text);
        }
    }

    fn add_characters(&mut self, operands: &[Operand]) {
        for pair in operands.chunks_exact(2) {
            if let [Operand::Text(code), Operand::Text(text)] = pair {
                self.add(code_of(code), utf16(text, 0));
            }
        }
    }

    fn add_ranges(&mut self, operands: &[Operand]) {
        let mut rest = operands;
        while let [Operand::Text(first), Operand::Text(last), target, after @ ..] = rest {
            let (first, last) = (code_of(first), code_of(last));
            rest = after;
            match target {
                Operand::Text(text) => {
                    for (code, step) in (first..=last).zip(0..=u16::MAX) {
                        if self.0.len() >= CODES_MAX {
                            return;
                        }
                        self.add(code, utf16(text, step));
                    }
                }
                Operand::ArrayStart => {
                    let mut code = first;
                    while let [operand, after @ ..] = rest {
                        rest = after;
                        match operand {
                            Operand::Text(text) => self.add(code, utf16(text, 0)),
                            Operand::ArrayEnd => break,
                            _ => {}
                        }
                        code = code.saturating_add(1);
                    }
                }
                _ => return,
            }
        }
    }
}

fn code_of(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |code, &byte| code << 8 | u32::from(byte))
}

/// Text in UTF-16, its last unit raised by `step`.
fn utf16(bytes: &[u8], step: u16) -> String {
    let mut units: Vec<u16> = match bytes {
        [one] => vec![u16::from(*one)],
        _ => bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    };
    if let Some(last) = units.last_mut() {
        *last = last.saturating_add(step);
    }
    String::from_utf16_lossy(&units)
}

//! The operators of a content stream with their operands, read in one pass without recursion.

/// An operand. What no text operator takes is `Other`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    ArrayStart,
    ArrayEnd,
    Other,
}

/// Maximum number of operands that are kept for one operator.
const OPERANDS_MAX: usize = 65_536;

pub(super) struct ContentTokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !is_delimiter(byte)
}

impl<'a> ContentTokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next operator; its operands are in `operands`.
    pub(super) fn next_operator(&mut self, operands: &mut Vec<Operand>) -> Option<&'a [u8]> {
        operands.clear();
        loop {
            let byte = *self.bytes.get(self.at)?;
            let operand = match byte {
                _ if is_space(byte) => {
                    self.at += 1;
                    continue;
                }
                b'%' => {
                    self.skip_while(|byte| byte != b'\n' && byte != b'\r');
                    continue;
                }
                b'(' => Operand::Text(self.literal()),
                b'<' if self.bytes.get(self.at + 1) != Some(&b'<') => Operand::Text(self.hexadecimal()),
                b'/' => {
                    self.at += 1;
                    Operand::Name(name(self.regular()))
                }
                b'[' | b']' => {
                    self.at += 1;
                    if byte == b'[' { Operand::ArrayStart } else { Operand::ArrayEnd }
                }
                _ if is_delimiter(byte) => {
                    self.at += 1;
                    Operand::Other
                }
                _ => {
                    let word = self.regular();
                    match number(word) {
                        Some(number) => Operand::Number(number),
                        None if matches!(word, b"true" | b"false" | b"null") => Operand::Other,
                        None => {
                            if word == b"ID" {
                                self.skip_image();
                            }
                            return Some(word);
                        }
                    }
                }
            };
            if operands.len() < OPERANDS_MAX {
                operands.push(operand);
            }
        }
    }

    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&byte| is_skipped(byte)) {
            self.at += 1;
        }
    }

    fn regular(&mut self) -> &'a [u8] {
        let start = self.at;
        self.skip_while(is_regular);
        &self.bytes[start..self.at]
    }

    fn literal(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut open = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'(' => {
                    open += 1;
                    if open > 1 {
                        text.push(byte);
                    }
                }
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                    text.push(byte);
                }
                b'\\' => self.escape(&mut text),
                _ => text.push(byte),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(&byte) = self.bytes.get(self.at) else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(&digit @ b'0'..=b'7') = self.bytes.get(self.at) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push(code.to_le_bytes()[0]);
            }
            // A line break within a string that is none of the text.
            b'\r' => {
                if self.bytes.get(self.at) == Some(&b'\n') {
                    self.at += 1;
                }
            }
            b'\n' => {}
            other => text.push(other),
        }
    }

    fn hexadecimal(&mut self) -> Vec<u8> {
        self.at += 1;
        let start = self.at;
        self.skip_while(|byte| byte != b'>');
        let text = hexadecimal(&self.bytes[start..self.at]);
        self.at += 1;
        text
    }

    /// Skips an image within the stream: its data ends with the word EI.
    fn skip_image(&mut self) {
        for found in memchr::memmem::find_iter(&self.bytes[self.at..], b"EI") {
            let before = self.bytes.get((self.at + found).wrapping_sub(1)).copied();
            let after = self.bytes.get(self.at + found + 2).copied();
            if before.is_some_and(is_space) && after.is_none_or(is_space) {
                self.at += found + 2;
                return;
            }
        }
        self.at = self.bytes.len();
    }
}

/// The bytes that hexadecimal digits mean. A missing last digit is 0.
pub(super) fn hexadecimal(digits: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        digits.iter().filter_map(|&digit| char::from(digit).to_digit(16)).map(|d| d.to_le_bytes()[0]).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn name(bytes: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1..at + 3)) {
            (b'#', Some(digits)) if digits.iter().all(u8::is_ascii_hexdigit) => {
                name.extend(hexadecimal(digits));
                at += 3;
            }
            _ => {
                name.push(byte);
                at += 1;
            }
        }
    }
    name
}

fn number(word: &[u8]) -> Option<f64> {
    let first = *word.first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) || word.len() > 64 {
        return None;
    }
    let number: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

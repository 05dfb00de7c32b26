//! Percent-encoding of text in URLs and forms.

use std::borrow::Cow;

use hornbook_base::hex;

/// Encodes all characters except those that need no encoding in any part of a URL.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push(&mut out, text);
    out
}

/// Appends the encoded text to `out`.
pub(crate) fn push(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    // Checks all bytes without an early exit, so that the compiler can compare many at once.
    if text.bytes().fold(true, |all, byte| all & is_unreserved(byte)) {
        return out.push_str(text);
    }
    for byte in text.bytes() {
        match byte {
            _ if is_unreserved(byte) => out.push(char::from(byte)),
            _ => out.extend(['%', char::from(HEX[usize::from(byte >> 4)]), char::from(HEX[usize::from(byte & 15)])]),
        }
    }
}

/// The meaning of `+`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plus {
    Stays,
    IsSpace,
}

/// Decodes a text. `None` for a broken escape, for invalid UTF-8, and for control characters other than
/// white space.
pub(crate) fn decoded(text: &str, plus: Plus) -> Option<Cow<'_, str>> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() & (byte != b'%') & (byte != b'+' || plus == Plus::Stays);
    // Checks all bytes without an early exit, so that the compiler can compare many at once.
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        return Some(text.into());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        match first {
            b'%' => {
                let [high, low, behind @ ..] = rest else { return None };
                bytes.push(hex::decode_byte([*high, *low])?);
                rest = behind;
            }
            b'+' if plus == Plus::IsSpace => bytes.push(b' '),
            // Raw UTF-8 is not allowed in a URL, even though many servers accept it.
            byte if byte.is_ascii_graphic() => bytes.push(*byte),
            _ => return None,
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let is_forbidden = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    (!text.chars().any(is_forbidden)).then_some(text.into())
}

/// The decoded fields of a form (`application/x-www-form-urlencoded`). `None` if there are more than `max`, or if one
/// has no value or is not encoded correctly.
pub(crate) fn form_fields(body: &[u8], max: usize) -> Option<Vec<(String, String)>> {
    let field = |text: &[u8]| Some(decoded(str::from_utf8(text).ok()?, Plus::IsSpace)?.into_owned());
    let mut fields = Vec::new();
    for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        if fields.len() == max {
            return None;
        }
        fields.push((field(&pair[..at])?, field(&pair[at + 1..])?));
    }
    Some(fields)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(encoded("a-Z_0.9~"), "a-Z_0.9~");
        assert_eq!(encoded("§ 1 & 'b'/?"), "%C2%A7%201%20%26%20%27b%27%2F%3F");
    }

    #[test]
    fn only_whole_escapes_of_utf8_are_decoded() {
        assert_eq!(decoded("a%20b+c%C2%A7", Plus::IsSpace).unwrap(), "a b c§");
        assert_eq!(decoded("a+b", Plus::Stays).unwrap(), "a+b");
        for bad in ["%", "%2", "%zz", "%00", "%c0%af", "%ff", "%1b", "%+1", "§", "a b"] {
            assert_eq!(decoded(bad, Plus::IsSpace), None, "{bad}");
        }
    }
}

//! Percent-encoding of text that becomes part of an address.

/// Encodes everything but the characters that mean themselves in every part of an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push(&mut out, text);
    out
}

/// The same, at the end of a text.
pub(crate) fn push(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    // All of them, so that the compiler compares many at once.
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
}

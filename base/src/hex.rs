//! Bytes as hexadecimal text and back.

/// Encodes each byte as two lower-case digits.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Decodes a text of exactly `2 * N` digits, in either case.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !odd.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = decode_byte(*pair)?;
    }
    Some(bytes)
}

/// Decodes a text of any even number of digits.
pub fn decode_all(text: &str) -> Option<Vec<u8>> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    if odd.is_empty() { pairs.iter().map(|pair| decode_byte(*pair)).collect() } else { None }
}

/// Decodes one byte from its two digits.
pub fn decode_byte([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |sign: u8| char::from(sign).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_and_decoding_round_trip() {
        let all: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        assert_eq!(encode(&[0x00, 0x0f, 0xf0, 0xab]), "000ff0ab");
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(decode("AbCd"), Some([0xab, 0xcd]));
        assert_eq!(decode_all(&encode(&all)), Some(all.to_vec()));
    }

    #[test]
    fn anything_but_that_many_digits_is_refused() {
        for text in ["", "a", "abc", "abcdef", "ag", "+1+1", "é0"] {
            assert_eq!(decode::<2>(text), None, "{text}");
        }
        for text in ["a", "abc", "ag"] {
            assert_eq!(decode_all(text), None, "{text}");
        }
    }
}

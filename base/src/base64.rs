//! Bytes as base64 text and back, in the standard form with padding and in the form for URLs without.

/// How the text is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base64 {
    /// With `+` and `/`, and padded.
    Standard,
    /// With `-` and `_`, and not padded.
    Url,
}

impl Base64 {
    pub fn encode(self, bytes: &[u8]) -> String {
        let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for three in bytes.chunks(3) {
            let held = three.iter().fold(0_u32, |held, byte| held << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
            for place in 0..4 {
                let value = (held >> (18 - 6 * place) & 63) as u8;
                match (place <= three.len(), self) {
                    (true, _) => out.push(self.digit(value)),
                    (false, Self::Standard) => out.push('='),
                    (false, Self::Url) => {}
                }
            }
        }
        out
    }

    /// Decodes a text. `None` for anything that another decoder might read differently.
    pub fn decode(self, text: &str) -> Option<Vec<u8>> {
        let digits = match self {
            Self::Standard => {
                let digits = text.trim_end_matches('=');
                let is_padded = text.len().is_multiple_of(4) && text.len() - digits.len() <= 2;
                is_padded.then_some(digits)?
            }
            Self::Url => text,
        };
        let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
        let (mut held, mut bits) = (0_u32, 0_u32);
        for digit in digits.bytes() {
            held = held << 6 | u32::from(self.value(digit)?);
            bits += 6;
            if bits >= 8 {
                bits -= 8;
                bytes.push((held >> bits) as u8);
                held &= (1 << bits) - 1;
            }
        }
        // The bits after the last byte must be zero.
        (held == 0 && bits < 6).then_some(bytes)
    }

    fn digit(self, value: u8) -> char {
        char::from(match (value, self) {
            (0..26, _) => b'A' + value,
            (26..52, _) => b'a' + value - 26,
            (52..62, _) => b'0' + value - 52,
            (62, Self::Standard) => b'+',
            (62, Self::Url) => b'-',
            (_, Self::Standard) => b'/',
            (_, Self::Url) => b'_',
        })
    }

    fn value(self, digit: u8) -> Option<u8> {
        match (digit, self) {
            (b'A'..=b'Z', _) => Some(digit - b'A'),
            (b'a'..=b'z', _) => Some(digit - b'a' + 26),
            (b'0'..=b'9', _) => Some(digit - b'0' + 52),
            (b'+', Self::Standard) | (b'-', Self::Url) => Some(62),
            (b'/', Self::Standard) | (b'_', Self::Url) => Some(63),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_rfc_4648_and_read_back() {
        for (bytes, standard) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(Base64::Standard.encode(bytes.as_bytes()), standard);
            assert_eq!(Base64::Url.encode(bytes.as_bytes()), standard.trim_end_matches('='));
        }
        let all: Vec<u8> = (0..=255).collect();
        for form in [Base64::Standard, Base64::Url] {
            for length in 0..=all.len() {
                assert_eq!(form.decode(&form.encode(&all[..length])).as_deref(), Some(&all[..length]), "{form:?}");
            }
        }
        assert_eq!(
            (Base64::Standard.encode(&[251, 255]), Base64::Url.encode(&[251, 255])),
            ("+/8=".into(), "-_8".into())
        );
    }

    #[test]
    fn what_decoders_read_differently_is_refused() {
        for wrong in ["Zg", "Zg=", "Zg===", "Zh==", "Z", "Zm9v====", "Zm9\n", "-_8=", "=Zg=", "Zg==Zg=="] {
            assert_eq!(Base64::Standard.decode(wrong), None, "{wrong}");
        }
        for wrong in ["Zg==", "Zh", "Z", "+/8", "Zm9v Zg", "é"] {
            assert_eq!(Base64::Url.decode(wrong), None, "{wrong}");
        }
    }
}

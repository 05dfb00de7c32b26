//! The encoding of frequent records: fixed-size and variable-length integers, and the checksum at
//! the end of every record.
//!
//! The checksum also covers the table's name and the key, so a record under another key counts as
//! damaged. Reading never panics: missing or overlong data is a [`Malformed`].

/// The bytes are not those of a valid record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

const CHECKSUM_BYTES: usize = 4;

/// Returns `payload` followed by the checksum of table, key and payload.
pub(crate) fn append_checksum(table: &str, key: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(payload.len() + CHECKSUM_BYTES);
    sealed.extend_from_slice(payload);
    sealed.extend_from_slice(&checksum(table, key, payload).to_le_bytes());
    sealed
}

/// Returns the payload of a record with a checksum, if the checksum matches.
pub(crate) fn verify_checksum<'r>(table: &str, key: &[u8], sealed: &'r [u8]) -> Result<&'r [u8], Malformed> {
    let at = sealed.len().checked_sub(CHECKSUM_BYTES).ok_or(Malformed)?;
    let (payload, found) = sealed.split_at(at);
    if found == checksum(table, key, payload).to_le_bytes() { Ok(payload) } else { Err(Malformed) }
}

fn checksum(table: &str, key: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(table.as_bytes());
    // With the length, the checksum detects a byte that moved between key and payload.
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(payload);
    hasher.finalize()
}

/// Appends values to a record.
#[derive(Default)]
pub(crate) struct RecordEncoder {
    pub(crate) bytes: Vec<u8>,
}

impl RecordEncoder {
    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    /// Seven bits per byte, lowest first.
    pub(crate) fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// The sign is the lowest bit, so that numbers near zero stay short.
    pub(crate) fn signed(&mut self, value: i64) {
        self.unsigned(((value << 1) ^ (value >> 63)) as u64);
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.unsigned(value.len() as u64);
        self.raw(value.as_bytes());
    }
}

/// Reads values back from a record.
pub(crate) struct Decoder<'r> {
    rest: &'r [u8],
}

impl<'r> Decoder<'r> {
    pub(crate) fn new(bytes: &'r [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        self.raw(1).map(|bytes| bytes[0])
    }

    pub(crate) fn raw(&mut self, count: usize) -> Result<&'r [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn unsigned(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Malformed);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Malformed> {
        let folded = self.unsigned()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// An unsigned number that must fit the caller's type.
    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, Malformed> {
        T::try_from(self.unsigned()?).map_err(|_| Malformed)
    }

    /// A signed number that must fit the caller's type.
    pub(crate) fn integer<T: TryFrom<i64>>(&mut self) -> Result<T, Malformed> {
        T::try_from(self.signed()?).map_err(|_| Malformed)
    }

    pub(crate) fn text(&mut self) -> Result<&'r str, Malformed> {
        let length = self.number()?;
        std::str::from_utf8(self.raw(length)?).map_err(|_| Malformed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn finish(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_and_text_round_trip(unsigned: u64, signed: i64, text: String) {
            let mut encoder = RecordEncoder::default();
            encoder.unsigned(unsigned);
            encoder.signed(signed);
            encoder.text(&text);
            let mut decoder = Decoder::new(&encoder.bytes);
            prop_assert_eq!(decoder.unsigned(), Ok(unsigned));
            prop_assert_eq!(decoder.signed(), Ok(signed));
            prop_assert_eq!(decoder.text(), Ok(text.as_str()));
            prop_assert_eq!(decoder.finish(), Ok(()));
        }

        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut decoder = Decoder::new(&bytes);
            while decoder.unsigned().is_ok() && !decoder.is_empty() {}
            let _ = Decoder::new(&bytes).text();
            let _ = verify_checksum("wallets", b"k", &bytes);
        }

        #[test]
        fn one_flipped_bit_breaks_the_seal(payload: Vec<u8>, at: prop::sample::Index, bit in 0u8..8) {
            let mut sealed = append_checksum("wallets", b"key", &payload);
            prop_assert_eq!(verify_checksum("wallets", b"key", &sealed), Ok(payload.as_slice()));
            prop_assert_eq!(verify_checksum("wallets", b"kez", &sealed), Err(Malformed));
            prop_assert_eq!(verify_checksum("keys", b"key", &sealed), Err(Malformed));
            let at = at.index(sealed.len());
            sealed[at] ^= 1 << bit;
            prop_assert_eq!(verify_checksum("wallets", b"key", &sealed), Err(Malformed));
        }
    }
}

//! Request ids: 16 characters with 80 bits that only this server can predict.
//!
//! An id is the beginning of a keyed hash of the number of the request: SipHash-2-4 with 128 bits. The
//! key is drawn at start. An id shows neither when the server started nor how many requests it has
//! answered. It needs no system call, and does not repeat across restarts.

use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use hornbook_accounts::entropy::Entropy;
use siphasher::sip128::SipHasher24;

const SECRET_BYTES: usize = 16;
const CHARS: usize = 16;
const BITS_PER_CHAR: u32 = 5;

/// Digits and letters, without those that look like others: Crockford's base 32, in lower case.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct RequestId([u8; CHARS]);

impl Deref for RequestId {
    type Target = str;

    fn deref(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

pub(super) struct RequestIds {
    keyed: SipHasher24,
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn draw(entropy: &mut dyn Entropy) -> io::Result<Self> {
        let mut secret = [0; SECRET_BYTES];
        entropy.fill(&mut secret)?;
        Ok(Self { keyed: SipHasher24::new_with_key(&secret), next: AtomicU64::new(0) })
    }

    pub(super) fn next(&self) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut bits = self.keyed.hash(&number.to_le_bytes()).as_u128();
        RequestId(std::array::from_fn(|_| {
            let char = ALPHABET[(bits & 31) as usize];
            bits >>= BITS_PER_CHAR;
            char
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use hornbook_accounts::entropy::SeededEntropy;

    #[test]
    fn ids_are_short_and_differ_within_a_start_and_between_starts() {
        let mut seen = HashSet::new();
        for seed in 0..10 {
            let ids = RequestIds::draw(&mut SeededEntropy(seed)).unwrap();
            for _ in 0..1000 {
                let id = ids.next();
                assert!(id.len() == 16 && id.bytes().all(|byte| ALPHABET.contains(&byte)), "{id:?}");
                assert!(seen.insert(id));
            }
        }
    }

    #[test]
    fn every_bit_of_an_id_is_random() {
        const IDS: u32 = 4000;
        let ids = RequestIds::draw(&mut SeededEntropy(1)).unwrap();
        let mut ones = [0_u32; CHARS * BITS_PER_CHAR as usize];
        for _ in 0..IDS {
            for (place, char) in ids.next().bytes().enumerate() {
                let value = ALPHABET.iter().position(|known| *known == char).unwrap();
                for bit in 0..BITS_PER_CHAR as usize {
                    ones[place * BITS_PER_CHAR as usize + bit] += (value >> bit & 1) as u32;
                }
            }
        }
        // Six standard deviations on either side.
        let (half, margin) = (IDS / 2, 6 * 32);
        assert!(ones.iter().all(|count| count.abs_diff(half) < margin), "{ones:?}");
    }
}

//! Request ids: 16 characters for 80 bits that only this server can predict.
//!
//! An id is the beginning of SHA-256 over a secret drawn at start and the number of the request. It shows neither when the
//! server started nor how many requests it has answered, costs no system call, and does not repeat across restarts.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use crate::accounts::entropy::Entropy;

const SECRET_BYTES: usize = 32;
const ID_BYTES: usize = 10;
const CHARS: usize = ID_BYTES * 8 / BITS_PER_CHAR;
const BITS_PER_CHAR: usize = 5;

/// Digits and letters without those that look like others: Crockford's base 32, in lower case.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

pub(super) struct RequestIds {
    secret: [u8; SECRET_BYTES],
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn draw(entropy: &mut dyn Entropy) -> io::Result<Self> {
        let mut secret = [0; SECRET_BYTES];
        entropy.fill(&mut secret)?;
        Ok(Self { secret, next: AtomicU64::new(0) })
    }

    pub(super) fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let digest = Sha256::new().chain_update(self.secret).chain_update(number.to_le_bytes()).finalize();
        let mut id = String::with_capacity(CHARS);
        let (mut bits, mut waiting) = (0_u32, 0);
        for byte in &digest[..ID_BYTES] {
            bits = bits << 8 | u32::from(*byte);
            waiting += 8;
            while waiting >= BITS_PER_CHAR {
                waiting -= BITS_PER_CHAR;
                id.push(char::from(ALPHABET[(bits >> waiting) as usize & 31]));
            }
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::accounts::entropy::SeededEntropy;

    #[test]
    fn ids_are_short_and_differ_within_a_start_and_between_starts() {
        let mut seen = HashSet::new();
        for seed in 0..10 {
            let ids = RequestIds::draw(&mut SeededEntropy(seed)).unwrap();
            for _ in 0..1000 {
                let id = ids.next();
                assert!(id.len() == 16 && id.bytes().all(|byte| ALPHABET.contains(&byte)), "{id}");
                assert!(seen.insert(id));
            }
        }
    }

    #[test]
    fn every_bit_of_an_id_is_a_coin_toss() {
        const IDS: u32 = 4000;
        let ids = RequestIds::draw(&mut SeededEntropy(1)).unwrap();
        let mut ones = [0_u32; ID_BYTES * 8];
        for _ in 0..IDS {
            for (place, char) in ids.next().bytes().enumerate() {
                let value = ALPHABET.iter().position(|known| *known == char).unwrap();
                for bit in 0..BITS_PER_CHAR {
                    ones[place * BITS_PER_CHAR + bit] += (value >> bit & 1) as u32;
                }
            }
        }
        // Six standard deviations on either side.
        let (half, margin) = (IDS / 2, 6 * 32);
        assert!(ones.iter().all(|count| count.abs_diff(half) < margin), "{ones:?}");
    }
}

//! The hash function of the compiled-in vocabulary map, shared by the build script that writes it and the tokeniser.

/// Slots of the map, a power of two; under half are taken.
pub(crate) const SLOT_COUNT: usize = 1 << 16;

/// No token is longer, in bytes, without its continuation mark; the build script checks it.
pub(crate) const PIECE_LEN_MAX: usize = 18;

/// A slot without a token. No slot of a token is zero: token 0 is a special one and left out of the map.
pub(crate) const EMPTY: u32 = 0;

/// The hash before the first byte: words and their continuations are different tokens.
pub(crate) const WORD_SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;
pub(crate) const CONTINUATION_SEED: u64 = 0x2d_35_8d_cc_aa_6c_78_a5;

/// The hash of what was hashed so far and one byte more, so that all prefixes of a word are hashed in one pass.
pub(crate) const fn extend(hash: u64, byte: u8) -> u64 {
    (hash.rotate_left(5) ^ byte as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The first slot to look into.
pub(crate) const fn first_slot(hash: u64) -> usize {
    (hash >> 48) as usize
}

/// What a slot with this hash and token holds: 16 more bits of the hash spare nearly every comparison in vain.
pub(crate) const fn slot_value(hash: u64, token: u16) -> u32 {
    ((hash >> 32) as u32) << 16 | token as u32
}

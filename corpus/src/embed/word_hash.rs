//! The hash function of the compiled-in vocabulary map, shared by the build script that writes it and the tokeniser.

/// Number of slots of the map, a power of two. Less than half of them are used.
pub(crate) const SLOT_COUNT: usize = 1 << 16;

/// Maximum length of a token in bytes, without its continuation mark. The build script checks it.
pub(crate) const PIECE_LEN_MAX: usize = 18;

/// The value of a slot without a token. No slot with a token is zero, because token 0 is special and not in the map.
pub(crate) const EMPTY: u32 = 0;

/// The hash before the first byte. Words and continuations have different ones, because they are different tokens.
pub(crate) const WORD_SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;
pub(crate) const CONTINUATION_SEED: u64 = 0x2d_35_8d_cc_aa_6c_78_a5;

/// Extends a hash by one byte, so that all prefixes of a word can be hashed in one pass.
pub(crate) const fn extend(hash: u64, byte: u8) -> u64 {
    (hash.rotate_left(5) ^ byte as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The first slot to check.
pub(crate) const fn first_slot(hash: u64) -> usize {
    (hash >> 48) as usize
}

/// The value of a slot with this hash and token. It contains 16 more bits of the hash, which save nearly all
/// failing text comparisons.
pub(crate) const fn slot_value(hash: u64, token: u16) -> u32 {
    ((hash >> 32) as u32) << 16 | token as u32
}

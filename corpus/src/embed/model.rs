//! The compiled-in model: aligned columns that the build script takes from the model files.

use super::token::{TOKEN_COUNT, TokenId};

/// The number of components of a vector.
pub const DIMS: usize = 256;

/// Bytes aligned to a cache line, so that they can be read as wider values and a row spans as few cache lines as
/// possible.
#[repr(C, align(64))]
pub(super) struct Aligned<B: ?Sized>(pub(super) B);

macro_rules! aligned_bytes {
    ($path:expr) => {{
        static BYTES: &$crate::embed::model::Aligned<[u8]> = &$crate::embed::model::Aligned(*include_bytes!($path));
        &BYTES.0
    }};
}
pub(super) use aligned_bytes;

/// One row of the embedding table. Multiplied by the token's scale, it is the token's vector.
pub(super) type EmbeddingRow = [i8; DIMS];

/// A table: a row and a scale for each token.
#[derive(Clone, Copy)]
pub(super) struct Model {
    rows: &'static [EmbeddingRow],
    scales: &'static [f32],
}

impl Model {
    /// The table of passages.
    pub(super) fn of_passages() -> Self {
        Self::compiled_in(
            aligned_bytes!(concat!(env!("OUT_DIR"), "/passages-embedding.bin")),
            aligned_bytes!(concat!(env!("OUT_DIR"), "/passages-scale.bin")),
        )
    }

    /// The table of queries, in the vector space of the passages.
    pub(super) fn of_queries() -> Self {
        Self::compiled_in(
            aligned_bytes!(concat!(env!("OUT_DIR"), "/queries-embedding.bin")),
            aligned_bytes!(concat!(env!("OUT_DIR"), "/queries-scale.bin")),
        )
    }

    fn compiled_in(rows: &'static [u8], scales: &'static [u8]) -> Self {
        let (rows, scales): (&[EmbeddingRow], &[f32]) = (bytemuck::cast_slice(rows), bytemuck::cast_slice(scales));
        assert!(rows.len() == TOKEN_COUNT && scales.len() == TOKEN_COUNT, "the build script checked the shapes");
        Self { rows, scales }
    }

    /// The row and the scale of a token. `None` outside the table, where a token from a damaged file may be.
    pub(super) fn row(&self, token: TokenId) -> Option<(&'static EmbeddingRow, f32)> {
        Some((self.rows.get(token.index())?, *self.scales.get(token.index())?))
    }
}

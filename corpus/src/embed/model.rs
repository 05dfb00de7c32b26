//! The model inside the program: aligned columns that the build script takes from the model file.

use super::token::{TOKEN_COUNT, TokenId};

/// How many components a vector has.
pub const DIMS: usize = 256;

/// Bytes at the start of a cache line, so that they can be read as wider values and no row straddles more lines than it must.
#[repr(C, align(64))]
pub(super) struct Aligned<B: ?Sized>(pub(super) B);

macro_rules! aligned_bytes {
    ($path:expr) => {{
        static BYTES: &$crate::embed::model::Aligned<[u8]> = &$crate::embed::model::Aligned(*include_bytes!($path));
        &BYTES.0
    }};
}
pub(super) use aligned_bytes;

/// One row of the embedding table; times the token's scale it is the token's vector.
pub(super) type Row = [i8; DIMS];

/// The embedding table.
#[derive(Clone, Copy)]
pub(super) struct Model {
    rows: &'static [Row],
    scales: &'static [f32],
}

impl Model {
    pub(super) fn compiled_in() -> Self {
        let rows: &[Row] = bytemuck::cast_slice(aligned_bytes!(concat!(env!("OUT_DIR"), "/embedding.bin")));
        let scales: &[f32] = bytemuck::cast_slice(aligned_bytes!(concat!(env!("OUT_DIR"), "/scale.bin")));
        assert!(rows.len() == TOKEN_COUNT && scales.len() == TOKEN_COUNT, "the build script checked the shapes");
        Self { rows, scales }
    }

    /// A token from a damaged file may lie outside the table.
    pub(super) fn row(&self, token: TokenId) -> Option<(&'static Row, f32)> {
        Some((self.rows.get(token.index())?, *self.scales.get(token.index())?))
    }
}

//! The vectors of one shard as the graph builder compares them.

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::vectors::{Kernel, RowsView, VectorRows};

/// The rows of one shard, with the inverse norms that cosines need.
pub(super) struct ShardRows<'a> {
    pub(super) rows: RowsView<'a>,
    pub(super) kernel: Kernel,
    pub(super) chunks: OrdinalRange,
    pub(super) inverse_norms: Vec<f32>,
}

impl<'a> ShardRows<'a> {
    pub(super) fn new(rows: &'a VectorRows, chunks: OrdinalRange) -> Self {
        let (rows, kernel) = (rows.view(), Kernel::detect());
        let inverse_norms = chunks
            .iter()
            .map(|chunk| match kernel.dot_of_codes(rows.codes(chunk), rows.codes(chunk)) {
                0 => 0.0,
                squares => 1.0 / (squares as f32).sqrt(),
            })
            .collect();
        Self { rows, kernel, chunks, inverse_norms }
    }

    pub(super) fn inverse_norm(&self, chunk: u32) -> f32 {
        self.inverse_norms[(chunk - self.chunks.start) as usize]
    }

    pub(super) fn cosine(&self, left: u32, right: u32) -> f32 {
        let dot = self.kernel.dot_of_codes(self.rows.codes(left), self.rows.codes(right));
        dot as f32 * self.inverse_norm(left) * self.inverse_norm(right)
    }
}

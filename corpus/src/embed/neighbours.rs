//! The nearest other tokens of each token, for late-interaction reranking. The table is compiled into the program;
//! `examples/derive-neighbours.rs` computes it from the model.
//!
//! Layout: for every token 32 token numbers (u16), then for every token 32 cosines in 255ths (u8), both nearest first.
//! Equal cosines are in token order. A cosine of zero ends a row early.

use super::model::DIMS;
use super::model::{EmbeddingRow, Model, aligned_bytes};
use super::token::{TOKEN_COUNT, TokenId};
use super::vocabulary::Vocabulary;

/// Maximum number of neighbours of a token.
pub const NEIGHBOURS_MAX: usize = 32;

/// Minimum cosine of neighbours. A lower similarity is noise.
pub const COSINE_MIN: f32 = 0.4;

/// The number of steps in which cosines are stored.
const STEPS: f64 = 255.0;

pub(super) static TABLE: &[u8] = aligned_bytes!("../../model/neighbours.bin");

const COSINES_AT: usize = TOKEN_COUNT * NEIGHBOURS_MAX * size_of::<TokenId>();

/// The neighbours of a token, nearest first, without the token itself. A number beyond the vocabulary has no
/// neighbours.
pub(super) fn neighbours(token: TokenId) -> impl Iterator<Item = (TokenId, f32)> {
    let (tokens, cosines) = TABLE.split_at(COSINES_AT);
    let tokens: &[[TokenId; NEIGHBOURS_MAX]] = bytemuck::cast_slice(tokens);
    let cosines: &[[u8; NEIGHBOURS_MAX]] = bytemuck::cast_slice(cosines);
    let row = tokens.get(token.index()).zip(cosines.get(token.index()));
    row.into_iter()
        .flat_map(|(tokens, cosines)| tokens.iter().zip(cosines))
        .take_while(|&(_, &steps)| steps > 0)
        .map(|(&token, &steps)| (token, f32::from(steps) / STEPS as f32))
}

/// Computes the table from the model, row by row. Cosines are computed from sums of integers, so every machine
/// computes the same table.
pub struct NeighbourTableBuilder {
    model: Model,
    vocabulary: Vocabulary,
    /// The length of each row. Zero for the special tokens, which occur in no text and must not be neighbours.
    lengths: Vec<f64>,
}

impl NeighbourTableBuilder {
    #[expect(clippy::new_without_default, reason = "it computes for a moment, which a default should not")]
    pub fn new() -> Self {
        let (model, vocabulary) = (Model::of_passages(), Vocabulary::compiled_in());
        let lengths = (0..TOKEN_COUNT as u16).map(|id| {
            let special = matches!(vocabulary.text(TokenId(id)), [b'[', _, ..]);
            let row = model.row(TokenId(id)).filter(|_| !special);
            row.map_or(0.0, |(row, _)| f64::from(dot(&widened(row), row)).sqrt())
        });
        Self { lengths: lengths.collect(), model, vocabulary }
    }

    /// The neighbours of one token: numbers and cosines in 255ths, nearest first.
    pub fn row(&self, token: TokenId) -> Vec<(TokenId, u8)> {
        let Some((row, _)) = self.model.row(token) else { return Vec::new() };
        let (wide, length) = (widened(row), self.lengths[token.index()]);
        let mut near: Vec<(f64, TokenId)> = (0..TOKEN_COUNT as u16)
            .map(TokenId)
            .filter(|&other| other != token)
            .filter_map(|other| {
                let lengths = length * self.lengths[other.index()];
                let (row, _) = self.model.row(other).filter(|_| lengths > 0.0)?;
                let cosine = f64::from(dot(&wide, row)) / lengths;
                (cosine >= f64::from(COSINE_MIN)).then_some((cosine, other))
            })
            .collect();
        near.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
        near.truncate(NEIGHBOURS_MAX);
        near.into_iter().map(|(cosine, other)| (other, (cosine * STEPS).round() as u8)).collect()
    }

    /// The bytes of the whole table. Computing them takes a minute or two.
    pub fn table(&self) -> Vec<u8> {
        let mut tokens = vec![[TokenId(0); NEIGHBOURS_MAX]; TOKEN_COUNT];
        let mut cosines = vec![[0_u8; NEIGHBOURS_MAX]; TOKEN_COUNT];
        for id in 0..TOKEN_COUNT {
            for (place, (other, cosine)) in self.row(TokenId(id as u16)).into_iter().enumerate() {
                tokens[id][place] = other;
                cosines[id][place] = cosine;
            }
        }
        let mut table = bytemuck::cast_slice(&tokens).to_vec();
        table.extend_from_slice(cosines.as_flattened());
        table
    }

    /// A token as the vocabulary writes it, for printing a row.
    pub fn text(&self, token: TokenId) -> std::borrow::Cow<'static, str> {
        String::from_utf8_lossy(self.vocabulary.text(token))
    }
}

fn widened(row: &EmbeddingRow) -> [i16; DIMS] {
    row.map(i16::from)
}

fn dot(wide: &[i16; DIMS], row: &EmbeddingRow) -> i32 {
    wide.iter().zip(row).map(|(&a, &b)| i32::from(a) * i32::from(i16::from(b))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_one_the_model_gives() {
        let derivation = NeighbourTableBuilder::new();
        assert_eq!(TABLE.len(), COSINES_AT + TOKEN_COUNT * NEIGHBOURS_MAX);
        for id in (0..TOKEN_COUNT as u16).step_by(1009).chain([0, 100, 102, 996, 1999, 2000, 30_521]) {
            let derived: Vec<_> = derivation
                .row(TokenId(id))
                .into_iter()
                .map(|(other, steps)| (other, f32::from(steps) / STEPS as f32))
                .collect();
            let kept: Vec<_> = neighbours(TokenId(id)).collect();
            assert_eq!(kept, derived, "token {id}: run the example derive-neighbours");
        }
    }

    #[test]
    fn neighbours_are_sorted_and_similar() {
        let mut rows_with_neighbours = 0;
        for id in 0..TOKEN_COUNT as u16 {
            let row: Vec<_> = neighbours(TokenId(id)).collect();
            assert!(row.is_sorted_by(|a, b| a.1 >= b.1));
            assert!(row.iter().all(|&(other, cosine)| {
                other.index() < TOKEN_COUNT && other.0 != id && (COSINE_MIN - 0.002..=1.0).contains(&cosine)
            }));
            rows_with_neighbours += usize::from(!row.is_empty());
        }
        assert!(rows_with_neighbours > 25_000, "{rows_with_neighbours}");
        assert_eq!(neighbours(TokenId(u16::MAX)).count(), 0);
    }
}

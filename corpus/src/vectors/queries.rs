//! `queries-<space>.bin`: the table that embeds the queries of a space whose passages a sentence encoder embedded
//! when the snapshot was built. Each token has a row, and a query is the sum of the rows of its tokens, so a search
//! needs no encoder. `corpus/FORMAT.md` describes the layout.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::rows::{check_space, is_supported_dims, single_meta};
use super::space::{NAME_LEN_MAX, SpaceName};
use crate::embed::{TOKEN_COUNT, TokenId};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

const KIND: FileKind = FileKind { magic: *b"HBQUERYT", version: 1 };

/// Identifies a sentence encoder and the query table that was made for it. Vectors of different encoders cannot be
/// compared.
pub type EncoderHash = [u8; 32];

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct QueriesMeta {
    space: [u8; NAME_LEN_MAX],
    encoder: EncoderHash,
    dims: u32,
    tokens: u32,
}

/// A row for each token. Its values are its codes, multiplied by its scale.
#[derive(Clone, Copy, Debug)]
pub struct QueryRows<'a> {
    pub dims: usize,
    /// `dims` codes for each token.
    pub codes: &'a [i8],
    pub scales: &'a [f32],
}

impl QueryRows<'_> {
    /// Whether there is a row for each token of the vocabulary, with a supported number of dimensions and a finite
    /// scale.
    pub fn are_complete(&self) -> bool {
        is_supported_dims(self.dims)
            && self.scales.len() == TOKEN_COUNT
            && self.codes.len() == TOKEN_COUNT * self.dims
            && self.scales.iter().all(|scale| scale.is_finite())
    }

    /// The vector of a query, of length one. `None` if the query has no tokens or its sum has no direction.
    pub fn vector(&self, tokens: &[TokenId]) -> Option<Vec<f32>> {
        let mut sum = vec![0.0_f32; self.dims];
        for token in tokens {
            let codes = self.codes.chunks_exact(self.dims.max(1)).nth(token.index());
            let (Some(codes), Some(&scale)) = (codes, self.scales.get(token.index())) else { continue };
            for (component, &code) in sum.iter_mut().zip(codes) {
                *component += f32::from(code) * scale;
            }
        }
        // The order of additions is fixed, so that every machine gives the same bits.
        let length = sum.iter().fold(0.0_f32, |length, component| length + component * component).sqrt();
        let has_direction = length > 0.0 && length.is_finite();
        has_direction.then(|| sum.into_iter().map(|component| component / length).collect())
    }
}

/// Writes the file into `directory`, which must not contain it yet.
///
/// # Panics
/// If the rows are not complete (see [`QueryRows::are_complete`]).
pub fn write_queries(
    directory: &Path,
    space: &SpaceName,
    encoder: &EncoderHash,
    rows: &QueryRows<'_>,
) -> Result<(), SectionFileError> {
    assert!(rows.are_complete(), "the table of queries does not have a row for each token");
    let mut out = SectionWriter::create(&directory.join(space.queries_file()), KIND, 3)?;
    out.section("codes", rows.codes)?;
    out.section("scales", rows.scales)?;
    let meta = QueriesMeta {
        space: space.padded(),
        encoder: *encoder,
        dims: rows.dims as u32,
        tokens: rows.scales.len() as u32,
    };
    out.section("meta", &[meta])?;
    out.finish()
}

/// The mapped file.
#[derive(Clone, Debug)]
pub struct QueryTable {
    dims: usize,
    codes: Column<i8>,
    scales: Column<f32>,
}

impl QueryTable {
    /// Maps the file of a space. Returns `None` if there is no file, and an error if it belongs to another encoder.
    pub fn open(directory: &Path, space: &SpaceName, encoder: &EncoderHash) -> Result<Option<Self>, SectionFileError> {
        let path = directory.join(space.queries_file());
        if !path.exists() {
            return Ok(None);
        }
        let file = SectionFile::open(&path, KIND)?;
        let meta = *single_meta::<QueriesMeta>(&file)?;
        check_space(&file, &meta.space, space)?;
        if meta.encoder != *encoder {
            return Err(
                file.damaged("it was made for a different sentence encoder from the one that embedded the passages")
            );
        }
        let table = Self { dims: meta.dims as usize, codes: file.column("codes")?, scales: file.column("scales")? };
        if meta.tokens as usize != TOKEN_COUNT || !table.rows().are_complete() {
            return Err(file.damaged(format!(
                "{} tokens of {} dimensions do not match {} codes and {} scales",
                meta.tokens,
                meta.dims,
                table.codes.len(),
                table.scales.len()
            )));
        }
        Ok(Some(table))
    }

    pub fn dims(&self) -> usize {
        self.dims
    }

    pub fn rows(&self) -> QueryRows<'_> {
        QueryRows { dims: self.dims, codes: &self.codes, scales: &self.scales }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: usize = 32;
    const ENCODER: EncoderHash = [7; 32];

    fn codes() -> Vec<i8> {
        (0..TOKEN_COUNT * DIMS).map(|place| (place * 31 % 251) as i8).collect()
    }

    fn space() -> SpaceName {
        "tiny-32".parse().unwrap()
    }

    fn written() -> (tempfile::TempDir, Vec<i8>, Vec<f32>) {
        let dir = tempfile::tempdir().unwrap();
        let (codes, scales) = (codes(), (0..TOKEN_COUNT).map(|token| 0.01 + token as f32 / 1e6).collect::<Vec<_>>());
        let rows = QueryRows { dims: DIMS, codes: &codes, scales: &scales };
        write_queries(dir.path(), &space(), &ENCODER, &rows).unwrap();
        (dir, codes, scales)
    }

    #[test]
    fn a_query_is_the_sum_of_its_rows_scaled_to_length_one() {
        let (dir, codes, scales) = written();
        let table = QueryTable::open(dir.path(), &space(), &ENCODER).unwrap().unwrap();
        let tokens = [TokenId(5), TokenId(30_521), TokenId(5), TokenId(u16::MAX)];
        let found = table.rows().vector(&tokens).unwrap();
        let component = |token: usize, at: usize| f64::from(codes[token * DIMS + at]) * f64::from(scales[token]);
        let expected: Vec<f64> = (0..DIMS).map(|at| 2.0 * component(5, at) + component(30_521, at)).collect();
        let length = expected.iter().map(|value| value * value).sum::<f64>().sqrt();
        for (found, expected) in found.iter().zip(&expected) {
            assert!((f64::from(*found) - expected / length).abs() < 1e-6);
        }
        assert_eq!(table.rows().vector(&[]), None);
        assert_eq!(table.rows().vector(&[TokenId(u16::MAX)]), None, "a number beyond the vocabulary has no row");
    }

    #[test]
    fn tables_of_another_encoder_space_or_size_are_refused_by_name() {
        let (dir, codes, scales) = written();
        let refused = |dir: &Path, space: &SpaceName, encoder: &EncoderHash| {
            QueryTable::open(dir, space, encoder).unwrap_err().to_string()
        };
        let other = refused(dir.path(), &space(), &[8; 32]);
        assert!(other.contains("queries-tiny-32.bin") && other.contains("a different sentence encoder"), "{other}");
        let renamed: SpaceName = "other-32".parse().unwrap();
        std::fs::copy(dir.path().join("queries-tiny-32.bin"), dir.path().join("queries-other-32.bin")).unwrap();
        assert!(refused(dir.path(), &renamed, &ENCODER).contains("embedding space 'tiny-32'"));
        let bytes = std::fs::read(dir.path().join("queries-tiny-32.bin")).unwrap();
        std::fs::write(dir.path().join("queries-tiny-32.bin"), &bytes[..bytes.len() - 64]).unwrap();
        assert!(refused(dir.path(), &space(), &ENCODER).contains("queries-tiny-32.bin"));
        let short = QueryRows { dims: DIMS, codes: &codes[DIMS..], scales: &scales };
        assert!(!short.are_complete());
        let endless = vec![f32::INFINITY; TOKEN_COUNT];
        assert!(!QueryRows { dims: DIMS, codes: &codes, scales: &endless }.are_complete());
    }
}

//! `encoder-<space>.bin`: the encoder that embedded the passages of a second space, stored for the queries of deep
//! searches. `corpus/FORMAT.md` describes the layout.
//!
//! The values of matrices are stored as bytes, with a scale for each row. This takes a quarter of the space, and
//! changes the directions of query vectors too little to matter.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::shape::{EncoderShape, EncoderTensor, EncoderTensorSize};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};
use crate::vectors::{EncoderHash, NAME_LEN_MAX, SpaceName, check_space, single_meta};

const KIND: FileKind = FileKind { magic: *b"HBENCODR", version: 1 };

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct EncoderMeta {
    space: [u8; NAME_LEN_MAX],
    encoder: EncoderHash,
    norm_epsilon: f64,
    hidden: u32,
    layers: u32,
    heads: u32,
    wide: u32,
    tokens_max: u32,
    dims: u32,
}

/// Writes the file into `directory`, which must not contain it yet. `part` returns the values of each part, row by row.
///
/// # Panics
/// If the size of a part differs from the shape.
pub fn write_encoder<E: From<SectionFileError>>(
    directory: &Path,
    space: &SpaceName,
    encoder: &EncoderHash,
    shape: &EncoderShape,
    projection: &[f32],
    mut part: impl FnMut(&EncoderTensor) -> Result<Vec<f32>, E>,
) -> Result<(), E> {
    let mut out = SectionWriter::create(&directory.join(space.encoder_file()), KIND, 5)?;
    let (mut scales, mut values) = (Vec::new(), Vec::new());
    out.begin("codes")?;
    for wanted in shape.parts() {
        let given = part(&wanted)?;
        assert_eq!(given.len(), wanted.size.len(), "{}", wanted.name);
        match wanted.size {
            EncoderTensorSize::Values(_) => values.extend(given),
            EncoderTensorSize::Matrix(_, columns) => {
                for row in given.chunks_exact(columns) {
                    let (codes, scale) = in_bytes(row);
                    out.write_slice(&codes)?;
                    scales.push(scale);
                }
            }
        }
    }
    out.section("scales", &scales)?;
    out.section("values", &values)?;
    out.section("project", projection)?;
    let dims = if projection.is_empty() { shape.hidden } else { projection.len() / shape.hidden };
    let meta = EncoderMeta {
        space: space.padded(),
        encoder: *encoder,
        norm_epsilon: shape.norm_epsilon,
        hidden: shape.hidden as u32,
        layers: shape.layers as u32,
        heads: shape.heads as u32,
        wide: shape.intermediate_width as u32,
        tokens_max: shape.tokens_max as u32,
        dims: dims as u32,
    };
    out.section("meta", &[meta])?;
    Ok(out.finish()?)
}

fn in_bytes(row: &[f32]) -> (Vec<i8>, f32) {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    (row.iter().map(|value| (value / scale).round() as i8).collect(), scale)
}

/// The mapped file.
#[derive(Clone, Debug)]
pub struct StoredEncoder {
    shape: EncoderShape,
    dims: usize,
    codes: Column<i8>,
    scales: Column<f32>,
    values: Column<f32>,
    projection: Column<f32>,
}

impl StoredEncoder {
    /// Maps the file of a space. Returns `None` if there is no file, and an error if it contains another encoder.
    pub fn open(directory: &Path, space: &SpaceName, encoder: &EncoderHash) -> Result<Option<Self>, SectionFileError> {
        let path = directory.join(space.encoder_file());
        if !path.exists() {
            return Ok(None);
        }
        let file = SectionFile::open(&path, KIND)?;
        let meta = *single_meta::<EncoderMeta>(&file)?;
        check_space(&file, &meta.space, space)?;
        if meta.encoder != *encoder {
            return Err(
                file.damaged("it contains a different sentence encoder from the one that embedded the passages")
            );
        }
        let shape = EncoderShape {
            hidden: meta.hidden as usize,
            layers: meta.layers as usize,
            heads: meta.heads as usize,
            intermediate_width: meta.wide as usize,
            tokens_max: meta.tokens_max as usize,
            norm_epsilon: meta.norm_epsilon,
        };
        let stored = Self {
            shape,
            dims: meta.dims as usize,
            codes: file.column("codes")?,
            scales: file.column("scales")?,
            values: file.column("values")?,
            projection: file.column("project")?,
        };
        if !shape.is_possible() || !stored.is_whole() {
            return Err(file.damaged("its parts do not have the sizes that its metadata states"));
        }
        Ok(Some(stored))
    }

    fn is_whole(&self) -> bool {
        let (mut codes, mut scales, mut values) = (0, 0, 0);
        for part in self.shape.parts() {
            match part.size {
                EncoderTensorSize::Values(count) => values += count,
                EncoderTensorSize::Matrix(rows, columns) => {
                    scales += rows;
                    codes += rows * columns;
                }
            }
        }
        let fits = match self.projection.is_empty() {
            true => self.dims == self.shape.hidden,
            false => self.projection.len() == self.shape.hidden * self.dims,
        };
        let is_finite = |column: &Column<f32>| column.iter().all(|value| value.is_finite());
        (self.codes.len(), self.scales.len(), self.values.len()) == (codes, scales, values)
            && fits
            && [&self.scales, &self.values, &self.projection].into_iter().all(is_finite)
    }

    pub fn shape(&self) -> &EncoderShape {
        &self.shape
    }

    pub fn dims(&self) -> usize {
        self.dims
    }

    /// A matrix with a row for each dimension of the encoder. Empty if the space has the dimensions of the encoder.
    pub fn projection(&self) -> &[f32] {
        &self.projection
    }

    /// Appends the row of a word to `to`. The word embeddings are the first matrix of the file.
    pub fn push_word(&self, word: usize, to: &mut Vec<f32>) {
        let hidden = self.shape.hidden;
        let codes = self.codes.chunks_exact(hidden).nth(word).unwrap_or_default();
        let scale = self.scales.get(word).copied().unwrap_or_default();
        to.extend(codes.iter().map(|&code| f32::from(code) * scale));
    }

    /// The values of all parts, in the order of [`EncoderShape::parts`].
    pub fn read(&self) -> StoredParts<'_> {
        StoredParts { codes: &self.codes, scales: &self.scales, values: &self.values }
    }
}

/// The parts of a file that have not been read yet.
pub struct StoredParts<'f> {
    codes: &'f [i8],
    scales: &'f [f32],
    values: &'f [f32],
}

impl StoredParts<'_> {
    /// Reads the next part, which must be `part`.
    pub fn take(&mut self, part: &EncoderTensor) -> Vec<f32> {
        match part.size {
            EncoderTensorSize::Values(count) => {
                let (taken, rest) = self.values.split_at(count);
                self.values = rest;
                taken.to_vec()
            }
            EncoderTensorSize::Matrix(rows, columns) => {
                let (codes, more_codes) = self.codes.split_at(rows * columns);
                let (scales, more_scales) = self.scales.split_at(rows);
                (self.codes, self.scales) = (more_codes, more_scales);
                let rows = codes.chunks_exact(columns).zip(scales);
                rows.flat_map(|(row, scale)| row.iter().map(move |&code| f32::from(code) * scale)).collect()
            }
        }
    }

    /// Skips the next part, which must be `part`.
    pub fn skip(&mut self, part: &EncoderTensor) {
        match part.size {
            EncoderTensorSize::Values(count) => self.values = &self.values[count..],
            EncoderTensorSize::Matrix(rows, columns) => {
                self.codes = &self.codes[rows * columns..];
                self.scales = &self.scales[rows..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODER: EncoderHash = [7; 32];
    const SHAPE: EncoderShape =
        EncoderShape { hidden: 32, layers: 1, heads: 4, intermediate_width: 48, tokens_max: 16, norm_epsilon: 1e-12 };

    fn space() -> SpaceName {
        "tiny-32".parse().unwrap()
    }

    /// Different values for each part, some of them large.
    fn values(part: &EncoderTensor) -> Vec<f32> {
        let seed = part.name.len() as f32;
        (0..part.size.len()).map(|place| (place as f32 * 0.37 + seed).sin() * (1.0 + (place % 5) as f32)).collect()
    }

    fn written() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let part = |part: &EncoderTensor| Ok::<_, SectionFileError>(values(part));
        write_encoder(dir.path(), &space(), &ENCODER, &SHAPE, &[], part).unwrap();
        dir
    }

    #[test]
    fn every_part_is_read_back_as_exactly_as_bytes_can() {
        let dir = written();
        let stored = StoredEncoder::open(dir.path(), &space(), &ENCODER).unwrap().unwrap();
        assert_eq!((*stored.shape(), stored.dims(), stored.projection().len()), (SHAPE, 32, 0));
        let mut parts = stored.read();
        for part in SHAPE.parts() {
            let (expected, found) = (values(&part), parts.take(&part));
            let largest = expected.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let allowed =
                if matches!(part.size, EncoderTensorSize::Matrix(..)) { largest / 127.0 / 2.0 + 1e-6 } else { 0.0 };
            let differs = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0_f32, f32::max);
            assert!(expected.len() == found.len() && differs <= allowed, "{}: {differs}", part.name);
        }
        let mut row = Vec::new();
        stored.push_word(5, &mut row);
        assert_eq!(row, stored.read().take(&SHAPE.words())[5 * 32..6 * 32]);
    }

    #[test]
    fn files_of_another_encoder_space_or_size_are_refused_by_name() {
        let dir = written();
        let path = dir.path().join("encoder-tiny-32.bin");
        let refused =
            |encoder: &EncoderHash| StoredEncoder::open(dir.path(), &space(), encoder).unwrap_err().to_string();
        let other = refused(&[8; 32]);
        assert!(other.contains("encoder-tiny-32.bin") && other.contains("a different sentence encoder"), "{other}");
        let renamed: SpaceName = "other-32".parse().unwrap();
        std::fs::copy(&path, dir.path().join("encoder-other-32.bin")).unwrap();
        let other = StoredEncoder::open(dir.path(), &renamed, &ENCODER).unwrap_err().to_string();
        assert!(other.contains("embedding space 'tiny-32'"), "{other}");
        std::fs::remove_file(&path).unwrap();
        assert!(StoredEncoder::open(dir.path(), &space(), &ENCODER).unwrap().is_none(), "there need be none");
        // One value is missing.
        let mut out = SectionWriter::create(&path, KIND, 5).unwrap();
        let file = SectionFile::open(&dir.path().join("encoder-other-32.bin"), KIND).unwrap();
        for tag in ["codes", "scales", "values", "project", "meta"] {
            let bytes = file.bytes(tag).unwrap();
            out.section(tag, if tag == "values" { &bytes[..bytes.len() - 4] } else { bytes }).unwrap();
        }
        out.finish().unwrap();
        assert!(refused(&ENCODER).contains("do not have the sizes"));
    }
}

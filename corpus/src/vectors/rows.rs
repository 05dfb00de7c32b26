//! `vectors-<space>.bin`: one quantised vector per chunk, in chunk order. The writer takes one vector at a time and
//! keeps four bytes of it in memory. The reader returns columns of the mapped file. `corpus/FORMAT.md` describes
//! the layout.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};

use super::arch::{LANES, prefetch};
use super::quantise::{QuantisedRow, residual_norm};
use super::space::{NAME_LEN_MAX, SpaceName};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

const KIND: FileKind = FileKind { magic: *b"HBVECTOR", version: 1 };
/// Maximum number of dimensions. It keeps every dot product of two rows within 32 bits.
const DIMS_MAX: usize = 4096;
const COPY_BUFFER_LEN: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct RowsMeta {
    space: [u8; NAME_LEN_MAX],
    dims: u32,
    chunks: u32,
    residual_norm_max: f32,
    zero: u32,
}

/// Why vectors could not be written.
#[derive(Debug, thiserror::Error)]
pub enum VectorWriteError {
    #[error("{0}")]
    File(#[from] SectionFileError),
    /// The temporary file failed. While the vectors are written, their residuals are in an unnamed file in the same
    /// folder.
    #[error("cannot use a temporary file in {}: {source}", .directory.display())]
    Spool { directory: PathBuf, source: io::Error },
    #[error(
        "cannot store the vector of chunk {chunk} in space {space}: it contains a value that is not a finite number; \
         this is an error in the embedder"
    )]
    NotFinite { space: SpaceName, chunk: usize },
    #[error(
        "cannot store another vector in space {space}: chunk ordinals end at {last}; split the corpus into several \
         snapshots",
        last = u32::MAX
    )]
    TooMany { space: SpaceName },
}

/// A row as it is stored in a file. It can be copied unchanged to another file of the same space.
#[derive(Clone, Copy, Debug)]
pub struct StoredRow<'a> {
    codes: &'a [i8],
    residuals: &'a [u8],
    scale: f32,
}

/// Writes the vectors of one space, pushed in chunk order.
#[derive(Debug)]
pub struct VectorWriter {
    space: SpaceName,
    directory: PathBuf,
    dims: usize,
    out: SectionWriter,
    scales: Vec<f32>,
    residuals: BufWriter<File>,
    residual_norm_max: f32,
    row: QuantisedRow,
}

impl VectorWriter {
    /// Creates the file of the space in `directory`, which must not contain it yet.
    ///
    /// # Panics
    /// If `dims` is not a multiple of 32 between 32 and 4096.
    pub fn create(directory: &Path, space: &SpaceName, dims: usize) -> Result<Self, VectorWriteError> {
        assert!(
            is_supported_dims(dims),
            "an embedding has {dims} dimensions, but the format supports 32, 64, .. {DIMS_MAX}"
        );
        let mut out = SectionWriter::create(&directory.join(space.vectors_file()), KIND, 4)?;
        out.begin("codes")?;
        let spool = tempfile::tempfile_in(directory)
            .map_err(|source| VectorWriteError::Spool { directory: directory.to_owned(), source })?;
        Ok(Self {
            space: space.clone(),
            directory: directory.to_owned(),
            dims,
            out,
            scales: Vec::new(),
            residuals: BufWriter::with_capacity(COPY_BUFFER_LEN, spool),
            residual_norm_max: 0.0,
            row: QuantisedRow::default(),
        })
    }

    /// Adds the vector of the next chunk. Scores are cosines if it has length one. A zero vector is not near anything.
    ///
    /// # Panics
    /// If the vector has another number of dimensions than the file.
    pub fn push(&mut self, vector: &[f32]) -> Result<(), VectorWriteError> {
        assert_eq!(
            vector.len(),
            self.dims,
            "the vector does not have the dimensions of the embedding space {}",
            self.space
        );
        if !vector.iter().all(|value| value.is_finite()) {
            return Err(VectorWriteError::NotFinite { space: self.space.clone(), chunk: self.scales.len() });
        }
        self.check_room()?;
        self.row.set(vector);
        self.out.write_slice(&self.row.codes)?;
        self.residuals.write_all(&self.row.residuals).map_err(|source| self.spool_error(source))?;
        self.scales.push(self.row.scale);
        self.residual_norm_max = self.residual_norm_max.max(self.row.residual_norm);
        Ok(())
    }

    /// Adds the row of the next chunk, copied from another file.
    ///
    /// # Panics
    /// If the row has another number of dimensions than the file.
    pub fn push_stored(&mut self, row: StoredRow<'_>) -> Result<(), VectorWriteError> {
        assert_eq!(
            row.codes.len(),
            self.dims,
            "the row does not have the dimensions of the embedding space {}",
            self.space
        );
        self.check_room()?;
        self.out.write_slice(row.codes)?;
        self.residuals.write_all(row.residuals).map_err(|source| self.spool_error(source))?;
        self.scales.push(row.scale);
        self.residual_norm_max = self.residual_norm_max.max(residual_norm(row.residuals));
        Ok(())
    }

    fn check_room(&self) -> Result<(), VectorWriteError> {
        if self.scales.len() >= u32::MAX as usize {
            return Err(VectorWriteError::TooMany { space: self.space.clone() });
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), VectorWriteError> {
        self.out.section("scales", &self.scales)?;
        self.out.begin("residual")?;
        self.copy_residuals()?;
        let meta = RowsMeta {
            space: self.space.padded(),
            dims: self.dims as u32,
            chunks: self.scales.len() as u32,
            // A little more than the largest, to allow for rounding errors.
            residual_norm_max: self.residual_norm_max * (1.0 + 4.0 * f32::EPSILON),
            zero: 0,
        };
        self.out.section("meta", &[meta])?;
        Ok(self.out.finish()?)
    }

    fn copy_residuals(&mut self) -> Result<(), VectorWriteError> {
        let rewound = self.residuals.flush().and_then(|()| self.residuals.get_mut().seek(SeekFrom::Start(0)));
        rewound.map_err(|source| self.spool_error(source))?;
        let mut buffer = vec![0; COPY_BUFFER_LEN];
        loop {
            let read = self.residuals.get_mut().read(&mut buffer).map_err(|source| self.spool_error(source))?;
            if read == 0 {
                return Ok(());
            }
            self.out.write(&buffer[..read])?;
        }
    }

    fn spool_error(&self, source: io::Error) -> VectorWriteError {
        VectorWriteError::Spool { directory: self.directory.clone(), source }
    }
}

/// Whether the files of a space support vectors with this many dimensions.
pub fn is_supported_dims(dims: usize) -> bool {
    dims.is_multiple_of(LANES) && (LANES..=DIMS_MAX).contains(&dims)
}

/// The mapped vectors of one space.
#[derive(Clone, Debug)]
pub struct VectorRows {
    space: SpaceName,
    directory: PathBuf,
    meta: RowsMeta,
    codes: Column<i8>,
    scales: Column<f32>,
    residuals: Column<u8>,
}

impl VectorRows {
    /// Maps the file of the space and checks that its columns have the lengths that its `meta` states.
    pub fn open(directory: &Path, space: &SpaceName) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&directory.join(space.vectors_file()), KIND)?;
        let meta = *single_meta::<RowsMeta>(&file)?;
        check_space(&file, &meta.space, space)?;
        let (dims, chunks) = (meta.dims as usize, meta.chunks as usize);
        if !is_supported_dims(dims) {
            return Err(file.damaged(format!("its metadata states {dims} dimensions, which is not supported")));
        }
        let rows = Self {
            space: space.clone(),
            directory: directory.to_owned(),
            meta,
            codes: file.column("codes")?,
            scales: file.column("scales")?,
            residuals: file.column("residual")?,
        };
        let found = (rows.codes.len(), rows.scales.len(), rows.residuals.len());
        if Some(found.0) != chunks.checked_mul(dims) || found.1 != chunks || found.2 != found.0 / 2 {
            return Err(file.damaged(format!(
                "{chunks} vectors of {dims} dimensions do not match {} codes, {} scales and {} bytes of residuals",
                found.0, found.1, found.2
            )));
        }
        Ok(rows)
    }

    pub fn space(&self) -> &SpaceName {
        &self.space
    }

    /// The directory that contains this file and the graph file.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn dims(&self) -> usize {
        self.meta.dims as usize
    }

    /// The number of chunks. Each has one vector.
    pub fn chunk_count(&self) -> u32 {
        self.meta.chunks
    }

    pub fn view(&self) -> RowsView<'_> {
        RowsView {
            dims: self.dims(),
            residual_norm_max: self.meta.residual_norm_max,
            codes: &self.codes,
            scales: &self.scales,
            residuals: &self.residuals,
        }
    }
}

/// The columns as slices, taken once per query or build.
#[derive(Clone, Copy, Debug)]
pub struct RowsView<'a> {
    pub(super) dims: usize,
    pub(super) residual_norm_max: f32,
    pub(super) codes: &'a [i8],
    pub(super) scales: &'a [f32],
    residuals: &'a [u8],
}

impl<'a> RowsView<'a> {
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The codes of a chunk, which have nearly the direction of its vector.
    ///
    /// # Panics
    /// If there is no such chunk.
    #[inline]
    pub fn codes(&self, chunk: u32) -> &'a [i8] {
        &self.codes[chunk as usize * self.dims..][..self.dims]
    }

    /// The row of a chunk, for copying it to another file.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub fn stored(&self, chunk: u32) -> StoredRow<'a> {
        StoredRow { codes: self.codes(chunk), residuals: self.residuals(chunk), scale: self.scales[chunk as usize] }
    }

    pub(super) fn has(&self, chunk: u32) -> bool {
        (chunk as usize) < self.scales.len()
    }

    /// Whether two chunks have the same row, bit for bit, and therefore the same score for every query.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub fn are_equal(&self, left: u32, right: u32) -> bool {
        self.scales[left as usize].to_bits() == self.scales[right as usize].to_bits()
            && self.codes(left) == self.codes(right)
            && self.residuals(left) == self.residuals(right)
    }

    /// Prefetches the codes of a row that will be compared soon. A row that does not exist is ignored.
    #[inline]
    pub fn prefetch_codes(&self, chunk: u32) {
        if self.has(chunk) {
            prefetch(self.codes(chunk));
        }
    }

    /// Prefetches a row that will be scored soon. A row that does not exist is ignored.
    #[inline]
    pub(super) fn prefetch(&self, chunk: u32) {
        if self.has(chunk) {
            prefetch(self.codes(chunk));
            prefetch(self.residuals(chunk));
        }
    }

    #[inline]
    pub(super) fn residuals(&self, chunk: u32) -> &'a [u8] {
        &self.residuals[chunk as usize * (self.dims / 2)..][..self.dims / 2]
    }
}

/// The only value of the section `meta`.
pub(crate) fn single_meta<T: Pod>(file: &SectionFile) -> Result<&T, SectionFileError> {
    match file.slice::<T>("meta")? {
        [meta] => Ok(meta),
        other => Err(file.damaged(format!("its section meta has {} entries instead of one", other.len()))),
    }
}

pub(crate) fn check_space(
    file: &SectionFile,
    found: &[u8; NAME_LEN_MAX],
    expected: &SpaceName,
) -> Result<(), SectionFileError> {
    if *found == expected.padded() {
        return Ok(());
    }
    let found = found.split(|&byte| byte == 0).next().unwrap_or_default();
    Err(file.damaged(format!("it belongs to the embedding space '{}', not to '{expected}'", found.escape_ascii())))
}

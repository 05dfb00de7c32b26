//! Embeds every chunk of a snapshot with its heading, and copies the vectors of unchanged chunks.
//!
//! It reads the output of `compile` in windows. Within a window, equal passages are embedded once,
//! and passages with the same number of tokens are embedded together. Batches that an interrupted build
//! embedded are read from its log.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use hornbook_corpus::cards::{self, Cards};
use hornbook_corpus::chunks::{ChunkTable, FILE_NAME as CHUNKS_FILE_NAME};
use hornbook_corpus::embed::{TokenId, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal};
use hornbook_corpus::manifest::REPORT_FILE_NAME;
use hornbook_corpus::outline::{self, Outline};
use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::texts::{self, Texts};
use hornbook_corpus::vectors::{StoredRow, VectorRows, VectorWriter};
use rayon::prelude::*;

use super::Encoder;
use super::embedding_log::EmbeddingLog;
use super::query_table::PlannedQueries;
use crate::compile::PROBES_MAX;
use crate::encoded_passages::{EncodedPassages, PassageOrigins};
use crate::error::BuildError;
use crate::graph::Probes;
use crate::progress::{ProgressDisplay, ProgressStage};
use crate::report::Report;
use crate::reuse::{compatible_manifest, verified_hash};

/// The number of chunks that are read, sorted by length and embedded at a time.
const WINDOW_CHUNKS: u32 = 4_096;
/// The number of passages embedded together. Larger batches are not faster.
const BATCH_PASSAGES: usize = 16;
/// The maximum number of tokens of the heading and the heading above it. The rest is left for the
/// passage itself.
const CONTEXT_TOKENS_MAX: usize = 64;

/// Writes the vectors of the space.
pub(super) fn write(
    encoder: &Encoder,
    dir: &Path,
    origins: PassageOrigins<'_>,
    index_headings: bool,
    progress: ProgressDisplay,
) -> Result<EncodedPassages, BuildError> {
    let law = PassageFiles::open(dir, index_headings)?;
    let earlier = origins.earlier.and_then(|earlier| EarlierPassages::open(earlier, encoder, index_headings));
    let mut writer = VectorWriter::create(dir, &encoder.space, encoder.dims())?;
    let mut taken_over = 0;
    let total = law.chunks.chunk_count();
    let log = open_log(encoder, origins.log, progress)?;
    let stage = Mutex::new(progress.stage("embedding passages", "passages", Some(u64::from(total))));
    let run =
        EmbeddingRun { encoder, log: log.map(Mutex::new), log_path: origins.log, resumed: AtomicU32::new(0), stage };
    for start in (0..total).step_by(WINDOW_CHUNKS as usize) {
        let window = start..total.min(start.saturating_add(WINDOW_CHUNKS));
        let read: Result<Vec<PassageSource<'_>>, BuildError> = window
            .into_par_iter()
            .map(|chunk| law.read(ChunkOrdinal(chunk), encoder.shape.tokens_max, earlier.as_ref()))
            .collect();
        let read = read?;
        let embedded = run.embed_all(&read)?;
        for passage in &read {
            match passage {
                PassageSource::Earlier(row) => {
                    writer.push_stored(*row)?;
                    taken_over += 1;
                }
                PassageSource::New(tokens) => writer.push(embedded.of(tokens))?,
            }
        }
    }
    writer.finish()?;
    run.stage.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    Ok(EncodedPassages { taken_over, resumed: run.resumed.into_inner(), probes: law.probes(encoder) })
}

/// Opens the log of this destination, and says so if an interrupted build left vectors in it.
fn open_log(encoder: &Encoder, path: &Path, progress: ProgressDisplay) -> Result<Option<EmbeddingLog>, BuildError> {
    let log = EmbeddingLog::open(path, &encoder.hash, encoder.dims()).map_err(|error| log_error(path, error))?;
    if let Some(log) = log.as_ref().filter(|log| log.passages() > 0) {
        progress.say(format_args!(
            "an interrupted build embedded {} passages; this build continues from {}",
            log.passages(),
            path.display()
        ));
    }
    Ok(log)
}

fn log_error(path: &Path, source: io::Error) -> BuildError {
    BuildError::EmbeddingLog { path: path.to_owned(), source }
}

/// Distinct passages with their vectors, sorted by length and tokens.
struct EmbeddedPassages<'p> {
    passages: Vec<&'p [TokenId]>,
    vectors: Vec<Vec<f32>>,
}

impl EmbeddedPassages<'_> {
    fn of(&self, tokens: &[TokenId]) -> &[f32] {
        let place = self.passages.binary_search_by_key(&(tokens.len(), tokens), |passage| (passage.len(), *passage));
        &self.vectors[place.expect("every passage of the window was embedded")]
    }
}

/// Embeds windows of passages, and keeps their vectors in the log.
struct EmbeddingRun<'r> {
    encoder: &'r Encoder,
    /// None if another build to the same destination uses the log.
    log: Option<Mutex<EmbeddingLog>>,
    log_path: &'r Path,
    resumed: AtomicU32,
    stage: Mutex<ProgressStage>,
}

impl EmbeddingRun<'_> {
    fn embed_all<'p>(&self, read: &'p [PassageSource<'_>]) -> Result<EmbeddedPassages<'p>, BuildError> {
        let new = read.iter().filter_map(|passage| match passage {
            PassageSource::New(tokens) => Some(tokens.as_slice()),
            PassageSource::Earlier(_) => None,
        });
        let mut passages: Vec<&[TokenId]> = new.collect();
        passages.sort_unstable_by_key(|passage| (passage.len(), *passage));
        passages.dedup();
        self.advance(read.len() - passages.len());
        let batches: Vec<&[&[TokenId]]> = passages
            .chunk_by(|a, b| a.len() == b.len())
            .flat_map(|equally_long| equally_long.chunks(BATCH_PASSAGES))
            .collect();
        let vectors: Result<Vec<Vec<Vec<f32>>>, BuildError> =
            batches.into_par_iter().map(|batch| self.embed_batch(batch)).collect();
        self.with_log(|log| log.sync())?;
        let vectors = vectors?.into_iter().flatten().collect();
        Ok(EmbeddedPassages { passages, vectors })
    }

    fn embed_batch(&self, batch: &[&[TokenId]]) -> Result<Vec<Vec<f32>>, BuildError> {
        let vectors = match self.with_log(|log| log.vectors(batch))?.flatten() {
            Some(vectors) => {
                self.resumed.fetch_add(batch.len() as u32, Ordering::Relaxed);
                vectors
            }
            None => {
                let vectors = self.encoder.embed(batch)?;
                self.with_log(|log| log.add(batch, &vectors))?;
                vectors
            }
        };
        self.advance(batch.len());
        Ok(vectors)
    }

    /// None if this build has no log.
    fn with_log<T>(&self, act: impl FnOnce(&mut EmbeddingLog) -> io::Result<T>) -> Result<Option<T>, BuildError> {
        let act = |log: &Mutex<EmbeddingLog>| act(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
        self.log.as_ref().map(act).transpose().map_err(|error| log_error(self.log_path, error))
    }

    fn advance(&self, count: usize) {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).add(count as u64);
    }
}

/// A passage as read from the snapshot.
enum PassageSource<'e> {
    Earlier(StoredRow<'e>),
    New(Vec<TokenId>),
}

/// The input of an encoder for one passage.
#[derive(PartialEq)]
struct EncodedPassage<'l> {
    heading: &'l str,
    /// The heading of the innermost container that has one.
    above: &'l str,
    text: &'l str,
}

impl EncodedPassage<'_> {
    /// Its tokens between sentence marks.
    fn tokens(&self, tokens_max: usize) -> Vec<TokenId> {
        let mut tokens = vec![TokenId::CLASSIFIER];
        for heading in [self.heading, self.above] {
            let heading = heading.trim_end_matches('.');
            if !heading.is_empty() {
                embedder().tokenize(heading, &mut tokens);
                embedder().tokenize(".", &mut tokens);
            }
        }
        tokens.truncate(CONTEXT_TOKENS_MAX.min(tokens_max / 2));
        embedder().tokenize(self.text, &mut tokens);
        tokens.truncate(tokens_max - 1);
        tokens.push(TokenId::SEPARATOR);
        tokens
    }
}

/// The files that the passages of a snapshot are read from.
struct PassageFiles {
    outline: Outline,
    cards: Cards,
    texts: Texts,
    chunks: ChunkTable,
    index_headings: bool,
}

impl PassageFiles {
    fn open(dir: &Path, index_headings: bool) -> Result<Self, SectionFileError> {
        Ok(Self {
            outline: Outline::open(dir)?,
            cards: Cards::open(dir)?,
            texts: Texts::open(dir)?,
            chunks: ChunkTable::open(dir)?,
            index_headings,
        })
    }

    fn read<'e>(
        &self,
        chunk: ChunkOrdinal,
        tokens_max: usize,
        earlier: Option<&'e EarlierPassages>,
    ) -> Result<PassageSource<'e>, BuildError> {
        let (node, passage) = self.passage(chunk)?;
        let known = earlier.and_then(|earlier| earlier.row(&self.outline, node, &passage));
        Ok(known.map_or_else(|| PassageSource::New(passage.tokens(tokens_max)), PassageSource::Earlier))
    }

    fn passage(&self, chunk: ChunkOrdinal) -> Result<(NodeOrdinal, EncodedPassage<'_>), BuildError> {
        let placed = self.chunks.chunk(chunk).expect("the window is within the table");
        let heading = if self.index_headings { self.cards.get(placed.node)?.heading } else { "" };
        let mut above = "";
        for container in self.outline.ancestors(placed.node) {
            above = self.cards.get(container)?.heading;
            if !above.trim().is_empty() {
                break;
            }
        }
        Ok((placed.node, EncodedPassage { heading, above, text: self.texts.get(placed.text)? }))
    }

    /// Headings of evenly spread provisions, embedded as queries with the query table.
    fn probes(&self, encoder: &Encoder) -> Probes {
        let mut probes = Probes::new(encoder.dims());
        let Some(rows) = encoder.queries.as_ref().map(PlannedQueries::rows) else { return probes };
        let step = (self.outline.len() as usize).div_ceil(PROBES_MAX).max(1);
        for node in (0..self.outline.len()).step_by(step).map(NodeOrdinal) {
            let chunks = self.chunks.chunks_of(node);
            let heading = self.cards.get(node).map_or("", |card| card.heading);
            let mut tokens = Vec::new();
            embedder().tokenize(heading, &mut tokens);
            if let Some(vector) = rows.vector(&tokens).filter(|_| self.index_headings && !chunks.is_empty()) {
                probes.push(chunks.start, &vector);
            }
        }
        probes
    }
}

/// The passages of an earlier snapshot with their vectors.
struct EarlierPassages {
    law: PassageFiles,
    rows: VectorRows,
}

impl EarlierPassages {
    /// None if a different encoder or program made them, the setting for indexing headings differs,
    /// or a file does not match the manifest.
    fn open(dir: &Path, encoder: &Encoder, index_headings: bool) -> Option<Self> {
        let manifest = compatible_manifest(dir)?;
        let is_same_space = manifest.embedders.contains(&encoder.fingerprint());
        let report: Report = serde_json::from_slice(&fs::read(dir.join(REPORT_FILE_NAME)).ok()?).ok()?;
        if !is_same_space || report.index_headings != Some(index_headings) {
            return None;
        }
        let vectors = encoder.space.vectors_file();
        for name in [outline::FILE_NAME, cards::FILE_NAME, texts::FILE_NAME, CHUNKS_FILE_NAME, vectors.as_str()] {
            verified_hash(dir, &manifest, name)?;
        }
        Some(Self {
            law: PassageFiles::open(dir, index_headings).ok()?,
            rows: VectorRows::open(dir, &encoder.space).ok()?,
        })
    }

    /// The row of the same passage of the same node.
    fn row(&self, outline: &Outline, node: NodeOrdinal, passage: &EncodedPassage<'_>) -> Option<StoredRow<'_>> {
        let earlier = self.law.outline.ordinal(outline.id(node)?)?;
        let mut chunks = self.law.chunks.chunks_of(earlier).iter();
        let same = |&chunk: &u32| self.law.passage(ChunkOrdinal(chunk)).is_ok_and(|(_, earlier)| earlier == *passage);
        chunks.find(same).map(|chunk| self.rows.view().stored(chunk))
    }
}

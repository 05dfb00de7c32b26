//! Reuses the chunks of unchanged provisions from the snapshot that a build replaces.
//!
//! The chunks of a provision, their vectors and their token sets depend on its text, its heading,
//! the headings above it, and the program. If all of these are the same, the earlier snapshot
//! contains exactly the bytes that this build would produce. Texts and headings are compared
//! directly, not by hash. Provisions with several wordings are few and are always processed again.

use std::fs;
use std::path::Path;

use hornbook_corpus::cards::{self, Cards};
use hornbook_corpus::chunks::{ChunkTable, FILE_NAME as CHUNKS_FILE_NAME};
use hornbook_corpus::embed::TokenId;
use hornbook_corpus::ids::{ChunkOrdinal, NodeId, NodeOrdinal};
use hornbook_corpus::manifest::REPORT_FILE_NAME;
use hornbook_corpus::outline::{self, Outline};
use hornbook_corpus::snapshot::{embedder_fingerprint, embedding_space};
use hornbook_corpus::texts::{self, Span, Texts};
use hornbook_corpus::token_sets::{self, TokenSets};
use hornbook_corpus::vectors::{StoredRow, VectorRows};

use crate::content::Content;
use crate::report::Report;
use crate::reuse::{compatible_manifest, verified_hash};

/// The files of an earlier snapshot that its chunks are read from.
#[derive(Debug)]
pub(crate) struct EarlierChunks {
    outline: Outline,
    cards: Cards,
    texts: Texts,
    chunks: ChunkTable,
    token_sets: TokenSets,
    rows: VectorRows,
}

/// A chunk of an earlier snapshot: its place in the text of its provision, its vector and its token set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlierChunk<'a> {
    pub(crate) offset: usize,
    pub(crate) length: u32,
    pub(crate) row: StoredRow<'a>,
    pub(crate) token_set: &'a [TokenId],
}

impl EarlierChunks {
    /// None if a different program made them, the setting for indexing headings differs, or a file
    /// does not match the manifest.
    pub(crate) fn open(dir: &Path, index_headings: bool) -> Option<Self> {
        let manifest = compatible_manifest(dir)?;
        let is_same_space = manifest.embedders.contains(&embedder_fingerprint());
        let report: Report = serde_json::from_slice(&fs::read(dir.join(REPORT_FILE_NAME)).ok()?).ok()?;
        if !is_same_space || report.index_headings != Some(index_headings) {
            return None;
        }
        let space = embedding_space();
        let vectors = space.vectors_file();
        let names = [outline::FILE_NAME, cards::FILE_NAME, texts::FILE_NAME, CHUNKS_FILE_NAME, token_sets::FILE_NAME];
        for name in names.into_iter().chain([vectors.as_str()]) {
            verified_hash(dir, &manifest, name)?;
        }
        Some(Self {
            outline: Outline::open(dir).ok()?,
            cards: Cards::open(dir).ok()?,
            texts: Texts::open(dir).ok()?,
            chunks: ChunkTable::open(dir).ok()?,
            token_sets: TokenSets::open(dir).ok()?,
            rows: VectorRows::open(dir, &space).ok()?,
        })
    }

    /// The chunks of a provision, if this build would produce the same ones under these headings.
    pub(crate) fn of(&self, id: NodeId, content: &Content, above: &[String]) -> Option<Vec<EarlierChunk<'_>>> {
        let text = content.text.as_deref().filter(|_| content.wordings.is_empty())?;
        let node = self.outline.ordinal(id).filter(|&node| self.outline.is_provision(node))?;
        let card = self.cards.get(node).ok()?;
        let is_same = card.wordings == 0
            && card.heading == content.heading
            && self.texts.bytes(card.text).is_ok_and(|earlier| earlier == text.as_bytes())
            && self.is_below(node, above);
        is_same.then(|| self.placed(node, card.text)).flatten()
    }

    /// Whether a node was below exactly these headings, outermost first.
    fn is_below(&self, node: NodeOrdinal, above: &[String]) -> bool {
        let mut ancestors = self.outline.ancestors(node);
        let mut heading = || ancestors.next().map(|ancestor| self.cards.get(ancestor).map(|card| card.heading));
        above.iter().rev().all(|wanted| matches!(heading(), Some(Ok(found)) if found == wanted)) && heading().is_none()
    }

    fn placed(&self, node: NodeOrdinal, text: Span) -> Option<Vec<EarlierChunk<'_>>> {
        let chunks = self.chunks.chunks_of(node).iter().map(ChunkOrdinal);
        let placed = chunks.map(|chunk| {
            let span = self.chunks.chunk(chunk)?.text;
            let offset = usize::try_from(span.offset.checked_sub(text.offset)?).ok()?;
            let (row, token_set) = (self.rows.view().stored(chunk.0), self.token_sets.of_chunk(chunk));
            Some(EarlierChunk { offset, length: span.length, row, token_set })
        });
        placed.collect()
    }
}

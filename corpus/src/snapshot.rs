//! An open snapshot: every structure of one directory, checked to come from one build and to be readable.
//!
//! `open` checks the manifest, sizes, headers and fingerprints in milliseconds. `verify` hashes every byte again. Bytes
//! that change later never crash a reader. Texts, records and cards are checked each time they are read. Changes in the
//! indexes can lead to wrong results until the next verification. A snapshot has no `&mut` methods.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::analyzer;
use crate::cards::Cards;
use crate::catalogue::{Catalogue, CatalogueError, CodeBody};
use crate::chunks::ChunkTable;
use crate::citation::{ActLaw, CitationKey, Grammar, LawDivision, SectionOfAct, act_name_key};
use crate::citation_index::{CitationIndex, CitationKind};
use crate::damage::{Damage, catch_panic_as_damage};
use crate::embed::{Embedder, embedder};
use crate::encoded::EncodedSpace;
use crate::ids::{NodeId, NodeOrdinal};
use crate::keyword::{self, KeywordError, KeywordIndex};
use crate::layout::Layouts;
use crate::manifest::{self, Fingerprint, Manifest, ManifestError};
use crate::nodes::{Nodes, NodesError};
use crate::outline::Outline;
use crate::references::References;
use crate::section_file::SectionFileError;
use crate::spelling::Spelling;
use crate::suggest::Suggestions;
use crate::tags::Tags;
use crate::texts::Texts;
use crate::token_sets::TokenSets;
use crate::validity::{self, ValidityIndex};
use crate::vectors::{InvalidSpaceName, SpaceName, VectorIndex};
use crate::zoning;
use crate::zoning::catalogue::{ZoningCatalogueError as ZoningError, ZoningLayers};

/// Why a directory was not opened as a snapshot. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("{0}")]
    Manifest(#[from] ManifestError),
    #[error("{0}")]
    Catalogue(#[from] CatalogueError),
    #[error("{0}")]
    File(#[from] SectionFileError),
    #[error("{0}")]
    Nodes(#[from] NodesError),
    #[error("{0}")]
    Keyword(#[from] KeywordError),
    #[error("{0}")]
    Zoning(#[from] ZoningError),
    /// It was built with an analyzer or embedder that this program does not have, or with several sentence encoders.
    #[error(
        "cannot query the snapshot {}: it was built with the {what} {built_with}, this version has {this_has}; \
         rebuild it with 'hornbook build', or use the version of hornbook that built it",
        .dir.display()
    )]
    Incompatible { dir: PathBuf, what: &'static str, built_with: String, this_has: String },
    /// Damage that made a reader panic.
    #[error(
        "the snapshot {} is damaged: opening it failed with '{what}'; \
         copy it again or rebuild it with 'hornbook build'",
        .dir.display()
    )]
    Unreadable { dir: PathBuf, what: String },
    /// Two files disagree about a number of entries.
    #[error(
        "{} has {found} entries, but the outline has {expected}: the files are from different builds; \
         copy the snapshot again or rebuild it with 'hornbook build'",
        .dir.join(.file).display()
    )]
    Counts { dir: PathBuf, file: &'static str, found: u64, expected: u64 },
}

/// The fingerprint of this program's analyzer, as manifests contain it.
pub fn analyzer_fingerprint() -> Fingerprint {
    Fingerprint { id: analyzer::ANALYZER_ID.to_owned(), hash: analyzer::fingerprint().to_hex().to_string() }
}

/// The fingerprint of this program's embedder, as manifests contain it.
pub fn embedder_fingerprint() -> Fingerprint {
    Fingerprint { id: Embedder::ID.to_owned(), hash: embedder().fingerprint().to_owned() }
}

/// The embedding space of this program's embedder.
pub fn embedding_space() -> SpaceName {
    Embedder::ID.parse().expect("a test checks the name")
}

/// An open snapshot.
#[derive(Debug)]
pub struct Snapshot {
    dir: PathBuf,
    pub manifest: Manifest,
    pub catalogue: Catalogue,
    pub outline: Outline,
    /// The wordings of the nodes that are not the same on every day.
    pub validity: ValidityIndex,
    pub nodes: Nodes,
    pub cards: Cards,
    pub texts: Texts,
    pub layouts: Layouts,
    pub tags: Tags,
    pub chunks: ChunkTable,
    pub token_sets: TokenSets,
    pub vectors: VectorIndex,
    /// The passages as a sentence encoder embedded them, if the snapshot contains them.
    pub encoded: Option<EncodedSpace>,
    pub keyword: KeywordIndex,
    pub citations: CitationIndex,
    pub suggestions: Suggestions,
    pub spelling: Spelling,
    pub references: References,
    pub zoning: ZoningLayers,
    damage: Damage,
    /// Built on first use, because its tables take longer than opening all the files.
    grammar: OnceLock<Grammar>,
}

impl Snapshot {
    /// Opens a snapshot without hashing its files. It should have been verified before, or built on this machine.
    /// Any other snapshot may give wrong results, but neither opening nor reading it panics.
    pub fn open(dir: &Path) -> Result<Self, SnapshotError> {
        catch_panic_as_damage(|| Self::open_unguarded(dir))
            .unwrap_or_else(|what| Err(SnapshotError::Unreadable { dir: dir.to_owned(), what }))
    }

    fn open_unguarded(dir: &Path) -> Result<Self, SnapshotError> {
        let manifest = Manifest::open(dir)?;
        manifest.check_sizes(dir)?;
        check_fingerprints(dir, &manifest)?;
        let outline = Outline::open(dir)?;
        let node_count = outline.len();
        let damage = Damage::default();
        let snapshot = Self {
            dir: dir.to_owned(),
            catalogue: Catalogue::open(dir, node_count)?,
            validity: ValidityIndex::open(dir)?,
            nodes: Nodes::open_reporting(dir, damage.clone())?,
            cards: Cards::open_reporting(dir, damage.clone())?,
            texts: Texts::open_reporting(dir, damage.clone())?,
            layouts: Layouts::open(dir)?,
            tags: Tags::open(dir)?,
            chunks: ChunkTable::open(dir)?,
            token_sets: TokenSets::open(dir)?,
            vectors: VectorIndex::open(dir, &embedding_space())?,
            encoded: open_encoded(dir, &manifest)?,
            keyword: KeywordIndex::open(&dir.join(keyword::DIRECTORY_NAME), node_count)?,
            citations: CitationIndex::open(dir)?,
            suggestions: Suggestions::open(dir)?,
            spelling: Spelling::open(dir)?,
            references: References::open(dir)?,
            zoning: ZoningLayers::open(&dir.join(zoning::DIRECTORY_NAME))?,
            damage,
            grammar: OnceLock::new(),
            manifest,
            outline,
        };
        snapshot.check_counts()?;
        Ok(snapshot)
    }

    /// Hashes every file again, opens the snapshot, and checks that document ids equal ordinals. `progress` is
    /// called with the size of each verified file.
    pub fn verify(dir: &Path, progress: impl FnMut(u64)) -> Result<Self, SnapshotError> {
        Manifest::open(dir)?.verify(dir, progress)?;
        let snapshot = Self::open(dir)?;
        snapshot.keyword.verify_order()?;
        Ok(snapshot)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The damage found since the snapshot was opened.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    fn check_counts(&self) -> Result<(), SnapshotError> {
        let nodes = u64::from(self.outline.len());
        let chunks = u64::from(self.chunks.chunk_count());
        let encoded = self.encoded.as_ref().map_or(chunks, |encoded| u64::from(encoded.rows().chunk_count()));
        let checks = [
            (crate::nodes::FILE_NAME, self.nodes.count()?, nodes),
            (crate::cards::FILE_NAME, self.cards.node_count() as u64, nodes),
            (crate::layout::FILE_NAME, self.layouts.node_count() as u64, nodes),
            (crate::chunks::FILE_NAME, u64::from(self.chunks.node_count()), nodes),
            (crate::token_sets::FILE_NAME, self.token_sets.node_count() as u64, nodes),
            (crate::references::FILE_NAME, self.references.node_count() as u64, nodes),
            (crate::token_sets::FILE_NAME, self.token_sets.chunk_count() as u64, chunks),
            ("the vectors file", u64::from(self.vectors.rows().chunk_count()), chunks),
            ("the vectors file of the sentence encoder", encoded, chunks),
        ];
        let differing = checks.into_iter().find(|(_, found, expected)| found != expected);
        let last_dated = self.validity.last_node().map_or(0, |last| u64::from(last.0) + 1);
        let beyond = (last_dated > nodes).then_some((validity::FILE_NAME, last_dated, nodes));
        match differing.or(beyond) {
            Some((file, found, expected)) => {
                Err(SnapshotError::Counts { dir: self.dir.clone(), file, found, expected })
            }
            None => Ok(()),
        }
    }

    /// The grammar for the citations of every code, including those of this snapshot.
    pub fn grammar(&self) -> &Grammar {
        // The builder refuses invalid templates, so the fallback is only for damaged catalogues.
        self.grammar.get_or_init(|| self.catalogue.grammar().unwrap_or_else(|_| Grammar::built_in().clone()))
    }

    pub fn code_body_of(&self, node: NodeOrdinal) -> Option<&CodeBody> {
        self.catalogue.code_body_of(node)
    }

    /// The nodes that have a citation, in any spelling: first as canonical citation, then as parallel, then as
    /// former one.
    pub fn nodes_with_citation(&self, citation: &str) -> Result<Vec<(NodeOrdinal, CitationKind)>, NodesError> {
        self.nodes_with_citation_key(&self.grammar().key_or_folded(citation))
    }

    /// The nodes that have the citation with this key: first as canonical citation, then as parallel, then as
    /// former one.
    pub fn nodes_with_citation_key(&self, key: &CitationKey) -> Result<Vec<(NodeOrdinal, CitationKind)>, NodesError> {
        let grammar = self.grammar();
        let mut found = Vec::new();
        for (node, kind) in self.citations.candidates(key) {
            let bears = |own: &str| grammar.key_or_folded(own) == *key;
            // The index contains only hashes, so the citations of the node itself decide.
            let is_borne = match kind {
                CitationKind::Canonical => bears(self.cards.get(node)?.citation),
                CitationKind::Parallel => {
                    self.nodes.with_archived(node, |record| record.parallel_citations.iter().any(|own| bears(own)))?
                }
                CitationKind::Former => {
                    self.nodes.with_archived(node, |record| record.former_citations.iter().any(|own| bears(own)))?
                }
                CitationKind::ActSection | CitationKind::ActName => false,
            };
            if is_borne {
                found.push((node, kind));
            }
        }
        Ok(found)
    }

    /// The provisions that are a section of a law or a part of it, in order, by their source credits.
    pub fn act_sections(&self, law: &ActLaw, number: &str) -> Result<Vec<(NodeOrdinal, SectionOfAct)>, NodesError> {
        let key = SectionOfAct::key_of(law, number);
        let mut found = Vec::new();
        for (node, kind) in self.citations.candidates(&key) {
            if kind != CitationKind::ActSection {
                continue;
            }
            let own = self.nodes.with_archived(node, |record| {
                let sections = record.act_sections.iter().filter_map(|text| SectionOfAct::parse(text));
                sections.filter(|section| section.key() == key).collect::<Vec<_>>()
            })?;
            found.extend(own.into_iter().map(|section| (node, section)));
        }
        Ok(found)
    }

    /// The laws, each with the division that it is limited to, that notes call by the name of an act, each once.
    pub fn laws_of_act(&self, name: &str) -> Result<Vec<LawDivision>, NodesError> {
        let key = act_name_key(name);
        let mut found = Vec::new();
        for (node, kind) in self.citations.candidates(&key) {
            if kind != CitationKind::ActName {
                continue;
            }
            let own = self.nodes.with_archived(node, |record| {
                let names = record.act_names.iter().filter(|act| act_name_key(&act.name) == key);
                names.filter_map(|act| ActLaw::parse(&act.law)).collect::<Vec<_>>()
            })?;
            found.extend(own);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    pub fn ordinal(&self, id: NodeId) -> Option<NodeOrdinal> {
        self.outline.ordinal(id)
    }
}

/// Opens the space of the sentence encoder, if the manifest lists one: it is the embedder that is not this
/// program's. The snapshot contains its vectors of the passages, and the files that embed queries.
fn open_encoded(dir: &Path, manifest: &Manifest) -> Result<Option<EncodedSpace>, SnapshotError> {
    let own = embedder_fingerprint();
    let Some(Fingerprint { id, hash }) = manifest.embedders.iter().find(|embedder| **embedder != own) else {
        return Ok(None);
    };
    let damaged = |what: String| ManifestError::Damaged { path: dir.join(manifest::FILE_NAME), what };
    let space: SpaceName = id.parse().map_err(|error: InvalidSpaceName| damaged(error.to_string()))?;
    let encoder = blake3::Hash::from_hex(hash).map_err(|error| damaged(format!("the hash of {space}: {error}")))?;
    Ok(Some(EncodedSpace::open(dir, &space, encoder.as_bytes())?))
}

fn check_fingerprints(dir: &Path, manifest: &Manifest) -> Result<(), SnapshotError> {
    let reported =
        |fingerprint: &Fingerprint| format!("{} ({})", fingerprint.id, fingerprint.hash.get(..12).unwrap_or_default());
    let refuse = |what, built_with: String, this_has: String| {
        Err(SnapshotError::Incompatible { dir: dir.to_owned(), what, built_with, this_has })
    };
    let analyzer = analyzer_fingerprint();
    if manifest.analyzer != analyzer {
        return refuse("analyzer", reported(&manifest.analyzer), reported(&analyzer));
    }
    let own = embedder_fingerprint();
    let all_told = |embedders: &[&Fingerprint]| embedders.iter().copied().map(reported).collect::<Vec<_>>().join(", ");
    let (ours, others): (Vec<_>, Vec<_>) = manifest.embedders.iter().partition(|embedder| **embedder == own);
    if ours.is_empty() {
        return refuse("embedder", all_told(&others), reported(&own));
    }
    // With several sentence encoders it would be unclear which one a search uses.
    if others.len() > 1 {
        return refuse("sentence encoders", all_told(&others), "support for one".to_owned());
    }
    Ok(())
}

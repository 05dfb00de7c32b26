//! Writes a snapshot: one pass over the gathered nodes in code order, in batches.
//!
//! Each batch is read from the spool, split into chunks, embedded and hashed on all cores, then
//! appended in order to every file. Memory grows with the corpus only for numeric columns and for
//! the set of distinct words.

use std::path::Path;

use hornbook_corpus::cards::CardWriter;
use hornbook_corpus::catalogue::{CodeBody, Jurisdiction};
use hornbook_corpus::chunks::{ChunkTableError, ChunkTableWriter};
use hornbook_corpus::citation::{Grammar, SectionOfAct, act_name_key};
use hornbook_corpus::citation_index::{CitationIndexWriter, CitationKind};
use hornbook_corpus::embed::{Embedder, embedder};
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::keyword::{KeywordDocument, KeywordError, KeywordWriter};
use hornbook_corpus::layout::LayoutWriter;
use hornbook_corpus::nodes::{NodeRecord, NodeWriter, NodesError, Note, Wording};
use hornbook_corpus::outline::{OutlineError, OutlineNode};
use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::snapshot::embedding_space;
use hornbook_corpus::spelling::WordCounts;
use hornbook_corpus::suggest::SuggestWriter;
use hornbook_corpus::tags::TagWriter;
use hornbook_corpus::texts::{Span, TextWriter};
use hornbook_corpus::token_sets::TokenSetWriter;
use hornbook_corpus::validity::{Validity, ValidityWriter};
use hornbook_corpus::vectors::{VectorWriteError, VectorWriter};
use rayon::prelude::*;

use crate::content::Content;
use crate::gather::GatheredNode;
use crate::graph::Probes;
use crate::prepare::{ChunkData, Preparation, PreparedNode, load_with_wordings, prepare};
use crate::progress::ProgressStage;
use crate::report::CodeBodyReport;
use crate::spool::{Spool, SpoolError};
use crate::territory::OrderedJurisdiction;

/// A batch is full when it has this many nodes or bytes. This limits memory use.
const BATCH_NODES_MAX: usize = 2_048;
const BATCH_BYTES_MAX: usize = 16 << 20;
/// The maximum number of headings, evenly spread, that the graph uses as sample queries.
pub(crate) const PROBES_MAX: usize = 1 << 16;
/// The memory that tantivy may use before it writes a segment.
const KEYWORD_BUDGET_BYTES: usize = 256 << 20;

/// A code body as gathered. Its nodes are numbered from zero.
#[derive(Debug)]
pub(crate) struct GatheredBody {
    pub key: String,
    pub name: String,
    pub jurisdiction: ShortCode,
    pub citation: Option<String>,
    /// Whether citations are converted to canonical form. A source that states its own citations
    /// keeps them unchanged.
    pub canonical_citations: bool,
    /// Whether the headings of provisions are indexed, or only displayed.
    pub index_headings: bool,
    pub nodes: Vec<GatheredNode>,
}

/// Why the files of a snapshot could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("{0}")]
    File(#[from] SectionFileError),
    #[error("{0}")]
    Outline(#[from] OutlineError),
    #[error("{0}")]
    Nodes(#[from] NodesError),
    #[error("{0}")]
    Keyword(#[from] KeywordError),
    #[error("{0}")]
    Vectors(#[from] VectorWriteError),
    #[error("{0}")]
    Chunks(#[from] ChunkTableError),
    #[error("{0}")]
    Spool(#[from] SpoolError),
    #[error("the sources contain more than 2,000,000,000 nodes; split the plan")]
    TooManyNodes,
}

/// The results of the pass, for catalogue, manifest and report.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub jurisdictions: Vec<Jurisdiction>,
    pub code_bodies: Vec<CodeBody>,
    pub reports: Vec<CodeBodyReport>,
    pub nodes: u32,
    pub provisions: u32,
    pub chunks: u32,
    pub text_bytes: u64,
    /// Headings as sample queries for the graph.
    pub probes: Probes,
    /// Chunks whose vectors and token sets were copied from the earlier snapshot.
    pub chunks_taken_over: u32,
}

/// Writes everything but graph, zoning layers, catalogue and manifest into `dir`. `bodies` may be in any order.
pub(crate) fn compile(
    dir: &Path,
    spool: &Spool,
    bodies: Vec<GatheredBody>,
    territories: &[OrderedJurisdiction],
    preparation: Preparation<'_>,
    grammar: &Grammar,
    stage: &mut ProgressStage,
) -> Result<Compiled, CompileError> {
    let bodies = in_territory_order(bodies, territories);
    let total: usize = bodies.iter().map(|body| body.nodes.len()).sum();
    if total > i32::MAX as usize - 1 {
        return Err(CompileError::TooManyNodes);
    }
    let mut writers = Writers::create(dir, total, grammar.clone())?;
    let mut reports = Vec::with_capacity(bodies.len());
    let mut code_bodies = Vec::with_capacity(bodies.len());
    for body in &bodies {
        let start = writers.next_ordinal();
        let report = write_body(body, spool, preparation, &mut writers, stage)?;
        code_bodies.push(CodeBody {
            id: CodeBodyId::from_source_key(&body.key),
            key: body.key.clone(),
            name: body.name.clone(),
            jurisdiction: body.jurisdiction.clone(),
            citation: body.citation.clone(),
            nodes: OrdinalRange::new(start, writers.next_ordinal()),
            provisions: report.provisions,
            chunks: report.chunks,
        });
        reports.push(report);
    }
    let jurisdictions = jurisdictions_of(territories, &code_bodies);
    let sum = |count: fn(&CodeBody) -> u32| code_bodies.iter().map(count).sum();
    let (nodes, text_bytes) = (writers.next_ordinal(), writers.texts.position());
    let (provisions, chunks) = (sum(|body| body.provisions), sum(|body| body.chunks));
    let chunks_taken_over = writers.chunks_taken_over;
    let probes = writers.finish(dir)?;
    Ok(Compiled {
        jurisdictions,
        code_bodies,
        reports,
        nodes,
        provisions,
        chunks,
        text_bytes,
        probes,
        chunks_taken_over,
    })
}

fn in_territory_order(mut bodies: Vec<GatheredBody>, territories: &[OrderedJurisdiction]) -> Vec<GatheredBody> {
    let rank = |body: &GatheredBody| territories.iter().position(|territory| territory.code == body.jurisdiction);
    bodies.sort_by_cached_key(|body| (rank(body), body.key.clone()));
    bodies
}

/// Gives every jurisdiction its own range and the range that includes the jurisdictions within it.
fn jurisdictions_of(territories: &[OrderedJurisdiction], bodies: &[CodeBody]) -> Vec<Jurisdiction> {
    let mut position = 0;
    let mut jurisdictions: Vec<Jurisdiction> = territories
        .iter()
        .map(|territory| {
            let own = || bodies.iter().filter(|body| body.jurisdiction == territory.code);
            let start = position;
            position = own().map(|body| body.nodes.end).max().unwrap_or(position);
            Jurisdiction {
                short_code: territory.code.clone(),
                name: territory.name.clone(),
                level: territory.level,
                parent: territory.parent.clone(),
                subtree: OrdinalRange::new(start, position),
                nodes: OrdinalRange::new(start, position),
                provisions: own().map(|body| body.provisions).sum(),
                chunks: own().map(|body| body.chunks).sum(),
            }
        })
        .collect();
    for place in (0..territories.len()).rev() {
        let below = territories[place + 1..].iter().take_while(|other| other.depth > territories[place].depth).count();
        jurisdictions[place].subtree.end = jurisdictions[place + below].nodes.end.max(jurisdictions[place].nodes.end);
    }
    jurisdictions
}

/// The writers of every file that grows node by node.
struct Writers {
    outline: Vec<OutlineNode>,
    validity: ValidityWriter,
    nodes: NodeWriter,
    cards: CardWriter,
    texts: TextWriter,
    layouts: LayoutWriter,
    tags: TagWriter,
    chunks: ChunkTableWriter,
    token_sets: TokenSetWriter,
    vectors: VectorWriter,
    keyword: KeywordWriter,
    citations: CitationIndexWriter,
    suggestions: SuggestWriter,
    spelling: WordCounts,
    grammar: Grammar,
    probes: Probes,
    probe_every: u32,
    chunks_taken_over: u32,
}

impl Writers {
    fn create(dir: &Path, nodes: usize, grammar: Grammar) -> Result<Self, CompileError> {
        Ok(Self {
            outline: Vec::with_capacity(nodes),
            validity: ValidityWriter::default(),
            nodes: NodeWriter::create(dir)?,
            cards: CardWriter::create(dir)?,
            texts: TextWriter::create(dir)?,
            layouts: LayoutWriter::create(dir)?,
            tags: TagWriter::default(),
            chunks: ChunkTableWriter::create(dir)?,
            token_sets: TokenSetWriter::create(dir)?,
            vectors: VectorWriter::create(dir, &embedding_space(), Embedder::DIMS)?,
            keyword: KeywordWriter::create(&dir.join(hornbook_corpus::keyword::DIRECTORY_NAME), KEYWORD_BUDGET_BYTES)?,
            citations: CitationIndexWriter::default(),
            suggestions: SuggestWriter::default(),
            spelling: WordCounts::default(),
            grammar,
            probes: Probes::new(Embedder::DIMS),
            probe_every: nodes.div_ceil(PROBES_MAX).max(1) as u32,
            chunks_taken_over: 0,
        })
    }

    fn next_ordinal(&self) -> u32 {
        self.outline.len() as u32
    }

    fn finish(self, dir: &Path) -> Result<Probes, CompileError> {
        self.validity.finish(dir)?;
        self.nodes.finish()?;
        self.cards.finish()?;
        self.texts.finish()?;
        self.layouts.finish()?;
        self.tags.finish(dir)?;
        self.chunks.finish()?;
        self.token_sets.finish()?;
        self.vectors.finish()?;
        self.citations.finish(dir)?;
        self.suggestions.finish(dir)?;
        self.spelling.finish(dir, embedder().words())?;
        self.keyword.finish()?;
        hornbook_corpus::outline::write(dir, &self.outline)?;
        Ok(self.probes)
    }
}

fn write_body(
    body: &GatheredBody,
    spool: &Spool,
    preparation: Preparation<'_>,
    writers: &mut Writers,
    stage: &mut ProgressStage,
) -> Result<CodeBodyReport, CompileError> {
    let first = writers.next_ordinal();
    let text_start = writers.texts.position();
    let mut report = CodeBodyReport {
        jurisdiction: body.jurisdiction.to_string(),
        name: body.name.clone(),
        nodes: body.nodes.len() as u32,
        provisions: 0,
        living: 0,
        chunks: 0,
        text_bytes: 0,
    };
    // The headings of the ancestors of the current node.
    let mut open: Vec<String> = Vec::new();
    let mut rest = body.nodes.as_slice();
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(batch_len(rest));
        rest = after;
        let contents: Result<Vec<Content>, SpoolError> =
            batch.par_iter().map(|node| load_with_wordings(spool, node, preparation.sources)).collect();
        let mut contents = contents?;
        let mut above = Vec::with_capacity(batch.len());
        for (gathered, content) in batch.iter().zip(&mut contents) {
            if body.canonical_citations && content.text.is_some() {
                content.citation = canonical(&writers.grammar, std::mem::take(&mut content.citation));
            }
            open.truncate(gathered.depth as usize);
            above.push(open.clone());
            open.push(content.heading.clone());
        }
        let prepared: Vec<PreparedNode> = (batch.par_iter(), contents, above)
            .into_par_iter()
            .map(|(node, content, above)| prepare(node, content, above, preparation, body.index_headings))
            .collect();
        writers.spelling.merge(words_of(&prepared));
        for node in &prepared {
            stage.add(1);
            report.provisions += u32::from(node.content.text.is_some());
            report.living += u32::from(node.content.text.is_some() && node.status.may_be_in_force());
            report.chunks += node.chunks.len() as u32;
            write_node(node, first, writers)?;
        }
    }
    report.text_bytes = writers.texts.position() - text_start;
    Ok(report)
}

/// Counts the words of a batch as spelled, on all cores.
fn words_of(batch: &[PreparedNode<'_>]) -> WordCounts {
    let counted = batch.par_iter().fold(WordCounts::default, |mut counts, node| {
        let wordings = node.content.wordings.iter().filter_map(|wording| wording.text.as_deref());
        let heading = std::iter::once(node.indexed_heading.as_str());
        counts.add_node(heading.chain(node.content.text.as_deref()).chain(wordings));
        counts
    });
    counted.reduce(WordCounts::default, |mut counts, others| {
        counts.merge(others);
        counts
    })
}

/// The number of remaining nodes that form the next batch.
fn batch_len(nodes: &[GatheredNode]) -> usize {
    let mut bytes = 0;
    let fits = nodes.iter().take(BATCH_NODES_MAX).take_while(|node| {
        let fits = bytes < BATCH_BYTES_MAX;
        bytes += node.content.bytes();
        fits
    });
    fits.count()
}

/// The canonical form of a citation, if the grammar knows its code. Unchanged if the formatted
/// citation would mean another place.
fn canonical(grammar: &Grammar, citation: String) -> String {
    let Ok(parsed) = grammar.parse(&citation) else { return citation };
    let formatted = grammar.format(&parsed);
    if grammar.parse(&formatted).as_ref() == Ok(&parsed) { formatted } else { citation }
}

fn write_node(node: &PreparedNode<'_>, first_of_body: u32, writers: &mut Writers) -> Result<(), CompileError> {
    let ordinal = NodeOrdinal(writers.next_ordinal());
    let content = &node.content;
    writers.outline.push(OutlineNode {
        id: NodeId::from_source_key(&node.gathered.key),
        parent: node.gathered.parent.map(|parent| NodeOrdinal(first_of_body + parent)),
        subtree_end: NodeOrdinal(first_of_body + node.gathered.subtree_end),
        depth: node.gathered.depth,
        status: node.status,
        is_provision: content.text.is_some(),
    });
    let record = record_of(node, &mut writers.texts)?;
    let wordings = || std::iter::once(content).chain(&content.wordings);
    let of_notes = wordings().flat_map(|wording| &wording.notes).map(|note| &note.layout);
    writers.layouts.push(wordings().map(|wording| &wording.layout).chain(of_notes))?;
    let chunks = write_chunks(node, ordinal, &record, writers)?;
    writers.validity.push(ordinal, &with_chunks(node, chunks));
    write_keywords(node, writers)?;
    if content.text.is_some() && ordinal.0.is_multiple_of(writers.probe_every) {
        writers.probes.push(chunks.start, &node.heading_vector.0);
    }
    writers.token_sets.push_context(&node.context_set);
    writers.tags.push(&node.tags);
    let canonical = [(&content.citation, CitationKind::Canonical)].into_iter();
    let parallel = content.parallel_citations.iter().map(|citation| (citation, CitationKind::Parallel));
    let former = content.former_citations.iter().map(|citation| (citation, CitationKind::Former));
    for (citation, kind) in canonical.chain(parallel).chain(former) {
        let key = writers.grammar.key_or_folded(citation);
        writers.citations.push(&key, ordinal, kind);
    }
    for section in content.act_sections.iter().filter_map(|text| SectionOfAct::parse(text)) {
        writers.citations.push(&section.key(), ordinal, CitationKind::ActSection);
    }
    for act in &content.act_names {
        writers.citations.push(&act_name_key(&act.name), ordinal, CitationKind::ActName);
    }
    writers.suggestions.push(ordinal, &content.heading, &content.citation, node.status.may_be_in_force());
    writers.nodes.push(&record)?;
    writers.cards.push(&record)?;
    Ok(())
}

fn record_of(node: &PreparedNode<'_>, texts: &mut TextWriter) -> Result<NodeRecord, SectionFileError> {
    let content = &node.content;
    let wordings = || std::iter::once(content).chain(&content.wordings);
    // The texts of all wordings are written first, so that chunks find them in one run.
    let spans = wordings().map(|wording| texts.push(wording.text.as_deref().unwrap_or_default()));
    let spans: Vec<Span> = spans.collect::<Result<_, _>>()?;
    let hashes = std::iter::once(&node.text_sha256).chain(&node.wording_sha256);
    let mut written = Vec::with_capacity(spans.len());
    for (((wording, &validity), text), &text_sha256) in wordings().zip(&node.validities).zip(spans).zip(hashes) {
        let mut notes = Vec::with_capacity(wording.notes.len());
        for note in &wording.notes {
            notes.push(Note { topic: note.topic.clone(), text: texts.push(&note.text)? });
        }
        let source_credit = wording.source_credit.as_deref().map(|credit| texts.push(credit)).transpose()?;
        written.push(Wording {
            heading: wording.heading.clone(),
            validity,
            remark: wording.effect.remark.clone(),
            text,
            text_sha256,
            notes,
            source_credit,
            source_url: wording.source_url.clone(),
        });
    }
    Ok(NodeRecord {
        source_key: node.gathered.key.clone(),
        citation: content.citation.clone(),
        level: content.level.clone(),
        number: content.number.clone(),
        source: content.source,
        current_through: content.current_through.clone(),
        wordings: written,
        former_citations: content.former_citations.clone(),
        parallel_citations: content.parallel_citations.clone(),
        now: content.now.clone(),
        act_sections: content.act_sections.clone(),
        act_names: content.act_names.clone(),
        tags: node.tags.clone(),
    })
}

/// The stated validity of each wording, with the chunks of its text.
fn with_chunks(node: &PreparedNode<'_>, chunks: OrdinalRange) -> Vec<(Validity, OrdinalRange)> {
    let mut start = chunks.start;
    let parts = node.validities.iter().enumerate().map(|(part, &validity)| {
        let count = node.chunks.iter().filter(|chunk| chunk.part == part).count() as u32;
        let own = OrdinalRange::new(start, start + count);
        start += count;
        (validity, own)
    });
    parts.collect()
}

fn write_chunks(
    node: &PreparedNode<'_>,
    ordinal: NodeOrdinal,
    record: &NodeRecord,
    writers: &mut Writers,
) -> Result<OrdinalRange, CompileError> {
    let spans: Vec<Span> = record.wordings.iter().map(|wording| wording.text).collect();
    let placed = node
        .chunks
        .iter()
        .map(|chunk| Span { offset: spans[chunk.part].offset + chunk.offset as u64, length: chunk.length });
    let placed: Vec<Span> = placed.collect();
    let range = writers.chunks.push_node(ordinal, &placed)?;
    for chunk in &node.chunks {
        match &chunk.meaning {
            ChunkData::Made(made) => {
                writers.vectors.push(&made.vector.0)?;
                writers.token_sets.push_chunk(&made.token_set)?;
            }
            ChunkData::Earlier { row, token_set } => {
                writers.vectors.push_stored(*row)?;
                writers.token_sets.push_chunk(token_set)?;
                writers.chunks_taken_over += 1;
            }
        }
    }
    Ok(range)
}

fn write_keywords(node: &PreparedNode<'_>, writers: &mut Writers) -> Result<(), KeywordError> {
    // Containers get an empty document, so that document numbers match ordinals. Only the nodes
    // below them have text.
    let Some(text) = &node.content.text else { return writers.keyword.push(KeywordDocument::default()) };
    let texts: Vec<&str> = std::iter::once(text.as_str())
        .chain(node.content.wordings.iter().filter_map(|wording| wording.text.as_deref()))
        .collect();
    let breadcrumb: Vec<&str> = node.above.iter().map(String::as_str).collect();
    writers.keyword.push(KeywordDocument {
        heading: &node.indexed_heading,
        text: &texts,
        citation: &node.content.citation,
        breadcrumb: &breadcrumb,
    })
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::jurisdictions::GovernmentLevel;

    use super::*;

    #[test]
    fn a_state_takes_in_its_counties_and_cities() {
        let territory = |code: &str, parent: Option<&str>, depth| OrderedJurisdiction {
            code: code.parse().unwrap(),
            name: code.into(),
            level: GovernmentLevel::State,
            parent: parent.map(|parent| parent.parse().unwrap()),
            depth,
        };
        let territories = [
            territory("US", None, 0),
            territory("XA", None, 0),
            territory("XA-C", Some("XA"), 1),
            territory("XA-T", Some("XA-C"), 2),
            territory("XB", None, 0),
        ];
        let body = |key: &str, code: &str, start, end| CodeBody {
            id: CodeBodyId::from_source_key(key),
            key: key.into(),
            name: key.into(),
            jurisdiction: code.parse().unwrap(),
            citation: None,
            nodes: OrdinalRange::new(start, end),
            provisions: 1,
            chunks: 1,
        };
        let bodies = [body("us", "US", 0, 4), body("xa", "XA", 4, 6), body("xa-t", "XA-T", 6, 9)];
        let jurisdictions = jurisdictions_of(&territories, &bodies);
        let range = |place: usize| (jurisdictions[place].nodes, jurisdictions[place].subtree);
        let run = OrdinalRange::new;
        assert_eq!(range(0), (run(0, 4), run(0, 4)));
        assert_eq!(range(1), (run(4, 6), run(4, 9)));
        assert_eq!(range(2), (run(6, 6), run(6, 9)));
        assert_eq!(range(3), (run(6, 9), run(6, 9)));
        assert_eq!(range(4), (run(9, 9), run(9, 9)));
    }
}

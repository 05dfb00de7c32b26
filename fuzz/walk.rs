//! Entry points for fuzz targets and damage tests: they read everything that our mapped readers can read.
//!
//! The bytes may be anything. The readers may refuse them or return wrong data. They must not
//! panic, read out of bounds or run forever.

use std::path::Path;

use hornbook_corpus::chunks::ChunkTable;
use hornbook_corpus::citation::CitationKey;
use hornbook_corpus::citation_index::CitationIndex;
use hornbook_corpus::day::Day;
use hornbook_corpus::embed::{Embedder, TokenId};
use hornbook_corpus::ids::{ChunkOrdinal, NodeId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::keyword::KeywordIndex;
use hornbook_corpus::layout::{build_table, layout_lines};
use hornbook_corpus::outline::Outline;
use hornbook_corpus::references::References;
use hornbook_corpus::snapshot::{Snapshot, embedding_space};
use hornbook_corpus::spelling::Spelling;
use hornbook_corpus::suggest::Suggestions;
use hornbook_corpus::tags::Tags;
use hornbook_corpus::texts::{Span, Texts};
use hornbook_corpus::token_sets::TokenSets;
use hornbook_corpus::validity::ValidityIndex;
use hornbook_corpus::vectors::{Effort, VectorIndex};
use hornbook_corpus::zoning::catalogue::{StoredEncoding, ZoningLayers};
use hornbook_corpus::zoning::shape::{BoundingBox, Position};
use hornbook_corpus::zoning::tiles::clip::clip_features;
use hornbook_corpus::zoning::tiles::grid::tile_at;

/// The largest number of entries that a walk reads, because damaged counts may be large.
const WALKED_MAX: u32 = 2_000;

/// Walks every mapped structure of an opened snapshot.
pub(crate) fn walk(snapshot: &Snapshot) {
    walk_outline(&snapshot.outline);
    walk_validity(&snapshot.validity);
    walk_chunks(&snapshot.chunks, &snapshot.texts);
    walk_vectors(&snapshot.vectors);
    if let Some(encoded) = &snapshot.encoded {
        walk_vectors(encoded.vectors());
        std::hint::black_box(encoded.query(&[TokenId(7), TokenId(u16::MAX)]));
        std::hint::black_box(encoded.deep_query(&[TokenId(7), TokenId(u16::MAX)]));
    }
    for node in (0..snapshot.outline.len().min(WALKED_MAX)).map(NodeOrdinal) {
        std::hint::black_box((snapshot.tags.of(node).len(), snapshot.token_sets.of_context(node).len()));
        std::hint::black_box(snapshot.code_body_of(node).is_some());
    }
    std::hint::black_box(snapshot.citations.candidates(&probe()).count());
    walk_suggestions(&snapshot.suggestions);
    walk_spelling(&snapshot.spelling);
    walk_references(&snapshot.references);
    walk_records(snapshot);
    walk_layouts(snapshot);
    walk_keyword(&snapshot.keyword);
    walk_zoning(&snapshot.zoning);
    walk_citations(snapshot);
}

/// Tries to open each kind of mapped file in a folder on its own, and walks those that open.
pub(crate) fn open_and_walk(dir: &Path) {
    if let Ok(outline) = Outline::open(dir) {
        walk_outline(&outline);
    }
    if let (Ok(chunks), Ok(texts)) = (ChunkTable::open(dir), Texts::open(dir)) {
        walk_chunks(&chunks, &texts);
    }
    if let Ok(tags) = Tags::open(dir) {
        std::hint::black_box((0..WALKED_MAX).map(|node| tags.of(NodeOrdinal(node)).len()).sum::<usize>());
    }
    if let Ok(sets) = TokenSets::open(dir) {
        let lengths = |n| sets.of_context(NodeOrdinal(n)).len() + sets.of_chunk(ChunkOrdinal(n)).len();
        std::hint::black_box((0..WALKED_MAX).map(lengths).sum::<usize>());
    }
    if let Ok(citations) = CitationIndex::open(dir) {
        std::hint::black_box(citations.candidates(&probe()).count());
    }
    if let Ok(suggestions) = Suggestions::open(dir) {
        walk_suggestions(&suggestions);
    }
    if let Ok(validity) = ValidityIndex::open(dir) {
        walk_validity(&validity);
    }
    if let Ok(references) = References::open(dir) {
        walk_references(&references);
    }
    if let Ok(vectors) = VectorIndex::open(dir, &embedding_space()) {
        walk_vectors(&vectors);
    }
}

fn walk_spelling(spelling: &Spelling) {
    for word in ["deposit", "landlrod", "misrepresentaiton", "a"] {
        std::hint::black_box((spelling.near(word, 2).len(), spelling.nodes_with(word)));
    }
}

fn walk_suggestions(suggestions: &Suggestions) {
    let range = OrdinalRange::new(10, 300);
    for text in ["s", "securty deposit", "definitions", "42 usc 19", "arden rev stat 12-2-1", "the of ", "zzzzzzzz"] {
        let Ok(found) = suggestions.complete(text, 10, range, || Ok::<(), std::convert::Infallible>(()));
        assert!(found.len() <= 10, "more suggestions than were asked for");
        std::hint::black_box(suggestions.nearest_word(text));
    }
    for entry in 0..suggestions.entry_count().min(WALKED_MAX) {
        std::hint::black_box((suggestions.kind(entry), suggestions.row(entry).count(), suggestions.nodes(entry).len()));
    }
}

/// Reads the validity on every day on which law of the sample changes, and on days far away.
fn walk_validity(validity: &ValidityIndex) {
    for (year, month, day) in [(1, 1, 1), (2026, 7, 1), (2027, 1, 1), (9999, 12, 31)] {
        let day = Day::from_parts(year, month, day).expect("a day of the calendar");
        let standings = validity.on(day);
        for node in 0..400 {
            standings.shown(NodeOrdinal(node));
            standings.chunks_shown(NodeOrdinal(node));
        }
        validity.epoch(day);
    }
}

fn walk_references(references: &References) {
    for node in (0..WALKED_MAX).chain([u32::MAX]).map(NodeOrdinal) {
        let listed = references.outgoing(node).chain(references.incoming(node)).count();
        assert!(listed <= 2 * references.count(), "a list is longer than all of them");
    }
}

fn probe() -> CitationKey {
    CitationKey::folded("42 U.S.C. § 1983")
}

fn walk_outline(outline: &Outline) {
    for node in (0..outline.len().min(WALKED_MAX)).map(NodeOrdinal) {
        let subtree = outline.subtree(node);
        assert!(subtree.contains(node.0) && subtree.end <= outline.len(), "a subtree leaves the outline");
        let above = outline.ancestors(node).count();
        let below = outline.children(node).take(WALKED_MAX as usize).count();
        std::hint::black_box((above, below, outline.depth(node), outline.status(node), outline.is_provision(node)));
        if let Some(id) = outline.id(node) {
            std::hint::black_box(outline.ordinal(id));
        }
    }
    std::hint::black_box(outline.ordinal(NodeId::from_source_key("absent")));
    std::hint::black_box(outline.parent(NodeOrdinal(u32::MAX)));
}

fn walk_chunks(chunks: &ChunkTable, texts: &Texts) {
    for ordinal in 0..chunks.chunk_count().min(WALKED_MAX) {
        if let Some(chunk) = chunks.chunk(ChunkOrdinal(ordinal)) {
            std::hint::black_box(texts.get(chunk.text).map(str::len).ok());
        }
    }
    for node in 0..chunks.node_count().min(WALKED_MAX) {
        std::hint::black_box(chunks.chunks_of(NodeOrdinal(node)));
        std::hint::black_box(chunks.chunk_range(OrdinalRange::new(node / 2, node)));
    }
    std::hint::black_box(texts.get(Span { offset: u64::MAX, length: u32::MAX }).is_ok());
}

fn walk_vectors(vectors: &VectorIndex) {
    let query: Vec<f32> = (0..Embedder::DIMS).map(|dim| if dim % 3 == 0 { 0.1 } else { -0.05 }).collect();
    if vectors.rows().dims() != query.len() {
        return;
    }
    let count = vectors.rows().chunk_count();
    for (start, end) in [(0, count), (count / 3, count / 2), (count, u32::MAX)] {
        let range = OrdinalRange::new(start.min(end), end);
        for scan_chunks_max in [0, u32::MAX] {
            let found = vectors.nearest(&query, range, 10, Effort { ef: 40, scan_chunks_max });
            assert!(
                found.len() <= 10 && found.iter().all(|near| range.contains(near.chunk.0)),
                "a neighbour outside the range"
            );
        }
    }
}

fn walk_records(snapshot: &Snapshot) {
    std::hint::black_box(snapshot.nodes.count().is_ok());
    for node in (0..snapshot.outline.len().min(WALKED_MAX)).chain([u32::MAX]).map(NodeOrdinal) {
        if let Ok(record) = snapshot.nodes.get(node) {
            let of_wordings = record.wordings.iter().flat_map(|wording| wording.notes.iter().map(|note| note.text));
            let texts = record.wordings.iter().map(|wording| wording.text).chain(of_wordings);
            std::hint::black_box(texts.filter(|text| snapshot.texts.get(*text).is_ok()).count());
        }
        std::hint::black_box((
            snapshot.cards.get(node).is_ok(),
            snapshot.cards.text(node),
            snapshot.cards.source(node),
        ));
    }
}

fn walk_layouts(snapshot: &Snapshot) {
    for node in (0..snapshot.outline.len().min(WALKED_MAX)).map(NodeOrdinal) {
        let text =
            snapshot.cards.get(node).ok().and_then(|card| snapshot.texts.get(card.text).ok()).unwrap_or("a\tb\nc");
        for part in [0, 1, 7, usize::MAX] {
            let layout = snapshot.layouts.of_part(node, part);
            let rows: Vec<_> = layout_lines(text, layout).into_iter().map(|line| (line.range, line.kind)).collect();
            std::hint::black_box(build_table(text, &rows, layout.map_or(&[], |layout| layout.marks)).columns);
        }
    }
}

fn walk_keyword(keyword: &KeywordIndex) {
    for words in ["deposit", "security deposit", "the", "of the", "landlord tenant notice", "zzzz"] {
        for range in [OrdinalRange::new(0, u32::MAX), OrdinalRange::new(3, 40)] {
            std::hint::black_box(keyword.matching(words, range).is_ok());
        }
    }
    std::hint::black_box(keyword.verify_order().is_ok());
}

fn walk_zoning(zoning: &ZoningLayers) {
    for layer in zoning {
        std::hint::black_box(StoredEncoding::ALL.map(|encoding| layer.body(encoding).len()));
        let Ok(places) = layer.places() else { continue };
        let BoundingBox([west, south, east, north]) = layer.entry().bbox;
        let middle = Position { lon: f64::midpoint(west, east), lat: f64::midpoint(south, north) };
        for at in [Position { lon: west, lat: south }, middle, Position { lon: 0.0, lat: 0.0 }] {
            std::hint::black_box(places.at(at).count());
        }
        std::hint::black_box(places.point_in_a_zone());
        let Ok(legend) = layer.legend() else { continue };
        for (z, at) in [(0, middle), (9, middle), (14, middle), (18, Position { lon: west, lat: north })] {
            std::hint::black_box(clip_features(places, legend, tile_at(z, at)).len());
        }
    }
}

fn walk_citations(snapshot: &Snapshot) {
    for citation in ["42 U.S.C. § 1983", "Arden Rev. Stat. § 12-2-101", "Port Arden Code § 3.04.010"] {
        std::hint::black_box(snapshot.nodes_with_citation(citation).is_ok());
        std::hint::black_box(snapshot.grammar().parse(citation).is_ok());
    }
}
